"""Figure 1: the setup of the simulations."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.draw.figure import Diagram
from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.reproduction.claims.usual import between, changed, mean, near
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
    claims=(
        near(
            "25-small-tcp-flows-each-way",
            "25 small TCP flows each way",
            mean(SETUP, "small_flows"),
            25,
            within=0,
            why="counted",
        ),
        changed(
            between(
                "their-windows-stay-under-64",
                "windows of the small flows stay under 64",
                mean(SETUP, "largest_small_window"),
                1,
                65.01,
                why="the largest mean window, which may be one packet above the window that is used",
                unit="packets",
                paper="under 64",
            ),
            between("", "", mean(SETUP, "largest_small_window"), 1, 64.01, why="at most 64", unit="packets"),
        ),
        between(
            "background-uses-at-least-20-percent-backward-bandwidth",
            "background uses at least 20 % of the backward bandwidth",
            mean(SETUP, "backward_share"),
            0.2,
            1,
            why="as printed",
            paper="at least 20 %",
        ),
    ),
)
