"""The options that put a scenario on a named or a measured path."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from ackclock.cli import completion

if TYPE_CHECKING:
    from ackclock.engine.paths import PathChoice

named = click.option(
    "--path",
    "named",
    metavar="NAME|FILE",
    shell_complete=completion.names(completion.paths),
    help="Start from a named path such as geo, or from a file with a series of rates or a Mahimahi trace; "
    "other options override its values.",
)
_rtt = click.option("--rtt", metavar="TIME", help="RTT without queues of --path, e.g. 40ms.")
_buffer = click.option(
    "--buffer", metavar="SIZE", help="Buffer of --path: 250 (packets), 2bdp, 100ms or 3MB."
)


def on_path(command: Callable[..., None]) -> Callable[..., None]:
    """Add --path, --rtt and --buffer, which put a scenario on another path: the argument `path`."""

    @functools.wraps(command)
    def called(*, named: str | None, rtt: str | None, buffer: str | None, **others: object) -> None:
        command(path=_chosen(named, rtt, buffer), **others)

    return named(_rtt(_buffer(called)))


def _chosen(path: str | None, rtt: str | None, buffer: str | None) -> PathChoice | None:
    if path is None:
        if rtt is not None or buffer is not None:
            raise click.ClickException("--rtt and --buffer belong to --path; use --set for a scenario's own")
        return None
    from ackclock.comparison.quantities import time_ms
    from ackclock.engine.paths import PathChoice

    try:
        return PathChoice(path, None if rtt is None else time_ms(rtt), buffer)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
