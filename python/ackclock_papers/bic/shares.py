"""Figures 9 to 11: shares of the link, utilisation and fairness over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.draw import plots
from ackclock.engine import FlowSummary, Run, number
from ackclock.metrics import Estimate
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Simulated, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import (
    CONTROLS,
    GIGABIT_MBPS,
    Group,
    background_flows,
    case,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Link(NamedTuple):
    """Two flows of a control on a link of figure 9, with RED or with droptail."""

    control: str
    rate_mbps: float
    red: bool = False

    def __str__(self) -> str:
        link = "RED" if self.red else f"{self.rate_mbps:g} Mbit/s"
        return f"{link}, {self.control}"


RATES = (20.0, 100.0, 500.0, GIGABIT_MBPS)
KEYS_9 = (
    *(Link(name, rate) for rate in RATES for name in CONTROLS),
    *(Link(name, GIGABIT_MBPS, red=True) for name in CONTROLS),
)
FAST_FLOWS = 2
SHARES = ("background", "long", "fast", "unused")


def _case_9(effort: Effort, key: Link) -> Case:
    flows = [{**CONTROLS[key.control], "rtt": "100 ms", "count": FAST_FLOWS}]
    return case(effort, flows, key.rate_mbps, red=key.red)


def _measure_9(key: Link, run: Run) -> Row:
    """Shares of the link's rate of each kind of flow that goes forward, and what is left."""
    groups = background_flows(run, FAST_FLOWS, key.rate_mbps)
    kinds: dict[str, list[FlowSummary]] = {
        "background": groups[Group("web", "forward")] + groups[Group("small", "forward")],
        "long": groups[Group("long", "forward")],
        "fast": run.summary["flows"][:FAST_FLOWS],
    }
    used = number(run.summary["links"][0]["utilisation"])
    return {
        **{
            kind: sum(number(one["goodput_mbps"]) for one in flows) / key.rate_mbps
            for kind, flows in kinds.items()
        },
        "unused": 1 - used,
        "utilisation": used,
    }


def _draw_9(numbers: Numbers, _traces: Traces) -> Figure:
    figure, panels = plots.panels(1, height=3.0, columns=4)
    for panel, rate in zip(panels, RATES, strict=True):
        bottom = np.zeros(4)
        for index, kind in enumerate(SHARES):
            heights = np.array([numbers.of(Link(name, rate), kind).value for name in CONTROLS])
            panel.bar(range(4), heights, bottom=bottom, color=plots.COLOURS[index], label=kind)
            bottom += heights
        panel.set_xticks(range(4), list(CONTROLS), rotation=60)
        panel.set_title(f"{rate:g} Mbit/s")
        panel.set_ylim(0, 1.02)
    panels[0].legend(fontsize=6, loc="lower left")
    return figure


def _unused(name: str) -> Callable[[Numbers], Estimate]:
    return mean(Link(name, 20), "unused")


FIGURE_9 = Simulated(
    name="figure-9", caption="shares of bandwidth, and section VII's utilisation",
    about=(
        "Two high-speed flows, two long-lived TCP flows and background at four bandwidths, "
        "droptail; at 2.5 Gbit/s also RED."
    ),
    cases=lambda effort: {key: _case_9(effort, key) for key in KEYS_9},
    measure=_measure_9, numbers=(*SHARES, "utilisation"), draw=_draw_9,
    claims=(
        *(between(f"{name}: about 100 % utilisation at 2.5 Gbit/s, droptail",
                  mean(Link(name, GIGABIT_MBPS), "utilisation"), 0.98, 1.001, why="'approximately'",
                  paper="about 100 %") for name in CONTROLS),
        *(near(f"{name}: utilisation with RED",
               mean(Link(name, GIGABIT_MBPS, red=True), "utilisation"), value, within=0.02,
               absolute=True, why="'about'")
          for name, value in (("AIMD", 0.99), ("BI-TCP", 0.99), ("HSTCP", 0.96), ("STCP", 0.96))),
        holds("20 Mbit/s: HSTCP and STCP leave almost twice as much unused as AIMD and BI-TCP",
              "almost twice",
              lambda n: (
                  ", ".join(f"{name} {_unused(name)(n)}" for name in CONTROLS),
                  (_unused("HSTCP")(n).value + _unused("STCP")(n).value)
                  > 1.3 * (_unused("AIMD")(n).value + _unused("BI-TCP")(n).value),
              ), why="1.3 times and more, means of both"),
        ordered("2.5 Gbit/s: STCP most aggressive, then HSTCP, then BI-TCP",
                [(name, mean(Link(name, GIGABIT_MBPS), "fast"))
                 for name in ("STCP", "HSTCP", "BI-TCP")], unit="of the link"),
        holds("500 Mbit/s: STCP, BI-TCP and AIMD use about the same share", "about the same",
              lambda n: _alike(n, ("STCP", "BI-TCP", "AIMD")), why="within 10 % of each other"),
    ),
)  # fmt: skip


def _alike(numbers: Numbers, names: Sequence[str]) -> tuple[str, bool]:
    found = {name: numbers.of(Link(name, 500), "fast") for name in names}
    values = [one.value for one in found.values()]
    return ", ".join(f"{k} {v}" for k, v in found.items()), max(values) < 1.1 * min(values)


