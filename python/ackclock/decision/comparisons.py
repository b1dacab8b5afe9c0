"""Verdicts on a candidate (better, like, not worse, worse or undecided), and their correction.

Pure functions of numbers. A difference counts only when it is past a margin that was stated before;
being alike, or not worse, is shown by a test, not assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.decision.distributions import student_below, student_quantile
from ackclock.decision.intervals import Estimate, welch
from ackclock.decision.ratios import exact_excess, exact_share

Verdict = Literal["better", "like", "not worse", "undecided", "worse"]
ORDER: tuple[Verdict, ...] = ("better", "like", "not worse", "undecided", "worse")
"""Verdicts from the most to the least favourable."""
LEVEL = 0.95
"""Confidence level of the intervals; the one-sided tests of being alike or not worse are at 5 %."""
RESOLUTION = 0.01
"""Least standard deviation of a run, in margins: no verdict rests on an interval of width zero."""
RARE = 0.05
"""A limit may be broken in this share of runs: 30 runs cannot show an event rarer than one in twenty."""
SURELY = 0.0025
"""Level of the test whether a candidate breaks a limit more often than a baseline: it is repeated in many
scenarios, and again with further runs."""
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Margin:
    """A metric that is compared with the baselines, and the difference that matters."""

    metric: str
    """Name of the number."""
    unit: str
    """Its unit, empty for shares and indices."""
    higher_is_better: bool
    """Whether a larger number is better."""
    ratio: float | None = None
    """A ratio to the baseline that still does not matter, above 1."""
    difference: float | None = None
    """A difference that still does not matter, in the unit. With a ratio, too, a change matters only if it
    exceeds both, and in the ratio a mean below the difference counts as the difference."""
    least: float = 1e-9
    """In ratios without a difference a smaller mean counts as this one, in the unit."""


@dataclass(frozen=True)
class Limit:
    """A limit that a metric must keep in every run, if the baselines do."""

    metric: str
    """Name of the number."""
    unit: str = ""
    """Unit of the number."""
    at_most: float | None = None
    at_least: float | None = None
    """Bounds of the number of a run."""
    if_told: bool = False
    """It does not apply to a control that has no such number."""

    def judge(self, values: Sequence[float], baselines: Sequence[Sequence[float]]) -> LimitResult:
        """Judge the runs of a candidate; NaN breaks the limit.

        A candidate may do what a baseline does. If the mean over the runs of one of the `baselines` breaks
        the limit, the limit is widened to that mean. It ``holds`` when no run breaks it, or no larger share
        than of a baseline's. It ``fails`` when more of all runs than `RARE` break it, by the lower end of the
        exact interval, and more than of each baseline, by an exact test at the level `SURELY`. Otherwise it
        is ``undecided``.

        Three of five runs starve a flow for more than 30 s; at least 14.7 % of all runs do, and more than of
        the baseline's:

        >>> Limit("starved", "s", at_most=30).judge([0, 0, 45, 45, 45], [[0] * 30]).verdict
        'fails'
        """
        numbers = np.asarray(values, float)
        known = [runs[~np.isnan(runs)] for runs in (np.asarray(runs, float) for runs in baselines)]
        known = [runs for runs in known if runs.size]
        means = [float(runs.mean()) for runs in known]
        most = np.inf if self.at_most is None else max([self.at_most, *means])
        least = -np.inf if self.at_least is None else min([self.at_least, *means])

        def broken_by(runs: Values) -> int:
            return int(np.sum(~((runs <= most) & (runs >= least))))

        broken = broken_by(numbers)
        share = exact_share(broken, numbers.size) if numbers.size else Estimate(np.nan, np.nan, np.nan, 0)
        usual = [(broken_by(runs), int(runs.size)) for runs in known]
        if share.value <= max((count / runs for count, runs in usual), default=0.0):
            return LimitResult(self, "holds", broken, share)
        is_more = share.low > RARE and all(
            exact_excess((broken, numbers.size), baseline) < SURELY for baseline in usual
        )
        return LimitResult(self, "fails" if is_more else "undecided", broken, share)


@dataclass(frozen=True)
class LimitResult:
    """A limit, and the runs of a candidate that break it."""

    bound: Limit
    """The limit in question."""
    verdict: Literal["holds", "undecided", "fails"]
    """``holds``, ``undecided`` or ``fails``."""
    broken: int
    """Number of runs that break it."""
    share: Estimate
    """Share of runs that break it, with its exact interval."""


@dataclass(frozen=True)
class Compared:
    """A candidate compared with one baseline."""

    verdict: Verdict
    """One of `ORDER`."""
    p: float
    """Probability of as large a difference, were the candidate just at the margin; two-sided, and over all
    looks."""
    runs_needed: int | None
    """About how many runs of the candidate would decide, when it is undecided and more runs can."""
    identical: bool
    """Whether no two runs of either differ, so that nothing is random."""
    effect: Estimate
    """By how much the candidate is worse, in margins, with its 95 % interval over all looks: above 1
    matters, and negative is better."""


def compare(
    candidate: Sequence[float], baseline: Sequence[float], margin: Margin, share: float = 1.0
) -> Compared:
    """Compare the runs of a candidate with those of a baseline, by Welch's test.

    The runs are not paired, because controls that differ part after a few losses even with the same random
    numbers; so the baseline may have more runs. NaN does not count. A ratio is one of arithmetic means, so
    that a rare collapse counts with what it costs; its error is that of the delta method.

    The verdict is ``worse`` when the 95 % interval of the difference is past the margin, ``better`` when it
    is past the margin on the other side, ``like`` when two one-sided tests at 5 % show that it is within the
    margin on both sides, and ``not worse`` when one shows that it is below the margin. Where there are
    several looks at growing samples, `share` is the share of these errors that this look may spend
    (`ackclock.decision.looks`).

    A fifth less in every run is past a margin of a tenth:

    >>> goodput = Margin("goodput", "Mbit/s", True, ratio=1.1)
    >>> compare([8.0, 8.1, 7.9], [10.0, 10.0, 10.0], goodput).verdict
    'worse'
    """
    mine, theirs = (known(values) for values in (candidate, baseline))
    if min(mine.size, theirs.size) < 2:
        return Compared("undecided", 1.0, None, identical=False, effect=_UNKNOWN)
    identical = not any(_spread(values) for values in (mine, theirs))
    tests = [_Test(scale, (mine.size, theirs.size), share) for scale in scales([mine, theirs], margin)]
    effect = _effect(tests)
    p = max(test.p_worse for test in tests)
    verdict: Verdict = "undecided"
    if effect.low > 1:
        verdict = "worse"
    elif effect.high < -1:
        verdict = "better"
    elif any(test.is_like for test in tests):
        verdict = "like"
    elif any(test.is_not_worse for test in tests):
        verdict = "not worse"
    needed = _runs_needed(tests) if verdict == "undecided" and not identical else None
    return Compared(verdict, p, needed, identical, effect)


_UNKNOWN = Estimate(np.nan, np.nan, np.nan, 0)


def known(values: Sequence[float]) -> Values:
    """Return the numbers of a sample that are not NaN."""
    numbers: Values = np.asarray(values, float)
    counted: Values = numbers[~np.isnan(numbers)]
    return counted


def _spread(values: Values) -> float:
    """Return the standard deviation; values that differ only in the last digits of a float count as equal."""
    spread = float(values.std(ddof=1))
    return spread if spread > 1e-9 * max(1e-9, float(np.abs(values).max())) else 0.0


@dataclass(frozen=True)
class InMargins:
    """Means relative to the last sample, larger is better, and standard deviations; both in margins."""

    means: Values
    spreads: Values


def scales(samples: Sequence[Values], margin: Margin) -> list[InMargins]:
    """Return the samples on each scale of a margin: as ratios, by the delta method, and as differences."""
    sign = 1.0 if margin.higher_is_better else -1.0
    means = np.array([float(values.mean()) for values in samples])
    spreads = np.array([_spread(values) for values in samples])
    of_margin = []
    if margin.ratio is not None:
        floors = np.maximum(means, margin.least if margin.difference is None else margin.difference)
        bound = float(np.log(margin.ratio))
        of_margin.append(InMargins(sign * np.log(floors / floors[-1]) / bound, spreads / floors / bound))
    if margin.difference is not None:
        of_margin.append(
            InMargins(sign * (means - means[-1]) / margin.difference, spreads / margin.difference)
        )
    return of_margin


def times_error(share: float) -> float:
    """Return by how many standard errors a look at a share of the error decides, of many runs: of all, by 2.

    >>> round(times_error(0.1), 2)
    2.86
    """
    alone, shared = (NormalDist().inv_cdf(1 - (1 - LEVEL) * each / 2) for each in (1.0, share))
    return 2 * shared / alone


class _Test:
    """Welch's tests of a difference, in margins, against 1 and -1, at a share of the error."""

    def __init__(self, scale: InMargins, counts: tuple[int, int], share: float) -> None:
        self.mean = float(scale.means[1] - scale.means[0])
        spreads = max(RESOLUTION, float(scale.spreads[0])), max(RESOLUTION, float(scale.spreads[1]))
        self.error, self._degrees = welch(spreads, counts)
        self._spreads, self._counts = spreads, counts
        self.runs, self._share = min(counts), share

    def half(self, sides: int) -> float:
        """Return the distance from the mean of the end of an interval with one or two sides."""
        return student_quantile(self._degrees, 1 - (1 - LEVEL) * self._share / sides) * self.error

    @property
    def is_like(self) -> bool:
        return abs(self.mean) + self.half(1) <= 1

    @property
    def is_not_worse(self) -> bool:
        return self.mean + self.half(1) <= 1

    @property
    def p_worse(self) -> float:
        return min(1.0, 2 * student_below(self._degrees, -(self.mean - 1) / self.error) / self._share)

    @property
    def runs_needed(self) -> int:
        """About how many runs of the candidate make the distance from the margin `times_error`."""
        variance = (max(abs(self.mean - 1), 0.01) / times_error(self._share)) ** 2
        mine, theirs = (spread**2 for spread in self._spreads)
        fixed = theirs / self._counts[1]
        with_fixed = mine / (variance - fixed) if variance > fixed else np.inf
        # Beyond the runs that the baseline has it gets more as well.
        needed = with_fixed if with_fixed <= self._counts[1] else (mine + theirs) / variance
        return max(self._counts[0] + 1, int(np.ceil(needed)))


