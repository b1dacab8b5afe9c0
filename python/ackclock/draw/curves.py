"""The time series of a run as columns, for pictures and for pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ackclock.draw.figure import SECONDS, Axis, Chart, Group, Series
from ackclock.summary import Summary

TimeSeries = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Time in seconds, and values."""
PARTS = 100
"""Goodputs are averaged over so many parts of a run."""
MOST_FLOWS = 24
"""A page draws no more flows: they would be indistinguishable."""
OF_FLOWS = (
    ("window", "Congestion window", Axis("window", "packets")),
    ("rtt_ms", "Round-trip time", Axis("RTT", "ms")),
)


class Recorded(Protocol):
    """The parts of a run that are drawn (`ackclock.Run`)."""

    @property
    def summary(self) -> Summary:
        """Its duration, and its flows and links with their measured values."""

    @property
    def scenario(self) -> str:
        """The scenario as run, as TOML."""

    @property
    def tables(self) -> Mapping[str, object]:
        """The recorded tables by name."""

    @property
    def windows(self) -> pl.DataFrame:
        """The samples of all flows."""

    @property
    def queues(self) -> pl.DataFrame:
        """The samples of all links."""


def of_flow(run: Recorded, flow: int, column: str) -> TimeSeries:
    """Return times in seconds and a column of ``run.windows`` of a flow, with NaN for missing values."""
    samples = run.windows.filter(pl.col("flow") == flow)
    return samples["time_s"].to_numpy(), samples[column].cast(pl.Float64).to_numpy()


def rate(run: Recorded, flow: int, column: str = "arrived_bytes") -> TimeSeries:
    """Return the goodput in hundredths of the run: their ends in seconds, and Mbit/s.

    `column` is ``arrived_bytes``, in whatever order, which no link can exceed; or ``delivered_bytes``, in
    order, where data that waited for a lost packet counts when that arrives.
    """
    edges = np.linspace(0.0, run.summary["duration_s"], PARTS + 1)
    samples = run.windows.filter(pl.col("flow") == flow)
    time_s = np.concatenate([[0.0], samples["time_s"].to_numpy()])
    received = np.concatenate([[0.0], samples[column].to_numpy().cumsum()])
    mbps = np.diff(np.interp(edges, time_s, received)) * 8e-6 / np.diff(edges)
    return edges[1:], mbps


def queues(run: Recorded) -> list[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Return link, seconds and packets of the first queue, and of all others that were ever in use."""
    shown = []
    for index, link in enumerate(run.summary["links"]):
        samples = run.queues.filter(pl.col("link") == index)
        values = samples["mean_packets"].cast(pl.Float64).to_numpy()
        if index == 0 or np.nan_to_num(values).any():
            shown.append((link["id"], samples["time_s"].to_numpy(), values))
    return shown


def charts(run: Recorded) -> Group:
    """Return linked charts of windows, RTTs, queues and goodputs over time.

    They show the first `MOST_FLOWS` flows and links; datagrams add a chart of one-way delays.
    """
    flows = run.summary["flows"][:MOST_FLOWS]
    time = Axis(SECONDS.label, SECONDS.unit, range=(0.0, run.summary["duration_s"]))

    def of_flows(key: str, title: str, axis: Axis, curves: list[TimeSeries]) -> Chart:
        series = [
            Series(flow["name"], index, *curve)
            for index, (flow, curve) in enumerate(zip(flows, curves, strict=True))
        ]
        return Chart(key, f"{title} ({axis.unit})", time, axis, series)

    window, rtt = (
        of_flows(key, title, axis, [of_flow(run, flow["id"], key) for flow in flows])
        for key, title, axis in OF_FLOWS
    )
    part_s = run.summary["duration_s"] / PARTS
    mean = f"mean of {part_s:.3g} s"
    rates, in_order = (
        of_flows(
            key,
            f"{title}, {mean}",
            Axis("goodput", "Mbit/s"),
            [rate(run, flow["id"], column) for flow in flows],
        )
        for key, title, column in (
            ("goodput", "Goodput as it arrives", "arrived_bytes"),
            ("in-order", "Delivered in order", "delivered_bytes"),
        )
    )
    ways = [of_flow(run, flow["id"], "one_way_delay_ms") for flow in flows]
    has_delays = any(np.isfinite(values).any() for _, values in ways)
    delays = [of_flows("delay", "One-way delay of datagrams", Axis("delay", "ms"), ways)] * has_delays
    # A link has its own colour, and a name that no flow has.
    names = {flow["name"] for flow in flows}
    queue = Chart(
        "queue",
        "Queue (packets)",
        time,
        Axis("queue", "packets"),
        [
            Series(f"link {name}" if name in names else name, len(flows) + index, time_s, values)
            for index, (name, time_s, values) in enumerate(queues(run)[:MOST_FLOWS])
        ],
    )
    return Group([window, rates, queue, rtt, *delays, in_order])
