"""Uncertainty of numbers: 95 % intervals over runs, over batches of one run, and by bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ackclock.decision.distributions import student_quantile

NOT_RANDOM = (
    "the runs do not differ: nothing in the scenario is random; set overhead, random starts or a random loss"
)
ONE_RUN = "one run gives no interval: use several"
CORRELATED = "the batches are correlated, so the interval is too narrow: run longer"
NEVER = "in some runs it never happened, so the mean is infinite and has no interval"
TOO_SHORT = "too few samples for batches: run longer or sample more often"


@dataclass(frozen=True)
class Estimate:
    """A number and its uncertainty.

    Attributes
    ----------
    value : float
        The estimated number.
    low, high : float
        Ends of the interval; NaN when there is none.
    samples : int
        Number of runs or batches behind the estimate.
    warning : str
        A caution about the interval; empty if there is none.
    error : float
        Standard error, in the unit of the value, before an interval was kept within bounds; 0 when
        there is none.
    least, most : float
        Smallest and largest possible number.
    """

    value: float
    low: float
    high: float
    samples: int
    warning: str = ""
    error: float = 0.0
    least: float = -np.inf
    most: float = np.inf

    def __str__(self) -> str:
        if np.isnan(self.low):
            return f"{self.value:.4g}"
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


def _student(values: NDArray[np.float64], level: float, warning: str = "") -> Estimate:
    """Return the mean of several values and Student's interval for it."""
    mean = float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(values.size))
    half = student_quantile(values.size - 1, (1 + level) / 2) * error
    return Estimate(mean, mean - half, mean + half, int(values.size), warning, error)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Estimate by how much one number is larger than another, measured independently.

    Parameters
    ----------
    first, second : Estimate
        Two numbers with intervals.

    Returns
    -------
    Estimate
        The difference; its ends are as far away as the root of the sum of the squares of those
        that point there (Newcombe, Statistics in Medicine 17, 1998, method 10). NaN without
        intervals.

    Examples
    --------
    5 - 1 with intervals that reach 3 and 4 away, at right angles:

    >>> print(difference(Estimate(5.0, 2.0, 8.0, 9), Estimate(1.0, -3.0, 5.0, 9)))
    4 [-1, 9]
    """
    value = first.value - second.value
    low = value - np.hypot(first.value - first.low, second.high - second.value)
    high = value + np.hypot(first.high - first.value, second.value - second.low)
    return Estimate(value, float(low), float(high), min(first.samples, second.samples))


def unpaired_difference(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Estimate:
    """Return by how much the mean of one set of runs is larger than that of another, with Welch's interval.

    There is none when a set has one run, or no two runs of a set differ.
    """
    ours, theirs = _settled(first), _settled(second)
    value = float(ours.mean() - theirs.mean())
    samples = min(ours.size, theirs.size)
    spread = np.ptp(ours) > 0 or np.ptp(theirs) > 0
    if samples < 2 or not spread:
        return Estimate(value, np.nan, np.nan, samples, ONE_RUN if samples < 2 else NOT_RANDOM)
    error, degrees = welch([float(sample.std(ddof=1)) for sample in (ours, theirs)], [ours.size, theirs.size])
    half = student_quantile(degrees, (1 + level) / 2) * error
    return Estimate(value, value - half, value + half, samples)


def welch(spreads: Sequence[float], counts: Sequence[int]) -> tuple[float, float]:
    """Return the standard error of a difference of two means, and its degrees of freedom (Welch 1947)."""
    shares = [spread**2 / count for spread, count in zip(spreads, counts, strict=True)]
    degrees = sum(shares) ** 2 / sum(share**2 / (n - 1) for share, n in zip(shares, counts, strict=True))
    return sum(shares) ** 0.5, degrees


def _settled(values: ArrayLike) -> NDArray[np.float64]:
    """Return a sample; numbers that differ in the last digits of a float do not differ."""
    sample = np.asarray(values, float)
    alike = sample.size > 1 and np.ptp(sample) <= 1e-9 * np.abs(sample).max()
    return np.full(sample.size, sample[0]) if alike else sample


def sign(estimate: Estimate) -> int | None:
    """Tell on which side of 0 a number is, if its interval says so.

    Parameters
    ----------
    estimate : Estimate
        With an interval.

    Returns
    -------
    int or None
        1 or -1; 0 if the number is exactly 0; None, undecided, if the interval holds 0 and other values, or
        the interval is missing.
    """
    if np.isnan(estimate.low) or np.isnan(estimate.high):
        return None
    if estimate.low > 0:
        return 1
    if estimate.high < 0:
        return -1
    return 0 if estimate.low == estimate.high == 0 else None


def within(estimate: Estimate, least: float = -np.inf, most: float = np.inf) -> Estimate:
    """Limit the interval of an estimate to possible values.

    Between two bounds the interval is that of the arcsine of the root of the share, by the delta method: the
    variance of that does not depend on the share (Bartlett, JRSS Supplement 3, 1936), so the interval becomes
    lopsided towards the middle where the share is near a bound. A logit would do the same, but of two or
    three runs near a bound its interval reaches the other one. With one bound, or where the value is at a
    bound, the impossible part is cut off: the number cannot be there, so the rest covers it as often as the
    whole interval did.

    Parameters
    ----------
    estimate : Estimate
        With an interval or without.
    least, most : float
        Smallest and largest possible number, such as 0 and 1 for a share.

    Returns
    -------
    Estimate
        The same value, itself within the bounds, with ends that are possible.

    Examples
    --------
    A tenth is the square of the sine of 0.3217, where the sine's square rises by 0.6 for each
    radian: 0.05 to either side is 0.0833 in the angle, and the ends are those of 0.2384 and 0.4051:

    >>> print(within(Estimate(0.1, 0.05, 0.15, 9), 0.0, 1.0))
    0.1 [0.05577, 0.1553]
    """
    value = float(np.clip(estimate.value, least, most))
    share = (value - least) / (most - least) if np.isfinite(most - least) else 0.0
    rise = 2 * np.sqrt(share * (1 - share)) * (most - least) if 0 < share < 1 else 0.0
    if not rise:
        # The value is at a bound, or nearer to one than a float can tell, or there is no second bound.
        low, high = (float(np.clip(end, least, most)) for end in (estimate.low, estimate.high))
        return replace(estimate, value=value, low=low, high=high, least=least, most=most)
    angle = np.arcsin(np.sqrt(share))
    ends = angle + np.array([estimate.low - value, estimate.high - value]) / rise
    low, high = least + (most - least) * np.sin(np.clip(ends, 0, np.pi / 2)) ** 2
    # Rounding may move an end past the value.
    low, high = min(float(low), value), max(float(high), value)
    return replace(estimate, value=value, low=low, high=high, least=least, most=most)


def over_runs(
    values: ArrayLike, level: float = 0.95, *, least: float = -np.inf, most: float = np.inf
) -> Estimate:
    """Estimate the mean over independent runs.

    Parameters
    ----------
    values : array_like
        One number per run; NaN does not count.
    level : float
        Confidence level of the interval.
    least, most : float
        Smallest and largest possible number, such as 0 for a rate.

    Returns
    -------
    Estimate
        Mean and Student's interval, kept within the bounds (`within`). It warns when all runs are
        the same. A mean that is infinite, such as of a time until something that did not
        happen in one run, has no interval.

    Examples
    --------
    With 4 degrees of freedom the interval is 2.776 standard errors wide on each side:

    >>> print(over_runs([9.0, 10.0, 11.0, 9.0, 11.0]))
    10 [8.758, 11.24]

    A rate is not negative: of 1, 1 and 4 the interval would reach 2 - 4.303:

    >>> print(over_runs([1.0, 1.0, 4.0], least=0.0))
    2 [0, 6.303]
    """
    sample = np.asarray(values, float)
    sample = sample[~np.isnan(sample)]
    count = int(sample.size)
    if count == 0:
        return Estimate(np.nan, np.nan, np.nan, 0, "no run has a value")
    mean = float(sample.mean())
    if count == 1:
        estimate = Estimate(mean, np.nan, np.nan, 1, ONE_RUN)
    elif np.all(sample == sample[0]):
        estimate = Estimate(mean, mean, mean, count, NOT_RANDOM)
    elif not np.isfinite(mean):
        estimate = Estimate(mean, np.nan, np.nan, count, NEVER)
    else:
        estimate = _student(sample, level)
    return within(estimate, least, most)


INDEPENDENT = 1.645
"""By chance, von Neumann's ratio of batches is so many standard errors below 2 in 5 % of the cases."""


