"""Figures 2 and 3, tables 1 to 3: losses at the same time and RTT unfairness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.decision import quotient
from ackclock.engine import Run
from ackclock.engine.names import slug
from ackclock.reproduction import figures, pictures
from ackclock.reproduction.artefact import Claim, Judged, Simulated, Traces
from ackclock.reproduction.claims import between, mean, near, ordered, ratio, times
from ackclock.reproduction.numbers import FULL, Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import CONTROLS, GIGABIT_MBPS, background_mbps, case, rate_over_batches

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

FLOWS_2 = 20


DROPTAIL, RED = "droptail", "RED"


def _cases_2(effort: Effort) -> Mapping[str, Case]:
    rtts = np.linspace(40, 150, FLOWS_2)
    flows = [{"controller": "hstcp", "rtt": f"{rtt:.1f} ms"} for rtt in rtts]
    return {
        name: case(effort, flows, GIGABIT_MBPS, duration_s=200, quick_s=60, red=red)
        for name, red in ((DROPTAIL, False), (RED, True))
    }


def _losing(run: Run) -> NDArray[np.int64]:
    """Count the high-speed flows that lose in each second with a loss."""
    start = run.summary["measured_from_s"]
    losses = run.events.filter((pl.col("flow") < FLOWS_2) & (pl.col("kind") == "loss"))
    return metrics.losing_flows(
        losses["time_s"].to_numpy(), losses["flow"].to_numpy(), 1.0, start, run.summary["duration_s"]
    )


def _measure_2(_key: str, run: Run) -> Row:
    """Shares of the epochs in which many flows lose, and of the link that background has."""
    losing = _losing(run)
    mbps = background_mbps(run)
    return {
        "half": metrics.over_batches(losing >= FLOWS_2 / 2, batches=10),
        "quarter": metrics.over_batches(losing > FLOWS_2 / 4, batches=10),
        "epochs": float(len(losing)),
        **{
            direction: sum(load for group, load in mbps.items() if group.direction == direction)
            / GIGABIT_MBPS
            for direction in ("forward", "reverse")
        },
    }


def _trace_2(_key: str, run: Run) -> pl.DataFrame:
    least = np.arange(1, FLOWS_2 + 1)
    return pl.DataFrame({"flows": least, "share": metrics.synchronisation(_losing(run), least)})


FIGURE_2 = Simulated(
    name="figure-2", caption="how many flows lose together",
    about="20 HSTCP flows, RTT 40 to 150 ms, 2.5 Gbit/s; epochs of 1 s in which one lost.",
    cases=_cases_2, measure=_measure_2,
    numbers=("half", "quarter", "epochs", "forward", "reverse"), trace=_trace_2,
    draw=lambda _n, traces: figures.over_time(
        traces, {"both": tuple(traces)}, "share", "share of epochs", x="flows",
        x_label="at least this many flows lose", height=3.0,
    ),
    claims=(
        near("droptail-at-least-half-flows-in-about-70-percent",
             "droptail: at least half of the flows in about 70 % of epochs",
             mean(DROPTAIL, "half"), 0.7, within=0.15, absolute=True, why="'around', from a plot; "
             "the text says 'more than half' once and 'at least half' once"),
        near("red-more-than-quarter-in-about-30-percent",
             "RED: more than a quarter in about 30 %", mean(RED, "quarter"), 0.3, within=0.15,
             absolute=True, why="'around', from a plot"),
        ordered("losses-much-more-synchronised-with-droptail",
                "losses are much more synchronised with droptail",
                [(DROPTAIL, mean(DROPTAIL, "quarter")), (RED, mean(RED, "quarter"))],
                paper="RED does not incur as much"),
        *(times(slug("background-about", share, words, "path"),
                f"background has about {share:.0%} of the {words} path",
                mean(DROPTAIL, direction), share, factor=2,
                why="'about', and what web traffic there was is open", paper=f"about {share:.0%}")
          for direction, words, share in
          (("forward", "forward", 0.07), ("reverse", "backward", 0.35))),
    ),
)  # fmt: skip


SHORT, LONG = 8, 2
"""Flows of figure 3, in this order."""
STARTED_S = 10.0
"""When all flows have begun."""


def _cases_3(effort: Effort) -> Mapping[str, Case]:
    flows = [
        {"controller": "scalable", "rtt": "80 ms", "count": SHORT, "name": "short RTT"},
        {"controller": "scalable", "rtt": "160 ms", "count": LONG, "name": "long RTT"},
    ]
    return {DROPTAIL: case(effort, flows, 2400.0, duration_s=200)}


def _measure_3(_key: str, run: Run) -> Row:
    """Fairness of the short flows in the first and the last quarter, and the long ones' share.

    The quarters are of the time from when all have begun.
    """
    end_s = run.summary["duration_s"]
    quarter_s = (end_s - STARTED_S) / 4

    def sizes(start_s: float) -> NDArray[np.float64]:
        within = pl.col("time_s").is_between(start_s, start_s + quarter_s, closed="right")
        own = run.windows.filter(within & (pl.col("flow") < SHORT + LONG))
        sums = own.group_by("flow").agg(pl.col("delivered_bytes").sum()).sort("flow")
        return sums["delivered_bytes"].to_numpy().astype(float)

    first, last = sizes(STARTED_S), sizes(end_s - quarter_s)
    return {
        "long_share": float(last[SHORT:].mean() / last[:SHORT].mean()),
        "jain_first": float(metrics.jain(first[:SHORT])),
        "jain_last": float(metrics.jain(last[:SHORT])),
    }


FIGURE_3 = Simulated(
    name="figure-3",
    caption="ten Scalable flows",
    about="2.4 Gbit/s, droptail; eight flows of 80 ms and two of 160 ms.",
    cases=_cases_3,
    measure=_measure_3,
    numbers=("long_share", "jain_first", "jain_last"),
    trace=lambda _key, run: pictures.windows(run, 1.0, flows=(0, 1, 2, SHORT, SHORT + 1)),
    draw=lambda _n, traces: figures.over_time(
        traces, {DROPTAIL: (DROPTAIL,)}, "window", "window (packets)", height=3.0
    ),
    claims=(
        between(
            "long-rtt-flows-fall-to-almost-zero",
            "the long-RTT flows fall to almost zero",
            mean(DROPTAIL, "long_share"),
            0,
            0.1,
            why="their goodput over that of the short ones, in the last quarter",
            paper="down to almost zero",
        ),
        ordered(
            "equal-ones-converge",
            "the equal ones converge",
            [("last quarter", mean(DROPTAIL, "jain_last")), ("first quarter", mean(DROPTAIL, "jain_first"))],
            why="Jain's index of the eight after all have begun",
            paper="'do converge (despite high oscillation)'",
        ),
    ),
)


class RttPair(NamedTuple):
    """Two flows of a control, one of 40 ms and one of a multiple of it."""

    control: str
    ratio: int

    def __str__(self) -> str:
        return f"{self.control}, {self.ratio}"


RATIOS = (1, 3, 6)
PAPER_2 = {
    "AIMD": (1.05, 6.56, 22.55),
    "BI-TCP": (0.96, 9.18, 35.76),
    "HSTCP": (0.99, 47.42, 131.03),
    "STCP": (0.92, 140.52, 300.32),
}
PAPER_3 = {
    "AIMD": (0.99, 7.31, 26.12),
    "BI-TCP": (0.94, 13.06, 33.81),
    "HSTCP": (1.13, 10.42, 51.09),
    "STCP": (1.12, 27.84, 72.74),
}


def case_table(effort: Effort, key: RttPair, rate_mbps: float, quick_s: float, *, red: bool = False) -> Case:
    """Make a case of tables 1 to 3.

    Parameters
    ----------
    effort : Effort
        How many runs, how long, and at which setting.
    key : RttPair
        The two flows.
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    quick_s : float
        Length of a quick run, seconds.
    red : bool
        Adaptive RED in place of droptail.

    Returns
    -------
    Case
        The scenario and its runs.
    """
    flows = [{**CONTROLS[key.control], "rtt": f"{40 * one} ms"} for one in (1, key.ratio)]
    return case(effort, flows, rate_mbps, quick_s=quick_s, red=red, most_runs=FULL.runs)


def _measure_table(_key: RttPair, run: Run) -> Row:
    """Throughput of the first flow over the second's, with its error, and utilisation."""
    first, second = rate_over_batches(run, 0), rate_over_batches(run, 1)
    return {"ratio": quotient(first, second), "utilisation": run.summary["links"][0]["utilisation"]}


