"""Decisions whether a number lies in a range, and their probability of being wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ackclock.decision.distributions import student_below, student_quantile
from ackclock.decision.intervals import Estimate


def lies_in(estimate: Estimate, low: float, high: float) -> bool | None:
    """Return whether a number lies in a range, or None where its interval reaches inside and outside of it.

    An end of the range that is a bound of the number is ignored, because nothing can lie beyond it. Without
    an interval the value decides.

    >>> lies_in(Estimate(1.0, 0.95, 1.05, 5), 0.9, 1.1)
    True
    >>> lies_in(Estimate(1.08, 1.03, 1.13, 5), 0.9, 1.1) is None
    True
    """
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return low <= estimate.value <= high
    if (low <= estimate.low or low <= estimate.least) and (estimate.high <= high or estimate.most <= high):
        return True
    if estimate.high < low or estimate.low > high:
        return False
    return None


def chance_wrong(estimate: Estimate, low: float, high: float) -> float:
    """Return the probability that `lies_in` has decided wrongly; 0 where nothing is decided or scatters.

    It is the probability that the mean of as many runs is as far on this side of an end although the true
    number is just beyond it, by Student's distribution, summed over the ends that can be passed.

    Two and a half standard errors above the only end, with 9 degrees of freedom:

    >>> round(chance_wrong(Estimate(2.5, 0.24, 4.76, 10, error=1.0), 0.0, float("inf")), 3)
    0.017
    """
    decided = lies_in(estimate, low, high)
    if decided is None or not standard_error(estimate):
        return 0.0
    distances = _distances(estimate, low, high)
    if not decided:
        distances = distances[:1]
    return min(1.0, sum(tail(distance, estimate.samples - 1) for distance in distances))


def apart(estimate: Estimate, low: float, high: float) -> float:
    """Return how many standard errors a number is from the nearest end of a range.

    It is infinite where the number does not scatter, or no end can be passed.

    >>> apart(Estimate(2.5, 0.24, 4.76, 10, error=1.0), 0.0, 4.0)
    1.5
    """
    return min(_distances(estimate, low, high), default=math.inf) if standard_error(estimate) else math.inf


def standard_error(estimate: Estimate) -> float:
    """Return the standard error of a number, or 0 where it does not scatter or has no interval.

    An estimate that has only an interval, such as a difference or a share, gets the standard error that gives
    Student's interval the same width.

    Half a width of 2.262 with nine degrees of freedom, whose 97.5 % point is 2.262:

    >>> round(standard_error(Estimate(0.0, -2.262, 2.262, 10)), 3)
    1.0
    """
    if estimate.samples < 2 or estimate.error:
        return estimate.error if estimate.samples > 1 else 0.0
    half = (estimate.high - estimate.low) / 2
    if not 0 < half < math.inf:
        return 0.0
    return half / student_quantile(estimate.samples - 1, 0.975)


def _distances(estimate: Estimate, low: float, high: float) -> list[float]:
    """Return the distances from the ends that can be passed, in standard errors, the nearest first."""
    # A bound of the number cannot be passed.
    ends = [end for end in (low, high) if estimate.least < end < estimate.most]
    error = standard_error(estimate)
    return sorted(abs(estimate.value - end) / error for end in ends)


def tail(distance: float, degrees: int) -> float:
    """Return the probability that Student's variable is beyond a distance in standard errors, on one side.

    It is not a number where the distance is none, as of a ratio of no losses to no losses.

    >>> tail(0.0, 3), tail(float("nan"), 3)
    (0.5, nan)
    """
    return math.nan if math.isnan(distance) else student_below(degrees, -distance)


def expected_wrong(chances: Iterable[float]) -> float:
    """Return the expected number of wrong decisions from the probability of each; NaN does not count.

    Expectations add up, whether the decisions are independent or not.
    """
    return math.fsum(chance for chance in chances if not math.isnan(chance))