def _effect(tests: Sequence[_Test]) -> Estimate:
    """Return the difference in margins; where there are two scales, the smaller one counts."""
    nearest = min(tests, key=lambda test: abs(test.mean))
    choose = min if nearest.mean >= 0 else max
    ends = [(test.mean - test.half(2), test.mean + test.half(2)) for test in tests]
    return Estimate(
        nearest.mean,
        min(nearest.mean, choose(low for low, _ in ends)),
        max(nearest.mean, choose(high for _, high in ends)),
        nearest.runs,
        error=nearest.error,
    )


def _runs_needed(tests: Sequence[_Test]) -> int:
    """Return about how many runs would decide: one scale suffices for not worse, worse needs all."""
    within = [test.runs_needed for test in tests if test.mean <= 1]
    return min(within) if within else max(test.runs_needed for test in tests)


def most_permissive(compared: Mapping[str, Compared]) -> tuple[str, Compared]:
    """Return the baseline that is most favourable to the candidate, and the comparison with it.

    Among equal verdicts it is the baseline with the smaller effect. The candidate is `worse` only if it is
    worse than all, and `better` only if it is better than all; one that is better than only some of them is
    `like` the others if it is like one of them, and otherwise `not worse`.
    """
    verdicts = [other.verdict for other in compared.values()]
    name, best = min(compared.items(), key=lambda item: (ORDER.index(item[1].verdict), item[1].effect.value))
    if best.verdict == "better" and set(verdicts) != {"better"}:
        return name, replace(best, verdict="like" if "like" in verdicts else "not worse")
    return name, best


