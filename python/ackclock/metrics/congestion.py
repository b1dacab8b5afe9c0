"""Congestion epochs: their length, the shape of the window within them, synchronised losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ackclock.metrics.series import FloatArray, cumulative, integral, length_s, smooth, time_mean


@dataclass(frozen=True)
class Epoch:
    """The time between two consecutive congestion events."""

    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        """The length in seconds."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Curvature:
    """The curvature of a window within an epoch.

    Attributes
    ----------
    concave, straight, convex : float
        Shares of the epoch; they add up to 1.
    concave_at, convex_at : float
        Mean position, from 0 at the epoch's start to 1 at its end; NaN if there is no such
        part.
    bend : float
        Slope of the last third minus that of the first, as a share of the steeper of the two:
        0 for a straight line, -1 for a curve that ends level, 1 for one that begins level.
    """

    concave: float
    straight: float
    convex: float
    concave_at: float
    convex_at: float
    bend: float


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
        Epoch(float(start), float(end)) for start, end in zip(starts, ends, strict=True) if start >= from_s
    ]


def round_trips(time_s: ArrayLike, rtt_s: ArrayLike, epoch: Epoch) -> float:
    """Count the round trips of an epoch: the integral of 1/RTT.

    Parameters
    ----------
    time_s, rtt_s : array_like
        Samples of the round-trip time, seconds.
    epoch : Epoch
        The epoch to measure.

    Returns
    -------
    float
        Number of round trips.
    """
    rtts = np.asarray(rtt_s, dtype=float)
    # No round trip takes no time.
    known = np.where(rtts > 0, rtts, np.nan)
    return integral(time_s, 1.0 / known, epoch.start_s, epoch.end_s)


def used_share(
    time_s: ArrayLike, window: ArrayLike, bandwidth_delay_product: float, start_s: float, end_s: float
) -> float:
    """Average over time the share of the bandwidth-delay product that the window fills.

    Packets beyond the product wait in the queue and increase no throughput, so the share is at most 1.

    Parameters
    ----------
    time_s, window : array_like
        Samples of the window, packets.
    bandwidth_delay_product : float
        Bandwidth-delay product, packets.
    start_s, end_s : float
        Limits of the time, seconds.

    Returns
    -------
    float
        A share between 0 and 1.
    """
    share = np.minimum(np.asarray(window, dtype=float) / bandwidth_delay_product, 1.0)
    return time_mean(time_s, share, start_s, end_s)


def curvature(
    time_s: ArrayLike,
    window: ArrayLike,
    rtt_s: ArrayLike,
    epoch: Epoch,
    *,
    skip_round_trips: float,
    span_round_trips: float,
    tolerance: float,
    whole_tolerance: float,
    opposite: float,
    least: float = 0.0,
) -> Curvature:
    """Measure where a window curve is concave, straight and convex within an epoch.

    The clock is the round trip, because an increase is so many packets per round trip: in seconds a queue
    that grows would bend every curve down. The window is smoothed by a moving average over
    `span_round_trips` and compared with itself one span before and after; the sign of the second difference
    decides. It counts as straight when the slope changes from one span to the next by no more than
    `tolerance` times the steeper of the two, or the window departs by no more than `least` from a straight
    line.

    A curve that bends little in every span may bend much in an epoch. So lines through the first and the last
    third of the epoch are compared, too: if their slopes differ by more than `whole_tolerance` times
    the steeper, and a share of at most `opposite` bends the other way, then the epoch is concave or convex
    as a whole, and its straight parts are parts of that curve.

    Parameters
    ----------
    time_s, window, rtt_s : array_like
        Samples of the window, packets, and of the round-trip time, seconds.
    epoch : Epoch
        The epoch to measure.
    skip_round_trips : float
        Time to leave out at its beginning: recovery from the loss.
    span_round_trips : float
        Width of the moving average and spacing of the differences.
    tolerance : float
        Change of slope that still counts as straight, as a share of the steeper slope.
    whole_tolerance : float
        Change of slope from the first to the last third with which an epoch still is straight as a whole.
    opposite : float
        Largest share that may bend the other way in an epoch that is concave or convex as a whole.
    least : float
        Second difference that still counts as straight, packets.

    Returns
    -------
    Curvature
        Shares of the epoch. All are NaN if it is shorter than five spans.
    """
    unknown = Curvature(*[float("nan")] * 6)
    # A sample at the end may have been cut already.
    inside = np.asarray(time_s, float) < epoch.end_s
    time, windows, rtts = (np.asarray(values, float)[inside] for values in (time_s, window, rtt_s))
    if time.size < 2:
        return unknown
    # No round trip takes no time.
    clock = cumulative(time, 1 / np.where(rtts > 0, rtts, np.nan))
    start, stop = float(np.interp(epoch.start_s, time, clock)), float(clock[-1])
    span, first = span_round_trips, start + skip_round_trips
    begin, end = first + span / 2, stop - span / 2
    if not end - begin >= 4 * span:
        return unknown
    # Quarter steps, so that the shares do not depend on the position of the grid.
    grid = np.arange(begin, end, span / 4)
    level = smooth(clock, windows, grid, span)
    if np.isnan(level).any():
        return unknown
    before, here, after, centres = level[:-8], level[4:-4], level[8:], grid[4:-4]
    second = after - 2 * here + before
    steepest = np.maximum(np.abs(after - here), np.abs(here - before))
    limit = np.maximum(tolerance * steepest, least)
    concave, convex = second < -limit, second > limit
    third = len(grid) // 3
    early, late = (
        float(np.polyfit(grid[part], level[part], 1)[0]) for part in (np.s_[:third], np.s_[-third:])
    )
    bend = (late - early) / (max(abs(early), abs(late)) or 1.0)
    if bend < -whole_tolerance and convex.mean() <= opposite:
        concave = ~convex
    elif bend > whole_tolerance and concave.mean() <= opposite:
        convex = ~concave
    position = (centres - start) / (stop - start)
    return Curvature(
        concave=float(concave.mean()),
        straight=float((~concave & ~convex).mean()),
        convex=float(convex.mean()),
        concave_at=float(position[concave].mean()) if concave.any() else float("nan"),
        convex_at=float(position[convex].mean()) if convex.any() else float("nan"),
        bend=bend,
    )


