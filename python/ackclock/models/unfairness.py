"""RTT unfairness: the ratio of the throughputs of a flow with a short and one with a long round trip.

All functions return the ratio of the first flow's throughput to the second's. Delays are seconds.
`ackclock.models.laws.synchronised` has the shares under synchronised losses for any law.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ackclock.models.laws import Array


def of_exponent(ratio: ArrayLike, exponent: float) -> Array:
    """Return the ratio for a response function c/p^d under synchronised losses.

    Parameters
    ----------
    ratio : array_like
        Round-trip time of the second flow over that of the first.
    exponent : float
        d, below 1: 0.5 for Reno and AIMD, 0.82 for HighSpeed TCP. At 1, the value of Scalable TCP,
        the ratio grows without limit.

    Returns
    -------
    ndarray
        ratio^(1/(1 - d)); the windows have ratio^(d/(1 - d)).

    Raises
    ------
    ValueError
        When the exponent is not below 1.

    Notes
    -----
    Xu, Harfoush, Rhee, INFOCOM 2004, section IV.

    Examples
    --------
    >>> float(of_exponent(3, 0.5))
    9.0
    """
    if not exponent < 1:
        raise ValueError("the shares of a response function c/p^d converge only for d < 1")
    return np.asarray(np.asarray(ratio, float) ** (1 / (1 - exponent)))


def bic(rtt_s: tuple[float, float], epoch_s: ArrayLike, s_max: float, s_min: float) -> Array:
    """Return the ratio of windows of two BI-TCP flows with large windows that lose together.

    Parameters
    ----------
    rtt_s : tuple of float
        Round-trip times of the two flows.
    epoch_s : array_like
        Time between loss events, seconds; long enough for additive increase.
    s_max, s_min : float
        Largest and smallest increase, packets per round trip.

    Returns
    -------
    ndarray
        The ratio of windows; times rtt_s[1]/rtt_s[0] it is that of throughputs. It falls to
        rtt_s[1]/rtt_s[0] as the epoch grows (Xu, Harfoush, Rhee, section V; the paper drops the
        factor 2 in the logarithm).
    """
    search = np.log2(2 * s_max / s_min) / np.asarray(epoch_s, float)
    return np.asarray((1 / rtt_s[0] - search) / (1 / rtt_s[1] - search))


def bic_search(rtt_s: tuple[float, float], epoch_s: ArrayLike) -> Array:
    """Return the ratio of windows of two BI-TCP flows with small windows that lose together.

    Parameters
    ----------
    rtt_s : tuple of float
        Round-trip times of the two flows.
    epoch_s : array_like
        Time between loss events, seconds; too short for additive increase.

    Returns
    -------
    ndarray
        exp((1/RTT1 - 1/RTT2) t ln 2) (Xu, Harfoush, Rhee, section V).
    """
    rate = 1 / rtt_s[0] - 1 / rtt_s[1]
    return np.asarray(np.exp(rate * np.asarray(epoch_s, float) * np.log(2)))


def reno(propagation_s: tuple[float, float], queueing_s: ArrayLike) -> Array:
    """Return the ratio of two Reno flows that see the same loss rate.

    Parameters
    ----------
    propagation_s : tuple of float
        Propagation round trips D_i, D_j.
    queueing_s : array_like
        Queueing delay q.

    Returns
    -------
    ndarray
        (D_j + q)/(D_i + q) (Wang et al., INFOCOM 2011, table II).
    """
    q = np.asarray(queueing_s, float)
    return np.asarray((propagation_s[1] + q) / (propagation_s[0] + q))


def compound(propagation_s: tuple[float, float], queueing_s: ArrayLike) -> Array:
    """Return the largest ratio of two Compound flows.

    Parameters
    ----------
    propagation_s, queueing_s
        As for `reno`.

    Returns
    -------
    ndarray
        Reno's squared (Wang et al., INFOCOM 2011, table II).
    """
    return np.asarray(reno(propagation_s, queueing_s) ** 2)


def veno(
    propagation_s: tuple[float, float], queueing_s: ArrayLike, kept: tuple[float, float] = (0.8, 0.8)
) -> Array:
    """Return the ratio of two Veno flows that see the same loss rate.

    Parameters
    ----------
    propagation_s, queueing_s
        As for `reno`.
    kept : tuple of float
        Mean fraction of the window that each keeps per loss event, 1/2 to 4/5.

    Returns
    -------
    ndarray
        Wang et al., INFOCOM 2011, table II.
    """
    first, second = kept
    factor = np.sqrt((1 + first) * (1 - second) / ((1 - first) * (1 + second)))
    return np.asarray(reno(propagation_s, queueing_s) * factor)


def westwood(propagation_s: tuple[float, float], queueing_s: ArrayLike, loss: ArrayLike) -> Array:
    """Return the ratio of two Westwood flows that see the same loss rate.

    Parameters
    ----------
    propagation_s, queueing_s
        As for `reno`.
    loss : array_like
        Packet loss rate.

    Returns
    -------
    ndarray
        Wang et al., INFOCOM 2011, table II, with its parentheses set right.
    """
    (first, second), q = propagation_s, np.asarray(queueing_s, float)
    loss = np.asarray(loss, float)
    square = (second + q) * (loss * second + q) / ((first + q) * (loss * first + q))
    return np.asarray(np.sqrt(square))


def fit(
    propagation_s: tuple[float, float], queueing_s: ArrayLike, largest_s: ArrayLike | None = None
) -> Array:
    """Return the ratio of two TCP-FIT flows with more than one session each.

    Parameters
    ----------
    propagation_s : tuple of float
        Propagation round trips D_i, D_j.
    queueing_s : array_like
        Queueing delay q; the ratio does not depend on it while both have more than one session.
    largest_s : array_like, optional
        Largest queueing delay q_m: alpha as in the paper's implementation,
        (rtt_max - rtt_min)/rtt_max. By default both have the same fixed alpha.

    Returns
    -------
    ndarray
        1 for a fixed alpha (Wang et al., INFOCOM 2011, table II); (D_j + q_m)/(D_i + q_m) with the
        alpha of the paper's implementation, which contradicts that table.
    """
    if largest_s is None:
        return np.ones_like(np.asarray(queueing_s, float))
    return reno(propagation_s, largest_s)
