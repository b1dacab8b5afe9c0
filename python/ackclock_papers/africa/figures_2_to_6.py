"""Figures 2 to 6: next to Reno."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from ackclock.draw.figure import Diagram, Group
from ackclock.engine import Run, number
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.reproduction.traces import window_trace
from ackclock.runs import Case
from ackclock_papers.africa.setting import (
    ACCESS,
    AFRICA,
    CONTROLLERS,
    HSTCP,
    NOISE,
    RATE_MBPS,
    RENO,
    TcpVariant,
    scenario,
)

if TYPE_CHECKING:
    pass

LEFT_OUT_S = 30.0
"""Earlier losses are those of slow start."""
LENGTH_S, QUICK_S = 480.0, 240.0
"""Lengths of a run of the paper and of a quick one."""
SLOW_ACCESS = "100 Mbit/s"
"""Reno's access link in figures 3 and 4."""


def _pair(effort: Effort, fast: TcpVariant, reno_access: str) -> Case:
    flows = [
        {"controller": CONTROLLERS[control], "rtt": "164 ms", "access": access, "name": name}
        for control, access, name in (
            (fast, ACCESS, CONTROLLERS[fast]),
            (RENO, reno_access, CONTROLLERS[RENO]),
        )
    ]
    length_s = effort.pick(LENGTH_S, QUICK_S)
    description = scenario(effort.setting, flows, delay_ms=80, duration_s=length_s)
    return Case(description, effort.runs)


class PairNumbers(NamedTuple):
    """Numbers of two flows that share the bottleneck.

    A run shorter than the paper's is taken to continue as it went after the first 30 s. Otherwise the
    first seconds, in which the later loser still has its share, would count too much: after 120 s of the
    paper's 480 s HSTCP's ratio at six times the RTT is half of its final value.
    """

    ratio: float
    """Goodput of the first over that of the second."""
    # Goodput of the first and of the second, in a run of the paper's length.
    fast_mbps: float
    reno_mbps: float
    losses: float
    """Packets that the bottleneck drops after the first 30 s, datagrams included, in a run of the paper's
    length."""
    loss_events: float
    """Loss events and timeouts of the two flows after the first 30 s."""
    utilisation: float
    """Share of the time in which the bottleneck sends."""
    reno_dropped: float
    """Packets of the second that are dropped anywhere."""


def measure_pair(run: Run) -> Row:
    """Measure the first two flows of a recorded run, by the fields of `PairNumbers`."""
    later = pl.col("time_s") > LEFT_OUT_S
    longer = (LENGTH_S - LEFT_OUT_S) / (run.summary["duration_s"] - LEFT_OUT_S)

    def mbps(flow: int) -> float:
        own = run.windows_of(flow)
        first, rest = (float(own.filter(when)["arrived_bytes"].sum()) for when in (~later, later))
        return (first + longer * rest) * 8e-6 / LENGTH_S

    fast_mbps, reno_mbps = mbps(0), mbps(1)
    counted = (pl.col("time_s") >= LEFT_OUT_S) & pl.col("kind").is_in(["loss", "timeout"])
    events = run.events.filter(counted)
    dropped = float(run.queues_of(0).filter(later)["drops"].sum())
    return PairNumbers(
        ratio=fast_mbps / reno_mbps,
        fast_mbps=fast_mbps,
        reno_mbps=reno_mbps,
        losses=dropped * longer,
        loss_events=float(events.height),
        utilisation=number(run.summary["links"][0]["utilisation"]),
        reno_dropped=float(run.summary["flows"][1]["dropped_packets"]),
    )._asdict()


def trace_windows(_case: Key, run: Run) -> pl.DataFrame:
    """Return the windows of the controlled flows, twice per second."""
    controlled = [flow["name"] for flow in run.summary["flows"] if flow["controller"] in CONTROLLERS.values()]
    return window_trace(run, 0.5).filter(pl.col("name").is_in(controlled))


def _measure_2(run: Run) -> Row:
    rtt_ms = run.windows_of(0)["rtt_ms"].drop_nulls().to_numpy()
    (noise,) = (flow for flow in run.summary["flows"] if flow["name"] == NOISE)
    return {"rtt_ms": float(rtt_ms.min()), "noise": number(noise["goodput_mbps"]) / RATE_MBPS}


FIGURE_2 = Simulated(
    name="figure-2", caption="experiment setup",
    about="Drawn from the scenarios as they are run; the numbers are of figure 4's.",
    cases=lambda effort: {AFRICA: _pair(effort, AFRICA, SLOW_ACCESS)},
    probe=Probe(("rtt_ms", "noise"), _measure_2),
    draw=lambda _numbers, _traces: Diagram(
        {"A": (0, 1), "C": (0, 0), "S": (0.35, 0.5), "R": (0.65, 0.5), "B": (1, 1), "D": (1, 0)},
        [
            ("A", "S", "1 Gbit/s, 1 ms"), ("C", "S", "100 Mbit/s or 1 Gbit/s, 1 ms"),
            ("S", "R", "622 Mbit/s, 80 ms"), ("R", "B", ""), ("R", "D", ""),
        ],
    ),

)  # fmt: skip


def _next_to_reno(
    number: int,
    caption: str,
    control: TcpVariant,
    reno_access: str,
    compared: str = "",
    headline: bool = False,
) -> Simulated[Key]:
    """Run HSTCP and Africa next to Reno, to compare them, and show `control`.

    `compared` is the name that claims use for the run of the same control in the figure whose Reno flow has
    slow access.
    """

    def cases(effort: Effort) -> Mapping[Key, Case]:
        simulated: dict[Key, Case] = {rival: _pair(effort, rival, reno_access) for rival in (HSTCP, AFRICA)}
        return simulated | ({compared: _pair(effort, control, SLOW_ACCESS)} if compared else {})

    def draw(_numbers: Numbers, traces: Traces) -> Group:
        panels = {str(case): (case,) for case in traces}
        return figures.over_time(traces, panels, "window", "window (packets)", height=2.2)

    return Simulated(
        name=f"figure-{number}",
        caption=caption,
        about=f"622 Mbit/s, 164 ms; {control} and Reno for 8 minutes.",
        cases=cases,
        probe=Probe(PairNumbers._fields, measure_pair),
        trace=lambda case, run: trace_windows(case, run) if case is control else None,
        draw=draw,
        headline=headline,
    )


FIGURE_3 = _next_to_reno(3, "safety, HSTCP next to a Reno flow with 100 Mbit/s access", HSTCP, SLOW_ACCESS)
FIGURE_4 = _next_to_reno(4, "safety, Africa next to a Reno flow with 100 Mbit/s access", AFRICA, SLOW_ACCESS)
FIGURE_5 = _next_to_reno(
    5, "fairness, Africa next to Reno, all access links 1 Gbit/s", AFRICA, ACCESS, compared=FIGURE_4.name
)
FIGURE_6 = _next_to_reno(
    6, "fairness, HSTCP next to Reno, all access links 1 Gbit/s", HSTCP, ACCESS, compared=FIGURE_3.name
)
