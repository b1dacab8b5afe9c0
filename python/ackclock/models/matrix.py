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
    """Return the shares in which flows take up the rate that others have given up.

    Parameters
    ----------
    rtt : array_like
        Round-trip time of each flow at the events, T_hat, shape (..., flows).
    mean_rtt : array_like
        Its mean between the events, T_tilde, of the same shape.
    increase : array_like
        Packets per round trip, mean over an epoch.

    Returns
    -------
    ndarray
        gamma, of the same shape; it adds up to 1 (equation 15; with increases equation 29).
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
    """Simulate the chain for many runs at once.

    Parameters
    ----------
    rtt : array_like
        Round-trip times T_hat, shape (runs, flows).
    start : array_like
        Shares at the first event, of the same shape; they are scaled to add up to 1.
    drops : array_like
        Packets dropped at each event, at least 1, shape (runs, events).
    generator : numpy.random.Generator
        Decides which flow loses each dropped packet: flow i with probability x_i/C
        (Assumption 2).
    cut : array_like
        Fraction of its rate that a flow cuts when it loses a packet; one number, or shape (flows,).
    mean_rtt : array_like, optional
        T_tilde, of the shape of `rtt`; by default equal to `rtt`.
    increase : array_like
        Packets per round trip; one number, or shape (flows,).

    Returns
    -------
    ndarray
        Shares at the events, shape (runs, events, flows) (equations 16 to 18).

    Examples
    --------
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
    """Return the distribution of drops that is uniform on 1 to `most`.

    Parameters
    ----------
    most : int
        Largest number of packets dropped at an event.

    Returns
    -------
    ndarray
        P(M = m) for m = 0, 1, ..., most.
    """
    return np.concatenate(([0.0], np.full(most, 1 / most)))


def largest_drop(increase: ArrayLike) -> float:
    """Return the largest number of packets dropped at an event: the sum of the increases, or 1.

    Parameters
    ----------
    increase : array_like
        Packets per round trip of each flow just before the event.

    Returns
    -------
    float
        Packets; the number of drops is about uniform up to this bound (section 4.5).
    """
    return max(1.0, float(np.sum(increase)))


def backoff_probability(share: ArrayLike, drops: ArrayLike) -> Array:
    """Return the probability that a flow loses a packet at an event.

    Parameters
    ----------
    share : array_like
        x/C, between 0 and 1.
    drops : array_like
        P(M = m) for m = 0, 1, ...

    Returns
    -------
    ndarray
        f(x), of the shape of `share` (equation 23); between x/C and E[M] x/C (bounds 25).
    """
    probability = np.asarray(drops, float)
    kept = (1 - np.asarray(share, float)[..., None]) ** np.arange(len(probability))
    return np.asarray((probability * (1 - kept)).sum(axis=-1))


def mean_shares(rtt: ArrayLike, drops: ArrayLike, mean_rtt: ArrayLike | None = None) -> Array:
    """Return the mean shares when they vary little: T_hat T_tilde x f(x) is the same for all flows.

    Parameters
    ----------
    rtt : array_like
        Round-trip times T_hat, shape (flows,).
    drops : array_like
        P(M = m) for m = 0, 1, ...
    mean_rtt : array_like, optional
        T_tilde, shape (flows,); by default T_hat.

    Returns
    -------
    ndarray
        x/C, shape (flows,); adds up to 1 (Theorem 4.3, with the mean of x q(x) replaced by its
        value at the mean).
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
    """Return the shares x* of flows with equal windows, mu = 0.

    Parameters
    ----------
    rtt : array_like
        Round-trip times T_hat, shape (..., flows).

    Returns
    -------
    ndarray
        Proportional to 1/T_hat, of the same shape.
    """
    weight = 1 / np.asarray(rtt, float)
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def mu(share: ArrayLike, rtt: ArrayLike) -> float:
    """Fit the exponent of x ~ T_hat^-(1 + mu) by least squares of log x on log T_hat.

    Parameters
    ----------
    share, rtt : array_like
        Mean shares and round-trip times, shape (runs, flows) or (flows,); every run may have its
        own scale.

    Returns
    -------
    float
        mu (equation 27): 0 for equal windows, 1 for windows proportional to 1/T_hat.

    Examples
    --------
    >>> round(mu([1, 1 / 4], [1, 2]), 12)
    1.0
    """
    x, t = (np.log(np.atleast_2d(np.asarray(values, float))) for values in (share, rtt))
    x = x - x.mean(axis=1, keepdims=True)
    t = t - t.mean(axis=1, keepdims=True)
    return float(-(x * t).sum() / (t * t).sum() - 1)


def mu_of_exponent(exponent: ArrayLike) -> Array:
    """Return mu when the backoff probability is proportional to x^lambda.

    Parameters
    ----------
    exponent : array_like
        lambda, between 0 (all back off together) and 1 (alone).

    Returns
    -------
    ndarray
        (1 - lambda)/(1 + lambda) (equation 27).
    """
    value = np.asarray(exponent, float)
    return np.asarray((1 - value) / (1 + value))


def square_window_bounds(
    rtt: tuple[float, float], mean_rtt: tuple[float, float], mean_drops: float
) -> tuple[float, float]:
    """Return the bounds of E[W_i^2]/E[W_j^2] of two flows.

    Parameters
    ----------
    rtt, mean_rtt : tuple of float
        T_hat and T_tilde of flows i and j.
    mean_drops : float
        E[M], packets per event.

    Returns
    -------
    tuple of float
        Lower and upper bound (equation 26).
    """
    lower = mean_rtt[1] / (mean_drops * rtt[1])
    return lower, mean_drops * rtt[0] / mean_rtt[0]
