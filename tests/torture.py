"""A disk that fails once, at each step in turn: what is left is whole, or somebody is told."""

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ackclock import StorageError

CALLS = ("write", "fsync", "replace", "rename", "unlink")


class Failing:
    """Lets the system fail once, at a call that is counted down to; a write has written half."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self.left, self.home = 0, str(home)
        for name in CALLS:
            monkeypatch.setattr(os, name, self._instead(name, getattr(os, name)))

    def _instead(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(target: Any, *more: Any, **named: Any) -> Any:
            where = target if isinstance(target, str | Path) else f"/proc/self/fd/{target}"
            if not os.path.realpath(where).startswith(self.home):
                return real(target, *more, **named)
            self.left -= 1
            if self.left == 0:
                if name == "write":
                    real(target, bytes(more[0])[: len(more[0]) // 2])
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real(target, *more, **named)

        return call


def torture(failing: Failing, output: Path, work: Callable[[], Any], check: Any) -> int:
    """Let every step fail in turn; `work` may fail, and `check` looks at what it left."""
    for step in range(1, 1000):
        subprocess.run(["rm", "-rf", output], check=True)
        output.mkdir()
        failing.left = step
        try:
            work()
            happened = failing.left <= 0
        except StorageError as error:
            assert "Input/output error" in str(error)
            assert "\n" not in str(error)
            happened = True
        failing.left = 0
        check()
        if not happened:
            return step - 1
    raise AssertionError
