"""The request of an evaluation, its results, and the verdicts that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock import engine, metrics
from ackclock.decision.comparisons import ORDER, Compared, LimitResult, Margin, of_criterion
from ackclock.metrics import Estimate
from ackclock_evaluate.cell import Cell, CellCurves, CellNumbers, Criterion, possible
from ackclock_evaluate.setting import BASELINES, Mode, Subject

if TYPE_CHECKING:
    import polars as pl

STEADY_EPOCHS = 3
"""With fewer loss events of Reno alone a cell says nothing about the long run."""


SEVERITY = ("not applicable", "holds", *ORDER, "fails", "failed")
"""Verdicts of a criterion, from the most to the least favourable."""


@dataclass(frozen=True)
class Earlier:
    """The earlier version of a control."""

    name: str
    """Its name in results."""
    kept: Mapping[tuple[str, str], Sequence[CellNumbers]] | None = None
    """Metrics of each run by the id of the criterion and the name of the cell, of a kept evaluation; None
    for a control that is measured, too."""

    def measured(self, criterion: Criterion, cell: CellResult) -> Measured:
        """Return its runs in a cell."""
        if self.kept is None:
            return cell.measured[self.name]
        return Measured(list(self.kept.get((criterion.id, cell.cell.name), ())))


@dataclass(frozen=True)
class Request:
    """The control, the criteria and the options of an evaluation."""

    candidate: Subject
    criteria: tuple[Criterion, ...]
    against: tuple[str, ...] = ()
    """Further controls that are shown for comparison and decide nothing."""
    mode: Mode = "quick"
    seed: int = 1
    """Seed of the random streams of all runs."""
    first: int = 0
    """Number of the candidate's first run: with 0 it has the same random streams as the baselines."""
    shipped: bool = True
    """Whether shipped numbers of the baselines are used; with other seeds there are none."""
    previous: frozenset[str] = frozenset()
    """Keys of the criteria of an earlier evaluation: without all of their runs they are left out."""
    earlier: Earlier | None = None
    """The earlier version of the control that it is judged against, too."""

    @cached_property
    def subjects(self) -> tuple[Subject, ...]:
        """The candidate, the baselines and the further controls; only the candidate may appear twice."""
        return (self.candidate, *map(Subject, dict.fromkeys((*BASELINES, *self.against))))


@dataclass
class Measured:
    """The runs of one control in one cell."""

    numbers: list[CellNumbers] = field(default_factory=list)
    """Metrics of each run."""
    curves: CellCurves = field(default_factory=dict)
    """Curves of the first run; empty when none are drawn."""
    flows: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    """Number of the run, name of the part, and the columns of its flows as in `runs.RunMeasurement`."""
    scenarios: Mapping[str, engine.Scenario] = field(default_factory=dict)
    """Scenarios by part; empty when the cell cannot have this control."""
    refusal: str = ""
    """Why the cell cannot have this control."""
    errors: list[str] = field(default_factory=list)
    """Errors of failed runs."""

    @property
    def problem(self) -> str:
        """The reason for missing numbers; empty if there are numbers."""
        return self.refusal or next(iter(self.errors), "")

    @property
    def scenario(self) -> engine.Scenario | None:
        """The scenario of the first part; this part is drawn."""
        return next(iter(self.scenarios.values()), None)

    def values(self, metric: str) -> list[float]:
        """Return a metric of each run, NaN where a run has none."""
        return [run.get(metric, float("nan")) for run in self.numbers]

    def estimate(self, metric: str) -> Estimate:
        """Estimate the mean of a metric over runs; the 95 % interval contains no impossible values."""
        least, most = possible(metric)
        values = [value if np.isfinite(value) else np.nan for value in self.values(metric)]
        return metrics.over_runs(values, least=least, most=most)


