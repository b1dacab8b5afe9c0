"""The verbs for one scenario: simulate, check."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ackclock import engine
from ackclock.cli import options, paths
from ackclock.summary import as_json as as_lines

if TYPE_CHECKING:
    from ackclock.engine.paths import PathChoice
    from ackclock.runs import Answer, Job

_file = click.argument(
    "file", type=options.PATH, metavar="FILE", help="Scenario in TOML or JSON; - is standard input."
)
_settings = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the scenario, e.g. flow.0.rtt=80ms; may be repeated.",
)


def _read(file: Path, settings: Sequence[str], path: PathChoice | None = None) -> engine.Scenario:
    if path is not None:
        # The settings are applied to the chosen path.
        own = _read(file, ())
        return path.put(own.written(), own.file).with_(*settings)
    if str(file) != "-":
        return engine.read(file, settings=settings)
    try:
        text = sys.stdin.read()
    except UnicodeDecodeError as error:
        raise engine.ScenarioError("standard input: not a text file; expected UTF-8 TOML") from error
    return engine.parse(text, "-", is_json=text.lstrip().startswith("{"), settings=settings)


@click.command()
@_file
@options.as_json
@click.option(
    "-o", "--output", type=options.PATH, metavar="DIR", help="Write a page, tables and a summary to DIR."
)
@click.option("--csv", is_flag=True, help="Write the tables as CSV instead of Parquet.")
@click.option(
    "--force",
    is_flag=True,
    help="Replace any earlier result in DIR; that of another run is otherwise set aside as DIR.1.",
)
@options.runs(1)
@click.option(
    "--duration", metavar="TIME", help="Length of a run, e.g. 120s; by default that of the scenario."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Seed of the random streams; by default that of the scenario.",
)
@options.places()
@options.dry_run
@paths.on_path
@_settings
@click.option(
    "--pcap", type=options.PATH, metavar="FILE", help="Write a packet capture to FILE; - is standard output."
)
@click.option("--qlog", type=options.PATH, metavar="DIR", help="Write a qlog file of each QUIC flow to DIR.")
@click.option("--metrics", is_flag=True, help="Print every metric with its 95 % interval.")
@click.option("--quiet", is_flag=True, help="Do not print tables or show a progress bar.")
def simulate(
    file: Path,
    as_json: bool,
    output: Path | None,
    csv: bool,
    force: bool,
    runs: int,
    duration: str | None,
    seed: int | None,
    places: options.Places,
    dry_run: bool,
    path: PathChoice | None,
    settings: tuple[str, ...],
    pcap: Path | None,
    qlog: Path | None,
    metrics: bool,
    quiet: bool,
) -> None:
    """Simulate a scenario packet by packet.

    FILE describes the path, the flows and the duration; `ackclock example > first.toml` writes one. Flows
    and links are printed as tables, and nothing is kept without -o. A single run has no limit of time or
    memory unless --limit or --memory sets one. With --path the flows run on that path, in place of the
    scenario's [dumbbell] and of their RTTs.

    \b
    Examples:
      ackclock simulate first.toml
      ackclock simulate first.toml --runs 10 --metrics
      ackclock simulate first.toml --set flow.0.rtt=80ms --json
      ackclock simulate first.toml --runs 10 -o results/first
      ackclock simulate first.toml --path measured.csv --rtt 40ms
      ackclock example | ackclock simulate -
      ackclock simulate first.toml --pcap - | tshark -r -
    """
    if pcap is not None and runs > 1:
        raise click.ClickException("--pcap writes one run; leave out --runs")
    if qlog is not None and runs > 1:
        raise click.ClickException("--qlog writes one run; leave out --runs")
    if places["cluster"] is not None and (pcap is not None or qlog is not None):
        raise click.ClickException("--pcap and --qlog write on this machine; leave out --cluster")
    if pcap is not None and str(pcap) == "-":
        if as_json or metrics:
            raise click.ClickException(
                "--pcap - writes packets to standard output, nothing else; leave out --json and --metrics"
            )
        # A special file is written directly; tables would end up among the packets.
        pcap, quiet = Path("/dev/stdout"), True
    begin = time.monotonic()
    changes = list(settings)
    changes += [
        f"run.{key}={value}" for key, value in (("duration", duration), ("seed", seed)) if value is not None
    ]
    scenario = _read(file, changes, path)
    if dry_run:
        from ackclock.runs import Job, drive

        with options.estimated(dry_run, as_json):
            drive.stop_if_dry([Job(scenario, run, False) for run in range(runs)], at_once=places["jobs"])
        return
    with contextlib.ExitStack() as stack:
        directory = None
        if output is not None:
            directory = stack.enter_context(engine.new_result(output, force=force))
        packets = None
        if pcap is not None or qlog is not None:
            from ackclock.engine import storage
        if pcap is not None:
            packets = stack.enter_context(storage.sealed_file(pcap))
        if qlog is not None:
            qlog = stack.enter_context(storage.new_directory(qlog, force=force, is_result=_holds_qlog))
        folders = (
            {}
            if directory is None
            else {run: directory / f"run-{run:04}" if runs > 1 else directory for run in range(runs)}
        )
        record = directory is not None or metrics
        results: dict[int, engine.Run] = {}

        def keep(run: int, result: engine.Run) -> None:
            if directory is not None:
                result.write(folders[run], csv=csv)
            results[run] = result

        done: Iterable[int]
        # A run alone has no process of its own, so that it may take its time.
        is_alone = runs == 1 and places["limits"] is None
        if is_alone and places["cluster"] is None:
            from ackclock.runs import alone

            def make() -> engine.Run:
                return alone.run(scenario, record=record, pcap=packets, qlog=qlog, shown=not quiet)

            is_foreign = any(":" in name for name in scenario.controls)
            with _aside(wanted=is_foreign):
                if is_foreign:
                    from ackclock.runs import Job, repeats

                    keep(0, repeats.repeated(Job(scenario, record=record), make))
                else:
                    keep(0, make())
            done = [0]
        else:
            from ackclock.runs import Job, each

            answers = each(
                [Job(scenario, run, record, pcap=packets, qlog=qlog) for run in range(runs)],
                lambda job, result: keep(job.run, result),
                at_once=places["jobs"],
                cluster=places["cluster"],
                limits=places["limits"],
                apart=False if is_alone else None,
                shown=not quiet,
            )
            done = stack.enter_context(contextlib.closing(_numbers(answers)))
        summaries, measured = [], []
        for run in done:
            result = results.pop(run)
            summaries.append(result.summary)
            if directory is not None:
                from ackclock.engine import integrity

                # Not in the threads of the runs, which share Matplotlib's style.
                result.write_page(folders[run])
                # Each run can be copied alone.
                integrity.seal_directory(folders[run])
            if metrics:
                measured.append(result)
            if as_json:
                wall_s = round(time.monotonic() - begin, 3)
                timed = cast("engine.Summary", result.summary | {"wall_s": wall_s})
                sys.stdout.writelines(as_lines(timed))
                print(flush=True)
    for warning in dict.fromkeys(text for summary in summaries for text in summary["warnings"]):
        print(f"ackclock: warning: {warning}", file=sys.stderr)
    if not as_json and not quiet:
        _print_tables(summaries)
        _print_missing(scenario)
        if sentence := engine.controls.follows(scenario.controls):
            print(sentence)
    if metrics:
        _print_metrics(measured, as_json)


def _numbers(answers: Generator[tuple[Job, Answer], None, None]) -> Generator[int, None, None]:
    """Yield the numbers of runs in their order; the first failure ends all runs."""
    with contextlib.closing(answers):
        for job, answer in answers:
            if answer.error:
                raise answer.failure()
            yield job.run


@contextlib.contextmanager
def _aside(*, wanted: bool) -> Iterator[None]:
    """Redirect the prints of controls to standard error: standard output is only for results."""
    if not wanted:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _holds_qlog(directory: Path) -> bool:
    from ackclock.engine import integrity

    return all(file.suffix == ".sqlog" or file.name == integrity.CHECKSUMS for file in directory.iterdir())


def _print_tables(summaries: list[engine.Summary]) -> None:
    from ackclock.cli import tables

    if len(summaries) > 1:
        tables.print_runs(summaries)
    else:
        tables.print_run(summaries[0])


def _print_missing(scenario: engine.Scenario) -> None:
    from ackclock.engine import today

    if sentence := today.missing(scenario):
        print(sentence)


def _print_metrics(runs: list[engine.Run], as_json: bool) -> None:
    from ackclock.cli import tables
    from ackclock.metrics import overview

    table = overview(runs)
    if as_json:
        print(json.dumps({"metrics": table.to_dicts()}))
    else:
        print()
        tables.print_metrics(table)


@click.command()
@_file
@_settings
@options.as_json
def check(file: Path, settings: tuple[str, ...], as_json: bool) -> None:
    """Check a scenario without running it.

    It prints the number of flows and the duration, or the first error and its place. JSON is the scenario
    as it would run, every default filled in.

    A control named as module:Class or library.so:name is loaded for the check, which runs the code of
    its module or library.

    \b
    Examples:
      ackclock check first.toml
      ackclock check first.toml --set flow.0.controller=bic
    """
    from collections import Counter

    from ackclock.names import counted

    scenario = _read(file, settings)
    if as_json:
        print(json.dumps(scenario.tables(), indent=2))
        return
    flows = Counter(kind for _, kind in scenario.flows)
    kinds = ", ".join(f"{count} {name}" for name, count in flows.items())
    print(f"{'standard input' if str(file) == '-' else file}: ok")
    print(f"{counted(flows.total(), 'flow')} ({kinds}), {scenario.duration_s:g} s")
    loaded = [name for name in scenario.controls if ":" in name]
    if loaded:
        print(f"these controls were loaded, which ran their code: {', '.join(loaded)}")
