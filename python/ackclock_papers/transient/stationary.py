"""Figures 3 to 19: smoothness and fairness in a steady environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock.engine import Run
from ackclock.metrics import cov
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Artefact, Claim, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered, ratio
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient.setting import PROTOCOLS, case, flows, rounds, trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (800, 1000)
LOSSES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.12, 0.15, 0.2)
READ = "read off a plot, with its text: a quarter either way"


def _over(column: str, label: str) -> Callable[[Numbers, Traces], Figure]:
    """Draw a column for every protocol."""

    def draw(_numbers: Numbers, traces: Traces) -> Figure:
        panels = {name: (name,) for name in traces}
        return pictures.over_time(
            traces, panels, column, label, span=SHOWN, x="round_trip", x_label="round trip",
            height=1.3,
        )  # fmt: skip

    return draw


RATE = _over("rate", "packets\nper RTT")
QUEUE = _over("queue", "queue\n(packets)")
FAIRNESS = _over("fairness", "F")


def measure(_case: str, run: Run) -> Row:
    """Measure one flow's smoothness, all flows' fairness, and the queue.

    Parameters
    ----------
    _case : str
        Its case.
    run : Run
        The run.

    Returns
    -------
    mapping
        Numbers after the first 50 s.
    """
    counted = rounds(run)
    sent, waiting = counted.sent[counted.first :], counted.queue[counted.first :]
    each = [float(cov(one)) for one in sent.T]
    total = sent.sum(axis=1)
    square = (sent**2).sum(axis=1)
    fair = total[square > 0] ** 2 / (sent.shape[1] * square[square > 0])
    windows = run.windows.filter((pl.col("flow") == 0) & (pl.col("time_s") > 50))["window"]
    window = windows.drop_nulls().to_numpy()
    return {
        "rate": float(sent[:, 0].mean()),
        "cov": each[0],
        "mean_cov": float(np.mean(each)),
        "fairness": float(fair.mean()),
        "fairness_std": float(fair.std()),
        "queue": float(waiting.mean()),
        "queue_std": float(waiting.std()),
        "queue_low": float(np.percentile(waiting, 5)),
        "queue_empty": float((waiting <= 2).mean()),
        "queue_period": _period(waiting),
        "largest_window": float(window.max()) if window.size else float("nan"),
        "steady": float((sent[:, 0] >= 0.9 * 312.5 * counted.width_s).mean()),
    }


def _period(values: Any) -> float:
    """Give the mean distance of upward crossings of the mean, smoothed over ten round trips."""
    smooth = np.convolve(values, np.ones(10) / 10, mode="valid")
    above = smooth > smooth.mean()
    rises = np.flatnonzero(~above[:-1] & above[1:])
    return float(np.diff(rises).mean()) if rises.size > 2 else float("nan")


def _alone(loss: Mapping[str, Any]) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        length = effort.pick(550, 250)
        return {name: case(effort, [flows(name)], length, loss=loss) for name in PROTOCOLS}

    return cases


def _shown(_case: str, run: Run) -> pl.DataFrame:
    return trace(run, *SHOWN)


def _smoother(*names: str, key: str = "cov", than: tuple[str, ...] = ("TCP", "GAIMD")) -> Claim:
    def judge(numbers: Numbers) -> tuple[str, bool]:
        found = {name: numbers.of(name, key) for name in (*than, *names)}
        words = ", ".join(f"{name} {one}" for name, one in found.items())
        worst = max(found[name].value for name in names)
        return words, worst < min(found[name].value for name in than)

    return holds(
        f"{' and '.join(names)} smoother than {' and '.join(than)}",
        "smoother", judge, why="the CoV of the rate per round trip is lower",
    )  # fmt: skip


FIGURE_3 = Artefact(
    name="figure-3",
    title="Figure 3: sending rates, periodic loss of 5 %",
    about="Each protocol alone, every 20th packet lost; bytes sent per round trip.",
    cases=_alone({"kind": "periodic", "every": 20}),
    measure=measure, trace=_shown, draw=RATE,
    claims=(_smoother("TFRC", "TEAR"),),
)  # fmt: skip


def _compared() -> Callable[[Effort], Mapping[str, Case]]:
    """Make the runs of figures 3 and 4 together, to compare their fluctuations."""

    def cases(effort: Effort) -> Mapping[str, Case]:
        bernoulli = _alone({"kind": "bernoulli", "rate": 0.05})(effort)
        periodic = _alone({"kind": "periodic", "every": 20})(effort)
        return {**bernoulli, **{f"{name}, periodic": one for name, one in periodic.items()}}

    return cases


FIGURE_4 = Artefact(
    name="figure-4",
    title="Figure 4: sending rates, Bernoulli loss of 5 %",
    about="Each protocol alone; bytes sent per round trip.",
    cases=_compared(),
    measure=measure,
    trace=lambda name, run: None if "periodic" in name else _shown(name, run),
    draw=RATE,
    headline=True,
    claims=(
        _smoother("TFRC", "TEAR"),
        *(
            ordered(
                f"{name} fluctuates much more than under periodic loss",
                [("Bernoulli", mean(name, "cov")), ("periodic", mean(f"{name}, periodic", "cov"))],
                paper="much larger", unit="(CoV)",
            )
            for name in PROTOCOLS
        ),
    ),
)  # fmt: skip

FIGURE_5 = Artefact(
    name="figure-5",
    title="Figure 5: sending rates, Bernoulli loss of 20 %",
    about="Each protocol alone; bytes sent per round trip.",
    cases=_alone({"kind": "bernoulli", "rate": 0.2}),
    measure=measure, trace=_shown, draw=RATE,
    claims=(
        between(
            "TFRC drops to almost 0", ratio(("TFRC", "rate"), ("TCP", "rate")), 0, 0.5,
            why="its mean rate, at most half of TCP's", paper="almost 0", unit="of TCP's rate",
        ),
        between(
            "TEAR is much higher than TCP", ratio(("TEAR", "rate"), ("TCP", "rate")), 1.5, np.inf,
            why="its mean rate, half as much again", paper="much higher", unit="of TCP's rate",
        ),
        between(
            "TEAR is much higher than GAIMD", ratio(("TEAR", "rate"), ("GAIMD", "rate")), 1.5,
            np.inf, why="as above", paper="much higher", unit="of GAIMD's rate",
        ),
    ),
)  # fmt: skip


def _cases_6(effort: Effort) -> Mapping[str, Case]:
    length = effort.pick(550, 250)
    return {
        f"{name}, {p:.1%}": case(
            effort, [flows(name)], length, loss={"kind": "bernoulli", "rate": p}
        )
        for name in PROTOCOLS
        for p in LOSSES
    }


def _draw_6(numbers: Numbers, _traces: Traces) -> Figure:
    curves = {name: [(100 * p, f"{name}, {p:.1%}", "cov") for p in LOSSES] for name in PROTOCOLS}
    return pictures.against(numbers, curves, "loss rate (%)", "CoV of the rate", bottom=0)


def _cov(name: str, p: float, expected: float) -> Claim:
    return near(
        f"{name} at {p:.0%}", mean(f"{name}, {p:.1%}", "cov"), expected, within=0.25, why=READ
    )


def _rises(name: str) -> Claim:
    low, high = f"{name}, {LOSSES[0]:.1%}", f"{name}, {LOSSES[-1]:.1%}"
    return ordered(
        f"{name}: CoV grows with the loss rate",
        [("20 %", mean(high, "cov")), ("0.5 %", mean(low, "cov"))],
        paper="the overall trend",
    )


FIGURE_6 = Artefact(
    name="figure-6",
    title="Figure 6: CoV of the rate under Bernoulli loss",
    about="Each protocol alone, 500 s.",
    cases=_cases_6, measure=measure, draw=_draw_6, headline=True,
    claims=(
        _cov("TCP", 0.01, 0.51), _cov("GAIMD", 0.01, 0.3),
        _cov("TFRC", 0.01, 0.23), _cov("TEAR", 0.01, 0.22),
        ordered(
            "order at 1 %: TCP, GAIMD, TFRC",
            [(name, mean(f"{name}, 1.0%", "cov")) for name in ("TCP", "GAIMD", "TFRC")],
        ),
        near(
            "GAIMD is as TCP at 8 %", ratio(("GAIMD, 8.0%", "cov"), ("TCP, 8.0%", "cov")), 1,
            within=0.25, why=READ, paper="the same",
        ),
        near(
            "TFRC stays low up to 4 %", ratio(("TFRC, 4.0%", "cov"), ("TFRC, 1.0%", "cov")), 1,
            within=0.5, why="against 1 %; the curve is called flat", paper="low",
        ),
        ordered(
            "TFRC passes TCP at 15 %",
            [("TFRC", mean("TFRC, 15.0%", "cov")), ("TCP", mean("TCP, 15.0%", "cov"))],
            paper="exceeds TCP and GAIMD",
        ),
        _cov("TCP", 0.2, 1.6), _cov("TFRC", 0.2, 2.0), _cov("TEAR", 0.2, 0.4),
        *(_rises(name) for name in PROTOCOLS),
    ),
)  # fmt: skip


def _cases_onoff(effort: Effort) -> Mapping[str, Case]:
    source = {
        "source": "onoff", "rate": "500 kbit/s", "on": "1 s", "off": "2 s", "shape": 1.5,
        "count": 5, "rtt": "100 ms",
    }  # fmt: skip
    length = effort.pick(550, 250)
    found = {name: case(effort, [flows(name), source], length) for name in PROTOCOLS}
    alone = {
        f"{name}, Bernoulli 1 %": case(
            effort, [flows(name)], length, loss={"kind": "bernoulli", "rate": 0.01}
        )
        for name in PROTOCOLS
    }
    return found | alone


def _plain(name: str, run: Run) -> pl.DataFrame | None:
    return None if "," in name else _shown(name, run)


FIGURE_7 = Artefact(
    name="figure-7",
    title="Figure 7: sending rates, one flow and five ON/OFF sources",
    about="Droptail, 2.5 Mbit/s; ON/OFF sources of 500 kbit/s, Pareto times of shape 1.5.",
    cases=_cases_onoff, measure=measure, trace=_plain, draw=RATE,
    claims=tuple(
        ordered(
            f"{name} is a little less smooth than under Bernoulli loss",
            [
                ("ON/OFF", mean(name, "cov")),
                ("Bernoulli 1 %", mean(f"{name}, Bernoulli 1 %", "cov")),
            ],
            unit="(CoV)", paper="slightly worse",
        )
        for name in PROTOCOLS
    ),
)  # fmt: skip

FIGURE_8 = Artefact(
    name="figure-8",
    title="Figure 8: queue, one flow and five ON/OFF sources",
    about="The runs of figure 7.",
    cases=_cases_onoff, measure=measure, trace=_plain, draw=QUEUE,
    claims=tuple(
        between(
            f"{name}: large fluctuations of the queue", mean(name, "queue_std"), 8, np.inf,
            why="standard deviation of at least a sixth of the buffer", unit="packets",
            paper="large fluctuations",
        )
        for name in PROTOCOLS
    ),
)  # fmt: skip


def _cases_one(effort: Effort) -> Mapping[str, Case]:
    return {name: case(effort, [flows(name)], effort.pick(550, 250)) for name in PROTOCOLS}


FIGURE_9 = Artefact(
    name="figure-9",
    title="Figure 9: sending rates, one flow",
    about="Each protocol alone on the 2.5 Mbit/s link.",
    cases=_cases_one, measure=measure, trace=_shown, draw=RATE, headline=True,
    claims=tuple(
        between(
            f"{name} sends at link speed most of the time", mean(name, "steady"), 0.6, 1,
            why="share of round trips with at least 0.9 of the link's rate",
            paper="stable until the window drops below 30 packets",
        )
        for name in ("TCP", "GAIMD")
    ),
)  # fmt: skip

FIGURE_10 = Artefact(
    name="figure-10",
    title="Figure 10: windows, one flow",
    about="The runs of figure 9; the windows of TCP and GAIMD (TFRC and TEAR have none).",
    cases=lambda effort: {
        name: one for name, one in _cases_one(effort).items() if name in ("TCP", "GAIMD")
    },
    measure=measure, trace=_shown, draw=_over("window", "window\n(packets)"),
    claims=tuple(
        near(
            f"{name}: at most about 80 packets outstanding", mean(name, "largest_window"), 80,
            within=0.1, why="31 on the path and 50 in the buffer; one round trip of growth above",
            unit="packets",
        )
        for name in ("TCP", "GAIMD")
    ),
)  # fmt: skip

FIGURE_11 = Artefact(
    name="figure-11",
    title="Figure 11: queue, one flow",
    about="The runs of figure 9.",
    cases=_cases_one, measure=measure, trace=_shown, draw=QUEUE,
    claims=(
        ordered(
            "GAIMD's queue swings much less than TCP's",
            [("TCP", mean("TCP", "queue_std")), ("GAIMD", mean("GAIMD", "queue_std"))],
            unit="packets", paper="much smaller", margin=0.3,
        ),
        between(
            "TCP empties the queue", mean("TCP", "queue_low"), 0, 3,
            why="its lowest twentieth", unit="packets", paper="empty",
        ),
        between(
            "TFRC does not empty the queue", mean("TFRC", "queue_low"), 5, np.inf,
            why="its lowest twentieth, a tenth of the buffer and more", unit="packets",
            paper="does not drain",
        ),
        between(
            "TEAR's queue is almost empty half of the cycle", mean("TEAR", "queue_empty"), 0.3, 0.7,
            why="share of round trips with at most 2 packets, half give or take 0.2",
            paper="half of the cycle",
        ),
        near(
            "TEAR's cycle is about twice TCP's",
            ratio(("TEAR", "queue_period"), ("TCP", "queue_period")), 2, within=0.4,
            why="'about two times', from a plot", paper="about two times",
        ),
        ordered(
            "TFRC's cycle is much longer than TCP's and GAIMD's",
            [
                ("TFRC", mean("TFRC", "queue_period")),
                ("GAIMD", mean("GAIMD", "queue_period")),
            ],
            unit="round trips", paper="much longer",
        ),
    ),
)  # fmt: skip


def _cases_beside(effort: Effort) -> Mapping[str, Case]:
    found = {}
    for name in PROTOCOLS:
        some = [flows(name), flows("TCP", count=7)]
        found[name] = case(effort, some, effort.pick(550, 250))
    return found


FIGURE_12 = Artefact(
    name="figure-12",
    title="Figure 12: sending rates, one flow and seven TCP flows",
    about="Eight flows on the 2.5 Mbit/s link; the rate of the first.",
    cases=_cases_beside, measure=measure, trace=_shown, draw=RATE,
    claims=(_smoother("TFRC", "TEAR"),),
)  # fmt: skip

FIGURE_13 = Artefact(
    name="figure-13",
    title="Figure 13: fairness, one flow and seven TCP flows",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_beside, measure=measure, trace=_shown, draw=FAIRNESS, headline=True,
    claims=tuple(
        near(
            f"F fluctuates around 0.7 with {name}", mean(name, "fairness"), 0.7, within=0.1,
            absolute=True, why="the study's prediction from a CoV of 0.58; 'around'",
        )
        for name in PROTOCOLS
    ),
)  # fmt: skip


def _cases_14(effort: Effort) -> Mapping[str, Case]:
    return {**_cases_beside(effort), "one TCP": _cases_one(effort)["TCP"]}


FIGURE_14 = Artefact(
    name="figure-14",
    title="Figure 14: queue, one flow and seven TCP flows",
    about="The runs of figure 12, and the lone TCP of figure 11.",
    cases=_cases_14, measure=measure,
    trace=lambda name, run: None if name.startswith("one") else _shown(name, run), draw=QUEUE,
    claims=tuple(
        ordered(
            f"{name}: shorter cycles than a lone TCP's",
            [("one TCP", mean("one TCP", "queue_period")), (name, mean(name, "queue_period"))],
            unit="round trips", paper="shorter cycles",
        )
        for name in PROTOCOLS
    ),
)  # fmt: skip


def _cases_same(effort: Effort) -> Mapping[str, Case]:
    return {name: case(effort, [flows(name, count=8)], effort.pick(550, 250)) for name in PROTOCOLS}


def _cases_15(effort: Effort) -> Mapping[str, Case]:
    beside = {f"{name} beside TCP": one for name, one in _cases_beside(effort).items()}
    return {**_cases_same(effort), **beside}


def _first(name: str, run: Run) -> pl.DataFrame | None:
    return None if "beside" in name else _shown(name, run)


FIGURE_15 = Artefact(
    name="figure-15",
    title="Figure 15: sending rates, eight flows of one protocol",
    about="Eight flows on the 2.5 Mbit/s link; the rate of the first.",
    cases=_cases_15, measure=measure, trace=_first, draw=RATE,
    claims=tuple(
        ordered(
            f"{name} is smoother than beside TCP",
            [("beside TCP", mean(f"{name} beside TCP", "cov")), ("alike", mean(name, "cov"))],
            unit="(CoV)", paper="improves",
        )
        for name in ("GAIMD", "TFRC", "TEAR")
    ),
)  # fmt: skip

FIGURE_16 = Artefact(
    name="figure-16",
    title="Figure 16: fairness, eight flows of one protocol",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_same, measure=measure, trace=_shown, draw=FAIRNESS, headline=True,
    claims=(
        *(
            between(
                f"F of {name} is close to 1", mean(name, "fairness"), 0.9, 1,
                why="the study predicts 0.96", paper="close to 1",
            )
            for name in ("TFRC", "TEAR")
        ),
        *(
            ordered(
                f"F of {name} does not vary much",
                [("TCP", mean("TCP", "fairness_std")), (name, mean(name, "fairness_std"))],
                unit="(standard deviation)", paper="no large variations",
            )
            for name in ("TFRC", "TEAR")
        ),
        near(
            "F of GAIMD is slightly below 0.93", mean("GAIMD", "fairness"), 0.9, within=0.05,
            absolute=True, why="'slightly lower' than the prediction", paper="about 0.9",
        ),
    ),
)  # fmt: skip


def _cases_17(effort: Effort) -> Mapping[str, Case]:
    return {**_cases_same(effort), "TCP beside TCP": _cases_beside(effort)["TCP"]}


FIGURE_17 = Artefact(
    name="figure-17",
    title="Figure 17: queue, eight flows of one protocol",
    about="The runs of figure 16.",
    cases=_cases_17, measure=measure, trace=_first, draw=QUEUE,
    claims=(
        *(
            ordered(
                f"{name}: a higher queue than TCP's",
                [(name, mean(name, "queue")), ("TCP", mean("TCP", "queue"))],
                unit="packets", paper="high",
            )
            for name in ("GAIMD", "TFRC", "TEAR")
        ),
        *(
            ordered(
                f"{name}: a steadier queue than TCP's",
                [("TCP", mean("TCP", "queue_std")), (name, mean(name, "queue_std"))],
                unit="packets", paper="stable",
            )
            for name in ("GAIMD", "TFRC", "TEAR")
        ),
    ),
)  # fmt: skip

LONG_LOSSES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.17)


def _long(count: int, span_s: int) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        return {
            f"{name}, {p:.1%}, {span_s} s": case(
                effort, [flows(name, count=count)], 50 + effort.pick(8, 4) * span_s,
                loss={"kind": "bernoulli", "rate": p}, recovery="sack",
            )
            for name in PROTOCOLS
            for p in LONG_LOSSES
        }  # fmt: skip

    return cases


def _measure_long(name: str, run: Run) -> Row:
    span = 10 * int(name.split(", ")[-1].removesuffix(" s"))
    counted = rounds(run)
    sent = counted.sent[counted.first :]
    parts = sent[: len(sent) // span * span].reshape(-1, span, sent.shape[1]).mean(axis=1)
    return {"cov": float(cov(parts, axis=1).mean())}


def _draw_long(span_s: int) -> Callable[[Numbers, Traces], Figure]:
    def draw(numbers: Numbers, _traces: Traces) -> Figure:
        curves = {
            name: [(100 * p, f"{name}, {p:.1%}, {span_s} s", "cov") for p in LONG_LOSSES]
            for name in PROTOCOLS
        }
        return pictures.against(
            numbers, curves, "loss rate (%)", "CoV over flows of their means", bottom=0
        )

    return draw


FIGURE_18 = Artefact(
    name="figure-18",
    title="Figure 18: long-term fairness, 32 flows, means over 15 s",
    about="32 flows of one protocol that do not meet, SACK; CoV over flows of their means.",
    cases=_long(32, 15), measure=_measure_long, draw=_draw_long(15),
    claims=(
        ordered(
            "order at 1 % as in figure 6: TCP, GAIMD, TFRC",
            [(name, mean(f"{name}, 1.0%, 15 s", "cov")) for name in ("TCP", "GAIMD", "TFRC")],
            paper="very similar to figure 6",
        ),
        *(
            ordered(
                f"{name}: CoV grows with the loss rate",
                [
                    ("17 %", mean(f"{name}, 17.0%, 15 s", "cov")),
                    ("0.5 %", mean(f"{name}, 0.5%, 15 s", "cov")),
                ],
                paper="as in figure 6",
            )
            for name in PROTOCOLS
        ),
    ),
)  # fmt: skip


def _cases_19(effort: Effort) -> Mapping[str, Case]:
    return {**_long(16, 60)(effort), **_long(32, 15)(effort)}


FIGURE_19 = Artefact(
    name="figure-19",
    title="Figure 19: long-term fairness, 16 flows, means over 60 s",
    about="16 flows of one protocol that do not meet, SACK; beside the runs of figure 18.",
    cases=_cases_19, measure=_measure_long, draw=_draw_long(60),
    claims=tuple(
        near(
            f"{name} at {p:.1%}: about half of that over 15 s",
            ratio((f"{name}, {p:.1%}, 60 s", "cov"), (f"{name}, {p:.1%}, 15 s", "cov")), 0.5,
            within=0.15, absolute=True, why="1/sqrt(4) by equation 2; 'about'", paper="about half",
        )
        for name in PROTOCOLS
        for p in (0.005, 0.01)
    ),
)  # fmt: skip

ARTEFACTS = (
    FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11,
    FIGURE_12, FIGURE_13, FIGURE_14, FIGURE_15, FIGURE_16, FIGURE_17, FIGURE_18, FIGURE_19,
)  # fmt: skip
