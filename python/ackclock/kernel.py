"""The verb kernel: starts the program that loads controls into the kernel's TCP."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from ackclock import api

NAME = "ackclock-kernel"


def program() -> Path:
    """Find the program that talks to the kernel.

    Returns
    -------
    Path
        What the environment variable ``ACKCLOCK_KERNEL`` names, else that of the checkout, else the
        one that is installed.

    Raises
    ------
    SimulationError
        When there is none.
    """
    given = os.environ.get("ACKCLOCK_KERNEL")
    checkout = Path(__file__).resolve().parents[2] / "target" / "release" / NAME
    installed = shutil.which(NAME)
    candidates = [Path(given)] if given else [checkout, *([Path(installed)] if installed else [])]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise api.SimulationError(f"there is no program {NAME}; make kernel-deps kernel builds it")


def kernel(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="list | load NAME... | unload [NAME...]", help="What to do."),
    ] = None,
) -> None:
    """Load congestion controls into the Linux kernel's TCP, as eBPF: no modules, gone when unloaded.

    Connections choose one as any other: iperf3 -C ack_fit. Needs root and a kernel with BTF.

    \b
    Examples:
      ackclock kernel list
      sudo ackclock kernel load fit illinois
      sudo ackclock kernel unload
    """  # noqa: E501
    done = subprocess.run([program(), *(arguments or ["list"])], check=False)  # noqa: S603
    if done.returncode:
        raise typer.Exit(done.returncode)
