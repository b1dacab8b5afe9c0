"""Round trips between two self-induced congestion events of one flow alone.

King, Baraniuk, Riedi, INFOCOM 2005 (TCP-Africa), section II-C. ``window`` is W_max, the largest
window that loses nothing: capacity times round-trip time plus buffer, packets. ``cut`` is the fraction of
the window cut per loss event; periods are in round trips.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ackclock.models import laws
from ackclock.models.laws import Array


def aimd(window: ArrayLike, increase: float = 1.0, cut: float = 0.5) -> Array:
    """Return the period under additive increase, in packets per round trip (equation 1).

    With the default parameters it is Reno's, W_max/2 (equation 2).
    """
    return cut * np.asarray(window, float) / increase


def mimd(increase: float = 0.01, cut: float = 0.125) -> float:
    """Return the period when a window grows by 1 + increase per round trip, the same at all (equation 4).

    >>> round(mimd(), 1)
    13.4
    """
    return float(-np.log1p(-cut) / np.log1p(increase))


def hstcp(window: ArrayLike) -> Array:
    """Return the period of HighSpeed TCP, by quadrature."""
    law = laws.hstcp()
    period = np.vectorize(lambda top: laws.cycle(law, top).round_trips, otypes=[float])
    return np.asarray(period(np.asarray(window, float)), float)


def two_mode(
    window: ArrayLike, threshold: float = 0.95, increase: float = 0.01, cut: ArrayLike = 0.125
) -> Array:
    """Return the period of the hypothetical two-mode protocol, the approximation of TCP-Africa.

    It grows by the factor 1 + increase per round trip up to the share `threshold` of W_max, then by one
    packet. The threshold is between 1 - cut and 1 (the paper: 0.90 to 0.95), and TCP-Africa cuts as HighSpeed
    TCP does.

    >>> round(float(two_mode(83_000)))
    4158
    """
    fast = np.log(threshold / (1 - np.asarray(cut, float))) / np.log1p(increase)
    return np.asarray(fast + (1 - threshold) * np.asarray(window, float), float)


def reachable_window(period: ArrayLike, increase: float = 1.0, cut: float = 0.5) -> Array:
    """Return the window that AIMD reaches when other flows cause congestion every `period` round trips.

    It is in packets, and the increase in packets per round trip (equation 5).
    """
    return np.asarray(period, float) * increase / cut