def holm(p: Sequence[float]) -> list[float]:
    """Return probabilities corrected for the number of comparisons, in the same order.

    This is Holm's method (Scandinavian Journal of Statistics 6, 1979). Of three, the smallest is multiplied
    by 3, the next by 2, the last by 1, and none falls below one before it:

    >>> [round(adjusted, 3) for adjusted in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda index: p[index])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted


def of_criterion(comparisons: Sequence[Compared]) -> tuple[Verdict, int, float, list[Verdict]]:
    """Return the verdict of a criterion from its comparisons, at least one.

    Next to it are the number of the comparison that decides it, its adjusted probability, and the verdict of
    each comparison after the correction. A comparison is `worse` only if it stays so after Holm's correction
    at 5 %. Of several with the decisive verdict, that with the largest effect decides: by the lower end of
    its interval where it is worse, and by the upper end otherwise.
    """
    adjusted = holm([comparison.p for comparison in comparisons])
    kept: list[Verdict] = [
        "undecided" if comparison.verdict == "worse" and corrected >= 1 - LEVEL else comparison.verdict
        for comparison, corrected in zip(comparisons, adjusted, strict=True)
    ]
    verdict = max(kept, key=ORDER.index)

    def size(index: int) -> float:
        effect = comparisons[index].effect
        end = effect.low if verdict == "worse" else effect.high
        return -np.inf if np.isnan(end) else end

    selected = max((index for index, each in enumerate(kept) if each == verdict), key=size)
    return verdict, selected, adjusted[selected], kept
