"""The verb that makes a scenario of measurements."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from ackclock import engine
from ackclock.cli import options


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=options.PATH,
    metavar="FILE...",
    help="iperf3's JSON (TCP or UDP), a table of rates over time, or a Mahimahi trace.",
)
@click.option("--rtt", metavar="TIME", help="RTT without queues, e.g. 40ms, where no file has one.")
@click.option(
    "-o",
    "--output",
    type=options.PATH,
    metavar="FILE",
    help="Write the scenario to FILE instead of printing it.",
)
@options.as_json
def path(files: tuple[Path, ...], rtt: str | None, output: Path | None, as_json: bool) -> None:
    """Make a scenario of measurements of a path.

    Every line of the scenario says what is known of its value: measured, a bound (a TCP transfer that never
    filled the path says "at least"), assumed, or cannot be known from this. Several files complete each
    other.

    \b
    Examples:
      ackclock path iperf3.json > path.toml
      ackclock path iperf3.json throughput.csv -o path.toml
      ackclock path lte.trace --rtt 40ms -o path.toml
    """
    from ackclock.engine import measured, storage

    if rtt is not None:
        try:
            engine.quantity(rtt, "time_s")
        except ValueError as error:
            raise click.ClickException(f"--rtt: {error}") from error
    known = measured.facts(files, Path() if output is None else output.parent, rtt)
    text = measured.toml(known)
    # The result must be a valid scenario; otherwise the engine's message says why.
    engine.parse(text, "path.toml" if output is None else str(output))
    if output is not None:
        storage.write_sealed(output, text)
    if as_json:
        print(json.dumps([asdict(fact) for fact in known]))
    else:
        print(text if output is None else output, end="" if output is None else "\n")
