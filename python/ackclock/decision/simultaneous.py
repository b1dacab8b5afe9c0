"""Critical values for several means at once: all pairs of them, and all against one.

SciPy's distributions of them are slower to import than a kept comparison takes; these are the same integrals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ackclock.decision.distributions import Reals, gamma_quantiles, normal_below, student_quantile

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_NORMAL = 8.0
"""The normal density is integrated up to this distance from 0; the tails beyond are less than 1e-14."""


def all_pairs(means: int, degrees: float, level: float) -> float:
    """Return by how many standard errors some two of several equal means are apart at `level`.

    The level is the probability that any two of the means are so far apart. The distribution is the
    studentized range (Tukey 1953), over the square root of 2, so that for two means it is Student's
    distribution with both sides:

    >>> round(all_pairs(2, 4, 0.05), 3)
    2.776
    """
    return _critical(_range, means, rounded_down(degrees), level, 2)


def against_one(means: int, degrees: float, level: float) -> float:
    """Return by how many standard errors one of several equal means is below the largest other at `level`.

    This is Dunnett's one-sided distribution (JASA 50, 1955); for two means it is Student's:

    >>> round(against_one(2, 4, 0.05), 3)
    2.132
    """
    return _critical(_largest, means, rounded_down(degrees), level, 1)


def rounded_down(degrees: float) -> float:
    """Return degrees of freedom rounded down to a few values: fewer are on the safe side."""
    step = 0.25 if degrees < 10 else 1.0 if degrees < 50 else 5.0 if degrees < 500 else 100.0
    return max(1.0, math.floor(degrees / step + 1e-9) * step)


@lru_cache(maxsize=10_000)
def _critical(
    below: Callable[[Reals, int], Reals], means: int, degrees: float, level: float, sides: int
) -> float:
    """Return the number that a studentized statistic with these sides exceeds with probability `level`."""
    low = student_quantile(degrees, 1 - level / sides)
    if means == 2:
        return low
    # Nodes of the estimated scatter over its true value, with the weights of its distribution. Squares put
    # more nodes at small scatter, because it gives the large statistics.
    roots = (_NODES + 1) / 2
    shares, weights = roots**2, _WEIGHTS * roots
    scatter = np.sqrt(gamma_quantiles(degrees / 2, shares) * 2 / degrees)

    def excess(limit: float) -> float:
        """Return the logarithm of the tail above a limit, over the level: nearly straight in the limit."""
        return float(np.log(max(1e-12, 1 - float(weights @ below(limit * scatter, means))) / level))

    # The result lies between the number for two means and Bonferroni's number for as many comparisons.
    comparisons = means * (means - 1) / 2 if sides == 2 else means - 1
    high = student_quantile(degrees, 1 - level / sides / comparisons)
    at_low = excess(low)
    while (at_high := excess(high)) > 0:
        low, at_low, high = high, at_high, 2 * high
    # Regula falsi, where an end that stays counts half (the Illinois method).
    while high - low > 1e-5 * high:
        middle = min(max((low * at_high - high * at_low) / (at_high - at_low), low), high)
        at_middle = excess(middle)
        if abs(at_middle) < 1e-6:
            return middle
        if at_middle > 0:
            low, at_low, at_high = middle, at_middle, at_high / 2
        else:
            high, at_high, at_low = middle, at_middle, at_low / 2
    return high


def _range(limit: Reals, means: int) -> Reals:
    """Return the probability that all of several normal numbers are within a range of sqrt(2) `limit`."""
    wide = np.sqrt(2) * limit[:, None]
    lowest = _NORMAL * _NODES
    density = np.exp(-(lowest**2) / 2) / np.sqrt(2 * np.pi) * _NORMAL * _WEIGHTS
    return np.asarray(means * (normal_below(lowest + wide) - normal_below(lowest)) ** (means - 1) @ density)


def _largest(limit: Reals, means: int) -> Reals:
    """Return the probability that no other normal number is sqrt(2) `limit` above the first."""
    first = _NORMAL * _NODES
    density = np.exp(-(first**2) / 2) / np.sqrt(2 * np.pi) * _NORMAL * _WEIGHTS
    return np.asarray(normal_below(first + np.sqrt(2) * limit[:, None]) ** (means - 1) @ density)
