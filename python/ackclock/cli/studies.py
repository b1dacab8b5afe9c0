"""The verbs for studies of your own: sweep, plot."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock import engine
from ackclock.cli import options, paths
from ackclock.engine import controls, today
from ackclock.names import counted, printable

if TYPE_CHECKING:
    from ackclock.engine.paths import PathChoice


@click.command()
@click.argument("file", type=options.PATH, metavar="SWEEP.toml", help="TOML file that describes the sweep.")
@options.output("Directory of the results.")
@options.places(
    click.option(
        "--processes/--threads",
        default=None,
        help="Make runs in processes or in threads; by default in processes only with controls that are not "
        "built in.",
    )
)
@click.option("--force", is_flag=True, help="Replace the results of another sweep, and repeat failed runs.")
@options.dry_run
@click.option("--page", is_flag=True, help="Also write the page DIR/experiment=NAME.html.")
@options.live
@paths.on_path
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
    path: PathChoice | None,
    as_json: bool,
) -> None:
    """Run a scenario for many values of its keys, on all cores or a cluster.

    \b
    A sweep, here in the file buffer.toml, names a scenario and the values of its keys:
      scenario = "first.toml"
      [parameters]
      buffer = { set = "dumbbell.queue.limit", unit = "packets", to = [100, 500] }

    Each point has five runs unless [runs] says otherwise; docs/sweeps.md in the repository explains all
    keys.

    Results are added to the Parquet dataset DIR, partitioned by experiment: one row per flow and run.
    Rerun the same command to resume; it does nothing when all runs are done. The exit status is 1 if
    a run has failed; its error is in the results.

    The page of --page shows goodput (or runs.metric) and the other metrics against the first numeric
    parameter; `ackclock plot -o FILE.html` writes a page for any other choice.

    \b
    Examples:
      ackclock sweep buffer.toml --dry-run
      ackclock sweep buffer.toml --live --page
      ackclock sweep buffer.toml --path measured.csv --rtt 40ms
      ackclock sweep buffer.toml --cluster tcp://10.0.0.1:8786
      ackclock plot results/experiment=buffer --x buffer --y goodput --hue controller
    """
    from ackclock import sweeps
    from ackclock.runs import progress
    from ackclock.sweeps import estimate, picture
    from ackclock.sweeps import page as pages

    plan = sweeps.read(file, path)
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
        runs = counted(result.runs, "run")
        print(f"{result.directory}: {runs}, {result.made} of them made now; profile {senders}")
        if not varies and (sentence := today.missing(plan.scenario)):
            print(sentence)
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
            f"the first: {printable(result.first_error)}",
            file=sys.stderr,
        )
        raise click.exceptions.Exit(1)


@click.command()
@click.argument(
    "results",
    type=options.PATH,
    metavar="RESULTS",
    help="Directory that a sweep wrote, or one experiment in it.",
)
@click.option("--x", required=True, metavar="COLUMN", help="Parameter on the horizontal axis, e.g. p.")
@click.option("--y", required=True, metavar="COLUMN", help="Metric on the vertical axis, e.g. goodput.")
@click.option("--hue", metavar="COLUMN", help="Draw one curve per value of this column.")
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Use only the rows with this value; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    type=options.PATH,
    metavar="FILE",
    help="File to write; its ending selects PDF, PNG, SVG or HTML; by default Y-X.png.",
)
@options.as_json
def plot(
    results: Path, x: str, y: str, hue: str | None, where: tuple[str, ...], output: Path | None, as_json: bool
) -> None:
    """Draw the results of a sweep: a metric against a parameter, with 95 % intervals over runs.

    The name of a column may be shortened (goodput for goodput_mbps). The flows of a run are averaged.
    An HTML file is an interactive page that also shows the other metrics and the numbers.

    \b
    Examples:
      ackclock plot results/experiment=loss --x p --y goodput --hue controller
      ackclock plot results --x p --y rtt_p95 --hue controller --where experiment=loss -o rtt.pdf
      ackclock plot results/experiment=loss --x p --y goodput --hue controller -o loss.html
    """
    from ackclock.draw import plots
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
    else:
        figure = picture.draw(*selected)
        with storage.sealed_file(target) as file:
            plots.save(figure, file, target.suffix[1:])
    print(json.dumps({"file": str(target), "averaged_over": hidden}) if as_json else target)


def print_follows(names: Sequence[str]) -> None:
    """Print which controls follow from which files, if any do."""
    sentence = controls.follows(names)
    if sentence:
        print(sentence)
