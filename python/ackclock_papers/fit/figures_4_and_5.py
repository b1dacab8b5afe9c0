"""Figures 4 and 5: a flow alone on emulated paths that lose packets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ackclock.draw.figure import Axis, Group
from ackclock.engine import Run, number
from ackclock.metrics import Estimate, over_runs
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import curve_chart
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.fit.setting import flow, goodputs, scenario

RIVALS_4 = ("Reno", "CUBIC", "CTCP", "HSTCP", "Illinois")
"""The other TCPs of figure 4, without FAST."""
FAST_PATHS = ("FIT", *RIVALS_4, "FAST")


class FastPath(NamedTuple):
    """A flow alone on a path of figure 4: panel (a) has 1 Gbit/s, panel (b) 100 Mbit/s."""

    variant: str
    rate_mbps: int
    rtt_ms: int
    loss: float

    @property
    def in_panel_a(self) -> bool:
        """Whether the loss rate varies, and not the delay."""
        return self.rate_mbps == RATE_4_MBPS

    def __str__(self) -> str:
        if self.in_panel_a:
            return f"a: {self.variant}, {self.loss:g}"
        return f"b: {self.variant}, {self.rtt_ms} ms"


RATE_4_MBPS = 1000
"""Rate of the link of panel (a) of figure 4."""


def with_loss(variant: str, loss: float) -> FastPath:
    """Return a case of panel (a)."""
    return FastPath(variant, RATE_4_MBPS, 20, loss)


def _with_delay(variant: str, rtt_ms: int) -> FastPath:
    """Return a case of panel (b)."""
    return FastPath(variant, 100, rtt_ms, 0.01)


LOSSES_4 = (1e-3, 1e-4, 1e-5, 1e-6)
DELAYS_4 = (40, 80, 120, 160, 200)


def _case_4(effort: Effort, key: FastPath) -> Case:
    setting = effort.setting
    description = scenario(
        setting,
        [flow(setting, key.variant, fast_alpha=200 if key.in_panel_a else 20)],
        rate_mbps=key.rate_mbps,
        rtt_ms=key.rtt_ms,
        loss=key.loss,
        measured_s=effort.pick(40, 15) if key.in_panel_a else effort.pick(120, 40),
    )
    return Case(description, effort.runs, record=False)


def _cases_4(effort: Effort) -> Mapping[FastPath, Case]:
    keys = [
        key
        for name in FAST_PATHS
        for key in (*(with_loss(name, p) for p in LOSSES_4), *(_with_delay(name, ms) for ms in DELAYS_4))
    ]
    return {key: _case_4(effort, key) for key in keys}


def _draw_4(numbers: Numbers, _traces: Traces) -> Group:
    by_loss = {name: [(p, with_loss(name, p), name) for p in LOSSES_4] for name in FAST_PATHS}
    by_delay = {name: [(ms, _with_delay(name, ms), name) for ms in DELAYS_4] for name in FAST_PATHS}
    goodput = Axis("goodput", "Mbit/s")
    charts = [
        curve_chart(
            numbers,
            by_loss,
            Axis("loss rate", log=True),
            goodput,
            key="loss",
            heading="1 Gbit/s, 20 ms",
            height=3.0,
        ),
        curve_chart(
            numbers,
            by_delay,
            Axis("delay", "ms"),
            replace(goodput, range=(0, None)),
            key="delay",
            heading="100 Mbit/s, 1 %",
            height=3.0,
        ),
    ]
    return Group(charts, linked=False, columns=2)


class NoisyPath(NamedTuple):
    """A flow alone on a path of figure 5."""

    variant: str
    rtt_ms: int
    loss: float

    def __str__(self) -> str:
        return f"{self.variant}, {self.rtt_ms} ms, {self.loss:.0%}"


def _probe(key: FastPath | NoisyPath, _effort: Effort) -> Probe:
    """Measure the goodput of the only flow, Mbit/s, by its variant; the sum is the same.

    In figure 5 also its mean RTT, which the noise makes longer.
    """
    noisy = isinstance(key, NoisyPath)

    def measure(run: Run) -> Row:
        (alone,) = goodputs(run, 1)
        rtt = {"rtt_ms": number(run.summary["flows"][0]["mean_rtt_ms"])} if noisy else {}
        return {key.variant: alone, "sum": alone, **rtt}

    return Probe((key.variant, "sum", *(["rtt_ms"] if noisy else [])), measure)


FIGURE_4 = Simulated(
    name="figure-4",
    caption="high-speed links with random loss",
    about="(a) 1 Gbit/s, 20 ms, several loss rates; (b) 100 Mbit/s, 1 % loss, several delays.",
    cases=_cases_4,
    probe=_probe,
    draw=_draw_4,
)

WIRELESS = ("FIT", "Reno", "CUBIC", "CTCP", "Westwood", "Veno", "FAST")
LOSSES_5 = (0.01, 0.03, 0.05, 0.07)
DELAYS_5 = (50, 150, 250, 350)
RATE_5_MBPS = 4


def _case_5(effort: Effort, key: NoisyPath) -> Case:
    setting = effort.setting
    description = scenario(
        setting,
        [flow(setting, key.variant, fast_alpha=setting["fast_alpha"])],
        rate_mbps=RATE_5_MBPS,
        rtt_ms=key.rtt_ms,
        loss=key.loss,
        noise_ms=key.rtt_ms / 2,
        measured_s=effort.pick(300, 100),
    )
    return Case(description, effort.runs, record=False)


def _cases_5(effort: Effort) -> Mapping[NoisyPath, Case]:
    keys = [NoisyPath(name, ms, p) for name in WIRELESS for ms in DELAYS_5 for p in LOSSES_5]
    return {key: _case_5(effort, key) for key in keys}


def _draw_5(numbers: Numbers, _traces: Traces) -> Group:
    charts = [
        curve_chart(
            numbers,
            {variant: [(ms, NoisyPath(variant, ms, p), variant) for ms in DELAYS_5] for variant in WIRELESS},
            Axis("delay", "ms"),
            Axis("goodput", "Mbit/s", range=(0, None)),
            key=f"loss-{p:g}",
            heading=f"loss {p:.0%}",
            height=2.2,
        )
        for p in LOSSES_5
    ]
    return Group(charts, columns=2)


def ahead_of_best(numbers: Numbers) -> Estimate:
    """Return FIT's goodput over that of the best other TCP, the geometric mean over the figure's points."""
    ratios = []
    for point in [(ms, p) for ms in DELAYS_5 for p in LOSSES_5]:
        rivals = [variant for variant in WIRELESS if variant not in ("FIT", "FAST")]
        best = max(numbers.of(NoisyPath(variant, *point), variant).value for variant in rivals)
        ratios.append(np.array(numbers.each(NoisyPath("FIT", *point), "FIT")) / best)
    return over_runs(np.exp(np.mean(np.log(ratios), axis=0)), least=0.0)


FIGURE_5 = Simulated(
    name="figure-5",
    caption="a wireless link with random loss and noisy delay",
    about="4 Mbit/s, Gaussian delay noise with half of the mean RTT as standard deviation.",
    cases=_cases_5,
    probe=_probe,
    draw=_draw_5,
)
