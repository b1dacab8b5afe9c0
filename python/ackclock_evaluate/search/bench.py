"""Cells measured for a candidate and for each baseline in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ackclock import engine
from ackclock.decision.paired import Margin
from ackclock.runs import Job, Store, drive, progress
from ackclock.runs.places import Place
from ackclock_evaluate.cell import Cell, Curves, Numbers
from ackclock_evaluate.runs import Wanted
from ackclock_evaluate.setting import BASELINES, Subject

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
    kept : Store
        Where numbers are kept; open.
    place : Place
        Where runs are made.
    bar : Count
        Is told of every run.
    """

    def __init__(self, candidate: Subject, kept: Store, place: Place, bar: progress.Count) -> None:
        self.candidate = candidate
        self._subjects = {CANDIDATE: candidate, **{name: Subject(name) for name in BASELINES}}
        self._kept, self._place, self._bar = kept, place, bar

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
        drive.make(wanted, self._kept, self._place, self._bar)
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
                    job = Job(
                        scenario, run, described.records or curves, Wanted(described.measure, drawn=curves)
                    )
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
            parts.setdefault((name, run), {})[part] = answer.value["numbers"]
            if answer.value["curves"]:
                found.curves[name] = answer.value["curves"]
        if not found.error:
            for (name, _), numbers in parts.items():
                found.numbers.setdefault(name, []).append(cell.numbers(numbers))
        return found
