"""What an evaluation has found while it goes on."""

from __future__ import annotations

from ackclock.draw.figure import Group
from ackclock.runs.live import Shown
from ackclock_evaluate import pictures
from ackclock_evaluate.cell import Criterion
from ackclock_evaluate.results import CellResult, judge
from ackclock_evaluate.setting import CUBIC
from ackclock_evaluate.work import Work


class SoFar:
    """The criteria of an evaluation, judged by the cells all of whose runs are there.

    Parameters
    ----------
    work : Work
        The evaluation; another thread may be at it.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._cells: dict[int, tuple[int, CellResult]] = {}
        self._drawn: dict[str, tuple[int, Group | None]] = {}

    def __call__(self) -> Shown:
        """Give a row and, where it has one, a chart of each criterion.

        Returns
        -------
        Shown
            What there is; verdicts may change until all runs are made.
        """
        work = self._work
        rows, charts = [], {}
        for criterion in work.asked.criteria:
            cells = [index for index, (owner, _) in enumerate(work.cells) if owner is criterion]
            found = [one for cell in cells if (one := self._whole(cell)) is not None]
            verdict = judge(criterion, found).verdict if found else ""
            rows.append([criterion.title, f"{len(found)} of {len(cells)}", verdict])
            chart = self._chart(criterion, found)
            if chart is not None:
                charts[criterion.title] = chart
        heads = ("criterion", "situations that are done", "verdict so far")
        note = "Verdicts and charts rest on the situations that are done."
        return Shown(charts, heads, rows, note)

    def _whole(self, cell: int) -> CellResult | None:
        """Give what came of a cell, of its first runs while it gets more; None before that."""
        work = self._work
        runs = work.runs[cell]
        known, result = self._cells.get(cell, (0, None))
        if known == runs:
            return result
        subjects = range(len(work.asked.subjects))
        jobs = [job for subject in subjects for *_, job in work.jobs(cell, subject)]
        if any(work.kept.get(job.key) is None for job in jobs):
            return result
        made = work.result(cell, 0)
        self._cells[cell] = (runs, made)
        return made

    def _chart(self, criterion: Criterion, found: list[CellResult]) -> Group | None:
        state = sum(len(one.measured[CUBIC].numbers) for one in found)
        known, chart = self._drawn.get(criterion.key, (0, None))
        if state != known:
            chart = pictures.criterion(judge(criterion, found), self._work.asked.candidate.name)
            self._drawn[criterion.key] = (state, chart)
        return chart
