"""Measurements of the figures with one flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run
from ackclock_papers.illinois.setting import MEASURED_FROM_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

MERGE_RTTS = 2.0
"""Loss events closer than this are one congestion event: its retransmissions may be lost, too."""

RECOVERY_RTTS = 3.0
"""Round trips left out at the start of an epoch when its curve is judged: the recovery, and the first
measurement of the delay after it."""

SMOOTH_SHARE = 0.04
"""Width of the moving average as a share of the epoch, at least a round trip: a window that
counts whole packets or changes once per round trip has steps, which are not bends."""

TOLERANCE = 0.02
"""Change of slope that counts as straight. Where alpha should be constant, a queue of two packets
instead of one halves it for a round trip; in a span of 25 round trips that is 2 %."""

WHOLE_TOLERANCE = 0.03
"""Change of slope from the first to the last third of an epoch that counts as straight: half of that of the
mildest curve that the paper calls convex. After Scalable TCP has cut an eighth, its window grows by 1 % in
each of ln(8/7)/ln(1.01) = 13.4 round trips, of which 9.4 are judged: its slope changes by 1 - 1.01^-(9.4 2/3)
= 6 %. Whole packets change the slope of such a third by less than 1 %."""

OPPOSITE = 0.05
"""Share of an epoch that may bend the other way in a curve that is concave or convex throughout: half of what
is visible in a picture."""

LEAST = 0.05
"""Second difference, packets, that counts as straight: the remainder of steps of whole packets."""

COUNTS = ("goodput_mbps", "mean_window", "epochs", "loss_events", "timeouts", "timeouts_whole_run")
LENGTHS = ("epoch_round_trips", "epoch_s", "used_share", "full_share", "full_s", "to_full_s")
BENDS = ("concave", "straight", "convex", "concave_at", "convex_at", "bend")
NUMBERS = (*COUNTS, *LENGTHS, *BENDS)
"""Keys of `one_flow`; lengths and bends are NaN without an epoch."""


def one_flow(run: Run, *, bandwidth_delay_product: float, rtt_s: float) -> dict[str, float | None]:
    """Measure the only flow of a run, by the keys of `NUMBERS`.

    The bandwidth-delay product is in packets, and `rtt_s` is the propagation round trip.
    """
    windows = run.windows.filter(pl.col("window").is_not_null())
    time = windows["time_s"].to_numpy()
    window = windows["window"].to_numpy()
    rtt = windows["rtt_ms"].forward_fill().backward_fill().to_numpy() / 1000
    events = run.events.filter(pl.col("kind").is_in(["loss", "timeout"]))
    measured = events.filter(pl.col("time_s") >= MEASURED_FROM_S)
    epochs = metrics.epochs(events["time_s"].to_numpy(), MERGE_RTTS * rtt_s, MEASURED_FROM_S)
    summary = run.summary["flows"][0]
    row: dict[str, float | None] = {
        "goodput_mbps": summary["goodput_mbps"],
        "mean_window": summary["mean_window"],
        "epochs": len(epochs),
        "loss_events": int((measured["kind"] == "loss").sum()),
        "timeouts": int((measured["kind"] == "timeout").sum()),
        "timeouts_whole_run": int((events["kind"] == "timeout").sum()),
    }
    row |= dict.fromkeys((*LENGTHS, *BENDS), float("nan"))
    if not epochs:
        return row
    trips = [metrics.round_trips(time, rtt, epoch) for epoch in epochs]
    row["epoch_round_trips"] = float(np.mean(trips))
    row["epoch_s"] = float(np.mean([epoch.length_s for epoch in epochs]))
    first, last = epochs[0].start_s, epochs[-1].end_s
    row["used_share"] = metrics.used_share(time, window, bandwidth_delay_product, first, last)
    full_s = metrics.integral(time, window >= bandwidth_delay_product, first, last)
    row["full_share"] = full_s / (last - first)
    row["full_s"] = full_s / len(epochs)
    row["to_full_s"] = float(
        np.mean([_until_full(time, window >= bandwidth_delay_product, rtt_s, epoch) for epoch in epochs])
    )
    bends = [
        metrics.curvature(
            time,
            window,
            rtt,
            epoch,
            skip_round_trips=RECOVERY_RTTS,
            span_round_trips=max(1, SMOOTH_SHARE * length),
            tolerance=TOLERANCE,
            whole_tolerance=WHOLE_TOLERANCE,
            opposite=OPPOSITE,
            least=LEAST,
        )
        for epoch, length in zip(epochs, trips, strict=True)
    ]
    for name in BENDS:
        row[name] = _mean_over_time([getattr(bend, name) for bend in bends], epochs)
    return row


def _until_full(
    time: NDArray[np.float64], full: NDArray[np.bool_], rtt_s: float, epoch: metrics.Epoch
) -> float:
    """Return the time from the loss until the window fills the path, at most the length of the epoch.

    The round trips of the recovery cannot be the end of it.
    """
    recovered = (time > epoch.start_s + RECOVERY_RTTS * rtt_s) & (time <= epoch.end_s)
    reached = time[recovered & full]
    return float(reached[0]) - epoch.start_s if len(reached) else epoch.length_s


def _mean_over_time(values: list[float], epochs: list[metrics.Epoch]) -> float:
    """Return the mean over the epochs that have a value, weighted by their lengths."""
    lengths = np.array([epoch.length_s for epoch in epochs])
    known = ~np.isnan(values)
    if not known.any():
        return float("nan")
    return float(np.average(np.array(values)[known], weights=lengths[known]))
