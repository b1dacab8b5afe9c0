"""A trace of the kernel's controls as a run like any other, for every metric and picture."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import cast

import numpy as np
import polars as pl

from ackclock import engine
from ackclock.engine import Run, Summary

MARKS = ("start", "loss", "timeout", "undo", "idle", "stop")
"""Kinds of changes that are events; the other kind is acknowledgements."""
COUNTERS = ("sent_packets", "delivered_packets", "retransmitted_packets")
CHANGES = {
    "time_us": pl.Int64,
    "connection": pl.String,
    "kind": pl.String,
    "control": pl.String,
    "window": pl.Float64,
    "ssthresh": pl.Float64,
    "rtt_us": pl.Int64,
    "delivered_packets": pl.Int64,
    "sent_packets": pl.Int64,
    "retransmitted_packets": pl.Int64,
    "in_flight_packets": pl.Int64,
    "segment_bytes": pl.Int64,
    "source_port": pl.Int64,
    "destination_port": pl.Int64,
    "internals": pl.String,
}
"""The columns of ``ackclock-kernel trace``; windows are packets."""


def read_changes(text: str) -> pl.DataFrame:
    """Read the output of ``ackclock-kernel trace``, with its header, as a row per change."""
    return pl.read_csv(io.StringIO(text), schema=pl.Schema(CHANGES))


def run_of(changes: pl.DataFrame, *, sample_s: float = 0.1, warmup_s: float = 0.0) -> Run:
    """Build a run from every change of a window in the kernel, with a flow per connection that sent data.

    Windows and round-trip times are those of the kernel's control, delivered bytes are the
    application's. Quantities that only a simulator knows (queues, dropped packets) are left out. The
    table of windows is sampled every `sample_s` seconds; the summary is measured from `warmup_s`
    seconds after the first change. Flows are in the order in which they began. A ValueError is raised
    if no connection sent data, or if the warm-up leaves nothing.
    """
    changes = _numbered(changes)
    if changes.is_empty():
        raise ValueError("no connection with a control of ackclock sent data")
    duration_s = float(changes["time_s"].to_numpy()[-1])
    if warmup_s >= duration_s:
        raise ValueError(f"the warm-up of {warmup_s} s is longer than the trace of {duration_s} s")
    flows, windows, events = [], [], []
    for (flow,), own in changes.group_by("flow", maintain_order=True):
        table = own.drop("flow")
        flows.append(_summary(int(str(flow)), table, warmup_s))
        windows.append(_sampled(table, sample_s).with_columns(flow=pl.lit(flow, pl.UInt32)))
        before = table.with_columns(window_before=pl.col("window").shift(1).fill_null(strategy="backward"))
        events.append(
            before.filter(pl.col("kind").is_in(MARKS)).select(
                "time_s",
                pl.lit(flow, pl.UInt32).alias("flow"),
                "kind",
                "window_before",
                window_after="window",
            )
        )
    summary = {
        "version": engine.__version__,
        "digest": None,
        "duration_s": duration_s,
        "measured_from_s": warmup_s,
        "flows": flows,
        "links": [],
    }
    first = ["time_s", "flow", "window", "ssthresh", "rtt_ms"]
    table = pl.concat(windows, how="diagonal").sort("time_s", "flow")
    tables = {
        "windows": table.select(*first, pl.exclude(first)),
        "queues": engine.empty_table("queues"),
        "requests": engine.empty_table("requests"),
        "events": pl.concat(events).sort("time_s", maintain_order=True),
        "changes": changes,
    }
    # Values that a simulation always has and a kernel does not report are None: the digest, drops.
    text = "# Measured in the Linux kernel's TCP: there is no scenario.\n"
    return Run(cast(Summary, summary), text, tables)


def _numbered(changes: pl.DataFrame) -> pl.DataFrame:
    """Assign numbers to flows, and convert the kernel's counts to the units of a trace."""
    # A connection is identified by its address in the kernel, until another begins there.
    begun = (pl.col("kind") == "start").cast(pl.UInt32).cum_sum().over("connection")
    flow = pl.struct("connection", begun.alias("begun"))
    kept = (
        changes.with_row_index("order")
        .sort("time_us", "order")
        .with_columns(key=flow)
        .filter(pl.col("sent_packets").max().over("key") > 0)
    )
    if kept.is_empty():
        return kept
    names = kept["internals"].str.extract_all(r"[a-z_]+=").explode().drop_nulls().unique(maintain_order=True)
    return kept.select(
        time_s=(pl.col("time_us") - pl.col("time_us").min()) / 1e6,
        flow=_in_order(kept),
        kind="kind",
        control="control",
        source_port="source_port",
        window="window",
        ssthresh="ssthresh",
        rtt_ms=pl.when(pl.col("rtt_us") > 0).then(pl.col("rtt_us") / 1000),
        in_flight_packets=pl.col("in_flight_packets").cast(pl.UInt64),
        segment_bytes="segment_bytes",
        **{name: pl.col(name).cast(pl.Int64) for name in COUNTERS},
        **{
            name[:-1]: pl.col("internals").str.extract(rf"\b{name}([^ ]+)").cast(pl.Float64) for name in names
        },
    )


