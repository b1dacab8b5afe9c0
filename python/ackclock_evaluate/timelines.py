"""Metrics over time of one run: functions of the tables of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from ackclock import metrics
from ackclock.engine import FlowSummary, Run
from ackclock_evaluate.cell import CellCurves, CellNumbers
from ackclock_evaluate.measures import STARVED, flows, general, packet_bytes, victims

CURVE_POINTS = 240
WINDOW_S = 1.0
"""A rate is averaged over this span to time a recovery."""
RETURN_S = 10.0
"""Losses count for this time after a silence: a slow start takes less than a second from its first
delivery."""


def silence(run: Run, *, from_s: float, to_s: float) -> CellNumbers:
    """Return the packets sent into a silence, and how the one flow comes back.

    ``sent_in_silence`` (packets) leaves out the first 0.2 s of the silence, a round trip in which the sender
    cannot know of it. ``recovery`` is the time (s) until the mean over a second reaches half of its value
    before the silence; the rest of the run if it never does. ``loss_after`` is the share of the packets sent
    in the 10 s after the first delivery that overflow the queue, 0 if nothing is delivered: a slow start
    without ssthresh ends with the loss of all packets that the path cannot hold.
    """
    flow = flows(run, "c")[0]
    table = run.windows_of(flow["id"])
    time_s = table["time_s"].to_numpy()
    inside = (time_s > from_s + 0.2) & (time_s <= to_s)
    sent = table["sent_bytes"].to_numpy()[inside].sum() / packet_bytes(flow)
    delivered = table["arrived_bytes"].to_numpy()
    before = metrics.goodput(time_s, delivered, from_s / 2, from_s)
    return {
        "sent_in_silence": float(sent),
        "recovery": _first_time(run, delivered, time_s, to_s, 0.5 * before),
        "loss_after": _loss_after(run, flow, to_s),
    }


def _loss_after(run: Run, flow: FlowSummary, from_s: float) -> float:
    own = run.windows_of(flow["id"]).filter(pl.col("time_s") > from_s)
    returns_s = own.filter(pl.col("arrived_bytes") > 0)["time_s"].to_numpy()
    if not returns_s.size:
        return 0.0
    is_counted = pl.col("time_s").is_between(returns_s[0], returns_s[0] + RETURN_S)
    lost = run.queues_of(0).filter(is_counted)["drops"].to_numpy().sum()
    sent = own.filter(is_counted)["sent_bytes"].to_numpy().sum() / packet_bytes(flow)
    return metrics.loss_rate(lost, sent)


def _first_time(run: Run, amount: ArrayLike, time_s: ArrayLike, from_s: float, least_mbps: float) -> float:
    return first_time(time_s, amount, from_s, float(run.summary["duration_s"]), least_mbps)


def first_time(time_s: ArrayLike, amount: ArrayLike, from_s: float, end_s: float, least_mbps: float) -> float:
    """Return the seconds from `from_s` until the mean rate over the last second reaches `least_mbps`.

    `amount` has the bytes since the sample before, `time_s` the ends of the samples; the result is
    interpolated between samples, at least 1 s, and ``end_s - from_s`` if the level is never reached.
    The second slides: whole seconds counted from `from_s` would make 9.1 and 9.9 s both 10.
    """
    time = np.asarray(time_s, float)
    total = np.concatenate([[0.0], np.cumsum(np.asarray(amount, float))])
    # The first sample spans as long a time as the second.
    begin = 2 * time[0] - time[1] if time.size > 1 else 0.0
    known = np.concatenate([[begin], time])
    inside = time[(time > from_s + WINDOW_S) & (time <= end_s)]
    at = np.concatenate([[from_s + WINDOW_S], inside])
    rate = (np.interp(at, known, total) - np.interp(at - WINDOW_S, known, total)) * 8e-6 / WINDOW_S
    return min(end_s, first_reached(at, rate, least_mbps)) - from_s


def first_reached(time_s: NDArray[np.float64], values: NDArray[np.float64], level: float) -> float:
    """Return the time at which values first reach a level, interpolated between samples; else infinity."""
    reached = values >= level
    if not reached.any():
        return float("inf")
    first = int(np.argmax(reached))
    if first == 0:
        return float(time_s[0])
    part = (level - values[first - 1]) / (values[first] - values[first - 1])
    return float(time_s[first - 1] + part * (time_s[first] - time_s[first - 1]))


def cuts(run: Run) -> CellNumbers:
    """Return `general`, ``cuts``, and the share of them that was undone, ``spurious_cuts``.

    ``cuts`` counts the losses and timeouts reported to the flows of the control under test in the
    measured time. A cut is undone when nothing had been lost; without cuts the share is 0.
    """
    mine = [flow["id"] for flow in flows(run, "c")]
    kinds = run.events.filter(
        pl.col("flow").is_in(mine) & (pl.col("time_s") >= run.summary["measured_from_s"])
    )["kind"]
    count = int(kinds.is_in(["loss", "timeout"]).sum())
    undone = int((kinds == "undo").sum())
    share = min(1.0, undone / count) if count else 0.0
    return general(run) | {"cuts": float(count), "spurious_cuts": share}


def delay_range(run: Run) -> CellNumbers:
    """Return ``delay_range`` of a flow alone: p5 to p95 of the RTTs in its samples, ms."""
    own = run.windows_of(flows(run, "c")[0]["id"])
    table = own.filter(pl.col("time_s") > run.summary["measured_from_s"])
    rtts_ms = table["rtt_ms"].drop_nulls().to_numpy()
    if not rtts_ms.size:
        return {"delay_range": float("nan")}
    low, high = np.percentile(rtts_ms, (5, 95))
    return {"delay_range": float(high - low)}


def starvation(run: Run, *, prefix: str = "v") -> CellNumbers:
    """Return ``starved``: how long (s) the flow with the least goodput had less than 5 % of its fair share.

    Only flows whose names begin with `prefix` count; rates are means over five samples. It is the sum of
    all such times, so that a better moment does not end it, and the whole measured time when the mean
    over that is below 5 %.
    """
    count = len(run.summary["flows"])
    from_s, end_s = run.summary["measured_from_s"], run.summary["duration_s"]
    times = np.unique(run.windows["time_s"].to_numpy())
    scale_s = 5 * float(np.median(np.diff(times)))
    rates = []
    for index in range(count):
        flow_table = run.windows_of(index)
        times_s, delivered = flow_table["time_s"].to_numpy(), flow_table["arrived_bytes"].to_numpy()
        rates.append(metrics.over_intervals(times_s, delivered, scale_s, from_s, end_s)[1])
    together = np.asarray(rates)
    fair = together.sum(axis=0) / count
    starved_s = 0.0
    for flow in flows(run, prefix):
        mine = together[flow["id"]]
        always = mine.sum() < STARVED * fair.sum()
        starved_s = max(starved_s, end_s - from_s if always else scale_s * (mine < STARVED * fair).sum())
    return {"starved": float(starved_s)}


def shared(run: Run, *, apart: bool = False) -> CellNumbers:
    """Return `victims`, with flows that may be `apart`, and ``starved`` of the victims."""
    return victims(run, apart=apart) | starvation(run)


def ramp_up(run: Run, *, start_s: float, powers: tuple[int, ...]) -> CellNumbers:
    """Return ``ramp_N``: seconds from `start_s` until the newcomer's 10^N packets have arrived.

    The newcomer is the second flow, and its packets count as 1500 bytes; the time is interpolated
    between samples. The rest of the run if they never arrive.
    """
    table = run.windows_of(run.summary["flows"][1]["id"])
    time_s = table["time_s"].to_numpy()
    arrived = np.cumsum(table["arrived_bytes"].to_numpy())
    times_s = {}
    for power in powers:
        at_s = first_reached(time_s, arrived, 1500 * 10**power)
        times_s[f"ramp_{power}"] = min(run.summary["duration_s"], at_s) - start_s
    return times_s


def shares(run: Run) -> CellNumbers:
    """Return `general`, ``starved`` and ``ratio``, the goodput of the first flow over the second's."""
    first, second = (flow["goodput_mbps"] or 0.0 for flow in flows(run, "c"))
    ratio = first / second if second else float("inf")
    return general(run) | starvation(run, prefix="c") | {"ratio": ratio}


