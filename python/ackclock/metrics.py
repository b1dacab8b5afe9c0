"""Questions about a finished run: pure functions of columns of its trace.

Times are in seconds, windows in packets. A column is sampled at increasing times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Series = NDArray[np.float64]


@dataclass(frozen=True)
class Epoch:
    """The time between two consecutive congestion events."""

    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        """Its length in seconds."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Curvature:
    """How a window curve bends within an epoch.

    Attributes
    ----------
    concave, straight, convex : float
        Shares of the epoch; they add up to 1.
    concave_at, convex_at : float
        Mean position, from 0 at the epoch's start to 1 at its end; NaN when there is none.
    """

    concave: float
    straight: float
    convex: float
    concave_at: float
    convex_at: float


def epochs(event_times_s: ArrayLike, merge_within_s: float, from_s: float = 0.0) -> list[Epoch]:
    """Cut a flow's time at its loss events and timeouts.

    Parameters
    ----------
    event_times_s : array_like
        Times of loss events and timeouts, increasing.
    merge_within_s : float
        An event that follows another this closely belongs to the same congestion event.
    from_s : float
        Epochs that start earlier are left out. The time before the first event, slow start, is
        never an epoch.

    Returns
    -------
    list of Epoch
        In order of time. An epoch starts at the last event of its congestion event and ends at
        the first of the next.
    """
    times = np.asarray(event_times_s, dtype=float)
    gaps = np.diff(times) > merge_within_s
    starts, ends = times[:-1][gaps], times[1:][gaps]
    return [
        Epoch(float(start), float(end))
        for start, end in zip(starts, ends, strict=True)
        if start >= from_s
    ]


def integral(time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float) -> float:
    """Integrate a sampled value, linear between its samples.

    Parameters
    ----------
    time_s, value : array_like
        Samples.
    start_s, end_s : float
        Limits, seconds.

    Returns
    -------
    float
        In units of the value times seconds.
    """
    time = np.asarray(time_s, dtype=float)
    inside = time[(time > start_s) & (time < end_s)]
    grid = np.concatenate(([start_s], inside, [end_s]))
    return float(np.trapezoid(np.interp(grid, time, np.asarray(value, dtype=float)), grid))


def time_mean(time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float) -> float:
    """Average a sampled value over time.

    Parameters
    ----------
    time_s, value : array_like
        Samples.
    start_s, end_s : float
        Limits, seconds.

    Returns
    -------
    float
        In units of the value.
    """
    return integral(time_s, value, start_s, end_s) / (end_s - start_s)


def round_trips(time_s: ArrayLike, rtt_s: ArrayLike, epoch: Epoch) -> float:
    """Count the round trips of an epoch: the integral of 1/RTT.

    Parameters
    ----------
    time_s, rtt_s : array_like
        Samples of the round-trip time, seconds.
    epoch : Epoch
        The epoch.

    Returns
    -------
    float
        Number of round trips.
    """
    return integral(time_s, 1.0 / np.asarray(rtt_s, dtype=float), epoch.start_s, epoch.end_s)


def used_share(
    time_s: ArrayLike,
    window: ArrayLike,
    bandwidth_delay_product: float,
    start_s: float,
    end_s: float,
) -> float:
    """Average over time the share of the bandwidth-delay product that the window fills.

    What a window has beyond the product waits in the queue and moves nothing, so it counts as 1.

    Parameters
    ----------
    time_s, window : array_like
        Samples of the window, packets.
    bandwidth_delay_product : float
        Packets.
    start_s, end_s : float
        Limits, seconds.

    Returns
    -------
    float
        Between 0 and 1.
    """
    share = np.minimum(np.asarray(window, dtype=float) / bandwidth_delay_product, 1.0)
    return time_mean(time_s, share, start_s, end_s)


def goodput(time_s: ArrayLike, delivered_bytes: ArrayLike, start_s: float, end_s: float) -> float:
    """Rate of what reached the application.

    Parameters
    ----------
    time_s : array_like
        Ends of the sampling intervals.
    delivered_bytes : array_like
        Bytes delivered in each.
    start_s, end_s : float
        Intervals that end in (start, end] count.

    Returns
    -------
    float
        Mbit/s.
    """
    time = np.asarray(time_s, dtype=float)
    inside = (time > start_s) & (time <= end_s)
    return float(np.asarray(delivered_bytes, dtype=float)[inside].sum() * 8e-6 / (end_s - start_s))


