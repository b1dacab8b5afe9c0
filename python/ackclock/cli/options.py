"""What several verbs have: options and arguments, and how a group lists its verbs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ackclock.runs.live import Live

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
jobs = click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Parallel runs; by default one per core."
)
cluster = click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS.")
live = click.option("--live", is_flag=True, help="Write a page that shows how far it is, beside the results.")


def command() -> str:
    """Give the command that was called, for the pages that it makes."""
    return shlex.join(["ackclock", *sys.argv[1:]])


def watched(wanted: bool, result: Path, title: str, shown: Path) -> Live:
    """Give the page that shows how far something is.

    Parameters
    ----------
    wanted : bool
        Whether there is to be one.
    result : Path
        The page is beside it, ``RESULT.live.html``.
    title : str
        What is being done.
    shown : Path
        What the page leads to at the end.

    Returns
    -------
    Live
        To be entered; it writes nothing unless it is wanted.
    """
    from ackclock.runs.live import Live

    place = result.with_name(f"{result.name}.live.html")
    return Live(place if wanted else None, title, shown, command())


class Verbs(click.Group):
    """Verbs in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Give the names for --help."""
        return list(self.commands)
