"""Round trips between two self-induced congestion events of one flow alone.

King, Baraniuk, Riedi, INFOCOM 2005 (TCP-Africa), section II-C. ``window`` is W_max, the largest
window that loses nothing: capacity times round-trip time plus buffer, packets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ackclock.models import laws
from ackclock.models.laws import Array


def aimd(window: ArrayLike, increase: float = 1.0, cut: float = 0.5) -> Array:
    """Return the period under additive increase.

    Parameters
    ----------
    window : array_like
        W_max in packets.
    increase : float
        Packets per round trip.
    cut : float
        Fraction of the window cut per loss event.

    Returns
    -------
    ndarray
        Round trips (equation 1; with the default parameters Reno's W_max/2, equation 2).
    """
    return cut * np.asarray(window, float) / increase


def mimd(increase: float = 0.01, cut: float = 0.125) -> float:
    """Return the period under multiplicative increase: the same at every window.

    Parameters
    ----------
    increase : float
        The window grows by the factor 1 + increase per round trip.
    cut : float
        Fraction of the window cut per loss event.

    Returns
    -------
    float
        Round trips (equation 4).

    Examples
    --------
    >>> round(mimd(), 1)
    13.4
    """
    return float(-np.log1p(-cut) / np.log1p(increase))


def hstcp(window: ArrayLike) -> Array:
    """Return the period of HighSpeed TCP, by quadrature.

    Parameters
    ----------
    window : array_like
        W_max in packets.

    Returns
    -------
    ndarray
        Length in round trips.
    """
    law = laws.hstcp()
    period = np.vectorize(lambda top: laws.cycle(law, top).round_trips, otypes=[float])
    return np.asarray(period(np.asarray(window, float)), float)


def two_mode(
    window: ArrayLike, threshold: float = 0.95, increase: float = 0.01, cut: ArrayLike = 0.125
) -> Array:
    """Return the period of the hypothetical two-mode protocol, the approximation of TCP-Africa.

    It grows by the factor 1 + increase per round trip up to a share of W_max, then by one packet.

    Parameters
    ----------
    window : array_like
        W_max in packets.
    threshold : float
        Share of W_max at which the slow mode begins, between 1 - cut and 1 (the paper: 0.90 to 0.95).
    increase : float
        Share of the window that the fast mode adds per round trip.
    cut : array_like
        Fraction of the window cut per loss event; TCP-Africa cuts as HighSpeed TCP does.

    Returns
    -------
    ndarray
        Length in round trips.

    Examples
    --------
    >>> round(float(two_mode(83_000)))
    4158
    """
    fast = np.log(threshold / (1 - np.asarray(cut, float))) / np.log1p(increase)
    return np.asarray(fast + (1 - threshold) * np.asarray(window, float), float)


def reachable_window(period: ArrayLike, increase: float = 1.0, cut: float = 0.5) -> Array:
    """Return the window that AIMD reaches when other flows cause congestion every `period` round trips.

    Parameters
    ----------
    period : array_like
        Round trips between congestion events.
    increase : float
        Packets per round trip.
    cut : float
        Fraction of the window cut per loss event.

    Returns
    -------
    ndarray
        Packets (equation 5).
    """
    return np.asarray(period, float) * increase / cut
