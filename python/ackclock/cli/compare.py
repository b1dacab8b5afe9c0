"""The verb that compares controls on one path, or with several queues and buffers."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ackclock import engine
from ackclock.cli import completion, options, paths
from ackclock.cli.studies import print_follows

if TYPE_CHECKING:
    from ackclock.comparison import Comparison
    from ackclock.comparison.grid import Grid
    from ackclock.comparison.options import LinkOptions


@click.command()
@click.argument(
    "controls",
    nargs=-1,
    required=True,
    metavar="CONTROL...",
    shell_complete=completion.names(completion.controls),
    help="Names from `ackclock controllers`; module:Class or library.so:name for your own, and "
    "Label=module:Class to call it Label.",
)
@click.option("--rate", metavar="RATE", help="Rate of the bottleneck, e.g. 10mbit; by default 100mbit.")
@click.option("--rtt", metavar="TIME", help="RTT without queues, e.g. 50ms; by default 100ms.")
@click.option(
    "--buffer",
    metavar="SIZE",
    help="Buffer of the bottleneck: 250 (packets), 2bdp, 100ms or 3MB, or several, e.g. "
    "0.5bdp,1bdp,4bdp; by default 1bdp, one bandwidth-delay product.",
)
@click.option("--loss", metavar="SHARE", help="Random loss rate, e.g. 1% or 0.01; by default 0.")
@click.option(
    "--queue",
    metavar="KIND",
    shell_complete=completion.names(completion.queues, separated=True),
    help="Queue of the bottleneck: droptail (the default), red, ared, codel, pie, fq_codel or dualpi2, or "
    "several, e.g. droptail,codel.",
)
@click.option(
    "--ecn",
    is_flag=True,
    help="Use ECN in all flows; red, ared, codel, pie and fq_codel then mark packets instead of "
    "dropping them.",
)
@paths.named
@click.option(
    "--scenario",
    type=options.PATH,
    metavar="FILE",
    help="Start from the path of a scenario file; other options override its values.",
)
@click.option(
    "--profile",
    type=click.Choice(["linux", "ns2"]),
    help="Default settings of the senders; by default those of the scenario, or linux.",
)
@click.option(
    "--flows", type=click.IntRange(1, 1000), default=1, metavar="N", help="Number of flows of each control."
)
@click.option(
    "--duration",
    metavar="TIME",
    help="Length of a run, e.g. 120s; by default four cycles of Reno, from 60s to 600s.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of runs; by default they are made in groups until the questions of the first sentences are "
    "decided or hopeless, and five for one control or a grid.",
)
@click.option(
    "--budget",
    type=click.FloatRange(min=1, max=1e15),
    metavar="PACKETS",
    help="Packets that may be simulated without --runs, by default 4e8; those of a control in Python count "
    "five times. The first group of three runs is always made, and --dry-run says how long the budget takes.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Seed of the random streams; by default that of the scenario, or 1.",
)
@options.output("Directory of the page.", "results/comparison")
@options.places()
@options.pictures
@click.option(
    "--force",
    is_flag=True,
    help="Replace a comparison of other controls or paths in DIR, which is otherwise set aside as DIR.1.",
)
@options.dry_run
@options.as_json
def compare(
    controls: tuple[str, ...],
    *,
    buffer: str | None,
    queue: str | None,
    named: str | None,
    scenario: Path | None,
    duration: str | None,
    budget: float | None,
    output: Path,
    places: options.Places,
    pictures: bool,
    force: bool,
    dry_run: bool,
    as_json: bool,
    **given: Unpack[LinkOptions],
) -> None:
    """Compare congestion controls on one path, and show the usual metrics on one page.

    The page shows goodput, delay, losses and smoothness of one flow alone; the share of a control
    against itself, Reno and CUBIC; RTT fairness; and the recovery after a step of the available rate.
    Finished runs are kept in DIR/.cache, and the same command resumes after an interruption.

    Several queues or buffers, separated by commas, are compared in a grid. Its page has a heat map per
    question, and its first sentence says which queue and which buffer suit the path.

    \b
    Paths: geo, leo, 4g, 5g, dsl, cable, wifi, datacentre, transatlantic
    (docs/named-paths.md in the repository has their sources).

    \b
    Examples:
      ackclock compare illinois fit cubic
      ackclock compare --path geo cubic bbr hybla
      ackclock compare --path wifi --flows 20 cubic bbr
      ackclock compare --path measured.csv --rtt 40ms cubic bbr
      ackclock compare --rate 10mbit --rtt 50ms --loss 1% --buffer 2bdp fit reno my_module:Mine
      ackclock compare --scenario wifi.toml --queue codel cubic bbr
      ackclock compare --queue droptail,codel,fq_codel --buffer 0.5bdp,1bdp,4bdp cubic bbr
    """
    # Checked before slow imports and runs, so that a typing error costs no time.
    for control in controls:
        if control in UNITS:
            raise click.ClickException(
                f"{control} is a unit, which belongs to its number: write e.g. 120{control}"
            )
    from ackclock.comparison import grid, grid_page, page, work
    from ackclock.comparison import options as of_people

    if budget is not None and given.get("runs") is not None:
        raise click.ClickException("--runs and --budget both say how many runs to make; use only one")

    queues, buffers = ([] if text is None else text.split(",") for text in (queue, buffer))
    try:
        cells = of_people.grid_of_options(queues, buffers, named, scenario, duration, **given)
    except ValueError as error:
        raise click.ClickException(OF_PROGRAM.sub("", str(error))) from error
    for much in {setting.loss for setting in cells.values() if setting.loss > of_people.MUCH_LOSS}:
        print(f"note: {100 * much:g} % of all packets are lost at random", file=sys.stderr)
    with options.estimated(dry_run, as_json):
        try:
            compared = grid.compare_grid(
                cells, controls, cache=output / ".cache", budget=budget or work.BUDGET, **places
            )
        except engine.ScenarioError as error:
            raise click.ClickException(OF_PROGRAM.sub("", str(error))) from error
    if dry_run:
        return
    is_grid, command = len(cells) > 1, options.command()
    if is_grid:
        grid_page.write_grid(compared, output, command, pictures=pictures, force=force)
    else:
        page.write(compared.any, output, command, pictures=pictures, force=force)
    if as_json:
        table = compared.table if is_grid else compared.any.table
        print(json.dumps(table.fill_nan(None).to_dicts()))
        return
    if is_grid:
        _show_grid(compared)
    else:
        _show(compared.any)
    print_follows(compared.controls)
    print(output / "index.html")


def _show(compared: Comparison) -> None:
    from ackclock.cli import tables
    from ackclock.comparison import conclusion, page

    setting = compared.setting
    print(setting.describe())
    print()
    for sentence in conclusion.sentences(compared):
        print(sentence)
    print()
    tables.print_rows(["", *compared.controls], page.rows(compared))
    print("\n* best, or like the best; ? undecided: too few runs")
    if setting.run_s < setting.reno_cycle_s:
        print(
            f"\na cycle of Reno takes {setting.reno_cycle_s:.0f} s here, longer than a run: "
            "use a longer --duration"
        )
    print()


PRINTED = ("goodput", "delay", "loss", "beside_reno")
"""Questions of a grid that a terminal shows; the page has all."""


def _show_grid(compared: Grid) -> None:
    from ackclock.cli import tables
    from ackclock.comparison import grid
    from ackclock.comparison.questions import BY_KEY

    for sentence in [*grid.grid_sentences(compared), *grid.each_answer(compared)]:
        print(sentence)
    for key in PRINTED:
        print(f"\n{BY_KEY[key].title}")
        tables.print_rows(*grid.rows(compared, BY_KEY[key]), texts=2)
    print("\nThe page has a heat map of every question.")


OF_PROGRAM = re.compile(r"^scenario: (flow\.\d+\.controller: )?")
"""The start of messages about scenarios that this program builds; the user has no file with such keys."""
UNITS = ("ms", "s", "min", "h", "kbit", "mbit", "gbit", "Mbit/s", "Gbit/s", "packets", "kB", "MB", "%", "bdp")
"""Units that look like controls when a space separates them from their number."""
