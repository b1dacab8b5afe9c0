"""Tables I and II: RTT bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ackclock.draw.figure import Table
from ackclock.metrics import Estimate, over_runs
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Claim, Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.reproduction.claims.orders import was_plain
from ackclock.reproduction.claims.usual import between, changed, mean, near, ratio, times
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


def _table(
    number: str,
    control: TcpVariant,
    printed: Mapping[int, tuple[float, int]],
    *claims: Claim,
    compared: Mapping[RttRatio, TcpVariant] | None = None,
) -> Simulated[RttRatio]:
    """Compare with the paper's ratios of throughputs and lost packets, by RTT ratio.

    `compared` are cases of another control that `claims` compare with.
    """
    keys = {RttRatio(multiple): values for multiple, values in printed.items()}
    controls = dict.fromkeys(keys, control) | dict(compared or {})

    def cases(effort: Effort) -> Mapping[RttRatio, Case]:
        return {key: table_case(effort, controls[key], key.times) for key in controls}

    def draw(numbers: Numbers, _traces: Traces) -> Table:
        rows = [
            [key.times, f"{ratio:.4g}", str(numbers.of(key, "ratio")), lost, str(numbers.of(key, "losses"))]
            for key, (ratio, lost) in keys.items()
        ]
        heads = ["RTT ratio", "ratio (paper)", "ratio (ours)", "losses (paper)", "losses (ours)"]
        return Table(heads, rows)

    ratios = (
        near(
            slug(key, "throughput-ratio"),
            f"{key}: throughput ratio",
            mean(key, "ratio"),
            value,
            within=0.1,
            why="equal flows",
        )
        if key.times == 1
        else changed(
            times(
                slug(key, "throughput-ratio"),
                f"{key}: throughput ratio",
                mean(key, "ratio"),
                value,
                factor=1.5,
                why="one run of the paper, whose buffer is open",
            ),
            near("", "", mean(key, "ratio"), value, within=0.5, why="half of it either way"),
        )
        for key, (value, _) in keys.items()
    )
    losses = (
        changed(
            times(
                slug(key, "packets-lost"),
                f"{key}: packets lost",
                mean(key, "losses"),
                lost,
                factor=2,
                why="one run; the four of table I, whatever the RTT, are within a factor of 1.7",
                paper=str(lost),
            ),
            times("", "", mean(key, "losses"), lost, factor=4, why="one run, and slow start is open"),
        )
        for key, (_, lost) in keys.items()
    )
    return Simulated(
        name=f"table-{number}",
        caption=f"RTT bias of {control}",
        about="Two flows on 622 Mbit/s for 8 minutes, RTT 30 ms and a multiple of it.",
        cases=cases,
        probe=Probe(PairNumbers._fields, measure_pair),
        draw=draw,
        claims=(*ratios, *losses, *claims),
    )


UNEQUAL = (2, 3, 6)
HSTCP_6 = RttRatio(6, HSTCP)
"""Table II's last case, with which table I compares."""


def exponent(numbers: Numbers) -> Estimate:
    """Fit the power of the RTT ratio that the ratio of throughputs follows, through 1 at 1.

    It is a least-squares slope of the logarithms: 1 is proportional, 2 is Reno's.
    """
    x = np.log(UNEQUAL)
    y = np.log([numbers.each(RttRatio(multiple), "ratio") for multiple in UNEQUAL])
    return over_runs(x @ y / (x @ x))


TABLE_1 = _table(
    "i",
    AFRICA,
    {1: (1.0132, 440), 2: (2.3552, 581), 3: (3.6106, 529), 6: (8.4616, 336)},
    near(
        "ratio-roughly-proportional-to-rtts",
        "the ratio is roughly proportional to that of the RTTs",
        exponent,
        1.19,
        within=0.3,
        absolute=True,
        paper="1.19 from its table; 'roughly proportional'",
        why="power of the RTT ratio; at 1.5 a ratio of 6 is 15",
    ),
    between(
        "improvement-over-reno-which-quadratic",
        "an improvement over Reno, which is quadratic",
        exponent,
        -np.inf,
        1.9,
        paper="'an improvement over ... Reno', 2",
        why="power of the RTT ratio; 1.9 is hardly one",
    ),
    between(
        "ratio-grows-far-slower-than-hstcp-rtt-ratio-6",
        "the ratio grows far slower than HSTCP's (RTT ratio 6)",
        ratio((HSTCP_6, "ratio"), (RttRatio(6), "ratio")),
        5,
        np.inf,
        paper="284.5 against 8.46",
        why="HSTCP's over Africa's; 'serious' and 'excellent' are more than a factor of five",
    ),
    *(
        was_plain(
            slug("packets-lost", direction, "from-rtt-ratio", low, "to", high),
            f"packets lost {direction} from RTT ratio {low} to {high}",
            [(str(RttRatio(rtt_ratio)), mean(RttRatio(rtt_ratio), "losses")) for rtt_ratio in order],
            unit="packets",
            paper=paper,
        )
        for direction, low, high, order, paper in (
            ("rise", 1, 2, (2, 1), "440 to 581"),
            ("fall", 3, 6, (3, 6), "529 to 336"),
        )
    ),
    compared={HSTCP_6: HSTCP},
)
TABLE_2 = _table(
    "ii",
    HSTCP,
    {1: (0.9752, 5050), 2: (31.74, 3881), 3: (93.72, 19603), 6: (284.5, 7614)},
    *(
        between(
            slug(multiple, "short-flow-starves-long-flow"),
            f"RTT ratio {multiple}: the short flow starves the long one",
            mean(RttRatio(multiple), "ratio"),
            19,
            np.inf,
            why="throughput ratio at which the long flow has a tenth of its fair half; Reno, whose ratio is "
            "that of the RTTs squared, would leave it more at 2 and 3",
            paper="'dominates the connection, starving out the other flow'",
        )
        for multiple in UNEQUAL
    ),
)
