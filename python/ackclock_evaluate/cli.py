"""The verb that judges a control."""

from __future__ import annotations

import json
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli import options

if TYPE_CHECKING:
    from ackclock_evaluate.cell import Criterion
    from ackclock_evaluate.results import Asked, Evaluation

WORSE = ("worse", "fails", "failed")
CONDITIONS = {"worse": WORSE, "undecided": (*WORSE, "undecided")}


def _show_schema(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ackclock_evaluate.schema import schema

        print(json.dumps(schema(), indent=2))
        context.exit()


@click.command()
@click.argument("control", metavar="CONTROL", help="A control: NAME, module:Class, library.so:NAME.")
@click.option("--against", metavar="NAMES", help="Further controls to show beside it, as in bbr,bic.")
@click.option("--quick/--full", default=True, help="Minutes, or tens of them.")
@click.option("--suite", multiple=True, metavar="NAME", help="What is asked, or a folder of adversaries.")
@click.option("--only", metavar="ID,...", help="Only these criteria.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of CONTROL.")
@click.option("--search", multiple=True, metavar="OBJECTIVE", help="Look for paths on which it does badly.")
@click.option("--genome", multiple=True, metavar="NAME", help="What --search varies, as in path.")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Patterns to search, each.")
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Of the random streams.")
@click.option("-o", "--output", type=Path, default=Path("results"), metavar="DIR", help="Where results go.")
@options.jobs
@options.cluster
@options.limit
@options.memory
@click.option("--dry-run", is_flag=True, help="Say what it would cost; run nothing.")
@click.option("--fail-on", type=click.Choice(list(CONDITIONS)), help="Exit with 3 when that occurs.")
@options.live
@options.as_json
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_schema,
    help="Print the JSON schema of verdicts.json and exit.",
)
def evaluate(
    control: str,
    against: str | None,
    quick: bool,
    suite: tuple[str, ...],
    only: str | None,
    settings: tuple[str, ...],
    search: tuple[str, ...],
    genome: tuple[str, ...],
    budget: int | None,
    seed: int,
    output: Path,
    jobs: int | None,
    cluster: str | None,
    limit: str | None,
    memory: str | None,
    dry_run: bool,
    fail_on: str | None,
    live: bool,
    as_json: bool,
) -> None:
    """Judge a congestion control by what RFC 9743 asks of a new one.

    It runs in every situation, and CUBIC and Reno in its place with the same chance; what differs
    by more than a stated margin is a finding. The page is DIR/evaluation=CONTROL/index.html, with
    verdicts.json, all numbers as Parquet, and every scenario. Numbers are kept: an interrupted
    evaluation goes on, and the next control finds the baselines.

    What is asked is rfc9743 unless --suite names another: bbr-draft, tcpeval, rfc7928, rfc8867, c4,
    adversaries, or a folder of adversaries that were found. --search varies a path until CONTROL
    does worse on it than CUBIC and Reno, and leaves what it finds in DIR/found as scenarios; alone
    it asks nothing else. Objectives: utilisation, unused, delay, starvation, harm, loss, stall.
    Genomes: capacity, delay, flow-delay, pulses, loss, path; by default two that suit it.

    Exit status: 0 evaluated, whatever the verdicts; 1 a run failed; 2 bad input; 3 what --fail-on
    names has occurred; 130 interrupted.

    \b
    Examples:
      ackclock evaluate illinois
      ackclock evaluate mine:Gentle --against bbr3 --fail-on worse
      ackclock evaluate cubic --set c=0.8 --only mixed,rtt
      ackclock evaluate bbr3 --full --dry-run
      ackclock evaluate copa --search starvation --budget 100
      ackclock evaluate bbr3 --suite results/found
    """
    from ackclock.engine import controls
    from ackclock_evaluate import earlier, page
    from ackclock_evaluate import found as of_search
    from ackclock_evaluate import search as adversaries
    from ackclock_evaluate.evaluate import evaluate as run
    from ackclock_evaluate.results import Asked
    from ackclock_evaluate.setting import Subject

    begin = time.monotonic()
    limits = options.limits(limit, memory)
    asked = Asked(
        Subject(control, _parameters(settings)),
        _criteria(suite or (() if search and only is None else ("rfc9743",)), only),
        tuple(name.strip() for name in (against or "").split(",") if name.strip()),
        "quick" if quick else "full",
        seed,
    )
    cache = output / ".cache"
    if dry_run:
        _estimate(asked, cache, jobs, as_json)
        return
    tell = None if as_json else lambda line: print(f"ackclock: {line}", file=sys.stderr)
    places: dict[str, Any] = {"jobs": jobs, "cluster": cluster, "limits": limits, "tell": tell}
    command = options.command()
    controls.load_missing([control])
    now = {one.key for one in asked.criteria}
    home = page.folder(output, control)
    searches = []
    with options.watched(live, home, f"Evaluation of {control}", home / "index.html") as seen:
        found = run(earlier.joined(asked, home), cache, live=seen, **places)
        for objective in search:
            made = adversaries.search(
                asked.candidate,
                objective,
                cache,
                mode=asked.mode,
                budget=budget,
                genomes=genome,
                seed=seed,
                **places,
            )
            best = [one for searched in made for one in searched.adversaries]
            files = adversaries.save_all(best, output / "found", command)
            searches.append(of_search.Search(objective, made, files))
        wall_s = time.monotonic() - begin
        place = page.write(found, output, command, wall_s, searches, tell)
    if as_json:
        print((place / "verdicts.json").read_text("utf-8"), end="")
    else:
        _print(found, place)
        for one in searches:
            for line in of_search.findings(one):
                print(line)
    asked_now = [one for one in found.results if one.criterion.key in now]
    verdicts = {one.verdict for one in asked_now}
    errors = [error for result in asked_now for error in result.errors]
    if errors:
        print(
            f"ackclock: {control}: runs failed in {found.failed} situations: {place}/index.html; "
            f"the first: {errors[0]}",
            file=sys.stderr,
        )
        raise click.exceptions.Exit(1)
    if fail_on is not None and verdicts & set(CONDITIONS[fail_on]):
        raise click.exceptions.Exit(3)


