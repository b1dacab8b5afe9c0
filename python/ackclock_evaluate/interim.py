"""Interim results of an evaluation, for its live page."""

from __future__ import annotations

from ackclock.draw.figure import Group
from ackclock.runs.live import InterimResults
from ackclock_evaluate import figures
from ackclock_evaluate.cell import Criterion
from ackclock_evaluate.results import CellResult, judge
from ackclock_evaluate.setting import CUBIC
from ackclock_evaluate.work import Work


class Interim:
    """The criteria of an evaluation, judged by the cells whose runs are complete.

    Another thread may be working on the evaluation.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._cells: dict[int, tuple[int, CellResult]] = {}
        self._drawn: dict[str, tuple[int, Group | None]] = {}

    def __call__(self) -> InterimResults:
        """Return a row per criterion and its chart, if any; verdicts may change until all runs are made."""
        work = self._work
        rows, charts = [], {}
        for criterion in work.request.criteria:
            cells = [index for index, (owner, _) in enumerate(work.cells) if owner is criterion]
            results = [result for cell in cells if (result := self._complete(cell)) is not None]
            verdict = judge(criterion, results).verdict if results else ""
            rows.append([criterion.title, f"{len(results)} of {len(cells)}", verdict])
            chart = self._chart(criterion, results)
            if chart is not None:
                charts[criterion.title] = chart
        heads = ("criterion", "finished scenarios", "verdict so far")
        note = "Verdicts and charts cover only the scenarios that are finished."
        return InterimResults(charts, heads, rows, note)

    def _complete(self, cell: int) -> CellResult | None:
        """Return the result of a cell, from its first runs while it gets more; None before these end."""
        work = self._work
        runs = work.runs[cell]
        known, result = self._cells.get(cell, (0, None))
        if known == runs:
            return result
        if not all(work.is_complete(cell, subject) for subject in range(len(work.request.subjects))):
            return result
        complete = work.result(cell, 0)
        self._cells[cell] = (runs, complete)
        return complete

    def _chart(self, criterion: Criterion, results: list[CellResult]) -> Group | None:
        state = sum(len(result.measured[CUBIC].numbers) for result in results)
        known, chart = self._drawn.get(criterion.key, (0, None))
        if state != known:
            chart = figures.criterion(judge(criterion, results), self._work.request.candidate.name)
            self._drawn[criterion.key] = (state, chart)
        return chart
