"""Rules for stopping: when a comparison is decided or hopeless, or a mean is known well enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from ackclock.decision.comparisons import Compared, times_error
from ackclock.decision.distributions import student_quantile
from ackclock.decision.intervals import over_runs

LEAST_CHANCE = 0.25
"""Least probability that further runs decide a comparison; below it they are better spent elsewhere."""


def wants_more(compared: Compared, runs: int, most: int, *, settled: bool, share: float = 1.0) -> bool:
    """Return whether more runs may decide a comparison, or settle the criterion that it belongs to.

    They cannot if it is decided, nothing is random, or a decision is unlikely (`LEAST_CHANCE`). `settled`
    says whether another comparison has settled the criterion, and `share` is the share of the error that this
    look may spend.
    """
    if compared.identical or runs >= most:
        return False
    if compared.verdict == "worse":
        return not settled
    needed = compared.runs_needed
    if needed is None:
        return False
    return chance_decided(runs, needed, most, times_error(share)) >= LEAST_CHANCE


def chance_decided(runs: int, needed: int, most: int, times: float = 2.0) -> float:
    """Return the probability that a comparison is decided after `most` runs, when `needed` would decide it.

    This is the predictive power (Spiegelhalter, Freedman, Blackburn, Controlled Clinical Trials 7, 1986):
    with s for the spread of a run the mean is `times` s/sqrt(needed) from the margin, `times` s/sqrt(most)
    will decide, and until then the mean moves by a normal number with the variance s^2 (1/runs - 1/most).
    """
    short = times / needed**0.5 - times / most**0.5
    return NormalDist().cdf(short / (1 / runs - 1 / most) ** 0.5)


POWER = 0.8
"""The usual probability that the planned runs decide."""


def runs_to_decide(apart: float, runs: int, most: int, level: float = 0.95) -> int | None:
    """Return how many runs decide on which side of a limit a number is, with probability `POWER`.

    The number is `apart` standard errors from the limit in a pilot of `runs` runs, and the pilot's distance
    and spread are taken as exact; Student's interval misses the limit with a probability of the noncentral
    distribution. The result is None when more than `most` are needed.

    Half a standard deviation, as in every textbook on the power of paired comparisons:

    >>> runs_to_decide(0.5 * 5**0.5, 5, 100)
    34
    """
    # Only plans of runs need it.
    from scipy.special import nctdtr

    if math.isinf(apart):
        return min(2, most)
    effect = apart / runs**0.5
    for number in range(2, most + 1):
        limit = student_quantile(number - 1, (1 + level) / 2)
        if 1 - nctdtr(number - 1, effect * number**0.5, limit) >= POWER:
            return number
    return None


def is_narrow(values: Sequence[float], share: float) -> bool:
    """Return whether no end of a mean's interval is farther from it than `share` of the mean.

    This holds, too, when more runs would not help: fewer than two runs have a value, or nothing is random.
    """
    if len(values) < 2:
        return True
    estimate = over_runs(values)
    width = estimate.high - estimate.low
    return math.isnan(width) or width <= 2 * share * abs(estimate.value)
