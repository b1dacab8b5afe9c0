"""Verdicts from paired runs (better, like, worse or undecided), and their correction for many comparisons.

Pure functions of numbers. A difference counts only when it is past a margin that was stated before,
and being alike is shown by two one-sided tests, not assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["better", "like", "undecided", "worse"]
ORDER: tuple[Verdict, ...] = ("better", "like", "undecided", "worse")
"""Verdicts from the most to the least favourable."""
LEVEL = 0.95
"""Confidence level of the intervals; the one-sided tests of being alike are each at 5 %."""
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Margin:
    """A metric that is compared with the baselines, and the difference that matters.

    Attributes
    ----------
    metric : str
        Name of the number.
    unit : str
        Its unit, empty for shares and indices.
    higher_is_better : bool
        Whether a larger number is better.
    ratio : float, optional
        A ratio to the baseline that still does not matter, above 1.
    difference : float, optional
        A difference that still does not matter, in the unit. With a ratio, too, only what is past
        both matters.
    least : float
        In ratios smaller values count as this one, in the unit.
    """

    metric: str
    unit: str
    higher_is_better: bool
    ratio: float | None = None
    difference: float | None = None
    least: float = 1e-9


@dataclass(frozen=True)
class Limit:
    """A limit that a metric must keep, whatever the baselines do.

    Attributes
    ----------
    metric : str
        Name of the number.
    unit : str
        Unit of the number.
    at_most, at_least : float, optional
        What the mean over runs may be.
    of_baseline : bool
        The limit is a multiple of the baseline's mean, of the more permissive baseline.
    if_told : bool
        It does not apply to a control that has no such number.
    """

    metric: str
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    of_baseline: bool = False
    if_told: bool = False

    def holds(self, value: float, baselines: Sequence[float]) -> bool:
        """Return whether a value keeps the limit.

        Parameters
        ----------
        value : float
            Mean over runs.
        baselines : sequence of float
            The same of the baselines; what they do themselves is not held against a candidate.

        Returns
        -------
        bool
            False, too, when there is no value.
        """
        baselines = [value for value in baselines if not (self.if_told and np.isnan(value))]
        if self.at_most is not None:
            bound = self.at_most * (max(baselines) if self.of_baseline else 1)
            return value <= (bound if self.of_baseline else max([bound, *baselines]))
        if self.at_least is not None:
            bound = self.at_least * (min(baselines) if self.of_baseline else 1)
            return value >= (bound if self.of_baseline else min([bound, *baselines]))
        return False


@dataclass(frozen=True)
class Compared:
    """A candidate compared with one baseline.

    Attributes
    ----------
    verdict : str
        ``better``, ``like``, ``undecided`` or ``worse``.
    p : float
        Probability of as large a difference, were the candidate just at the margin; two-sided.
    runs_needed : int, optional
        About how many runs would decide, when it is undecided and more runs can.
    identical : bool
        Whether the differences of all runs are the same, so that nothing is random.
    """

    verdict: Verdict
    p: float
    runs_needed: int | None
    identical: bool


def compare(candidate: Sequence[float], baseline: Sequence[float], margin: Margin) -> Compared:
    """Compare paired runs.

    Parameters
    ----------
    candidate, baseline : sequence of float
        A number per run, of the same length; pairs in which either is NaN do not count.
    margin : Margin
        The difference that matters.

    Returns
    -------
    Compared
        The verdict and its probability.

    Examples
    --------
    A fifth less in every run is past a margin of a tenth:

    >>> goodput = Margin("goodput", "Mbit/s", True, ratio=1.1)
    >>> compare([8.0, 8.1, 7.9], [10.0, 10.0, 10.0], goodput).verdict
    'worse'
    """
    mine, theirs = np.asarray(candidate, float), np.asarray(baseline, float)
    known = ~(np.isnan(mine) | np.isnan(theirs))
    mine, theirs = mine[known], theirs[known]
    if mine.size < 2:
        return Compared("undecided", 1.0, None, identical=False)
    scales = _harm(mine, theirs, margin)
    tests = [_Test(harm, bound) for harm, bound in scales]
    p = max(test.p_worse for test in tests)
    identical = all(test.error == 0 for test in tests)
    if all(test.is_worse for test in tests):
        return Compared("worse", p, None, identical)
    if all(test.is_better for test in tests):
        return Compared("better", p, None, identical)
    if any(test.is_like for test in tests):
        return Compared("like", p, None, identical)
    return Compared("undecided", p, _runs_needed(tests), identical)


def _harm(mine: Values, theirs: Values, margin: Margin) -> list[tuple[Values, float]]:
    """Return how much worse the candidate is in each run, and the margin, on each scale."""
    sign = -1.0 if margin.higher_is_better else 1.0
    scales = []
    if margin.ratio is not None:
        ratios = np.log(np.maximum(mine, margin.least) / np.maximum(theirs, margin.least))
        scales.append((sign * ratios, float(np.log(margin.ratio))))
    if margin.difference is not None:
        scales.append((sign * (mine - theirs), margin.difference))
    return scales


class _Test:
    """Student's tests of a mean against a margin on both sides."""

    def __init__(self, harm: Values, bound: float) -> None:
        self._count = int(harm.size)
        self._mean, self._bound = float(harm.mean()), bound
        # What differs in the last digits of a float does not differ.
        spread = float(harm.std(ddof=1))
        self.error = 0.0 if spread <= 1e-9 * bound else spread / self._count**0.5

    def _half(self, quantile: float) -> float:
        # Loaded where it is used: a process that only measures runs starts in half the time without it.
        from scipy.special import stdtrit

        return float(stdtrit(self._count - 1, quantile)) * self.error

    @property
    def is_worse(self) -> bool:
        return self._mean - self._half((1 + LEVEL) / 2) > self._bound

    @property
    def is_better(self) -> bool:
        return self._mean + self._half((1 + LEVEL) / 2) < -self._bound

    @property
    def is_like(self) -> bool:
        return abs(self._mean) + self._half(LEVEL) <= self._bound

    @property
    def is_within(self) -> bool:
        return abs(self._mean) <= self._bound

    @property
    def p_worse(self) -> float:
        if self.error == 0:
            return 0.0 if self._mean > self._bound else 1.0
        past = (self._mean - self._bound) / self.error
        from scipy.special import stdtr

        return min(1.0, 2 * float(stdtr(self._count - 1, -past)))

    @property
    def runs_needed(self) -> int:
        distance = max(abs(abs(self._mean) - self._bound), 0.01 * self._bound)
        return max(self._count + 1, int(np.ceil((2 * self.error / distance) ** 2 * self._count)))


