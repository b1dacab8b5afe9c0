"""Metrics of one run: functions of its summary.

Names of flows of the control under test begin with ``c``, names of its victims with ``v``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ackclock import metrics
from ackclock.engine import Run, quantity
from ackclock.summary import FlowSummary, LinkSummary, number
from ackclock_evaluate.cell import CellNumbers

STARVED = 0.05
"""A flow starves below this share of its fair share."""


def flows(run: Run, prefix: str = "") -> list[FlowSummary]:
    """Return the summaries of the flows whose names begin with `prefix`."""
    return [flow for flow in run.summary["flows"] if flow["name"].startswith(prefix)]


def bottleneck(run: Run) -> LinkSummary:
    """Return the summary of the bottleneck, the scenario's first link."""
    return run.summary["links"][0]


def _goodputs(chosen: Sequence[FlowSummary]) -> list[float]:
    return [flow["goodput_mbps"] or 0.0 for flow in chosen]


def _largest(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known, default=float("nan"))


def general(run: Run) -> CellNumbers:
    """Return how the control under test uses a path.

    - ``goodput`` of its flows together (Mbit/s), ``utilisation`` and queueing delay of the bottleneck
      (``delay_p50``, ``delay_p95``, ``delay_p99``, ms; the time average ``queue_mean``, packets)
    - ``loss`` (share of packets sent), ``resent_in_vain`` (packets that arrived again, share of packets
      sent), ``sent_per_delivered`` (packets in flight count as delivered), ``timeouts``
    - ``jain``, ``smallest_share`` (relative to the fair share)
    - ``epochs``: loss events of the first flow, if its control has any
    """
    mine, link = flows(run, "c"), bottleneck(run)
    rates = _goodputs(mine)
    sent = sum(flow["sent_packets"] for flow in mine)
    events = mine[0]["loss_events"]
    lost = sum(flow["dropped_packets"] for flow in mine)
    again = sum(flow["duplicate_packets"] for flow in mine)
    delivered = sent - lost - again
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
        "resent_in_vain": metrics.loss_rate(again, sent),
        "sent_per_delivered": sent / delivered if delivered > 0 else float("inf") if sent else float("nan"),
        "timeouts": float(sum(flow["timeouts"] for flow in mine)),
    } | ({} if events is None else {"epochs": float(events)})


def packet_bytes(flow: FlowSummary) -> float:
    """Return the size of a flow's packets, bytes."""
    return quantity(flow["settings"]["packet"], "size_bytes")


def sent_per_round_trip(run: Run) -> CellNumbers:
    """Return ``sent``: packets that the one flow sends per round trip (without queueing)."""
    flow = flows(run, "c")[0]
    seconds = run.summary["duration_s"] - run.summary["measured_from_s"]
    return {"sent": flow["sent_packets"] * flow["rtt_ms"] / 1e3 / seconds}


def marked(run: Run) -> CellNumbers:
    """Return `general` and ``marked``, marks over packets sent, where all flows are of one control."""
    sent = sum(flow["sent_packets"] for flow in flows(run, "c"))
    return general(run) | {"marked": metrics.loss_rate(bottleneck(run)["marks"], sent)}


def overload(run: Run) -> CellNumbers:
    """Return `general`, ``useful`` (share of packets delivered) and ``starving`` (share of flows)."""
    metrics_of_run = general(run)
    rates = np.asarray(_goodputs(flows(run, "c")))
    wasted = metrics_of_run["sent_per_delivered"]
    return metrics_of_run | {
        "useful": 1 / wasted if np.isfinite(wasted) else 0.0,
        "starving": float(np.mean(rates < STARVED * rates.mean())) if rates.any() else 1.0,
    }


