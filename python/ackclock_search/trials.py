"""Runs of scenarios with a control and with each baseline in its place, by the work of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.runs import Store, drive, progress
from ackclock.runs.places import Runner
from ackclock_evaluate.cell import Cell, Criterion
from ackclock_evaluate.results import CANDIDATE, CellResult, Request
from ackclock_evaluate.setting import Subject
from ackclock_evaluate.work import Work


@dataclass(frozen=True)
class Trials:
    """Measures cells with the store and the runners of an evaluation."""

    candidate: Subject
    kept: Store
    place: Runner
    bar: progress.Count

    def results(
        self, cells: Sequence[Cell], *, seed: int, runs: range, alone: bool = False
    ) -> list[CellResult]:
        """Run some cells at once and judge them; `alone` leaves the baselines out, and with them verdicts."""
        criterion = Criterion("search", "", "", "", "", lambda _: list(cells))
        work = Work(Request(self.candidate, (criterion,), seed=seed), self.kept)
        work.runs, work.first = [len(runs)] * len(cells), runs.start
        names = (
            [CANDIDATE] if alone else [CANDIDATE, *(subject.name for subject in work.request.subjects[1:])]
        )
        wanted = [
            job
            for index in range(len(cells))
            for subject in range(len(names))
            for _, _, job in work.jobs(index, subject)
        ]
        drive.make(wanted, self.kept, self.place, self.bar)
        if not alone:
            return [work.result(index, 0) for index in range(len(cells))]
        return [
            CellResult(cell, {CANDIDATE: work.measured(index, 0)}, [], []) for index, cell in enumerate(cells)
        ]


def problem(result: CellResult) -> str:
    """Return why a cell has no numbers; empty if it has."""
    for measured in result.measured.values():
        if measured.refusal or measured.errors:
            return measured.refusal or measured.errors[0]
    return ""
