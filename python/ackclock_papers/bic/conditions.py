"""Conditions that section II states for the simulations, as far as they can be measured."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.engine import Run, number
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import EARLY_S, background_mbps, case
from ackclock_papers.bic.tables_1_to_3 import QUICK_MEGABIT_S, RttPair, case_table

RATE_MBPS = 100.0
ALONE_S = 300.0
"""Length of the run of web traffic alone, seconds."""
ALONE, TABLE_3 = "web traffic alone", "table 3"
DIRECTIONS = ("forward", "reverse")


def _cases(effort: Effort) -> Mapping[str, Case]:
    return {
        ALONE: case(effort, [], RATE_MBPS, quick_s=ALONE_S, measured_s=ALONE_S - EARLY_S, kinds=("web",)),
        TABLE_3: case_table(effort, RttPair("BI-TCP", 6), RATE_MBPS, QUICK_MEGABIT_S),
    }


def _measure(run: Run) -> Row:
    """Return the background's share of each direction."""
    mbps = background_mbps(run)
    return {
        direction: sum(mbps[group] for group in mbps if group.direction == direction) / RATE_MBPS
        for direction in DIRECTIONS
    }


def _of_table_3(run: Run) -> Row:
    """Return the background's share of the backward direction, and the mean RTT of the first flow."""
    return {"reverse": _measure(run)["reverse"], "rtt_ms": number(run.summary["flows"][0]["mean_rtt_ms"])}


PROBES = {ALONE: Probe(DIRECTIONS, _measure), TABLE_3: Probe(("reverse", "rtt_ms"), _of_table_3)}


CONDITIONS = Simulated(
    name="conditions",
    caption="conditions that section II states for the simulations",
    about="At 100 Mbit/s: web traffic alone, and table 3's BI-TCP flows of 40 and 240 ms.",
    cases=_cases,
    probe=lambda key, _effort: PROBES[key],
    draw=every_number,
)
