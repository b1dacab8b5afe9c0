"""TCP-FIT: its throughput, its sessions, and its operating range on a link.

Wang, Wen, Zhang, Han, INFOCOM 2011, sections III to V. ``loss`` is the packet loss rate g = P + p
of the link and of congestion, ``sessions`` their mean number E[N], ``cut_share`` the mean fraction cut
E[beta], by default that of `cut`; propagation and queueing delays D and q are means in seconds, and rates
are in packets per second.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ackclock.models.laws import Array


def cut(sessions: ArrayLike) -> Array:
    """Return the fraction of the window cut per loss event with N sessions, 2/(3N + 1) (equation 1)."""
    return 2 / (3 * np.asarray(sessions, float) + 1)


def mean_window(loss: ArrayLike, sessions: ArrayLike, cut_share: ArrayLike | None = None) -> Array:
    """Return the mean window at a loss, E[W], in packets (equation 11)."""
    g, n = np.asarray(loss, float), np.asarray(sessions, float)
    beta = cut(n) if cut_share is None else np.asarray(cut_share, float)
    kept = 2 * beta - beta**2
    half = (beta + 1) / 2
    return np.asarray((half + np.sqrt(half**2 + 4 * (1 - g) / g * kept / (2 * n))) * n / kept)


def mean_rounds(loss: ArrayLike, sessions: ArrayLike, cut_share: ArrayLike | None = None) -> Array:
    """Return the mean number of round trips in a loss-free period, E[X] (equations 10 and 12).

    The period lasts one round trip more (equations 13 and 14).
    """
    n = np.asarray(sessions, float)
    beta = cut(n) if cut_share is None else np.asarray(cut_share, float)
    return np.asarray(beta * mean_window(loss, n, beta) / n)


def throughput(
    loss: ArrayLike, rtt_s: ArrayLike, sessions: ArrayLike, cut_share: ArrayLike | None = None
) -> Array:
    """Return the throughput with a given number of sessions (equation 15)."""
    g = np.asarray(loss, float)
    packets = (1 - g) / g + mean_window(g, sessions, cut_share)
    trips = mean_rounds(g, sessions, cut_share) + 1
    return np.asarray(packets / trips / np.asarray(rtt_s, float))


def throughput_at_low_loss(loss: ArrayLike, rtt_s: ArrayLike, sessions: ArrayLike) -> Array:
    """Return the throughput to leading order in the loss rate: N times Reno's (equations 16 and 18)."""
    n, g = np.asarray(sessions, float), np.asarray(loss, float)
    return np.asarray(n * np.sqrt(1.5 / g) / np.asarray(rtt_s, float))


def mean_sessions(alpha: ArrayLike, propagation_s: ArrayLike, queueing_s: ArrayLike) -> Array:
    """Return the number of sessions at which the update rule is in equilibrium, alpha (D + q)/q, at least 1.

    `alpha` is the target share of a session's window that waits in the queue, between 0 and 1 (equations 4
    and 17); without queueing the number is infinite.
    """
    alpha, q = np.asarray(alpha, float), np.asarray(queueing_s, float)
    with np.errstate(divide="ignore"):
        free = alpha * (np.asarray(propagation_s, float) + q) / q
    return np.asarray(np.maximum(1.0, free))


def estimated_throughput(
    loss: ArrayLike, propagation_s: ArrayLike, queueing_s: ArrayLike, alpha: ArrayLike
) -> Array:
    """Return the throughput with the sessions of `mean_sessions` (equation 19)."""
    rtt_s = np.asarray(propagation_s, float) + np.asarray(queueing_s, float)
    return throughput_at_low_loss(loss, rtt_s, mean_sessions(alpha, propagation_s, queueing_s))


def own_alpha(propagation_s: ArrayLike, queueing_largest_s: ArrayLike) -> Array:
    """Return alpha as the paper's implementation computes it: (rtt_max - rtt_min)/rtt_max (section III).

    The arguments are the smallest round-trip time and the largest queueing delay of the session.
    """
    most = np.asarray(queueing_largest_s, float)
    return np.asarray(most / (np.asarray(propagation_s, float) + most))


def queueing_at_capacity(loss: float, propagation_s: float, capacity: float, alpha: float) -> float:
    """Return the mean queueing delay in seconds at which one flow fills a link that loses at random.

    That is where equation 19, with a fixed alpha, equals the capacity; it is 0 when Reno's rate fills the
    link.

    At 0.1 % loss, 1250 packets per second and alpha = 0.1 a queue of 3.1 ms makes N = 3.3:

    >>> round(queueing_at_capacity(1e-3, 0.1, 1250, 0.1), 5)
    0.0031
    """
    if throughput_at_low_loss(loss, propagation_s, 1) >= capacity:
        return 0.0
    return float(alpha * np.sqrt(1.5 / loss) / capacity)


def link_state(
    packets: float, capacity: float, propagation_s: float, buffer: float
) -> Literal["a", "b", "c"]:
    """Return the state of a link with M packets on it and in its queue (equation 20).

    "a": not full, no queue; "b": full, a queue and no congestion loss; "c": overflow of a buffer of U
    packets, at B packets per second and the propagation round trip D.
    """
    product = capacity * propagation_s
    if packets < product:
        return "a"
    return "b" if packets <= product + buffer else "c"
