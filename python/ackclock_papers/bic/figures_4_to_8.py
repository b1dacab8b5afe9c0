"""Figures 4 to 8: response functions, and the search of BI-TCP."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike, NDArray

from ackclock.draw import figure
from ackclock.engine import Run, number
from ackclock.metrics import Estimate
from ackclock.models import responses
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Computed, Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.reproduction.traces import window_trace
from ackclock.runs import Case
from ackclock_papers.bic.climbs import CLIMBS, measure_climbs
from ackclock_papers.bic.setting import case


class LossRate(NamedTuple):
    """Loss event rate at which a response function is read."""

    p: float

    def __str__(self) -> str:
        return f"{self.p:.0e}"


class GrowthLimit(NamedTuple):
    """A limit of BI-TCP's growth, in packets per round trip."""

    name: str
    packets: float

    def __str__(self) -> str:
        return f"{self.name} {self.packets:g}"


P = np.geomspace(1e-8, 1e-1, 141)
AT = tuple(map(LossRate, (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)))
ResponseCurve = Callable[[ArrayLike], NDArray[np.float64]]
ResponseCurves = Mapping[Any, ResponseCurve]


def _hstcp(p: ArrayLike) -> NDArray[np.float64]:
    """Return HSTCP's response as the paper has it."""
    return np.asarray(np.maximum(responses.power(p, 0.15, 0.82), responses.reno(p)), float)


AIMD = "AIMD(32, 0.125)"
PROTOCOLS: ResponseCurves = {
    "Reno": responses.reno,
    "HSTCP": _hstcp,
    "Scalable": lambda p: np.maximum(responses.scalable(p), responses.reno(p)),
    AIMD: lambda p: responses.aimd(p, 32, 0.125),
}
WITH_BIC: ResponseCurves = {**PROTOCOLS, "BI-TCP": responses.bic}
S_MAX = {GrowthLimit("S_max", packets): partial(responses.bic, s_max=packets) for packets in (8, 16, 32, 64)}
S_MIN = {
    GrowthLimit("S_min", packets): partial(responses.bic, s_min=packets) for packets in (1, 0.1, 0.01, 0.001)
}
CROSSINGS = "crossings"
ResponseRows = dict[Any, Sequence[Row]]


def _read(curves: ResponseCurves) -> tuple[ResponseRows, Traces]:
    """Read the curves at `AT`, and trace them."""
    rows: ResponseRows = {key: [{at: float(curve(at.p)) for at in AT}] for key, curve in curves.items()}
    frames = {
        key: pl.DataFrame({"p": P, "rate": np.asarray(curve(P), float)}) for key, curve in curves.items()
    }
    return rows, frames


def _numbers(curves: ResponseCurves, *crossings: str) -> Mapping[Key, Collection[Key]]:
    """Declare the numbers that are read off the curves, and the crossings."""
    numbers: dict[Key, Collection[Key]] = dict.fromkeys(curves, AT)
    return numbers | ({CROSSINGS: crossings} if crossings else {})


def _draw(low: float, high: float) -> Callable[[Numbers, Traces], figure.Group]:
    def draw(_numbers: Numbers, traces: Traces) -> figure.Group:
        x = figure.Axis("loss event rate", log=True)
        y = figure.Axis("rate", "packets per RTT", log=True)
        series = []
        for index, (key, frame) in enumerate(traces.items()):
            own = frame.filter(pl.col("p").is_between(low, high)).sort("p")
            series.append(figure.Series(str(key), index, own["p"], own["rate"]))
        return figure.Group([figure.Chart("response", y.titled, x, y, series, height=3.4)])

    return draw


def _cross(first: ResponseCurve, second: ResponseCurve, low: float, high: float) -> float:
    """Return the packets per RTT at which two curves meet between two loss rates."""
    p = scipy.optimize.brentq(lambda p: float(first(p)) - float(second(p)), low, high)
    return float(second(p))


def _compute_4(_effort: Effort) -> tuple[ResponseRows, Traces]:
    rows, frames = _read(PROTOCOLS)
    hstcp = partial(responses.power, scale=0.15, exponent=0.82)
    tcp = partial(responses.power, scale=1.2, exponent=0.5)
    crossing = _cross(hstcp, tcp, 1e-4, 1e-1)
    aimd = _cross(lambda p: responses.aimd(p, 32, 0.125), _hstcp, 1e-7, 1e-3)
    return {**rows, CROSSINGS: [{"hstcp": crossing, "aimd": aimd}]}, frames


FIGURE_4 = Computed(
    name="figure-4",
    caption="response functions of Reno, HSTCP, Scalable and AIMD",
    about="Closed forms; HSTCP as 0.15/p^0.82, as the paper has it.",
    compute=_compute_4,
    numbers=_numbers(PROTOCOLS, "hstcp", "aimd"),
    draw=_draw(1e-7, 1e-2),
)


