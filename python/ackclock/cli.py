"""The command line: the verbs of `ackclock.api`, with messages for people."""

from __future__ import annotations

import contextlib
import json
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from ackclock import (
    api,
    kernel,
    laboratory,
    measure,
    parallel,
    predict,
    programs,
    progress,
    storage,
)

# Plain help and our own error lines: an error is one line on standard error.
app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A congestion-control laboratory: simulate, compare and explain congestion controls.",
    epilog="Start with: ackclock example > first.toml; ackclock simulate first.toml",
)
app.add_typer(predict.app, name="predict")

File = Annotated[Path, typer.Argument(metavar="FILE", help="Scenario; - is standard input.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key, as in flow.0.rtt=80ms."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"ackclock {api.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    pass


def _source(file: Path) -> api.Source:
    if str(file) != "-":
        return api.Source.of(file)
    try:
        text = sys.stdin.read()
    except UnicodeDecodeError as error:
        raise api.ScenarioError(
            "standard input: is no text; a scenario is TOML in UTF-8"
        ) from error
    return api.Source(text, "-", is_json=text.lstrip().startswith("{"))


@app.command()
def simulate(
    file: File,
    as_json: AsJson = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write tables and summary to DIR."),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="CSV in place of Parquet.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier result.")] = False,
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="So many runs, each with other random streams.")
    ] = 1,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Change run.seed.")] = None,
    settings: Set = None,
    pcap: Annotated[
        Path | None, typer.Option("--pcap", metavar="FILE", help="Write the packets to FILE.")
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option("--qlog", metavar="DIR", help="Write a qlog file of each QUIC flow to DIR."),
    ] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Every metric with its 95 % interval.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No table, no progress bar.")] = False,
) -> None:
    """Simulate a scenario packet by packet.

    \b
    Examples:
      ackclock simulate first.toml
      ackclock simulate first.toml --runs 10 --metrics
      ackclock simulate first.toml --set flow.0.rtt=80ms --json
      ackclock simulate first.toml --runs 10 -o results/first
      ackclock example | ackclock simulate -
    """
    if pcap is not None and runs > 1:
        raise typer.TyperException("--pcap writes one run; leave out --runs")
    if qlog is not None and runs > 1:
        raise typer.TyperException("--qlog writes one run; leave out --runs")
    begin = time.monotonic()
    source = _source(file)
    changes = list(settings or ()) + ([] if seed is None else [f"run.seed={seed}"])
    total_s = progress.duration_of(api.check(source, settings=changes)) * runs
    with contextlib.ExitStack() as stack:
        directory = None
        if output is not None:
            directory = stack.enter_context(api.new_result(output, force=force))
        packets = None if pcap is None else stack.enter_context(storage.new_file(pcap))
        if qlog is not None:
            qlog = stack.enter_context(
                storage.new_directory(qlog, force=force, is_result=_holds_qlog)
            )
        bar = stack.enter_context(progress.Bar(total_s, shown=not quiet))

        def one(run: int, check: parallel.Check) -> api.Run:
            def tell(simulated_s: float, count: int) -> None:
                check()
                bar.update(run, simulated_s, count)

            result = api.simulate(
                source,
                settings=changes,
                run=run,
                record=directory is not None or metrics,
                progress=tell,
                pcap=packets,
                qlog=qlog,
            )
            if directory is not None:
                result.write(directory / f"run-{run:04}" if runs > 1 else directory, csv=csv)
            return result

        summaries, measured = [], []
        for result in parallel.in_order(one, range(runs)):
            summaries.append(result.summary)
            if metrics:
                measured.append(result)
            if as_json:
                wall_s = round(time.monotonic() - begin, 3)
                print(json.dumps(result.summary | {"wall_s": wall_s}), flush=True)
    if not as_json and not quiet:
        _print_tables(summaries)
    if metrics:
        _print_metrics(measured, as_json)


def _holds_qlog(directory: Path) -> bool:
    return all(file.suffix == ".sqlog" for file in directory.iterdir())


def _print_tables(summaries: list[dict[str, Any]]) -> None:
    from ackclock import tables

    if len(summaries) > 1:
        tables.print_runs(summaries)
    else:
        tables.print_run(summaries[0])


def _print_metrics(runs: list[api.Run], as_json: bool) -> None:
    from ackclock import tables
    from ackclock.metrics import overview

    found = overview(runs)
    if as_json:
        print(json.dumps({"metrics": found.to_dicts()}))
    else:
        print()
        tables.print_metrics(found)


@app.command()
def check(file: File, settings: Set = None) -> None:
    """Check a scenario without running it.

    \b
    Examples:
      ackclock check first.toml
      ackclock check first.toml --set flow.0.controller=bic
    """
    source = _source(file)
    scenario = tomllib.loads(api.check(source, settings=settings or ()))
    controls: Counter[str] = Counter()
    for flow in scenario["flow"]:
        controls[flow.get("controller") or flow.get("source")] += flow.get("count", 1)
    flows = ", ".join(f"{count} {name}" for name, count in controls.items())
    print(f"{'standard input' if source.file == '-' else source.file}: ok")
    print(f"{controls.total()} flows ({flows}), {scenario['run']['duration']}")


