"""Published results in place of new ones, and their audit: a sample of their runs is made again."""

from __future__ import annotations

import json
import math
import random
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ackclock.decision import not_excluded
from ackclock.engine import Run, storage
from ackclock.names import counted
from ackclock.reproduction.claims.artefact import Simulated
from ackclock.reproduction.claims.numbers import FULL
from ackclock.reproduction.make import Selected
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.shown import published
from ackclock.reproduction.shown.outcome import WIDTH
from ackclock.reproduction.shown.published import Published
from ackclock.reproduction.task import flat, is_artefact
from ackclock.runs import Job, each

PACKETS_PER_S = 6_000_000
START_S = 0.02
"""Packets that are simulated and measured per second of processor time, and the time of a run without any."""
SAME = 1e-9
"""Largest relative difference of equal numbers: the mathematics of another processor rounds differently."""
FILE = "audit.json"
"""The audit in the directory of a reproduction."""

Every = Mapping[str, Mapping[str, Published]]
"""The published results, by paper and artefact."""


@dataclass(frozen=True)
class PublishedRun:
    """A published run that can be made again; `cost_s` estimates its processor time."""

    paper: str
    artefact: str
    case: str
    run: int
    controls: tuple[str, ...]
    cost_s: float

    def __str__(self) -> str:
        return f"{self.paper}/{self.artefact}, {self.case}, run {self.run}"


@dataclass(frozen=True)
class Draw:
    """A sample of published runs within a budget of processor time, in the order in which it was drawn.

    All runs are put into a random order, and each run that fits into the rest of the budget is taken. The
    first `uniform` runs were taken before any run was passed over; the later ones favour short runs. `total`
    is the number of runs in the draw, and `beyond` of them cost more than the whole budget.
    """

    seed: int | str
    budget_s: float
    chosen: Sequence[PublishedRun]
    uniform: int
    total: int
    beyond: int

    def lines(self) -> list[str]:
        """Return a line per artefact with the cases and numbers of its runs."""
        of: dict[str, dict[str, list[int]]] = {}
        for run in self.chosen:
            of.setdefault(f"{run.paper}/{run.artefact}", {}).setdefault(run.case, []).append(run.run)
        return [
            f"audit of {artefact}: "
            + "; ".join(
                f"{case}, run {', '.join(map(str, sorted(numbers)))}" for case, numbers in cases.items()
            )
            for artefact, cases in sorted(of.items())
        ]


@dataclass(frozen=True)
class Repetition:
    """A published run next to the same run made again.

    `problem` describes the difference and is empty if there is none. `older` is the reason why the published
    run is older than the code, or empty if it is not; then a run with a problem is false.
    """

    run: PublishedRun
    problem: str = ""
    older: str = ""

    @property
    def is_false(self) -> bool:
        """Whether the published run differs, and is not older than the code."""
        return bool(self.problem and not self.older)


def show(shown: Selected, anew: Selected, output: Path, tell: Callable[[str], None]) -> Every:
    """Write the published results of artefacts into the directory of a reproduction, except for those `anew`.

    These results are marked as published, and earlier reproductions in the directory stay. `tell` is called
    with a line per paper. Returns the published results of all artefacts; raises `NotHereError` outside of a
    checkout.
    """
    papers = {paper.name: paper for paper, _ in shown}
    every = {name: published.read(place) for name, place in published.folders(papers.values()).items()}
    storage.probe(output)
    is_older: dict[str, list[bool]] = {}
    for paper, artefact in shown:
        known = every[paper.name].get(artefact.name)
        folder = output / paper.name / artefact.name
        if known is None or (paper, artefact) in anew or _is_own(folder):
            continue
        older = published.is_older(known.record)
        commit = known.record.get("commit", "?")[:10]
        mark = f"published: a full result of commit {commit}{', older than the code' if older else ''}"
        with storage.new_directory(folder, force=True, is_result=is_artefact, synced=False) as directory:
            published.write(replace(known, record={**known.record, "published": mark}), directory)
        is_older.setdefault(paper.name, []).append(older)
    for name, some in is_older.items():
        tell(f"{name}: {counted(len(some), 'result')} as published, {sum(some)} of them older than the code")
    wanted = {(paper.name, artefact.name) for paper, artefact in shown}
    return {
        name: {artefact: known for artefact, known in of.items() if (name, artefact) in wanted}
        for name, of in every.items()
    }


