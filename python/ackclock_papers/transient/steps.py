"""Figures 20 to 36: responses to more and to less congestion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock.engine import Run
from ackclock.models import transients
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Artefact, Claim, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient.setting import CHANGE_S, PROTOCOLS, case, flows, rounds, trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHANGE = 1000
SHOWN = (900, 1300)
ALIKE = 20
"""Flows that do not meet: their mean is the response of one, without its phase."""
SCHEDULED = "mean over flows and runs, 5 round trips smoothed"


def _analytic(before: float, after: float) -> Mapping[str, transients.StepResponse]:
    return {
        "TCP": transients.aimd_step(before, after, 1, 0.5),
        "GAIMD": transients.aimd_step(before, after, 0.31, 0.875),
        "TFRC": transients.tfrc_step(before, after),
        "TEAR": transients.tear_step(before, after),
    }


def _compute(before: float, after: float) -> Callable[[Effort], Any]:
    def compute(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
        steps = _analytic(before, after)
        rows = {
            name: [{"settling": step.settling_round_trips(), "final": float(step.progress[-1])}]
            for name, step in steps.items()
        }
        at = np.arange(0, 101, dtype=float)
        frames = {
            name: pl.DataFrame(
                {"round_trip": at, "progress": np.interp(at, step.time, step.progress)}
            )
            for name, step in steps.items()
        }
        return rows, frames

    return compute


def _draw_analytic(end: int) -> Callable[[Numbers, Traces], Figure]:
    def draw(_numbers: Numbers, traces: Traces) -> Figure:
        return pictures.over_time(
            traces, {"all": tuple(traces)}, "progress", "|T - T0|/|Tinf - T0|", span=(0, end),
            x="round_trip", x_label="round trips since the change", height=3.0,
        )  # fmt: skip

    return draw


def _anchored(values: Mapping[str, float]) -> tuple[Claim, ...]:
    return tuple(
        near(
            f"{name} settles within 5 % after R round trips", mean(name, "settling"), value,
            within=0.01, why="the recursions have no other freedom", unit="RTTs",
            paper=f"{value} by its recursion",
        )
        for name, value in values.items()
    )  # fmt: skip


FIGURE_20 = Artefact(
    name="figure-20",
    title="Figure 20: rate decrease, analytic, 1 % to 4 %",
    about="The recursions of section 4.1, interpolated between loss events.",
    compute=_compute(0.01, 0.04), draw=_draw_analytic(50), headline=True,
    claims=_anchored({"TCP": 10.0, "GAIMD": 33.2, "TFRC": 18.9, "TEAR": 18.2}),
)  # fmt: skip

FIGURE_29 = Artefact(
    name="figure-29",
    title="Figure 29: rate increase, analytic, 4 % to 1 %",
    about="The recursions of section 4.1, interpolated between loss events.",
    compute=_compute(0.04, 0.01), draw=_draw_analytic(100), headline=True,
    claims=(
        *_anchored({"TCP": 19.2, "GAIMD": 85.7, "TFRC": 78.3, "TEAR": 65.2}),
        ordered(
            "TEAR is the slowest",
            [("TEAR", mean("TEAR", "settling")), ("TFRC", mean("TFRC", "settling"))],
            unit="RTTs", paper="figure 30 'conforms to our analytical result': TEAR slowest",
            reason="With the weights newest first, as the text of section 4.1 has them, TEAR's "
            "recursion settles before TFRC's and GAIMD's. Tried: oldest first, as the printed "
            "index has it, gives 83 RTTs: after TFRC, still before GAIMD.",
        ),
    ),
)  # fmt: skip


def _loss_step(
    kind: str, before: float, after: float, *, variants: Mapping[str, Any] | None = None
) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        change = {"at": f"{CHANGE_S:g} s", "set": "dumbbell.loss.rate", "to": after}
        some = {name: flows(name, count=ALIKE) for name in PROTOCOLS}
        if variants:
            some["TEAR without timeout"] = flows("TEAR", count=ALIKE, **variants)
        return {
            name: case(
                effort, [one], effort.pick(250, 180), loss={"kind": kind, "rate": before},
                events=[change],
            )
            for name, one in some.items()
        }  # fmt: skip

    return cases


def _response(sent: Any, change: int) -> Row:
    """Measure a response from rates per round trip, shape (round trips, flows)."""
    total = sent.mean(axis=1)
    before = float(total[change // 2 : change].mean())
    after = float(total[(change + len(total)) // 2 :].mean())
    smooth = np.convolve(total, np.ones(5) / 5, mode="full")[: len(total)]
    progress = (smooth[change:] - before) / (after - before)
    reached = np.flatnonzero(progress >= 0.5)
    soon = sent[change : change + 40]
    return {
        "before": before,
        "after": after,
        "half_way": float(reached[0] + 1) if reached.size else float("inf"),
        "quarter_at_20": float(progress[20]),
        "lowest": float(np.convolve(total[change : change + 60], np.ones(5) / 5, "valid").min()),
        "lowest_share": float(soon.min(axis=0).mean() / after) if after > 0 else float("nan"),
        "zero_share": float((soon.min(axis=0) <= 1).mean()),
        "end_share": after / before,
    }


def _measure(_name: str, run: Run) -> Row:
    counted = rounds(run)
    return _response(counted.sent, counted.change)


def _shown(_name: str, run: Run) -> pl.DataFrame:
    return trace(run, *SHOWN)


def _draw(column: str, label: str) -> Callable[[Numbers, Traces], Figure]:
    def draw(_numbers: Numbers, traces: Traces) -> Figure:
        panels = {name: (name,) for name in traces}
        return pictures.over_time(
            traces, panels, column, label, span=SHOWN, x="round_trip", x_label="round trip",
            mark=CHANGE, height=1.3,
        )  # fmt: skip

    return draw


RATE = _draw("rate", "packets\nper RTT")
QUEUE = _draw("queue", "queue\n(packets)")
FAIRNESS = _draw("fairness", "F")


def _order(sentence: str, names: Sequence[str], paper: str, reason: str = "") -> Claim:
    """From the fastest to the slowest, by the time to half of the change."""
    return ordered(
        sentence,
        [(name, mean(name, "half_way")) for name in names[::-1]],
        why=f"round trips to half of the change ({SCHEDULED}), the slowest first",
        unit="RTTs", paper=paper, reason=reason,
    )  # fmt: skip


FIGURE_21 = Artefact(
    name="figure-21",
    title="Figure 21: periodic loss from 1 % to 4 %",
    about=f"{ALIKE} flows of each protocol that do not meet; the picture has the first.",
    cases=_loss_step("periodic", 0.01, 0.04),
    measure=_measure, trace=_shown, draw=RATE,
    claims=(
        _order("TCP is the fastest, GAIMD follows", ("TCP", "GAIMD"), "fastest"),
        _order("GAIMD is faster than TFRC", ("GAIMD", "TFRC"), "slower than GAIMD"),
        _order("GAIMD is faster than TEAR", ("GAIMD", "TEAR"), "slower than GAIMD"),
        between(
            "TCP drops to almost 0 at first", mean("TCP", "lowest_share"), 0, 0.35,
            why="lowest rate of each flow in the next 40 round trips over its new rate",
            paper="almost 0",
        ),
    ),
)  # fmt: skip

FIGURE_22 = Artefact(
    name="figure-22",
    title="Figure 22: Bernoulli loss from 0.5 % to 100 %",
    about=f"{ALIKE} flows of each protocol; TEAR also without its timeout.",
    cases=_loss_step("bernoulli", 0.005, 1.0, variants={"params": {"timeout": False}}),
    measure=_measure, trace=_shown, draw=RATE,
    claims=(
        _order(
            "order TCP, GAIMD, TFRC, TEAR", ("TCP", "GAIMD", "TFRC", "TEAR"),
            "TCP, GAIMD, TFRC; TEAR very slow",
        ),
        between(
            "TCP reduces its rate to almost 0", mean("TCP", "end_share"), 0, 0.05,
            why="mean of the last half after the change over before", paper="almost 0",
        ),
        between(
            "TEAR without timeout does not slow down",
            mean("TEAR without timeout", "end_share"), 0.8, np.inf,
            why="mean of the last half after the change over before", paper="not at all",
        ),
    ),
)  # fmt: skip

FIGURE_23 = Artefact(
    name="figure-23",
    title="Figure 23: Bernoulli loss from 1 % to 4 %",
    about=f"{ALIKE} flows of each protocol; the picture has the first.",
    cases=_loss_step("bernoulli", 0.01, 0.04),
    measure=_measure, trace=_shown, draw=RATE, headline=True,
    claims=(
        _order("TCP is the fastest, GAIMD follows", ("TCP", "GAIMD"), "fastest"),
        *(
            _order(f"{name} is slower than TCP", ("TCP", name), "slower")
            for name in ("TFRC", "TEAR")
        ),
        *(
            near(
                f"{name} halves its rate", mean(name, "end_share"), 0.5, within=0.2,
                absolute=True, why="sqrt(1 %/4 %); timeouts take more", paper="half",
            )
            for name in PROTOCOLS
        ),
        ordered(
            "TCP falls below its new rate more than the others",
            [("TEAR", mean("TEAR", "lowest_share")), ("TCP", mean("TCP", "lowest_share"))],
            why="lowest rate of each flow within 40 round trips over its new mean",
            paper="only TCP over-reacts",
        ),
    ),
)  # fmt: skip


def _cases_join(same: bool) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        found = {}
        for name in PROTOCOLS:
            kind = name if same else "TCP"
            new = flows(kind, count=8, start=f"{CHANGE_S:g} s")
            some = [flows(name), flows(kind, count=7), new]
            found[name] = case(effort, some, effort.pick(250, 180))
        return found

    return cases


def _measure_join(_name: str, run: Run) -> Row:
    counted = rounds(run)
    sent, waiting, change = counted.sent, counted.queue, counted.change
    old = _response(sent[:, :8], change)
    square = (sent**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        fair = sent.sum(axis=1) ** 2 / (16 * square)
        fair_8 = sent[:, :8].sum(axis=1) ** 2 / (8 * (sent[:, :8] ** 2).sum(axis=1))
    dip = waiting[change : change + 100]
    smooth = np.convolve(fair[change:], np.ones(10) / 10, "valid")
    recovered = np.flatnonzero(smooth >= 0.85)
    at_once = np.convolve(fair[change : change + 60], np.ones(5) / 5, "valid")
    return {
        **old,
        "queue_before": float(waiting[change // 2 : change].mean()),
        "queue_low": float(dip.min()),
        "dip_at": float(dip.argmin()),
        "queue_low_share": float(dip.min() / max(waiting[change // 2 : change].mean(), 1)),
        "fairness_before": float(np.nanmean(fair_8[change // 2 : change])),
        "fairness_at_once": float(np.nanmin(at_once)),
        "fairness_after": float(np.nanmean(fair[-300:])),
        "fair_again": float(recovered[0]) if recovered.size else float("inf"),
    }


FIGURE_24 = Artefact(
    name="figure-24",
    title="Figure 24: rates, 1 flow + 7 TCP to 1 flow + 15 TCP",
    about="Eight TCP flows join at round trip 1000; the rate of the flow under study.",
    cases=_cases_join(same=False), measure=_measure_join, trace=_shown, draw=RATE,
    claims=tuple(
        near(
            f"{name}: the old flows go down to about half", mean(name, "end_share"), 0.5,
            within=0.15, absolute=True, why="sixteen flows in place of eight", paper="as figure 26",
        )
        for name in PROTOCOLS
    ),
)  # fmt: skip

FIGURE_25 = Artefact(
    name="figure-25",
    title="Figure 25: queue, 1 flow + 7 TCP to 1 flow + 15 TCP",
    about="The runs of figure 24.",
    cases=_cases_join(same=False), measure=_measure_join, trace=_shown, draw=QUEUE,
    claims=tuple(
        between(
            f"{name}: a large dip of the queue soon after", mean(name, "queue_low_share"), 0, 0.35,
            why="lowest queue in the next 100 round trips over the mean before",
            paper="large dips near round trip 1025",
        )
        for name in PROTOCOLS
    ),
)  # fmt: skip

FIGURE_26 = Artefact(
    name="figure-26",
    title="Figure 26: rates, 8 to 16 flows of one protocol",
    about="Eight flows join eight of the same protocol at round trip 1000.",
    cases=_cases_join(same=True), measure=_measure_join, trace=_shown, draw=RATE, headline=True,
    claims=(
        *(
            _order(f"{fast} responds faster than {name}", (fast, name), "slower")
            for name in ("TFRC", "TEAR")
            for fast in ("TCP", "GAIMD")
        ),
        *(
            between(
                f"{name} overshoots to 0", mean(name, "zero_share"), 0.3, 1,
                why="share of flows with a round trip of at most one packet among the next 40",
                paper="overshoot to 0",
            )
            for name in ("TCP", "GAIMD")
        ),
        *(
            between(
                f"{name} goes down gradually", mean(name, "zero_share"), 0, 0.2,
                why="as above", paper="gradually",
            )
            for name in ("TFRC", "TEAR")
        ),
    ),
)  # fmt: skip

FIGURE_27 = Artefact(
    name="figure-27",
    title="Figure 27: queue, 8 to 16 flows of one protocol",
    about="The runs of figure 26.",
    cases=_cases_join(same=True), measure=_measure_join, trace=_shown, draw=QUEUE,
    claims=(
        between(
            "TEAR: a large dip of the queue", mean("TEAR", "queue_low_share"), 0, 0.5,
            why="lowest queue in the next 100 round trips over the mean before", paper="large dip",
        ),
        between(
            "TEAR's dip comes late", mean("TEAR", "dip_at"), 25, 100,
            why="round trips after the change; the study's is near 50", unit="RTTs",
            paper="near round trip 1050",
        ),
    ),
)  # fmt: skip

FIGURE_28 = Artefact(
    name="figure-28",
    title="Figure 28: fairness, 8 to 16 flows of one protocol",
    about="Jain's index of the sixteen rates, of the eight before the change.",
    cases=_cases_join(same=True), measure=_measure_join, trace=_shown, draw=FAIRNESS,
    claims=(
        *(
            near(
                f"F of {name} drops to about 0.5", mean(name, "fairness_at_once"), 0.5,
                within=0.15, absolute=True, why="eight of sixteen flows send", paper="0.5",
            )
            for name in ("TFRC", "TEAR")
        ),
        *(
            between(
                f"F of {name} comes back close to 1", mean(name, "fairness_after"), 0.9, 1,
                why="mean of the last 300 round trips", paper="close to 1",
            )
            for name in ("TFRC", "TEAR")
        ),
        ordered(
            "TEAR recovers slowest",
            [("TEAR", mean("TEAR", "fair_again")), ("TFRC", mean("TFRC", "fair_again"))],
            why="round trips until F stays above 0.85 for ten", unit="RTTs", paper="slow increase",
        ),
        *(
            ordered(
                f"F of {name} is lower with sixteen flows",
                [("8", mean(name, "fairness_before")), ("16", mean(name, "fairness_after"))],
                paper="reduces",
            )
            for name in ("TCP", "GAIMD")
        ),
    ),
)  # fmt: skip


def _rise(number: int, kind: str, before: float, after: float, claims: Sequence[Claim]) -> Artefact:
    return Artefact(
        name=f"figure-{number}",
        title=f"Figure {number}: {kind} loss from {before:.0%} to {after:.0%}",
        about=f"{ALIKE} flows of each protocol that do not meet; the picture has the first.",
        cases=_loss_step(kind, before, after),
        measure=_measure, trace=_shown, draw=RATE, claims=tuple(claims), headline=number == 30,
    )  # fmt: skip


SLOW = ("TFRC", "TEAR")
FIGURE_30 = _rise(
    30, "periodic", 0.04, 0.01,
    (
        _order("TCP is the fastest", ("TCP", "GAIMD"), "fastest"),
        _order("GAIMD is slightly faster than TFRC", ("GAIMD", "TFRC"), "slightly faster"),
        _order("TEAR is the slowest", ("TFRC", "TEAR"), "slowest"),
    ),
)  # fmt: skip
FIGURE_31 = _rise(
    31, "periodic", 0.03, 0.02,
    (
        holds(
            "TEAR and TFRC are similar", "similar",
            lambda n: (
                f"TFRC {n.of('TFRC', 'half_way')}, TEAR {n.of('TEAR', 'half_way')} RTTs",
                0.5 < n.of("TFRC", "half_way").value / n.of("TEAR", "half_way").value < 2,
            ),
            why="round trips to half of the change within a factor of two",
        ),
        _order("TCP is the fastest", ("TCP", "TFRC"), "fastest"),
    ),
)  # fmt: skip


def _endless(_name: str, run: Run) -> Row:
    """Measure the rise in 50 round trips: without loss there is no new steady rate."""
    counted = rounds(run)
    total, change = counted.sent.mean(axis=1), counted.change
    before = float(total[change // 2 : change].mean())
    return {"rise": float(total[change + 45 : change + 55].mean()) - before, "before": before}


FIGURE_32 = Artefact(
    name="figure-32",
    title="Figure 32: Bernoulli loss from 10 % to 0 %",
    about=f"{ALIKE} flows of each protocol that do not meet.",
    cases=_loss_step("bernoulli", 0.1, 0.0),
    measure=_endless, trace=_shown, draw=RATE,
    claims=(
        ordered(
            "TCP is the fastest, then GAIMD, TFRC, TEAR",
            [(name, mean(name, "rise")) for name in PROTOCOLS],
            why="packets per round trip gained in 50 round trips", paper="in this order",
        ),
    ),
)  # fmt: skip
FIGURE_33 = _rise(
    33, "bernoulli", 0.04, 0.01,
    (
        _order("TCP is the fastest", ("TCP", "GAIMD"), "fastest"),
        _order("TFRC follows TCP", ("TCP", "TFRC"), "follow"),
        _order("TEAR is the slowest", ("TFRC", "TEAR"), "GAIMD, TFRC, and TEAR follow"),
    ),
)  # fmt: skip


def _cases_leave(same: bool) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        found = {}
        for name in PROTOCOLS:
            kind = name if same else "TCP"
            some = [
                flows(name), flows(kind, count=7), flows(kind, count=8, stop=f"{CHANGE_S:g} s"),
            ]  # fmt: skip
            found[name] = case(effort, some, effort.pick(250, 180))
        return found

    return cases


def _measure_leave(_name: str, run: Run) -> Row:
    counted = rounds(run)
    sent, waiting, change = counted.sent, counted.queue, counted.change
    stay = sent[:, :8]
    first = _response(sent[:, :1], change)
    with np.errstate(invalid="ignore", divide="ignore"):
        fair = stay.sum(axis=1) ** 2 / (8 * (stay**2).sum(axis=1))
        fair_16 = sent.sum(axis=1) ** 2 / (16 * (sent**2).sum(axis=1))
    later = waiting[change:]
    emptied = int(np.argmax(later <= 3)) if (later <= 3).any() else 0
    filled = np.flatnonzero(later[emptied:] >= 40)
    return {
        **first,
        "all_half_way": _response(stay, change)["half_way"],
        "fairness_before": float(np.nanmean(fair_16[change // 2 : change])),
        "fairness_after": float(np.nanmean(fair[change + 20 : change + 320])),
        "emptied": float((later[:50] <= 3).any()),
        "refill": float(emptied + filled[0]) if filled.size else float("inf"),
    }


FIGURE_34 = Artefact(
    name="figure-34",
    title="Figure 34: rates, 1 flow + 15 TCP to 1 flow + 7 TCP",
    about="Eight TCP flows stop at round trip 1000; the rate of the flow under study.",
    cases=_cases_leave(same=False), measure=_measure_leave, trace=_shown, draw=RATE,
    claims=tuple(
        ordered(
            f"{slow} takes much longer than {fast}",
            [(slow, mean(slow, "half_way")), (fast, mean(fast, "half_way"))],
            why=f"round trips to half of the change ({SCHEDULED})", unit="RTTs",
            paper="almost instantaneously against much longer",
        )
        for slow in SLOW
        for fast in ("TCP", "GAIMD")
    ),
)  # fmt: skip

FIGURE_35 = Artefact(
    name="figure-35",
    title="Figure 35: fairness, 16 to 8 flows of one protocol",
    about="Jain's index of the flows that send.",
    cases=_cases_leave(same=True), measure=_measure_leave, trace=_shown, draw=FAIRNESS,
    claims=(
        *(
            holds(
                f"F of {name} does not change", "no change",
                lambda n, name=name: (  # type: ignore[misc]
                    f"{n.of(name, 'fairness_before')} before, {n.of(name, 'fairness_after')} after",
                    abs(n.of(name, "fairness_after").value - n.of(name, "fairness_before").value)
                    < 0.05,
                ),
                why="within 0.05",
            )
            for name in SLOW
        ),
        *(
            ordered(
                f"F of {name} goes up",
                [("8", mean(name, "fairness_after")), ("16", mean(name, "fairness_before"))],
                paper="increases almost at once",
            )
            for name in ("TCP", "GAIMD")
        ),
    ),
)  # fmt: skip

REFILL = {"TCP": 20, "GAIMD": 42, "TFRC": 45}
FIGURE_36 = Artefact(
    name="figure-36",
    title="Figure 36: queue, 16 to 8 flows of one protocol",
    about="Eight flows stop at round trip 1000; round trips until the queue is at 40 packets.",
    cases=_cases_leave(same=True), measure=_measure_leave, trace=_shown, draw=QUEUE, headline=True,
    claims=(
        *(
            between(
                f"{name}: the queue drops to 0", mean(name, "emptied"), 1, 1,
                why="at most 3 packets within 50 round trips, in every run", paper="0",
            )
            for name in PROTOCOLS
        ),
        *(
            near(
                f"{name} fills the queue again", mean(name, "refill"), value, within=0.5,
                why="one run of the study, read off a plot", unit="RTTs",
            )
            for name, value in REFILL.items()
        ),
        between(
            "TEAR takes more than 200 round trips", mean("TEAR", "refill"), 200, np.inf,
            why="as printed", unit="RTTs", paper="more than 200",
        ),
    ),
)  # fmt: skip

ARTEFACTS = (
    FIGURE_20, FIGURE_21, FIGURE_22, FIGURE_23, FIGURE_24, FIGURE_25, FIGURE_26, FIGURE_27,
    FIGURE_28, FIGURE_29, FIGURE_30, FIGURE_31, FIGURE_32, FIGURE_33, FIGURE_34, FIGURE_35,
    FIGURE_36,
)  # fmt: skip
