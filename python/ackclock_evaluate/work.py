"""The cells of an evaluation: which runs each control needs there, and what they say."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ackclock import engine
from ackclock.decision import paired, wants_more
from ackclock.runs import Job, Store
from ackclock_evaluate.cell import Cell, Criterion, Numbers, Parts
from ackclock_evaluate.results import CANDIDATE, Asked, CellResult, CriterionResult, Judged, Measured, judge
from ackclock_evaluate.runs import Wanted
from ackclock_evaluate.setting import BASELINES, Table

FIRST_RUNS = {"quick": 5, "full": 10}
MORE_RUNS = 5
MOST_RUNS = 30
"""An undecided cell gets more runs, up to this number (`ackclock.decision.wants_more`)."""
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
    kept : Store
        Where answers are.
    """

    def __init__(self, asked: Asked, kept: Store) -> None:
        self.asked, self.kept = asked, kept
        self.cells = [(criterion, cell) for criterion in asked.criteria for cell in _cells(criterion, asked)]
        self.runs = [FIRST_RUNS[asked.mode]] * len(self.cells)
        self._places = {id(cell): index for index, (_, cell) in enumerate(self.cells)}
        self._scenarios: dict[tuple[int, int], dict[str, engine.Scenario] | str] = {}
        self._jobs: dict[tuple[int, int, int, str], Job] = {}

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
                place = (cell, subject, run, name)
                if place not in self._jobs:
                    # Its name is a digest, which is asked for again and again.
                    wanted = Wanted(part.measure, drawn, by_flow=True)
                    self._jobs[place] = Job(scenarios[name], run + offset, part.records or drawn, wanted)
                yield run, name, self._jobs[place]

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
            answer = self.kept.get(job.key)
            if answer is None:
                continue
            if answer.error:
                found.errors.append(answer.error)
                continue
            by_run.setdefault(run, {})[name] = answer.value["numbers"]
            found.curves.update(answer.value["curves"])
            found.flows.append((run, name, answer.value["flows"]))
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
            one.name: self.measured(cell, index) for index, one in enumerate(self.asked.subjects) if index
        }
        candidate = self.measured(cell, subject)
        measured = {CANDIDATE: candidate, **beside}
        if candidate.refusal or candidate.errors:
            return CellResult(described, measured, [], [])
        judged = []
        for margin in described.judged:
            compared = {
                name: paired.compare(
                    candidate.values(margin.metric), beside[name].values(margin.metric), margin
                )
                for name in BASELINES
            }
            judged.append(Judged(margin, *paired.most_permissive(compared)))
        limits = [
            (
                limit,
                limit.holds(
                    float(np.mean(candidate.values(limit.metric))),
                    [float(np.mean(beside[name].values(limit.metric))) for name in BASELINES],
                ),
            )
            for limit in described.limits
            if not limit.if_told or any(limit.metric in run for run in candidate.numbers)
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
            adjusted = paired.holm([one.p for one in compared])
            # One comparison that stays worse after the correction settles the criterion: the others
            # need not be confirmed as well.
            settled = any(
                one.verdict == "worse" and holm_p < 1 - paired.LEVEL
                for one, holm_p in zip(compared, adjusted, strict=True)
            )
            for cell in decisive:
                place = self._places[id(cell.cell)]
                runs = self.runs[place]
                if any(wants_more(one.compared, runs, MOST_RUNS, settled=settled) for one in cell.judged):
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
