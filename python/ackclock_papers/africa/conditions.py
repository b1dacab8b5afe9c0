"""Conditions that section IV states of the simulations and that runs can confirm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ackclock.engine import Run, number
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.runs import Case
from ackclock_papers.africa.setting import AFRICA, NOISE, RATE_MBPS
from ackclock_papers.africa.tables_i_and_ii import table_case

TABLES = "tables"
QUICK_S = 30.0


def _cases(effort: Effort) -> Mapping[str, Case]:
    return {TABLES: table_case(effort, AFRICA, 6, QUICK_S)}


def _measure(run: Run) -> Row:
    """Measure the least RTT of either flow, milliseconds, and the datagrams' share of the link."""
    least = [float(np.nanmin(run.windows_of(flow)["rtt_ms"].to_numpy())) for flow in (0, 1)]
    (noise,) = (flow for flow in run.summary["flows"] if flow["name"] == NOISE)
    return {"first_ms": least[0], "second_ms": least[1], "noise": number(noise["goodput_mbps"]) / RATE_MBPS}


CONDITIONS = Simulated(
    name="conditions",
    caption="conditions that section IV states",
    about="Table I's flows of 30 and 180 ms.",
    cases=_cases,
    probe=Probe(("first_ms", "second_ms", "noise"), _measure),
    draw=every_number,
)
