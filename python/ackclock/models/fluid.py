"""The fluid cycle of one flow on a droptail link: its window between two loss events.

The window grows by alpha per round trip from (1 - beta) W_max to W_max = BDP + B, where the queue
overflows; alpha follows the queueing delay at the start of each round trip, as in S. Liu,
T. Basar, R. Srikant, Performance Evaluation 65 (2008), section 3. The model has no packets, no
recovery and no wait of theta round trips.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Alpha = Callable[[float, float], float | NDArray[np.float64]]
"""Packets per round trip, from the queueing delay and the largest one, both in seconds:
`reno_alpha`, or `ackclock.models.illinois.alpha`."""


@dataclass(frozen=True)
class FluidCycle:
    """The time between two loss events."""

    round_trips: float
    """Its length; a last round trip that is cut short counts in proportion."""
    length_s: float
    """Its length in seconds."""
    used_share: float
    """Time average of min(W, BDP)/BDP."""
    time_s: NDArray[np.float64]
    window: NDArray[np.float64]
    """Time since the loss in seconds and window in packets, at each round trip."""

    @property
    def mean_increase(self) -> float:
        """Increase per round trip, mean over the cycle weighted by 1/RTT (equation 28)."""
        return float(self.window[-1] - self.window[0]) / self.round_trips


def reno_alpha(delay_s: float, largest_s: float) -> float:  # noqa: ARG001 (one signature for all)
    """Return Reno's increase: a packet per round trip at any delay."""
    return 1.0


def in_trains(alpha: Alpha, capacity: float) -> Alpha:
    """Return the increase for packets in trains, from the increase for evenly spread packets.

    An ACK clock sends the packets of a window as one train at the rate of the link, even while the link is
    not full. The alpha packets that a round trip adds queue up behind the train and are spread only in the
    next round trip: they wait for alpha/2 packets on average. So alpha = alpha(delay + alpha/2/C), with the
    capacity C in packets per second, for an alpha that does not increase with the delay.
    """

    def steady(delay_s: float, largest_s: float) -> float:
        low, high = 0.0, float(alpha(delay_s, largest_s))
        for _ in range(50):  # halvings: to the last bits of a float
            middle = (low + high) / 2
            if alpha(delay_s + middle / 2 / capacity, largest_s) > middle:
                low = middle
            else:
                high = middle
        return high

    return steady


def cycle(alpha: Alpha, beta: float, capacity: float, buffer: float, rtt_s: float) -> FluidCycle:
    """Follow one cycle round trip by round trip.

    `beta` is the fraction of the window cut at the loss; the capacity is in packets per second, the buffer in
    packets, and `rtt_s` the propagation round trip.
    """
    product = capacity * rtt_s
    top = product + buffer
    window, now, trips, used = top * (1 - beta), 0.0, 0.0, 0.0
    times, windows = [now], [window]
    while window < top:
        delay = max(0.0, window - product) / capacity
        growth = float(alpha(delay, buffer / capacity))
        share = min(1.0, (top - window) / growth)
        step = share * (rtt_s + delay)
        used += step * min(1.0, (window + share * growth / 2) / product)
        window += share * growth
        now += step
        trips += share
        times.append(now)
        windows.append(window)
    return FluidCycle(trips, now, used / now, np.array(times), np.array(windows))