def _is_own(folder: Path) -> bool:
    file = folder / "artefact.json"
    return file.exists() and "published" not in json.loads(file.read_text(encoding="utf-8"))


def runs(every: Every) -> list[PublishedRun]:
    """Return all published runs, in the order of papers and artefacts, cases and runs."""
    return [
        PublishedRun(
            paper,
            artefact,
            row["case"],
            row["run"],
            tuple(row["controls"].split(",")),
            START_S + row["packets"] / PACKETS_PER_S,
        )
        for paper, artefacts in every.items()
        for artefact, known in artefacts.items()
        for row in known.tables["runs"].iter_rows(named=True)
    ]


def draw(every: Every, budget_s: float, seed: int | str) -> Draw:
    """Draw published runs that together take no more than a budget of processor time."""
    return sample(runs(every), budget_s, seed)


def sample(every: Sequence[PublishedRun], budget_s: float, seed: int | str) -> Draw:
    """Draw some of given runs."""
    chosen, left_s, uniform = [], budget_s, None
    for run in random.Random(seed).sample(every, len(every)):  # noqa: S311
        if run.cost_s <= left_s:
            chosen.append(run)
            left_s -= run.cost_s
        elif uniform is None:
            uniform = len(chosen)
    beyond = sum(run.cost_s > budget_s for run in every)
    return Draw(seed, budget_s, chosen, len(chosen) if uniform is None else uniform, len(every), beyond)


def compare(
    chosen: Sequence[PublishedRun],
    papers: Mapping[str, Paper],
    every: Every,
    jobs: int | None = None,
    *,
    shown: bool = False,
) -> list[Repetition]:
    """Make published runs again, and compare digests and numbers, which must be equal.

    `jobs` is the number of parallel runs, and `shown` says whether a terminal shows the progress.
    """
    wanted: dict[Job, list[tuple[PublishedRun, Simulated[Any], Any]]] = {}
    compared: dict[PublishedRun, Repetition] = {}
    for run in chosen:
        paper = papers[run.paper]
        artefact = paper[run.artefact]
        cases = artefact.cases(FULL.at(paper.setting)) if isinstance(artefact, Simulated) else {}
        key = next((key for key in cases if str(key) == run.case), None)
        if key is None or not isinstance(artefact, Simulated):
            compared[run] = Repetition(run, "there is no such case any more", "its case is gone")
            continue
        (job,) = replace(cases[key], runs=1).jobs(run.run)
        wanted.setdefault(job, []).append((run, artefact, key))

    def work(job: Job, again: Run) -> None:
        for run, artefact, key in wanted[job]:
            compared[run] = _compared(run, artefact, key, every[run.paper][run.artefact], job, again)

    # The longest first, so that no core waits for it at the end.
    by_length = sorted(wanted, key=lambda job: -job.expected_packets)
    for job, answer in each(by_length, work, at_once=jobs, shown=shown):
        if answer.error:
            compared |= {run: Repetition(run, answer.error) for run, _, _ in wanted[job]}
    return [compared[run] for run in chosen]


def _compared(
    run: PublishedRun, artefact: Simulated[Any], key: Any, known: Published, job: Job, again: Run
) -> Repetition:
    is_it = (pl.col("case") == run.case) & (pl.col("run") == run.run)
    (before,) = known.tables["runs"].filter(is_it).iter_rows(named=True)
    digest = again.summary["digest"]
    changed = [name for name in published.CHANGED if f'"{name}"' in job.scenario.toml()]
    older = "it was measured by other rules" if published.is_older(known.record) else ""
    if digest != before["digest"]:
        if changed:
            older = f"{changed[0]} has changed"
        elif before["scenario"] != job.scenario.digest:
            older = "its scenario has changed"
        return Repetition(run, f"the digest is {digest}, and {before['digest']} is published", older)
    if older:
        # The run is the same, but other quantities were counted.
        return Repetition(run, older=older)
    numbers = known.tables["numbers"].filter(is_it)
    stated = dict(zip(numbers["number"], numbers["value"], strict=True))
    measured = flat(artefact.probe_of(key, FULL).measure(again))
    present = {name: value for name, value in measured.items() if value is not None}
    for name in stated | present:
        if not _same(stated.get(name), present.get(name)):
            return Repetition(run, f"{name} is {present.get(name)}, and {stated.get(name)} is published")
    return Repetition(run)


