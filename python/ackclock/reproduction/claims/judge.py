"""Judge artefacts: simulate their cases, measure, and check every claim against the numbers."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from ackclock.decision import Estimate, exact_share
from ackclock.engine import Run, ScenarioError
from ackclock.reproduction.claims import losses
from ackclock.reproduction.claims.artefact import Artefact, Claim, Computed, Judged, Simulated, Traces
from ackclock.reproduction.claims.numbers import Counts, Effort, Key, Numbers, Row
from ackclock.runs import Job, Store, each
from ackclock.runs.drive import stop_if_dry
from ackclock.runs.live import OFF, Live

if TYPE_CHECKING:
    import polars as pl

FEWEST_PACKETS = 100_000
"""Fewest packets of a run that is kept. A shorter one is simulated again in the time that it takes to check
and read its files, and faster than they are written; a reproduction has thousands."""
Item = TypeVar("Item")
Halves = tuple[bool | None, bool | None]
"""Whether a claim holds in the even and in the odd runs; None where these leave it undecided."""


@dataclass(frozen=True)
class Judgement:
    """The outcome of an artefact.

    `numbers` and `claims` are empty when something failed; then `error` is not. `traces` are the series of
    the picture by case. `single_runs` is the share of single runs in which a claim holds, by name, where
    there are several runs. `findings` are the sentences of those findings that hold, by name; `former` has
    the results of former checks, by the name of the claim, and `halves` the results of the even and of the
    odd runs, as returned by `halves`. `packets` is the mean number simulated in a run, by case. `runs` has
    the digest of every run.
    """

    numbers: Numbers = field(default_factory=lambda: Numbers({}))
    traces: Traces = field(default_factory=dict)
    claims: Sequence[tuple[Claim, Judged]] = ()
    single_runs: Mapping[str, Estimate] = field(default_factory=dict)
    findings: Mapping[str, str] = field(default_factory=dict)
    former: Mapping[str, Judged] = field(default_factory=dict)
    halves: Mapping[str, Halves] = field(default_factory=dict)
    packets: Mapping[Key, float] = field(default_factory=dict)
    runs: Sequence[Mapping[str, object]] = ()
    error: str = ""


@dataclass(frozen=True)
class Assignment:
    """An artefact and its runs.

    `jobs` are runs by case, every scenario read once; they are empty when no run is needed. `error`
    tells why a scenario was refused.
    """

    artefact: Artefact
    effort: Effort
    jobs: Mapping[Key, Sequence[Job]]
    error: str = ""

    @classmethod
    def of(
        cls, artefact: Artefact, effort: Effort, planned: Mapping[str, int] = MappingProxyType({})
    ) -> Assignment:
        """Read the scenarios of an artefact; the first that is refused becomes the error.

        `planned` has numbers of runs that replace the numbers of the cases, by label.
        """
        jobs, error = {}, ""
        if isinstance(artefact, Simulated):
            for key, case in artefact.cases(effort).items():
                if str(key) in planned:
                    case = replace(case, runs=planned[str(key)])
                try:
                    jobs[key] = case.jobs(effort.first_run)
                except ScenarioError as refusal:
                    error = error or f"{key}: {refusal}"
        return cls(artefact, effort, jobs, error)


def _judged(numbers: Numbers, claim: Claim) -> Judged:
    """Judge a claim with numbers in which some cases may have more runs than others."""
    return claim.judge(claim.shared(numbers))


LEAST_OF_HALVES = 4
"""With so many runs, each half has two."""


def single_runs(numbers: Numbers, claims: Sequence[Claim]) -> dict[str, Estimate]:
    """Return in which share of single runs each claim holds, by its name; nothing for a single run.

    Only runs that all cases read by the claim have are counted: using a run twice adds no information.
    """
    counted = {claim.name: (claim, numbers.runs_of(claim.cases(numbers.rows))) for claim in claims}
    most = max((runs for _, runs in counted.values()), default=0)
    alone = [numbers.only(run) for run in range(most)]
    return {
        name: exact_share(sum(bool(claim.judge(run).holds) for run in alone[:runs]), runs)
        for name, (claim, runs) in counted.items()
        if runs >= 2
    }


def halves(numbers: Numbers, claims: Sequence[Claim]) -> dict[str, Halves]:
    """Return the outcome of each claim in the even and in the odd runs, by its name.

    Claims with fewer than four runs of a case are left out, so that each half has a scatter.
    """

    def said(claim: Claim, part: Numbers) -> bool | None:
        judged = _judged(part, claim)
        return None if judged.undecided else bool(judged.holds)

    even, odd = (numbers.every_second(first) for first in (0, 1))
    return {
        claim.name: (said(claim, even), said(claim, odd))
        for claim in claims
        if numbers.runs_of(claim.cases(numbers.rows)) >= LEAST_OF_HALVES
    }


def findings(numbers: Numbers, claims: Sequence[Claim]) -> dict[str, str]:
    """Return the sentences of the claims' findings that these numbers bear out, by name."""
    every = {claim.finding.name: claim.finding for claim in claims if claim.finding}
    sentences = {name: finding.sentence(numbers) for name, finding in every.items()}
    return {name: sentence for name, sentence in sentences.items() if sentence}