def victims(run: Run, *, apart: bool = False) -> CellNumbers:
    """Return the shares of the control under test and of its victims.

    ``goodput`` of its flows; of the victims together ``victim_goodput`` (Mbit/s), ``victim_rtt_p95`` (ms) and
    ``victim_loss``; ``share`` of its flows in the total goodput; ``smallest_share`` and
    ``victim_smallest_share``, relative to the fair share of a flow. The RTT is the propagation delay and the
    queueing delay that packets meet at the bottleneck: the samples of a victim with a window of a few packets
    would measure the timer of its receiver's delayed ACKs. The RTT comes from the samples if flows are
    `apart`, each in its own queue with its share of the link; in DualPI2 the queue is the classic one.
    """
    mine, rivals = flows(run, "c"), flows(run, "v")
    rates = _goodputs([*mine, *rivals])
    left = _goodputs(rivals)
    total = sum(rates)
    sent = sum(flow["sent_packets"] for flow in rivals)
    mine_rates = _goodputs(mine)
    fair = total / len(rates)
    return {
        "goodput": sum(mine_rates),
        "victim_goodput": sum(left),
        "victim_rtt_p95": _largest([flow["rtt_p95_ms"] for flow in rivals])
        if apart
        else _largest([flow["rtt_ms"] for flow in rivals]) + _queueing_p95(run),
        "victim_loss": metrics.loss_rate(sum(flow["dropped_packets"] for flow in rivals), sent),
        "share": sum(mine_rates) / total if total else float("nan"),
        "smallest_share": min(rates) / fair if fair else 0.0,
        "victim_smallest_share": min(left) / fair if fair and left else float("nan"),
    }


def _queueing_p95(run: Run) -> float:
    """Return the 95th percentile of the delay (ms) in the queue of classic traffic at the bottleneck."""
    link = bottleneck(run)
    side = link["dualpi2"]["classic"] if "dualpi2" in link else link
    return number(side["queue_delay_p95_ms"])


def completions(run: Run, *, groups: tuple[str, ...]) -> CellNumbers:
    """Return completion times of short transfers, and the goodput of the long flows next to them.

    `groups` are prefixes of the transfers' names, one per size. ``goodput`` is that of the flows
    ``long...`` together; each group has ``fct_mean_GROUP``, ``fct_p50_GROUP``, ``fct_p95_GROUP`` and
    ``fct_p99_GROUP`` (s). A transfer that has not ended counts with the length of the run.
    """
    end_s = run.summary["duration_s"]
    values = {"goodput": sum(_goodputs(flows(run, "long")))}
    for group in groups:
        times = [end_s if time_s is None else time_s for time_s in _times(run, group)]
        values[f"fct_mean_{group}"] = float(np.mean(times))
        for percent in (50, 95, 99):
            values[f"fct_p{percent}_{group}"] = float(np.percentile(times, percent))
    return values


def _times(run: Run, group: str) -> list[float | None]:
    return [flow["completion_s"] for flow in flows(run, group)]


def requests(run: Run, *, flow: str = "c") -> CellNumbers:
    """Return `general` and the times of the requests of a flow, by its name.

    ``request_p50``, ``request_p95`` and ``request_p99`` are seconds; the length of the run when no
    request was completed.
    """
    summary = next(each for each in run.summary["flows"] if each["name"] == flow)
    end_s = run.summary["duration_s"]
    times = {
        "request_p50": summary["request_p50_s"],
        "request_p95": summary["request_p95_s"],
        "request_p99": summary["request_p99_s"],
    }
    return general(run) | {key: end_s if time_s is None else time_s for key, time_s in times.items()}


def page_times(run: Run) -> CellNumbers:
    """Return `general` and the request times of the flows ``c-page``, as means over the connections."""
    times_by_metric = {}
    for name, key in (("request_p50", "request_p50_s"), ("request_p95", "request_p95_s")):
        times = [flow[key] for flow in flows(run, "c-page")]  # type: ignore[literal-required]
        known = [time_s for time_s in times if time_s is not None]
        times_by_metric[name] = sum(known) / len(known) if known else run.summary["duration_s"]
    return general(run) | times_by_metric


def completion(run: Run) -> CellNumbers:
    """Return `general` and ``completion`` (s) of the one transfer under test.

    It is the length of the run when the transfer has not ended.
    """
    took_s = flows(run, "c")[0]["completion_s"]
    took_s = run.summary["duration_s"] if took_s is None else took_s
    return general(run) | {"completion": took_s}


