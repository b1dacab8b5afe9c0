"""Runs of cells with a candidate and with each baseline in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ackclock import engine
from ackclock.decision.paired import Margin
from ackclock.runs import Job, Store, drive, progress
from ackclock.runs.places import Runner
from ackclock_evaluate.cell import Cell, CellCurves, CellNumbers
from ackclock_evaluate.runs import Wanted
from ackclock_evaluate.setting import BASELINES, Subject

CANDIDATE = "candidate"


@dataclass
class BenchRuns:
    """The runs of one cell, by subject."""

    numbers: dict[str, list[CellNumbers]] = field(default_factory=dict)
    curves: dict[str, CellCurves] = field(default_factory=dict)
    """Curves of the first run of each subject."""
    error: str = ""
    """The first error of a run; then there are no numbers."""

    def values(self, subject: str, margin: Margin) -> list[float]:
        """Return the metric of a margin in each run, NaN where a run has none."""
        return [run.get(margin.metric, float("nan")) for run in self.numbers.get(subject, [])]


class Bench:
    """Measures cells with the store and the runners of an evaluation."""

    def __init__(self, candidate: Subject, kept: Store, place: Runner, bar: progress.Count) -> None:
        self.candidate = candidate
        self._subjects = {CANDIDATE: candidate, **{name: Subject(name) for name in BASELINES}}
        self._kept, self._place, self._bar = kept, place, bar

    def measure(
        self, cells: Sequence[Cell], *, seed: int, runs: range, drawn: bool = False, alone: bool = False
    ) -> list[BenchRuns]:
        """Make all runs of some cells at once.

        `drawn` adds curves of the first runs; `alone` leaves the baselines out.
        """
        subjects = {CANDIDATE: self.candidate} if alone else self._subjects
        by_cell = [self._jobs(cell, subjects, seed, runs, drawn) for cell in cells]
        wanted = [job for jobs in by_cell for _, _, _, job in jobs]
        drive.make(wanted, self._kept, self._place, self._bar)
        return [self._collected(cell, jobs) for cell, jobs in zip(cells, by_cell, strict=True)]

    def _jobs(
        self, cell: Cell, subjects: Mapping[str, Subject], seed: int, runs: range, drawn: bool
    ) -> list[tuple[str, int, str, Job]]:
        jobs = []
        for name, subject in subjects.items():
            for index, (part, described) in enumerate(cell.parts(subject).items()):
                table = described.scenario
                scenario = engine.read({**table, "run": {**table["run"], "seed": seed}})
                for run in runs:
                    curves = drawn and run == runs[0] and index == 0
                    job = Job(
                        scenario, run, described.records or curves, Wanted(described.measure, drawn=curves)
                    )
                    jobs.append((name, run, part, job))
        return jobs

    def _collected(self, cell: Cell, jobs: Sequence[tuple[str, int, str, Job]]) -> BenchRuns:
        collected = BenchRuns()
        parts: dict[tuple[str, int], dict[str, CellNumbers]] = {}
        for name, run, part, job in jobs:
            answer = self._kept.get(job.key)
            if answer is None or answer.error:
                collected.error = collected.error or (answer.error if answer else "was not run")
                continue
            parts.setdefault((name, run), {})[part] = answer.value["numbers"]
            if answer.value["curves"]:
                collected.curves[name] = answer.value["curves"]
        if not collected.error:
            for (name, _), numbers in parts.items():
                collected.numbers.setdefault(name, []).append(cell.numbers(numbers))
        return collected