def numbers_of(artefact: Artefact, effort: Effort, rows: Mapping[Key, Sequence[Row]]) -> Numbers:
    """Return the measured numbers of an artefact in the form that its claims and its picture read."""
    return Numbers(rows, effort.setting, artefact.bounds, printed=artefact.printed)


def judged(artefact: Artefact, numbers: Numbers) -> Judgement:
    """Judge the claims of an artefact; raises what they raise, and ValueError for an impossible number."""
    numbers.check()
    is_simulated = isinstance(artefact, Simulated)
    return Judgement(
        numbers,
        claims=[(claim, _judged(numbers, claim)) for claim in artefact.claims],
        single_runs=single_runs(numbers, artefact.claims) if is_simulated else {},
        findings=findings(numbers, artefact.claims),
        former={claim.name: _judged(numbers, claim.former) for claim in artefact.claims if claim.former},
        halves=halves(numbers, artefact.claims) if is_simulated else {},
    )


def controls_of(assignment: Assignment, numbers: Numbers, claim: Claim) -> list[str]:
    """Return the controls of the flows in the runs that a claim reads."""
    jobs = [assignment.jobs[case][0] for case in claim.cases(numbers.rows) if case in assignment.jobs]
    return sorted({control for job in jobs for control in job.scenario.controls})


def identity(case: Key, job: Job, run: Run) -> dict[str, object]:
    """Return the identity of a run, to compare it with another: its scenario, its number and its digest."""
    return {
        "case": str(case),
        "run": job.run,
        "scenario": job.scenario.digest,
        "controls": ",".join(sorted(set(job.scenario.controls))),
        "packets": run.summary["packets_simulated"],
        "digest": run.summary["digest"],
    }