def cumulative(time_s: ArrayLike, value: ArrayLike) -> Series:
    """Integrate a sampled value from the first sample on, linear between samples.

    Parameters
    ----------
    time_s, value : array_like
        Samples.

    Returns
    -------
    ndarray
        The integral up to each sample, in units of the value times seconds.
    """
    samples = np.asarray(value, dtype=float)
    steps = np.diff(np.asarray(time_s, dtype=float)) * (samples[1:] + samples[:-1]) / 2
    return np.concatenate(([0.0], np.cumsum(steps)))


def smooth(time_s: ArrayLike, value: ArrayLike, at_s: ArrayLike, span_s: float) -> Series:
    """Average a sampled value over `span_s`, centred at given times.

    Parameters
    ----------
    time_s, value : array_like
        Samples.
    at_s : array_like
        Where the average is wanted.
    span_s : float
        Width of the average, seconds.

    Returns
    -------
    ndarray
        In units of the value.
    """
    time, samples = np.asarray(time_s, dtype=float), np.asarray(value, dtype=float)
    total = cumulative(time, samples)
    centre = np.asarray(at_s, dtype=float)

    # The integral of a linear piece is a parabola: interpolate it from both of its ends.
    def area(at: Series) -> Series:
        index = np.clip(np.searchsorted(time, at, side="right") - 1, 0, len(time) - 2)
        past = at - time[index]
        slope = (samples[index + 1] - samples[index]) / (time[index + 1] - time[index])
        value: Series = total[index] + past * (samples[index] + slope * past / 2)
        return value

    averaged: Series = (area(centre + span_s / 2) - area(centre - span_s / 2)) / span_s
    return averaged


def curvature(
    time_s: ArrayLike,
    window: ArrayLike,
    epoch: Epoch,
    *,
    skip_s: float,
    span_s: float,
    tolerance: float,
    least: float = 0.0,
) -> Curvature:
    """Measure where a window curve is concave, straight and convex within an epoch.

    The window is smoothed by a moving average over `span_s` and compared with itself one span
    before and after; the sign of the second difference decides. It counts as
    straight when the slope changes from one span to the next by no more than `tolerance` times
    the steeper of the two, or the window departs by no more than `least` from a straight line.

    Parameters
    ----------
    time_s, window : array_like
        Samples of the window, packets.
    epoch : Epoch
        The epoch.
    skip_s : float
        So much of its beginning is left out, seconds: recovery from the loss.
    span_s : float
        Width of the moving average and spacing of the differences, seconds.
    tolerance : float
        Change of slope that still counts as straight, as a share of the steeper slope.
    least : float
        Second difference that still counts as straight, packets.

    Returns
    -------
    Curvature
        Shares of the epoch. All NaN when it is shorter than five spans.
    """
    begin, end = epoch.start_s + skip_s + span_s / 2, epoch.end_s - span_s / 2
    if end - begin < 4 * span_s:
        return Curvature(*[float("nan")] * 5)
    # Quarter steps, so that the shares do not depend on where the grid falls.
    centres = np.arange(begin + span_s, end - span_s, span_s / 4)
    before, here, after = (
        smooth(time_s, window, centres + shift, span_s) for shift in (-span_s, 0.0, span_s)
    )
    second = after - 2 * here + before
    steepest = np.maximum(np.abs(after - here), np.abs(here - before))
    limit = np.maximum(tolerance * steepest, least)
    position = (centres - epoch.start_s) / epoch.length_s
    concave, convex = second < -limit, second > limit
    return Curvature(
        concave=float(concave.mean()),
        straight=float((~concave & ~convex).mean()),
        convex=float(convex.mean()),
        concave_at=float(position[concave].mean()) if concave.any() else float("nan"),
        convex_at=float(position[convex].mean()) if convex.any() else float("nan"),
    )
