"""Response functions: the rate of a control whose loss events come one per 1/p packets.

Every function takes the loss-event rate `p` (a number or an array, 0 < p < 1) and returns packets
per round trip, of the same shape. They leave out the round trip in which a loss is repaired and the
window does not grow; under periodic loss it costs one part in as many as a cycle has round trips.

`increase` is in packets per round trip; `cut` and `keep` are the fractions of the window that a loss event
takes and leaves; delays are in seconds, and `timeout`, the retransmission timeout, in round trips.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import lambertw

from ackclock.models import fit as fit_model

Rates = NDArray[np.float64]


def aimd(p: ArrayLike, increase: float, cut: float) -> Rates:
    """Return the rate under additive increase and multiplicative decrease, ``sqrt(a (2 - b)/(2 b p))``.

    A cycle falls from W to (1 - b) W and takes b W/a round trips (Xu, Harfoush, Rhee, INFOCOM 2004, section
    IV).

    >>> round(float(aimd(1e-4, 1, 0.5)), 1)
    122.5
    """
    return np.sqrt(increase * (2 - cut) / (2 * cut * np.asarray(p, float)))


def reno(p: ArrayLike) -> Rates:
    """Return the rate of Reno, ``sqrt(3/(2p))``."""
    return aimd(p, 1, 0.5)


def multcp(p: ArrayLike, n: float) -> Rates:
    """Return the rate of MulTCP with N = `n` sessions: N packets of increase, the fraction 1/(2N) cut."""
    return aimd(p, n, 1 / (2 * n))


def scalable(p: ArrayLike, increase: float = 0.01, cut: float = 0.125) -> Rates:
    """Return the rate of Scalable TCP above its low window; `increase` is in packets per acknowledgement.

    The window grows by the factor ``1 + a`` per round trip, so a cycle takes ``-ln(1 - b)/ln(1 + a)`` of them
    (Kelly, CCR 33(2), 2003: 13.4 with the default parameters).
    """
    return np.asarray(np.log1p(increase) / -np.log1p(-cut) / np.asarray(p, float), float)


def hstcp(p: ArrayLike) -> Rates:
    """Return the rate of HighSpeed TCP by design: ``0.12/p^0.835``, Reno's where that is more.

    The source is RFC 3649, section 5.
    """
    p = np.asarray(p, float)
    return np.asarray(np.maximum(0.12 / p**0.835, reno(p)), float)


def cubic(p: ArrayLike, rtt_s: ArrayLike, c: float = 0.4, keep: float = 0.7) -> Rates:
    """Return the rate of CUBIC: its own rate or, if it is higher, the rate of its Reno-friendly region.

    `c` is the scale of the cubic, packets per second cubed (RFC 9438, section 5.1, equation 5, and section
    4.3).
    """
    p, rtt_s = np.asarray(p, float), np.asarray(rtt_s, float)
    own = (c * (3 + keep) / (4 * (1 - keep))) ** 0.25 * rtt_s**0.75 / p**0.75
    return np.asarray(np.maximum(own, aimd(p, 3 * (1 - keep) / (1 + keep), 1 - keep)), float)


def bic(p: ArrayLike, s_max: float = 32, s_min: float = 0.01, cut: float = 0.125, low: float = 14) -> Rates:
    """Return the rate of BI-TCP, Reno's where that is more.

    Its increase is between `s_min` and `s_max` packets per round trip, and up to a window of `low` packets it
    is Reno (Xu, Harfoush, Rhee, INFOCOM 2004, equations 1.3 and 1.5).
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


def gaimd(p: ArrayLike, increase: float = 0.31, keep: float = 0.875) -> Rates:
    """Return the rate of GAIMD (Yang, Lam, ICNP 2000).

    With the default parameters it is 1.245 times Reno's; the two are equal where timeouts dominate.
    """
    return aimd(p, increase, 1 - keep)


def power(p: ArrayLike, scale: float, exponent: float) -> Rates:
    """Return a response function ``c/p^d`` with the scale c and the exponent d.

    0.15 and 0.82 describe HighSpeed TCP in the study of BI-TCP (Xu, Harfoush, Rhee, INFOCOM 2004, section
    IV).
    """
    return np.asarray(scale / np.asarray(p, float) ** exponent)