class _Work:
    """The measurements for one artefact so far."""

    def __init__(self, assignment: Assignment) -> None:
        self.artefact, self.effort, self.error = assignment.artefact, assignment.effort, assignment.error
        self.cases = tuple(assignment.jobs)
        self.waiting = {job for jobs in assignment.jobs.values() for job in jobs if not assignment.error}
        self.rows: dict[Key, dict[int, Row]] = {key: {} for key in assignment.jobs}
        self.traces: dict[Key, pl.DataFrame] = {}
        self.packets: dict[Key, list[int]] = {key: [] for key in assignment.jobs}
        self.runs: dict[Key, dict[int, Mapping[str, object]]] = {key: {} for key in assignment.jobs}
        self.losses: dict[Key, dict[int, Counts]] = {key: {} for key in assignment.jobs}

    def take(self, key: Key, job: Job, run: Run) -> None:
        """Measure a run of one of its cases."""
        assert isinstance(self.artefact, Simulated)  # noqa: S101
        probe = self.artefact.probe_of(key, self.effort)
        row, promised = probe.measure(run), set(probe.keys)
        if set(row) != promised:
            different = sorted(map(str, set(row) ^ promised))
            raise ValueError(f"measured and declared numbers differ: {', '.join(different)}")
        self.rows[key][job.run] = row
        self.packets[key].append(run.summary["packets_simulated"])
        self.runs[key][job.run] = identity(key, job, run)
        self.losses[key][job.run] = losses.counts(run)
        if job.run == 0 and self.artefact.trace is not None:
            shown = self.artefact.trace(key, run)
            if shown is not None:
                self.traces[key] = shown

    def judgement(self) -> Judgement:
        """Judge the measured numbers."""
        if self.error:
            return Judgement(error=self.error)
        try:
            numbers, traces = self._finish()
            runs = [run for key in self.cases for run in _in_order(self.runs[key])]
            packets = {key: fmean(some) for key, some in self.packets.items() if some}
            return replace(judged(self.artefact, numbers), traces=traces, packets=packets, runs=runs)
        except Exception as error:
            return Judgement(error=f"{type(error).__name__}: {error}")

    def _finish(self) -> tuple[Numbers, Traces]:
        """Return all numbers, in the order of cases and runs, and the traces."""
        if isinstance(self.artefact, Computed):
            rows, traces = self.artefact.compute(self.effort)
            keys = {key: frozenset().union(*some) for key, some in rows.items()}
            if keys != dict(self.artefact.supplied(self.effort)):
                raise ValueError("computed and declared numbers differ")
            return self._numbers(rows), traces
        ordered = {key: _in_order(self.rows[key]) for key in self.cases}
        return self._numbers(ordered), {key: self.traces[key] for key in self.cases if key in self.traces}

    def _numbers(self, rows: Mapping[Key, Sequence[Row]]) -> Numbers:
        lost = {key: _in_order(runs) for key, runs in self.losses.items()}
        return replace(numbers_of(self.artefact, self.effort, rows), losses=lost)


def _in_order(runs: Mapping[int, Item]) -> list[Item]:
    """Return the items of runs, in the order of the runs."""
    return [runs[run] for run in sorted(runs)]


def judge(
    assignments: Sequence[Assignment],
    store: Store | None = None,
    jobs: int | None = None,
    address: str | None = None,
    live: Live = OFF,
) -> Iterator[tuple[int, Judgement]]:
    """Judge artefacts; yield the index and judgement of each as soon as its last run is measured.

    A run that several artefacts need is made once. `store` is open and has earlier runs, `jobs` is the
    number of parallel runs, by default one per core, and `address` the scheduler of a Dask cluster; a
    ScenarioError says that the cluster cannot be used.
    """
    works = {index: _Work(assignment) for index, assignment in enumerate(assignments)}
    users: dict[Job, list[tuple[int, Key]]] = defaultdict(list)
    for index, assignment in enumerate(assignments):
        for key, of_case in assignment.jobs.items():
            for job in of_case:
                if job in works[index].waiting:
                    users[job].append((index, key))
    # Before artefacts without runs are yielded, which would be written.
    stop_if_dry(list(users), store, jobs)
    lock = threading.Lock()

    def measure(job: Job, run: Run) -> None:
        for index, key in users[job]:
            try:
                works[index].take(key, job, run)
            except Exception as error:
                with lock:
                    words = f"{key}: {type(error).__name__}: {error}"
                    works[index].error = works[index].error or words

    for index, work in list(works.items()):
        if not work.waiting:
            yield index, works.pop(index).judgement()
    answers = each(
        list(users),
        measure,
        at_once=jobs,
        cluster=address,
        store=store,
        fewest_packets=FEWEST_PACKETS,
        live=live,
    )
    for job, answer in answers:
        for index, key in users[job]:
            work = works[index]
            if answer.error:
                work.error = work.error or f"{key}: {answer.error}"
            work.waiting.discard(job)
        for index in dict.fromkeys(index for index, _ in users[job]):
            if not works[index].waiting:
                # Given away, so that not all numbers of all artefacts are kept until the end.
                yield index, works.pop(index).judgement()
