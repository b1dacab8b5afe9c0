"""Tables 1 to 3: RTT unfairness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ackclock.decision import Estimate, quotient
from ackclock.draw.figure import Table
from ackclock.engine import Run
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Claim, Judged, Probe, Simulated, Traces
from ackclock.reproduction.claims.least import MUCH, MUCH_MORE
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.claims.orders import ordered
from ackclock.reproduction.claims.usual import between, changed, mean, near, ratio, times
from ackclock.runs import Case
from ackclock_papers.bic.setting import CONTROLS, GIGABIT_MBPS, case, rate_over_batches


class RttPair(NamedTuple):
    """Two flows of a control with RTTs of 40 ms and of a multiple of it."""

    control: str
    ratio: int

    def __str__(self) -> str:
        return f"{self.control}, {self.ratio}"


RATIOS = (1, 3, 6)
PAPER_2 = {
    "AIMD": (1.05, 6.56, 22.55),
    "BI-TCP": (0.96, 9.18, 35.76),
    "HSTCP": (0.99, 47.42, 131.03),
    "STCP": (0.92, 140.52, 300.32),
}
PAPER_3 = {
    "AIMD": (0.99, 7.31, 26.12),
    "BI-TCP": (0.94, 13.06, 33.81),
    "HSTCP": (1.13, 10.42, 51.09),
    "STCP": (1.12, 27.84, 72.74),
}


def case_table(effort: Effort, key: RttPair, rate_mbps: float, quick_s: float, *, red: bool = False) -> Case:
    """Make a case of tables 1 to 3; `quick_s` is the length of a quick run, `red` adaptive RED."""
    flows = [{**CONTROLS[key.control], "rtt": f"{40 * multiple} ms"} for multiple in (1, key.ratio)]
    return case(effort, flows, rate_mbps, quick_s=quick_s, red=red)


def _measure_table(run: Run) -> Row:
    """Return the throughput of the first flow over the second's, with its error, and the utilisation."""
    first, second = rate_over_batches(run, 0), rate_over_batches(run, 1)
    return {"ratio": quotient(first, second), "utilisation": run.summary["links"][0]["utilisation"]}


OWN_RANGE = (0.92, 1.13)
"""Range of the ratios of equal flows in the paper's tables 1 to 3, each of a single run."""


def _equal(name: str, expected: float) -> Claim:
    """Claim that equal RTTs share equally: the interval reaches the range of the paper's own runs."""
    low, high = OWN_RANGE
    number = mean(RttPair(name, 1), "ratio")
    within_two = times(
        slug(name, "equal-rtts-share-equally"),
        f"{name}: equal RTTs share equally",
        number,
        expected,
        factor=2,
        why="",
        paper=f"{expected:g}",
    )

    def judge(numbers: Numbers) -> Judged:
        estimate, judged = number(numbers), within_two.judge(numbers)
        return replace(judged, holds=judged.holds and estimate.low <= high and estimate.high >= low)

    tolerance = (
        f"the 95 % interval reaches the range of the paper's own single runs, {low:g} to {high:g}, "
        "and the mean is within a factor of two"
    )
    before = near("", "", number, expected, within=0.25, why="of the paper's own run")
    return changed(replace(within_two, tolerance=tolerance, judge=judge), before)


def _extreme(pick: Callable[..., Estimate], names: Sequence[str]) -> Callable[[Numbers], Estimate]:
    """Name the least or largest ratio of several controls at an RTT ratio of 6."""
    return lambda numbers: pick(
        (numbers.of(RttPair(name, 6), "ratio") for name in names), key=lambda estimate: estimate.value
    )


