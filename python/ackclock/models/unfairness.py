"""RTT unfairness: the ratio of the throughputs of a flow with a short and one with a long round trip.

All functions return the ratio of the first flow's throughput to the second's. Delays are seconds:
``rtt_s`` has the round trips of the two flows, ``propagation_s`` their propagation round trips D_i and D_j,
``queueing_s`` is the queueing delay q, and ``epoch_s`` the time between loss events.
`ackclock.models.laws.synchronised` has the shares under synchronised losses for any law.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ackclock.models.laws import Array


def of_exponent(ratio: ArrayLike, exponent: float) -> Array:
    """Return ratio^(1/(1 - d)), for a response function c/p^d under synchronised losses.

    `ratio` is the round-trip time of the second flow over that of the first; the windows have ratio^(d/(1 -
    d)). The exponent d is 0.5 for Reno and AIMD, 0.82 for HighSpeed TCP. At 1, the value of Scalable TCP, the
    ratio grows without limit: from there on ValueError is raised (Xu, Harfoush, Rhee, INFOCOM 2004, section
    IV).

    >>> float(of_exponent(3, 0.5))
    9.0
    """
    if not exponent < 1:
        raise ValueError("the shares of a response function c/p^d converge only for d < 1")
    return np.asarray(np.asarray(ratio, float) ** (1 / (1 - exponent)))


def bic(rtt_s: tuple[float, float], epoch_s: ArrayLike, s_max: float, s_min: float) -> Array:
    """Return the ratio of windows of two BI-TCP flows with large windows that lose together.

    Times rtt_s[1]/rtt_s[0] it is that of throughputs. The epoch is long enough for additive increase; as it
    grows the ratio falls to rtt_s[1]/rtt_s[0]. The increase is between `s_min` and `s_max` packets per round
    trip (Xu, Harfoush, Rhee, section V; the paper drops the factor 2 in the logarithm).
    """
    search = np.log2(2 * s_max / s_min) / np.asarray(epoch_s, float)
    return np.asarray((1 / rtt_s[0] - search) / (1 / rtt_s[1] - search))


def bic_search(rtt_s: tuple[float, float], epoch_s: ArrayLike) -> Array:
    """Return the ratio of windows of two BI-TCP flows with small windows that lose together.

    It is exp((1/RTT1 - 1/RTT2) t ln 2) for an epoch that is too short for additive increase (Xu, Harfoush,
    Rhee, section V).
    """
    rate = 1 / rtt_s[0] - 1 / rtt_s[1]
    return np.asarray(np.exp(rate * np.asarray(epoch_s, float) * np.log(2)))


def reno(propagation_s: tuple[float, float], queueing_s: ArrayLike) -> Array:
    """Return (D_j + q)/(D_i + q), the ratio of two Reno flows that see the same loss rate.

    The source is table II of Wang et al., INFOCOM 2011.
    """
    q = np.asarray(queueing_s, float)
    return np.asarray((propagation_s[1] + q) / (propagation_s[0] + q))


def compound(propagation_s: tuple[float, float], queueing_s: ArrayLike) -> Array:
    """Return the largest ratio of two Compound flows, Reno's squared (Wang et al., table II)."""
    return np.asarray(reno(propagation_s, queueing_s) ** 2)


def veno(
    propagation_s: tuple[float, float], queueing_s: ArrayLike, kept: tuple[float, float] = (0.8, 0.8)
) -> Array:
    """Return the ratio of two Veno flows that see the same loss rate (Wang et al., INFOCOM 2011, table II).

    `kept` is the mean fraction of the window that each keeps per loss event, 1/2 to 4/5.
    """
    first, second = kept
    factor = np.sqrt((1 + first) * (1 - second) / ((1 - first) * (1 + second)))
    return np.asarray(reno(propagation_s, queueing_s) * factor)


def westwood(propagation_s: tuple[float, float], queueing_s: ArrayLike, loss: ArrayLike) -> Array:
    """Return the ratio of two Westwood flows that see the same packet loss rate.

    The source is table II of Wang et al., INFOCOM 2011, with its parentheses set right.
    """
    (first, second), q = propagation_s, np.asarray(queueing_s, float)
    loss = np.asarray(loss, float)
    square = (second + q) * (loss * second + q) / ((first + q) * (loss * first + q))
    return np.asarray(np.sqrt(square))


def fit(
    propagation_s: tuple[float, float], queueing_s: ArrayLike, largest_s: ArrayLike | None = None
) -> Array:
    """Return the ratio of two TCP-FIT flows with more than one session each.

    It is 1 when both have the same fixed alpha (Wang et al., INFOCOM 2011, table II). With the largest
    queueing delay q_m, alpha is that of the paper's implementation, (rtt_max - rtt_min)/rtt_max, and the
    ratio (D_j + q_m)/(D_i + q_m), which contradicts that table.
    """
    if largest_s is None:
        return np.ones_like(np.asarray(queueing_s, float))
    return reno(propagation_s, largest_s)