class Scale(NamedTuple):
    """Length of the intervals over which fairness is measured, seconds."""

    length_s: int

    def __str__(self) -> str:
        return f"{self.length_s} s"


MEASURED_S = 300
"""Measured time of a full run for figures 10 and 11, seconds."""


@dataclass(frozen=True)
class _Fairness:
    """Fairness of four flows at several time scales.

    Attributes
    ----------
    red : bool
        Adaptive RED in place of droptail.
    scales : tuple of Scale
        All of a full run; a quick run has those that are not longer than what it measures.
    quick_s : float
        Measured time of a quick run, seconds: no shorter than the scales that claims ask for.
    worst : float
        Share of the intervals, the least fair ones, whose mean is taken.
    """

    red: bool
    scales: tuple[Scale, ...]
    quick_s: float
    worst: float

    def cases(self, effort: Effort) -> Mapping[str, Case]:
        """Cases by control: two flows, and two more 50 s later."""
        found = {}
        for name, control in CONTROLS.items():
            flows = [
                {**control, "rtt": "100 ms", "count": 2, "start": {"uniform": [a, b]}}
                for a, b in (("0 s", "20 s"), ("50 s", "70 s"))
            ]
            found[name] = case(
                effort, flows, GIGABIT_MBPS, duration_s=2 * MEASURED_S, quick_s=2 * self.quick_s,
                red=self.red,
            )  # fmt: skip
        return found

    def within(self, measured_s: float) -> list[Scale]:
        """Scales that are not longer than the measured time."""
        return [one for one in self.scales if one.length_s <= measured_s]

    def numbers(self, _name: str, effort: Effort) -> Sequence[Scale]:
        """Keys of what `measure` gives."""
        return self.within(effort.pick(MEASURED_S, self.quick_s))

    def measure(self, _name: str, run: Run) -> Row:
        """Mean of the worst Jain indices at each scale."""
        start, end = run.summary["measured_from_s"], run.summary["duration_s"]
        own = [run.windows.filter(pl.col("flow") == index) for index in range(4)]
        time = own[0]["time_s"].to_numpy()
        amounts = np.stack([one["delivered_bytes"].to_numpy() for one in own], axis=1)
        row = {}
        for scale in self.within(end - start):
            _, rates = metrics.over_intervals(time, amounts, scale.length_s, start, end)
            row[scale] = metrics.worst_mean(metrics.jain(rates, axis=1), self.worst)
        return row

    def draw(self, numbers: Numbers, _traces: Traces) -> Figure:
        """Mean of the worst Jain indices over the scales, a curve per control."""
        curves = {
            name: [(one.length_s, name, one) for one in self.scales if one in numbers.rows[name][0]]
            for name in CONTROLS
        }
        return pictures.against(
            numbers, curves, "measurement interval (s)", "mean of the worst Jain indices",
            log_x=self.red,
        )  # fmt: skip


DROPTAIL = _Fairness(
    red=False, scales=tuple(map(Scale, (1, 5, 25, 75, 150, 300))), quick_s=150, worst=0.2
)
RED = _Fairness(red=True, scales=tuple(map(Scale, (1, 5, 25, 125))), quick_s=100, worst=0.01)


FIGURE_10 = Simulated(
    name="figure-10", caption="fairness at several time scales, droptail",
    about=(
        "Four flows, RTT 100 ms, 2.5 Gbit/s, two 50 s later; from 300 s to 600 s, the mean of the "
        "worst fifth of Jain's indices at each scale."
    ),
    cases=DROPTAIL.cases, measure=DROPTAIL.measure, numbers=DROPTAIL.numbers, draw=DROPTAIL.draw,
    claims=(
        *(between(f"{name} is close to one at all scales", mean(name, Scale(1)), 0.95, 1,
                  why="at the shortest scale, 1 s", paper="close to one")
          for name in ("AIMD", "BI-TCP")),
        between("STCP stays below 0.8", mean("STCP", Scale(150)), 0, 0.8,
                why="at 150 s; shorter scales are lower", paper="always below 0.8"),
        ordered("HSTCP lies between",
                [("BI-TCP", mean("BI-TCP", Scale(25))), ("HSTCP", mean("HSTCP", Scale(25))),
                 ("STCP", mean("STCP", Scale(25)))], paper="between"),
    ),
)  # fmt: skip
FIGURE_11 = Simulated(
    name="figure-11", caption="fairness at several time scales, RED",
    about="As figure 10 with adaptive RED; the mean of the worst hundredth.",
    cases=RED.cases, measure=RED.measure, numbers=RED.numbers, draw=RED.draw,
    claims=(
        ordered("HSTCP and STCP deviate at short scales: below BI-TCP at 1 s",
                [("BI-TCP", mean("BI-TCP", Scale(1))), ("HSTCP", mean("HSTCP", Scale(1)))],
                paper="much deviation"),
        ordered("STCP below BI-TCP at 1 s",
                [("BI-TCP", mean("BI-TCP", Scale(1))), ("STCP", mean("STCP", Scale(1)))],
                paper="much deviation"),
        *(between(f"{name} deviates even at 25 s", mean(name, Scale(25)), 0, 0.98,
                  why="Jain's index of the worst", paper="oscillate even at 25 s")
          for name in ("HSTCP", "STCP")),
    ),
)  # fmt: skip
