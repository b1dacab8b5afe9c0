"""Runs of scenarios with a control and with each baseline in its place, by the work of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from ackclock.runs import Store, drive, progress
from ackclock.runs.places import Runner
from ackclock_evaluate.cell import Cell, Criterion
from ackclock_evaluate.results import CANDIDATE, CellResult, Request
from ackclock_evaluate.setting import BASELINES, Subject
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
        work.runs, work.shares, work.first = [len(runs)] * len(cells), {}, runs.start
        # An adversary is drawn next to the baseline that decides, which may be either.
        work.drawn = frozenset(BASELINES)
        pairs = product(range(len(cells)), range(1 if alone else len(work.request.subjects)))
        wanted = [job for pair in pairs for _, _, job in work.jobs(*pair)]
        drive.make(wanted, self.kept, self.place, self.bar)
        if not alone:
            return [work.result(index, 0) for index in range(len(cells))]
        measured = [{CANDIDATE: work.measured(index, 0)} for index in range(len(cells))]
        return [CellResult(cell, numbers, [], []) for cell, numbers in zip(cells, measured, strict=True)]


def problem(result: CellResult) -> str:
    """Return why a cell has no numbers; empty if it has."""
    return next((measured.problem for measured in result.measured.values() if measured.problem), "")