def _parameters(settings: tuple[str, ...]) -> dict[str, object]:
    found: dict[str, object] = {}
    for one in settings:
        key, sign, value = one.partition("=")
        if not sign or not key.strip():
            raise click.ClickException(f"--set takes KEY=VALUE, as in --set beta=0.7; got {one!r}")
        try:
            found[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            # A word, as people write it on a command line.
            found[key.strip()] = value.strip()
    return found


def _criteria(suites: tuple[str, ...], only: str | None) -> tuple[Criterion, ...]:
    from ackclock_evaluate.suites import chosen

    wanted = [one.strip() for one in (only or "").split(",") if one.strip()]
    try:
        return chosen(suites, wanted)
    except KeyError as error:
        raise click.ClickException(str(error.args[0])) from error


def _estimate(asked: Asked, cache: Path, jobs: int | None, as_json: bool) -> None:
    from ackclock_evaluate.estimate import cost

    found = cost(asked, cache, jobs)
    if as_json:
        print(
            json.dumps(
                {
                    "cells": found.cells,
                    "runs": found.runs,
                    "kept": found.kept,
                    "packets": float(f"{found.packets:.3g}"),
                    "estimated_s": float(f"{found.seconds:.2g}"),
                }
            )
        )
        return
    minutes = found.seconds / 60
    words = f"{found.seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min"
    print(
        f"{found.cells} situations, {found.runs} runs at first, {found.kept} of them kept from "
        f"before; about {found.packets / 1e6:.0f} M packets, {words} on this machine"
    )


def _print(found: Any, place: Path) -> None:
    from ackclock.engine import controls
    from ackclock_evaluate.page import sentence

    if found.results:
        _print_verdicts(found)
        print(f"{found.asked.candidate.name}: {sentence(found)}")
    said = controls.follows([found.asked.candidate.name])
    if said:
        print(said)
    print(f"{place / 'index.html'}")


def _print_verdicts(evaluation: Evaluation) -> None:
    """Print the verdict of every criterion."""
    from ackclock.cli import tables
    from ackclock_evaluate.cell import words
    from ackclock_evaluate.report import number

    columns = ("section", "criterion", "verdict", "decided by", evaluation.asked.candidate.name)
    others = list(evaluation.others)
    rows = []
    for result in evaluation.results:
        worst, values = "", ["-"] * (1 + len(others))
        if result.worst:
            decisive = number(*result.worst, result.criterion.id)
            worst = f"{decisive['cell']}: {words(decisive['metric'])}"
            each = [decisive["value"], *(decisive["baseline"].get(name) for name in others)]
            values = ["-" if value is None else f"{value:.4g}" for value in each]
        criterion = result.criterion
        rows.append((criterion.section, criterion.id, result.verdict, worst, *values))
    tables.print_rows((*columns, *others), rows, texts=4)