def datagrams(run: Run) -> CellNumbers:
    """Return `general` and ``datagram_loss``, the share that the flow ``datagrams`` loses."""
    return general(run) | {"datagram_loss": _lost(run, "datagrams")}


def audio(run: Run) -> CellNumbers:
    """Return `victims`, ``delay_p95`` of the bottleneck (ms), and ``audio_loss`` of the flow ``audio``."""
    delay_ms = bottleneck(run)["queue_delay_p95_ms"] or 0.0
    return victims(run) | {"delay_p95": delay_ms, "audio_loss": _lost(run, "audio")}


def behind_two(run: Run) -> CellNumbers:
    """Return `general` with ``delay_p95`` as the sum over two links in a row, ms."""
    delays = [link["queue_delay_p95_ms"] or 0.0 for link in run.summary["links"][::2]]
    return general(run) | {"delay_p95": sum(delays)}


def _lost(run: Run, name: str) -> float:
    flow = flows(run, name)[0]
    return flow["dropped_packets"] / max(1, flow["sent_packets"])


def cross_traffic(run: Run) -> CellNumbers:
    """Return `general` and ``cross_loss``, the share that the flow ``cross`` loses."""
    return general(run) | {"cross_loss": _lost(run, "cross")}


def burst(run: Run) -> CellNumbers:
    """Return `general` and ``burst_p95``, the completion time of the flows ``burst`` (s)."""
    return general(run) | {"burst_p95": completions(run, groups=("burst",))["fct_p95_burst"]}


def unfairness(run: Run) -> CellNumbers:
    """Return `general`, ``goodput_ratio`` of a near and a far flow, and its ``exponent`` in their RTTs."""
    short, long = (max(1e-3, flow["goodput_mbps"] or 0.0) for flow in run.summary["flows"])
    near_ms, far_ms = (flow["rtt_ms"] for flow in run.summary["flows"])
    exponent = math.log(short / long) / math.log(far_ms / near_ms)
    return general(run) | {"goodput_ratio": short / long, "exponent": exponent}


def real_time(run: Run) -> CellNumbers:
    """Return `victims`, and of the flows ``video`` and ``audio`` one-way delay, loss and lateness.

    ``delay_p50``, ``delay_p95`` and ``delay_p99`` (ms) and ``late`` are those of the flow with more;
    ``media_loss`` is the loss of all; ``tfrc_ratio`` is the goodput of TFRC relative to one flow of the
    control.
    """
    media = [flow for flow in run.summary["flows"] if flow["name"] in ("video", "audio")]
    sent = sum(flow["sent_packets"] for flow in media)
    lost = sum(flow["dropped_packets"] for flow in media)
    rates = _goodputs(flows(run, "c"))
    mine = sum(rates) / len(rates)
    tfrc = flows(run, "v-tfrc")[0]["goodput_mbps"] or 0.0
    return victims(run) | {
        "delay_p50": max(flow["delay_p50_ms"] or 0.0 for flow in media),
        "delay_p95": max(flow["delay_p95_ms"] or 0.0 for flow in media),
        "delay_p99": max(flow["delay_p99_ms"] or 0.0 for flow in media),
        "late": max(flow["late"] or 0.0 for flow in media),
        "media_loss": lost / sent,
        "tfrc_ratio": tfrc / mine if mine else float("nan"),
    }


def sessions(run: Run, *, groups: tuple[str, ...]) -> CellNumbers:
    """Return `completions`, ``delay_p95`` of the bottleneck (ms) and the ``loss`` of all flows."""
    sent = sum(flow["sent_packets"] for flow in run.summary["flows"])
    lost = sum(flow["dropped_packets"] for flow in run.summary["flows"])
    return completions(run, groups=groups) | {
        "delay_p95": bottleneck(run)["queue_delay_p95_ms"] or 0.0,
        "loss": lost / max(1, sent),
    }


def policed(run: Run, *, tokens_mbps: float) -> CellNumbers:
    """Return `general` and ``of_tokens``, the goodput relative to the rate of a policer."""
    numbers = general(run)
    return numbers | {"of_tokens": numbers["goodput"] / tokens_mbps}
