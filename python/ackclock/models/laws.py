"""Window laws: a control's cycle from its increase and cut, by quadrature and root finding.

A law says by how many packets per round trip a window grows and which fraction of it a loss event
cuts. The cycle from one cut to the next, the response function, the time between self-induced
congestion events and the shares under synchronised losses all follow from it, for any law. The
closed forms of the papers are in `responses`, `periods` and `unfairness`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def _no_bends(top: float) -> Sequence[float]:  # noqa: ARG001 (one signature for all)
    return ()


@dataclass(frozen=True)
class Law:
    """The growth of a window between two cuts, and the cut."""

    increase: Callable[[Array, Any], Array | float]
    """Packets per round trip, as a function of windows (an array) and of the window at the end of the
    cycle (a number for all of them, or an array)."""
    cut: Callable[[float], float]
    """Fraction of the window that a loss event cuts, as a function of the window in packets."""
    bends: Callable[[float], Sequence[float]] = _no_bends
    """Windows at which the increase has a kink, as a function of the window at the cycle's end."""


def aimd(increase: float, cut: float) -> Law:
    """Return the law of additive increase, packets per round trip, and of a fraction cut per loss event."""
    return Law(lambda _window, _top: increase, lambda _window: cut)


def scalable(increase: float = 0.01, cut: float = 0.125) -> Law:
    """Return the law of Scalable TCP above its low window (T. Kelly, CCR 33(2), 2003).

    `increase` is in packets per acknowledgement: per round trip the window grows by the factor 1 + increase.
    """
    growth = np.log1p(increase)
    return Law(lambda window, _top: growth * window, lambda _window: float(cut))


HSTCP_LOW, HSTCP_HIGH = 38.0, 83_000.0


def hstcp_cut(window: ArrayLike) -> Array:
    """Return the fraction b(w) that HighSpeed TCP cuts from a window in packets (RFC 3649, section 5).

    It is 0.5 up to 38 packets, 0.1 from 83000 on, linear in log w between.
    """
    log = np.log(np.clip(np.asarray(window, float), HSTCP_LOW, HSTCP_HIGH) / HSTCP_LOW)
    return np.asarray(0.5 - 0.4 * log / np.log(HSTCP_HIGH / HSTCP_LOW), float)


def hstcp_increase(window: ArrayLike) -> Array:
    """Return the increase of HighSpeed TCP at a window in packets (RFC 3649, section 5).

    It is a(w) = 2 w^2 b(w) p(w)/(2 - b(w)) packets per round trip with p(w) = 0.078/w^1.2, at least 1.
    """
    window = np.asarray(window, float)
    cut = hstcp_cut(window)
    own = 2 * window**0.8 * 0.078 * cut / (2 - cut)
    return np.where(window > HSTCP_LOW, np.maximum(own, 1.0), 1.0)


def hstcp() -> Law:
    """Return the law of HighSpeed TCP (RFC 3649, section 5)."""
    return Law(
        lambda window, _top: hstcp_increase(window),
        lambda window: float(hstcp_cut(window)),
        lambda _top: (HSTCP_LOW,),
    )


def bic(s_max: float = 32, s_min: float = 0.01, cut: float = 0.125, low: float = 14) -> Law:
    """Return the law of BI-TCP's analysis: the gap to the maximum halves in every round trip.

    It is continuous in time: below a gap of s_max/ln 2 the window approaches the maximum exponentially. The
    increase is between `s_min` and `s_max` packets per round trip, and up to a window of `low` packets as
    Reno's (Xu, Harfoush, Rhee, INFOCOM 2004, section V).
    """
    log2 = float(np.log(2))

    def increase(window: Array, top: float) -> Array:
        return np.where(window < low, 1.0, np.clip(log2 * (top - window), s_min, s_max))

    return Law(
        increase,
        lambda window: cut if window > low else 0.5,
        lambda top: (low, top - s_max / log2, top - s_min / log2),
    )


def africa(threshold: float) -> Law:
    """Return the law of TCP-Africa: HighSpeed TCP's increase until a queue builds up, then Reno's.

    `threshold` is the share of the largest window at which a queue builds up and the slow mode begins; the
    cut is HighSpeed TCP's (King, Baraniuk, Riedi, INFOCOM 2005, section III).
    """

    def increase(window: Array, top: float) -> Array:
        return np.where(window < threshold * top, hstcp_increase(window), 1.0)

    return Law(increase, lambda window: float(hstcp_cut(window)), lambda top: (HSTCP_LOW, threshold * top))


def compound(alpha: float = 0.125, cut: float = 0.5, exponent: float = 0.75) -> Law:
    """Return the law of Compound TCP without queueing delay (Tan, Song, Zhang, Sridharan, INFOCOM 2006).

    The window grows by alpha w^k packets per round trip, k being the exponent.
    """
    return Law(lambda window, _top: alpha * window**exponent, lambda _window: cut)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
"""Gauss's quadrature of each smooth piece of a cycle."""


