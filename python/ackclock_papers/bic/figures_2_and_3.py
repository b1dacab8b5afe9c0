"""Figures 2 and 3: flows that lose at the same time, and ten Scalable flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.reproduction.traces import window_trace
from ackclock.runs import Case
from ackclock_papers.bic.setting import GIGABIT_MBPS, background_mbps, case

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOWS_2 = 20


DROPTAIL, RED = "droptail", "RED"


def _cases_2(effort: Effort) -> Mapping[str, Case]:
    rtts = np.linspace(40, 150, FLOWS_2)
    flows = [{"controller": "hstcp", "rtt": f"{rtt:.1f} ms"} for rtt in rtts]
    return {
        name: case(effort, flows, GIGABIT_MBPS, duration_s=200, quick_s=60, red=red)
        for name, red in ((DROPTAIL, False), (RED, True))
    }


def _losing(run: Run) -> NDArray[np.int64]:
    """Count the high-speed flows that lose in each second with a loss."""
    start = run.summary["measured_from_s"]
    losses = run.events.filter((pl.col("flow") < FLOWS_2) & (pl.col("kind") == "loss"))
    return metrics.losing_flows(
        losses["time_s"].to_numpy(), losses["flow"].to_numpy(), 1.0, start, run.summary["duration_s"]
    )


def _measure_2(run: Run) -> Row:
    """Return the shares of epochs in which many flows lose, and the background's share of the link."""
    losing = _losing(run)
    mbps = background_mbps(run)
    return {
        "half": metrics.over_batches(losing >= FLOWS_2 / 2, batches=10),
        "more than half": metrics.over_batches(losing > FLOWS_2 / 2, batches=10),
        "quarter": metrics.over_batches(losing > FLOWS_2 / 4, batches=10),
        "epochs": float(len(losing)),
        **{
            direction: sum(load for group, load in mbps.items() if group.direction == direction)
            / GIGABIT_MBPS
            for direction in ("forward", "reverse")
        },
    }


def _trace_2(_key: str, run: Run) -> pl.DataFrame:
    least = np.arange(1, FLOWS_2 + 1)
    return pl.DataFrame({"flows": least, "share": metrics.synchronisation(_losing(run), least)})


FIGURE_2 = Simulated(
    name="figure-2", caption="how many flows lose together",
    about="20 HSTCP flows, RTT 40 to 150 ms, 2.5 Gbit/s; epochs of 1 s in which a flow lost.",
    cases=_cases_2,
    probe=Probe(("half", "more than half", "quarter", "epochs", "forward", "reverse"), _measure_2),
    trace=_trace_2,
    draw=lambda _n, traces: figures.over_time(
        traces, {"both": tuple(traces)}, "share", "share of epochs", x="flows",
        x_label="at least this many flows lose", height=3.0,
    ),

)  # fmt: skip


SHORT, LONG = 8, 2
"""Numbers of flows of figure 3, in this order."""
STARTED_S = 10.0
"""Time at which all flows have begun."""


def _cases_3(effort: Effort) -> Mapping[str, Case]:
    flows = [
        {"controller": "scalable", "rtt": "80 ms", "count": SHORT, "name": "short RTT"},
        {"controller": "scalable", "rtt": "160 ms", "count": LONG, "name": "long RTT"},
    ]
    return {DROPTAIL: case(effort, flows, 2400.0, duration_s=200)}


def _measure_3(run: Run) -> Row:
    """Return the short flows' fairness in the first and the last quarter, and the long flows' share.

    The quarters are those of the time after all flows have begun.
    """
    end_s = run.summary["duration_s"]
    quarter_s = (end_s - STARTED_S) / 4

    def sizes(start_s: float) -> NDArray[np.float64]:
        within = pl.col("time_s").is_between(start_s, start_s + quarter_s, closed="right")
        own = run.windows.filter(within & (pl.col("flow") < SHORT + LONG))
        sums = own.group_by("flow").agg(pl.col("arrived_bytes").sum()).sort("flow")
        return sums["arrived_bytes"].to_numpy().astype(float)

    first, last = sizes(STARTED_S), sizes(end_s - quarter_s)
    return {
        "long_share": float(last[SHORT:].mean() / last[:SHORT].mean()),
        "jain_first": float(metrics.jain(first[:SHORT])),
        "jain_last": float(metrics.jain(last[:SHORT])),
        "jain_second_half": float(metrics.jain((sizes(end_s - 2 * quarter_s) + last)[:SHORT])),
    }


FIGURE_3 = Simulated(
    name="figure-3",
    caption="ten Scalable flows",
    about="2.4 Gbit/s, droptail; eight flows of 80 ms and two of 160 ms.",
    cases=_cases_3,
    probe=Probe(("long_share", "jain_first", "jain_last", "jain_second_half"), _measure_3),
    trace=lambda _key, run: window_trace(run, 1.0, flows=(0, 1, 2, SHORT, SHORT + 1)),
    draw=lambda _n, traces: figures.over_time(
        traces, {DROPTAIL: (DROPTAIL,)}, "window", "window (packets)", height=3.0
    ),
)
