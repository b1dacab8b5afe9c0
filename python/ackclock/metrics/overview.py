"""Every standard metric of a run or several, each with its 95 % interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ackclock.decision import intervals
from ackclock.decision.intervals import Estimate
from ackclock.metrics import congestion, rates
from ackclock.summary import FlowSummary, Summary, is_controlled

BATCHES = 20
MERGE_RTTS = 2.0
"""Loss events of a flow closer than this belong to one congestion event."""


class Trace(Protocol):
    """The measured parts of a finished run (`ackclock.Run`)."""

    @property
    def summary(self) -> Summary:
        """Counts and means of the measured time, by flow and link."""

    @property
    def windows(self) -> pl.DataFrame:
        """The samples of all flows."""

    @property
    def queues(self) -> pl.DataFrame:
        """The samples of all links."""

    @property
    def events(self) -> pl.DataFrame:
        """Loss events and timeouts."""


Samples = tuple[NDArray[np.float64], NDArray[np.uint64]]
"""Times in seconds, and bytes delivered by then."""
Quantity = tuple[str, str, str]
"""Subject (a flow, a link, or all flows), metric and unit."""


def overview(runs: Sequence[Trace]) -> pl.DataFrame:
    """Measure runs of one scenario.

    Parameters
    ----------
    runs : sequence of Trace
        Recorded runs that differ only by their random streams. Intervals are over runs or, for
        a single run, over 20 batches of its measured time.

    Returns
    -------
    polars.DataFrame
        Columns subject, metric, unit, value, low, high, samples, warning; null where a metric
        has no value or no interval.
    """
    if not runs:
        raise ValueError("runs: there must be at least one")
    estimates = _of_runs(runs) if len(runs) > 1 else _of_one_run(runs[0])
    estimates = {name: intervals.within(estimate, *_possible(*name)) for name, estimate in estimates.items()}
    subjects = list(dict.fromkeys(subject for subject, _, _ in estimates))
    ordered = sorted(estimates.items(), key=lambda item: subjects.index(item[0][0]))
    rows = [
        {
            "subject": subject,
            "metric": metric,
            "unit": unit,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "samples": estimate.samples,
            "warning": estimate.warning,
        }
        for (subject, metric, unit), estimate in ordered
    ]
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)


SHARES = ("loss rate", "loss-event rate", "utilisation")


def _possible(_subject: str, metric: str, _unit: str) -> tuple[float, float]:
    """Return the smallest and largest possible number of a metric."""
    is_share = metric in SHARES or metric.startswith(("Jain's index", "congestion events that"))
    return 0.0, 1.0 if is_share else np.inf


def _of_runs(runs: Sequence[Trace]) -> dict[Quantity, Estimate]:
    by_run = [_quantities(run) for run in runs]
    random = len({run.summary["digest"] for run in runs}) > 1
    estimates = {}
    for name in dict.fromkeys(name for values in by_run for name in values):
        estimate = intervals.over_runs([values.get(name, np.nan) for values in by_run])
        # Runs that differ may have equal numbers, such as no timeout in any of them.
        if random and estimate.warning == intervals.NOT_RANDOM:
            estimate = replace(estimate, warning="")
        estimates[name] = estimate
    return estimates


def _of_one_run(run: Trace) -> dict[Quantity, Estimate]:
    start, end = run.summary["measured_from_s"], run.summary["duration_s"]
    edges = np.linspace(start, end, BATCHES + 1)
    batches = [dict(_in_part(run, float(low), float(high))) for low, high in pairwise(edges)]
    estimates = {}
    for name, value in _quantities(run).items():
        means = [batch[name] for batch in batches if name in batch]
        if len(means) < BATCHES:
            estimates[name] = Estimate(value, np.nan, np.nan, 1, intervals.ONE_RUN)
        else:
            # The value is taken over the whole run: a CoV or percentile of batches omits the differences
            # between batches. The spread of the batches gives the interval.
            spread = intervals.of_batches(means)
            half = (spread.high - spread.low) / 2
            estimates[name] = replace(spread, value=value, low=value - half, high=value + half)
    return estimates


def _quantities(run: Trace) -> dict[Quantity, float]:
    """Measure the whole time: the metrics of parts, and the metrics that only the summary has."""
    start, end = run.summary["measured_from_s"], run.summary["duration_s"]
    quantities = dict(_in_part(run, start, end)) | dict(_epochs(run, start))
    for flow in run.summary["flows"]:
        # The summary knows the times when a flow was active, and its window at every moment.
        for metric, unit, value in (
            ("goodput", "Mbit/s", flow["goodput_mbps"]),
            ("mean window", "packets", flow["mean_window"]),
        ):
            if value is not None:
                quantities[flow["name"], metric, unit] = value
        # The drops of a real path are unknown.
        if flow["dropped_packets"] is not None:
            lost = rates.loss_rate(flow["dropped_packets"], flow["sent_packets"])
            quantities[flow["name"], "loss rate", "1"] = lost
        if flow["loss_events"] is not None:
            events = flow["loss_events"] + flow["timeouts"]
            loss_events = rates.loss_rate(events, flow["sent_packets"])
            quantities[flow["name"], "loss-event rate", "1"] = loss_events
    return quantities


def _in_part(run: Trace, start_s: float, end_s: float) -> Iterator[tuple[Quantity, float]]:
    """Yield the metrics that exist in any part of a run."""
    inside = pl.col("time_s").is_between(start_s, end_s, closed="right")
    windows = run.windows.filter(inside)
    # Done once for all flows: a Polars query takes as long as thousands of packets.
    by_flow = windows.partition_by("flow", as_dict=True)
    delivered: list[Samples] = []
    for flow in run.summary["flows"]:
        name, samples = flow["name"], by_flow.get((flow["id"],), windows.clear())
        time = samples["time_s"].to_numpy()
        received = samples["arrived_bytes"].to_numpy()
        delivered.append((time, received))
        yield (name, "goodput", "Mbit/s"), rates.goodput(time, received, start_s, end_s)
        window = samples["window"].to_numpy()
        window = window[~np.isnan(window)]
        if window.size:
            yield (name, "mean window", "packets"), float(window.mean())
        sent = samples["sent_bytes"].to_numpy()
        if sent.any():
            yield (name, "CoV of the rate", "1"), float(rates.cov(sent))
        # A sample without an RTT is NaN.
        rtt_ms = samples["rtt_ms"].to_numpy()
        delays = rates.delay_percentiles_ms(rtt_ms, flow["rtt_ms"])
        for percent, delay in zip((50, 95, 99), delays, strict=True):
            if not np.isnan(delay):
                yield (name, f"queueing delay p{percent}", "ms"), float(delay)
    yield from _fairness(run, delivered)
    queues = run.queues.filter(inside)
    for index, link in enumerate(run.summary["links"]):
        samples = queues.filter(pl.col("link") == index)
        shares = samples["utilisation"].to_numpy()
        used = rates.utilisation(samples["time_s"].to_numpy(), shares, start_s, end_s)
        yield (link["id"], "utilisation", "1"), used
        if samples.height:
            mean = samples["mean_packets"].to_numpy().mean()
            yield (link["id"], "mean queue", "packets"), float(mean)


def _together(flows: Sequence[FlowSummary]) -> list[tuple[str, list[FlowSummary]]]:
    """Group the flows with a congestion control by the direction of their data.

    Flows that nothing slows down have no fairness, and flows of different directions share no queue.
    """
    groups: dict[str, list[FlowSummary]] = {}
    for flow in flows:
        if is_controlled(flow):
            # A flow that was measured in the kernel has no keys of a scenario.
            direction = flow["settings"]["direction"] if "settings" in flow else "forward"
            groups.setdefault(direction, []).append(flow)
    alone = len(groups) == 1
    return [("all flows" if alone else f"{key} flows", group) for key, group in groups.items()]


def _fairness(run: Trace, delivered: Sequence[Samples]) -> Iterator[tuple[Quantity, float]]:
    index_of = {flow["id"]: index for index, flow in enumerate(run.summary["flows"])}
    for words, flows in _together(run.summary["flows"]):
        columns = [delivered[index_of[flow["id"]]] for flow in flows]
        if len(columns) < 2 or len({len(time) for time, _ in columns}) > 1:
            continue
        amounts = np.stack([received for _, received in columns], axis=1).astype(float)
        if amounts.any():
            mean = float(rates.jain(amounts.sum(axis=0)))
            yield (words, "Jain's index of the means", "1"), mean
            short = rates.jain(amounts[amounts.any(axis=1)], axis=1)
            yield (words, "Jain's index per sample, mean", "1"), float(short.mean())


def _epochs(run: Trace, start_s: float) -> Iterator[tuple[Quantity, float]]:
    losses = run.events.filter(pl.col("kind").is_in(["loss", "timeout"]))
    controlled = [flow for flow in run.summary["flows"] if is_controlled(flow)]
    for flow in controlled:
        times = losses.filter(pl.col("flow") == flow["id"])["time_s"].to_numpy()
        epochs = congestion.epochs(times, MERGE_RTTS * flow["rtt_ms"] / 1000, start_s)
        if epochs:
            length = float(np.mean([epoch.length_s for epoch in epochs]))
            yield (flow["name"], "congestion epoch, mean", "s"), length
    for words, flows in _together(controlled):
        ids = [flow["id"] for flow in flows]
        measured = losses.filter((pl.col("time_s") >= start_s) & pl.col("flow").is_in(ids))
        if len(flows) < 2 or not measured.height:
            continue
        longest = max(flow["rtt_ms"] for flow in flows) / 1000
        events = congestion.congestion_events(
            measured["time_s"].to_numpy(), measured["flow"].to_numpy(), MERGE_RTTS * longest
        )
        half = int(np.ceil(len(flows) / 2))
        share = congestion.synchronisation([len(losers) for _, losers in events], half)
        least = "1 flow" if half == 1 else f"{half} flows"
        yield (words, f"congestion events that {least} or more share", "1"), float(share)
