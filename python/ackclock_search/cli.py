"""The verb that searches for adversaries."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ackclock.cli import completion, options
from ackclock_search import names


@click.command()
@click.argument(
    "control",
    metavar="CONTROL",
    shell_complete=completion.names(completion.controls),
    help="Control to search against: NAME, module:Class or library.so:NAME; Label=module:Class calls it "
    "Label.",
)
@click.argument(
    "objective",
    metavar="OBJECTIVE",
    shell_complete=completion.names(lambda: names.OBJECTIVES),
    help="Respect in which CONTROL should do worse, e.g. delay.",
)
@click.option(
    "--genome",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.names(lambda: names.GENOMES),
    help="What is varied, e.g. path; by default two genomes that suit the objective, with --full all that "
    "do; may be repeated.",
)
@click.option(
    "--quick/--full", default=True, help="Search for minutes, or for hours with more patterns and runs."
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of patterns to try per genome; by default 480, with --full 4000.",
)
@options.judged
@options.pictures
@options.dry_run
@options.live
@options.as_json
def search(
    control: str,
    objective: str,
    genome: tuple[str, ...],
    quick: bool,
    budget: int | None,
    settings: tuple[str, ...],
    seed: int,
    output: Path,
    places: options.Places,
    pictures: bool,
    dry_run: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Search for scenarios in which a congestion control does worse than CUBIC and Reno.

    A path is varied until CONTROL does worse on it than the baselines CUBIC and Reno in its place; an
    outage, which hurts every control, does not count. Scenarios in which it is still worse with fresh
    seeds are simplified and written to DIR/found; `ackclock evaluate --suite DIR/found` runs another
    control in them. The page is DIR/search=CONTROL-OBJECTIVE/index.html, with search.json. Finished runs are
    kept: an interrupted search resumes.

    Objectives: utilisation, unused (the share of the path that CONTROL leaves unused, whatever the
    baselines do), delay, starvation (between two flows of CONTROL), harm (to a flow of CUBIC), loss, stall.

    Genomes, which say what is varied: capacity, delay, flow-delay (of a single flow), pulses (of datagrams),
    loss, path. docs/adversaries.md in the repository has their numbers.

    Exit status: 0 if the search has ended, whatever its result; 1 if every run failed; 2 for bad input; 130
    if it was interrupted.

    \b
    Examples:
      ackclock search copa starvation --budget 100
      ackclock search copa starvation --full --dry-run
      ackclock search mine:Gentle utilisation --genome path
    """
    from ackclock.cli.studies import print_follows
    from ackclock.engine import controls
    from ackclock_evaluate.cli import parameters
    from ackclock_evaluate.setting import Subject
    from ackclock_search import page, run, saved

    command = options.command()
    (control,) = controls.labelled([control])
    home = page.folder(output, control, objective)
    shown = f"Search for adversaries of {control}"
    with (
        options.estimated(dry_run, as_json),
        options.watched(live and not dry_run, home, shown, home / "index.html") as watcher,
    ):
        searched = run.search(
            Subject(control, parameters(settings)),
            objective,
            output / ".cache",
            mode="quick" if quick else "full",
            budget=budget,
            genomes=genome,
            seed=seed,
            **places,
            live=watcher,
            tell=lambda line: None if as_json else print(f"ackclock: {line}", file=sys.stderr),
        )
        best = [adversary for result in searched for adversary in result.adversaries]
        files = saved.save_all(best, output / "found", command)
        record = page.write(searched, files, home, control, command, pictures=pictures)
    if dry_run:
        return
    if as_json:
        print(json.dumps(record, indent=1))
        return
    senders = f"profile {searched[0].profile}"
    for line in (*searched, senders, *(file for file, _ in files), home / "index.html"):
        print(line)
    print_follows([control])
