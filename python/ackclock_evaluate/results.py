"""What was asked, what came of it, and the verdicts that follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock import engine, metrics
from ackclock.decision import paired
from ackclock.decision.paired import Compared, Limit, Margin
from ackclock.metrics import Estimate
from ackclock_evaluate.cell import Cell, Criterion, Curves, Numbers, possible
from ackclock_evaluate.setting import BASELINES, Mode, Subject

if TYPE_CHECKING:
    import polars as pl

STEADY_EPOCHS = 3
"""With fewer loss events of Reno alone a cell says nothing about the long run."""


SEVERITY = ("not applicable", "holds", "better", "like", "undecided", "worse", "fails", "failed")
"""Verdicts of a criterion, from the most to the least favourable."""


@dataclass(frozen=True)
class Asked:
    """What an evaluation is to do.

    Attributes
    ----------
    candidate : Subject
        The control that is judged.
    criteria : tuple of Criterion
        What is asked.
    against : tuple of str
        Further controls that are shown beside it and decide nothing.
    mode : str
        ``quick`` or ``full``.
    seed : int
        Seed of the random streams of all runs.
    paired : bool
        Whether the candidate meets the same chance as the baselines.
    earlier : frozenset of str
        Keys of those criteria that were asked before: they are left out unless all of their runs
        are kept.
    """

    candidate: Subject
    criteria: tuple[Criterion, ...]
    against: tuple[str, ...] = ()
    mode: Mode = "quick"
    seed: int = 1
    paired: bool = True
    earlier: frozenset[str] = frozenset()

    @cached_property
    def subjects(self) -> tuple[Subject, ...]:
        """The candidate, the baselines, and the others, each once but for the candidate."""
        return (self.candidate, *map(Subject, dict.fromkeys((*BASELINES, *self.against))))


@dataclass
class Measured:
    """What one control gave in one cell.

    Attributes
    ----------
    numbers : list of dict
        By run.
    curves : dict
        Of the first run; empty when none are drawn.
    flows : list of (int, str, dict)
        Number of a run, part, and its flows as `runs.Answer` has them.
    scenarios : dict
        By part; empty when the cell cannot have this control.
    refusal : str
        Why it cannot.
    errors : list of str
        Of the runs that failed.
    """

    numbers: list[Numbers] = field(default_factory=list)
    curves: Curves = field(default_factory=dict)
    flows: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    scenarios: Mapping[str, engine.Scenario] = field(default_factory=dict)
    refusal: str = ""
    errors: list[str] = field(default_factory=list)

    @property
    def scenario(self) -> engine.Scenario | None:
        """The scenario of its first part, which is the one that is drawn."""
        return next(iter(self.scenarios.values()), None)

    def values(self, metric: str) -> list[float]:
        """Give a number of each run.

        Parameters
        ----------
        metric : str
            Its name.

        Returns
        -------
        list of float
            NaN where a run has none.
        """
        return [run.get(metric, float("nan")) for run in self.numbers]

    def estimate(self, metric: str) -> Estimate:
        """Estimate the mean of a number over runs.

        Parameters
        ----------
        metric : str
            Its name.

        Returns
        -------
        Estimate
            With its 95 % interval, in which nothing impossible is.
        """
        least, most = possible(metric)
        values = [one if np.isfinite(one) else np.nan for one in self.values(metric)]
        return metrics.over_runs(values, least=least, most=most)


@dataclass(frozen=True)
class Judged:
    """One number of a cell beside the baselines.

    Attributes
    ----------
    margin : Margin
        What matters.
    baseline : str
        The more permissive baseline.
    compared : Compared
        The comparison with it.
    """

    margin: Margin
    baseline: str
    compared: Compared


@dataclass(frozen=True)
class CellResult:
    """What came of a cell.

    Attributes
    ----------
    cell : Cell
        What was asked.
    measured : dict
        By subject; the candidate has its own name even if it is a baseline.
    judged : list of Judged
        Each comparison.
    limits : list of (Limit, bool)
        What holds by itself.
    """

    cell: Cell
    measured: Mapping[str, Measured]
    judged: Sequence[Judged]
    limits: Sequence[tuple[Limit, bool]]

    @property
    def verdict(self) -> str:
        """The least favourable of its verdicts, without correction for their number."""
        candidate = self.measured[CANDIDATE]
        if candidate.refusal:
            return "not applicable"
        if candidate.errors:
            return "failed"
        found = [one.compared.verdict for one in self.judged]
        found += ["holds" if holds else "fails" for _, holds in self.limits]  # type: ignore[misc]
        return max(found, key=SEVERITY.index, default="not applicable")

    @property
    def is_steady(self) -> bool:
        """Whether Reno alone goes through a few loss events in it, where it is alone."""
        epochs = self.measured["reno"].values("epochs")
        return not epochs or not max(epochs) < STEADY_EPOCHS


CANDIDATE = "candidate"


@dataclass(frozen=True)
class CriterionResult:
    """What came of a criterion.

    Attributes
    ----------
    criterion : Criterion
        What was asked.
    cells : list of CellResult
        In order.
    verdict : str
        Of `SEVERITY`.
    worst : tuple, optional
        The cell that decides, and its comparison or limit.
    holm_p : float, optional
        Adjusted probability of the comparison that decides.
    """

    criterion: Criterion
    cells: Sequence[CellResult]
    verdict: str
    worst: tuple[CellResult, Judged | Limit] | None
    holm_p: float | None

    @property
    def errors(self) -> list[str]:
        """What went wrong in the candidate's runs, each once."""
        found = [error for cell in self.cells for error in cell.measured[CANDIDATE].errors]
        return list(dict.fromkeys(found))


