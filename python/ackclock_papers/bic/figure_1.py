"""Figure 1: the setup of the simulations."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.draw.figure import Diagram
from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import BackgroundGroup, background_flows, background_mbps, case

SETUP = "100 Mbit/s"
SETUP_MBPS = 100.0


def _cases_1(effort: Effort) -> Mapping[str, Case]:
    flows = [{"controller": "bic", "rtt": "40 ms", "name": "bic"}]
    return {SETUP: case(effort, flows, SETUP_MBPS, duration_s=120)}


def _measure_1(run: Run) -> Row:
    """Return the background's goodput by kind, Mbit/s, its share backwards, and its small flows."""
    mbps = background_mbps(run)
    flows = background_flows(run)
    windows = [
        flow["mean_window"] or 0 for group, own in flows.items() for flow in own if group.kind == "small"
    ]
    # Counted by the settings that the engine reports.
    small = [
        flow
        for flow in flows[BackgroundGroup("small", "forward")]
        if flow["settings"]["receive_window"] == 64
    ]
    backward = sum(load for group, load in mbps.items() if group.direction == "reverse")
    return {
        **{group.kind: load for group, load in mbps.items() if group.direction == "forward"},
        "small_flows": float(len(small)),
        "backward_share": backward / SETUP_MBPS,
        "largest_small_window": max(windows),
    }


FIGURE_1 = Simulated(
    name="figure-1",
    caption="simulation setup",
    about="Drawn from the scenarios as they are run; the numbers come from a run at 100 Mbit/s.",
    cases=_cases_1,
    probe=Probe(
        ("web", "small", "long", "small_flows", "backward_share", "largest_small_window"), _measure_1
    ),
    draw=lambda _n, _t: Diagram(
        {
            "high-speed": (0, 1),
            "long TCP": (0, 0.66),
            "small TCP": (0, 0.33),
            "web": (0, 0),
            "R1": (0.4, 0.5),
            "R2": (0.68, 0.5),
            "receivers": (1, 0.5),
        },
        [
            ("high-speed", "R1", ""),
            ("long TCP", "R1", ""),
            ("small TCP", "R1", ""),
            ("web", "R1", ""),
            ("R1", "R2", "10 ms"),
            ("R2", "receivers", ""),
        ],
    ),
)
