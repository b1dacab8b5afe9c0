"""TCP-Illinois: its curves, its share against Reno, its gain on lossy links, and Vegas in noise.

S. Liu, T. Basar, R. Srikant, Performance Evaluation 65 (2008), sections 3, 4.6, 5 and 6.4.
Delays are seconds, windows packets; ``capacity`` is in packets per second. A flow of Vegas keeps
``gamma`` packets in the queue (alpha = beta = gamma).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ackclock.models.laws import Array


@dataclass(frozen=True)
class Parameters:
    """The parameters of TCP-Illinois, by default the standard ones."""

    alpha_min: float = 0.1
    alpha_max: float = 10.0
    """Smallest and largest increase, packets per round trip."""
    beta_min: float = 0.125
    beta_max: float = 0.5
    """Smallest and largest fraction cut."""
    eta1: float = 0.01
    eta2: float = 0.1
    eta3: float = 0.8
    """Thresholds d1, d2, d3 as shares of the largest queueing delay."""


STANDARD = Parameters()


def alpha(delay_s: ArrayLike, largest_s: ArrayLike, parameters: Parameters = STANDARD) -> Array:
    """Return the increase at the mean queueing delay da and the largest one dm, packets per round trip.

    It is alpha_max up to d1, then k1/(k2 + da), alpha_min at dm (equations 2 and 4).

    Above d1 the standard parameters give 0.1 dm/da:

    >>> alpha([0.0, 0.005, 0.010], 0.010).round(9).tolist()
    [10.0, 0.2, 0.1]
    """
    da, dm = np.asarray(delay_s, float), np.asarray(largest_s, float)
    low, high = parameters.alpha_min, parameters.alpha_max
    d1 = parameters.eta1 * dm
    if low == high:
        return np.full(np.broadcast_shapes(da.shape, dm.shape), low)
    scale = (dm - d1) * low / (high - low)
    with np.errstate(divide="ignore", invalid="ignore"):
        falling = scale * high / (scale - d1 + da)
    return np.where(da <= d1, high, falling)


def beta(delay_s: ArrayLike, largest_s: ArrayLike, parameters: Parameters = STANDARD) -> Array:
    """Return the fraction cut at a loss event at the mean queueing delay da and the largest one dm.

    It is beta_min up to d2, beta_max from d3 on, linear between (equations 3 and 4).
    """
    da, dm = np.asarray(delay_s, float), np.asarray(largest_s, float)
    d2, d3 = parameters.eta2 * dm, parameters.eta3 * dm
    with np.errstate(divide="ignore", invalid="ignore"):
        position = np.where(d3 > d2, np.clip((da - d2) / (d3 - d2), 0, 1), da > d2)
    return np.asarray(parameters.beta_min + (parameters.beta_max - parameters.beta_min) * position)


def share_over_reno(
    mean_alpha: ArrayLike, mean_beta: ArrayLike = 0.5, synchronisation: ArrayLike = 1.0
) -> Array:
    """Return the window of an Illinois flow over that of a Reno flow on the same droptail link.

    It is (alpha/(2 beta))^(1/(1 + lambda)), with lambda = 1 the square root of section 4.6. alpha is the mean
    increase over an epoch, weighted by 1/RTT (equation 28); beta the mean fraction cut, about beta_max where
    all loss is congestion; lambda that of f(x) ~ x^lambda: 1 when congestion is light and flows back off
    alone, 0 when they all back off together.
    """
    ratio = np.asarray(mean_alpha, float) / (2 * np.asarray(mean_beta, float))
    return np.asarray(ratio ** (1 / (1 + np.asarray(synchronisation, float))))


def gain_on_lossy_link(parameters: Parameters = STANDARD) -> tuple[float, float]:
    """Return the window of Illinois over that of Reno where losses are random and no queue builds up.

    The first value is sqrt(alpha_max/(2 beta_min)) as printed in equation 31, the second the ratio of the two
    windows sqrt(alpha (2 - beta)/(2 beta p)) of equation 1, which is larger, so that (31) is not an upper
    bound.

    >>> [round(gain, 2) for gain in gain_on_lossy_link()]
    [6.32, 7.07]
    """
    high, low = parameters.alpha_max, parameters.beta_min
    printed = np.sqrt(high / (2 * low))
    return float(printed), float(np.sqrt(high * (2 - low) / (2 * low) / 1.5))


def vegas_window(
    gamma: ArrayLike, propagation_s: ArrayLike, delay_s: ArrayLike, noise_s: ArrayLike = 0.0
) -> Array:
    """Return the window of a Vegas flow in equilibrium (equations 32 and 33).

    `delay_s` is the mean queueing delay, and `noise_s` the mean of the noise in the measured round trip; the
    noise is sometimes zero.
    """
    measured = np.asarray(delay_s, float) + np.asarray(noise_s, float)
    return np.asarray(gamma * (measured + np.asarray(propagation_s, float)) / measured)


def vegas_threshold(gamma: ArrayLike, capacity: float, flows: int) -> Array:
    """Return the mean noise in seconds above which Vegas flows lose throughput.

    It is the queueing delay without noise, flows times gamma over capacity.

    >>> (1000 * vegas_threshold([2, 5, 10], 1250, 2)).tolist()
    [3.2, 8.0, 16.0]
    """
    return np.asarray(flows * np.asarray(gamma, float) / capacity)


def vegas_throughput(
    gamma: float, capacity: float, propagation_s: float, noise_s: tuple[float, ...]
) -> Array:
    """Return the packets per second of each Vegas flow on a link, each with its own mean measurement noise.

    They are the windows of equation 33 over the true round trip, at the queueing delay at which they fill the
    link, or without a queue when they cannot.
    """
    noise = np.asarray(noise_s, float)

    def rates(delay_s: float) -> Array:
        window = vegas_window(gamma, propagation_s, delay_s, noise)
        return np.asarray(window / (propagation_s + delay_s))

    least = 1e-9
    if rates(least).sum() <= capacity:
        return rates(least)
    enough = len(noise) * (gamma + capacity * propagation_s) / capacity
    delay_s = scipy.optimize.brentq(lambda delay: float(rates(delay).sum()) - capacity, least, enough)
    return rates(float(delay_s))
