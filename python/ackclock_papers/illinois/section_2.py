"""Sections 2 and 3: window curves of controls that are not in figure 8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ackclock.draw.figure import Group
from ackclock.engine import build
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.reproduction.traces import window_trace
from ackclock.runs import Case
from ackclock_papers.illinois import figures_8_and_10
from ackclock_papers.illinois.setting import scenario, seeds_alone


class NamedControl(NamedTuple):
    """A control that the paper names and does not run."""

    control: str
    """The paper's name."""
    controller: str
    """The engine's name."""
    recovery: str
    """That of ns-2's TCP-Linux for a control of Linux, else SACK, as in footnote 9."""

    def __str__(self) -> str:
        return self.control


SCALABLE = NamedControl("Scalable TCP", "scalable", "sack")
HTCP = NamedControl("H-TCP", "htcp", "sack")
CUBIC = NamedControl("CUBIC", "cubic-8312", "linux-2.6")
NAMED = (SCALABLE, HTCP, CUBIC)
ADAPTIVE = figures_8_and_10.SingleFlow("Illinois")
CurveKey = NamedControl | figures_8_and_10.SingleFlow


def _cases(effort: Effort) -> Mapping[CurveKey, Case]:
    figure_8 = figures_8_and_10.cases(effort)
    end_s = effort.pick(1200.0, 600.0)
    flows: dict[CurveKey, build.Table] = {
        **{control: {"controller": control.controller, "recovery": control.recovery} for control in NAMED},
        ADAPTIVE: ADAPTIVE.flow(effort.setting),
    }
    own: dict[CurveKey, Case] = {
        key: Case(scenario([entry], effort.setting, duration_s=end_s), runs=seeds_alone(effort))
        for key, entry in flows.items()
    }
    return {**own, **{case: figure_8[case] for case in (figures_8_and_10.HALF, figures_8_and_10.ON_SACK)}}


def _draw(_numbers: Numbers, traces: Traces) -> Group:
    panels = {str(case): (case,) for case in traces}
    return figures.over_time(
        traces, panels, "window", "window (packets)", span=(200, 400), top=1500, height=1.2
    )


SECTION_2 = Simulated(
    name="section-2", caption="window curves of controls that are not in figure 8",
    about="As figure 8: one flow on 100 Mbit/s, RTT 100 ms, buffer 100 packets.",
    cases=_cases, probe=figures_8_and_10.PROBE,
    trace=lambda case, run: (
        window_trace(run, 0.1, 200, 400).drop("name") if case in NAMED else None
    ),
    draw=_draw,
)  # fmt: skip