@dataclass(frozen=True)
class MarginResult:
    """One metric of a cell, compared with the baselines."""

    margin: Margin
    baseline: str
    """The more permissive baseline."""
    compared: Compared
    """The comparison with that baseline."""
    verdict: str = ""
    """Its verdict after the correction for the number of comparisons of its criterion."""

    @property
    def bound(self) -> Margin:
        """The margin, under the name that `LimitResult` has for its limit."""
        return self.margin


@dataclass(frozen=True)
class CellResult:
    """The comparisons and limits of a cell."""

    cell: Cell
    measured: Mapping[str, Measured]
    """Runs by control; the candidate's runs are under `CANDIDATE`, even if it is a baseline."""
    judged: Sequence[MarginResult]
    limits: Sequence[LimitResult]
    share: float = 1.0
    """The share of the error that its comparisons may spend with so many runs."""

    @property
    def verdict(self) -> str:
        """The least favourable verdict of the cell."""
        candidate = self.measured[CANDIDATE]
        if candidate.refusal:
            return "not applicable"
        if candidate.errors:
            return "failed"
        verdicts = [result.verdict or result.compared.verdict for result in self.judged]
        verdicts += [result.verdict for result in self.limits]
        return max(verdicts, key=SEVERITY.index, default="not applicable")

    @property
    def is_steady(self) -> bool:
        """Whether Reno, where it is alone in the cell, has at least a few loss events; true otherwise."""
        epochs = self.measured["reno"].values("epochs")
        return not epochs or not max(epochs) < STEADY_EPOCHS

    @property
    def twin(self) -> str:
        """The baseline with the same numbers in its runs, unless it is the candidate itself; or empty."""
        mine = self.measured[CANDIDATE]
        for name in BASELINES:
            theirs = self.measured[name]
            is_itself = {part: each.digest for part, each in mine.scenarios.items()} == {
                part: each.digest for part, each in theirs.scenarios.items()
            }
            if mine.numbers and not is_itself and is_same_numbers(mine.numbers, theirs.numbers):
                return name
        return ""

    @property
    def marks(self) -> bool:
        """Whether a queue of the cell can mark packets."""
        scenario = self.measured[CANDIDATE].scenario
        return scenario is not None and _marks(scenario.tables())


def is_same_numbers(mine: Sequence[CellNumbers], theirs: Sequence[CellNumbers]) -> bool:
    """Return whether runs have the same numbers, up to the last digits, which depend on the processor."""
    return len(theirs) >= len(mine) and all(
        run.keys() == other.keys()
        and np.allclose(list(run.values()), [other[name] for name in run], rtol=1e-9, equal_nan=True)
        for run, other in zip(mine, theirs, strict=False)
    )


def _marks(described: object) -> bool:
    """Return whether any queue in a table of a scenario, or in the tables in it, marks packets."""
    if isinstance(described, list):
        return any(map(_marks, described))
    if not isinstance(described, dict):
        return False
    queue = described.get("queue")
    marks = isinstance(queue, dict) and (queue.get("ecn") or queue.get("kind") in ("step", "dualpi2"))
    return bool(marks) or any(map(_marks, described.values()))


CANDIDATE = "candidate"


