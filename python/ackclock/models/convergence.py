"""Convergence: the windows of flows with one round trip, from loss event to loss event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ackclock.models.laws import Array, Law


@dataclass(frozen=True)
class Losses:
    """Windows at the loss events of several flows."""

    round_trips: Array
    """Time of each event, shape (events,)."""
    window: Array
    """Window of each flow just before the event, packets, shape (events, flows)."""


def losses(
    law: Law,
    start: Sequence[float],
    capacity: float,
    events: int,
    *,
    fast_convergence: bool = False,
    generator: np.random.Generator | None = None,
) -> Losses:
    """Follow flows whose windows in packets add up to the capacity at every loss event, the first at time 0.

    With `fast_convergence` a flow whose window at an event is below its window at the previous event takes
    the middle between its windows before and after the cut as its new maximum (Xu, Harfoush, Rhee, INFOCOM
    2004, section VI-A). `generator` chooses the flow that loses, in proportion to the windows; by default all
    flows lose together.

    Two Reno flows halve the difference of their windows at each event:

    >>> from ackclock.models.laws import aimd
    >>> losses(aimd(1, 0.5), [75, 25], 100, 3).window.round(1).tolist()
    [[75.0, 25.0], [62.5, 37.5], [56.2, 43.8]]
    """
    window = np.array(start, float)
    top = window.copy()
    now, times, windows = 0.0, [], []
    for _ in range(events):
        times.append(now)
        windows.append(window.copy())
        if generator is None:
            lost = np.ones(len(window), bool)
        else:
            chosen = generator.choice(len(window), p=window / window.sum())
            lost = np.arange(len(window)) == chosen
        cut = np.array([law.cut(float(packets)) for packets in window])
        shrinks = fast_convergence & (window < top)
        top = np.where(lost, np.where(shrinks, window * (1 - cut / 2), window), top)
        window = np.where(lost, window * (1 - cut), window)
        while True:
            growth = np.broadcast_to(law.increase(window, top), window.shape)
            # The last round trip ends where the capacity is reached.
            share = min(1.0, (capacity - window.sum()) / growth.sum())
            window, now = window + share * growth, now + share
            if share < 1:
                break
    return Losses(np.array(times), np.array(windows))


def round_trips_until_fair(events: Losses, within: float, span: int = 1) -> float:
    """Return the round trips until the windows of two flows, as means over `span` events, are about equal.

    Their difference is then at most the share `within` of the mean window; infinite if it never is.
    """
    mean: ArrayLike = np.array(
        [np.convolve(window, np.ones(span) / span, "valid") for window in events.window.T]
    )
    first, second = np.asarray(mean)
    near = np.abs(first - second) <= within * (first + second) / 2
    return float(events.round_trips[span - 1 :][np.argmax(near)]) if near.any() else float("inf")
