"""The stochastic matrix model: rates of AIMD flows on one droptail link, event by event.

S. Liu, T. Basar, R. Srikant, Performance Evaluation 65 (2008), section 4. At congestion event k
flow i has the rate x_i[k], and the rates add up to the capacity C. Rates are given as shares of C,
round-trip times in any unit.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ackclock.models.laws import Array


def recovery_shares(rtt: ArrayLike, mean_rtt: ArrayLike, increase: ArrayLike = 1.0) -> Array:
    """Return the shares gamma in which flows take up the rate that others have given up (equation 15).

    `rtt` is the round-trip time of each flow at the events, T_hat, of shape (..., flows), `mean_rtt` its mean
    between the events, T_tilde, and `increase` the packets per round trip, mean over an epoch (equation 29).
    They add up to 1.
    """
    weight = np.asarray(increase, float) / (np.asarray(rtt, float) * np.asarray(mean_rtt, float))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def simulate(
    rtt: ArrayLike,
    start: ArrayLike,
    drops: ArrayLike,
    generator: np.random.Generator,
    *,
    cut: ArrayLike = 0.5,
    mean_rtt: ArrayLike | None = None,
    increase: ArrayLike = 1.0,
) -> Array:
    """Simulate the chain for many runs at once (equations 16 to 18).

    Round-trip times T_hat, T_tilde (by default the same) and the shares at the first event have the shape
    (runs, flows), and `drops`, the packets dropped at each event, at least 1, (runs, events). `generator`
    decides which flow loses each dropped packet: flow i with probability x_i/C (Assumption 2). `cut` is the
    fraction of its rate that a flow cuts, and `increase` is in packets per round trip: one number, or one for
    each flow. The result has the shares at the events, of shape (runs, events, flows).

    >>> generator = np.random.default_rng(1)
    >>> shares = simulate([[0.1, 0.2]], [[0.5, 0.5]], [[1] * 1000], generator)
    >>> shares.shape, bool(np.allclose(shares.sum(axis=-1), 1))
    ((1, 1000, 2), True)
    """
    rtt, dropped = np.asarray(rtt, float), np.asarray(drops)
    gamma = recovery_shares(rtt, rtt if mean_rtt is None else mean_rtt, increase)
    share = np.array(np.broadcast_to(start, rtt.shape), float)
    cut = np.asarray(cut, float)
    path = np.empty((rtt.shape[0], dropped.shape[1], rtt.shape[1]))
    for event in range(dropped.shape[1]):
        # Scaling at each event keeps rounding errors from adding up.
        share /= share.sum(axis=-1, keepdims=True)
        path[:, event] = share
        given_up = cut * share * (generator.multinomial(dropped[:, event], share) > 0)
        share = share - given_up + gamma * given_up.sum(axis=-1, keepdims=True)
    return path


def uniform_drops(most: int) -> Array:
    """Return P(M = m) for m = 0, 1, ..., most of drops that are uniform on 1 to `most`."""
    return np.concatenate(([0.0], np.full(most, 1 / most)))


def largest_drop(increase: ArrayLike) -> float:
    """Return the largest number of packets dropped at an event: the sum of the increases, or 1.

    Increases are in packets per round trip just before the event; the number of drops is about uniform up to
    this bound (section 4.5).
    """
    return max(1.0, float(np.sum(increase)))


def backoff_probability(share: ArrayLike, drops: ArrayLike) -> Array:
    """Return the probability f(x) that a flow with the share x/C loses a packet at an event (equation 23).

    `drops` has P(M = m) for m = 0, 1, ...; f is between x/C and E[M] x/C (bounds 25).
    """
    probability = np.asarray(drops, float)
    kept = (1 - np.asarray(share, float)[..., None]) ** np.arange(len(probability))
    return np.asarray((probability * (1 - kept)).sum(axis=-1))


def mean_shares(rtt: ArrayLike, drops: ArrayLike, mean_rtt: ArrayLike | None = None) -> Array:
    """Return the mean shares when they vary little: T_hat T_tilde x f(x) is the same for all flows.

    This is Theorem 4.3, with the mean of x q(x) replaced by its value at the mean. `drops` has P(M = m) for m
    = 0, 1, ..., and T_tilde is T_hat by default.
    """
    rtt = np.asarray(rtt, float)
    scale = rtt * (rtt if mean_rtt is None else np.asarray(mean_rtt, float))
    scale = scale / scale.min()

    def shares(level: float) -> Array:
        def share_at_level(weight: float) -> float:
            def excess(share: float) -> float:
                return weight * share * float(backoff_probability(share, drops)) - level

            return float(scipy.optimize.brentq(excess, 0.0, 1.0)) if excess(1.0) > 0 else 1.0

        return np.array([share_at_level(weight) for weight in scale])

    level = scipy.optimize.brentq(lambda level: float(shares(level).sum()) - 1, 1e-12, float(scale.max()))
    unscaled = shares(float(level))
    return np.asarray(unscaled / unscaled.sum())


def equal_window_shares(rtt: ArrayLike) -> Array:
    """Return the shares x* of flows with equal windows, mu = 0: proportional to 1/T_hat."""
    weight = 1 / np.asarray(rtt, float)
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def mu(share: ArrayLike, rtt: ArrayLike) -> float:
    """Return the exponent of x ~ T_hat^-(1 + mu), fitted by least squares of log x on log T_hat.

    Mean shares and round-trip times have the shape (runs, flows) or (flows,); every run may have its own
    scale. It is 0 for equal windows, and 1 for windows proportional to 1/T_hat (equation 27).

    >>> round(mu([1, 1 / 4], [1, 2]), 12)
    1.0
    """
    x, t = (np.log(np.atleast_2d(np.asarray(values, float))) for values in (share, rtt))
    x = x - x.mean(axis=1, keepdims=True)
    t = t - t.mean(axis=1, keepdims=True)
    return float(-(x * t).sum() / (t * t).sum() - 1)


def mu_of_exponent(exponent: ArrayLike) -> Array:
    """Return mu = (1 - lambda)/(1 + lambda) for a backoff probability that grows as x^lambda (equation 27).

    lambda is between 0 (all back off together) and 1 (alone).
    """
    value = np.asarray(exponent, float)
    return np.asarray((1 - value) / (1 + value))


def square_window_bounds(
    rtt: tuple[float, float], mean_rtt: tuple[float, float], mean_drops: float
) -> tuple[float, float]:
    """Return the lower and upper bound of E[W_i^2]/E[W_j^2] of two flows i and j (equation 26).

    The round-trip times are T_hat and T_tilde of the two flows, and `mean_drops` is E[M], packets per event.
    """
    lower = mean_rtt[1] / (mean_drops * rtt[1])
    return lower, mean_drops * rtt[0] / mean_rtt[0]
