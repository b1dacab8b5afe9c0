"""Figures 9, 11, 12 and 13: goodput, shares and synchronisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.engine import Run, number
from ackclock.metrics import Estimate, over_runs
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import bar_chart
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.traces import window_trace
from ackclock.runs import Case
from ackclock_papers.illinois import figures_8_and_10
from ackclock_papers.illinois.four_flows import (
    RATE_MBPS,
    RTTS_MS,
    Four,
    OfFlow,
    mixed_rtts,
    next_to_reno,
    probe,
    together,
)

CONTROLS = ("Reno", "HS-TCP", "Illinois", "BIC", "C-TCP")
RIVALS = ("HS-TCP", "BIC", "C-TCP")
"""Controls that Illinois is compared with, in addition to Reno."""


def _trace(_case: Four, run: Run) -> pl.DataFrame:
    return window_trace(run, 0.2, 150, 250)


class Counted(NamedTuple):
    """One or four flows of one algorithm, figure 9; `control` includes the parameter of Illinois."""

    flows: int
    control: str

    @property
    def panel(self) -> str:
        """Heading of the panel: the number of flows."""
        return "1 flow" if self.flows == 1 else f"{self.flows} flows"

    def __str__(self) -> str:
        return f"{self.panel}: {self.control}"


ALONE = {
    Counted(1, "Reno"): figures_8_and_10.RENO,
    Counted(1, "HS-TCP"): figures_8_and_10.ON_SACK,
    Counted(1, "Illinois 0.5"): figures_8_and_10.HALF,
    Counted(1, "Illinois 0.125"): figures_8_and_10.MILD,
    Counted(1, "BIC"): figures_8_and_10.BIC,
    Counted(1, "C-TCP"): figures_8_and_10.CTCP,
}
TOGETHER = {Counted(4, control): Four(control) for control in CONTROLS}


def _cases_9(effort: Effort) -> Mapping[Counted, Case]:
    single = figures_8_and_10.cases(effort)
    return {case: single[alone] for case, alone in ALONE.items()} | {
        case: together(four, effort) for case, four in TOGETHER.items()
    }


def _measure_alone(run: Run) -> Row:
    goodput_mbps = number(run.summary["flows"][0]["goodput_mbps"])
    return {"goodput_mbps": goodput_mbps, "unused_mbps": RATE_MBPS - goodput_mbps}


def _probe_9(case: Counted, effort: Effort) -> Probe:
    if case in ALONE:
        return Probe(("goodput_mbps", "unused_mbps"), _measure_alone)
    return probe(TOGETHER[case], effort)


def _draw_9(numbers: Numbers, _traces: Traces) -> Group:
    charts = []
    for shown in (list(ALONE), list(TOGETHER)):
        keys = {"goodput": [(case, "goodput_mbps") for case in shown]}
        names, panel = [case.control for case in shown], shown[0].panel
        charts.append(bar_chart(numbers, names, keys, "goodput (Mbit/s)", top=110, key=panel, heading=panel))
    return Group(charts, linked=False)


FIGURE_9 = Simulated(
    name="figure-9",
    caption="goodput of one flow and of four",
    about=(
        "First: the runs of figure 8. Second: four flows of one algorithm, 100 Mbit/s, RTT 100 ms, "
        "buffer 100 packets; sum of the goodputs."
    ),
    cases=_cases_9,
    probe=_probe_9,
    draw=_draw_9,
    headline=True,
)

NEXT_TO_RENO = tuple(next_to_reno(control) for control in ("HS-TCP", "Illinois", "BIC", "C-TCP", "Vegas"))
MIXED = tuple(mixed_rtts(control) for control in CONTROLS)


def _cases_11(effort: Effort) -> Mapping[Four, Case]:
    return {case: together(case, effort) for case in (*NEXT_TO_RENO, *MIXED, Four("Reno"))}


def _draw_11(numbers: Numbers, _traces: Traces) -> Group:
    positions = np.arange(len(NEXT_TO_RENO))
    pairs = []
    for shift, (name, flows) in enumerate((("Reno", (0, 1)), ("the other", (2, 3)))):
        each = [[numbers.of(case, OfFlow("goodput", index)) for index in flows] for case in NEXT_TO_RENO]
        means = [float(np.mean([estimate.value for estimate in estimates])) for estimates in each]
        pairs.append(Series(name, shift, positions + 0.4 * (shift - 0.5), means, look="bars"))
    throughput = Axis("mean throughput", "Mbit/s", range=(0, None))
    left = Chart(
        "throughput",
        f"next to two Reno flows: {throughput.titled}",
        Axis("", names=[case.control for case in NEXT_TO_RENO]),
        throughput,
        pairs,
        kind="points",
        height=2.4,
        bar_width=0.4,
    )
    windows = {
        f"{rtt_ms} ms": [(case, OfFlow("window", index)) for case in MIXED]
        for index, rtt_ms in enumerate(RTTS_MS)
    }
    colours = {name: 2 + index for index, name in enumerate(windows)}
    right = bar_chart(
        numbers,
        [case.control for case in MIXED],
        windows,
        "mean window (packets)",
        key="window",
        colours=colours,
    )
    return Group([left, right], linked=False)


def goodput_of_two_renos(numbers: Numbers) -> Estimate:
    """Return the goodput of two Reno flows next to Illinois over that of two of four Reno flows."""
    with_illinois, with_renos = (
        np.sum([numbers.each(case, OfFlow("goodput", index)) for index in (0, 1)], axis=0)
        for case in (next_to_reno("Illinois"), Four("Reno"))
    )
    return over_runs(with_illinois / with_renos, least=0.0)


FIGURE_11 = Simulated(
    name="figure-11",
    caption="next to Reno, and with different round trips",
    about=(
        "First: two Reno flows and two of another algorithm, 100 Mbit/s, 100 ms, 100 packets. "
        "Second: four flows of one algorithm with RTTs of 60, 80, 100 and 120 ms; mu is fitted to "
        "window ~ RTT^-mu."
    ),
    cases=_cases_11,
    probe=probe,
    draw=_draw_11,
    headline=True,
)


DRAWN = ("Illinois", *RIVALS)
"""Controls of the window curves."""


def _cases_12(effort: Effort) -> Mapping[Four, Case]:
    shown = (Four("Illinois"), Four("HS-TCP"), *map(next_to_reno, DRAWN))
    return {case: together(case, effort) for case in shown}


def _cases_13(effort: Effort) -> Mapping[Four, Case]:
    return {case: together(case, effort) for case in map(mixed_rtts, DRAWN)}


def _draw_windows(_numbers: Numbers, traces: Traces) -> Group:
    panels = {str(case): (case,) for case in traces}
    return figures.over_time(traces, panels, "window", "window (packets)", span=(150, 250), height=1.4)


FIGURE_12 = Simulated(
    name="figure-12",
    caption="window curves, equal round trips",
    about=(
        "Four flows on 100 Mbit/s, 100 ms, 100 packets. Loss events within two round trips are one "
        "congestion event."
    ),
    cases=_cases_12,
    probe=probe,
    trace=_trace,
    draw=_draw_windows,
)

FIGURE_13 = Simulated(
    name="figure-13",
    caption="window curves, round trips of 60 to 120 ms",
    about="Four flows of one algorithm on 100 Mbit/s, 100 packets; mu as in figure 11.",
    cases=_cases_13,
    probe=probe,
    trace=_trace,
    draw=_draw_windows,
)
