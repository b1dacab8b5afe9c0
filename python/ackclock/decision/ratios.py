"""Ratios of means, estimated by their logarithms, and shares of k of n runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ackclock.decision.distributions import beta_quantile
from ackclock.decision.intervals import NEVER, NOT_RANDOM, ONE_RUN, Estimate, over_runs, within

LARGEST_LOGARITHM = 700.0
"""Largest natural logarithm of a finite float."""


def of_ratios(values: ArrayLike, level: float = 0.95) -> Estimate:
    """Estimate a ratio from independent runs, by its logarithm.

    Runs that differ by factors, such as 2 and 1/2, are as far from 1 on either side, and no
    interval reaches below 0.

    Parameters
    ----------
    values : array_like
        One ratio per run, not negative; NaN does not count. If one is 0, so is the mean, without an interval.
    level : float
        Confidence level of the interval.

    Returns
    -------
    Estimate
        The geometric mean and its interval, Student's of the logarithms.

    Examples
    --------
    >>> print(of_ratios([2.0, 2.0, 0.5, 0.5, 1.0]))
    1 [0.4229, 2.365]
    """
    ratios = np.asarray(values, float)
    if np.any(ratios < 0):
        raise ValueError("values: a ratio must not be negative")
    if np.any(ratios == 0):
        return Estimate(0.0, np.nan, np.nan, int(np.sum(~np.isnan(ratios))))
    logarithms = over_runs(np.log(ratios), level)
    value, low, high = (
        float(np.exp(number)) for number in (logarithms.value, logarithms.low, logarithms.high)
    )
    return replace(logarithms, value=value, low=low, high=high, error=value * logarithms.error)


def ratio_of_means(above: ArrayLike, below: ArrayLike, level: float = 0.95) -> Estimate:
    """Return how many times as large as another a mean is, from paired runs, with Student's interval.

    The mean of the ratios of single runs exceeds the ratio of the means where the lower number scatters, and
    a run in which the lower number is nearly 0 dominates the mean. The ratio of the means has neither fault.
    The error of its logarithm is that of the differences of the relative deviations of a run (the delta
    method), so a deviation that both numbers of a run share cancels.

    Pairs with a NaN do not count, and a negative number raises ValueError. The ratio is infinite when the
    lower mean is 0; there is no interval when a mean is 0 or infinite.

    4, 6 and 8 over 2, 2 and 2: a ratio of 3, whose error is a third over the root of 3, as is that of
    6 over its mean: 4.303 of these lie on each side of the logarithm.

    >>> print(ratio_of_means([4.0, 6.0, 8.0], [2.0, 2.0, 2.0]))
    3 [1.311, 6.867]
    """
    pairs = np.stack([np.asarray(above, float), np.asarray(below, float)])
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    count = int(pairs.shape[1])
    if count == 0:
        return over_runs([])
    if (pairs < 0).any():
        raise ValueError("a ratio needs numbers that cannot be negative")
    more, less = (float(mean) for mean in pairs.mean(axis=1))
    if not less:
        return Estimate(math.inf if more else math.nan, math.nan, math.nan, count, NEVER)
    value = more / less
    if not math.isfinite(value):
        return Estimate(value, math.nan, math.nan, count, NEVER)
    if count == 1:
        return Estimate(value, math.nan, math.nan, 1, ONE_RUN)
    if not more:
        return Estimate(0.0, 0.0, 0.0, count, NOT_RANDOM)
    relative = over_runs(pairs[0] / more - pairs[1] / less, level)
    low, high = (value * math.exp(end - relative.value) for end in (relative.low, relative.high))
    return Estimate(value, low, high, count, relative.warning, value * relative.error, least=0.0)


def quotient(above: Estimate, below: Estimate) -> Estimate:
    """Return how many times as large as another a number is, measured independently.

    The relative errors add up in squares around its logarithm. It is infinite when `below` is 0, and there is
    no interval when either value is 0 or negative.

    6 and 2, to within 30 and 40 %: the logarithm of their quotient to within 0.5, a factor of 1.649.

    >>> print(quotient(Estimate(6.0, 4.2, 7.8, 9), Estimate(2.0, 1.2, 2.8, 9)))
    3 [1.82, 4.946]
    """
    samples = min(above.samples, below.samples)
    if above.value <= 0 or below.value <= 0:
        value = above.value / below.value if below.value else math.inf
        return Estimate(value, math.nan, math.nan, samples)
    value = above.value / below.value
    width = math.hypot(*((number.high - number.low) / 2 / number.value for number in (above, below)))
    # A number that is nothing compared with its error may be any number of times as large.
    width = min(width, LARGEST_LOGARITHM)
    error = math.hypot(*(number.error / number.value for number in (above, below)))
    ends = value * math.exp(-width), value * math.exp(width)
    return within(Estimate(value, *ends, samples, error=value * error), least=0.0)


def exact_share(successes: int, trials: int, level: float = 0.95) -> Estimate:
    """Estimate a probability from how often something happened in independent runs, at least one.

    The interval is exact (Clopper and Pearson, Biometrika 26, 1934). An event in 20 of 20 runs happens in
    more than 0.025 to the power of 1/20 of all runs:

    >>> print(exact_share(20, 20))
    1 [0.8316, 1]
    """
    rest, tail = trials - successes, (1 - level) / 2
    share = successes / trials
    low = beta_quantile(successes, rest + 1, tail) if successes else 0.0
    high = beta_quantile(successes + 1, rest, 1 - tail) if rest else 1.0
    error = math.sqrt(share * (1 - share) / trials)
    return Estimate(share, low, high, trials, error=error, least=0.0, most=1.0)


def exact_excess(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the probability that an event is as frequent in the first runs if it is no more likely there.

    Each argument is a pair: the number of runs with the event, and the number of all runs. This is Fisher's
    exact test with one side. Of the 20 ways to choose 3 of 6 runs, one has all of the first three:

    >>> print(f"{exact_excess((3, 3), (0, 3)):.4g}")
    0.05
    """
    # Most of scipy.stats is for others; it takes half a second to import.
    from scipy.stats import hypergeom

    (happened, runs), (elsewhere, others) = first, second
    return float(hypergeom.sf(happened - 1, runs + others, happened + elsewhere, runs))
