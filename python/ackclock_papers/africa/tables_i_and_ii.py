"""Tables I and II: RTT bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ackclock.draw.figure import Table
from ackclock.metrics import Estimate, over_runs
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.runs import Case
from ackclock_papers.africa.figures_2_to_6 import LENGTH_S, PairNumbers, measure_pair
from ackclock_papers.africa.setting import ACCESS, AFRICA, CONTROLLERS, HSTCP, TcpVariant, scenario

QUICK_S = 120.0
"""Length of a quick run, seconds: half of that of figures 3 to 6, as round trips are shorter."""


class RttRatio(NamedTuple):
    """Two flows of one control; `times` is the RTT of the second over that of the first."""

    times: int
    control: str = ""
    """Their control, if the artefact has more than one."""

    def __str__(self) -> str:
        return f"{self.control} RTT ratio {self.times}".strip()


def two_flows(
    effort: Effort, control: TcpVariant, multiple: int, length_s: float, sample_s: float = 0.5
) -> Case:
    """Make a case of two flows, of 30 ms and of a multiple of it."""
    flows = [
        {"controller": CONTROLLERS[control], "rtt": f"{30 * factor} ms", "access": ACCESS}
        for factor in (1, multiple)
    ]
    description = scenario(effort.setting, flows, delay_ms=5, duration_s=length_s, sample_s=sample_s)
    return Case(description, effort.runs)


def table_case(effort: Effort, control: TcpVariant, multiple: int, quick_s: float = QUICK_S) -> Case:
    """Make a case of tables I and II: two flows, of 30 ms and of a multiple of it."""
    return two_flows(effort, control, multiple, effort.pick(LENGTH_S, quick_s))


UNEQUAL = (2, 3, 6)
HSTCP_6 = RttRatio(6, HSTCP)
"""Table II's last case, with which table I compares."""


def _table(
    number: str, control: TcpVariant, compared: Mapping[RttRatio, TcpVariant] | None = None
) -> Simulated[RttRatio]:
    """Measure ratios of throughputs and lost packets, by RTT ratio.

    `compared` are cases of another control with which claims compare.
    """
    keys = [RttRatio(multiple) for multiple in (1, *UNEQUAL)]
    controls = dict.fromkeys(keys, control) | dict(compared or {})

    def cases(effort: Effort) -> Mapping[RttRatio, Case]:
        return {key: table_case(effort, controls[key], key.times) for key in controls}

    def draw(numbers: Numbers, _traces: Traces) -> Table:
        rows = [
            [
                key.times,
                f"{numbers.of_paper(key, 'ratio'):.4g}",
                str(numbers.of(key, "ratio")),
                f"{numbers.of_paper(key, 'losses'):g}",
                str(numbers.of(key, "losses")),
            ]
            for key in keys
        ]
        heads = ["RTT ratio", "ratio (paper)", "ratio (ours)", "losses (paper)", "losses (ours)"]
        return Table(heads, rows)

    return Simulated(
        name=f"table-{number}",
        caption=f"RTT bias of {control}",
        about="Two flows on 622 Mbit/s for 8 minutes, RTT 30 ms and a multiple of it.",
        cases=cases,
        probe=Probe(PairNumbers._fields, measure_pair),
        draw=draw,
    )


def exponent(numbers: Numbers) -> Estimate:
    """Fit the power of the RTT ratio that the ratio of throughputs follows, through 1 at 1.

    It is a least-squares slope of the logarithms: 1 is proportional, 2 is Reno's.
    """
    x = np.log(UNEQUAL)
    y = np.log([numbers.each(RttRatio(multiple), "ratio") for multiple in UNEQUAL])
    return over_runs(x @ y / (x @ x))


TABLE_1 = _table("i", AFRICA, compared={HSTCP_6: HSTCP})
TABLE_2 = _table("ii", HSTCP)