def compound(p: ArrayLike, alpha: float = 0.125, cut: float = 0.5, exponent: float = 0.75) -> Rates:
    """Return the rate of Compound TCP where no queue builds up, Reno's where that is more.

    The window grows by alpha w^k packets per round trip, k being the exponent; the rate is L/p^(1/(2 - k))
    (Wang et al., INFOCOM 2011, table II, with the factor 1 - k that its print lacks).
    """
    p, k = np.asarray(p, float), exponent
    spread = (1 - (1 - cut) ** (2 - k)) / (2 - k)
    rounds = (1 - (1 - cut) ** (1 - k)) / (1 - k)
    scale = alpha ** (1 / (2 - k)) * spread ** ((1 - k) / (2 - k)) / rounds
    return np.asarray(np.maximum(scale / p ** (1 / (2 - k)), reno(p)))


def veno(p: ArrayLike, keep: float = 0.8) -> Rates:
    """Return the rate of Veno (Wang et al., INFOCOM 2011, table II).

    The mean of `keep` is 4/5 while losses are random, and 1/2 in congestion.
    """
    return aimd(p, 1, 1 - keep)


def westwood(p: ArrayLike, propagation_s: ArrayLike, queueing_s: ArrayLike) -> Rates:
    """Return the rate of Westwood per D + q, the mean propagation and queueing delays.

    It is ``sqrt((1 - p)/p (D + q)/(p D + q))`` (Grieco, Mascolo, CCR 34(2), 2004; Wang et al., INFOCOM 2011,
    table II).
    """
    p, d, q = (np.asarray(value, float) for value in (p, propagation_s, queueing_s))
    return np.asarray(np.sqrt((1 - p) / p * (d + q) / (p * d + q)))


def vegas(queued: ArrayLike, propagation_s: ArrayLike, queueing_s: ArrayLike) -> Rates:
    """Return the rate of Vegas and FAST per D + q, ``a (D + q)/q``, which does not depend on losses.

    A flow keeps a = `queued` packets in the queue; D and q are the mean propagation and queueing delays (Wang
    et al., INFOCOM 2011, table II).
    """
    d, q = np.asarray(propagation_s, float), np.asarray(queueing_s, float)
    return np.asarray(np.asarray(queued, float) * (d + q) / q)


def tfrc(p: ArrayLike, timeout: ArrayLike = 4.0) -> Rates:
    """Return the rate that TFRC computes (RFC 5348, section 3.1, one packet per acknowledgement)."""
    p = np.asarray(p, float)
    waiting = 3 * np.sqrt(3 * p / 8) * p * (1 + 32 * p**2) * np.asarray(timeout, float)
    return np.asarray(1 / (np.sqrt(2 * p / 3) + waiting))


def pftk(p: ArrayLike, timeout: ArrayLike = 4.0, per_ack: float = 1.0, most: float = np.inf) -> Rates:
    """Return the rate of Reno with its timeouts, when all packets of a round after a loss are lost.

    `p` is the probability that a packet is lost when the one before it in its round was not. The first
    timeout doubles up to 64 times that; an acknowledgement is for `per_ack` packets, and the receiver allows
    `most`. Lost packets count as sent (Padhye, Firoiu, Towsley, Kurose, SIGCOMM 1998, the full model).
    """
    p, t0 = np.asarray(p, float), np.asarray(timeout, float)
    third = (2 + per_ack) / (3 * per_ack)
    free = third + np.sqrt(8 * (1 - p) / (3 * per_ack * p) + third**2)
    window = np.minimum(free, most)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    kept = 1 - p
    ending = (1 - kept**3) * (1 + kept**3 * (1 - kept ** np.maximum(window - 3, 0)))
    timed_out = np.minimum(1, ending / (1 - kept**window))
    packets = kept / p + window + timed_out / kept
    limited = np.isfinite(most) & (free >= most)
    with np.errstate(invalid="ignore"):
        full = per_ack / 8 * window + kept / (p * window) + 2
    rounds = np.where(limited, full, per_ack / 2 * window + 1)
    return np.asarray(packets / (rounds + timed_out * t0 * backoff / kept))


def fit(p: ArrayLike, n: float) -> Rates:
    """Return the rate of TCP-FIT with N = `n` sessions (`ackclock.models.fit.throughput`)."""
    return fit_model.throughput(p, 1.0, n)
