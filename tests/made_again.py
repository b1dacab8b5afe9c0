"""Published numbers compared with runs that are made again: they are stale when a run differs."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Simulated
from ackclock.reproduction.claims.numbers import FULL
from ackclock.reproduction.make import flat
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.shown import published
from ackclock.reproduction.shown.published import Published
from ackclock.runs import Job, each

PACKETS_PER_S = 2_000_000
"""Packets that are simulated and measured per second of processor time, at the least."""
START_S = 0.05
"""Processor time of a run without packets, at the most."""
SAME = 1e-9
"""Largest relative difference of equal numbers: the mathematics of another processor rounds differently."""


@dataclass(frozen=True)
class Again:
    """A published run that can be made again."""

    paper: str
    artefact: str
    case: str
    run: int
    controls: tuple[str, ...]
    cost_s: float
    """An upper estimate of the processor time."""

    def __str__(self) -> str:
        return f"{self.paper}/{self.artefact}, {self.case}, run {self.run}"


def runs(every: Mapping[str, Mapping[str, Published]]) -> list[Again]:
    """Return all published runs, in the order of papers and artefacts, cases and runs."""
    return [
        Again(
            paper,
            artefact,
            row["case"],
            row["run"],
            tuple(row["controls"].split(",")),
            START_S + row["packets"] / PACKETS_PER_S,
        )
        for paper, artefacts in every.items()
        for artefact, published in artefacts.items()
        for row in published.tables["runs"].iter_rows(named=True)
    ]


def sample(every: Sequence[Again], budget_s: float, seed: str) -> list[Again]:
    """Draw runs that together take no more than a budget of processor time."""
    drawn, left_s = [], budget_s
    for run in random.Random(seed).sample(every, len(every)):  # noqa: S311
        if run.cost_s <= left_s:
            drawn.append(run)
            left_s -= run.cost_s
    return drawn


def differences(
    chosen: Sequence[Again],
    papers: Mapping[str, Paper],
    every: Mapping[str, Mapping[str, Published]],
    jobs: int | None = None,
) -> list[str]:
    """Make runs again; return a line for each whose digest or numbers are not the published ones."""
    wanted: dict[Job, list[tuple[Again, Simulated[Any], Any]]] = {}
    problems: dict[Again, str] = {}
    for again in chosen:
        paper = papers[again.paper]
        artefact = paper[again.artefact]
        cases = artefact.cases(FULL.at(paper.setting)) if isinstance(artefact, Simulated) else {}
        key = next((key for key in cases if str(key) == again.case), None)
        if key is None or not isinstance(artefact, Simulated):
            problems[again] = "there is no such case any more"
            continue
        (job,) = replace(cases[key], runs=1).jobs(again.run)
        wanted.setdefault(job, []).append((again, artefact, key))

    def compare(job: Job, run: Run) -> None:
        for again, artefact, key in wanted[job]:
            tables = every[again.paper][again.artefact].tables
            is_it = (pl.col("case") == again.case) & (pl.col("run") == again.run)
            (known,) = tables["runs"].filter(is_it)["digest"]
            digest = run.summary["digest"]
            if digest != known and any(f'"{name}"' in job.scenario.toml() for name in published.CHANGED):
                continue
            if digest != known:
                problems[again] = f"the digest is {digest}, and {known} is published"
                continue
            if published.is_older(every[again.paper][again.artefact].record):
                # The same run, of which other things were counted.
                continue
            numbers = tables["numbers"].filter(is_it)
            before = dict(zip(numbers["number"], numbers["value"], strict=True))
            measured = flat(artefact.probe_of(key, FULL).measure(run))
            after = {name: value for name, value in measured.items() if value is not None}
            different = [name for name in before | after if not _same(before.get(name), after.get(name))]
            if different:
                name = different[0]
                problems[again] = f"{name} is {after.get(name)}, and {before.get(name)} is published"

    for job, answer in each(list(wanted), compare, at_once=jobs, shown=False):
        if answer.error:
            problems |= {again: answer.error for again, _, _ in wanted[job]}
    return [f"{again}: {problems[again]}" for again in chosen if again in problems]


def _same(before: object, after: object) -> bool:
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return False
    both_missing = math.isnan(before) and math.isnan(after)
    return both_missing or math.isclose(before, after, rel_tol=SAME, abs_tol=1e-12)
