"""The verb that evaluates a control."""

from __future__ import annotations

import datetime
import json
import sys
import tomllib
from collections.abc import Sequence
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli import completion, options
from ackclock_evaluate import names

if TYPE_CHECKING:
    from ackclock_evaluate.cell import Criterion
    from ackclock_evaluate.results import CriterionResult, Evaluation, Request

WORSE = ("worse", "fails", "failed")
CONDITIONS = {"worse": WORSE, "must-worse": WORSE, "undecided": (*WORSE, "undecided")}


def _show_schema(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        print((resources.files("ackclock_evaluate") / "schema.json").read_text("utf-8"), end="")
        context.exit()


@click.command()
@click.argument(
    "control",
    metavar="CONTROL",
    shell_complete=completion.names(completion.controls),
    help="Control to evaluate: NAME, module:Class or library.so:NAME; Label=module:Class calls it Label.",
)
@click.option(
    "--against",
    metavar="NAMES",
    shell_complete=completion.names(completion.controls, separated=True),
    help="Further controls to show for comparison, e.g. bbr,bic.",
)
@click.option(
    "--baseline",
    metavar="OLD",
    help="Also judge CONTROL against an earlier version of it: a control, or the folder of a kept "
    "evaluation. --fail-on then looks at these verdicts.",
)
@click.option(
    "--quick/--full",
    default=True,
    help="Evaluate in minutes with fewer scenarios, or in tens of minutes with all.",
)
@click.option(
    "--suite",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.names(names.criteria),
    help="A suite: a name, a TOML file or a folder of adversaries; by default rfc9743; may be repeated.",
)
@click.option(
    "--only",
    metavar="ID,...",
    shell_complete=completion.names(lambda: chain(*names.criteria().values()), separated=True),
    help="Evaluate only these criteria, e.g. mixed,rtt.",
)
@options.judged
@click.option(
    "--own-baselines", is_flag=True, help="Simulate the baselines instead of using the shipped numbers."
)
@options.dry_run
@click.option(
    "--fail-on",
    type=click.Choice(list(CONDITIONS)),
    help="Exit with status 3 if a verdict is worse or fails; with must-worse, only for criteria of level "
    "MUST; with undecided, also if a verdict is undecided.",
)
@click.option(
    "--accept",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="TOML file of known findings that --fail-on accepts.",
)
@options.pictures
@options.live
@options.as_json
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_schema,
    help="Print the JSON schema of verdicts.json, and exit.",
)
def evaluate(
    control: str,
    against: str | None,
    baseline: str | None,
    quick: bool,
    suite: tuple[str, ...],
    only: str | None,
    settings: tuple[str, ...],
    seed: int,
    output: Path,
    places: options.Places,
    own_baselines: bool,
    dry_run: bool,
    fail_on: str | None,
    accept: Path | None,
    pictures: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Evaluate a congestion control against the criteria of RFC 9743.

    CONTROL runs in every scenario, and is compared with CUBIC and Reno in its place. Their results of 30
    runs are shipped for the quick scenarios of the built-in suites and seed 1; in all other cases they are
    simulated, too. Differences above a stated margin are reported. The page is
    DIR/evaluation=CONTROL/index.html, with verdicts.json, all numbers as Parquet, and every scenario.
    Finished runs are kept: an interrupted evaluation resumes.

    The suite is rfc9743 unless --suite names another: bbr-draft, tcpeval, rfc7928, rfc8867, c4,
    adversaries, everyday, a TOML file (ackclock schema --suite), or a folder that `ackclock search`
    has saved.

    \b
    The file of --accept has a table for each known finding, with the last day on which it is accepted:
      [[accept]]
      criterion = "mixed"
      reason = "next to four flows, as in section 5 of the draft"
      until = 2027-06-30

    With --baseline every criterion is also judged against OLD alone: better, like, not worse, worse or
    undecided, with the same margins. docs/ci.md in the repository has a test and a workflow that fail when a
    control gets worse.

    Exit status: 0 if the evaluation has ended, whatever the verdicts; 1 if a run failed; 2 for bad input;
    3 if a verdict named by --fail-on occurred; 130 if it was interrupted.

    \b
    Examples:
      ackclock evaluate illinois
      ackclock evaluate mine:Gentle --against bbr3 --fail-on worse
      ackclock evaluate mine:Gentle --fail-on must-worse --accept accepted.toml
      ackclock evaluate new:Gentle --baseline old:Gentle --fail-on worse
      ackclock evaluate cubic --set c=0.8 --only mixed,rtt
      ackclock evaluate bbr3 --full --dry-run
      ackclock evaluate bbr3 --suite results/found
      ackclock evaluate bbr3 --suite mine.toml
    """
    from ackclock.engine import controls
    from ackclock_evaluate import page, previous, versions
    from ackclock_evaluate.evaluate import evaluate as run
    from ackclock_evaluate.results import Request
    from ackclock_evaluate.setting import Subject

    (control,) = controls.labelled([control])
    request = Request(
        Subject(control, parameters(settings)),
        _criteria(suite or ("rfc9743",), only),
        controls.labelled([name.strip() for name in (against or "").split(",") if name.strip()]),
        "quick" if quick else "full",
        seed,
        shipped=not own_baselines,
    )
    if baseline is not None:
        request = versions.with_baseline(request, baseline, page.folder(output, control))
    current, ended = _accepted(accept, request)
    cache = output / ".cache"
    if dry_run:
        _estimate(request, cache, places["jobs"], as_json)
        return
    tell = None if as_json else lambda line: print(f"ackclock: {line}", file=sys.stderr)
    command = options.command()
    requested = {criterion.key for criterion in request.criteria}
    home = page.folder(output, control)
    with options.watched(live, home, f"Evaluation of {control}", home / "index.html") as watcher:
        evaluation = run(previous.merge(request, home), cache, live=watcher, tell=tell, **places)
        folder = page.write(evaluation, output, command, tell, pictures=pictures)
    if as_json:
        print((folder / "verdicts.json").read_text("utf-8"), end="")
    else:
        _print(evaluation, folder)
    results = [result for result in evaluation.results if result.criterion.key in requested]
    compared = results
    if evaluation.request.earlier is not None:
        compared = [result for result in evaluation.versions if result.criterion.key in requested]
    errors = [error for result in results for error in result.errors]
    if errors:
        print(
            f"ackclock: {control}: runs failed in {evaluation.failed} scenarios: {folder}/index.html; "
            f"the first: {errors[0]}",
            file=sys.stderr,
        )
        raise click.exceptions.Exit(1)
    for line in ended:
        print(f"ackclock: {line}", file=sys.stderr)
    if fail_on is not None and _counts(compared, fail_on, current):
        raise click.exceptions.Exit(3)


def _accepted(file: Path | None, request: Request) -> tuple[set[str], list[str]]:
    if file is None:
        return set(), []
    from ackclock_evaluate import accepted
    from ackclock_evaluate.suites import chosen

    suites = list(dict.fromkeys(criterion.suite for criterion in request.criteria))
    try:
        entries = accepted.read(file, [criterion.id for criterion in chosen(suites)])
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    return accepted.sort(entries, datetime.datetime.now(datetime.UTC).date())


def _counts(results: Sequence[CriterionResult], condition: str, accepted: set[str]) -> bool:
    """Return whether a verdict that `condition` names occurs in a criterion that is not accepted."""
    return any(
        result.verdict in CONDITIONS[condition]
        for result in results
        if result.criterion.id not in accepted
        and (condition != "must-worse" or result.criterion.level == "MUST")
    )


def parameters(settings: tuple[str, ...]) -> dict[str, object]:
    """Return the parameters of a control from the values of ``--set``."""
    chosen: dict[str, object] = {}
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign or not key.strip():
            raise click.ClickException(f"--set takes KEY=VALUE, e.g. --set beta=0.7; got {setting!r}")
        try:
            chosen[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            # A word without quotes, as people write it on a command line.
            chosen[key.strip()] = value.strip()
    return chosen


def _criteria(suites: tuple[str, ...], only: str | None) -> tuple[Criterion, ...]:
    from ackclock_evaluate.suites import chosen

    wanted = [name.strip() for name in (only or "").split(",") if name.strip()]
    try:
        return chosen(suites, wanted)
    except KeyError as error:
        raise click.ClickException(str(error.args[0])) from error


def _estimate(request: Request, cache: Path, jobs: int | None, as_json: bool) -> None:
    from ackclock.runs.progress import duration
    from ackclock_evaluate.estimate import cost

    estimate = cost(request, cache, jobs)
    if as_json:
        print(
            json.dumps(
                {
                    "cells": estimate.cells,
                    "runs": estimate.runs,
                    "kept": estimate.kept,
                    "packets": float(f"{estimate.packets:.3g}"),
                    "estimated_s": float(f"{estimate.seconds:.2g}"),
                }
            )
        )
        return
    print(
        f"{estimate.cells} scenarios, {estimate.runs} initial runs, {estimate.kept} of them cached; "
        f"about {estimate.packets / 1e6:.0f} M packets, {duration(estimate.seconds)} on this machine"
    )


def _print(evaluation: Evaluation, folder: Path) -> None:
    from ackclock.engine import controls
    from ackclock_evaluate.conclusion import headline, profile
    from ackclock_evaluate.report import suites
    from ackclock_evaluate.versions import sentence

    name = evaluation.request.candidate.name
    if evaluation.results:
        _print_verdicts(evaluation)
        for suite, digest in suites(evaluation).items():
            print(f"suite {suite}: {digest}")
        print(f"profile {profile(evaluation)}")
        print(f"{name}: {headline(evaluation)}.")
    if evaluation.request.earlier is not None:
        print(f"{sentence(evaluation.versions, evaluation.request.earlier)}.")
    sources = controls.follows([name])
    if sources:
        print(sources)
    print(f"{folder / 'index.html'}")


def _print_verdicts(evaluation: Evaluation) -> None:
    """Print the verdict of every criterion."""
    from ackclock.cli import tables
    from ackclock_evaluate import written
    from ackclock_evaluate.cell import words
    from ackclock_evaluate.results import CANDIDATE

    others = list(evaluation.others)
    columns = ["section", "criterion", "verdict", "worse in", "decided by", evaluation.request.candidate.name]
    since = {result.criterion.key: result.verdict for result in evaluation.versions}
    if evaluation.request.earlier is not None:
        columns.insert(3, f"than {evaluation.request.earlier.name}")
    rows = []
    for result in evaluation.results:
        worst, values = "", ["-"] * (1 + len(others))
        if result.worst:
            cell, judged = result.worst
            metric, unit = judged.bound.metric, judged.bound.unit
            estimates = [cell.measured[name].estimate(metric) for name in (CANDIDATE, *others)]
            values = [written.number_with_unit(metric, unit, estimate) for estimate in estimates]
            worst = f"{cell.cell.name}: {words(metric)}"
        criterion = result.criterion
        worse = f"{result.worse} of {len(result.decisive)}" if result.decisive else "-"
        verdicts = [result.verdict]
        if evaluation.request.earlier is not None:
            verdicts.append(since.get(criterion.key, "-"))
        rows.append((criterion.section, criterion.id, *verdicts, worse, worst, *values))
    tables.print_rows((*columns, *others), rows, texts=columns.index("decided by") + 1)