def _same(before: object, after: object) -> bool:
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return False
    both_missing = math.isnan(before) and math.isnan(after)
    return both_missing or math.isclose(before, after, rel_tol=SAME, abs_tol=1e-12)


@dataclass(frozen=True)
class Audit:
    """A sample of published runs, and the comparison with the same runs made again."""

    sample: Draw
    compared: Sequence[Repetition]

    @property
    def is_false(self) -> bool:
        """Whether a published run is false."""
        return any(each.is_false for each in self.compared)

    def words(self) -> list[str]:
        """Return lines about the draw of the runs, their comparison, and errors that it may miss."""
        sample, count = self.sample, len(self.sample.chosen)
        cost_s = sum(run.cost_s for run in sample.chosen)
        said = [
            f"Audit: {count} of {counted(sample.total, 'published run')} were made again, in about "
            f"{cost_s:.0f} s of processor time; --seed {sample.seed} draws the same. In a random order, "
            f"each run was taken that fitted into what was left of {sample.budget_s:g} s.",
            *self._missed(),
        ]
        problems = [each for each in self.compared if each.problem]
        old = sum(bool(each.older) for each in self.compared if not each.problem)
        said.append(
            f"{count - len(problems)} have the published digests, and {count - len(problems) - old} also the "
            f"published numbers; {old} have numbers by rules older than the code, which are not compared."
        )
        reasons = Counter(each.older for each in problems if each.older)
        if reasons:
            of = ", ".join(f"{reason} ({number})" for reason, number in reasons.most_common())
            said.append(f"{reasons.total()} older than the code differ, which is not a failure: {of}.")
        false = [f"  {each.run}: {each.problem}" for each in self.compared if each.is_false]
        said.append(f"{len(false) or 'None'} of these runs {'are' if len(false) > 1 else 'is'} false.")
        return [*(line for each in said for line in textwrap.wrap(each, WIDTH)), *false]

    def _missed(self) -> list[str]:
        sample, said = self.sample, []
        if sample.uniform:
            share = 100 * not_excluded(sample.uniform)
            said.append(
                f"The first {sample.uniform} are a uniform draw: if {share:.2g} % of all runs are false, it "
                "misses them with a probability of 5 %."
            )
        if rest := len(sample.chosen) - sample.uniform:
            said.append(f"The other {rest} are not, as short runs fit more often; the share leaves them out.")
        if sample.beyond:
            said.append(f"{counted(sample.beyond, 'run')} would take more than the budget by themselves.")
        return [" ".join(said)] if said else []

    def record(self) -> dict[str, object]:
        """Return the audit as JSON has it."""
        sample = self.sample
        return {
            "seed": sample.seed,
            "budget_s": sample.budget_s,
            "published_runs": sample.total,
            "uniform_runs": sample.uniform,
            "too_long_runs": sample.beyond,
            "missed_share": not_excluded(sample.uniform) if sample.uniform else None,
            "runs": [
                {**asdict(each.run), "problem": each.problem, "older": each.older, "is_false": each.is_false}
                for each in self.compared
            ],
        }


def audit(
    drawn: Draw,
    papers: Mapping[str, Paper],
    every: Every,
    output: Path,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Make a sample of published runs again, write the audit into `output`, and return it.

    `tell` is called with a line per artefact about the runs that were drawn.
    """
    for line in drawn.lines():
        tell(line)
    audited = Audit(drawn, compare(drawn.chosen, papers, every, jobs, shown=True))
    text = json.dumps(audited.record(), indent=2, ensure_ascii=False) + "\n"
    storage.write_sealed(output / FILE, text)
    return audited