def jittered(run: Run, *, jitter_ms: float) -> CellNumbers:
    """Return `shares` and ``jitter``, the largest further delay of one flow (ms)."""
    return shares(run) | {"jitter": jitter_ms}


def fairness(run: Run, *, scales_s: tuple[float, ...] = (1.0, 5.0, 20.0)) -> CellNumbers:
    """Return `general` and how evenly flows share over several time scales.

    ``jain_1``, ``jain_5``, ... are means of Jain's index over `scales_s`, which are multiples of the
    sampling interval; ``worst_fifth`` is the mean of the smallest fifth over the shortest scale.
    """
    values = general(run)
    from_s, end_s = run.summary["measured_from_s"], run.summary["duration_s"]
    mine = [flow["id"] for flow in flows(run, "c")]
    time_s, amounts = _delivered(run, mine)
    for scale_s in scales_s:
        _, rates = metrics.over_intervals(time_s, amounts, scale_s, from_s, end_s)
        index = metrics.jain(rates, axis=1)
        values[f"jain_{scale_s:g}"] = float(np.nanmean(index))
        if scale_s == scales_s[0]:
            values["worst_fifth"] = metrics.worst_mean(index, 0.2)
    return values


def _delivered(run: Run, chosen: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sampling times, and the bytes delivered by sample and flow."""
    wide = run.windows.filter(pl.col("flow").is_in(list(chosen))).pivot(
        on="flow", index="time_s", values="arrived_bytes", sort_columns=False
    )
    columns = [wide[str(flow)].fill_null(0).to_numpy() for flow in chosen]
    return wide["time_s"].to_numpy(), np.stack(columns, axis=1)


def joining(run: Run, *, every_s: float) -> CellNumbers:
    """Return ``fair_time``: the mean time (s) until newcomers have their share.

    Flow k starts at k times `every_s`. A newcomer has its share when all flows present are 0.1-fair, each
    with at least nine tenths of the fair share by its mean over the last second, interpolated between
    samples; it counts with `every_s` when they never are.
    """
    mine = flows(run, "c")
    times_s = []
    for last in range(1, len(mine)):
        time_s, amounts = _delivered(run, [flow["id"] for flow in mine[: last + 1]])
        from_s = last * every_s
        arrived = np.cumsum(amounts, axis=0)
        at = time_s[(time_s >= from_s + WINDOW_S - 1e-9) & (time_s <= from_s + every_s + 1e-9)]
        lately = [
            np.interp(at, time_s, column) - np.interp(at - WINDOW_S, time_s, column) for column in arrived.T
        ]
        together = np.maximum(1e-9, np.sum(lately, axis=0))
        least_share = (last + 1) * np.min(lately, axis=0) / together
        times_s.append(min(every_s, first_reached(at, least_share, 0.9) - from_s))
    return {"fair_time": float(np.mean(times_s))}


def recovery(run: Run, *, at_s: float, least_mbps: float) -> CellNumbers:
    """Return `general` and ``recovery``: seconds from `at_s` until the one flow reaches `least_mbps`.

    It is the rest of the run if the flow never does.
    """
    flow = flows(run, "c")[0]
    table = run.windows_of(flow["id"])
    delivered, time_s = table["arrived_bytes"].to_numpy(), table["time_s"].to_numpy()
    return general(run) | {"recovery": _first_time(run, delivered, time_s, at_s, least_mbps)}


def breaker(run: Run, *, from_s: float, window_s: float = 15.0) -> CellNumbers:
    """Return ``trips``: how often a circuit breaker for media would cut a flow off (RFC 8083).

    It trips in a window in which the flow, alone, sends more than ten times the TCP rate at its loss
    fraction p, s/(R sqrt(2p/3)) with one packet per ACK (sections 4.3 and 5). The window is three
    reporting intervals of 5 s; samples are of a second; windows that begin before `from_s` do not
    count.
    """
    flow = flows(run, "c")[0]
    table = run.windows_of(flow["id"])
    packet = packet_bytes(flow)
    sent = table["sent_bytes"].to_numpy() / packet
    rtt_s = table["rtt_ms"].fill_null(flow["rtt_ms"]).to_numpy() / 1e3
    drops = run.queues_of(0)["drops"].to_numpy()
    time_s = table["time_s"].to_numpy()
    length = round(window_s / (time_s[1] - time_s[0]))
    trips = 0
    for first in range(0, len(time_s) - length + 1):
        inside = slice(first, first + length)
        fraction = drops[inside].sum() / max(1.0, sent[inside].sum())
        if time_s[first] < from_s or fraction == 0:
            continue
        allowed = 1 / (rtt_s[inside].mean() * (2 * fraction / 3) ** 0.5)
        trips += bool(sent[inside].sum() / window_s > 10 * allowed)
    return {"trips": float(trips)}


def curves(run: Run) -> CellCurves:
    """Return the curves of a timeline, each of at most 240 numbers.

    ``time`` (s), ``queue`` (packets at the first link), and ``rate NAME`` (Mbit/s) of the first eight
    flows.
    """
    queue = run.queues_of(0)
    time_s = queue["time_s"].to_numpy()
    step = max(1, -(-len(time_s) // CURVE_POINTS))
    count = len(time_s) // step
    lines = {
        "time": _rounded(time_s[: count * step].reshape(count, step)[:, -1]),
        "queue": _rounded(queue["mean_packets"].to_numpy()[: count * step].reshape(count, step).mean(axis=1)),
    }
    seconds = step * float(time_s[1] - time_s[0])
    for flow in run.summary["flows"][:8]:
        table = run.windows_of(flow["id"])
        amount = np.zeros(count)
        bins = np.minimum(np.searchsorted(lines["time"], table["time_s"].to_numpy() - 1e-9), count - 1)
        np.add.at(amount, bins, table["arrived_bytes"].to_numpy())
        lines[f"rate {flow['name']}"] = _rounded(amount * 8e-6 / seconds)
    return lines


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [round(float(value), 4) for value in values]
