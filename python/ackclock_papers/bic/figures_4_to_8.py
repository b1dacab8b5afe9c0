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
from ackclock.names import slug
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Computed, Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.reproduction.claims.orders import was_plain
from ackclock.reproduction.claims.usual import between, changed, holds, mean, near, ratio, times
from ackclock.reproduction.traces import window_trace
from ackclock.runs import Case
from ackclock_papers.bic.climbs import CLIMBS, LARGEST_STEP, measure_climbs
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
    claims=(
        near(
            "hstcp-leaves-reno-at-window-31",
            "HSTCP leaves Reno at a window of 31",
            mean(CROSSINGS, "hstcp"),
            31,
            within=0.02,
            why="Reno as 1.2/sqrt(p)",
            unit="packets",
        ),
        was_plain(
            "order-at-1e-7-scalable-hstcp-aimd-reno",
            "order at 1e-7: Scalable, HSTCP, AIMD, Reno",
            [(name, mean(name, LossRate(1e-7))) for name in ("Scalable", "HSTCP", AIMD, "Reno")],
            unit="packets per RTT",
            paper="as drawn",
        ),
        near(
            "hstcp-10-gbit-s-at-p-1e-7",
            "HSTCP: 10 Gbit/s at p = 1e-7",
            mean("HSTCP", LossRate(1e-7)),
            83_333,
            within=0.05,
            why="83333 packets of 1500 bytes at 100 ms",
            unit="packets per RTT",
        ),
    ),
)


TWO, ALONE = "two flows", "one flow"


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
    trace=lambda name, run: window_trace(run, 0.0, 60, 80) if name == TWO else None,
    draw=lambda _n, traces: figures.over_time(
        traces, {TWO: (TWO,)}, "window", "window (packets)", span=(60, 80), height=3.0
    ),
    claims=(
        between(
            "binary-search-seen",
            "binary search is visible",
            mean(TWO, "binary"),
            0.3,
            1,
            why="share of growing round trips with less than 20 packets",
            paper="marked",
        ),
        near(
            "after-large-reduction-first-linear",
            "after a large reduction the window first grows by S_max per round trip",
            mean(ALONE, CLIMBS[0]),
            LARGEST_STEP,
            within=0.25,
            unit="packets",
            why="the first round trip of one flow after a loss of more than 2 S_max, of which a part may "
            "belong to the recovery",
            paper="S_max = 32; 'initially increases the window linearly'",
        ),
        changed(
            between(
                "after-large-reduction-then-logarithmic",
                "after a large reduction the window at last grows logarithmically",
                ratio((ALONE, CLIMBS[1]), (ALONE, CLIMBS[0])),
                0,
                0.5,
                why="growth in the last round trip before the old window or the next loss over that in the "
                "first; a search halves it at least once",
                paper="'and then increases logarithmically'",
            ),
            between("", "", ratio((ALONE, CLIMBS[2]), (ALONE, CLIMBS[0])), 0, 0.5, why="by the last sample"),
        ),
        between(
            "growth-never-exceeds-s-max-more-than-round-trip",
            "growth never exceeds S_max by more than a round trip's queueing",
            mean(TWO, "largest_growth"),
            0,
            48,
            why="32 per RTT and half as many again, because ACKs of two round trips may fall into a sample",
            unit="packets",
            paper="S_max = 32",
        ),
        between(
            "flows-share-fairly",
            "the flows share fairly",
            mean(TWO, "jain"),
            0.95,
            1,
            why="Jain's index of the mean goodputs",
            paper="converge",
        ),
    ),
)


def _apart(numbers: Numbers, p: float, limits: Collection[GrowthLimit]) -> float:
    """Return how far the curves are apart at a loss rate: the highest over the lowest, less one."""
    values = [numbers.of(limit, LossRate(p)).value for limit in limits]
    return max(values) / min(values) - 1


FIGURE_6 = Computed(
    name="figure-6",
    caption="response functions of BI-TCP for S_max 8 to 64",
    about="S_min 0.01, beta 0.125.",
    compute=lambda _effort: _read(S_MAX),
    numbers=_numbers(S_MAX),
    draw=_draw(1e-8, 1e-1),
    headline=True,
    claims=(
        was_plain(
            "larger-s-max-gives-more-at-1e-8",
            "a larger S_max gives a higher rate at 1e-8",
            [(str(limit), mean(limit, LossRate(1e-8))) for limit in reversed(S_MAX)],
            unit="packets per RTT",
            paper="as drawn",
        ),
        holds(
            "s-max-matters-only-below-p-about-1e-4",
            "S_max matters only below p about 1e-4",
            "only below 1e-4",
            lambda n: (
                f"{_apart(n, 1e-3, S_MAX):.1%} apart at 1e-3, {_apart(n, 1e-6, S_MAX):.0%} at 1e-6",
                _apart(n, 1e-3, S_MAX) < 0.05 and _apart(n, 1e-6, S_MAX) > 0.5,
            ),
            why="all four within 5 % at 1e-3, a factor of 1.5 and more at 1e-6",
        ),
    ),
)
FIGURE_7 = Computed(
    name="figure-7",
    caption="response functions of BI-TCP for S_min 1 to 0.001",
    about="S_max 32, beta 0.125.",
    compute=lambda _effort: _read(S_MIN),
    numbers=_numbers(S_MIN),
    draw=_draw(1e-8, 1e-1),
    claims=(
        was_plain(
            "larger-s-min-gives-more-at-1e-4",
            "a larger S_min gives a higher rate at 1e-4",
            [(str(limit), mean(limit, LossRate(1e-4))) for limit in S_MIN],
            unit="packets per RTT",
            paper="as drawn",
        ),
        holds(
            "s-min-not-matter-at-very-low-loss",
            "S_min does not matter at very low loss",
            "curves meet",
            lambda n: (f"{_apart(n, 1e-8, S_MIN):.1%} apart at 1e-8", _apart(n, 1e-8, S_MIN) < 0.05),
            why="all four within 5 % at 1e-8",
        ),
    ),
)