def congestion_events(
    time_s: ArrayLike, flow: ArrayLike, merge_within_s: float
) -> list[tuple[float, frozenset[int]]]:
    """Gather the loss events of several flows into the congestion events of their link.

    Parameters
    ----------
    time_s, flow : array_like
        Time and flow of each loss event or timeout, in order of time.
    merge_within_s : float
        A loss event belongs to a congestion event that began no longer ago than this; a round
        trip or two.

    Returns
    -------
    list of (float, frozenset of int)
        The time of each congestion event, and the flows that lost packets.

    Examples
    --------
    >>> congestion_events([1.0, 1.05, 7.0], [0, 1, 1], 0.2)
    [(1.0, frozenset({0, 1})), (7.0, frozenset({1}))]
    """
    events: list[tuple[float, set[int]]] = []
    for time, loser in zip(np.asarray(time_s, float), np.asarray(flow, int), strict=True):
        if np.isnan(time):
            # A loss at an unknown time is part of no event.
            continue
        if not events or time - events[-1][0] > merge_within_s:
            events.append((float(time), set()))
        events[-1][1].add(int(loser))
    return [(time, frozenset(flows)) for time, flows in events]


def losing_flows(
    time_s: ArrayLike, flow: ArrayLike, epoch_s: float, start_s: float, end_s: float
) -> NDArray[np.int64]:
    """Count the flows that lose a packet in each of equally long epochs.

    Parameters
    ----------
    time_s, flow : array_like
        Time and flow of each loss event.
    epoch_s : float
        Length of an epoch, seconds.
    start_s, end_s : float
        Limits of the time, seconds; an epoch that ends later does not count.

    Returns
    -------
    ndarray
        Flows per epoch; epochs without a loss are left out (Xu, Harfoush, Rhee, INFOCOM 2004,
        figure 2).
    """
    count = int(np.floor(length_s(start_s, end_s) / epoch_s * (1 + 1e-12)))
    index = np.floor((np.asarray(time_s, float) - start_s) / epoch_s)
    # A comparison with NaN is false: a loss at an unknown time is in no epoch.
    inside = (index >= 0) & (index < count)
    pairs = np.unique(np.stack((index[inside].astype(int), np.asarray(flow, int)[inside])), axis=1)
    counts = np.bincount(pairs[0], minlength=count)
    return np.asarray(counts[counts > 0], np.int64)


def synchronisation(losing: ArrayLike, at_least: ArrayLike) -> FloatArray:
    """Return the share of congestion events in which at least a number of flows lose packets.

    Parameters
    ----------
    losing : array_like
        Number of losing flows per event or epoch.
    at_least : array_like
        Thresholds, numbers of flows.

    Returns
    -------
    ndarray
        Shares, of the shape of `at_least`; NaN if there was no event.

    Examples
    --------
    >>> synchronisation([1, 4, 4, 2], [1, 2, 3]).tolist()
    [1.0, 0.75, 0.5]
    """
    flows = np.asarray(losing, float)
    least = np.asarray(at_least)
    if flows.size == 0 or np.isnan(flows).any():
        return np.full(least.shape, np.nan)
    return np.asarray((flows >= least[..., None]).mean(axis=-1), float)
