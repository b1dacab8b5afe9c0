"""Figures 8 and 10: window curves of one flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.draw.figure import Group
from ackclock.engine import Run, build
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.traces import window_trace
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case
from ackclock_papers.illinois import measure
from ackclock_papers.illinois.setting import (
    MEASURED_FROM_S,
    capacity,
    flow,
    packet_bytes,
    scenario,
    seeds_alone,
)

RATE_MBPS = 100
RTT_S = 0.1

AGENTS = {"reno": "Reno", "newreno": "NewReno", "sack": "SACK"}
"""Loss recoveries that HS-TCP is run with, and their names in figure 8."""


class SingleFlow(NamedTuple):
    """A flow that has the link to itself."""

    control: str
    """Congestion control, by the paper's name."""
    beta: float | None = None
    """Both beta_min and beta_max of Illinois."""
    recovery: str | None = None
    """Loss recovery where several are compared."""

    def __str__(self) -> str:
        beta = "" if self.beta is None else f", β = {self.beta:g}"
        agent = "" if self.recovery is None else f" on {AGENTS[self.recovery]}"
        return f"{self.control}{agent}{beta}"

    def flow(self, setting: Setting) -> build.Table:
        """Make the entry of ``[[flow]]``."""
        return flow(self.control, setting, recovery=self.recovery, beta=self.beta)


RENO = SingleFlow("Reno")
MILD, HALF = SingleFlow("Illinois", beta=0.125), SingleFlow("Illinois", beta=0.5)
ON_RENO, ON_NEWRENO, ON_SACK = (SingleFlow("HS-TCP", recovery=agent) for agent in AGENTS)
BIC, CTCP = SingleFlow("BIC"), SingleFlow("C-TCP")
FLOWS = (RENO, MILD, HALF, ON_RENO, ON_NEWRENO, ON_SACK, BIC, CTCP)

PANELS = {
    "Reno and Illinois": (RENO, MILD, HALF),
    "HS-TCP": (ON_RENO, ON_NEWRENO, ON_SACK),
    "BIC and C-TCP": (BIC, CTCP),
}


def cases(effort: Effort) -> Mapping[SingleFlow, Case]:
    """Declare the runs of figure 8, one case for each curve; a quick run is half as long."""
    end_s = effort.pick(1200.0, 600.0)
    return {
        case: Case(
            scenario([case.flow(effort.setting)], effort.setting, duration_s=end_s), runs=seeds_alone(effort)
        )
        for case in FLOWS
    }


def measure_flow(run: Run) -> Row:
    """Measure a run of figure 8 with `measure.one_flow`, whichever flow it has."""
    product = capacity(RATE_MBPS, packet_bytes(run)) * RTT_S
    return measure.one_flow(run, bandwidth_delay_product=product, rtt_s=RTT_S)


PROBE = Probe(measure.NUMBERS, measure_flow)


def _draw_8(_numbers: Numbers, traces: Traces) -> Group:
    return figures.over_time(
        traces, PANELS, "window", "window (packets)", span=(200, 400), top=1500, height=1.8
    )


FIGURE_8 = Simulated(
    name="figure-8", caption="window curves of one flow",
    about=(
        "One flow on 100 Mbit/s, RTT 100 ms, buffer 100 packets. An epoch is the time between two "
        "congestion events (loss events and timeouts closer than 2 RTTs are one); slow start and "
        "the first 200 s are left out."
    ),
    cases=cases,
    probe=PROBE,
    trace=lambda _case, run: window_trace(run, 0.1, 200, 400).drop("name"),
    draw=_draw_8,
    headline=True,
)  # fmt: skip


class Buffer(NamedTuple):
    """A buffer of figure 10, in packets, and the control of the flow that fills it."""

    packets: int
    control: str = "Illinois"

    def __str__(self) -> str:
        suffix = "" if self.control == "Illinois" else f", {self.control}"
        return f"B = {self.packets}{suffix}"


BUFFERS = tuple(map(Buffer, (10, 20, 30, 40, 50)))
RENO_BUFFERS = tuple(case._replace(control="Reno") for case in BUFFERS)
SLOW_RATE_MBPS = 10
SLOW_RTT_S = 0.06


def _cases_10(effort: Effort) -> Mapping[Buffer, Case]:
    end_s = effort.pick(2000.0, 800.0)
    return {
        case: Case(
            scenario(
                [flow(case.control, effort.setting)], effort.setting, rate_mbps=SLOW_RATE_MBPS,
                rtt_ms=60, buffer=case.packets, duration_s=end_s,
            ),
            runs=seeds_alone(effort),
        )
        for case in (*BUFFERS, *RENO_BUFFERS)
    }  # fmt: skip


def parabola(run: Run, buffer: int) -> float:
    """Return the growth of the squared queue, packets² per round trip, at 30 % to 90 % of `buffer` packets.

    It is a least-squares slope, the mean over the epochs, and NaN when no epoch has ten samples in that
    range. The run has one flow.
    """
    windows = run.windows.filter(pl.col("rtt_ms").is_not_null())
    time = windows["time_s"].to_numpy()
    rtt_s = windows["rtt_ms"].to_numpy() / 1000
    # The smallest RTT includes the packet's own transmission, which is not a queue.
    product = capacity(SLOW_RATE_MBPS, packet_bytes(run)) * rtt_s.min()
    queue = windows["window"].to_numpy() - product
    trips = metrics.cumulative(time, 1 / rtt_s)
    events = run.events.filter(pl.col("kind").is_in(["loss", "timeout"]))["time_s"].to_numpy()
    slopes = []
    for epoch in metrics.epochs(events, measure.MERGE_RTTS * SLOW_RTT_S, MEASURED_FROM_S):
        inside = (time > epoch.start_s + measure.RECOVERY_RTTS * SLOW_RTT_S) & (time < epoch.end_s)
        inside &= (queue >= 0.3 * buffer) & (queue <= 0.9 * buffer)
        if inside.sum() >= 10:
            slopes.append(np.polyfit(trips[inside], queue[inside] ** 2, 1)[0])
    return float(np.mean(slopes)) if slopes else float("nan")


def _probe_10(case: Buffer, _effort: Effort) -> Probe:
    def of_run(run: Run) -> Row:
        product = capacity(SLOW_RATE_MBPS, packet_bytes(run)) * SLOW_RTT_S
        row = measure.one_flow(run, bandwidth_delay_product=product, rtt_s=SLOW_RTT_S)
        return row | {"parabola": parabola(run, case.packets)}

    return Probe((*measure.NUMBERS, "parabola"), of_run)


def _draw_10(_numbers: Numbers, traces: Traces) -> Group:
    panels = {str(case): (case,) for case in traces}
    return figures.over_time(
        traces, panels, "window", "window (packets)", span=(200, 260), top=140, height=1.2
    )


FIGURE_10 = Simulated(
    name="figure-10", caption="window curves of Illinois for buffers of 10 to 50 packets",
    about=(
        "One Illinois flow on 10 Mbit/s, RTT 60 ms (bandwidth-delay product 75 packets), and one "
        "Reno flow for comparison. Epochs as in figure 8."
    ),
    cases=_cases_10,
    probe=_probe_10,
    trace=lambda case, run: (
        window_trace(run, 0.1, 200, 260).drop("name") if case in BUFFERS else None
    ),
    draw=_draw_10,
)  # fmt: skip