TWO, ALONE = "two flows", "one flow"
SHOWN_S = 40.0
"""End of the picture of figure 5, in which both the start and several large reductions can be told apart."""


def _cases_5(effort: Effort) -> Mapping[str, Case]:
    flow = {"controller": "bic", "rtt": "40 ms"}
    # The picture ends at 80 s. A flow alone has the larger reductions.
    return {
        name: case(
            effort, [{**flow, "count": count}], 100.0, duration_s=120, quick_s=80, kinds=(), sample_s=0.04
        )
        for name, count in ((TWO, 2), (ALONE, 1))
    }


def _measure_5(run: Run) -> Row:
    """Measure the first flow's growth: shares of round trips with additive and binary growth, cuts."""
    own = run.windows_of(0).filter(pl.col("time_s") > run.summary["measured_from_s"])
    window = own["window"].to_numpy()
    growth = np.diff(window)
    grows = growth > 0
    count = max(int(grows.sum()), 1)
    return {
        "additive": float((grows & (growth >= 20)).sum() / count),
        "binary": float((grows & (growth < 20)).sum() / count),
        "cuts": float((growth < -0.05 * window[:-1]).sum()),
        "jain": number(run.summary["jain"]),
        "largest_growth": float(np.percentile(growth[grows], 99)) if grows.any() else 0.0,
    }


GROWTH = Probe(("additive", "binary", "cuts", "jain", "largest_growth"), _measure_5)

FIGURE_5 = Simulated(
    name="figure-5",
    caption="two BI-TCP flows",
    about="100 Mbit/s, RTT 40 ms, no background; growth per round trip of the trace, also of one flow alone.",
    cases=_cases_5,
    probe=lambda name, _effort: GROWTH if name == TWO else Probe(CLIMBS, measure_climbs),
    trace=lambda _name, run: window_trace(run, 0.0, 0, SHOWN_S),
    draw=lambda _n, traces: figures.over_time(
        traces, {name: (name,) for name in (TWO, ALONE)}, "window", "window (packets)", height=2.0
    ),
)


def _apart(numbers: Numbers, p: float, limits: Collection[GrowthLimit]) -> float:
    """Return how far the curves are apart at a loss rate: the highest over the lowest, less one."""
    values = [numbers.of(limit, LossRate(p)).value for limit in limits]
    return max(values) / min(values) - 1


def apart_at_rare_losses_only(numbers: Numbers) -> tuple[str, bool]:
    """Return how far the curves of S_max are apart at 1e-3 and 1e-6."""
    often, rarely = (_apart(numbers, p, S_MAX) for p in (1e-3, 1e-6))
    return f"{often:.1%} apart at 1e-3, {rarely:.0%} at 1e-6", often < 0.05 and rarely > 0.5


def together_at_very_rare_losses(numbers: Numbers) -> tuple[str, bool]:
    """Return how far the curves of S_min are apart at 1e-8."""
    apart = _apart(numbers, 1e-8, S_MIN)
    return f"{apart:.1%} apart at 1e-8", apart < 0.05


FIGURE_6 = Computed(
    name="figure-6",
    caption="response functions of BI-TCP for S_max 8 to 64",
    about="S_min 0.01, beta 0.125.",
    compute=lambda _effort: _read(S_MAX),
    numbers=_numbers(S_MAX),
    draw=_draw(1e-8, 1e-1),
    headline=True,
)
FIGURE_7 = Computed(
    name="figure-7",
    caption="response functions of BI-TCP for S_min 1 to 0.001",
    about="S_max 32, beta 0.125.",
    compute=lambda _effort: _read(S_MIN),
    numbers=_numbers(S_MIN),
    draw=_draw(1e-8, 1e-1),
)


def _compute_8(_effort: Effort) -> tuple[ResponseRows, Traces]:
    rows, frames = _read(WITH_BIC)
    reno = _cross(lambda p: responses.bic(p, low=0), responses.reno, 1e-3, 5e-2)
    return {**rows, CROSSINGS: [{"reno": reno}]}, frames


def slope(numbers: Numbers) -> Estimate:
    """Return BI-TCP's slope from 1e-5 to 1e-8, in powers of the loss rate."""
    high, low = (numbers.of("BI-TCP", LossRate(p)).value for p in (1e-8, 1e-5))
    exponent = float(np.log10(high / low)) / 3
    return Estimate(exponent, exponent, exponent, 1)


FIGURE_8 = Computed(
    name="figure-8", caption="response functions of all protocols",
    about="Closed forms; tested against the simulation in docs/theory.md.",
    compute=_compute_8, numbers=_numbers(WITH_BIC, "reno"), draw=_draw(1e-7, 1e-2), headline=True,

)  # fmt: skip