OWN_RANGE = (0.92, 1.13)
"""Of the ratios of equal flows that the paper has in tables 1 to 3, each of one run."""


def _equal(name: str, expected: float) -> Claim:
    """Claim that equal RTTs share equally: the interval reaches what the paper itself has."""
    low, high = OWN_RANGE
    number = mean(RttPair(name, 1), "ratio")
    within_two = times(
        slug(name, "equal-rtts-share-equally"),
        f"{name}: equal RTTs share equally",
        number,
        expected,
        factor=2,
        why="",
        paper=f"{expected:g}",
    )

    def judge(numbers: Numbers) -> Judged:
        found, judged = number(numbers), within_two.judge(numbers)
        return replace(judged, holds=judged.holds and found.low <= high and found.high >= low)

    tolerance = (
        f"the 95 % interval reaches the range of the paper's own single runs, {low:g} to {high:g}, "
        "and the mean is within a factor of two"
    )
    return replace(within_two, tolerance=tolerance, judge=judge)


def _claims(names: Sequence[str], values: Mapping[str, Sequence[float]]) -> Iterator[Claim]:
    for name in names:
        equal, *expected = values[name]
        yield _equal(name, equal)
        for multiple, value in zip(RATIOS[1:], expected, strict=True):
            yield times(
                slug(name, "rtt-ratio", multiple),
                f"{name}: RTT ratio {multiple}",
                mean(RttPair(name, multiple), "ratio"),
                value,
                factor=2,
                why="one run of the paper, and chance",
            )
    if set(names) == set(CONTROLS):
        (bic, aimd), others = (values[name][-1] for name in ("BI-TCP", "AIMD")), ("HSTCP", "STCP")
        yield times(
            "bi-tcp-relatively-comparable-to-aimd-ratio-6",
            "BI-TCP is relatively comparable to AIMD (ratio 6)",
            ratio((RttPair("BI-TCP", 6), "ratio"), (RttPair("AIMD", 6), "ratio")),
            bic / aimd,
            factor=2,
            why="'relatively comparable'; a factor of two, as of the ratios themselves",
            paper=f"{bic:.3g} against {aimd:.3g}",
        )
        for name in others:
            yield ordered(
                slug("bi-tcp-much-better-than", name, "ratio-6"),
                f"BI-TCP is much better than {name} (ratio 6)",
                [(one, mean(RttPair(one, 6), "ratio")) for one in (name, "BI-TCP")],
                paper=f"{values[name][-1]:.3g} against {bic:.3g}",
            )


