"""What is measured in a run: functions of its summary, and of its tables where they are needed.

Flows of the control that is judged have names that begin with ``c``; those of its victims begin
with ``v``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ackclock import metrics
from ackclock.engine import Run, quantity
from ackclock.summary import FlowSummary, LinkSummary, number
from ackclock_evaluate.cell import Numbers

STARVED = 0.05
"""Below this share of what is fair a flow starves."""


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


def general(run: Run) -> CellNumbers:
    """Measure how the judged control uses a path.

    Parameters
    ----------
    run : Run
        A run.

    Returns
    -------
    dict
        ``goodput`` of its flows together (Mbit/s), ``utilisation`` and queueing delay of the
        bottleneck (``delay_p50``, ``delay_p95``, ``delay_p99``, ms; and the time average
        ``queue_mean``, packets), ``loss`` (share of packets sent), ``jain``, ``smallest_share`` (of
        what is fair), ``resent_in_vain`` (share of what is sent that is sent again although it was
        not lost), ``timeouts``, ``epochs`` (loss events of the first flow, where its control has
        any).
    """
    mine, link = flows(run, "c"), bottleneck(run)
    rates = _goodputs(mine)
    sent = sum(flow["sent_packets"] for flow in mine)
    events = mine[0]["loss_events"]
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
        "resent_in_vain": metrics.loss_rate(
            sum(max(0, flow["retransmitted_packets"] - flow["dropped_packets"]) for flow in mine), sent
        ),
        "sent_per_delivered": _sent_per_delivered(run, mine),
        "timeouts": float(sum(flow["timeouts"] for flow in mine)),
    } | ({} if events is None else {"epochs": float(events)})


def _sent_per_delivered(run: Run, mine: Sequence[FlowSummary]) -> float:
    """Give packets sent over packets delivered, at least 1 but for what is in flight."""
    from_s = run.summary["measured_from_s"]
    sent = delivered = 0.0
    for flow in mine:
        packet_bits = 8 * packet_bytes(flow)
        seconds = run.summary["duration_s"] - from_s
        delivered += (flow["goodput_mbps"] or 0.0) * 1e6 * seconds / packet_bits
        sent += flow["sent_packets"]
    return sent / delivered if delivered else float("inf") if sent else float("nan")


def packet_bytes(flow: FlowSummary) -> float:
    """Give the size of a flow's packets.

    Parameters
    ----------
    flow : dict
        As in the summary.

    Returns
    -------
    float
        Bytes.
    """
    return quantity(flow["settings"]["packet"], "size_bytes")


def sent_per_round_trip(run: Run) -> CellNumbers:
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


def marked(run: Run) -> CellNumbers:
    """Measure how many packets a queue marks.

    Parameters
    ----------
    run : Run
        A run in which all flows are of the judged control.

    Returns
    -------
    dict
        As `general`, and ``marked``: marks over packets sent.
    """
    sent = sum(flow["sent_packets"] for flow in flows(run, "c"))
    return general(run) | {"marked": metrics.loss_rate(bottleneck(run)["marks"], sent)}


def overload(run: Run) -> CellNumbers:
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


def victims(run: Run) -> CellNumbers:
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


def completions(run: Run, *, groups: tuple[str, ...]) -> CellNumbers:
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


def requests(run: Run, *, name: str = "c") -> CellNumbers:
    """Measure how long requests take.

    Parameters
    ----------
    run : Run
        A run.
    name : str
        Of the flow that sends them.

    Returns
    -------
    dict
        As `general`; ``request_p50``, ``request_p95`` and ``request_p99`` (s; the length of the run
        when none was complete).
    """
    flow = next(one for one in run.summary["flows"] if one["name"] == name)
    end_s = run.summary["duration_s"]
    found = {
        "request_p50": flow["request_p50_s"],
        "request_p95": flow["request_p95_s"],
        "request_p99": flow["request_p99_s"],
    }
    return general(run) | {key: end_s if one is None else one for key, one in found.items()}
