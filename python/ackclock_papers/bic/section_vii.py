"""Section VII: statements of the text about windows, loss rates, and RTT unfairness with RED."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ackclock.draw.figure import Table
from ackclock.engine import Run, number
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import CONTROLS, GIGABIT_MBPS
from ackclock_papers.bic.tables_1_to_3 import QUICK_GIGABIT_S, QUICK_MEGABIT_S, RttPair, case_table

MEGABIT_MBPS = 100.0


class TablePair(NamedTuple):
    """Two flows of tables 2 and 3, or the same with RED."""

    flows: RttPair
    rate_mbps: float
    red: bool = False

    def __str__(self) -> str:
        return f"{self.flows}, {self.rate_mbps:g} Mbit/s{', RED' if self.red else ''}"


FAST = TablePair(RttPair("BI-TCP", 1), GIGABIT_MBPS)
SLOW = TablePair(RttPair("BI-TCP", 1), MEGABIT_MBPS)
WITH_RED = tuple(
    TablePair(RttPair(name, multiple), MEGABIT_MBPS, red=True) for name in CONTROLS for multiple in (3, 6)
)

UNFAIR = ("BI-TCP", "HSTCP", "STCP")
"""Controls whose unfairness the text compares between the tables."""


def _pair(name: str, multiple: int, rate_mbps: float) -> TablePair:
    return TablePair(RttPair(name, multiple), rate_mbps)


OF_TABLES = tuple(
    _pair(name, multiple, rate_mbps)
    for name in UNFAIR
    for multiple in (3, 6)
    for rate_mbps in (GIGABIT_MBPS, MEGABIT_MBPS)
)
"""Runs of tables 2 and 3."""


def _cases(effort: Effort) -> Mapping[TablePair, Case]:
    quick_s = {GIGABIT_MBPS: QUICK_GIGABIT_S, MEGABIT_MBPS: QUICK_MEGABIT_S}
    return {
        key: case_table(effort, key.flows, key.rate_mbps, quick_s[key.rate_mbps], red=key.red)
        for key in (FAST, SLOW, *OF_TABLES, *WITH_RED)
    }


def _measure(run: Run) -> Row:
    """Return the mean window and loss rate of the two flows, and the ratios of windows and throughputs."""
    flows = run.summary["flows"][:2]
    first, second = (number(flow["mean_window"]) for flow in flows)
    sent = sum(flow["sent_packets"] for flow in flows)
    return {
        "window": (first + second) / 2,
        "loss": sum(flow["dropped_packets"] for flow in flows) / sent,
        "windows": first / second,
        "ratio": _over(*(number(flow["goodput_mbps"]) for flow in flows)),
    }


def _over(first: float, second: float) -> float:
    return first / second if second else float("inf")


NUMBERS = ("window", "loss", "windows", "ratio")


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [[str(key), *(f"{numbers.of(key, name).value:.3g}" for name in NUMBERS)] for key in numbers.rows]
    return Table(["", "window (packets)", "loss rate", "ratio of windows", "of throughputs"], rows)


SECTION_VII = Simulated(
    name="section-vii", caption="windows, loss rates, and RTT unfairness with RED",
    about=(
        "BI-TCP's windows and packet loss rates with two flows of 40 ms, as in tables 2 and 3; the "
        "ratio of the windows of two flows with RED at 100 Mbit/s; throughput ratios of tables 2 "
        "and 3."
    ),
    cases=_cases, probe=Probe(NUMBERS, _measure), draw=_draw,

)  # fmt: skip