def _table(
    number: int,
    rate_mbps: float,
    names: Sequence[str],
    values: Mapping[str, Sequence[float]],
    bandwidth: str,
    quick_s: float,
) -> Simulated[RttPair]:
    def draw(numbers: Numbers, _traces: Traces) -> Figure:
        rows = [
            [
                name,
                *(
                    f"{value:g}: {numbers.of(RttPair(name, multiple), 'ratio').value:.3g}"
                    for multiple, value in zip(RATIOS, values[name], strict=True)
                ),
            ]
            for name in names
        ]
        return pictures.grid(["paper: ours", *(f"RTT ratio {one}" for one in RATIOS)], rows)

    keys = [RttPair(name, multiple) for name in names for multiple in RATIOS]
    return Simulated(
        name=f"table-{number}",
        caption=f"RTT unfairness, {bandwidth}",
        about=(
            "Two flows, 40 ms and a multiple of it, with background; throughput ratio in the "
            "second half of the run."
        ),
        cases=lambda effort: {key: case_table(effort, key, rate_mbps, quick_s) for key in keys},
        measure=_measure_table,
        numbers=("ratio", "utilisation"),
        draw=draw,
        claims=tuple(_claims(names, values)),
        headline=number == 3,
    )


QUICK_GIGABIT_S, QUICK_MEGABIT_S = 60.0, 150.0
"""Lengths of quick runs of tables 1 and 2, and of table 3."""
TABLE_1 = _table(
    1, GIGABIT_MBPS, ("AIMD", "HSTCP", "STCP"), PAPER_2, "2.5 Gbit/s (AIMD, HSTCP, STCP)", QUICK_GIGABIT_S
)
TABLE_2 = _table(2, GIGABIT_MBPS, tuple(CONTROLS), PAPER_2, "2.5 Gbit/s", QUICK_GIGABIT_S)
TABLE_3 = _table(3, 100.0, tuple(CONTROLS), PAPER_3, "100 Mbit/s", QUICK_MEGABIT_S)
