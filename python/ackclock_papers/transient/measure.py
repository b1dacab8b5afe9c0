"""What is measured of a run: it is counted in round trips, as the study does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from ackclock import metrics
from ackclock.engine import FlowSummary, Run
from ackclock.metrics import Estimate, Series
from ackclock.reproduction.artefact import Probe
from ackclock.reproduction.numbers import Key, Numbers, Row
from ackclock_papers.transient.setting import (
    CHANGE_S,
    LINK_PACKETS_PER_S,
    MEAN_OF_RUN,
    MEASURED_FROM_S,
    PACKET_BYTES,
    RTT_S,
    STUDIED,
)


@dataclass(frozen=True)
class Rounds:
    """A run, counted in round trips.

    Attributes
    ----------
    width_s : float
        A round trip: the mean of the run, seconds.
    sent : ndarray
        Packets sent by each flow, shape (round trips, flows).
    queue : ndarray
        The bottleneck's mean queue, packets, shape (round trips,).
    first : int
        The first round trip that is measured.
    change : int
        The round trip that begins at the change.
    """

    width_s: float
    sent: Series
    queue: Series
    first: int
    change: int


def _studied(run: Run) -> list[FlowSummary]:
    """Leave out the flows of datagrams, which have no round trip."""
    return [flow for flow in run.summary["flows"] if flow["controller"] in STUDIED]


def rounds(run: Run) -> Rounds:
    """Count a run in round trips, one of which begins at the change.

    Parameters
    ----------
    run : Run
        A run with the traces of its windows and its bottleneck's queue.

    Returns
    -------
    Rounds
        Its flows of the study's protocols, in their order.
    """
    flows = _studied(run)
    width_s = float(np.mean([flow["mean_rtt_ms"] or 1e3 * RTT_S for flow in flows])) / 1e3
    sample_s = float(run.queues["time_s"][0])
    # Without a queue a round trip is a sample, exactly.
    width_s = sample_s * max(1, round(width_s / sample_s))
    change = int(CHANGE_S / width_s)
    start_s = CHANGE_S - change * width_s
    end_s = run.summary["duration_s"]
    samples = [run.windows.filter(pl.col("flow") == flow["id"]) for flow in flows]
    packets = np.stack([one["sent_bytes"].to_numpy() for one in samples], axis=1) / PACKET_BYTES
    time = samples[0]["time_s"].to_numpy()
    _, per_s = metrics.over_intervals(time, packets, width_s, start_s, end_s)
    waiting = run.queues.filter(pl.col("link") == 0)
    _, queued = metrics.over_intervals(
        waiting["time_s"].to_numpy(), waiting["mean_packets"].to_numpy() * sample_s, width_s, start_s, end_s
    )
    first = int(np.ceil((MEASURED_FROM_S - start_s) / width_s))
    return Rounds(width_s, per_s * width_s, queued, first, change)


def trace(run: Run, first: int, last: int) -> pl.DataFrame:
    """Select what the pictures show of a run.

    Parameters
    ----------
    run : Run
        A recorded run.
    first, last : int
        Round trips, both included; the change is at 1000.

    Returns
    -------
    polars.DataFrame
        Columns round_trip, rate of the first flow (packets per round trip), window, queue and
        fairness: Jain's index of the flows that have started and not stopped.
    """
    counted = rounds(run)
    since: Series = np.arange(len(counted.sent), dtype=np.float64) - counted.change
    begins_s, ends_s = (CHANGE_S + counted.width_s * one for one in (since, since + 1))
    own = run.windows.filter((pl.col("flow") == 0) & pl.col("window").is_not_null())
    window = np.full(len(since), np.nan)
    if own.height:
        window = np.interp(ends_s, own["time_s"].to_numpy(), own["window"].to_numpy())
    sending = _how_many(run, "start", ends_s) - _how_many(run, "stop", begins_s)
    # Those that do not send would count as having got nothing.
    with np.errstate(divide="ignore", invalid="ignore"):
        fairness = metrics.jain(counted.sent, axis=1) * counted.sent.shape[1] / sending
    frame = pl.DataFrame(
        {
            "round_trip": (1000 + since).astype(int),
            "rate": counted.sent[:, 0],
            "window": window,
            "queue": counted.queue,
            "fairness": fairness,
        }
    )
    return frame.filter(pl.col("round_trip").is_between(first, last)).fill_nan(None)


def _how_many(run: Run, kind: str, until_s: Series) -> Series:
    """Count the flows that have started or stopped until then."""
    ids = [flow["id"] for flow in _studied(run)]
    those = run.events.filter((pl.col("kind") == kind) & pl.col("flow").is_in(ids))
    return np.asarray(those["time_s"].to_numpy().searchsorted(until_s, side="right"), float)


class Steadiness(NamedTuple):
    """Numbers of a run whose conditions do not change, after the first 50 s.

    Attributes
    ----------
    rate : float
        Mean rate of the first flow, packets per round trip.
    cov, mean_cov : float
        CoV over time of the first flow's rate, and the mean of all flows'.
    fairness, fairness_std : float
        Jain's index of all flows in a round trip: mean and standard deviation.
    queue, queue_std, queue_low : float
        Queue, packets: mean, standard deviation and fifth percentile.
    queue_empty : float
        Share of round trips with at most 2 packets.
    queue_period : float
        Cycle of the queue, round trips; NaN with fewer than two.
    largest_window : float
        The first flow's largest window, packets; NaN if it has none.
    steady : float
        Share of round trips in which the first flow sends at 0.9 of the link's rate or more.
    """

    rate: float
    cov: float
    mean_cov: float
    fairness: float
    fairness_std: float
    queue: float
    queue_std: float
    queue_low: float
    queue_empty: float
    queue_period: float
    largest_window: float
    steady: float


def steadiness(run: Run) -> Row:
    """Measure the first flow's smoothness, all flows' fairness, and the queue.

    Parameters
    ----------
    run : Run
        A recorded run.

    Returns
    -------
    mapping
        `Steadiness`, by name.
    """
    counted = rounds(run)
    sent, waiting = counted.sent[counted.first :], counted.queue[counted.first :]
    each = metrics.cov(sent, axis=0)
    fair = metrics.jain(sent, axis=1)
    windows = run.windows.filter((pl.col("flow") == 0) & (pl.col("time_s") > MEASURED_FROM_S))
    window = windows["window"].drop_nulls().to_numpy()
    return Steadiness(
        rate=float(sent[:, 0].mean()),
        cov=float(each[0]),
        mean_cov=float(each.mean()),
        fairness=float(np.nanmean(fair)),
        fairness_std=float(np.nanstd(fair)),
        queue=float(waiting.mean()),
        queue_std=float(waiting.std()),
        queue_low=float(np.percentile(waiting, 5)),
        queue_empty=float((waiting <= 2).mean()),
        queue_period=_period(waiting),
        largest_window=float(window.max()) if window.size else float("nan"),
        steady=float((sent[:, 0] >= 0.9 * LINK_PACKETS_PER_S * counted.width_s).mean()),
    )._asdict()


STEADINESS = Probe(Steadiness._fields, steadiness)


def _period(values: Series) -> float:
    """Mean distance of upward crossings of the mean, smoothed over ten round trips."""
    smooth = np.convolve(values, np.ones(10) / 10, mode="valid")
    above = smooth > smooth.mean()
    rises = np.flatnonzero(~above[:-1] & above[1:])
    return float(np.diff(rises).mean()) if rises.size > 2 else float("nan")


class Response(NamedTuple):
    """Numbers of a rate around a change, with the mean over flows unless said otherwise.

    Attributes
    ----------
    before, after : float
        Rate in the last half of the time before the change and in the last half of the time
        after it, packets per round trip.
    half_way : float
        Round trips until the rate, smoothed over 5 round trips, has made half of the change;
        infinite if it never has.
    quarter_at_20 : float
        Share of the change that is made after 20 round trips.
    lowest : float
        Lowest mean over 5 of the next 60 round trips, packets per round trip.
    lowest_share : float
        Lowest rate of each flow in the next 40 round trips, the mean of them over `after`.
    zero_share : float
        Share of flows of which one of these 40 round trips has at most one packet.
    end_share : float
        `after` over `before`.
    """

    before: float
    after: float
    half_way: float
    quarter_at_20: float
    lowest: float
    lowest_share: float
    zero_share: float
    end_share: float


def until(reached: npt.NDArray[np.bool_]) -> float:
    """Count the round trips before something is reached.

    Parameters
    ----------
    reached : ndarray
        Whether it is, by round trip.

    Returns
    -------
    float
        Infinite if it never is.
    """
    return float(np.argmax(reached)) if reached.any() else float("inf")


def in_round_trips(case: Key, key: Key) -> Callable[[Numbers], Estimate]:
    """Name a time for a claim, counted as the study's axes of time are read to do.

    Parameters
    ----------
    case, key : hashable
        As in `Numbers.of`: a number in seconds, of a case that has ``round_trip_s``, too.

    Returns
    -------
    callable
        From numbers to the estimate, in round trips: of 100 ms each, or the mean of the run.
    """
    return lambda numbers: metrics.over_runs(each_in_round_trips(numbers, case, key), least=0.0)


def each_in_round_trips(numbers: Numbers, case: Key, key: Key) -> Series:
    """Count a time of every run as `in_round_trips` does.

    Parameters
    ----------
    numbers : Numbers
        What was measured.
    case, key : hashable
        As in `in_round_trips`.

    Returns
    -------
    ndarray
        Round trips, by run.
    """
    mean = numbers.setting["axis"] == MEAN_OF_RUN
    unit_s = np.array(numbers.each(case, "round_trip_s")) if mean else RTT_S
    return np.asarray(np.array(numbers.each(case, key)) / unit_s, float)


def extreme(pick: Callable[..., Estimate], cases: Sequence[Key], key: Key) -> Callable[[Numbers], Estimate]:
    """Name the least or the largest number of several cases for a claim.

    Parameters
    ----------
    pick : callable
        `min` or `max`.
    cases : sequence of hashable
        Cases that have the number.
    key : hashable
        As in `Numbers.of`.

    Returns
    -------
    callable
        From numbers to the estimate.
    """
    return lambda numbers: pick((numbers.of(case, key) for case in cases), key=lambda one: one.value)


def mean_fairness(sent: Series) -> float:
    """Average Jain's index over round trips.

    Parameters
    ----------
    sent : ndarray
        Packets per round trip, shape (round trips, flows).

    Returns
    -------
    float
        Without the round trips in which nothing is sent.
    """
    return float(np.nanmean(metrics.jain(sent, axis=1)))


def response_of(sent: Series, change: int) -> Response:
    """Measure a response from rates.

    Parameters
    ----------
    sent : ndarray
        Packets per round trip, shape (round trips, flows).
    change : int
        The round trip that begins at the change.

    Returns
    -------
    Response
        Its numbers.
    """
    total = sent.mean(axis=1)
    before = float(total[change // 2 : change].mean())
    after = float(total[(change + len(total)) // 2 :].mean())
    smooth = np.convolve(total, np.ones(5) / 5, mode="full")[: len(total)]
    progress = (smooth[change:] - before) / (after - before)
    soon = sent[change : change + 40].min(axis=0)
    return Response(
        before=before,
        after=after,
        half_way=until(progress >= 0.5) + 1,
        quarter_at_20=float(progress[20]),
        lowest=float(np.convolve(total[change : change + 60], np.ones(5) / 5, "valid").min()),
        lowest_share=float(soon.mean() / after) if after > 0 else float("nan"),
        zero_share=float((soon <= 1).mean()),
        end_share=after / before,
    )
