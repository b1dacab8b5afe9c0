"""Table III: short flows against long ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ackclock.draw.figure import Table
from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.fit.figures_6_and_7 import EACH
from ackclock_papers.fit.setting import flow, goodputs, packets, scenario


class ShortAndLong(NamedTuple):
    """Ten flows of 50 ms and ten longer ones, in table III."""

    variant: str
    long_ms: int

    def __str__(self) -> str:
        return f"{self.variant}, {self.long_ms} ms"


SHORT_MS = 50
RATE_MBPS = 50.0
LONG_MS = (50, 100, 200, 400)
PAPER_3 = {
    "FIT": (1, 1.17, 1.55, 1.9),
    "FAST": (1, 1.03, 1.45, 1.93),
    "CUBIC": (1, 1.34, 1.64, 2.14),
    "CTCP": (1, 1.37, 2.17, 2.83),
    "Reno": (1, 1.84, 3, 5.19),
}


def _case(effort: Effort, key: ShortAndLong) -> Case:
    setting = effort.setting
    flows = [
        flow(setting, key.variant, count=EACH, name="short", rtt=f"{SHORT_MS} ms"),
        flow(setting, key.variant, count=EACH, name="long", rtt=f"{key.long_ms} ms"),
    ]
    description = scenario(
        setting,
        flows,
        rate_mbps=RATE_MBPS,
        rtt_ms=SHORT_MS,
        loss=0.001,
        measured_s=effort.pick(200, 80),
        buffer=packets(RATE_MBPS, setting["table_iii_buffer"]),
    )
    return Case(description, effort.runs, record=False)


def _cases(effort: Effort) -> Mapping[ShortAndLong, Case]:
    keys = [ShortAndLong(name, ms) for name in PAPER_3 for ms in LONG_MS]
    return {key: _case(effort, key) for key in keys}


def _measure(run: Run) -> Row:
    """Return the goodput of the ten short flows over that of the ten long ones."""
    short, long = goodputs(run, EACH, EACH)
    return {"ratio": short / long}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [
        [
            name,
            *(
                f"{paper:g}: {numbers.of(ShortAndLong(name, ms), 'ratio').value:.3g}"
                for ms, paper in zip(LONG_MS, values, strict=True)
            ),
        ]
        for name, values in PAPER_3.items()
    ]
    return Table(["paper: ours", "1", "1/2", "1/4", "1/8"], rows)


TABLE_3 = Simulated(
    name="table-iii",
    caption="throughput ratio of short over long flows",
    about="Ten flows of 50 ms and ten of 50 to 400 ms on 50 Mbit/s, 0.1 % loss.",
    cases=_cases,
    probe=Probe(("ratio",), _measure),
    draw=_draw,
    headline=True,
)
