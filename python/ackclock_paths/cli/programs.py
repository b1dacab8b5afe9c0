"""The verbs that are programs of their own: controls in the kernel, the emulated path."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import click

from ackclock import engine

# A program has its own options and its own --help.
AS_IT_IS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


def program(name: str) -> Path:
    """Find one of the programs that are not Python.

    Parameters
    ----------
    name : str
        Its name, such as ``ackclock-kernel``.

    Returns
    -------
    Path
        What an environment variable such as ``ACKCLOCK_KERNEL`` names, else that of the checkout,
        else that of the wheel, else the one that is installed.

    Raises
    ------
    SimulationError
        When there is none.
    """
    given = os.environ.get(name.upper().replace("-", "_"))
    checkout = Path(__file__).resolve().parents[3] / "target" / "release" / name
    carried = Path(__file__).resolve().parents[1] / "programs" / name
    installed = shutil.which(name)
    others = [checkout, carried, *([Path(installed)] if installed else [])]
    for candidate in [Path(given)] if given else others:
        if candidate.is_file():
            return candidate
    target = "kernel-deps kernel" if name == "ackclock-kernel" else "measure"
    variable = name.upper().replace("-", "_")
    if (checkout.parents[2] / "Makefile").is_file():
        raise engine.SimulationError(f"program not found: {name}; build it with make {target}")
    raise engine.SimulationError(
        f"program not found: {name}; it is built in a checkout of ackclock by make {target}: "
        f"put it on the PATH or name it in {variable}"
    )


def become(name: str, arguments: list[str]) -> NoReturn:
    """Replace this process by one of the programs, so that no interpreter stays between.

    Parameters
    ----------
    name : str
        Its name.
    arguments : list of str
        Its arguments.

    Raises
    ------
    SimulationError
        When there is no such program.
    """
    found = program(name)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(found, [name, *arguments])  # noqa: S606


@click.command(context_settings=AS_IT_IS)
@click.pass_context
def link(context: click.Context) -> None:
    """Set up an emulated path between two network namespaces, in real time (link --help)."""
    become("ackclock-link", context.args)
