"""Smoothness of AIMD, TEAR and TFRC: the coefficient of variation of the sending rate.

The study of TCP, GAIMD, TFRC and TEAR, appendices A to D. ``keep`` is the fraction of the window
that a loss event keeps (the study's beta), and ``increase`` is in packets per round trip, or per unit
of the times that are given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gamma

from ackclock.models.laws import Array


@dataclass(frozen=True)
class Moments:
    """Moments of a window over time."""

    mean: float
    """Mean in packets."""
    square: float
    """Mean of the square, packets squared."""

    @property
    def cov(self) -> float:
        """Coefficient of variation: standard deviation over mean."""
        return float(np.sqrt(max(self.square / self.mean**2 - 1, 0.0)))


def aimd_with_intervals(intervals: ArrayLike, increase: float, keep: float, recovery: float = 0.0) -> Moments:
    """Return the window of AIMD over time for any process of loss intervals, by Palm's inversion formula.

    `intervals` are times between consecutive loss events, a sample of a stationary process, correlated or
    not. After each the window does not grow for the time `recovery`, at most the shortest interval; it is 0
    in the study's formulas (equations 18 to 21 and 22 to 26).

    Reno with a loss every 100 round trips swings between 100 and 200 packets:

    >>> round(aimd_with_intervals([100.0] * 1000, 1, 0.5).mean)
    150
    """
    # Loaded where it is used: scipy.signal would be a fifth of the start of every reproduction.
    from scipy.signal import lfilter

    whole = np.asarray(intervals, float)
    x = whole - recovery
    # The window just before a loss event is the increase times this sum over the past.
    past = np.concatenate(([0.0], np.asarray(lfilter([1.0], [1.0, -keep], x), float)[:-1]))
    settled = settling_losses(len(x), keep)
    whole, x, past = whole[settled:], x[settled:], keep * past[settled:]
    mean = (past * whole + x**2 / 2).mean() / whole.mean()
    square = (past**2 * whole + past * x**2 + x**3 / 3).mean() / whole.mean()
    return Moments(float(increase * mean), float(increase**2 * square))


def settling_losses(count: int, keep: float) -> int:
    """Return how many intervals `aimd_with_intervals` leaves out because it does not know their past.

    After so many loss events one part in 1e12 of a wrong start is left; they are at most half of all.
    """
    if keep == 0:
        return 0
    return min(count // 2, int(np.ceil(np.log(1e-12) / np.log(keep))))


def aimd_with_moments(moments: tuple[float, float, float], increase: float, keep: float) -> Moments:
    """Return the window of AIMD over time for independent loss intervals (equations 31 and 35 to 37).

    `moments` are the means of the interval, its square and its cube.
    """
    first, second, third = moments
    mean = second / (2 * first) + keep * first / (1 - keep)
    past = second / (1 - keep**2) + 2 * keep * first**2 / ((1 - keep) * (1 - keep**2))
    square = keep**2 * past + keep * second / (1 - keep) + third / (3 * first)
    return Moments(increase * mean, increase**2 * square)


def aimd_poisson(loss_events: float, increase: float, keep: float) -> Moments:
    """Return the window of AIMD over time when loss events are Poisson with lambda = `loss_events`.

    Its mean is increase/(lambda (1 - keep)), its variance increase^2/((1 - keep^2) lambda^2) (equations 4 to
    6, 32, 38 and 39).

    >>> round(aimd_poisson(0.01, 1, 0.5).cov, 2), round(aimd_poisson(0.01, 0.31, 7 / 8).cov, 2)
    (0.58, 0.26)
    """
    mean = increase / (loss_events * (1 - keep))
    return Moments(mean, mean**2 + increase**2 / ((1 - keep**2) * loss_events**2))


def aimd_bernoulli(p: float, increase: float, keep: float) -> Moments:
    """Return the window of AIMD over time when each packet is lost with the same small probability.

    There are no timeouts, in the limit of large windows. Losses come at the rate p W, so a loss interval is
    exponential in packets, not in time. The drift of W is balanced by its cuts where E[W^2] = increase/(p (1
    - keep)). With q = keep^2, W^2 just before a cut is 2 increase/p times a sum of exponentials E_k q^k,
    whose square root has the mean Gamma(3/2) prod_k (1 - q^(k + 1/2))/(1 - q^k); the mean over time is the
    packets of an interval over its length.

    >>> round(aimd_bernoulli(1e-4, 1, 0.5).mean * 1e-2, 3)
    1.31
    """
    square = increase / (p * (1 - keep))
    top = np.sqrt(2 * increase / p) * _mean_root(keep)
    return Moments(float(increase / (p * (1 - keep) * top)), square)


def cov_at_bernoulli_losses(keep: float) -> float:
    """Return the CoV of AIMD's window just before a loss, with the same loss probability for each packet.

    It is 0.38 for Reno, where losses that are Poisson in time give 0.58 (see `aimd_bernoulli`).
    """
    root = _mean_root(keep)
    return float(np.sqrt(1 / ((1 - keep**2) * root**2) - 1))


def _mean_root(keep: float) -> float:
    """Return the mean root of the sum over k of keep^(2k) E_k, with exponential E_k of mean 1."""
    q = keep**2
    k = np.arange(1, int(np.ceil(np.log(1e-17) / np.log(q))) + 1)
    return float(gamma(1.5) * np.prod((1 - q ** (k + 0.5)) / (1 - q**k)))


TEAR_WEIGHTS = np.array([5, 5, 5, 5, 4, 3, 2, 1]) / 30
"""Weights of the last 8 epochs, newest first."""


def tear_factor(correlation: float = 0.0) -> float:
    """Return the CoV of TEAR's rate over that of the windows at its epochs' ends (equations 42 to 47).

    An epoch's mean is W_i/2 + W_(i-1)/4 of the windows at its end and at that of the one before, so the rate
    is a weighted sum of nine windows with the mean 3/4 E[W]. At a distance of k losses the k-th power of
    `correlation` counts. The study assumes independence, 0, which makes 0.370. Under Poisson losses it is 1/2
    (equation 11); under Bernoulli losses the correlation of the squares is 1/4.

    With Poisson's CoV of 0.577 as printed, and with the correlation that the study leaves out:

    >>> [round(tear_factor(correlation) * 0.577, 2) for correlation in (0.0, 0.5)]
    [0.21, 0.34]
    """
    weights = np.zeros(9)
    weights[:8] += TEAR_WEIGHTS / 2
    weights[1:] += TEAR_WEIGHTS / 4
    distance = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    return float(np.sqrt(weights @ (correlation**distance) @ weights) / 0.75)


TFRC_WEIGHTS = np.array([1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]) / 6
"""Weights of the last 8 loss intervals, newest first (RFC 5348, section 5.4)."""


def tfrc(p: ArrayLike, exponent: float = 0.5, most: int | None = None) -> tuple[Array, Array]:
    """Return the CoV of TFRC's rate under Bernoulli loss, from one loss interval and from the mean of eight.

    The rate is proportional to p^-exponent: 1/2 at low loss; where timeouts matter the study takes 3/2 and
    5/2. The state is the last loss interval, i packets. It is left at a rate proportional to the sending rate
    i^e, so its share of time is p q^(i-1)/i^e up to a factor (equation 53; the CoV is that of equations 49 to
    56, with the root that (56) lacks). `most` is the longest interval in the sum, packets; by default the sum
    continues until nothing is added. The study's 0.66 at 0.5 % results when it stops at 600.

    >>> [round(float(cov), 2) for cov in tfrc(0.09)]
    [0.54, 0.2]
    """
    p = np.asarray(p, float)

    def cov_of_single(p: float) -> float:
        ends = int(np.ceil(np.log(1e-18) / np.log1p(-p))) if most is None else most
        i = np.arange(1, ends + 1, dtype=float)
        share = np.exp(i * np.log1p(-p)) / i**exponent
        rate = i**exponent
        mean, square = (rate * share).sum(), (rate**2 * share).sum()
        return float(np.sqrt(square * share.sum() / mean**2 - 1))

    single: NDArray[np.float64] = np.asarray(np.vectorize(cov_of_single, otypes=[float])(p), float)
    return single, np.asarray(single * np.sqrt((TFRC_WEIGHTS**2).sum()), float)


def over_flows_and_epochs(cov: ArrayLike, epochs: ArrayLike) -> Array:
    """Return the CoV of means over independent epochs from that over one, cov/sqrt(epochs) (equation 2)."""
    return np.asarray(np.asarray(cov, float) / np.sqrt(np.asarray(epochs, float)))


def jain_of_cov(cov: ArrayLike) -> Array:
    """Return Jain's index of rates with this CoV over flows, 1/(1 + cov^2) (equation 3).

    TFRC and TEAR have an index of 0.96:

    >>> round(float(jain_of_cov(0.21)), 2)
    0.96
    """
    return np.asarray(1 / (1 + np.asarray(cov, float) ** 2))
