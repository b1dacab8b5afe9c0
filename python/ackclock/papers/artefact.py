"""What an artefact of a paper is made of: scenarios, numbers, a picture, claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ackclock.metrics import Estimate, over_runs
from ackclock.sweep import Case

if TYPE_CHECKING:
    import matplotlib.figure
    import polars as pl

    from ackclock.api import Run

Row = Mapping[str, Any]
"""Numbers of one run by name: a float, or an `Estimate` where one run has its own interval."""

Traces = Mapping[str, "pl.DataFrame"]
"""What the picture shows over time, by case, of the first run."""


@dataclass(frozen=True)
class Effort:
    """How much is run.

    Attributes
    ----------
    quick : bool
        The headline artefacts only, with fewer seeds and shorter runs.
    runs : int
        Seeds of each scenario.
    """

    quick: bool
    runs: int

    def pick(self, full: float, quick: float) -> float:
        """Choose a length.

        Parameters
        ----------
        full, quick : float
            Any unit.

        Returns
        -------
        float
            The one that applies.
        """
        return quick if self.quick else full


FULL = Effort(quick=False, runs=5)
QUICK = Effort(quick=True, runs=2)


@dataclass(frozen=True)
class Numbers:
    """What was measured, by case and run.

    Attributes
    ----------
    rows : mapping
        One row per run of each case.
    """

    rows: Mapping[str, Sequence[Row]]

    def each(self, case: str, key: str) -> list[float]:
        """Give a number of every run.

        Parameters
        ----------
        case, key : str
            Which.

        Returns
        -------
        list of float
            By run; of an estimate its value.
        """
        values = [row[key] for row in self.rows[case]]
        return [one.value if isinstance(one, Estimate) else float(one) for one in values]

    def of(self, case: str, key: str) -> Estimate:
        """Estimate a number over the runs of a case.

        Parameters
        ----------
        case, key : str
            Which.

        Returns
        -------
        Estimate
            Mean and 95 % interval over runs; of one run what it says itself.
        """
        rows = self.rows[case]
        if len(rows) == 1 and isinstance(rows[0][key], Estimate):
            found: Estimate = rows[0][key]
            return found
        return over_runs(self.each(case, key))

    def ratio(self, first: tuple[str, str], second: tuple[str, str]) -> Estimate:
        """Estimate the ratio of two numbers, run by run.

        Parameters
        ----------
        first, second : tuple of str
            Case and key of each; with as many runs.

        Returns
        -------
        Estimate
            Mean of the ratios.
        """
        above, below = (np.array(self.each(*which)) for which in (first, second))
        with np.errstate(divide="ignore", invalid="ignore"):
            return over_runs(above / below)


@dataclass(frozen=True)
class Judged:
    """What a claim's numbers say.

    Attributes
    ----------
    measured : str
        With units and intervals.
    holds : bool
        Whether the claim does.
    """

    measured: str
    holds: bool


@dataclass(frozen=True)
class Claim:
    """A checkable sentence of a paper.

    Attributes
    ----------
    sentence : str
        What must be seen.
    paper : str
        The paper's value, or what its text says.
    tolerance : str
        What still counts as the same, with its reason.
    judge : callable
        From the numbers.
    reason : str
        Why it differs and what was tried, shown only if it does.
    """

    sentence: str
    paper: str
    tolerance: str
    judge: Callable[[Numbers], Judged]
    reason: str = ""


Verdict = Literal["reproduced", "differs", "not stated"]


def _no_cases(_effort: Effort) -> dict[str, Case]:
    return {}


@dataclass(frozen=True)
class Artefact:
    """A figure or table of a paper.

    Attributes
    ----------
    name : str
        As in ``figure-8``.
    title : str
        One line.
    about : str
        What it shows and how it is measured.
    draw : callable
        From numbers and traces to the picture.
    claims : sequence of Claim
        What must be seen; none where the paper gives nothing to compare.
    cases : callable
        What is to be simulated, by name.
    measure : callable, optional
        Numbers of one run, from the name of its case and the run.
    trace : callable, optional
        What the picture shows of the first run of a case; None when it is not shown.
    compute : callable, optional
        Rows and traces of what needs no run.
    headline : bool
        Whether it belongs to the quick reproduction.
    """

    name: str
    title: str
    about: str
    draw: Callable[[Numbers, Traces], matplotlib.figure.Figure]
    claims: Sequence[Claim] = ()
    cases: Callable[[Effort], Mapping[str, Case]] = _no_cases
    measure: Callable[[str, Run], Row] | None = None
    trace: Callable[[str, Run], pl.DataFrame | None] | None = None
    compute: Callable[[Effort], tuple[Mapping[str, Sequence[Row]], Traces]] | None = None
    headline: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper whose figures and tables are made again.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        Its reference.
    setting : sequence of (str, str, str)
        The one setting of its simulations: quantity, choice, and whether the text gives it or why
        it was chosen.
    artefacts : sequence of Artefact
        In the order of the paper.
    changes : sequence of str
        Claims and tolerances that were changed after they had been run, each with its reason.
    """

    name: str
    title: str
    setting: Sequence[tuple[str, str, str]]
    artefacts: Sequence[Artefact]
    changes: Sequence[str] = field(default_factory=tuple)

    def __getitem__(self, name: str) -> Artefact:
        """Find an artefact by its name."""
        return next(one for one in self.artefacts if one.name == name)


def with_reasons(
    artefacts: Sequence[Artefact], reasons: Mapping[str, Mapping[str, str]]
) -> tuple[Artefact, ...]:
    """Give artefacts whose claims know why they differ.

    Parameters
    ----------
    artefacts : sequence of Artefact
        As declared.
    reasons : mapping
        By artefact and claim; ``*`` is for every claim of an artefact without a reason of its own.

    Returns
    -------
    tuple of Artefact
        In the same order.

    Raises
    ------
    KeyError
        When a reason is for no claim.
    """
    unknown = set(reasons) - {one.name for one in artefacts}
    found = []
    for one in artefacts:
        known = reasons.get(one.name, {})
        unknown |= set(known) - {claim.sentence for claim in one.claims} - {"*"}
        claims = tuple(
            replace(claim, reason=claim.reason or known.get(claim.sentence, known.get("*", "")))
            for claim in one.claims
        )
        found.append(replace(one, claims=claims))
    if unknown:
        raise KeyError(f"reasons for what is not there: {sorted(unknown)}")
    return tuple(found)
