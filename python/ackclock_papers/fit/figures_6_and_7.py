"""Figures 6 and 7: a variant among Reno flows, and the bandwidth that it steals from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.engine import Run
from ackclock.metrics import Estimate, bandwidth_stolen_rate, over_runs
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import bar_chart
from ackclock.reproduction.claims.least import MUCH, MUCH_MORE
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.claims.orders import ordered, was_plain
from ackclock.reproduction.claims.usual import between, changed, mean, near, ratio
from ackclock.runs import Case
from ackclock_papers.fit.setting import PathNumbers, flow, goodputs, scenario


class AmongRenos(NamedTuple):
    """A flow among four Renos, in a panel of figure 6."""

    panel: str
    variant: str

    def __str__(self) -> str:
        return f"{self.panel}: {self.variant}"


SHARING = ("FIT", "Reno", "CUBIC", "CTCP", "FAST")
RENOS = 4
RATE_6_MBPS = 10.0
PANELS_6: dict[str, PathNumbers] = {
    "a": {"rate_mbps": RATE_6_MBPS, "rtt_ms": 10.0},
    "b": {"rate_mbps": RATE_6_MBPS, "rtt_ms": 100.0, "loss": 0.05, "noise_ms": 80.0},
}


def _cases_6(effort: Effort) -> Mapping[AmongRenos, Case]:
    cases = {}
    for name in SHARING:
        flows = [
            flow(effort.setting, name, fast_alpha=effort.setting["fast_alpha"]),
            flow(effort.setting, "Reno", count=RENOS, name="others"),
        ]
        for panel, path in PANELS_6.items():
            description = scenario(effort.setting, flows, measured_s=effort.pick(120, 60), **path)
            cases[AmongRenos(panel, name)] = Case(description, effort.runs, record=False)
    return cases


def _measure_6(run: Run) -> Row:
    """Measure shares of the link's rate: the flow's, one Reno's, and all flows' together."""
    own, renos = goodputs(run, 1, RENOS)
    return {
        "share": own / RATE_6_MBPS,
        "reno_each": renos / (RENOS * RATE_6_MBPS),
        "used": (own + renos) / RATE_6_MBPS,
    }


def _draw_6(numbers: Numbers, _traces: Traces) -> Group:
    renos = f"{RENOS} Reno"
    charts = []
    for panel in PANELS_6:
        cases = [AmongRenos(panel, variant) for variant in SHARING]
        kinds = {
            "the variant": [(case, "share") for case in cases],
            renos: [(case, "reno_each") for case in cases],
        }
        charts.append(
            bar_chart(
                numbers,
                SHARING,
                kinds,
                "share of the link",
                top=1,
                key=str(panel),
                heading=f"({panel})",
                stacked=True,
                factors={renos: RENOS},
            )
        )
    return Group(charts, linked=False, columns=2)


FIGURE_6 = Simulated(
    name="figure-6", caption="one flow of a variant and four Reno",
    about="(a) 10 Mbit/s, 10 ms; (b) the same with 5 % loss and Gaussian delay, 100 and 80 ms.",
    cases=_cases_6, probe=Probe(("share", "reno_each", "used"), _measure_6), draw=_draw_6,
    headline=True,
    claims=(
        *(near(slug(name, "occupies-about-20-percent"),
               f"(a) {name} occupies about 20 %", mean(AmongRenos("a", name), "share"), 0.2,
               within=0.06, absolute=True, why="'about', a fifth Reno's share")
          for name in ("FIT", "CTCP")),
        *(between(slug(name, "takes-more-than-share"),
                  f"(a) {name} takes more than its share", mean(AmongRenos("a", name), "share"),
                  0.24, 0.45, why="'up to 35 %'", paper="up to 35 %")
          for name in ("CUBIC", "FAST")),
        *(between(slug("b-under-40-percent-used-with", name),
                  f"(b) under 40 % is used with {name}", mean(AmongRenos("b", name), "used"), 0,
                  0.4, why="as printed", paper="less than 40 %")
          for name in SHARING),
        was_plain("b-fit-takes-what-reno-leaves", "(b) FIT takes what Reno leaves",
                [(name, mean(AmongRenos("b", name), "share")) for name in ("FIT", "Reno")],
                unit="of the link", paper="picks up capacity"),
        between("b-each-reno-beside-fit-keeps-5-to-10", "(b) each Reno next to FIT keeps 5 to 10 %",
                mean(AmongRenos("b", "FIT"), "reno_each"), 0.045, 0.105,
                why="as printed, give or take half a per cent", paper="5 to 10 %"),
        near("b-each-reno-beside-fit-what-beside-four-kind",
             "(b) each Reno has as much next to FIT as next to a fifth Reno",
             ratio((AmongRenos("b", "FIT"), "reno_each"), (AmongRenos("b", "Reno"), "reno_each")),
             1, within=0.2, why="'still comparable'", paper="comparable"),
    ),
)  # fmt: skip


class Replacement(NamedTuple):
    """The variant that replaces ten of figure 7's twenty Renos, and FAST's alpha."""

    variant: str
    alpha: int | None = None

    def __str__(self) -> str:
        return self.variant if self.alpha is None else f"{self.variant}, alpha {self.alpha}"


NOTHING_REPLACED = Replacement("Reno")
STOLEN = tuple(map(Replacement, ("FIT", "CUBIC", "CTCP", "Veno", "Illinois", "Westwood", "HSTCP")))
FAST_ALPHAS = (10, 20, 50, 100)
FASTS = tuple(Replacement("FAST", alpha) for alpha in FAST_ALPHAS)
EACH = 10
"""Flows of either kind in figure 7 and table III."""


def _case_7(effort: Effort, key: Replacement) -> Case:
    setting, measured_s = effort.setting, effort.pick(200, 80)
    flows = [
        flow(setting, "Reno", count=EACH),
        flow(setting, key.variant, count=EACH, name="others", fast_alpha=key.alpha or 20),
    ]
    description = scenario(setting, flows, rate_mbps=50, rtt_ms=100, measured_s=measured_s)
    return Case(description, effort.runs, record=False)


def _measure_7(run: Run) -> Row:
    """Measure the goodput of the ten Renos that stay and of the ten other flows, Mbit/s."""
    renos, rest = goodputs(run, EACH, EACH)
    return {"Reno": renos, "others": rest, "sum": renos + rest}


def stolen(key: Replacement) -> Callable[[Numbers], Estimate]:
    """Return a number for claims: the bandwidth stolen rate of a replacement, run by run."""

    def judge(numbers: Numbers) -> Estimate:
        alone, shared = (numbers.each(replacement, "Reno") for replacement in (NOTHING_REPLACED, key))
        return over_runs([bandwidth_stolen_rate(x, y) for x, y in zip(alone, shared, strict=True)], most=1.0)

    return judge


def _draw_7(numbers: Numbers, _traces: Traces) -> Group:
    labels_of_panels = [case.variant for case in STOLEN], [f"alpha {alpha}" for alpha in FAST_ALPHAS]
    charts = []
    for key, cases, labels in zip("ab", (STOLEN, FASTS), labels_of_panels, strict=True):
        estimates = [stolen(replacement)(numbers) for replacement in cases]
        shares = Series(
            "bandwidth stolen rate",
            0,
            range(len(estimates)),
            [estimate.value for estimate in estimates],
            low=[estimate.low for estimate in estimates],
            high=[estimate.high for estimate in estimates],
            look="bars",
        )
        y = Axis("bandwidth stolen rate")
        charts.append(
            Chart(
                key,
                f"({key}) {y.label}",
                Axis("", names=labels),
                y,
                [shares],
                kind="points",
                heading=f"({key})",
                has_numbers=True,
            )
        )
    return Group(charts, linked=False, columns=2)


def _more(key: Replacement, rival: Replacement) -> Callable[[Numbers], Estimate]:
    """Return a number for claims: how much more `key` steals than `rival`."""

    def judge(numbers: Numbers) -> Estimate:
        unreplaced, with_key, with_rival = (
            numbers.each(replacement, "Reno") for replacement in (NOTHING_REPLACED, key, rival)
        )
        return over_runs([(y - x) / z for x, y, z in zip(with_key, with_rival, unreplaced, strict=True)])

    return judge


FIGURE_7 = Simulated(
    name="figure-7",
    caption="bandwidth stolen rate",
    about="20 Reno on 50 Mbit/s, 100 ms; then ten of them replaced.",
    cases=lambda effort: {key: _case_7(effort, key) for key in (NOTHING_REPLACED, *STOLEN, *FASTS)},
    probe=Probe(("Reno", "others", "sum"), _measure_7),
    draw=_draw_7,
    claims=(
        ordered(
            "fit-steals-much-less-than-cubic",
            "FIT steals much less than CUBIC",
            [(name, stolen(Replacement(name))) for name in ("CUBIC", "FIT")],
            margin=MUCH,
            why=MUCH_MORE,
        ),
        changed(
            between(
                "fit-steals-little-more-than-ctcp",
                "FIT steals a little more than CTCP",
                _more(Replacement("FIT"), Replacement("CTCP")),
                0.0,
                0.1,
                why="'a little': at most a tenth of what the Renos have",
                paper="a little higher",
            ),
            between(
                "", "", _more(Replacement("FIT"), Replacement("CTCP")), 0.0, math.inf, why="any difference"
            ),
        ),
        between(
            "ctcp-steals-next-to-nothing",
            "CTCP steals next to nothing",
            stolen(Replacement("CTCP")),
            -0.1,
            0.1,
            why="a tenth either way",
            paper="extremely good inter-fairness; ideal is 0",
        ),
        between(
            "fast-rate-depends-on-alpha",
            "FAST's rate depends on alpha",
            _more(FASTS[-1], FASTS[0]),
            0.1,
            math.inf,
            why="0.1 more at alpha 100 than at 10",
            paper="depends on alpha",
        ),
    ),
)
