"""The traces of runs that figures show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from ackclock.engine import Run


def window_trace(
    run: Run,
    every_s: float = 0.0,
    start_s: float = 0.0,
    end_s: float = 1e9,
    *,
    flows: Sequence[int] | None = None,
) -> pl.DataFrame:
    """Return the trace of a run's windows from `start_s` to `end_s`, with the names of its flows.

    Samples closer than `every_s` are left out, and `flows` has the indices of the flows to keep, by default
    all. The columns are time_s, name, window, rtt_ms and sent_bytes.
    """
    names = {flow["id"]: flow["name"] for flow in run.summary["flows"]}
    frame = run.windows.filter(pl.col("time_s").is_between(start_s, end_s))
    if flows is not None:
        frame = frame.filter(pl.col("flow").is_in(flows))
    if every_s > 0:
        frame = frame.filter((pl.col("time_s") / every_s).round(6) % 1 == 0)
    return frame.select(
        "time_s",
        pl.col("flow").replace_strict(names, return_dtype=pl.String).alias("name"),
        "window",
        "rtt_ms",
        "sent_bytes",
    )
