"""The verbs that are separate programs: controls in the kernel, campaigns, the emulated path."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

import click
from click.shell_completion import CompletionItem

from ackclock import engine

# The programs parse their own options, --help included.
AS_IT_IS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


def program(name: str) -> Path:
    """Return the path of a program that is not Python, such as ``ackclock-kernel``.

    An environment variable such as ``ACKCLOCK_KERNEL`` comes first, then the checkout, the wheel, and
    the PATH. A SimulationError is raised if there is none.
    """
    given = os.environ.get(name.upper().replace("-", "_"))
    checkout = Path(__file__).resolve().parents[3] / "target" / "release" / name
    carried = Path(__file__).resolve().parents[1] / "programs" / name
    installed = shutil.which(name)
    usual = [checkout, carried, *([Path(installed)] if installed else [])]
    for candidate in [Path(given)] if given else usual:
        if candidate.is_file():
            return candidate
    target = "kernel-deps kernel" if name == "ackclock-kernel" else "measure"
    variable = name.upper().replace("-", "_")
    if (checkout.parents[2] / "Makefile").is_file():
        raise engine.SimulationError(f"program not found: {name}; build it with make {target}")
    raise engine.SimulationError(
        f"program not found: {name}; build it in a checkout of ackclock with make {target}, "
        f"then put it on the PATH or name it in {variable}"
    )


def become(name: str, arguments: list[str]) -> NoReturn:
    """Replace this process by one of the programs, so that no interpreter remains between them."""
    path = program(name)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(path, [name, *arguments])  # noqa: S606


class Program(click.Command):
    """A verb that a separate program carries out; `words` precede its arguments there."""

    def __init__(
        self, verb: str, about: str, program: str, *words: str, named: Callable[[], Iterable[str]] = tuple
    ) -> None:
        super().__init__(verb, context_settings=AS_IT_IS, help=about, callback=self._become)
        self._program = program
        self._words = words
        self._named = named

    def _become(self) -> None:
        become(self._program, [*self._words, *click.get_current_context().args])

    def options(self) -> list[str]:
        """Return the options that the program's --help describes; an empty list if it is missing."""
        try:
            command = [str(program(self._program)), *self._words, "--help"]
            text = subprocess.run(command, capture_output=True, text=True, timeout=5).stdout  # noqa: S603
        except (engine.SimulationError, OSError, subprocess.TimeoutExpired):
            return []
        return re.findall(r"^ +(?:-\w, )?(--[\w-]+)", text, re.MULTILINE)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:  # noqa: ARG002
        """Offer the options of the program, and the names that it takes."""
        listed = self.options() if incomplete.startswith("-") else self._named()
        return [CompletionItem(name) for name in listed if name.startswith(incomplete)]


link = Program(
    "link", "Set up an emulated path between two network namespaces, in real time.", "ackclock-link"
)