def over_batches(samples: ArrayLike, batches: int = 20, level: float = 0.95) -> Estimate:
    """Estimate the mean of a stationary series by batch means.

    Parameters
    ----------
    samples : array_like
        Evenly spaced values of one run; the first few are left out when their number is no
        multiple of `batches`.
    batches : int
        How many, at least 2.
    level : float
        Confidence level of the interval.

    Returns
    -------
    Estimate
        Mean of all batches and Student's interval. It warns when neighbouring batches are correlated, so too
        short, by von Neumann's ratio at 5 % (Annals of Mathematical Statistics 12, 1941).
    """
    values = np.asarray(samples, float)
    length = values.size // batches
    if length == 0:
        mean = float(values.mean()) if values.size else np.nan
        return Estimate(mean, np.nan, np.nan, int(values.size), TOO_SHORT)
    return of_batches(values[-length * batches :].reshape(batches, length).mean(axis=1), level)


def of_batches(means: ArrayLike, level: float = 0.95) -> Estimate:
    """Estimate a mean from the means of consecutive batches.

    Parameters
    ----------
    means : array_like
        One number per batch, in order of time; NaN does not count.
    level : float
        Confidence level of the interval.

    Returns
    -------
    Estimate
        Mean and interval, as from `over_batches`.
    """
    values = np.asarray(means, float)
    values = values[~np.isnan(values)]
    if values.size < 2:
        mean = float(values.mean()) if values.size else np.nan
        return Estimate(mean, np.nan, np.nan, int(values.size), TOO_SHORT)
    return _student(values, level, CORRELATED if _is_correlated(values) else "")