def _in_order(kept: pl.DataFrame) -> pl.Series:
    order = kept.select(pl.col("key")).unique(maintain_order=True).with_row_index("flow")
    return kept.join(order, on="key", how="left", maintain_order="left")["flow"].cast(pl.UInt32)


def _sampled(own: pl.DataFrame, sample_s: float) -> pl.DataFrame:
    """Take the last change at every multiple of the spacing while the connection lasts."""
    start, end = (float(value) for value in own["time_s"].to_numpy()[[0, -1]])
    first = int(np.floor(start / sample_s)) + 1
    times = np.arange(first, int(np.floor(end / sample_s)) + 1) * sample_s
    taken = pl.DataFrame({"time_s": times}).join_asof(
        own.drop("kind", "control", "source_port"), on="time_s", strategy="backward"
    )
    # The kernel counts packets that were reported as received in any order: the data that the
    # application has read is not known.
    sizes = {
        "sent_bytes": "sent_packets",
        "arrived_bytes": "delivered_packets",
        "delivered_bytes": "delivered_packets",
    }
    return (
        taken.with_columns(
            (pl.col(counter).diff().fill_null(pl.col(counter)) * pl.col("segment_bytes"))
            .cast(pl.UInt64)
            .alias(name)
            for name, counter in sizes.items()
        )
        .with_columns(one_way_delay_ms=pl.lit(None, pl.Float64))
        .drop(*COUNTERS, "segment_bytes")
    )


def _summary(flow: int, own: pl.DataFrame, warmup_s: float) -> dict[str, object]:
    time = own["time_s"].to_numpy()
    start, end = max(warmup_s, float(time[0])), float(time[-1])
    rtt = own["rtt_ms"].drop_nulls()
    span = end - start
    at_start = int(np.searchsorted(time, start, side="right")) - 1
    part = own[max(at_start, 0) :]
    held = np.diff(np.append(np.maximum(part["time_s"].to_numpy(), start), end))
    counts = {name: int(part[name][-1] - part[name][0]) for name in COUNTERS}
    events = own.filter(pl.col("time_s") >= start)["kind"]
    name = f"{own['control'][0]}-{own['source_port'][0]}"

    def over_time(column: str) -> float | None:
        values = part[column].to_numpy().astype(float)
        known = ~np.isnan(values) & (held > 0)
        return float(np.average(values[known], weights=held[known])) if known.any() else None

    sampled = part["rtt_ms"].drop_nulls()
    bits = counts["delivered_packets"] * int(own["segment_bytes"].to_numpy().max()) * 8
    return {
        "id": flow,
        "name": name,
        "controller": own["control"][0],
        "kind": "window",
        "rtt_ms": float(rtt.to_numpy().min()) if rtt.len() else None,
        "goodput_mbps": bits / span * 1e-6 if span > 0 else None,
        "in_order_mbps": None,
        "limited_by": None,
        "mean_window": over_time("window"),
        "max_window": own["window"].max(),
        "mean_rtt_ms": over_time("rtt_ms"),
        **{f"rtt_p{p}_ms": sampled.quantile(p / 100) for p in (50, 95, 99)},
        "sent_packets": counts["sent_packets"],
        "retransmitted_packets": counts["retransmitted_packets"],
        "dropped_packets": None,
        "loss_events": int((events == "loss").sum()),
        "timeouts": int((events == "timeout").sum()),
        "duplicate_packets": None,
        "dropped_acks": None,
        "completion_s": None,
        "requests_completed": None,
        **{f"request_p{p}_s": None for p in (50, 95, 99)},
        **{f"delay_p{p}_ms": None for p in (50, 95, 99)},
        "late": None,
        "start_s": float(own["time_s"].to_numpy()[0]),
        "bytes": None,
        "whole_run": dict(_whole_run(own)),
    }


def _whole_run(own: pl.DataFrame) -> Iterator[tuple[str, int | None]]:
    for name in ("sent_packets", "retransmitted_packets"):
        yield name, int(own[name].to_numpy()[-1])
    yield "dropped_packets", None
    yield "loss_events", int((own["kind"] == "loss").sum())
    yield "timeouts", int((own["kind"] == "timeout").sum())
    yield "duplicate_packets", None
    yield "dropped_acks", None
