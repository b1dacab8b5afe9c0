"""Responsiveness and aggressiveness of a measured rate: D, R and I.

The study of TCP, GAIMD, TFRC and TEAR, section 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def halving_round_trips(
    time_s: ArrayLike, rate: ArrayLike, from_s: float, rtt_s: float, before: float
) -> float:
    """Return D: round trips until a rate has halved.

    Parameters
    ----------
    time_s, rate : array_like
        Times and values of the rate.
    from_s : float
        Start of the congestion, with one loss indication per round trip.
    rtt_s : float
        Round-trip time, seconds.
    before : float
        The rate before the congestion.

    Returns
    -------
    float
        Round trips until the first sample of at most half of `before`; infinite if there is
        none.
    """
    time = np.asarray(time_s, float)
    halved = (time > from_s) & (np.asarray(rate, float) <= before / 2)
    return float(time[np.argmax(halved)] - from_s) / rtt_s if halved.any() else float("inf")


def settling_round_trips(
    time_s: ArrayLike,
    rate: ArrayLike,
    from_s: float,
    rtt_s: float,
    *,
    before: float,
    after: float,
    within: float = 0.05,
) -> float:
    """Return R: round trips until a rate stays near its new value.

    Parameters
    ----------
    time_s, rate : array_like
        Times and values of the rate, smooth enough to stay there: over a cycle, or a mean over
        runs.
    from_s : float
        Time when the conditions change, seconds.
    rtt_s : float
        Round-trip time, seconds.
    before, after : float
        The rate before the change and in the end, T_0 and T_inf.
    within : float
        Largest |T - T_inf| over |T_0 - T_inf|.

    Returns
    -------
    float
        Round trips (equation 10); infinite if the last sample is not near.
    """
    time, values = np.asarray(time_s, float), np.asarray(rate, float)
    later = time > from_s
    if not later.any() or np.isnan(values[later]).any():
        return float("nan")
    far = np.flatnonzero(np.abs(values[later] - after) > within * abs(before - after))
    if far.size == 0:
        return 0.0
    if far[-1] == later.sum() - 1:
        return float("inf")
    return float(time[later][far[-1] + 1] - from_s) / rtt_s


def increase_per_round_trip(
    time_s: ArrayLike, window: ArrayLike, start_s: float, end_s: float, rtt_s: float
) -> float:
    """Return I: how much a rate grows per round trip without loss.

    Parameters
    ----------
    time_s, window : array_like
        Samples of the rate in packets per round trip.
    start_s, end_s : float
        Limits of a time without loss, seconds.
    rtt_s : float
        Round-trip time, seconds.

    Returns
    -------
    float
        Packets per round trip, by least squares.
    """
    time = np.asarray(time_s, float)
    inside = (time >= start_s) & (time <= end_s)
    known = np.asarray(window, float)[inside]
    if np.unique(time[inside]).size < 2 or np.isnan(known).any():
        # Two different points make a line.
        return float("nan")
    slope = np.polyfit(time[inside], known, 1)[0]
    return float(slope) * rtt_s
