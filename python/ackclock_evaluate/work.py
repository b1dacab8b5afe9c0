"""The cells of an evaluation: the runs that each control needs there, and their results."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ackclock import engine
from ackclock.decision import comparisons, shares, wants_more
from ackclock.engine.build import Table
from ackclock.runs import Job, Store
from ackclock_evaluate import baselines, versions
from ackclock_evaluate.cell import Cell, CellNumbers, Criterion, Parts
from ackclock_evaluate.results import (
    CANDIDATE,
    CellResult,
    CriterionResult,
    MarginResult,
    Measured,
    Request,
    judge,
)
from ackclock_evaluate.runs import RunMeasurement
from ackclock_evaluate.setting import BASELINES, CUBIC

FIRST_RUNS = {"quick": 5, "full": 10}
MORE_RUNS = 5
MOST_RUNS = 30
"""An undecided cell gets more runs, up to this number (`ackclock.decision.wants_more`)."""


def _cells(criterion: Criterion, request: Request) -> list[Cell]:
    cells = list(criterion.cells(request.mode)) if criterion.cells else []
    if criterion.further is not None:
        further = [name for name in dict.fromkeys(request.against) if name not in BASELINES]
        for name in further:
            cells += [replace(cell, decisive=False) for cell in criterion.further(request.mode, name)]
    return cells


class Work:
    """The cells of an evaluation, the runs that they need, and their results from the store.

    Methods take the index of a cell and that of a control among `Request.subjects`. The controls
    must be loaded.
    """

    def __init__(self, request: Request, kept: Store) -> None:
        self.request, self.kept = request, kept
        self.cells = [
            (criterion, cell) for criterion in request.criteria for cell in _cells(criterion, request)
        ]
        self.runs = [FIRST_RUNS[request.mode]] * len(self.cells)
        self.shares = shares(range(FIRST_RUNS[request.mode], MOST_RUNS + 1, MORE_RUNS))
        """The share of the error that the look after so many runs may spend; empty if their number is
        fixed."""
        self.first = 0
        """Number of the first run, which selects its random streams."""
        self.drawn = frozenset({CUBIC})
        """Controls that need curves, besides the candidate."""
        self._indices = {id(cell): index for index, (_, cell) in enumerate(self.cells)}
        self._scenarios: dict[tuple[int, int], dict[str, engine.Scenario] | str] = {}
        # Every round needs all of these, and building scenarios and digests takes longer than the runs of a
        # control with shipped baselines.
        self._parts: dict[tuple[int, int], Parts] = {}
        self._jobs: dict[tuple[int, int, int, str], Job] = {}
        self._by_scenario: dict[int, Sequence[CellNumbers]] = {}
        self._measured: dict[tuple[int, int], tuple[int, Measured]] = {}
        is_shipped = request.shipped and request.seed == baselines.SEED
        self._shipped = baselines.read() if is_shipped else baselines.Shipped()

    def scenarios(self, cell: int, subject: int) -> dict[str, engine.Scenario] | str:
        """Return the scenarios of a cell by part, or why the cell cannot have this control."""
        key = (cell, subject)
        if key not in self._scenarios:
            parts = self.parts(cell, subject)
            try:
                self._scenarios[key] = {
                    name: engine.read(self._seeded(part.scenario)) for name, part in parts.items()
                }
            except engine.ScenarioError as error:
                self._scenarios[key] = str(error).removeprefix("scenario: ")
        return self._scenarios[key]

    def _seeded(self, scenario: Table) -> Table:
        seeded = copy.copy(scenario)
        seeded["run"] = {**scenario["run"], "seed": self.request.seed}
        return seeded

    def parts(self, cell: int, subject: int) -> Parts:
        """Return the parts of a cell with a control in the judged place."""
        key = (cell, subject)
        if key not in self._parts:
            self._parts[key] = self.cells[cell][1].parts(self.request.subjects[subject])
        return self._parts[key]

    def jobs(self, cell: int, subject: int) -> Iterator[tuple[int, str, Job]]:
        """Yield the runs that a cell needs of a control now: number, name of the part, and job.

        Of a baseline they are all that are shipped, where these are more.
        """
        scenarios = self.scenarios(cell, subject)
        if isinstance(scenarios, str):
            return
        parts = self.parts(cell, subject)
        count = self.runs[cell]
        last = baselines.RUNS - 1
        if subject and all(self.is_shipped(self._job(cell, subject, last, name)) for name in parts):
            count = max(count, baselines.RUNS)
        for run in range(count):
            for name in parts:
                yield run, name, self._job(cell, subject, run, name)

    def _job(self, cell: int, subject: int, run: int, name: str) -> Job:
        key = (cell, subject, run, name)
        if key not in self._jobs:
            scenarios, parts = self.scenarios(cell, subject), self.parts(cell, subject)
            if isinstance(scenarios, str):
                raise engine.ScenarioError(scenarios)
            is_first = run == 0 and name == next(iter(parts))
            is_shown = subject == 0 or self.request.subjects[subject].name in self.drawn
            drawn = self.cells[cell][1].drawn and is_first and is_shown
            wanted = RunMeasurement(parts[name].measure, drawn, by_flow=True)
            offset = self.first + (0 if subject else self.request.first)
            self._jobs[key] = Job(scenarios[name], run + offset, parts[name].records or drawn, wanted)
        return self._jobs[key]

    def all_jobs(self) -> list[Job]:
        """Return all runs that are needed now and have no shipped numbers; a run may appear twice."""
        return [
            job
            for cell in range(len(self.cells))
            for subject in range(len(self.request.subjects))
            for _, _, job in self.jobs(cell, subject)
            if not self.is_shipped(job)
        ]

    def is_shipped(self, job: Job) -> bool:
        """Return whether the numbers of a run are shipped, so that it is not made."""
        return self._shipped_numbers(job) is not None

    def _shipped_numbers(self, job: Job) -> CellNumbers | None:
        """Return the shipped numbers of a run; None when it must be made, as for its curves."""
        if isinstance(job.measure, RunMeasurement) and job.measure.drawn:
            return None
        key = id(job.scenario)
        if key not in self._by_scenario:
            self._by_scenario[key] = self._shipped.runs(job)
        runs = self._by_scenario[key]
        return runs[job.run] if job.run < len(runs) else None

    def is_complete(self, cell: int, subject: int) -> bool:
        """Return whether all runs that a cell needs of a control now are finished."""
        return all(
            self.is_shipped(job) or self.kept.get(job.key) is not None
            for _, _, job in self.jobs(cell, subject)
        )

    def measured(self, cell: int, subject: int) -> Measured:
        """Collect the finished runs of a control in a cell."""
        key, runs = (cell, subject), self.runs[cell]
        if key in self._measured and self._measured[key][0] == runs:
            return self._measured[key][1]
        measured = self._collected(cell, subject)
        if self.is_complete(cell, subject):
            self._measured[key] = runs, measured
        return measured

    def _collected(self, cell: int, subject: int) -> Measured:
        scenarios = self.scenarios(cell, subject)
        if isinstance(scenarios, str):
            return Measured(refusal=scenarios)
        measured = Measured(scenarios=scenarios)
        by_run: dict[int, dict[str, CellNumbers]] = {}
        for run, name, job in self.jobs(cell, subject):
            shipped = self._shipped_numbers(job)
            if shipped is not None:
                by_run.setdefault(run, {})[name] = shipped
                continue
            answer = self.kept.get(job.key)
            if answer is None:
                continue
            if answer.error:
                measured.errors.append(answer.error)
                continue
            by_run.setdefault(run, {})[name] = answer.value["numbers"]
            measured.curves.update(answer.value["curves"])
            measured.flows.append((run, name, answer.value["flows"]))
        if not measured.errors:
            measured.numbers = [self.cells[cell][1].numbers(parts) for parts in by_run.values()]
            self._refuse_unmeasured(cell, measured.numbers)
        return measured

    def _refuse_unmeasured(self, cell: int, numbers: list[CellNumbers]) -> None:
        criterion, described = self.cells[cell]
        wanted = [margin.metric for margin in described.judged]
        wanted += [limit.metric for limit in described.limits if not limit.if_told]
        for metric in (name for name in wanted for run in numbers if name not in run):
            raise engine.ScenarioError(
                f"{criterion.id}, {described.name}: {metric} is judged and not measured; "
                f"choose from {', '.join(numbers[0])}"
            )

    def result(self, cell: int, subject: int) -> CellResult:
        """Compare a control, as the candidate, with the baselines and the further controls in a cell."""
        described = self.cells[cell][1]
        others = {
            control.name: self.measured(cell, index)
            for index, control in enumerate(self.request.subjects)
            if index
        }
        candidate = self.measured(cell, subject)
        measured = {CANDIDATE: candidate, **others}
        if candidate.problem:
            return CellResult(described, measured, [], [])
        share = self.shares.get(self.runs[cell], 1.0)
        judged = []
        for margin in described.judged:
            compared = {
                name: comparisons.compare(
                    candidate.values(margin.metric), others[name].values(margin.metric), margin, share
                )
                for name in BASELINES
            }
            judged.append(MarginResult(margin, *comparisons.most_permissive(compared)))
        limits = [
            limit.judge(
                candidate.values(limit.metric), [others[name].values(limit.metric) for name in BASELINES]
            )
            for limit in described.limits
            if not limit.if_told or any(limit.metric in run for run in candidate.numbers)
        ]
        return CellResult(described, measured, judged, limits, share)

    def undecided(self) -> bool:
        """Add runs to the cells that need them, and return whether any does."""
        added = set[int]()
        mine = self.of_criteria(0)
        for result in (*mine, *self.versions(mine)):
            decisive = [cell for cell in result.cells if cell.cell.decisive]
            compared = [judged.compared for cell in decisive for judged in cell.judged]
            adjusted = comparisons.holm([comparison.p for comparison in compared])
            # One comparison that stays worse after the correction settles the criterion: the others
            # need not be confirmed as well.
            settled = any(
                comparison.verdict == "worse" and holm_p < 1 - comparisons.LEVEL
                for comparison, holm_p in zip(compared, adjusted, strict=True)
            )
            for cell in decisive:
                index = self._indices[id(cell.cell)]
                runs = self.runs[index]
                rare = runs < MOST_RUNS and any(limit.verdict == "undecided" for limit in cell.limits)
                if rare or any(
                    wants_more(judged.compared, runs, MOST_RUNS, settled=settled, share=cell.share)
                    for judged in cell.judged
                ):
                    added.add(index)
        for index in added:
            self.runs[index] += MORE_RUNS
        return bool(added)

    def versions(self, results: Sequence[CriterionResult]) -> list[CriterionResult]:
        """Judge the candidate's results against its earlier version, if the request has one."""
        earlier = self.request.earlier
        return versions.judged(results, earlier) if earlier else []

    def of_criteria(self, subject: int) -> list[CriterionResult]:
        """Judge a control, as the candidate, by all criteria."""
        results = []
        for criterion in self.request.criteria:
            cells = [
                self.result(index, subject)
                for index, (owner, _) in enumerate(self.cells)
                if owner is criterion
            ]
            results.append(judge(criterion, cells))
        return results
