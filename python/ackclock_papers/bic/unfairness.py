"""Figures 2 and 3, tables 1 to 3: losses at the same time and RTT unfairness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run, number
from ackclock.metrics import Estimate
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Claim, Simulated, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import (
    CONTROLS,
    GIGABIT_MBPS,
    case,
    rate_over_batches,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

FLOWS_2 = 20


DROPTAIL, RED = "droptail", "RED"


def _cases_2(effort: Effort) -> Mapping[str, Case]:
    rtts = np.linspace(40, 150, FLOWS_2)
    flows = [{"controller": "hstcp", "rtt": f"{rtt:.1f} ms"} for rtt in rtts]
    return {
        name: case(effort, flows, GIGABIT_MBPS, duration_s=120, red=red)
        for name, red in ((DROPTAIL, False), (RED, True))
    }


def _losing(run: Run) -> NDArray[np.int64]:
    """Count the high-speed flows that lose in each second with a loss."""
    start = run.summary["measured_from_s"]
    losses = run.events.filter((pl.col("flow") < FLOWS_2) & (pl.col("kind") == "loss"))
    return metrics.losing_flows(
        losses["time_s"].to_numpy(), losses["flow"].to_numpy(), 1.0, start,
        run.summary["duration_s"],
    )  # fmt: skip


def _measure_2(_key: str, run: Run) -> Row:
    """Shares of the epochs in which more than half and a quarter of the flows lose."""
    losing = _losing(run)
    return {
        "half": metrics.over_batches(losing > FLOWS_2 / 2, batches=10),
        "quarter": metrics.over_batches(losing > FLOWS_2 / 4, batches=10),
        "epochs": float(len(losing)),
    }


def _trace_2(_key: str, run: Run) -> pl.DataFrame:
    least = np.arange(1, FLOWS_2 + 1)
    return pl.DataFrame({"flows": least, "share": metrics.synchronisation(_losing(run), least)})


FIGURE_2 = Simulated(
    name="figure-2", caption="how many flows lose together",
    about="20 HSTCP flows, RTT 40 to 150 ms, 2.5 Gbit/s; epochs of 1 s in which one lost.",
    cases=_cases_2, measure=_measure_2, numbers=("half", "quarter", "epochs"), trace=_trace_2,
    draw=lambda _n, traces: pictures.over_time(
        traces, {"both": tuple(traces)}, "share", "share of epochs", x="flows",
        x_label="at least this many flows lose", height=3.0,
    ),
    claims=(
        near("droptail: more than half of the flows in about 70 % of epochs",
             mean(DROPTAIL, "half"), 0.7, within=0.15, absolute=True, why="'about', from a plot"),
        near("RED: more than a quarter in about 30 %", mean(RED, "quarter"), 0.3, within=0.15,
             absolute=True, why="'about', from a plot"),
        ordered("losses are much more synchronised with droptail",
                [(DROPTAIL, mean(DROPTAIL, "quarter")), (RED, mean(RED, "quarter"))]),
    ),
)  # fmt: skip


SHORT, LONG = 8, 2
"""Flows of figure 3, in this order."""


def _cases_3(effort: Effort) -> Mapping[str, Case]:
    flows = [
        {"controller": "scalable", "rtt": "80 ms", "count": SHORT, "name": "short"},
        {"controller": "scalable", "rtt": "160 ms", "count": LONG, "name": "long"},
    ]
    return {DROPTAIL: case(effort, flows, 2400.0, duration_s=200)}


def _measure_3(_key: str, run: Run) -> Row:
    """Goodput of a long flow over that of a short one, and fairness among the short ones."""
    mbps = [number(one["goodput_mbps"]) for one in run.summary["flows"]]
    short, long = mbps[:SHORT], mbps[SHORT : SHORT + LONG]
    return {
        "long_share": float(np.mean(long) / np.mean(short)),
        "jain_short": float(metrics.jain(short)),
    }


FIGURE_3 = Simulated(
    name="figure-3", caption="ten Scalable flows",
    about="2.4 Gbit/s, droptail; eight flows of 80 ms and two of 160 ms.",
    cases=_cases_3, measure=_measure_3, numbers=("long_share", "jain_short"),
    trace=lambda _key, run: pictures.windows(run, 1.0, flows=(0, 1, 2, SHORT, SHORT + 1)),
    draw=lambda _n, traces: pictures.over_time(
        traces, {DROPTAIL: (DROPTAIL,)}, "window", "window (packets)", height=3.0
    ),
    claims=(
        between("the long-RTT flows fall towards zero", mean(DROPTAIL, "long_share"), 0, 0.1,
                why="their goodput over that of the short ones", paper="towards zero"),
        between("the equal ones converge", mean(DROPTAIL, "jain_short"), 0.8, 1,
                why="Jain's index of the eight", paper="converge to the same value"),
    ),
)  # fmt: skip


class RttPair(NamedTuple):
    """Two flows of a control, one of 40 ms and one of a multiple of it."""

    control: str
    ratio: int

    def __str__(self) -> str:
        return f"{self.control}, {self.ratio}"


RATIOS = (1, 3, 6)
PAPER_2 = {
    "AIMD": (1.05, 6.56, 22.55), "BI-TCP": (0.96, 9.18, 35.76), "HSTCP": (0.99, 47.42, 131.03),
    "STCP": (0.92, 140.52, 300.32),
}  # fmt: skip
PAPER_3 = {
    "AIMD": (0.99, 7.31, 26.12), "BI-TCP": (0.94, 13.06, 33.81), "HSTCP": (1.13, 10.42, 51.09),
    "STCP": (1.12, 27.84, 72.74),
}  # fmt: skip


def _case_table(effort: Effort, key: RttPair, rate_mbps: float) -> Case:
    flows = [{**CONTROLS[key.control], "rtt": f"{40 * one} ms"} for one in (1, key.ratio)]
    return case(effort, flows, rate_mbps)


def _measure_table(_key: RttPair, run: Run) -> Row:
    """Throughput of the first flow over the second's, with its error, and utilisation."""
    first, second = rate_over_batches(run, 0), rate_over_batches(run, 1)
    value = first.value / second.value if second.value > 0 else float("inf")
    # Relative errors of both add up in squares.
    relative = np.hypot(
        (first.high - first.low) / 2 / first.value if first.value else np.nan,
        (second.high - second.low) / 2 / second.value if second.value else np.nan,
    )
    estimate = Estimate(value, value * (1 - relative), value * (1 + relative), first.samples)
    return {"ratio": estimate, "utilisation": run.summary["links"][0]["utilisation"]}


