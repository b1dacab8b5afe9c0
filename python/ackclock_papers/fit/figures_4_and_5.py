"""Figures 4 and 5: a flow alone on emulated paths that lose packets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ackclock.draw.figure import Axis, Group
from ackclock.engine import Run, number
from ackclock.metrics import Estimate, over_runs
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Claim, Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import curve_chart
from ackclock.reproduction.claims.least import MUCH, MUCH_MORE
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.reproduction.claims.orders import ordered, was_plain
from ackclock.reproduction.claims.usual import between, changed, mean, near, ratio
from ackclock.runs import Case
from ackclock_papers.fit.setting import flow, goodputs, scenario


def _best(cases: Mapping[str, Key]) -> Callable[[Numbers], Estimate]:
    """Return a number for claims: the highest goodput of variants, whose cases have it by variant."""
    return lambda numbers: max(
        (numbers.of(case, variant) for variant, case in cases.items()), key=lambda estimate: estimate.value
    )


def _above(where: str, cases: Mapping[str, Key]) -> tuple[Claim, Claim]:
    """Claim that FIT has more than the other TCPs, and more than FAST."""
    own = "FIT", mean(cases["FIT"], "FIT")
    rivals = {variant: case for variant, case in cases.items() if variant not in ("FIT", "FAST")}
    fast = "FAST", mean(cases["FAST"], "FAST")
    every = {variant: case for variant, case in cases.items() if variant != "FIT"}
    return (
        changed(
            was_plain(
                slug("fit-above-other-tcps-at", where),
                f"FIT is above the other TCPs at {where}",
                [own, ("the best of them", _best(rivals))],
                unit="Mbit/s",
                paper="higher",
            ),
            ordered(
                "",
                "",
                [own, ("the best of all", _best(every))],
                why="FIT is the highest, FAST included",
                margin=0.0,
            ),
        ),
        was_plain(
            slug("fit-above-fast-at", where),
            f"FIT is above FAST at {where}",
            [own, fast],
            unit="Mbit/s",
            paper="higher",
        ),
    )


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
FIRST_LOSSES_4 = LOSSES_4[:2]
"""Loss rates at which FIT was compared with other TCPs at first; the paper's words are about all of them."""
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


def _much_higher(p: float, rival: str) -> Claim:
    pair = [("FIT", mean(with_loss("FIT", p), "FIT")), (rival, mean(with_loss(rival, p), rival))]
    claim = ordered(
        slug("1-gbit-s-loss", p, "fit-much-higher-than", rival),
        f"1 Gbit/s, loss {p:g}: FIT much higher than {rival}",
        pair,
        unit="Mbit/s",
        margin=MUCH,
        paper="much higher",
        why=MUCH_MORE,
    )
    former = ordered("", "", pair, why="any difference", unit="Mbit/s", margin=0.0)
    return changed(claim, former) if p in FIRST_LOSSES_4 else claim


FIGURE_4 = Simulated(
    name="figure-4",
    caption="high-speed links with random loss",
    about="(a) 1 Gbit/s, 20 ms, several loss rates; (b) 100 Mbit/s, 1 % loss, several delays.",
    cases=_cases_4,
    probe=_probe,
    draw=_draw_4,
    claims=(
        *(
            near(
                slug("1-gbit-s-loss", p, "fit-about-fast"),
                f"1 Gbit/s, loss {p:g}: FIT about as FAST",
                ratio((with_loss("FIT", p), "FIT"), (with_loss("FAST", p), "FAST")),
                1,
                within=0.3,
                why="'similar throughput'",
                paper="about the same",
            )
            for p in LOSSES_4
        ),
        *(_much_higher(p, rival) for p in LOSSES_4 for rival in RIVALS_4),
        *(
            claim
            for ms in DELAYS_4
            for claim in _above(f"{ms} ms", {variant: _with_delay(variant, ms) for variant in FAST_PATHS})
        ),
    ),
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


def _noisy(rtt_ms: int, loss: float) -> dict[str, NoisyPath]:
    """Return the cases of a point of figure 5, by variant."""
    return {variant: NoisyPath(variant, rtt_ms, loss) for variant in WIRELESS}


def _ahead(numbers: Numbers) -> Estimate:
    """Return FIT's goodput over the best other TCP's, the geometric mean over the figure's points."""
    ratios = []
    for cases in (_noisy(ms, p) for ms in DELAYS_5 for p in LOSSES_5):
        own = cases["FIT"]
        rivals = {variant: case for variant, case in cases.items() if variant not in ("FIT", "FAST")}
        best = _best(rivals)(numbers).value
        ratios.append(np.array(numbers.each(own, "FIT")) / best)
    return over_runs(np.exp(np.mean(np.log(ratios), axis=0)), least=0.0)


FIGURE_5 = Simulated(
    name="figure-5",
    caption="a wireless link with random loss and noisy delay",
    about="4 Mbit/s, Gaussian delay noise with half of the mean RTT as standard deviation.",
    cases=_cases_5,
    probe=_probe,
    draw=_draw_5,
    claims=(
        *(
            claim
            for p in LOSSES_5
            for ms in (50, 150, 350)
            for claim in _above(f"{ms} ms, {p:.0%}", _noisy(ms, p))
        ),
        between(
            "fit-much-more-than-best-other-tcp",
            "FIT has much more than the best other TCP",
            _ahead,
            1 + MUCH,
            math.inf,
            why=f"{MUCH_MORE}; geometric mean over all points",
            paper="much higher",
        ),
    ),
)
