"""Tables 1 to 3: RTT unfairness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ackclock.decision import quotient
from ackclock.draw.figure import Table
from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import CONTROLS, GIGABIT_MBPS, case, rate_over_batches


class RttPair(NamedTuple):
    """Two flows of a control with RTTs of 40 ms and of a multiple of it."""

    control: str
    ratio: int

    def __str__(self) -> str:
        return f"{self.control}, {self.ratio}"


RATIOS = (1, 3, 6)


def case_table(effort: Effort, key: RttPair, rate_mbps: float, quick_s: float, *, red: bool = False) -> Case:
    """Make a case of tables 1 to 3; `quick_s` is the length of a quick run, `red` adaptive RED."""
    flows = [{**CONTROLS[key.control], "rtt": f"{40 * multiple} ms"} for multiple in (1, key.ratio)]
    return case(effort, flows, rate_mbps, quick_s=quick_s, red=red)


def _measure_table(run: Run) -> Row:
    """Return the throughput of the first flow over the second's, with its error, and the utilisation."""
    first, second = rate_over_batches(run, 0), rate_over_batches(run, 1)
    return {"ratio": quotient(first, second), "utilisation": run.summary["links"][0]["utilisation"]}


def _table(
    number: int, rate_mbps: float, names: Sequence[str], bandwidth: str, quick_s: float
) -> Simulated[RttPair]:
    def draw(numbers: Numbers, _traces: Traces) -> Table:
        def cell(key: RttPair) -> str:
            return f"{numbers.of_paper(key, 'ratio'):g}: {numbers.of(key, 'ratio').value:.3g}"

        rows = [[name, *(cell(RttPair(name, multiple)) for multiple in RATIOS)] for name in names]
        return Table(["paper: ours", *(f"RTT ratio {multiple}" for multiple in RATIOS)], rows)

    keys = [RttPair(name, multiple) for name in names for multiple in RATIOS]
    return Simulated(
        name=f"table-{number}",
        caption=f"RTT unfairness, {bandwidth}",
        about=(
            "Two flows, 40 ms and a multiple of it, with background; throughput ratio in the "
            "second half of the run."
        ),
        cases=lambda effort: {key: case_table(effort, key, rate_mbps, quick_s) for key in keys},
        probe=Probe(("ratio", "utilisation"), _measure_table),
        draw=draw,
        headline=number == 3,
    )


QUICK_GIGABIT_S, QUICK_MEGABIT_S = 60.0, 150.0
"""Lengths of quick runs of tables 1 and 2, and of table 3."""
TABLE_1 = _table(
    1, GIGABIT_MBPS, ("AIMD", "HSTCP", "STCP"), "2.5 Gbit/s (AIMD, HSTCP, STCP)", QUICK_GIGABIT_S
)
TABLE_2 = _table(2, GIGABIT_MBPS, tuple(CONTROLS), "2.5 Gbit/s", QUICK_GIGABIT_S)
TABLE_3 = _table(3, 100.0, tuple(CONTROLS), "100 Mbit/s", QUICK_MEGABIT_S)