def _runs_needed(tests: Sequence[_Test]) -> int:
    """Return about how many runs would decide: one scale suffices to be alike, all must differ."""
    within = [test.runs_needed for test in tests if test.is_within]
    return min(within) if within else max(test.runs_needed for test in tests)


def most_permissive(compared: Mapping[str, Compared]) -> tuple[str, Compared]:
    """Choose the comparison with the baseline against which the candidate does best.

    Parameters
    ----------
    compared : mapping
        Comparisons by baseline.

    Returns
    -------
    str, Compared
        The baseline and the comparison with it; among equal verdicts the one with the larger p. It
        is `worse` only if it is worse than all, and `better` only if it is better than all; a
        candidate that is better than only some of them is `like` them.
    """
    name, best = min(compared.items(), key=lambda item: (ORDER.index(item[1].verdict), -item[1].p))
    if best.verdict == "better" and any(other.verdict != "better" for other in compared.values()):
        return name, replace(best, verdict="like")
    return name, best


def holm(p: Sequence[float]) -> list[float]:
    """Correct probabilities for the number of comparisons, by Holm's method.

    Parameters
    ----------
    p : sequence of float
        Probability of each comparison.

    Returns
    -------
    list of float
        Adjusted, in the same order (Holm, Scandinavian Journal of Statistics 6, 1979).

    Examples
    --------
    Of three, the smallest is multiplied by 3, the next by 2, the last by 1, and none falls below
    one before it:

    >>> [round(adjusted, 3) for adjusted in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda index: p[index])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted


def of_criterion(verdicts: Sequence[Verdict], p: Sequence[float]) -> tuple[Verdict, int, float]:
    """Return the verdict of a criterion from its comparisons.

    Parameters
    ----------
    verdicts : sequence of str
        Verdict of each comparison, at least one.
    p : sequence of float
        Probability of each.

    Returns
    -------
    str, int, float
        The verdict, the number of the comparison that decides it, and its adjusted probability. A
        comparison is `worse` only if it stays so after Holm's correction at 5 %.
    """
    adjusted = holm(p)
    kept: list[Verdict] = [
        "undecided" if verdict == "worse" and corrected >= 1 - LEVEL else verdict
        for verdict, corrected in zip(verdicts, adjusted, strict=True)
    ]
    place = max(range(len(kept)), key=lambda index: (ORDER.index(kept[index]), -p[index]))
    return kept[place], place, adjusted[place]