def _is_correlated(values: NDArray[np.float64]) -> bool:
    """Return whether neighbouring values are correlated, by von Neumann's ratio.

    The squares of their differences are on average twice those of their deviations from the mean when they
    are not; the variance of this ratio of n normal numbers is 4 (n - 2) / (n^2 - 1).
    """
    count, square = values.size, float(((values - values.mean()) ** 2).sum())
    error = 2 * ((count - 2) / (count**2 - 1)) ** 0.5
    return square > 0 and float((np.diff(values) ** 2).sum()) / square < 2 - INDEPENDENT * error


def bootstrap(values: ArrayLike, statistic: Callable[..., Any] = np.mean, level: float = 0.95) -> Estimate:
    """Estimate any statistic of independent values by the bootstrap.

    Parameters
    ----------
    values : array_like
        One number per run; NaN does not count.
    statistic : callable
        A function of an array with the argument `axis`, such as `numpy.median`.
    level : float
        Confidence level of the interval.

    Returns
    -------
    Estimate
        The statistic and the bias-corrected accelerated interval of scipy, always with the same
        random numbers.
    """
    given = np.asarray(values, float)
    sample = given[~np.isnan(given)]
    value = float(statistic(sample, axis=0)) if sample.size else np.nan
    if sample.size < 2:
        return Estimate(value, np.nan, np.nan, int(sample.size), ONE_RUN)
    if np.all(sample == sample[0]):
        return Estimate(value, value, value, int(sample.size), NOT_RANDOM)
    # Most of scipy.stats is for others; it takes half a second to import.
    from scipy import stats

    found = stats.bootstrap(
        (sample,), statistic, confidence_level=level, rng=np.random.default_rng(1)
    ).confidence_interval
    return Estimate(value, float(found.low), float(found.high), int(sample.size))
