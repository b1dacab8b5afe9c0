"""Measurements of a run, counted in round trips as in the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from ackclock import metrics
from ackclock.engine import FlowSummary, Run
from ackclock.metrics import Estimate, FloatArray
from ackclock.reproduction.claims.artefact import Probe
from ackclock.reproduction.claims.numbers import Numbers, Row
from ackclock_papers.transient.setting import (
    CHANGE_S,
    DATAGRAMS,
    LINK_PACKETS_PER_S,
    MEAN_OF_RUN,
    MEASURED_FROM_S,
    PACKET_BYTES,
    RTT_S,
)


@dataclass(frozen=True)
class Rounds:
    """A run, counted in round trips."""

    width_s: float
    """Length of a round trip: the mean of the run."""
    sent: FloatArray
    """Packets sent by each flow, shape (round trips, flows)."""
    queue: FloatArray
    """Mean queue of the bottleneck, packets, by round trip."""
    first: int
    """First round trip that is measured."""
    change: int
    """Round trip that begins at the change."""


def _studied(run: Run) -> list[FlowSummary]:
    """Leave out the flows of datagrams, which have no round trip."""
    return [flow for flow in run.summary["flows"] if flow["controller"] not in DATAGRAMS]


def rounds(run: Run, width_s: float | None = None) -> Rounds:
    """Count a run in round trips, so that a round trip begins at the change.

    Only the flows of the study's protocols count, in their order; the run must have the traces of its
    windows and of the bottleneck's queue. `width_s` is the length of a round trip if it is not the mean
    of the run.
    """
    flows = _studied(run)
    if width_s is None:
        width_s = float(np.mean([flow["mean_rtt_ms"] or 1e3 * RTT_S for flow in flows])) / 1e3
    sample_s = float(run.queues["time_s"][0])
    # Without a queue a round trip is exactly one sample.
    width_s = sample_s * max(1, round(width_s / sample_s))
    change = int(CHANGE_S / width_s)
    start_s = CHANGE_S - change * width_s
    end_s = run.summary["duration_s"]
    samples = [run.windows_of(flow["id"]) for flow in flows]
    packets = np.stack([frame["sent_bytes"].to_numpy() for frame in samples], axis=1) / PACKET_BYTES
    time = samples[0]["time_s"].to_numpy()
    _, per_s = metrics.over_intervals(time, packets, width_s, start_s, end_s)
    waiting = run.queues_of(0)
    _, queued = metrics.over_intervals(
        waiting["time_s"].to_numpy(), waiting["mean_packets"].to_numpy() * sample_s, width_s, start_s, end_s
    )
    first = int(np.ceil((MEASURED_FROM_S - start_s) / width_s))
    return Rounds(width_s, per_s * width_s, queued, first, change)


def trace(run: Run, first: int, last: int) -> pl.DataFrame:
    """Return the round trips of a run that the pictures show, both ends included.

    The change is at 1000. Columns: round_trip, window, queue, the rate of the first flow (packets per
    round trip), and fairness: Jain's index of the flows that have started and not stopped.
    """
    counted = rounds(run)
    since: FloatArray = np.arange(len(counted.sent), dtype=np.float64) - counted.change
    begins_s, ends_s = (CHANGE_S + counted.width_s * index for index in (since, since + 1))
    own = run.windows_of(0).filter(pl.col("window").is_not_null())
    window = np.full(len(since), np.nan)
    if own.height:
        window = np.interp(ends_s, own["time_s"].to_numpy(), own["window"].to_numpy())
    sending = _count_until(run, "start", ends_s) - _count_until(run, "stop", begins_s)
    # Flows that do not send must not count as flows that get nothing.
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


def _count_until(run: Run, kind: str, until_s: FloatArray) -> FloatArray:
    """Count the flows that have started or stopped (`kind`) until each of some times."""
    ids = [flow["id"] for flow in _studied(run)]
    events = run.events.filter((pl.col("kind") == kind) & pl.col("flow").is_in(ids))
    return np.asarray(events["time_s"].to_numpy().searchsorted(until_s, side="right"), float)


class Steadiness(NamedTuple):
    """Numbers of a run whose conditions do not change, after the first 50 s."""

    # Of the first flow: packets per round trip, and its CoV over time.
    rate: float
    cov: float
    # Mean CoV over time of all flows.
    mean_cov: float
    # Jain's index of all flows in a round trip: mean and standard deviation.
    fairness: float
    fairness_std: float
    # Queue, packets: mean, standard deviation and fifth percentile.
    queue: float
    queue_std: float
    queue_low: float
    # Share of round trips with a queue of at most 2 packets.
    queue_empty: float
    # Cycle of the queue, round trips; NaN with fewer than two cycles.
    queue_period: float
    # Largest window of the first flow, packets; NaN if it has no window.
    largest_window: float
    # Share of round trips in which the first flow sends at 0.9 of the link's rate or more.
    steady: float


RECOUNTED = {name: f"{name}_100_ms" for name in ("cov", "fairness", "fairness_std", "steady")}
"""Numbers that are also counted per 100 ms, as all claims had them at first."""


def steadiness(run: Run) -> Row:
    """Measure `Steadiness`, and the numbers of `RECOUNTED`."""
    before = _steadiness(run, rounds(run, RTT_S))._asdict()
    return _steadiness(run, rounds(run))._asdict() | {key: before[name] for name, key in RECOUNTED.items()}


def _steadiness(run: Run, counted: Rounds) -> Steadiness:
    """Measure smoothness of the first flow, fairness of all flows, and the queue."""
    sent, waiting = counted.sent[counted.first :], counted.queue[counted.first :]
    covs = metrics.cov(sent, axis=0)
    fairness = metrics.jain(sent, axis=1)
    windows = run.windows_of(0).filter(pl.col("time_s") > MEASURED_FROM_S)
    window = windows["window"].drop_nulls().to_numpy()
    return Steadiness(
        rate=float(sent[:, 0].mean()),
        cov=float(covs[0]),
        mean_cov=float(covs.mean()),
        fairness=float(np.nanmean(fairness)),
        fairness_std=float(np.nanstd(fairness)),
        queue=float(waiting.mean()),
        queue_std=float(waiting.std()),
        queue_low=float(np.percentile(waiting, 5)),
        queue_empty=float((waiting <= 2).mean()),
        queue_period=_period(waiting),
        largest_window=float(window.max()) if window.size else float("nan"),
        steady=float((sent[:, 0] >= 0.9 * LINK_PACKETS_PER_S * counted.width_s).mean()),
    )


STEADINESS = Probe((*Steadiness._fields, *RECOUNTED.values()), steadiness)


def _period(values: FloatArray) -> float:
    """Return the mean length of the cycles of a series, smoothed over ten round trips.

    A cycle begins when it rises above the mean after it was below. It is above or below when it is half a
    standard deviation away, because noise crosses the mean several times on the way.
    """
    smooth = np.convolve(values, np.ones(10) / 10, mode="valid")
    away = smooth - smooth.mean()
    side = np.sign(away) * (np.abs(away) > 0.5 * smooth.std())
    at_side = np.flatnonzero(side)
    rises = at_side[1:][np.diff(side[at_side]) > 0]
    return float(np.diff(rises).mean()) if rises.size > 2 else float("nan")


class Response(NamedTuple):
    """Numbers of a rate around a change; means over flows unless a comment says otherwise."""

    # Packets per round trip, in the last half of the time before the change and after it.
    before: float
    after: float
    # Round trips until the rate, a mean over 5 round trips around each, has covered half of the
    # change; infinite if it never has.
    half_way: float
    # Share of the change that is covered after 20 round trips.
    quarter_at_20: float
    # Lowest mean over 5 of the next 60 round trips, packets per round trip.
    lowest: float
    # Lowest rate of each flow in the next 40 round trips: their mean over `after`.
    lowest_share: float
    # Share of flows that send at most one packet in one of these 40 round trips.
    zero_share: float
    # `after` over `before`.
    end_share: float


def until(reached: npt.NDArray[np.bool_]) -> float:
    """Count the round trips before something is first reached; infinite if it never is."""
    return float(np.argmax(reached)) if reached.any() else float("inf")


def in_round_trips(numbers: Numbers, case: str, key: str) -> Estimate:
    """Estimate a time in round trips, as the study's time axes are read.

    A round trip has 100 ms, or the mean of the run. The number `key` of `case` is in seconds; for the
    second reading the case has ``round_trip_s``, too.
    """
    return metrics.over_runs(each_in_round_trips(numbers, case, key), least=0.0)


def each_in_round_trips(numbers: Numbers, case: str, key: str) -> FloatArray:
    """Return a time of every run in round trips, as `in_round_trips` counts them."""
    mean = numbers.setting["axis"] == MEAN_OF_RUN
    unit_s = np.array(numbers.each(case, "round_trip_s")) if mean else RTT_S
    return np.asarray(np.array(numbers.each(case, key)) / unit_s, float)


def mean_fairness(sent: FloatArray) -> float:
    """Average Jain's index over the round trips in which anything is sent.

    The shape of `sent` is (round trips, flows).
    """
    return float(np.nanmean(metrics.jain(sent, axis=1)))


def response_of(sent: FloatArray, change: int) -> Response:
    """Measure a response to a change at round trip `change`.

    `sent` has packets per round trip, shape (round trips, flows).
    """
    total = sent.mean(axis=1)
    before = float(total[change // 2 : change].mean())
    after = float(total[(change + len(total)) // 2 :].mean())
    # Each mean is over the round trip, two before it and two after it: means that trail are two round trips
    # late.
    smooth = np.convolve(total, np.ones(5) / 5, "valid")
    progress = (smooth[change - 2 :] - before) / (after - before)
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