def _compute_8(_effort: Effort) -> tuple[ResponseRows, Traces]:
    rows, frames = _read(WITH_BIC)
    reno = _cross(lambda p: responses.bic(p, low=0), responses.reno, 1e-3, 5e-2)
    return {**rows, CROSSINGS: [{"reno": reno}]}, frames


PACKETS_PER_RTT = {LossRate(1e-3): 83.0, LossRate(1e-4): 655.7, LossRate(1e-5): 3646, LossRate(1e-6): 14118}
"""BI-TCP's response function by the paper's equations."""


def _over_aimd(p: float) -> Callable[[Numbers], Estimate]:
    return ratio(("BI-TCP", LossRate(p)), (AIMD, LossRate(p)))


def _slope(numbers: Numbers) -> Estimate:
    """Return BI-TCP's slope from 1e-5 to 1e-8, in powers of the loss rate."""
    high, low = (numbers.of("BI-TCP", LossRate(p)).value for p in (1e-8, 1e-5))
    slope = float(np.log10(high / low)) / 3
    return Estimate(slope, slope, slope, 1)


FIGURE_8 = Computed(
    name="figure-8", caption="response functions of all protocols",
    about="Closed forms; tested against the simulation in docs/theory.md.",
    compute=_compute_8, numbers=_numbers(WITH_BIC, "reno"), draw=_draw(1e-7, 1e-2), headline=True,
    claims=(
        near("bi-tcp-leaves-reno-at-window-14",
             "BI-TCP leaves Reno at a window of 14", mean(CROSSINGS, "reno"), 14, within=0.03,
             why="14.28 from the closed forms", unit="packets"),
        near("bi-tcp-over-aimd-at-1e-5",
             "BI-TCP over AIMD at 1e-5", _over_aimd(1e-5), 0.74, within=0.01, why="26 % less"),
        near("bi-tcp-over-aimd-at-1e-6",
             "BI-TCP over AIMD at 1e-6", _over_aimd(1e-6), 0.91, within=0.01, why="9 % less"),
        near("bi-tcp-over-aimd-at-1e-7",
             "BI-TCP over AIMD at 1e-7", _over_aimd(1e-7), 0.97, within=0.01, why="3 % less"),
        *(times(slug("bi-tcp-meets-aimd-at", p), f"BI-TCP is close to AIMD at {p:g}", _over_aimd(p), 1,
                factor=1.5, why="'around'; of the five decades of the plot a factor of 1.5 is 0.18. That "
                "the ratio at 1e-5 is 0.74 was known",
                paper="'meets AIMD around p=1e-5 and stays with AIMD'") for p in (1e-5, 1e-6, 1e-7)),
        near("from-1e-5-on-bi-tcp-runs-in-parallel",
             "from 1e-5 on BI-TCP runs in parallel with TCP", _slope, 0.5, within=0.1,
             absolute=True, paper="'run in parallel after some point (at p=1e-5)'",
             why="slope from 1e-5 to 1e-8 in the log-log plot; HSTCP has 0.82, STCP 1"),
        times("at-high-loss-rates-bi-tcp-friendly-to-tcp",
              "at high loss rates BI-TCP is as friendly to TCP as STCP", ratio(
            ("BI-TCP", LossRate(1e-3)), ("Scalable", LossRate(1e-3))), 1.0, factor=1.25,
              why="rates at 1e-3", paper="'comparable to STCP'"),
        was_plain("at-high-loss-rates-bi-tcp-less-friendly",
                "at high loss rates BI-TCP is less friendly to TCP than HSTCP",
                [(name, mean(name, LossRate(1e-3))) for name in ("BI-TCP", "HSTCP")],
                why="the rates at 1e-3", unit="packets per RTT", paper="'less TCP friendly'"),
        was_plain("at-1e-8-bi-tcp-lies-below-hstcp", "at 1e-8 BI-TCP lies below HSTCP and Scalable",
                [(name, mean(name, LossRate(1e-8))) for name in ("Scalable", "HSTCP", "BI-TCP")],
                unit="packets per RTT"),
        *(near(slug("r-at", at), f"R at {at}", mean("BI-TCP", at), value, within=0.001,
               why="equations 1.3 and 1.5", unit="packets per RTT")
          for at, value in PACKETS_PER_RTT.items()),
    ),
)  # fmt: skip