@app.command()
def example() -> None:
    """Print a commented scenario.

    \b
    Example:
      ackclock example > first.toml
    """
    print(api.example(), end="")


@app.command()
def controllers(as_json: AsJson = False) -> None:
    """List the congestion controls and their parameters.

    \b
    Examples:
      ackclock controllers
      ackclock controllers --json
    """
    if as_json:
        print(json.dumps(api.controllers(), indent=2))
    else:
        from ackclock import tables

        tables.print_controllers(api.controllers())


@app.command()
def explain(
    controller: Annotated[
        str, typer.Argument(metavar="NAME", help="A control of `ackclock controllers`.")
    ],
) -> None:
    """Explain a congestion control: equations, sources, deviations, parameters.

    \b
    Examples:
      ackclock explain illinois
      ackclock explain bic > bic.md
    """
    try:
        text = api.explain(controller)
    except LookupError as error:
        raise typer.TyperException(str(error.args[0])) from error
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        print(text, end="")


@app.command()
def schema() -> None:
    """Print the JSON schema of scenarios.

    \b
    Example:
      ackclock schema > scenario.schema.json
    """
    print(json.dumps(api.schema(), indent=2))


@app.command()
def reproduce(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PAPER[/ARTEFACT]]...", help="What to make; by default all."),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where the page goes.")
    ] = Path("results"),
    quick: Annotated[
        bool,
        typer.Option("--quick/--full", help="Headlines, fewer seeds, shorter runs; or everything."),
    ] = False,
    vary: Annotated[
        bool, typer.Option("--vary", help="Then try other settings on what differs.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Runs at once; by default one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Make figures and tables of papers again, with a verdict for every claim.

    Finished runs are kept in DIR/.cache: an interrupted reproduction goes on where it was. What
    --vary finds goes to DIR/variations.json and is a page of Markdown, too.

    \b
    Examples:
      ackclock reproduce --quick
      ackclock reproduce illinois bic/table-2 -o results
    """
    from ackclock import reproduction, tables, variations
    from ackclock.papers import artefact

    try:
        chosen = reproduction.select(targets or [], headlines=quick)
    except LookupError as error:
        raise typer.TyperException(str(error.args[0])) from error

    def tell(line: str) -> None:
        if sys.stderr.isatty():
            print(line, file=sys.stderr)

    effort = artefact.QUICK if quick else artefact.FULL
    records = reproduction.reproduce(chosen, output, effort, jobs, tell)
    if as_json:
        print(json.dumps(records, indent=2, ensure_ascii=False))
    else:
        tables.print_verdicts(records)
    if vary:
        different = [
            one
            for one, record in zip(chosen, records, strict=True)
            if record["verdict"] == "differs"
        ]
        rows = variations.try_all(different, output / "variations", jobs, tell)
        with storage.new_file(output / "variations.json") as file:
            file.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
        with storage.new_file(output / "variations.md") as file:
            file.write_text(variations.markdown(rows), "utf-8")
    if any(record["verdict"] == "failed" for record in records):
        raise typer.Exit(1)


app.command()(laboratory.compare)
app.command()(laboratory.sweep)
app.command()(laboratory.plot)
app.command(context_settings=programs.AS_IT_IS)(programs.link)
app.add_typer(kernel.app, name="kernel")
app.add_typer(measure.app, name="measure")


def main() -> None:
    """Run the command line; exit 0 when done, 1 failed, 2 bad input, 130 interrupted."""
    try:
        status = app(prog_name="ackclock", standalone_mode=False)
        sys.stdout.flush()
    except api.ScenarioError as error:
        status = _complain(str(error), 2)
    except typer.TyperException as error:
        status = _complain(f"ackclock: {_usage(error)}", 2)
    except (storage.StorageError, api.SimulationError) as error:
        status = _complain(f"ackclock: {error}", 1)
    except MemoryError:
        status = _complain("ackclock: out of memory; shorten the run or sample less often", 1)
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        # The reader has what it wanted. Nothing more can be flushed at exit.
        sys.stdout = None
        status = 1
    except OSError as error:
        sys.stdout = None
        status = _complain(f"ackclock: cannot write: {error.strerror or error}", 1)
    if status == 130:
        _complain("ackclock: interrupted", 130)
    sys.exit(status or 0)


def _usage(error: typer.TyperException) -> str:
    message = " ".join(error.format_message().split())
    if not hasattr(error, "ctx"):
        return message
    command = error.ctx.command_path if error.ctx else "ackclock"
    return f"{message.rstrip('.')} (see {command} --help)"


def _complain(message: str, status: int) -> int:
    with contextlib.suppress(OSError):
        print(message, file=sys.stderr)
    return status
