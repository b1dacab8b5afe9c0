"""Figures 2, 3 and 9 to 11, tables 1 to 3: synchronisation, RTT fairness, shares, convergence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.draw import plots
from ackclock.engine import Run
from ackclock.metrics import Estimate
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Artefact, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import CONTROLS, case, rate_over_batches

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GIGABIT = 2500.0
FLOWS_2 = 20


def _cases_2(effort: Effort) -> Mapping[str, Case]:
    rtts = np.linspace(40, 150, FLOWS_2)
    flows = [{"controller": "hstcp", "rtt": f"{rtt:.1f} ms"} for rtt in rtts]
    return {
        name: case(effort, flows, GIGABIT, duration_s=120, red=red)
        for name, red in (("droptail", False), ("RED", True))
    }


def _losing(run: Run) -> Any:
    start = run.summary["measured_from_s"]
    losses = run.events.filter((pl.col("flow") < FLOWS_2) & (pl.col("kind") == "loss"))
    return metrics.losing_flows(
        losses["time_s"].to_numpy(), losses["flow"].to_numpy(), 1.0, start,
        run.summary["duration_s"],
    )  # fmt: skip


def _measure_2(_name: str, run: Run) -> Row:
    losing = _losing(run)
    return {
        "half": metrics.over_batches(losing > FLOWS_2 / 2, batches=10),
        "quarter": metrics.over_batches(losing > FLOWS_2 / 4, batches=10),
        "epochs": float(len(losing)),
    }


def _trace_2(_name: str, run: Run) -> pl.DataFrame:
    least = np.arange(1, FLOWS_2 + 1)
    return pl.DataFrame({"flows": least, "share": metrics.synchronisation(_losing(run), least)})


FIGURE_2 = Artefact(
    name="figure-2",
    title="Figure 2: how many flows lose together",
    about="20 HSTCP flows, RTT 40 to 150 ms, 2.5 Gbit/s; epochs of 1 s in which one lost.",
    cases=_cases_2, measure=_measure_2, trace=_trace_2,
    draw=lambda _n, traces: pictures.over_time(
        traces, {"both": tuple(traces)}, "share", "share of epochs", x="flows",
        x_label="at least so many flows lose", height=3.0,
    ),
    claims=(
        near("droptail: more than half of the flows in about 70 % of epochs",
             mean("droptail", "half"), 0.7, within=0.15, absolute=True, why="'about', from a plot"),
        near("RED: more than a quarter in about 30 %", mean("RED", "quarter"), 0.3, within=0.15,
             absolute=True, why="'about', from a plot"),
        ordered("losses are much more synchronised with droptail",
                [("droptail", mean("droptail", "quarter")), ("RED", mean("RED", "quarter"))]),
    ),
)  # fmt: skip


def _cases_3(effort: Effort) -> Mapping[str, Case]:
    flows = [
        {"controller": "scalable", "rtt": "80 ms", "count": 8, "name": "short"},
        {"controller": "scalable", "rtt": "160 ms", "count": 2, "name": "long"},
    ]
    return {"droptail": case(effort, flows, 2400.0, duration_s=200)}


def _measure_3(_name: str, run: Run) -> Row:
    short = [f["goodput_mbps"] for f in run.summary["flows"] if f["name"].startswith("short")]
    long = [f["goodput_mbps"] for f in run.summary["flows"] if f["name"].startswith("long-")]
    return {
        "long_share": float(np.mean(long[:2]) / np.mean(short)),
        "jain_short": float(metrics.jain(short)),
    }


FIGURE_3 = Artefact(
    name="figure-3",
    title="Figure 3: ten Scalable flows",
    about="2.4 Gbit/s, droptail; eight flows of 80 ms and two of 160 ms.",
    cases=_cases_3, measure=_measure_3,
    trace=lambda _n, run: pictures.windows(run, 1.0).filter(
        pl.col("name").str.contains("^short-[0-2]$|^long-[01]$")
    ),
    draw=lambda _n, traces: pictures.over_time(
        traces, {"droptail": ("droptail",)}, "window", "window (packets)", height=3.0
    ),
    claims=(
        between("the long-RTT flows fall towards zero", mean("droptail", "long_share"), 0, 0.1,
                why="their goodput over that of the short ones", paper="towards zero"),
        between("the equal ones converge", mean("droptail", "jain_short"), 0.8, 1,
                why="Jain's index of the eight", paper="converge to the same value"),
    ),
)  # fmt: skip

RATIOS = (1, 3, 6)
PAPER_2 = {
    "AIMD": (1.05, 6.56, 22.55), "BI-TCP": (0.96, 9.18, 35.76), "HSTCP": (0.99, 47.42, 131.03),
    "STCP": (0.92, 140.52, 300.32),
}  # fmt: skip
PAPER_3 = {
    "AIMD": (0.99, 7.31, 26.12), "BI-TCP": (0.94, 13.06, 33.81), "HSTCP": (1.13, 10.42, 51.09),
    "STCP": (1.12, 27.84, 72.74),
}  # fmt: skip


def _cases_table(rate_mbps: float, names: Sequence[str]) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        found = {}
        for name in names:
            for times in RATIOS:
                flows = [{**CONTROLS[name], "rtt": f"{40 * one} ms"} for one in (1, times)]
                found[f"{name}, {times}"] = case(effort, flows, rate_mbps)
        return found

    return cases


def _measure_table(_name: str, run: Run) -> Row:
    first, second = rate_over_batches(run, 0), rate_over_batches(run, 1)
    value = first.value / second.value if second.value > 0 else float("inf")
    # Relative errors of both add up in squares.
    relative = np.hypot(
        (first.high - first.low) / 2 / first.value if first.value else np.nan,
        (second.high - second.low) / 2 / second.value if second.value else np.nan,
    )
    estimate = Estimate(value, value * (1 - relative), value * (1 + relative), first.samples)
    return {"ratio": estimate, "utilisation": run.summary["links"][0]["utilisation"]}


def _table(
    number: int, rate_mbps: float, names: Sequence[str], values: Mapping[str, Sequence[float]],
    bandwidth: str,
) -> Artefact:  # fmt: skip
    def draw(numbers: Numbers, _traces: Traces) -> Figure:
        rows = [
            [name, *(f"{values[name][k]:g}: {numbers.of(f'{name}, {times}', 'ratio').value:.3g}"
                     for k, times in enumerate(RATIOS))]
            for name in names
        ]  # fmt: skip
        return pictures.grid(["paper: ours", *(f"RTT ratio {one}" for one in RATIOS)], rows)

    claims: list[Any] = []
    for name in names:
        claims.append(
            near(f"{name}: equal RTTs share equally", mean(f"{name}, 1", "ratio"),
                 values[name][0], within=0.25, why="single runs of the paper differ by 13 %")
        )  # fmt: skip
        for k in (1, 2):
            expected = values[name][k]
            claims.append(
                between(f"{name}: RTT ratio {RATIOS[k]}", mean(f"{name}, {RATIOS[k]}", "ratio"),
                        expected / 2, expected * 2, paper=f"{expected:g}",
                        why="a factor of two either way: one run of the paper, whose buffer and "
                        "background are open")
            )  # fmt: skip
    if len(names) == 4:
        claims.append(
            holds("BI-TCP is comparable to AIMD, HSTCP and STCP are far more unfair (ratio 6)",
                  "35.8 and 22.6 against 131 and 300" if rate_mbps > 1000 else
                  "33.8 and 26.1 against 51 and 73",
                  lambda n: _comparable(n), why="the order of the means")
        )  # fmt: skip
    return Artefact(
        name=f"table-{number}",
        title=f"Table {number}: RTT unfairness, {bandwidth}"
        + (" (AIMD, HSTCP, STCP)" if number == 1 else ""),
        about=(
            "Two flows, 40 ms and a multiple of it, with background; throughput ratio in the "
            "second half of the run."
        ),
        cases=_cases_table(rate_mbps, names), measure=_measure_table, draw=draw,
        claims=tuple(claims), headline=number == 3,
    )  # fmt: skip


def _comparable(numbers: Numbers) -> tuple[str, bool]:
    found = {name: numbers.of(f"{name}, 6", "ratio") for name in CONTROLS}
    words = ", ".join(f"{name} {one}" for name, one in found.items())
    fair = max(found["AIMD"].value, found["BI-TCP"].value)
    return words, fair < min(found["HSTCP"].value, found["STCP"].value)


TABLE_1 = _table(1, GIGABIT, ("AIMD", "HSTCP", "STCP"), PAPER_2, "2.5 Gbit/s")
TABLE_2 = _table(2, GIGABIT, tuple(CONTROLS), PAPER_2, "2.5 Gbit/s")
TABLE_3 = _table(3, 100.0, tuple(CONTROLS), PAPER_3, "100 Mbit/s")

RATES = (20.0, 100.0, 500.0, 2500.0)


def _cases_9(effort: Effort) -> Mapping[str, Case]:
    found = {}
    for rate in RATES:
        for name, control in CONTROLS.items():
            flows = [{**control, "rtt": "100 ms", "count": 2}]
            found[f"{rate:g} Mbit/s, {name}"] = case(effort, flows, rate)
            if rate == GIGABIT:
                found[f"RED, {name}"] = case(effort, flows, rate, red=True)
    return found


def _measure_9(name: str, run: Run) -> Row:
    rate = GIGABIT if name.startswith("RED") else float(name.split()[0])
    share = {"background": 0.0, "long": 0.0, "fast": 0.0}
    for index, flow in enumerate(run.summary["flows"]):
        kind = "fast" if index < 2 else "long" if "long forward" in flow["name"] else "background"
        if index < 2 or "forward" in flow["name"]:
            share[kind] += flow["goodput_mbps"] / rate
    used = run.summary["links"][0]["utilisation"]
    return {**share, "unused": 1 - used, "utilisation": used}


def _draw_9(numbers: Numbers, _traces: Traces) -> Figure:
    figure, panels = plots.panels(1, height=3.0, columns=4)
    for panel, rate in zip(panels, RATES, strict=True):
        bottom = np.zeros(4)
        for index, kind in enumerate(("background", "long", "fast", "unused")):
            heights = np.array(
                [numbers.of(f"{rate:g} Mbit/s, {name}", kind).value for name in CONTROLS]
            )
            panel.bar(range(4), heights, bottom=bottom, color=plots.COLOURS[index], label=kind)
            bottom += heights
        panel.set_xticks(range(4), list(CONTROLS), rotation=60)
        panel.set_title(f"{rate:g} Mbit/s")
        panel.set_ylim(0, 1.02)
    panels[0].legend(fontsize=6, loc="lower left")
    return figure


def _unused(name: str) -> Callable[[Numbers], Estimate]:
    return mean(f"20 Mbit/s, {name}", "unused")


FIGURE_9 = Artefact(
    name="figure-9",
    title="Figure 9: shares of bandwidth, and section VII's utilisation",
    about=(
        "Two high-speed flows, two long-lived TCP flows and background at four bandwidths, "
        "droptail; at 2.5 Gbit/s also RED."
    ),
    cases=_cases_9, measure=_measure_9, draw=_draw_9,
    claims=(
        *(between(f"{name}: about 100 % utilisation at 2.5 Gbit/s, droptail",
                  mean(f"2500 Mbit/s, {name}", "utilisation"), 0.98, 1.001, why="'approximately'",
                  paper="about 100 %") for name in CONTROLS),
        *(near(f"{name}: utilisation with RED", mean(f"RED, {name}", "utilisation"), value,
               within=0.02, absolute=True, why="'about'")
          for name, value in (("AIMD", 0.99), ("BI-TCP", 0.99), ("HSTCP", 0.96), ("STCP", 0.96))),
        holds("20 Mbit/s: HSTCP and STCP leave almost twice as much unused as AIMD and BI-TCP",
              "almost twice",
              lambda n: (
                  ", ".join(f"{name} {_unused(name)(n)}" for name in CONTROLS),
                  (_unused("HSTCP")(n).value + _unused("STCP")(n).value)
                  > 1.3 * (_unused("AIMD")(n).value + _unused("BI-TCP")(n).value),
              ), why="1.3 times and more, means of both"),
        ordered("2.5 Gbit/s: STCP most aggressive, then HSTCP, then BI-TCP",
                [(name, mean(f"2500 Mbit/s, {name}", "fast"))
                 for name in ("STCP", "HSTCP", "BI-TCP")], unit="of the link"),
        holds("500 Mbit/s: STCP, BI-TCP and AIMD use about the same share", "about the same",
              lambda n: _alike(n, ("STCP", "BI-TCP", "AIMD")), why="within 10 % of each other"),
    ),
)  # fmt: skip


def _alike(numbers: Numbers, names: Sequence[str]) -> tuple[str, bool]:
    found = {name: numbers.of(f"500 Mbit/s, {name}", "fast") for name in names}
    values = [one.value for one in found.values()]
    return ", ".join(f"{k} {v}" for k, v in found.items()), max(values) < 1.1 * min(values)


SCALES = {False: (1, 5, 25, 75, 150, 300), True: (1, 5, 25, 125)}


def _cases_fair(red: bool) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        found = {}
        for name, control in CONTROLS.items():
            flows = [
                {**control, "rtt": "100 ms", "count": 2, "start": {"uniform": [a, b]}}
                for a, b in (("0 s", "20 s"), ("50 s", "70 s"))
            ]
            one = case(effort, flows, GIGABIT, duration_s=600, red=red)
            found[name] = replace(one)
        return found

    return cases


def _measure_fair(red: bool) -> Callable[[str, Run], Row]:
    def measure(_name: str, run: Run) -> Row:
        start, end = run.summary["measured_from_s"], run.summary["duration_s"]
        own = [
            run.windows.filter(pl.col("flow") == k)["delivered_bytes"].to_numpy() for k in range(4)
        ]
        time = run.windows.filter(pl.col("flow") == 0)["time_s"].to_numpy()
        amounts = np.stack(own, axis=1)
        row = {}
        for scale in SCALES[red]:
            if scale > end - start:
                continue
            _, rates = metrics.over_intervals(time, amounts, scale, start, end)
            row[f"{scale} s"] = metrics.worst_mean(
                metrics.jain(rates, axis=1), 0.01 if red else 0.2
            )
        return row

    return measure


def _draw_fair(red: bool) -> Callable[[Numbers, Traces], Figure]:
    def draw(numbers: Numbers, _traces: Traces) -> Figure:
        curves = {
            name: [(s, name, f"{s} s") for s in SCALES[red] if f"{s} s" in numbers.rows[name][0]]
            for name in CONTROLS
        }
        return pictures.against(
            numbers, curves, "measurement interval (s)", "mean of the worst Jain indices",
            log_x=red,
        )  # fmt: skip

    return draw


FIGURE_10 = Artefact(
    name="figure-10",
    title="Figure 10: fairness at several time scales, droptail",
    about=(
        "Four flows, RTT 100 ms, 2.5 Gbit/s, two 50 s later; from 300 s to 600 s, the mean of the "
        "worst fifth of Jain's indices at each scale."
    ),
    cases=_cases_fair(red=False), measure=_measure_fair(red=False), draw=_draw_fair(red=False),
    claims=(
        *(between(f"{name} is close to one at all scales", mean(name, "1 s"), 0.95, 1,
                  why="at the shortest scale, 1 s", paper="close to one")
          for name in ("AIMD", "BI-TCP")),
        between("STCP stays below 0.8", mean("STCP", "150 s"), 0, 0.8,
                why="at 150 s; shorter scales are lower", paper="always below 0.8"),
        ordered("HSTCP lies between",
                [("BI-TCP", mean("BI-TCP", "25 s")), ("HSTCP", mean("HSTCP", "25 s")),
                 ("STCP", mean("STCP", "25 s"))], paper="between"),
    ),
)  # fmt: skip
FIGURE_11 = Artefact(
    name="figure-11",
    title="Figure 11: fairness at several time scales, RED",
    about="As figure 10 with adaptive RED; the mean of the worst hundredth.",
    cases=_cases_fair(red=True), measure=_measure_fair(red=True), draw=_draw_fair(red=True),
    claims=(
        ordered("HSTCP and STCP deviate at short scales: below BI-TCP at 1 s",
                [("BI-TCP", mean("BI-TCP", "1 s")), ("HSTCP", mean("HSTCP", "1 s"))],
                paper="much deviation"),
        ordered("STCP below BI-TCP at 1 s",
                [("BI-TCP", mean("BI-TCP", "1 s")), ("STCP", mean("STCP", "1 s"))],
                paper="much deviation"),
        *(between(f"{name} deviates even at 25 s", mean(name, "25 s"), 0, 0.98,
                  why="Jain's index of the worst", paper="oscillate even at 25 s")
          for name in ("HSTCP", "STCP")),
    ),
)  # fmt: skip