def _claims(names: Sequence[str], values: Mapping[str, Sequence[float]]) -> Iterator[Claim]:
    for name in names:
        equal, *expected = values[name]
        yield _equal(name, equal)
        for multiple, value in zip(RATIOS[1:], expected, strict=True):
            yield times(
                slug(name, "rtt-ratio", multiple),
                f"{name}: RTT ratio {multiple}",
                mean(RttPair(name, multiple), "ratio"),
                value,
                factor=2,
                why="the paper has one run; random variation",
            )
    if set(names) == set(CONTROLS):
        bic, aimd = (values[name][-1] for name in ("BI-TCP", "AIMD"))
        yield changed(
            times(
                "bi-tcp-relatively-comparable-to-aimd-ratio-6",
                "BI-TCP is relatively comparable to AIMD (ratio 6)",
                ratio((RttPair("BI-TCP", 6), "ratio"), (RttPair("AIMD", 6), "ratio")),
                bic / aimd,
                factor=2,
                why="'relatively comparable'; a factor of two, as for the ratios themselves",
                paper=f"{bic:.3g} against {aimd:.3g}",
            ),
            ordered(
                "",
                "",
                [
                    ("the smaller of HSTCP and STCP", _extreme(min, ("HSTCP", "STCP"))),
                    ("the larger of BI-TCP and AIMD", _extreme(max, ("BI-TCP", "AIMD"))),
                ],
                why="BI-TCP and AIMD lie below HSTCP and STCP, one claim of three",
                margin=0.0,
            ),
        )
        for name in ("HSTCP", "STCP"):
            pair = [(control, mean(RttPair(control, 6), "ratio")) for control in (name, "BI-TCP")]
            yield changed(
                ordered(
                    slug("bi-tcp-much-better-than", name, "ratio-6"),
                    f"BI-TCP is much better than {name} (ratio 6)",
                    pair,
                    margin=MUCH,
                    why=MUCH_MORE,
                    paper=f"{values[name][-1]:.3g} against {bic:.3g}",
                ),
                ordered("", "", pair, margin=0.0, why="the order of the means"),
            )


def _table(
    number: int,
    rate_mbps: float,
    names: Sequence[str],
    values: Mapping[str, Sequence[float]],
    bandwidth: str,
    quick_s: float,
    *claims: Claim,
) -> Simulated[RttPair]:
    def draw(numbers: Numbers, _traces: Traces) -> Table:
        rows = [
            [
                name,
                *(
                    f"{value:g}: {numbers.of(RttPair(name, multiple), 'ratio').value:.3g}"
                    for multiple, value in zip(RATIOS, values[name], strict=True)
                ),
            ]
            for name in names
        ]
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
        claims=(*_claims(names, values), *claims),
        headline=number == 3,
    )


QUICK_GIGABIT_S, QUICK_MEGABIT_S = 60.0, 150.0
"""Lengths of quick runs of tables 1 and 2, and of table 3."""
TABLE_1 = _table(
    1,
    GIGABIT_MBPS,
    ("AIMD", "HSTCP", "STCP"),
    PAPER_2,
    "2.5 Gbit/s (AIMD, HSTCP, STCP)",
    QUICK_GIGABIT_S,
    *(
        between(
            slug(name, "extremely-unfair-ratio", multiple),
            f"{name} is extremely unfair (RTT ratio {multiple})",
            ratio((RttPair(name, multiple), "ratio"), (RttPair("AIMD", multiple), "ratio")),
            2,
            np.inf,
            why="its throughput ratio over that of AIMD; the factor of two within which ratios are equal",
            paper=f"'extremely unfair': {PAPER_2[name][index]:g} against {PAPER_2['AIMD'][index]:g}",
        )
        for name in ("HSTCP", "STCP")
        for index, multiple in enumerate(RATIOS)
        if multiple > 1
    ),
)
TABLE_2 = _table(2, GIGABIT_MBPS, tuple(CONTROLS), PAPER_2, "2.5 Gbit/s", QUICK_GIGABIT_S)
TABLE_3 = _table(3, 100.0, tuple(CONTROLS), PAPER_3, "100 Mbit/s", QUICK_MEGABIT_S)
