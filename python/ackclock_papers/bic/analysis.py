"""Figures 1 and 4 to 8: setup, response functions, and the search of BI-TCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.optimize import brentq

from ackclock.draw import plots
from ackclock.engine import Run
from ackclock.models import responses
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Artefact, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import case

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = np.geomspace(1e-8, 1e-1, 141)
Curves = Mapping[str, Callable[[Any], Any]]


def _hstcp(p: Any) -> Any:
    """HSTCP as the paper has it."""
    return np.maximum(responses.power(p, 0.15, 0.82), responses.reno(p))


PROTOCOLS: Curves = {
    "Reno": responses.reno,
    "HSTCP": _hstcp,
    "Scalable": lambda p: np.maximum(responses.scalable(p), responses.reno(p)),
    "AIMD(32, 0.125)": lambda p: responses.aimd(p, 32, 0.125),
}
WITH_BIC: Curves = {**PROTOCOLS, "BI-TCP": responses.bic}
S_MAX: Curves = {f"S_max {s}": partial(responses.bic, s_max=s) for s in (8, 16, 32, 64)}
S_MIN: Curves = {f"S_min {s:g}": partial(responses.bic, s_min=s) for s in (1, 0.1, 0.01, 0.001)}


def _compute(curves: Curves) -> Callable[[Effort], Any]:
    def compute(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
        rows, frames = {}, {}
        for name, curve in curves.items():
            values = np.asarray(curve(P), float)
            rows[name] = [
                {f"{p:.0e}": float(curve(p)) for p in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)}
            ]
            frames[name] = pl.DataFrame({"p": P, "rate": values})
        return rows, frames

    return compute


def _draw(low: float, high: float) -> Callable[[Numbers, Traces], Figure]:
    def draw(_numbers: Numbers, traces: Traces) -> Figure:
        figure, (panel,) = plots.panels(1, height=3.4)
        for index, (name, frame) in enumerate(traces.items()):
            own = frame.filter(pl.col("p").is_between(low, high))
            panel.plot(own["p"], own["rate"], label=name, **plots.style(index))
        panel.set(xscale="log", yscale="log", xlabel="loss event rate")
        panel.set_ylabel("packets per RTT")
        plots.legend(panel, 5)
        return figure

    return draw


def _cases_1(effort: Effort) -> Mapping[str, Case]:
    flows = [{"controller": "bic", "rtt": "40 ms", "name": "bic"}]
    return {"100 Mbit/s": case(effort, flows, 100.0, duration_s=120)}


def _measure_1(_name: str, run: Run) -> Row:
    flows = run.summary["flows"]
    names = [flow["name"] for flow in flows]
    load = {
        kind: sum(f["goodput_mbps"] for f in flows if f["name"].startswith(f"{kind} forward"))
        for kind in ("web", "small", "long")
    }
    back = sum(f["goodput_mbps"] for f in flows if "reverse" in f["name"])
    return {
        **load,
        "small_flows": float(sum(name.startswith("small forward") for name in names)),
        "backward_share": back / 100,
        "largest_small_window": max(
            f["mean_window"] or 0 for f in flows if f["name"].startswith("small")
        ),
    }


FIGURE_1 = Artefact(
    name="figure-1",
    title="Figure 1: simulation setup",
    about="Drawn from the scenarios as they are run; the numbers are of a run at 100 Mbit/s.",
    cases=_cases_1,
    measure=_measure_1,
    draw=lambda _n, _t: pictures.graph(
        {"high-speed": (0, 1), "long TCP": (0, 0.66), "small TCP": (0, 0.33), "web": (0, 0),
         "R1": (0.4, 0.5), "R2": (0.68, 0.5), "receivers": (1, 0.5)},
        [("high-speed", "R1", ""), ("long TCP", "R1", ""), ("small TCP", "R1", ""),
         ("web", "R1", ""), ("R1", "R2", "10 ms"), ("R2", "receivers", "")],
    ),
    claims=(
        near("25 small TCP flows each way", mean("100 Mbit/s", "small_flows"), 25, within=0,
             why="counted"),
        between("their windows stay under 64", mean("100 Mbit/s", "largest_small_window"), 1, 64.01,
                why="the largest mean window", unit="packets", paper="under 64"),
        between("background uses at least 20 % of the backward bandwidth",
                mean("100 Mbit/s", "backward_share"), 0.2, 1, why="as printed",
                paper="at least 20 %"),
    ),
)  # fmt: skip


def _cross(
    one: Callable[[Any], Any], other: Callable[[Any], Any], low: float, high: float
) -> float:
    p = brentq(lambda p: float(one(p)) - float(other(p)), low, high)
    return float(other(p))


def _compute_4(effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    rows, frames = _compute(PROTOCOLS)(effort)
    crossing = _cross(lambda p: responses.power(p, 0.15, 0.82), lambda p: 1.2 / p**0.5, 1e-4, 1e-1)
    aimd = _cross(lambda p: responses.aimd(p, 32, 0.125), _hstcp, 1e-7, 1e-3)
    return {**rows, "crossings": [{"hstcp": crossing, "aimd": aimd}]}, frames


FIGURE_4 = Artefact(
    name="figure-4",
    title="Figure 4: response functions of Reno, HSTCP, Scalable and AIMD",
    about="Closed forms; HSTCP as 0.15/p^0.82, as the paper has it.",
    compute=_compute_4, draw=_draw(1e-7, 1e-2),
    claims=(
        near("HSTCP leaves Reno at a window of 31", mean("crossings", "hstcp"), 31, within=0.02,
             why="Reno as 1.2/sqrt(p)", unit="packets"),
        ordered(
            "order at 1e-7: Scalable, HSTCP, AIMD, Reno",
            [(name, mean(name, "1e-07"))
             for name in ("Scalable", "HSTCP", "AIMD(32, 0.125)", "Reno")],
            unit="packets per RTT", paper="as drawn",
        ),
        near("HSTCP: 10 Gbit/s at p = 1e-7", mean("HSTCP", "1e-07"), 83_333, within=0.05,
             why="83333 packets of 1500 bytes at 100 ms", unit="packets per RTT"),
    ),
)  # fmt: skip


def _cases_5(effort: Effort) -> Mapping[str, Case]:
    flows = [{"controller": "bic", "rtt": "40 ms", "count": 2}]
    found = case(effort, flows, 100.0, duration_s=120, with_background=False, sample_s=0.04)
    return {"two flows": found}


def _measure_5(_name: str, run: Run) -> Row:
    """Count round trips of additive, binary and slow-start growth of the first flow."""
    own = run.windows.filter(
        (pl.col("flow") == 0) & (pl.col("time_s") > run.summary["measured_from_s"])
    )
    window = own["window"].to_numpy()
    growth = np.diff(window)
    grows = growth > 0
    capped = grows & (growth >= 20)
    return {
        "additive": float(capped.sum() / max(grows.sum(), 1)),
        "binary": float((grows & (growth < 20)).sum() / max(grows.sum(), 1)),
        "cuts": float((growth < -0.05 * window[:-1]).sum()),
        "jain": float(run.summary["jain"]),
        "largest_growth": float(np.percentile(growth[grows], 99)) if grows.any() else 0.0,
    }


FIGURE_5 = Artefact(
    name="figure-5",
    title="Figure 5: two BI-TCP flows",
    about="100 Mbit/s, RTT 40 ms, no background; growth per round trip of the trace.",
    cases=_cases_5, measure=_measure_5,
    trace=lambda _n, run: pictures.windows(run, 0.0, 60, 80),
    draw=lambda _n, traces: pictures.over_time(
        traces, {"two flows": ("two flows",)}, "window", "window (packets)", span=(60, 80),
        height=3.0,
    ),
    claims=(
        between("binary search is seen", mean("two flows", "binary"), 0.3, 1,
                why="share of growing round trips with less than 20 packets", paper="marked"),
        between("growth never exceeds S_max by more than a round trip's queueing",
                mean("two flows", "largest_growth"), 0, 48, why="32 per RTT; the RTT is up to "
                "3.5 times 40 ms in a full buffer, so a sample has less", unit="packets",
                paper="S_max = 32"),
        between("the flows share fairly", mean("two flows", "jain"), 0.95, 1,
                why="Jain's index of the means", paper="converge"),
    ),
)  # fmt: skip


def _same_below(numbers: Numbers, key: str, names: Sequence[str]) -> float:
    values = [numbers.of(name, key).value for name in names]
    return max(values) / min(values) - 1


FIGURE_6 = Artefact(
    name="figure-6",
    title="Figure 6: response functions of BI-TCP for S_max 8 to 64",
    about="S_min 0.01, beta 0.125.",
    compute=_compute(S_MAX), draw=_draw(1e-8, 1e-1), headline=True,
    claims=(
        ordered("a larger S_max gives more at 1e-8",
                [(name, mean(name, "1e-08")) for name in list(S_MAX)[::-1]],
                unit="packets per RTT", paper="as drawn"),
        holds("S_max matters only below p about 1e-4", "only below 1e-4",
              lambda n: (f"{_same_below(n, '1e-03', list(S_MAX)):.1%} apart at 1e-3, "
                         f"{_same_below(n, '1e-06', list(S_MAX)):.0%} at 1e-6",
                         _same_below(n, "1e-03", list(S_MAX)) < 0.05
                         and _same_below(n, "1e-06", list(S_MAX)) > 0.5),
              why="all four within 5 % at 1e-3, a factor of 1.5 and more at 1e-6"),
    ),
)  # fmt: skip
FIGURE_7 = Artefact(
    name="figure-7",
    title="Figure 7: response functions of BI-TCP for S_min 1 to 0.001",
    about="S_max 32, beta 0.125.",
    compute=_compute(S_MIN), draw=_draw(1e-8, 1e-1),
    claims=(
        ordered("a larger S_min gives more at 1e-4",
                [(name, mean(name, "1e-04")) for name in S_MIN], unit="packets per RTT",
                paper="as drawn"),
        holds("S_min does not matter at very low loss", "curves meet",
              lambda n: (f"{_same_below(n, '1e-08', list(S_MIN)):.1%} apart at 1e-8",
                         _same_below(n, "1e-08", list(S_MIN)) < 0.05),
              why="all four within 5 % at 1e-8"),
    ),
)  # fmt: skip


def _compute_8(effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    rows, frames = _compute(WITH_BIC)(effort)
    reno = _cross(lambda p: responses.bic(p, low=0), responses.reno, 1e-3, 5e-2)
    return {**rows, "crossings": [{"reno": reno}]}, frames


def _less(p: str) -> Callable[[Numbers], Any]:
    return lambda n: n.ratio(("BI-TCP", p), ("AIMD(32, 0.125)", p))


FIGURE_8 = Artefact(
    name="figure-8",
    title="Figure 8: response functions of all protocols",
    about="Closed forms; tested against the simulation in docs/theory.md.",
    compute=_compute_8, draw=_draw(1e-7, 1e-2), headline=True,
    claims=(
        near("BI-TCP leaves Reno at a window of 14", mean("crossings", "reno"), 14, within=0.03,
             why="14.28 from the closed forms", unit="packets"),
        near("BI-TCP over AIMD at 1e-5", _less("1e-05"), 0.74, within=0.01, why="26 % less"),
        near("BI-TCP over AIMD at 1e-6", _less("1e-06"), 0.91, within=0.01, why="9 % less"),
        near("BI-TCP over AIMD at 1e-7", _less("1e-07"), 0.97, within=0.01, why="3 % less"),
        ordered("at 1e-8 BI-TCP lies below HSTCP and Scalable",
                [(name, mean(name, "1e-08")) for name in ("Scalable", "HSTCP", "BI-TCP")],
                unit="packets per RTT"),
        *(near(f"R at {p}", mean("BI-TCP", p), value, within=0.001, why="equations 1.3 and 1.5",
               unit="packets per RTT")
          for p, value in (("1e-03", 83.0), ("1e-04", 655.7), ("1e-05", 3646), ("1e-06", 14118))),
    ),
)  # fmt: skip
