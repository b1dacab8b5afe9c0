"""Convergence: the windows of flows with one round trip, from loss event to loss event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ackclock.models.laws import Array, Law


@dataclass(frozen=True)
class Losses:
    """Windows at the loss events of several flows.

    Attributes
    ----------
    round_trips : ndarray
        When each event comes, shape (events,).
    window : ndarray
        Window of each flow just before it, packets, shape (events, flows).
    """

    round_trips: Array
    window: Array


def losses(
    law: Law,
    start: Sequence[float],
    capacity: float,
    events: int,
    *,
    fast_convergence: bool = False,
    generator: np.random.Generator | None = None,
) -> Losses:
    """Follow flows whose windows add up to the capacity at every loss event.

    Parameters
    ----------
    law : Law
        The law of every flow.
    start : sequence of float
        Their windows at the first event, packets.
    capacity : float
        Sum of the windows at which a packet is lost.
    events : int
        How many events are followed.
    fast_convergence : bool
        Whether a flow whose window at an event is below that at the one before takes the middle of
        its window and what is left of it for its maximum (Xu, Harfoush, Rhee, INFOCOM 2004, section
        VI-A).
    generator : numpy.random.Generator, optional
        Chooses the flow that loses, in proportion to the windows; without one all lose together.

    Returns
    -------
    Losses
        Times and windows of the events, the first at time 0.

    Examples
    --------
    Two flows of Reno halve their distance at each event:

    >>> from ackclock.models.laws import aimd
    >>> losses(aimd(1, 0.5), [75, 25], 100, 3).window.round(1).tolist()
    [[75.0, 25.0], [62.5, 37.5], [56.2, 43.8]]
    """
    window = np.array(start, float)
    top = window.copy()
    now, times, found = 0.0, [], []
    for _ in range(events):
        times.append(now)
        found.append(window.copy())
        if generator is None:
            lost = np.ones(len(window), bool)
        else:
            chosen = generator.choice(len(window), p=window / window.sum())
            lost = np.arange(len(window)) == chosen
        cut = np.array([law.cut(float(one)) for one in window])
        shrinks = fast_convergence & (window < top)
        top = np.where(lost, np.where(shrinks, window * (1 - cut / 2), window), top)
        window = np.where(lost, window * (1 - cut), window)
        while True:
            growth = np.broadcast_to(law.increase(window, top), window.shape)
            # The last round trip is cut where the capacity is reached.
            share = min(1.0, (capacity - window.sum()) / growth.sum())
            window, now = window + share * growth, now + share
            if share < 1:
                break
    return Losses(np.array(times), np.array(found))


def round_trips_until_fair(found: Losses, within: float, span: int = 1) -> float:
    """Say when two flows have about equal windows.

    Parameters
    ----------
    found : Losses
        Of two flows.
    within : float
        Largest difference, as a share of the mean window.
    span : int
        Events over which windows are averaged.

    Returns
    -------
    float
        Round trips until the mean windows of `span` events are first so near; infinite if they
        never are.
    """
    mean: ArrayLike = np.array([np.convolve(one, np.ones(span) / span, "valid") for one in found.window.T])
    first, second = np.asarray(mean)
    near = np.abs(first - second) <= within * (first + second) / 2
    return float(found.round_trips[span - 1 :][np.argmax(near)]) if near.any() else float("inf")
