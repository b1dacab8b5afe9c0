"""Response functions: the rate of a control whose loss events come one per 1/p packets.

Every function takes the loss-event rate `p` (a number or an array, 0 < p < 1) and returns packets
per round trip, of the same shape. They leave out the round trip in which a loss is repaired and the
window does not grow; under periodic loss it costs one part in as many as a cycle has round trips.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import lambertw

Rates = NDArray[np.float64]


def aimd(p: ArrayLike, increase: float, cut: float) -> Rates:
    """Give the rate under additive increase and multiplicative decrease.

    Parameters
    ----------
    p : array_like
        Loss-event rate.
    increase : float
        Packets per round trip.
    cut : float
        Fraction of the window cut per loss event.

    Returns
    -------
    ndarray
        Packets per round trip, of the shape of `p`.

    Notes
    -----
    Xu, Harfoush, Rhee, INFOCOM 2004, section IV: ``R = sqrt(a (2 - b)/(2 b p))``. A cycle falls
    from W to (1 - b) W and takes b W/a round trips.

    Examples
    --------
    >>> round(float(aimd(1e-4, 1, 0.5)), 1)
    122.5
    """
    return np.sqrt(increase * (2 - cut) / (2 * cut * np.asarray(p, float)))


def reno(p: ArrayLike) -> Rates:
    """Give the rate of Reno, ``sqrt(3/(2p))``.

    Parameters
    ----------
    p : array_like
        Loss-event rate.

    Returns
    -------
    ndarray
        Packets per round trip.
    """
    return aimd(p, 1, 0.5)


def multcp(p: ArrayLike, n: float) -> Rates:
    """Give the rate of MulTCP: N packets of increase, the fraction 1/(2N) cut.

    Parameters
    ----------
    p : array_like
        Loss-event rate.
    n : float
        Sessions.

    Returns
    -------
    ndarray
        Packets per round trip.
    """
    return aimd(p, n, 1 / (2 * n))


def scalable(p: ArrayLike, increase: float = 0.01, cut: float = 0.125) -> Rates:
    """Give the rate of Scalable TCP above its low window.

    Parameters
    ----------
    p : array_like
        Loss-event rate.
    increase : float
        Packets per acknowledgement.
    cut : float
        Fraction of the window cut per loss event.

    Returns
    -------
    ndarray
        Packets per round trip.

    Notes
    -----
    The window grows by the factor ``1 + a`` per round trip, so a cycle takes
    ``-ln(1 - b)/ln(1 + a)`` of them (Kelly, CCR 33(2), 2003: 13.4 with the default parameters).
    """
    return np.asarray(np.log1p(increase) / -np.log1p(-cut) / np.asarray(p, float), float)


def hstcp(p: ArrayLike) -> Rates:
    """Give the rate of HighSpeed TCP by design: ``0.12/p^0.835``, Reno's where that is more.

    Parameters
    ----------
    p : array_like
        Loss-event rate.

    Returns
    -------
    ndarray
        Packets per round trip (RFC 3649, section 5).
    """
    p = np.asarray(p, float)
    return np.asarray(np.maximum(0.12 / p**0.835, reno(p)), float)


def cubic(p: ArrayLike, rtt_s: ArrayLike, c: float = 0.4, keep: float = 0.7) -> Rates:
    """Give the rate of CUBIC: its own or, where that is more, that of its Reno-friendly region.

    Parameters
    ----------
    p : array_like
        Loss-event rate.
    rtt_s : array_like
        Round-trip time, seconds.
    c : float
        Scale of the cubic, packets per second cubed.
    keep : float
        Fraction of the window kept per loss event.

    Returns
    -------
    ndarray
        Packets per round trip (RFC 9438, section 5.1, equation 5, and section 4.3).
    """
    p, rtt_s = np.asarray(p, float), np.asarray(rtt_s, float)
    own = (c * (3 + keep) / (4 * (1 - keep))) ** 0.25 * rtt_s**0.75 / p**0.75
    return np.asarray(np.maximum(own, aimd(p, 3 * (1 - keep) / (1 + keep), 1 - keep)), float)


def bic(
    p: ArrayLike, s_max: float = 32, s_min: float = 0.01, cut: float = 0.125, low: float = 14
) -> Rates:
    """Give the rate of BI-TCP, Reno's where that is more.

    Parameters
    ----------
    p : array_like
        Loss-event rate.
    s_max, s_min : float
        Largest and smallest increase, packets per round trip.
    cut : float
        Fraction of the window cut per loss event.
    low : float
        Window up to which it is Reno, packets.

    Returns
    -------
    ndarray
        Packets per round trip (Xu, Harfoush, Rhee, INFOCOM 2004, equations 1.3 and 1.5).
    """
    p = np.asarray(p, float)
    a = cut * (2 - cut) / (2 * s_max)
    b = np.log2(s_max / s_min) + (2 - cut) / 2
    root = np.sqrt(b * b + 4 * a * (s_max - s_min + 1 / p))
    linear_window = (root - b) / (2 * a)
    linear = (2 - cut) / p / (root + (1 - cut) * b + cut * (2 - cut) / 2)
    log2 = np.log(2)
    argument = 4 * log2 * cut * np.exp(-2 * cut * log2) / (p * s_min)
    window = log2 / (p * lambertw(argument).real)
    search = window * (1 - 2 * cut / (np.log2(window * cut / s_min) + 2))
    own = np.where(linear_window * cut > 2 * s_max, linear, search)
    return np.where(window > low, own, reno(p))


def fit(p: ArrayLike, n: float) -> Rates:
    """Give the rate of TCP-FIT with a fixed number of sessions.

    Parameters
    ----------
    p : array_like
        Loss rate.
    n : float
        Sessions N.

    Returns
    -------
    ndarray
        Packets per round trip (Wang, Wen, Zhang, Han, INFOCOM 2011, equations 11, 10, 13 and 15).
    """
    p = np.asarray(p, float)
    b = 2 / (3 * n + 1)
    drop = (2 * b - b * b) / n
    window = ((b + 1) / 2 + np.sqrt(((b + 1) / 2) ** 2 + 4 * (1 - p) / p * drop / 2)) / drop
    rounds = b * window / n
    return np.asarray(((1 - p) / p + window) / (rounds + 1), float)
