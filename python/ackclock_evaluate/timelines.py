"""What is measured over time: functions of the tables of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from ackclock import metrics
from ackclock.engine import Run
from ackclock_evaluate.cell import CellCurves, CellNumbers
from ackclock_evaluate.measures import STARVED, flows, general, packet_bytes

CURVE_POINTS = 240
WINDOW_S = 1.0
"""Over which a rate is a mean when the time until it is back is measured."""


def silence(run: Run, *, from_s: float, to_s: float) -> CellNumbers:
    """Measure what is sent into a silence, and the time until the rate is back.

    Parameters
    ----------
    run : Run
        A recorded run with one flow.
    from_s, to_s : float
        The silence; its first fifth of a second is the round trip in which nobody can know.

    Returns
    -------
    dict
        ``sent_in_silence`` (packets) and ``recovery`` (s until the mean over a second is half of
        what it was before; the rest of the run if it never is).
    """
    flow = flows(run, "c")[0]
    table = run.windows.filter(pl.col("flow") == flow["id"])
    time_s = table["time_s"].to_numpy()
    inside = (time_s > from_s + 0.2) & (time_s <= to_s)
    sent = table["sent_bytes"].to_numpy()[inside].sum() / packet_bytes(flow)
    delivered = table["delivered_bytes"].to_numpy()
    before = metrics.goodput(time_s, delivered, from_s / 2, from_s)
    return {
        "sent_in_silence": float(sent),
        "recovery": _first_time(run, delivered, time_s, to_s, 0.5 * before),
    }


def _first_time(run: Run, amount: Any, time_s: Any, from_s: float, least_mbps: float) -> float:
    """Find the time from `from_s` until the mean over the last second is as large as asked for.

    The second slides: seconds that are counted from `from_s` would make 9.1 and 9.9 s both 10.
    """
    end_s = float(run.summary["duration_s"])
    return first_time(time_s, amount, from_s, end_s, least_mbps)


def first_time(time_s: ArrayLike, amount: ArrayLike, from_s: float, end_s: float, least_mbps: float) -> float:
    """Find when the mean rate over the last second first reaches a level.

    Parameters
    ----------
    time_s, amount : array_like
        Ends of samples, and bytes since the sample before.
    from_s, end_s : float
        From when on, and until when.
    least_mbps : float
        The level, Mbit/s.

    Returns
    -------
    float
        Seconds since `from_s`, at least the one that the mean is over; interpolated between
        samples. All of the time if the level is never reached.
    """
    time = np.asarray(time_s, float)
    total = np.concatenate([[0.0], np.cumsum(np.asarray(amount, float))])
    # The first sample is of a time as long as that of the second.
    begin = 2 * time[0] - time[1] if time.size > 1 else 0.0
    known = np.concatenate([[begin], time])
    inside = time[(time > from_s + WINDOW_S) & (time <= end_s)]
    at = np.concatenate([[from_s + WINDOW_S], inside])
    rate = (np.interp(at, known, total) - np.interp(at - WINDOW_S, known, total)) * 8e-6 / WINDOW_S
    there = rate >= least_mbps
    if not there.any():
        return end_s - from_s
    first = int(np.argmax(there))
    if first == 0:
        return WINDOW_S
    before, after = rate[first - 1], rate[first]
    part = (least_mbps - before) / (after - before)
    return float(at[first - 1] + part * (at[first] - at[first - 1]) - from_s)


def cuts(run: Run) -> CellNumbers:
    """Measure how many cuts of the window were for nothing.

    Parameters
    ----------
    run : Run
        A recorded run.

    Returns
    -------
    dict
        As `general`; ``cuts`` (losses and timeouts that the flows of the judged control were told
        of in the measured time) and ``spurious_cuts``, the share of them that was undone because
        nothing had been lost (0 without cuts).
    """
    mine = [flow["id"] for flow in flows(run, "c")]
    kinds = run.events.filter(
        pl.col("flow").is_in(mine) & (pl.col("time_s") > run.summary["measured_from_s"])
    )["kind"]
    count = int(kinds.is_in(["loss", "timeout"]).sum())
    undone = int((kinds == "undo").sum())
    share = min(1.0, undone / count) if count else 0.0
    return general(run) | {"cuts": float(count), "spurious_cuts": share}


def delay_range(run: Run) -> CellNumbers:
    """Measure by how much a control varies its own round-trip time.

    Parameters
    ----------
    run : Run
        A recorded run with one flow of it, alone.

    Returns
    -------
    dict
        ``delay_range``: from the 5th to the 95th percentile of the RTTs in the samples, ms.
    """
    table = run.windows.filter(
        (pl.col("flow") == flows(run, "c")[0]["id"]) & (pl.col("time_s") > run.summary["measured_from_s"])
    )
    rtts_ms = table["rtt_ms"].drop_nulls().to_numpy()
    if not rtts_ms.size:
        return {"delay_range": float("nan")}
    low, high = np.percentile(rtts_ms, (5, 95))
    return {"delay_range": float(high - low)}


def starvation(run: Run, *, prefix: str = "v") -> CellNumbers:
    """Measure for how long a flow got next to nothing.

    Parameters
    ----------
    run : Run
        A recorded run.
    prefix : str
        Of the flows that may starve.

    Returns
    -------
    dict
        ``starved``: the longest time (s) in which one of them had less than 5 % of what is fair,
        by means over five samples.
    """
    table = run.windows
    count = len(run.summary["flows"])
    from_s, end_s = run.summary["measured_from_s"], run.summary["duration_s"]
    times = np.unique(table["time_s"].to_numpy())
    scale_s = 5 * float(np.median(np.diff(times)))
    rates = []
    for index in range(count):
        one = table.filter(pl.col("flow") == index)
        rates.append(
            metrics.over_intervals(
                one["time_s"].to_numpy(), one["delivered_bytes"].to_numpy(), scale_s, from_s, end_s
            )[1]
        )
    together = np.asarray(rates)
    fair = together.sum(axis=0) / count
    longest = 0
    for flow in flows(run, prefix):
        below = together[flow["id"]] < STARVED * fair
        length = 0
        for one in below:
            length = length + 1 if one else 0
            longest = max(longest, length)
    return {"starved": longest * scale_s}


def fairness(run: Run, *, scales_s: tuple[float, ...] = (1.0, 5.0, 20.0)) -> CellNumbers:
    """Measure how alike flows share over several time scales.

    Parameters
    ----------
    run : Run
        A recorded run.
    scales_s : tuple of float
        Over which rates are averaged, seconds; multiples of the sampling interval.

    Returns
    -------
    dict
        As `general`; ``jain_1``, ``jain_5``, ... (means of Jain's index), ``worst_fifth`` (mean of
        the smallest fifth of those over the shortest scale).
    """
    found = general(run)
    from_s, end_s = run.summary["measured_from_s"], run.summary["duration_s"]
    mine = [flow["id"] for flow in flows(run, "c")]
    time_s, amounts = _delivered(run, mine)
    for scale_s in scales_s:
        _, rates = metrics.over_intervals(time_s, amounts, scale_s, from_s, end_s)
        index = metrics.jain(rates, axis=1)
        found[f"jain_{scale_s:g}"] = float(np.nanmean(index))
        if scale_s == scales_s[0]:
            found["worst_fifth"] = metrics.worst_mean(index, 0.2)
    return found


def _delivered(run: Run, chosen: Sequence[int]) -> tuple[Any, Any]:
    """Give the sampling times, and bytes delivered by sample and flow."""
    wide = run.windows.filter(pl.col("flow").is_in(list(chosen))).pivot(
        on="flow", index="time_s", values="delivered_bytes", sort_columns=False
    )
    columns = [wide[str(one)].fill_null(0).to_numpy() for one in chosen]
    return wide["time_s"].to_numpy(), np.stack(columns, axis=1)


def joining(run: Run, *, every_s: float) -> CellNumbers:
    """Measure how long newcomers wait for their share.

    Parameters
    ----------
    run : Run
        A recorded run in which flow k starts at k times `every_s`, k from 0.
    every_s : float
        Seconds between the starts.

    Returns
    -------
    dict
        ``fair_time``: mean over the newcomers of the time until all flows that are there are
        0.1-fair, by means over a second; `every_s` when they never are.
    """
    mine = flows(run, "c")
    found = []
    for last in range(1, len(mine)):
        time_s, amounts = _delivered(run, [flow["id"] for flow in mine[: last + 1]])
        from_s = last * every_s
        ends, rates = metrics.over_intervals(time_s, amounts, 1.0, from_s, from_s + every_s)
        found.append(min(every_s, metrics.delta_fair_time(ends, rates, 0.1, from_s)))
    return {"fair_time": float(np.mean(found))}


def recovery(run: Run, *, at_s: float, least_mbps: float) -> CellNumbers:
    """Measure how fast a flow takes what has become free.

    Parameters
    ----------
    run : Run
        A recorded run with one flow of the judged control.
    at_s : float
        When something changed.
    least_mbps : float
        The rate at which it has recovered, Mbit/s.

    Returns
    -------
    dict
        As `general`, and ``recovery`` (s; the rest of the run if it never does).
    """
    flow = flows(run, "c")[0]
    table = run.windows.filter(pl.col("flow") == flow["id"])
    delivered, time_s = table["delivered_bytes"].to_numpy(), table["time_s"].to_numpy()
    return general(run) | {"recovery": _first_time(run, delivered, time_s, at_s, least_mbps)}


def breaker(run: Run, *, from_s: float, window_s: float = 15.0) -> CellNumbers:
    """Count how often a circuit breaker for media would cut the flow off.

    Parameters
    ----------
    run : Run
        A recorded run with one flow of the judged control, alone, with samples of a second.
    from_s : float
        The start, which does not count, seconds.
    window_s : float
        Three reporting intervals of five seconds.

    Returns
    -------
    dict
        ``trips``: windows in which the flow sent more than ten times what a TCP flow would at its
        loss fraction p, s/(R sqrt(2p/3)) with one packet per ACK (RFC 8083, sections 4.3 and 5).
    """
    flow = flows(run, "c")[0]
    table = run.windows.filter(pl.col("flow") == flow["id"])
    packet = packet_bytes(flow)
    sent = table["sent_bytes"].to_numpy() / packet
    rtt_s = table["rtt_ms"].fill_null(flow["rtt_ms"]).to_numpy() / 1e3
    drops = run.queues.filter(pl.col("link") == 0)["drops"].to_numpy()
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
    """Keep what a timeline needs.

    Parameters
    ----------
    run : Run
        A recorded run.

    Returns
    -------
    dict
        ``time``, ``queue`` (packets at the first link), and ``rate NAME`` per flow (Mbit/s), each
        at most 240 numbers; the first eight flows.
    """
    queue = run.queues.filter(pl.col("link") == 0)
    time_s = queue["time_s"].to_numpy()
    step = max(1, -(-len(time_s) // CURVE_POINTS))
    count = len(time_s) // step
    found = {
        "time": _rounded(time_s[: count * step].reshape(count, step)[:, -1]),
        "queue": _rounded(queue["mean_packets"].to_numpy()[: count * step].reshape(count, step).mean(axis=1)),
    }
    seconds = step * float(time_s[1] - time_s[0])
    for flow in run.summary["flows"][:8]:
        table = run.windows.filter(pl.col("flow") == flow["id"])
        amount = np.zeros(count)
        place = np.minimum(np.searchsorted(found["time"], table["time_s"].to_numpy() - 1e-9), count - 1)
        np.add.at(amount, place, table["delivered_bytes"].to_numpy())
        found[f"rate {flow['name']}"] = _rounded(amount * 8e-6 / seconds)
    return found


def _rounded(values: Any) -> list[float]:
    return [round(float(one), 4) for one in values]
