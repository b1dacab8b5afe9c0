"""What several verbs have: options and arguments, and how a group lists its verbs."""

from __future__ import annotations

import click

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Parallel runs; by default one per core.",
)
cluster = click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS.")


class Verbs(click.Group):
    """Verbs in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Give the names for --help."""
        return list(self.commands)
