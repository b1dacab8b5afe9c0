"""Figures 9, 11, 12 and 13: goodput, shares and synchronisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from ackclock.draw import plots
from ackclock.engine import Run
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Claim, Simulated, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.illinois import one_flow
from ackclock_papers.illinois.four_flows import (
    RTTS_MS,
    Four,
    OfFlow,
    beside_reno,
    measure,
    mixed_rtts,
    numbers_of,
    together,
)
from ackclock_papers.illinois.setting import OVERHEAD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTROLS = ("Reno", "HS-TCP", "Illinois", "BIC", "C-TCP")
RIVALS = ("HS-TCP", "BIC", "C-TCP")
"""Whom Illinois is compared with, besides Reno."""


def _trace(_case: Four, run: Run) -> pl.DataFrame:
    return pictures.windows(run, 0.2, 150, 250)


class Counted(NamedTuple):
    """Flows of one algorithm, figure 9.

    Attributes
    ----------
    flows : int
        How many: one, or four.
    control : str
        The algorithm, with the parameter of Illinois.
    """

    flows: int
    control: str

    @property
    def panel(self) -> str:
        """How many flows, in words."""
        return "1 flow" if self.flows == 1 else f"{self.flows} flows"

    def __str__(self) -> str:
        """Label of the case."""
        return f"{self.panel}: {self.control}"


ALONE = {
    Counted(1, "Reno"): one_flow.RENO,
    Counted(1, "HS-TCP"): one_flow.ON_SACK,
    Counted(1, "Illinois 0.5"): one_flow.HALF,
    Counted(1, "Illinois 0.125"): one_flow.MILD,
    Counted(1, "BIC"): one_flow.BIC,
    Counted(1, "C-TCP"): one_flow.CTCP,
}
TOGETHER = {Counted(4, control): Four(control) for control in CONTROLS}


def _cases_9(effort: Effort) -> Mapping[Counted, Case]:
    one = one_flow.cases(effort)
    return {case: one[alone] for case, alone in ALONE.items()} | {
        case: together(four, effort) for case, four in TOGETHER.items()
    }


def _numbers_9(case: Counted, effort: Effort) -> list[Key]:
    return ["goodput_mbps"] if case in ALONE else numbers_of(TOGETHER[case], effort)


def _measure_9(case: Counted, run: Run) -> Row:
    if case in ALONE:
        return {"goodput_mbps": run.summary["flows"][0]["goodput_mbps"]}
    return measure(TOGETHER[case], run)


def _draw_9(numbers: Numbers, _traces: Traces) -> Figure:
    figure, panels = plots.panels(2, height=2.2)
    for panel, shown in zip(panels, (list(ALONE), list(TOGETHER)), strict=True):
        found = [numbers.of(case, "goodput_mbps") for case in shown]
        errors = [0.0 if np.isnan(one.high) else one.high - one.value for one in found]
        words = [case.control for case in shown]
        label = f"{shown[0].panel}: goodput (Mbit/s)"
        plots.bars(panel, words, [one.value for one in found], errors, label)
        panel.set_ylim(0, 110)
    return figure


def _highest(ours: Counted, reason: str = "") -> Claim:
    others = [ours._replace(control=control) for control in ("Reno", *RIVALS)]

    def judge(numbers: Numbers) -> tuple[str, bool]:
        mine = numbers.of(ours, "goodput_mbps")
        best = max(others, key=lambda other: numbers.of(other, "goodput_mbps").value)
        theirs = numbers.of(best, "goodput_mbps")
        return f"{mine} Mbit/s; {best.control} {theirs}", mine.value > theirs.value

    return holds(
        f"{ours} has a higher goodput than {', '.join(other.control for other in others)}",
        "the highest", judge, why="the order of the means", reason=reason,
    )  # fmt: skip


FIGURE_9 = Simulated(
    name="figure-9",
    caption="goodput of one flow and of four",
    about=(
        "Left: the runs of figure 8. Right: four flows of one algorithm, 100 Mbit/s, RTT 100 ms, "
        f"buffer 100 packets, overhead {OVERHEAD}, random starts; sum of the goodputs."
    ),
    cases=_cases_9,
    measure=_measure_9,
    numbers=_numbers_9,
    draw=_draw_9,
    headline=True,
    claims=(
        _highest(Counted(1, "Illinois 0.125")),
        _highest(
            Counted(1, "Illinois 0.5"),
            "With beta 1/2 the window falls to half of the link, and packet trains double the time "
            "until it is full again (see figure 8).",
        ),
        _highest(Counted(4, "Illinois")),
    ),
)

BESIDE_RENO = tuple(
    beside_reno(control) for control in ("HS-TCP", "Illinois", "BIC", "C-TCP", "Vegas")
)
MIXED = tuple(mixed_rtts(control) for control in CONTROLS)


def _cases_11(effort: Effort) -> Mapping[Four, Case]:
    return {case: together(case, effort) for case in (*BESIDE_RENO, *MIXED)}


def _draw_11(numbers: Numbers, _traces: Traces) -> Figure:
    figure, (left, right) = plots.panels(2, height=2.4)
    places = np.arange(len(BESIDE_RENO))
    for shift, (label, flows) in enumerate((("Reno", (0, 1)), ("the other", (2, 3)))):
        heights = [
            float(np.mean([numbers.of(case, OfFlow("goodput", one)).value for one in flows]))
            for case in BESIDE_RENO
        ]
        left.bar(places + 0.4 * shift, heights, 0.38, label=label, color=plots.COLOURS[shift])
    left.set_xticks(places + 0.2, [case.control for case in BESIDE_RENO])
    left.set_ylabel("mean throughput\n(Mbit/s)")
    plots.legend(left, 2)
    places = np.arange(len(MIXED))
    for index, rtt_ms in enumerate(RTTS_MS):
        heights = [numbers.of(case, OfFlow("window", index)).value for case in MIXED]
        right.bar(
            places + 0.2 * index, heights, 0.18, label=f"{rtt_ms} ms", color=plots.COLOURS[index]
        )
    right.set_xticks(places + 0.3, [case.control for case in MIXED])
    right.set_ylabel("mean window\n(packets)")
    plots.legend(right, 4)
    return figure


GROWERS = (
    "A full droptail queue that is fed by ACK clocks drops what growing windows add, whoever fills "
    "the link (docs/theory.md, Illinois beside Reno): near congestion Reno adds ten times as many "
    "packets as Illinois and has most losses. Tried: a random delay of 2 ms before each send "
    "brings the ratio of windows from 8 to 1.3, 5 % Poisson traffic to 1.4; with twice the "
    "buffer, or an overhead of 0.8 ms, Illinois leaves Reno more than HS-TCP does. It depends on "
    "the agents, too: with ns-2's TCP-Linux for both, Reno keeps 0.147 beside Illinois and 0.104 "
    "beside HS-TCP, so there the claim holds (linux-2.6: 0.167 and 0.105); beside ns-2's own "
    "HS-TCP on SACK it keeps 0.120. The paper gives Illinois NewReno."
)


def _favours_short(other: str, sentence: str, paper: str) -> Claim:
    numbers = [(one, mean(mixed_rtts(one), "mu")) for one in (other, "Illinois")]
    return ordered(f"{other} {sentence}", numbers, unit="(mu)", paper=paper)


def _leaves_less(other: str, sentence: str, paper: str) -> Claim:
    numbers = [
        ("Reno beside Illinois", mean(beside_reno("Illinois"), "reno_share")),
        (f"beside {other}", mean(beside_reno(other), "reno_share")),
    ]
    return ordered(sentence, numbers, unit="of the goodput", paper=paper, reason=GROWERS)


FIGURE_11 = Simulated(
    name="figure-11", caption="beside Reno, and with different round trips",
    about=(
        "Left: two Reno flows and two of another algorithm, 100 Mbit/s, 100 ms, 100 packets. "
        "Right: four flows of one algorithm with RTTs of 60, 80, 100 and 120 ms; mu is fitted to "
        "window ~ RTT^-mu."
    ),
    cases=_cases_11, measure=measure, numbers=numbers_of, draw=_draw_11,
    headline=True,
    claims=(
        *(
            _leaves_less(other, f"Illinois leaves Reno more than {other} does", "more")
            for other in RIVALS
        ),
        between(
            "Vegas gets very little beside Reno",
            mean(beside_reno("Vegas"), "reno_share"), 0.75, 1,
            why="Reno's share of the goodput; a fair one would be 0.5", paper="very little",
        ),
        between(
            "Illinois: nearly equal windows whatever the RTT",
            mean(mixed_rtts("Illinois"), "mu"), -0.35, 0.35,
            why="mu 0 is equal windows; the matrix model has up to 0.34 under heavy congestion",
            paper="nearly equal",
        ),
        between(
            "Reno: nearly equal windows whatever the RTT",
            mean(mixed_rtts("Reno"), "mu"), -0.35, 0.35, why="as for Illinois",
            paper="nearly equal",
        ),
        *(
            _favours_short(
                other, "favours short RTTs more than Illinois does", "favour short RTTs",
            )
            for other in RIVALS
        ),
    ),
)  # fmt: skip


DRAWN = ("Illinois", *RIVALS)
"""Controls of the window curves."""


def _cases_12(effort: Effort) -> Mapping[Four, Case]:
    shown = (Four("Illinois"), Four("HS-TCP"), *map(beside_reno, DRAWN))
    return {case: together(case, effort) for case in shown}


def _cases_13(effort: Effort) -> Mapping[Four, Case]:
    return {case: together(case, effort) for case in map(mixed_rtts, DRAWN)}


def _draw_windows(_numbers: Numbers, traces: Traces) -> Figure:
    panels = {str(case): (case,) for case in traces}
    return pictures.over_time(
        traces, panels, "window", "window\n(packets)", span=(150, 250), height=1.4
    )


FIGURE_12 = Simulated(
    name="figure-12", caption="window curves, equal round trips",
    about=(
        "Four flows on 100 Mbit/s, 100 ms, 100 packets. Loss events within two round trips are one "
        "congestion event."
    ),
    cases=_cases_12, measure=measure, numbers=numbers_of, trace=_trace, draw=_draw_windows,
    claims=(
        between(
            "Illinois backs off unsynchronised",
            mean(Four("Illinois"), "losing_flows"), 1, 2,
            why="flows that lose per congestion event, of four; 1 is never together",
            paper="unsynchronised",
        ),
        between(
            "HS-TCP backs off synchronised",
            mean(Four("HS-TCP"), "losing_flows"), 2, 4,
            why="flows that lose per congestion event, of four; 4 is always together",
            paper="synchronised frequently",
        ),
        _leaves_less(
            "HS-TCP", "HS-TCP leaves Reno less than Illinois does", "more unfair to TCP-Reno",
        ),
    ),
)  # fmt: skip

FIGURE_13 = Simulated(
    name="figure-13", caption="window curves, round trips of 60 to 120 ms",
    about="Four flows of one algorithm on 100 Mbit/s, 100 packets; mu as in figure 11.",
    cases=_cases_13, measure=measure, numbers=numbers_of, trace=_trace, draw=_draw_windows,
    claims=(
        near(
            "Illinois is fair to large RTTs: equal windows",
            mean(mixed_rtts("Illinois"), "mu"), 0, within=0.35, absolute=True,
            why="the matrix model has mu up to 0.34 under heavy congestion", paper="mu near 0",
        ),
        *(
            _favours_short(other, "is less fair to large RTTs than Illinois", "not fair")
            for other in RIVALS
        ),
    ),
)  # fmt: skip