@dataclass(frozen=True)
class Cycle:
    """The time between two cuts."""

    round_trips: float
    """Length in round trips."""
    packets: float
    """Packets sent in it."""


def cycle(law: Law, top: float, recovery: float = 0.0) -> Cycle:
    """Integrate a law from just after a cut to the window at the next cut, `top` packets.

    `recovery` is the number of round trips after a cut in which the window does not grow while the loss is
    repaired: 0 in the papers' formulas, 1 for a TCP with selective acknowledgements.

    Reno climbs from 50 to 100 packets in 50 round trips, at 75 packets on average:

    >>> reno = cycle(aimd(1, 0.5), 100)
    >>> round(reno.round_trips, 9), round(reno.packets, 6)
    (50.0, 3750.0)
    """
    bottom = top * (1 - law.cut(top))
    edges = [bottom, *sorted(w for w in law.bends(top) if bottom < w < top), top]

    round_trips, packets = recovery, recovery * bottom
    for low, high in pairwise(edges):
        if high < top:
            # Evenly spread in the logarithm of the gap to the top, which may shrink exponentially.
            far, near = np.log(top - low), np.log(top - high)
            gap = np.exp((far + near) / 2 + (far - near) / 2 * NODES)
            window, step = top - gap, (far - near) / 2 * WEIGHTS * gap
        else:
            window, step = (low + high) / 2 + (high - low) / 2 * NODES, (high - low) / 2 * WEIGHTS
        trips = step / law.increase(window, top)
        round_trips += float(trips.sum())
        packets += float((trips * window).sum())
    return Cycle(round_trips, packets)


def _solve(excess: Callable[[float], float], low: float, high: float) -> float:
    """Find the root of a rising function of a positive number, in steps of its logarithm."""
    root = scipy.optimize.brentq(
        lambda log: excess(float(np.exp(log))), np.log(low), np.log(high), xtol=1e-12
    )
    return float(np.exp(root))


MOST_PACKETS = 1e9
"""Upper end of the search for a root: no window is larger."""


def response(law: Law, p: float, recovery: float = 0.0) -> float:
    """Return the packets per round trip of a law when one packet in 1/p is lost.

    `recovery` is as for `cycle`.

    >>> round(response(aimd(1, 0.5), 1e-4), 1)
    122.5
    """
    top = _solve(lambda window: cycle(law, window, recovery).packets - 1 / p, 1e-3, MOST_PACKETS)
    cycle_at_top = cycle(law, top, recovery)
    return cycle_at_top.packets / cycle_at_top.round_trips


@dataclass(frozen=True)
class Shares:
    """Shares of flows that lose together."""

    epoch_s: float
    """Time between two congestion events, seconds."""
    window: Array
    """Window of each flow at the events, packets."""
    rate: Array
    """Mean rate of each, packets per second."""


def synchronised(law: Law, rtt_s: ArrayLike, capacity: float, recovery: float = 0.0) -> Shares:
    """Return the shares of flows that all lose a packet at every congestion event.

    The link overflows at `capacity` packets per second, the sum of window/RTT; `recovery` is as for `cycle`.
    ValueError is raised when the shares do not converge because the length of a cycle does not grow with the
    window, as with Scalable TCP; or when the capacity is too small or too large for windows of 1 to 1e9
    packets.

    The window is proportional to the round trips in an epoch, the rate to their square:

    >>> shares = synchronised(aimd(32, 0.125), [0.04, 0.12], 1e5)
    >>> round(float(shares.rate[0] / shares.rate[1]), 3)
    9.0
    """
    rtt = np.asarray(rtt_s, float)
    ends = [cycle(law, window).round_trips for window in (1e2, 1e5)]
    if ends[1] <= ends[0] * (1 + 1e-9):
        raise ValueError("the flows do not converge: a cycle is equally long at every window")

    def windows(epoch_s: float) -> Array:
        def top(trips: float) -> float:
            # A cycle longer or shorter than at the ends of the search takes the window there.
            for edge, sign in ((1.0, 1), (MOST_PACKETS, -1)):
                if sign * (cycle(law, edge, recovery).round_trips - trips) >= 0:
                    return edge
            return _solve(lambda w: cycle(law, w, recovery).round_trips - trips, 1.0, MOST_PACKETS)

        return np.array([top(epoch_s / rtt_of_flow) for rtt_of_flow in rtt])

    # Every flow's window grows with the epoch, so their sum crosses the capacity once.
    def excess(epoch_s: float) -> float:
        return float((windows(epoch_s) / rtt).sum()) - capacity

    shortest, longest = 1e-3 * rtt.min(), 1e6 * rtt.max()
    if excess(shortest) > 0 or excess(longest) < 0:
        raise ValueError("no epoch gives these flows windows of 1 to 1e9 packets")
    epoch_s = _solve(excess, shortest, longest)
    tops = windows(epoch_s)
    if tops.min() <= 1:
        raise ValueError("no epoch gives these flows windows of 1 to 1e9 packets")
    rate = np.array([cycle(law, window, recovery).packets for window in tops]) / epoch_s
    return Shares(epoch_s, tops, rate)