@dataclass(frozen=True, repr=False)
class Evaluation:
    """An evaluation.

    Attributes
    ----------
    asked : Asked
        What it was to do.
    results : list of CriterionResult
        For the candidate.
    others : dict
        Verdicts of the same criteria for the baselines and the further controls, by name.
    packets : int
        Packets simulated, kept runs included.
    """

    asked: Asked
    results: Sequence[CriterionResult]
    others: Mapping[str, Sequence[CriterionResult]]
    packets: int

    @property
    def table(self) -> pl.DataFrame:
        """One row per criterion: its verdict, the cell that decides, and the number there."""
        import polars as pl

        rows = []
        for one in self.results:
            cell, found = one.worst or (None, None)
            asked = found.margin if isinstance(found, Judged) else found
            value = cell.measured[CANDIDATE].estimate(asked.metric) if cell and asked else None
            rows.append(
                {
                    "section": one.criterion.section,
                    "criterion": one.criterion.id,
                    "verdict": one.verdict,
                    "cell": cell.cell.name if cell else None,
                    "metric": asked.metric if asked else None,
                    "value": value.value if value else None,
                    "low": value.low if value else None,
                    "high": value.high if value else None,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        count = Counter(one.verdict for one in self.results)
        words = ", ".join(f"{number} {verdict}" for verdict, number in count.items())
        return f"<Evaluation of {self.asked.candidate.name}: {words}>"

    def _repr_html_(self) -> str:
        return str(self.table._repr_html_())

    @property
    def failed(self) -> int:
        """Number of cells in which a run of the candidate failed."""
        return sum(bool(cell.measured[CANDIDATE].errors) for one in self.results for cell in one.cells)


def judge(criterion: Criterion, cells: Sequence[CellResult]) -> CriterionResult:
    """Sum up the cells of a criterion.

    Parameters
    ----------
    criterion : Criterion
        What was asked.
    cells : sequence of CellResult
        What came of it.

    Returns
    -------
    CriterionResult
        ``failed`` when a run of the candidate failed, ``fails`` when a limit does, and otherwise
        the worst comparison after Holm's correction.
    """
    if criterion.cells is None:
        return CriterionResult(criterion, cells, "not tested", None, None)
    deciding = [cell for cell in cells if cell.cell.decisive]
    compared = [(cell, one) for cell in deciding for one in cell.judged]
    limits = [(cell, limit, holds) for cell in deciding for limit, holds in cell.limits]
    failed = [(cell, limit) for cell, limit, holds in limits if not holds]
    if any(cell.measured[CANDIDATE].errors for cell in cells):
        return CriterionResult(criterion, cells, "failed", None, None)
    if failed:
        return CriterionResult(criterion, cells, "fails", failed[0], None)
    if compared:
        verdict, place, p = paired.of_criterion(
            [one.compared.verdict for _, one in compared], [one.compared.p for _, one in compared]
        )
        return CriterionResult(criterion, cells, verdict, compared[place], p)
    if limits:
        return CriterionResult(criterion, cells, "holds", limits[0][:2], None)
    return CriterionResult(criterion, cells, "not applicable", None, None)
