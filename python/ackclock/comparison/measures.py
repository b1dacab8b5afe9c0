"""The measures of a run of the suite *everyday*: its flows are named ``first`` and ``second``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ackclock import metrics
from ackclock.comparison.path import recovery_scale_s, samples_s
from ackclock.engine import FlowSummary, Run
from ackclock.summary import LimitedBy, flow_row

RunNumbers = dict[str, float]
"""The metrics of one run."""
SMOOTHNESS_RTTS = 10
"""A rate is averaged over so many round trips before its CoV is computed."""
RECOVERED = 0.9
"""A flow has recovered when it reaches this share of its goodput before the step."""
LIMITS = tuple(f"limited_by_{what}" for what in LimitedBy.__annotations__)
"""Shares of the time during which a limit kept a flow alone from sending more."""
CAUSES = ("random_losses", "queue_drops", "earlier_drops", "marks", *LIMITS)
"""The counts of a flow alone that tell its limit."""


def group(run: Run, name: str) -> list[FlowSummary]:
    """Return the flows of a name, which are numbered if there are several."""
    return [flow for flow in run.summary["flows"] if re.fullmatch(rf"{name}(-\d+)?", flow["name"])]


def _goodput(flows: Sequence[FlowSummary]) -> float:
    return sum(flow["goodput_mbps"] or 0.0 for flow in flows)


def _received(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the times of samples, and the bytes that the flows ``first`` received in each."""
    windows = run.windows.filter(pl.col("flow") < len(group(run, "first")))
    sums = windows.group_by("time_s").agg(pl.col("arrived_bytes").sum()).sort("time_s")
    return sums["time_s"].to_numpy(), sums["arrived_bytes"].to_numpy()


def _mean(values: list[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else float("nan")


def everyday_alone(run: Run) -> RunNumbers:
    """Return metrics of the flows ``first``, which are alone.

    ``goodput`` (Mbit/s), ``delay`` and ``delay_p95`` (mean and 95th percentile of the RTT minus
    propagation, ms), ``loss`` (dropped over sent packets, including random losses), ``cov`` of the rate
    of arrival, and `CAUSES`: losses at random and in the queue, those in the queue before the measured
    time, marks, and the mean of the flows' `LIMITS`.
    """
    flows, link = group(run, "first"), run.summary["links"][0]
    rtt_ms, from_s = flows[0]["rtt_ms"], run.summary["measured_from_s"]
    scale_s = samples_s(SMOOTHNESS_RTTS * rtt_ms / 1e3)
    _, rates = metrics.over_intervals(*_received(run), scale_s, from_s, run.summary["duration_s"])
    rows = [flow_row(flow) for flow in flows]
    dropped = sum(flow["dropped_packets"] for flow in flows)
    # The bottleneck is the first link.
    before = run.queues_of(0).filter(pl.col("time_s") <= from_s)
    return {
        "goodput": _goodput(flows),
        # Percentiles come from a histogram, and its bins may end below the propagation delay.
        "delay": float(np.maximum(0.0, _mean([flow["mean_rtt_ms"] for flow in flows]) - rtt_ms)),
        "delay_p95": float(np.maximum(0.0, _mean([flow["rtt_p95_ms"] for flow in flows]) - rtt_ms)),
        "loss": metrics.loss_rate(dropped, sum(flow["sent_packets"] for flow in flows)),
        "cov": float(metrics.cov(rates)),
        "random_losses": float(link["random_losses"]),
        "queue_drops": float(link["queue_drops"]),
        "earlier_drops": float(before["drops"].sum()),
        "marks": float(link["marks"]),
        **{key: float(np.mean([row[key] or 0.0 for row in rows])) for key in LIMITS},
    }


def everyday_pair(run: Run) -> RunNumbers:
    """Return the shares of the flows ``first`` and ``second``.

    ``goodput`` and ``victim_goodput`` (Mbit/s) of the two groups, ``share`` of the first,
    ``smallest_share`` of a group relative to half, ``jain`` over all of their flows, and
    ``goodput_ratio``.
    """
    first, second = group(run, "first"), group(run, "second")
    own, left = _goodput(first), _goodput(second)
    total = own + left
    return {
        "goodput": own,
        "victim_goodput": left,
        "share": own / total if total else float("nan"),
        "smallest_share": 2 * min(own, left) / total if total else float("nan"),
        "jain": float(metrics.jain([flow["goodput_mbps"] or 0.0 for flow in (*first, *second)])),
        "goodput_ratio": metrics.throughput_ratio(own, left) if own and left else float("nan"),
    }


def everyday_step(run: Run, *, taken_s: float, freed_s: float) -> RunNumbers:
    """Return ``recovery``, the time after `freed_s` until the goodput is nine tenths of that until `taken_s`.

    Times are in seconds; it is infinite if the goodput never is. Rates are averaged over a second, or
    five longer round trips.
    """
    time_s, received = _received(run)
    before = metrics.goodput(time_s, received, run.summary["measured_from_s"], taken_s)
    scale_s = recovery_scale_s(group(run, "first")[0]["rtt_ms"])
    ends, rates = metrics.over_intervals(time_s, received, scale_s, freed_s, run.summary["duration_s"])
    back = rates * 8e-6 >= RECOVERED * before
    return {"recovery": float(ends[np.argmax(back)] - freed_s) if back.any() else float("inf")}


RunMeasure = Callable[..., RunNumbers]
MEASURES: Mapping[str, RunMeasure] = {
    function.__name__: function for function in (everyday_alone, everyday_pair, everyday_step)
}
"""Functions of a run, by the name that the suite has for them."""
RECORDED = frozenset({"everyday_alone", "everyday_step"})
"""The measures that need tables over time."""
