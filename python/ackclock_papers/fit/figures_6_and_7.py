"""Figures 6 and 7: a variant among Reno flows, and the bandwidth that it steals from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.engine import Run
from ackclock.metrics import Estimate, bandwidth_stolen_rate, over_runs
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import bar_chart
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
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
    name="figure-6",
    caption="one flow of a variant and four Reno",
    about="(a) 10 Mbit/s, 10 ms; (b) the same with 5 % loss and Gaussian delay, 100 and 80 ms.",
    cases=_cases_6,
    probe=Probe(("share", "reno_each", "used"), _measure_6),
    draw=_draw_6,
    headline=True,
)


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


def stolen(numbers: Numbers, alone: Key, shared: Key, key: str) -> Estimate:
    """Return the bandwidth stolen rate, run by run.

    `key` is the goodput of Renos, next to others of their kind in the case `alone` and next to the variant in
    the case `shared`.
    """
    pairs = zip(numbers.each(alone, key), numbers.each(shared, key), strict=True)
    return over_runs([bandwidth_stolen_rate(x, y) for x, y in pairs], most=1.0)


def _draw_7(numbers: Numbers, _traces: Traces) -> Group:
    labels_of_panels = [case.variant for case in STOLEN], [f"alpha {alpha}" for alpha in FAST_ALPHAS]
    charts = []
    for key, cases, labels in zip("ab", (STOLEN, FASTS), labels_of_panels, strict=True):
        estimates = [stolen(numbers, NOTHING_REPLACED, replacement, "Reno") for replacement in cases]
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


def stolen_beyond(numbers: Numbers, thief: str, rival: str) -> Estimate:
    """Return how much more the replacement `thief` steals than `rival`, run by run."""
    unreplaced, with_thief, with_rival = (
        numbers.each(case, "Reno") for case in (NOTHING_REPLACED, thief, rival)
    )
    return over_runs([(y - x) / z for x, y, z in zip(with_thief, with_rival, unreplaced, strict=True)])


FIGURE_7 = Simulated(
    name="figure-7",
    caption="bandwidth stolen rate",
    about="20 Reno on 50 Mbit/s, 100 ms; then ten of them replaced.",
    cases=lambda effort: {key: _case_7(effort, key) for key in (NOTHING_REPLACED, *STOLEN, *FASTS)},
    probe=Probe(("Reno", "others", "sum"), _measure_7),
    draw=_draw_7,
)