def _claims(
    names: Sequence[str], values: Mapping[str, Sequence[float]], unfair: str
) -> Iterator[Claim]:
    """Claims of a table; `unfair` is what the paper has for the last one."""
    for name in names:
        equal, *expected = values[name]
        yield near(
            f"{name}: equal RTTs share equally", mean(RttPair(name, 1), "ratio"), equal,
            within=0.25, why="single runs of the paper differ by 13 %",
        )  # fmt: skip
        for times, value in zip(RATIOS[1:], expected, strict=True):
            yield between(
                f"{name}: RTT ratio {times}", mean(RttPair(name, times), "ratio"), value / 2,
                value * 2, paper=f"{value:g}",
                why="a factor of two either way: one run of the paper, whose buffer and "
                "background are open",
            )  # fmt: skip
    if set(names) == set(CONTROLS):
        yield holds(
            "BI-TCP is comparable to AIMD, HSTCP and STCP are far more unfair (ratio 6)", unfair,
            _comparable, why="the order of the means",
        )  # fmt: skip


def _table(
    number: int, rate_mbps: float, names: Sequence[str], values: Mapping[str, Sequence[float]],
    bandwidth: str, unfair: str = "",
) -> Simulated[RttPair]:  # fmt: skip
    def draw(numbers: Numbers, _traces: Traces) -> Figure:
        rows = [
            [name, *(f"{value:g}: {numbers.of(RttPair(name, times), 'ratio').value:.3g}"
                     for times, value in zip(RATIOS, values[name], strict=True))]
            for name in names
        ]  # fmt: skip
        return pictures.grid(["paper: ours", *(f"RTT ratio {one}" for one in RATIOS)], rows)

    keys = [RttPair(name, times) for name in names for times in RATIOS]
    return Simulated(
        name=f"table-{number}", caption=f"RTT unfairness, {bandwidth}",
        about=(
            "Two flows, 40 ms and a multiple of it, with background; throughput ratio in the "
            "second half of the run."
        ),
        cases=lambda effort: {key: _case_table(effort, key, rate_mbps) for key in keys},
        measure=_measure_table, numbers=("ratio", "utilisation"), draw=draw,
        claims=tuple(_claims(names, values, unfair)), headline=number == 3,
    )  # fmt: skip


def _comparable(numbers: Numbers) -> tuple[str, bool]:
    found = {name: numbers.of(RttPair(name, 6), "ratio") for name in CONTROLS}
    words = ", ".join(f"{name} {one}" for name, one in found.items())
    fair = max(found["AIMD"].value, found["BI-TCP"].value)
    return words, fair < min(found["HSTCP"].value, found["STCP"].value)


TABLE_1 = _table(
    1, GIGABIT_MBPS, ("AIMD", "HSTCP", "STCP"), PAPER_2, "2.5 Gbit/s (AIMD, HSTCP, STCP)"
)
TABLE_2 = _table(
    2, GIGABIT_MBPS, tuple(CONTROLS), PAPER_2, "2.5 Gbit/s", "35.8 and 22.6 against 131 and 300"
)
TABLE_3 = _table(
    3, 100.0, tuple(CONTROLS), PAPER_3, "100 Mbit/s", "33.8 and 26.1 against 51 and 73"
)
