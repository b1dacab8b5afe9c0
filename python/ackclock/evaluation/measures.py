"""What is measured in a run: functions of its summary, and of its tables where they are needed.

Flows of the control that is judged have names that begin with ``c``; those of its victims begin
with ``v``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run
from ackclock.engine.summary import FlowSummary, LinkSummary, number
from ackclock.evaluation.cell import Curves, Numbers

STARVED = 0.05
"""Below this share of what is fair a flow starves."""
CURVE_POINTS = 240


def flows(run: Run, prefix: str = "") -> list[FlowSummary]:
    """Choose the flows whose names begin in some way.

    Parameters
    ----------
    run : Run
        A run.
    prefix : str
        Of their names.

    Returns
    -------
    list of dict
        As in the summary.
    """
    return [flow for flow in run.summary["flows"] if flow["name"].startswith(prefix)]


def bottleneck(run: Run) -> LinkSummary:
    """Give the link that a scenario is about: the first.

    Parameters
    ----------
    run : Run
        A run.

    Returns
    -------
    dict
        As in the summary.
    """
    return run.summary["links"][0]


def _goodputs(chosen: Sequence[FlowSummary]) -> list[float]:
    return [flow["goodput_mbps"] or 0.0 for flow in chosen]


def _largest(values: Sequence[float | None]) -> float:
    known = [one for one in values if one is not None]
    return max(known, default=float("nan"))


def general(run: Run) -> Numbers:
    """Measure how the judged control uses a path.

    Parameters
    ----------
    run : Run
        A run.

    Returns
    -------
    dict
        ``goodput`` of its flows together (Mbit/s), ``utilisation`` and queueing delay of the
        bottleneck (``delay_p50``, ``delay_p95``, ``delay_p99``, and the time average
        ``delay_mean``, ms), ``loss`` (share of packets sent), ``jain``, ``smallest_share`` (of what
        is fair), ``timeouts``, ``epochs`` (loss events of the first flow).
    """
    mine, link = flows(run, "c"), bottleneck(run)
    rates = _goodputs(mine)
    sent = sum(flow["sent_packets"] for flow in mine)
    lost = sum(flow["dropped_packets"] for flow in mine)
    return {
        "goodput": sum(rates),
        "utilisation": number(link["utilisation"]),
        "delay_p50": number(link["queue_delay_p50_ms"]),
        "delay_p95": number(link["queue_delay_p95_ms"]),
        "delay_p99": number(link["queue_delay_p99_ms"]),
        "queue_mean": number(link["mean_queue_packets"]),
        "loss": metrics.loss_rate(lost, sent),
        "jain": float(metrics.jain(rates)),
        "smallest_share": len(rates) * min(rates) / sum(rates) if sum(rates) else 0.0,
        "sent_per_delivered": _sent_per_delivered(run, mine),
        "timeouts": float(sum(flow["timeouts"] for flow in mine)),
        "epochs": float(mine[0]["loss_events"]),
    }


def _sent_per_delivered(run: Run, mine: Sequence[FlowSummary]) -> float:
    """Give packets sent over packets delivered, at least 1 but for what is in flight."""
    from_s = run.summary["measured_from_s"]
    sent = delivered = 0.0
    for flow in mine:
        packet_bits = 8 * _packet_bytes(flow)
        seconds = run.summary["duration_s"] - from_s
        delivered += (flow["goodput_mbps"] or 0.0) * 1e6 * seconds / packet_bits
        sent += flow["sent_packets"]
    return sent / delivered if delivered else float("inf") if sent else float("nan")


def _packet_bytes(flow: FlowSummary) -> float:
    from ackclock.engine import quantity

    return quantity(flow["settings"]["packet"], "size_bytes")


def sent_per_round_trip(run: Run) -> Numbers:
    """Measure how fast a control sends, delivered or not.

    Parameters
    ----------
    run : Run
        A run with one flow of it.

    Returns
    -------
    dict
        ``sent``: packets per round trip, without queueing, in the measured time.
    """
    flow = flows(run, "c")[0]
    seconds = run.summary["duration_s"] - run.summary["measured_from_s"]
    return {"sent": flow["sent_packets"] * flow["rtt_ms"] / 1e3 / seconds}


def silence(run: Run, *, from_s: float, to_s: float) -> Numbers:
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
    sent = table["sent_bytes"].to_numpy()[inside].sum() / _packet_bytes(flow)
    delivered = table["delivered_bytes"].to_numpy()
    before = metrics.goodput(time_s, delivered, from_s / 2, from_s)
    return {
        "sent_in_silence": float(sent),
        "recovery": _first_time(run, delivered, time_s, to_s, 0.5 * before),
    }


def _first_time(run: Run, amount: Any, time_s: Any, from_s: float, least_mbps: float) -> float:
    """Give the time from `from_s` until the mean over a second is as large as asked for."""
    end_s = run.summary["duration_s"]
    ends, rates = metrics.over_intervals(time_s, amount, 1.0, from_s, end_s)
    there = rates * 8e-6 >= least_mbps
    return float(ends[np.argmax(there)] - from_s) if there.any() else end_s - from_s


def overload(run: Run) -> Numbers:
    """Measure many flows on a thin link.

    Parameters
    ----------
    run : Run
        A run.

    Returns
    -------
    dict
        As `general`; and ``useful`` (share of what is sent that is delivered) and ``starving``
        (share of the flows below 5 % of what is fair).
    """
    found = general(run)
    rates = np.asarray(_goodputs(flows(run, "c")))
    wasted = found["sent_per_delivered"]
    return found | {
        "useful": 1 / wasted if np.isfinite(wasted) else 0.0,
        "starving": float(np.mean(rates < STARVED * rates.mean())) if rates.any() else 1.0,
    }


def victims(run: Run) -> Numbers:
    """Measure what is left to others beside the judged control.

    Parameters
    ----------
    run : Run
        A run.

    Returns
    -------
    dict
        ``goodput`` of the judged flows; of the victims together ``victim_goodput`` (Mbit/s),
        ``victim_rtt_p95`` (ms), ``victim_loss``; ``share`` of the judged flows, per flow over a
        victim's; ``smallest_share`` of any flow of what is fair.
    """
    mine, others = flows(run, "c"), flows(run, "v")
    rates = _goodputs([*mine, *others])
    left = _goodputs(others)
    total = sum(rates)
    sent = sum(flow["sent_packets"] for flow in others)
    mine_rates = _goodputs(mine)
    fair = total / len(rates)
    return {
        "goodput": sum(mine_rates),
        "victim_goodput": sum(left),
        "victim_rtt_p95": _largest([flow["rtt_p95_ms"] for flow in others]),
        "victim_loss": metrics.loss_rate(sum(flow["dropped_packets"] for flow in others), sent),
        "share": sum(mine_rates) / total if total else float("nan"),
        "smallest_share": min(rates) / fair if fair else 0.0,
        "victim_smallest_share": min(left) / fair if fair and left else float("nan"),
    }


def starvation(run: Run, *, prefix: str = "v") -> Numbers:
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


def fairness(run: Run, *, scales_s: tuple[float, ...] = (1.0, 5.0, 20.0)) -> Numbers:
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


def joining(run: Run, *, every_s: float) -> Numbers:
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


def completions(run: Run, *, groups: tuple[str, ...]) -> Numbers:
    """Measure completion times of short transfers, and what long ones have beside them.

    Parameters
    ----------
    run : Run
        A run.
    groups : tuple of str
        Beginnings of the names of the transfers, one per size.

    Returns
    -------
    dict
        ``goodput`` of the long flows ``long...`` together, and per group ``fct_p50_GROUP``,
        ``fct_p95_GROUP`` and ``fct_p99_GROUP`` (s). A transfer that has not ended counts with the
        time that it has had.
    """
    end_s = run.summary["duration_s"]
    found = {"goodput": sum(_goodputs(flows(run, "long")))}
    for group in groups:
        times = [end_s if one is None else one for one in _times(run, group)]
        for percent in (50, 95, 99):
            found[f"fct_p{percent}_{group}"] = float(np.percentile(times, percent))
    return found


def _times(run: Run, group: str) -> list[float | None]:
    return [flow["completion_s"] for flow in flows(run, group)]


def recovery(run: Run, *, at_s: float, least_mbps: float) -> Numbers:
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


def breaker(run: Run, *, from_s: float, window_s: float = 15.0) -> Numbers:
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
    packet = _packet_bytes(flow)
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


def curves(run: Run) -> Curves:
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
        "queue": _rounded(
            queue["mean_packets"].to_numpy()[: count * step].reshape(count, step).mean(axis=1)
        ),
    }
    seconds = step * float(time_s[1] - time_s[0])
    for flow in run.summary["flows"][:8]:
        table = run.windows.filter(pl.col("flow") == flow["id"])
        amount = np.zeros(count)
        place = np.minimum(
            np.searchsorted(found["time"], table["time_s"].to_numpy() - 1e-9), count - 1
        )
        np.add.at(amount, place, table["delivered_bytes"].to_numpy())
        found[f"rate {flow['name']}"] = _rounded(amount * 8e-6 / seconds)
    return found


def _rounded(values: Any) -> list[float]:
    return [round(float(one), 4) for one in values]
