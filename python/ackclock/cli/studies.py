"""The verbs for studies of your own: sweep, plot."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from ackclock import engine
from ackclock.cli import options
from ackclock.engine import controls, today


@click.command()
@click.argument("file", type=options.PATH, metavar="SWEEP.toml", help="File of the sweep.")
@options.output("Directory of the results.")
@options.places(
    click.option(
        "--processes/--threads",
        default=None,
        help="Execute runs in processes or in threads; by default only controls that are not built in use "
        "processes.",
    )
)
@click.option("--force", is_flag=True, help="Replace another sweep's results; repeat failed runs.")
@options.dry_run
@click.option("--page", is_flag=True, help="Also write DIR/experiment=NAME.html, a page in one file.")
@options.live
@options.as_json
def sweep(
    file: Path,
    output: Path,
    places: options.Places,
    processes: bool | None,
    force: bool,
    dry_run: bool,
    page: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Run a scenario for many values of its keys, on all cores or a cluster.

    Results are added to the Parquet dataset DIR, partitioned by experiment: one row per flow and run.
    Rerun the same command to resume; it does nothing when all runs are done. The exit status is 1 when
    a run has failed; its error is in the results.

    The page of --page shows goodput (or runs.metric) against the first numeric parameter, and the
    other metrics; plot writes a page for any other choice.

    \b
    Examples:
      ackclock sweep loss.toml --dry-run
      ackclock sweep loss.toml --live --page
      ackclock sweep loss.toml --cluster tcp://10.0.0.1:8786
      ackclock plot results/experiment=loss --x p --y goodput --hue controller
    """
    from ackclock import sweeps
    from ackclock.runs import progress
    from ackclock.sweeps import estimate, picture
    from ackclock.sweeps import page as pages

    plan = sweeps.read(file)
    if dry_run:
        estimated = {
            "points": len(plan.points),
            "least_runs": plan.least_runs,
            "most_runs": plan.most_runs,
            "estimated_s": float(f"{estimate.seconds(plan, places['jobs']):.2g}"),
        }
        if as_json:
            print(json.dumps(estimated))
        else:
            more = f" to {plan.most_runs}" if plan.most_runs > plan.least_runs else ""
            print(
                f"{len(plan.points)} points, {plan.least_runs}{more} runs, about "
                f"{progress.duration(estimated['estimated_s'])} here for the first {plan.least_runs}"
            )
        return
    home = output / f"experiment={plan.name}"
    page_file = home.with_name(f"{home.name}.html")
    with options.watched(live, home, f"Sweep {plan.name}", page_file if page else home) as live_page:
        result = sweeps.sweep(plan, output, processes=processes, force=force, live=live_page, **places)
        if page:
            follows = controls.follows(plan.controls)
            pages.write(page_file, picture.scan(home), *pages.usual(plan), options.command(), follows)
    # Reading every point of a large sweep would take minutes.
    varies = any("profile=" in text for text in plan.points[0].settings)
    first = plan.points if varies else plan.points[:1]
    senders = today.profiles(*(engine.read(plan.scenario, settings=point.settings) for point in first))
    if as_json:
        record = asdict(result) | {"directory": str(result.directory), "profile": senders}
        print(json.dumps(record | ({"page": str(page_file)} if page else {})))
    else:
        print(f"{result.directory}: {result.runs} runs, {result.made} of them made now; profile {senders}")
        print_follows(plan.controls)
        if page:
            print(page_file)
    if result.at_most:
        print(
            f"{result.at_most} points reached runs.most before their intervals were narrow enough",
            file=sys.stderr,
        )
    if result.failed:
        print(
            f"ackclock: {result.failed} runs failed; see the column error of the results; "
            f"the first: {result.first_error}",
            file=sys.stderr,
        )
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("results", type=options.PATH, metavar="RESULTS", help="A dataset, or part of a dataset.")
@click.option("--x", required=True, metavar="COLUMN", help="Parameter on the horizontal axis.")
@click.option("--y", required=True, metavar="COLUMN", help="Metric on the vertical axis.")
@click.option("--hue", metavar="COLUMN", help="One curve per value of this column.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Use only the rows with this value.")
@click.option(
    "-o",
    "--output",
    type=options.PATH,
    metavar="FILE",
    help="File to write; its ending selects PDF, PNG, SVG or HTML.",
)
def plot(results: Path, x: str, y: str, hue: str | None, where: tuple[str, ...], output: Path | None) -> None:
    """Draw the results of a sweep: a metric against a parameter, with 95 % intervals over runs.

    The name of a column may be shortened (goodput for goodput_mbps). The flows of a run are averaged.
    HTML is an interactive page with the other metrics and the numbers.

    \b
    Examples:
      ackclock plot results/experiment=loss --x p --y goodput --hue controller
      ackclock plot results --x p --y rtt_p95 --hue controller --where experiment=loss -o rtt.pdf
      ackclock plot results/experiment=loss --x p --y goodput --hue controller -o loss.html
    """
    from ackclock.engine import storage
    from ackclock.sweeps import page, picture

    target = output or Path(f"{y}-{x}.png")
    kinds = ("pdf", "png", "svg", "html")
    if target.suffix[1:] not in kinds:
        raise click.ClickException(f"{target}: choose a name that ends with .pdf, .png, .svg or .html")
    pairs = [text.partition("=") for text in where]
    if not all(sign for _, sign, _ in pairs):
        raise click.ClickException("--where takes COLUMN=VALUE")
    try:
        selected = picture.selected(results, x, y, hue, {name: value for name, _, value in pairs})
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    table, across, _, kept = selected
    hidden = picture.averaged_over(table, [across, *([kept] if kept else [])])
    if hidden:
        print(f"averaged over {', '.join(hidden)}; --where selects one value of each", file=sys.stderr)
    if target.suffix == ".html":
        page.write(target, *selected, options.command())
        print(target)
        return
    figure = picture.draw(*selected)
    with storage.new_file(target) as file:
        figure.savefig(file, format=target.suffix[1:], dpi=200)
    print(target)


def print_follows(names: Sequence[str]) -> None:
    """Print which controls follow from which files, if any do."""
    sentence = controls.follows(names)
    if sentence:
        print(sentence)