@dataclass(frozen=True)
class CriterionResult:
    """The verdict of a criterion, and the results of its cells."""

    criterion: Criterion
    cells: Sequence[CellResult]
    verdict: str
    """A verdict of `SEVERITY`, or ``not tested``."""
    worst: tuple[CellResult, MarginResult | LimitResult] | None
    """The deciding cell, and its comparison or limit."""
    holm_p: float | None
    """Adjusted probability of the deciding comparison."""

    @property
    def errors(self) -> list[str]:
        """Errors of the candidate's runs, each once."""
        errors = [error for cell in self.cells for error in cell.measured[CANDIDATE].errors]
        return list(dict.fromkeys(errors))

    @property
    def decisive(self) -> list[CellResult]:
        """The cells that count towards the verdict and that the candidate can be in."""
        return [cell for cell in self.cells if cell.cell.decisive and cell.verdict != "not applicable"]

    @property
    def worse(self) -> int:
        """Number of cells in which the candidate is worse, or breaks a limit."""
        return sum(cell.verdict in {"worse", "fails"} for cell in self.decisive)


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The results of an evaluation."""

    request: Request
    results: Sequence[CriterionResult]
    """Results of the candidate, by criterion."""
    others: Mapping[str, Sequence[CriterionResult]]
    """Results of the baselines and the further controls for the same criteria, by name."""
    packets: int
    """Packets simulated, cached runs included."""
    versions: Sequence[CriterionResult] = ()
    """Results of the candidate against its earlier version; empty without one."""

    @property
    def table(self) -> pl.DataFrame:
        """One row per criterion: its verdict, the deciding cell, and the deciding metric there."""
        import polars as pl

        rows = []
        for result in self.results:
            cell, decisive = result.worst or (None, None)
            bound = decisive.bound if decisive else None
            estimate = cell.measured[CANDIDATE].estimate(bound.metric) if cell and bound else None
            rows.append(
                {
                    "section": result.criterion.section,
                    "criterion": result.criterion.id,
                    "verdict": result.verdict,
                    "cell": cell.cell.name if cell else None,
                    "metric": bound.metric if bound else None,
                    "value": estimate.value if estimate else None,
                    "low": estimate.low if estimate else None,
                    "high": estimate.high if estimate else None,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        counts = Counter(result.verdict for result in self.results)
        summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        return f"<Evaluation of {self.request.candidate.name}: {summary}>"

    def _repr_html_(self) -> str:
        return str(self.table._repr_html_())

    @property
    def failed(self) -> int:
        """Number of cells in which a run of the candidate failed."""
        return sum(bool(cell.measured[CANDIDATE].errors) for result in self.results for cell in result.cells)


def _broken(pair: tuple[CellResult, LimitResult]) -> tuple[int, float]:
    """Return how far a limit is broken: by its verdict, and then by the share of runs."""
    return SEVERITY.index(pair[1].verdict), pair[1].share.value


def judge(criterion: Criterion, cells: Sequence[CellResult]) -> CriterionResult:
    """Judge a criterion by its cells.

    The verdict is ``failed`` when a run of the candidate failed, ``fails`` when a limit does not hold, and
    otherwise the verdict of the worst comparison after Holm's correction, or of an undecided limit.
    """
    if criterion.cells is None:
        return CriterionResult(criterion, cells, "not tested", None, None)
    if any(cell.measured[CANDIDATE].errors for cell in cells):
        return CriterionResult(criterion, cells, "failed", None, None)
    compared = [
        (index, position)
        for index, cell in enumerate(cells)
        if cell.cell.decisive
        for position in range(len(cell.judged))
    ]
    verdict, p = "", None
    worst: tuple[CellResult, MarginResult | LimitResult] | None = None
    if compared:
        comparisons = [cells[index].judged[position].compared for index, position in compared]
        verdict, decisive, p, kept = of_criterion(comparisons)
        corrected: list[list[MarginResult]] = [list(cell.judged) for cell in cells]
        for (index, position), each in zip(compared, kept, strict=True):
            corrected[index][position] = replace(corrected[index][position], verdict=each)
        cells = [replace(cell, judged=judged) for cell, judged in zip(cells, corrected, strict=True)]
        index, position = compared[decisive]
        worst = cells[index], cells[index].judged[position]
    limits = [(cell, limit) for cell in cells if cell.cell.decisive for limit in cell.limits]
    for cell, limit in sorted(limits, key=_broken, reverse=True)[:1]:
        if not verdict or SEVERITY.index(limit.verdict) >= SEVERITY.index(verdict):
            verdict, worst, p = limit.verdict, (cell, limit), None
    return CriterionResult(criterion, cells, verdict or "not applicable", worst, p)
