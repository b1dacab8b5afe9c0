"""A disk that fails once, at each step in turn: the remaining data is complete or reported as damaged."""

import errno
import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ackclock import StorageError

CALLS = ("write", "fsync", "replace", "rename", "unlink")


class Failing:
    """Makes one call of the system fail after a countdown; a failed write has written half."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self.left, self.home = 0, str(home)
        for name in CALLS:
            monkeypatch.setattr(os, name, self._instead(name, getattr(os, name)))

    def databases(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let every statement of SQLite fail, too."""
        failing = self

        class Connection(sqlite3.Connection):
            def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
                failing.left -= 1
                if failing.left == 0:
                    error = sqlite3.OperationalError("disk I/O error: Input/output error")
                    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
                    raise error
                return super().execute(statement, *values)

        connect = sqlite3.connect
        monkeypatch.setattr(
            sqlite3, "connect", lambda *given, **named: connect(*given, factory=Connection, **named)
        )

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
    """Let every step fail in turn; `work` may fail, and `check` examines the remaining files."""
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
