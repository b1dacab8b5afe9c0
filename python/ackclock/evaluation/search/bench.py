"""Cells measured for a candidate and for each baseline in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ackclock import engine
from ackclock.evaluation.cell import Cell, Curves, Numbers
from ackclock.evaluation.runs import Job, Kept, make
from ackclock.evaluation.setting import BASELINES, Subject
from ackclock.evaluation.verdicts import Margin
from ackclock.runs import progress
from ackclock.runs.cluster import Workers

CANDIDATE = "candidate"


@dataclass
class Measured:
    """What came of a cell.

    Attributes
    ----------
    numbers : dict
        By subject, numbers of each run.
    curves : dict
        By subject, of the first run.
    error : str
        Why there are no numbers of some subject; empty when there are.
    """

    numbers: dict[str, list[Numbers]] = field(default_factory=dict)
    curves: dict[str, Curves] = field(default_factory=dict)
    error: str = ""

    def values(self, subject: str, margin: Margin) -> list[float]:
        """Give a number of each run.

        Parameters
        ----------
        subject : str
            Whose.
        margin : Margin
            Which.

        Returns
        -------
        list of float
            NaN where there is none.
        """
        return [run.get(margin.metric, float("nan")) for run in self.numbers.get(subject, [])]


class Bench:
    """Makes runs where an evaluation makes its own.

    Parameters
    ----------
    candidate : Subject
        The control that is judged.
    kept : Kept
        Where numbers are kept; open.
    place : Workers
        Who makes runs.
    limit_s : float, optional
        How long a run may take.
    bar : Count
        Is told of every run.
    """

    def __init__(
        self, candidate: Subject, kept: Kept, place: Workers, limit_s: float | None, bar: progress.Count
    ) -> None:
        self.candidate = candidate
        self._subjects = {CANDIDATE: candidate, **{name: Subject(name) for name in BASELINES}}
        self._kept, self._place, self._limit_s, self._bar = kept, place, limit_s, bar

    def measure(
        self, cells: Sequence[Cell], *, seed: int, runs: range, drawn: bool = False, alone: bool = False
    ) -> list[Measured]:
        """Make all runs of cells at once.

        Parameters
        ----------
        cells : sequence of Cell
            What is run.
        seed : int
            Of the random streams.
        runs : range
            Numbers of the runs of each.
        drawn : bool
            Whether curves of the first runs are wanted.
        alone : bool
            Whether the candidate alone is measured, without the baselines.

        Returns
        -------
        list of Measured
            By cell.
        """
        subjects = {CANDIDATE: self.candidate} if alone else self._subjects
        jobs = [self._jobs(cell, subjects, seed, runs, drawn) for cell in cells]
        wanted = [job for one in jobs for _, _, _, job in one]
        make(wanted, self._kept, self._place, self._limit_s, self._bar)
        return [self._measured(cell, one) for cell, one in zip(cells, jobs, strict=True)]

    def _jobs(
        self, cell: Cell, subjects: Mapping[str, Subject], seed: int, runs: range, drawn: bool
    ) -> list[tuple[str, int, str, Job]]:
        found = []
        for name, subject in subjects.items():
            for index, (part, described) in enumerate(cell.parts(subject).items()):
                table = described.scenario
                scenario = engine.read({**table, "run": {**table["run"], "seed": seed}})
                for run in runs:
                    curves = drawn and run == runs[0] and index == 0
                    job = Job(scenario, run, described.measure, described.records, curves)
                    found.append((name, run, part, job))
        return found

    def _measured(self, cell: Cell, jobs: Sequence[tuple[str, int, str, Job]]) -> Measured:
        found = Measured()
        parts: dict[tuple[str, int], dict[str, Numbers]] = {}
        for name, run, part, job in jobs:
            answer = self._kept.get(job.key)
            if answer is None or answer.error:
                found.error = found.error or (answer.error if answer else "was not made")
                continue
            parts.setdefault((name, run), {})[part] = answer.numbers
            if answer.curves:
                found.curves[name] = answer.curves
        if not found.error:
            for (name, _), numbers in parts.items():
                found.numbers.setdefault(name, []).append(cell.numbers(numbers))
        return found
