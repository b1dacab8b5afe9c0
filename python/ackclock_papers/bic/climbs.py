"""Figure 5: how the window of BI-TCP grows after a large reduction."""

from __future__ import annotations

import numpy as np
import polars as pl

from ackclock.engine import Run
from ackclock.reproduction.claims.numbers import Row

LARGEST_STEP = 32.0
"""S_max, packets per round trip."""
CLIMBS = ("first growth", "last growth", "last growth of samples")
"""Packets in the first round trip in which a window grows after a large reduction, and in the last one before
it is as large as before or loses again, means over the reductions; NaN without one. Of samples: before the
last sample of that time."""


def measure_climbs(run: Run) -> Row:
    """Measure the growth per round trip as the first flow begins and ends to climb, by `CLIMBS`.

    Only climbs after large reductions count: those whose way to the midpoint is longer than S_max. After a
    smaller window than the one before, fast convergence would halve that way.
    """
    own = run.windows_of(0).filter(pl.col("window").is_not_null())
    own = own.filter(pl.col("rtt_ms").is_not_null())
    time_s, window, rtt_ms = (own[key].to_numpy().astype(float) for key in ("time_s", "window", "rtt_ms"))
    events = run.events.filter(pl.col("flow") == 0)
    losses = events.filter(pl.col("kind") == "loss")
    ends_s = [*events.filter(pl.col("kind").is_in(["loss", "timeout"]))["time_s"], float(time_s[-1])]
    recovered_s = events.filter(pl.col("kind") == "recovered")["time_s"].to_list()
    first, last, sampled, earlier = [], [], [], np.inf
    for at_s, before, after in losses.select("time_s", "window_before", "window_after").iter_rows():
        is_large, earlier = before > earlier and before - after > 2 * LARGEST_STEP, before
        end_s = min((end for end in ends_s if end > at_s), default=at_s)
        begin_s = min((begin for begin in recovered_s if begin > at_s), default=end_s)
        climb = np.flatnonzero((time_s >= begin_s) & (time_s < end_s) & (window < before))
        if at_s < run.summary["measured_from_s"] or not is_large or not len(climb):
            continue
        top = climb[-1]
        trip_s, last_trip_s = rtt_ms[climb[0]] / 1000, rtt_ms[top] / 1000
        if time_s[top] - begin_s >= trip_s + last_trip_s:
            first.append(np.interp(begin_s + trip_s, time_s, window) - after)
            sampled.append(window[top] - np.interp(time_s[top] - last_trip_s, time_s, window))
            # Samples end up to most of a round trip before the loss, and growth halves in one.
            highest = losses.filter(pl.col("time_s") == end_s)["window_before"].to_list()
            is_cut_short = bool(highest) and highest[0] < before
            last.append(
                highest[0] - np.interp(end_s - last_trip_s, time_s, window) if is_cut_short else sampled[-1]
            )
    means = (float(np.mean(growth)) if growth else float("nan") for growth in (first, last, sampled))
    return dict(zip(CLIMBS, means, strict=True))
