"""An evaluation: every cell with the candidate and with each baseline in its place, judged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import engine
from ackclock.engine import controls
from ackclock.evaluation import verdicts
from ackclock.evaluation.cell import Cell, Criterion, Numbers, Parts
from ackclock.evaluation.results import (
    CANDIDATE,
    Asked,
    CellResult,
    CriterionResult,
    Evaluation,
    Judged,
    Measured,
    judge,
)
from ackclock.evaluation.runs import Answer, Job, Kept, make, places
from ackclock.evaluation.setting import BASELINES, STANDARD, Table
from ackclock.evaluation.verdicts import Compared
from ackclock.runs import progress

FIRST_RUNS = {"quick": 5, "full": 10}
MORE_RUNS = 5
MOST_RUNS = 30
"""An undecided cell gets more runs, up to this number, unless it would need many times as many."""
HOPELESS = 4
"""How many times as many."""
UNPAIRED = 1000
"""Number of the candidate's first run when its chance is to be another than the baselines'."""


def _cells(criterion: Criterion, asked: Asked) -> list[Cell]:
    found = list(criterion.cells(asked.mode)) if criterion.cells else []
    if criterion.beside is not None:
        further = [name for name in dict.fromkeys(asked.against) if name not in BASELINES]
        for name in further:
            found += [replace(cell, decisive=False) for cell in criterion.beside(asked.mode, name)]
    return found


class Work:
    """The cells of an evaluation, and which runs they need.

    Parameters
    ----------
    asked : Asked
        What to do; its controls are loaded.
    kept : Kept
        Where answers are.
    """

    def __init__(self, asked: Asked, kept: Kept) -> None:
        self.asked, self.kept = asked, kept
        self.cells = [
            (criterion, cell) for criterion in asked.criteria for cell in _cells(criterion, asked)
        ]
        self.runs = [FIRST_RUNS[asked.mode]] * len(self.cells)
        self._places = {id(cell): index for index, (_, cell) in enumerate(self.cells)}
        self._scenarios: dict[tuple[int, int], dict[str, engine.Scenario] | str] = {}

    def scenarios(self, cell: int, subject: int) -> dict[str, engine.Scenario] | str:
        """Give the scenarios of a cell.

        Parameters
        ----------
        cell, subject : int
            Which cell, and which control.

        Returns
        -------
        dict or str
            Scenarios by part, or why the cell cannot have this control.
        """
        key = (cell, subject)
        if key not in self._scenarios:
            parts = self.parts(cell, subject)
            try:
                self._scenarios[key] = {
                    name: engine.read(self._seeded(part.scenario)) for name, part in parts.items()
                }
            except engine.ScenarioError as error:
                self._scenarios[key] = str(error).removeprefix("<mapping>: ")
        return self._scenarios[key]

    def _seeded(self, scenario: Table) -> Table:
        made = copy.copy(scenario)
        made["run"] = {**scenario["run"], "seed": self.asked.seed}
        return made

    def parts(self, cell: int, subject: int) -> Parts:
        """Give the parts of a cell.

        Parameters
        ----------
        cell, subject : int
            Which cell, and which control.

        Returns
        -------
        mapping
            As `Cell.parts`.
        """
        return self.cells[cell][1].parts(self.asked.subjects[subject])

    def jobs(self, cell: int, subject: int) -> Iterator[tuple[int, str, Job]]:
        """Give the runs that a cell needs of a control now.

        Parameters
        ----------
        cell, subject : int
            Which cell, and which control.

        Yields
        ------
        int, str, Job
            Number of the run among those of the cell, name of the part, and the run.
        """
        scenarios = self.scenarios(cell, subject)
        if isinstance(scenarios, str):
            return
        described, parts = self.cells[cell][1], self.parts(cell, subject)
        offset = 0 if self.asked.paired or subject else UNPAIRED
        for run in range(self.runs[cell]):
            for index, (name, part) in enumerate(parts.items()):
                drawn = described.drawn and run == 0 and index == 0
                scenario = scenarios[name]
                yield run, name, Job(scenario, run + offset, part.measure, part.records, drawn)

    def all_jobs(self) -> list[Job]:
        """Give all runs that are needed now.

        Returns
        -------
        list of Job
            The same run may be there twice.
        """
        return [
            job
            for cell in range(len(self.cells))
            for subject in range(len(self.asked.subjects))
            for _, _, job in self.jobs(cell, subject)
        ]

    def measured(self, cell: int, subject: int) -> Measured:
        """Put together what a control gave in a cell.

        Parameters
        ----------
        cell, subject : int
            Which cell, and which control.

        Returns
        -------
        Measured
            From the answers that there are.
        """
        scenarios = self.scenarios(cell, subject)
        if isinstance(scenarios, str):
            return Measured(refusal=scenarios)
        found = Measured(scenarios=scenarios)
        by_run: dict[int, dict[str, Numbers]] = {}
        for run, name, job in self.jobs(cell, subject):
            answer: Answer | None = self.kept.get(job.key)
            if answer is None:
                continue
            if answer.error:
                found.errors.append(answer.error)
                continue
            by_run.setdefault(run, {})[name] = answer.numbers
            found.curves.update(answer.curves)
        if not found.errors:
            found.numbers = [self.cells[cell][1].numbers(parts) for parts in by_run.values()]
        return found

    def result(self, cell: int, subject: int) -> CellResult:
        """Judge a control in a cell.

        Parameters
        ----------
        cell, subject : int
            Which cell, and which control is the candidate.

        Returns
        -------
        CellResult
            With the baselines and the others beside it.
        """
        described = self.cells[cell][1]
        beside = {
            one.name: self.measured(cell, index)
            for index, one in enumerate(self.asked.subjects)
            if index
        }
        candidate = self.measured(cell, subject)
        measured = {CANDIDATE: candidate, **beside}
        if candidate.refusal or candidate.errors:
            return CellResult(described, measured, [], [])
        judged = []
        for margin in described.judged:
            compared = {
                name: verdicts.compare(
                    candidate.values(margin.metric), beside[name].values(margin.metric), margin
                )
                for name in BASELINES
            }
            judged.append(Judged(margin, *verdicts.most_permissive(compared)))
        limits = [
            (
                limit,
                limit.holds(
                    float(np.mean(candidate.values(limit.metric))),
                    [float(np.mean(beside[name].values(limit.metric))) for name in BASELINES],
                ),
            )
            for limit in described.limits
        ]
        return CellResult(described, measured, judged, limits)

    def undecided(self) -> bool:
        """Give more runs to the cells that need them.

        Returns
        -------
        bool
            Whether any does.
        """
        found = False
        for result in self.of_criteria(0):
            decisive = [cell for cell in result.cells if cell.cell.decisive]
            compared = [one.compared for cell in decisive for one in cell.judged]
            adjusted = iter(verdicts.holm([one.p for one in compared]))
            for cell in decisive:
                needs = [_needs_more(one.compared, next(adjusted)) for one in cell.judged]
                place = self._places[id(cell.cell)]
                if any(needs) and self.runs[place] < MOST_RUNS:
                    self.runs[place] += MORE_RUNS
                    found = True
        return found

    def of_criteria(self, subject: int) -> list[CriterionResult]:
        """Judge a control by all criteria.

        Parameters
        ----------
        subject : int
            Which control is the candidate.

        Returns
        -------
        list of CriterionResult
            In their order.
        """
        found = []
        for criterion in self.asked.criteria:
            cells = [
                self.result(index, subject)
                for index, (owner, _) in enumerate(self.cells)
                if owner is criterion
            ]
            found.append(judge(criterion, cells))
        return found


def _needs_more(compared: Compared, holm_p: float) -> bool:
    """Say whether more runs may decide a comparison, or confirm it among the others."""
    if compared.identical:
        return False
    if compared.verdict == "worse":
        return holm_p >= 1 - verdicts.LEVEL
    return compared.runs_needed is not None and compared.runs_needed <= HOPELESS * MOST_RUNS


def evaluate(
    asked: Asked,
    cache: Path,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    limit_s: float | None = None,
    shown: bool = True,
    tell: Callable[[str], Any] | None = None,
) -> Evaluation:
    """Measure the candidate and the baselines, and judge.

    Parameters
    ----------
    asked : Asked
        What to do.
    cache : Path
        Directory in which numbers are kept, for the next control, too.
    jobs : int, optional
        Runs at once on this machine; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler; its workers make the runs.
    limit_s : float, optional
        How long a run may take, seconds; see `runs.places`.
    shown : bool
        Whether a bar with the time left is shown on a terminal.
    tell : callable, optional
        Called with a line when cells get more runs.

    Returns
    -------
    Evaluation
        Verdicts and all numbers.

    Raises
    ------
    ScenarioError
        When the candidate cannot be loaded, or a cluster cannot be reached.
    SimulationError
        When a run of a baseline fails.
    StorageError
        When numbers cannot be kept.
    """
    names = [subject.name for subject in asked.subjects]
    refuse_unknown(asked)
    with Kept(cache).opened() as kept, places(names, jobs, cluster, limit_s) as (place, limit):
        work = _whole(asked, kept)
        asked = work.asked
        while True:
            wanted = work.all_jobs()
            with progress.Count(len({job.key for job in wanted}), "runs", shown=shown) as bar:
                make(wanted, kept, place, limit, bar)
            _refuse_failed_baselines(work)
            if not work.undecided():
                break
            if tell is not None:
                tell(
                    f"{sum(one > FIRST_RUNS[asked.mode] for one in work.runs)} cells get more runs"
                )
        made = {job.key: kept.get(job.key) for job in work.all_jobs()}
        packets = sum(answer.packets for answer in made.values() if answer is not None)
        others = {
            subject.name: work.of_criteria(index)
            for index, subject in enumerate(asked.subjects)
            if index
        }
        return Evaluation(asked, work.of_criteria(0), others, packets)


def _whole(asked: Asked, kept: Kept) -> Work:
    """Leave out what was asked before and would have to be run again."""
    work = Work(asked, kept)
    torn = {
        criterion.key
        for cell, (criterion, _) in enumerate(work.cells)
        if criterion.key in asked.earlier
        for subject in range(len(asked.subjects))
        if any(kept.get(job.key) is None for _, _, job in work.jobs(cell, subject))
    }
    left = tuple(one for one in asked.criteria if one.key not in torn)
    return Work(replace(asked, criteria=left), kept) if torn else work


def refuse_unknown(asked: Asked) -> None:
    """Load the controls, and refuse one that cannot even send on the standard path.

    Parameters
    ----------
    asked : Asked
        What is to be done.

    Raises
    ------
    ScenarioError
        When there is no such control or parameter.
    """
    controls.load_missing([subject.name for subject in asked.subjects])
    for subject in asked.subjects:
        try:
            engine.read(STANDARD.scenario(subject.flow("c", STANDARD.rtt_ms), duration_s=2))
        except engine.ScenarioError as error:
            text = str(error).removeprefix("<mapping>: ").removeprefix("flow.0.")
            raise engine.ScenarioError(f"{subject.name}: {text}") from error


def _refuse_failed_baselines(work: Work) -> None:
    for cell, (criterion, described) in enumerate(work.cells):
        for index, subject in enumerate(work.asked.subjects):
            errors = (
                work.measured(cell, index).errors if subject.name in BASELINES and index else []
            )
            if errors:
                raise engine.SimulationError(
                    f"{criterion.id}, {described.name}: the baseline {subject.name} failed: "
                    f"{errors[0]}"
                )
