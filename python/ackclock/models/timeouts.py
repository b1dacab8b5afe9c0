"""AIMD where timeouts dominate: the chain of the backed-off retransmission timer.

The study of TCP, GAIMD, TFRC and TEAR, appendix B. The timer is at 1, 2, 4, ..., 64 times RTO; a
lost packet doubles it, one that arrives resets it. ``timeout`` is t, RTO in round trips, and ``p`` the loss
probability of a packet.
"""

from __future__ import annotations

import numpy as np

from ackclock.models.laws import Array

FACTORS = 2.0 ** np.arange(7)


def state_probabilities(p: float) -> Array:
    """Return how often each state of the timer is entered, per transition (equation 40).

    The states are those of the factors 1, 2, 4, ..., 64.
    """
    probabilities: Array = (1 - p) * p ** np.arange(7.0)
    probabilities[-1] = p**6
    return probabilities


def _cov_of_sending(probability: float) -> float:
    """Return the CoV of a round trip that has one packet with this probability, or none."""
    return float(np.sqrt(1 / probability - 1))


def printed_cov(p: float, timeout: float) -> float:
    """Return the CoV of equation 41, which takes probabilities per transition for shares of time.

    The text of the study says 1.7.

    >>> round(printed_cov(0.2, 4), 2)
    1.87
    """
    return _cov_of_sending(float((state_probabilities(p) / FACTORS).sum()) / timeout)


def cov(p: float, timeout: float) -> float:
    """Return the CoV of the chain itself: one packet per timeout times sum(p_k 2^k) round trips, a mean stay.

    >>> round(cov(0.2, 4), 2)
    2.08
    """
    return _cov_of_sending(1 / (timeout * float((state_probabilities(p) * FACTORS).sum())))


def cov_with_slow_start(p: float, timeout: float) -> float:
    """Return the CoV of the chain when a packet that arrives is followed by slow start.

    The packet that ends a timeout doubles the window: the next round trip has two packets. Two packets are
    too few for duplicate ACKs, so any loss among them leads to another timeout. By renewal there is one
    packet per state of the timer after timeout times sum(p_k 2^k) round trips, and with probability 1 - p a
    round trip of two.

    >>> round(cov_with_slow_start(0.2, 4), 2)
    1.68
    """
    trips = timeout * float((state_probabilities(p) * FACTORS).sum()) + (1 - p)
    packets, squares = 1 + 2 * (1 - p), 1 + 4 * (1 - p)
    return float(np.sqrt(trips * squares / packets**2 - 1))


def simulate_sending(p: float, timeout: int, packets: int, generator: np.random.Generator) -> Array:
    """Simulate the chain and return the packets sent in each round trip, 0 or 1, until `packets` are sent."""
    lost = generator.random(packets) < p
    # Losses in a row: the distance to the last packet that arrived.
    index = np.arange(packets)
    last = np.maximum.accumulate(np.where(lost, -1, index))
    waits = timeout * FACTORS[np.minimum(index - last, 6)].astype(int)
    ends = np.cumsum(waits)
    sent = np.zeros(int(ends[-1]))
    sent[ends - 1] = 1
    return sent
