"""Figures 1 to 7 and tables I and II."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock.draw import plots
from ackclock.engine import Run
from ackclock.models import periods
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Artefact, Traces
from ackclock.reproduction.claims import between, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.africa.setting import RATE_MBPS, scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKETS_PER_S = RATE_MBPS * 1e6 / 8000
LEFT_OUT_S = 30.0

WINDOWS = np.geomspace(100, 83_000, 60)
CURVES: dict[str, Callable[[Any], Any]] = {
    "Reno": periods.aimd,
    "HSTCP": periods.hstcp,
    "Scalable": lambda window: np.full(np.shape(window), periods.mimd()),
    "Africa, approximated (G = 0.90)": lambda window: periods.two_mode(window, 0.90),
    "Africa, approximated (G = 0.95)": lambda window: periods.two_mode(window, 0.95),
}


def _periods(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    rows = {
        name: [{"at_83000": float(curve(83_000.0)), "at_1000": float(curve(1000.0))}]
        for name, curve in CURVES.items()
    }
    frames = {
        name: pl.DataFrame({"window": WINDOWS, "period": curve(WINDOWS)})
        for name, curve in CURVES.items()
    }
    return rows, frames


def _draw_1(_numbers: Numbers, traces: Traces) -> Figure:
    figure, (panel,) = plots.panels(1, height=3.4)
    for index, (name, frame) in enumerate(traces.items()):
        panel.plot(frame["window"], frame["period"], label=name, **plots.style(index))
    panel.set(xscale="log", yscale="log", xlabel="largest window without loss (packets)")
    panel.set_ylabel("round trips between induced losses")
    plots.legend(panel, 3)
    return figure


def _at(name: str, expected: float, within: float, why: str) -> Any:
    return near(
        f"{name}: period at 83000 packets", mean(name, "at_83000"), expected, within=within,
        why=why, unit="RTTs",
    )  # fmt: skip


FIGURE_1 = Artefact(
    name="figure-1",
    title="Figure 1: induced congestion period",
    about="Equations 1 to 4, and HSTCP by quadrature of its own functions.",
    compute=_periods, draw=_draw_1, headline=True,
    claims=(
        _at("Reno", 41_500, 1e-9, "W/2, exact"),
        _at("Scalable", 13.4, 0.005, "three digits"),
        _at("HSTCP", 120, 0.03, "'about'; RFC 3649 gives 117 to 119"),
        _at("Africa, approximated (G = 0.90)", 8303, 0.001, "its formula"),
        _at("Africa, approximated (G = 0.95)", 4158, 0.001, "its formula"),
        ordered(
            "order at 83000: Reno, Africa, HSTCP, Scalable",
            [
                ("Reno", mean("Reno", "at_83000")),
                ("Africa", mean("Africa, approximated (G = 0.95)", "at_83000")),
                ("HSTCP", mean("HSTCP", "at_83000")),
                ("Scalable", mean("Scalable", "at_83000")),
            ],
            unit="RTTs",
        ),
    ),
)  # fmt: skip


def _pair(effort: Effort, fast: str, access: str) -> Case:
    fast_flow = {"controller": fast, "rtt": "164 ms", "access": "1 Gbit/s", "name": fast}
    reno = {"controller": "reno", "rtt": "164 ms", "access": access, "name": "reno"}
    made = scenario([fast_flow, reno], delay_ms=80, duration_s=effort.pick(480, 240))
    return Case(made, effort.runs)


def _measure_pair(_name: str, run: Run) -> Row:
    first, second = run.summary["flows"][:2]
    later = run.queues.filter((pl.col("time_s") > LEFT_OUT_S) & (pl.col("link") == 0))
    losses = run.events.filter(
        (pl.col("time_s") > LEFT_OUT_S) & pl.col("kind").is_in(["loss", "timeout"])
    )
    waiting = run.windows.filter((pl.col("flow") == 0) & (pl.col("time_s") > LEFT_OUT_S))
    row: dict[str, Any] = {
        "ratio": first["goodput_mbps"] / second["goodput_mbps"],
        "fast_mbps": first["goodput_mbps"],
        "reno_mbps": second["goodput_mbps"],
        "losses": float(later["drops"].sum()),
        "loss_events": float(losses.height),
        "utilisation": run.summary["links"][0]["utilisation"],
        "reno_dropped": float(second["dropped_packets"]),
    }
    if "fast_mode" in waiting.columns:
        modes = waiting["fast_mode"].drop_nulls().to_numpy()
        row["slow_share"] = float(np.mean(modes < 0.5)) if modes.size else float("nan")
    return row


def _trace(_name: str, run: Run) -> pl.DataFrame:
    return pictures.windows(run, 0.5).filter(~pl.col("name").str.starts_with("noise"))


def _draw_pair(_numbers: Numbers, traces: Traces) -> Figure:
    panels = {case: (case,) for case in traces}
    return pictures.over_time(traces, panels, "window", "window (packets)", height=2.2)


def _both(access: str) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        return {
            "HSTCP": _pair(effort, "hstcp", access),
            "Africa": _pair(effort, "africa", access),
        }

    return cases


PRINTED = "one run of the paper; a factor of two either way, in a ratio that losses decide"


def _ratio_claim(case: str, expected: float) -> Any:
    return between(
        f"{case} to Reno about {expected:g}:1", mean(case, "ratio"), expected / 2, 2 * expected,
        why=PRINTED, paper=f"{expected:g}:1",
    )  # fmt: skip


def _losses_claim(case: str, expected: float, paper: str) -> Any:
    return between(
        f"{case}: losses at the bottleneck", mean(case, "losses"), expected / 3, 3 * expected,
        why="one run; a factor of three, as when slow start ended is open", paper=paper,
        unit="packets",
    )  # fmt: skip


LESS = ordered(
    "Africa leaves Reno more, and loses far less, than HSTCP",
    [("HSTCP's ratio", mean("HSTCP", "ratio")), ("Africa's", mean("Africa", "ratio"))],
    paper="25:1 against 6:1",
)
FEWER = ordered(
    "Africa loses a tenth of HSTCP's packets at most",
    [("HSTCP", mean("HSTCP", "losses")), ("Africa", mean("Africa", "losses"))],
    margin=9.0, unit="packets", paper="2700 against 47", why="the order of the means, ten times",
)  # fmt: skip

FIGURE_2 = Artefact(
    name="figure-2",
    title="Figure 2: experiment setup",
    about="Drawn from the scenarios as they are run; the numbers are of figure 4's.",
    cases=lambda effort: {"Africa": _pair(effort, "africa", "100 Mbit/s")},
    measure=lambda _name, run: {
        "rtt_ms": float(
            run.windows.filter(pl.col("flow") == 0)["rtt_ms"].drop_nulls().to_numpy().min()
        ),
        "noise": sum(
            flow["goodput_mbps"] for flow in run.summary["flows"] if flow["name"] == "noise"
        ) / RATE_MBPS,
    },
    draw=lambda _numbers, _traces: pictures.graph(
        {"A": (0, 1), "C": (0, 0), "S": (0.35, 0.5), "R": (0.65, 0.5), "B": (1, 1), "D": (1, 0)},
        [
            ("A", "S", "1 Gbit/s, 1 ms"), ("C", "S", "100 Mbit/s or 1 Gbit/s, 1 ms"),
            ("S", "R", "622 Mbit/s, 80 ms"), ("R", "B", ""), ("R", "D", ""),
        ],
    ),
    claims=(
        near("the round trip", mean("Africa", "rtt_ms"), 164, within=0.005, unit="ms",
             why="2 (1 + 80 + 1) ms and a transmission", paper="80 ms and 1 ms each way"),
        near("Poisson datagrams", mean("Africa", "noise"), 0.03, within=0.1, paper="roughly 3 %",
             why="'roughly'"),
    ),
)  # fmt: skip
FIGURE_3 = Artefact(
    name="figure-3",
    title="Figure 3: safety, HSTCP beside a Reno flow with 100 Mbit/s access",
    about="622 Mbit/s, 164 ms; HSTCP and Reno for 8 minutes.",
    cases=_both("100 Mbit/s"), measure=_measure_pair,
    trace=lambda name, run: _trace(name, run) if name == "HSTCP" else None, draw=_draw_pair,
    claims=(_ratio_claim("HSTCP", 25), _losses_claim("HSTCP", 2700, "over 2700"), LESS),
)  # fmt: skip
FIGURE_4 = Artefact(
    name="figure-4",
    title="Figure 4: safety, Africa beside a Reno flow with 100 Mbit/s access",
    about="622 Mbit/s, 164 ms; Africa and Reno for 8 minutes.",
    cases=_both("100 Mbit/s"), measure=_measure_pair, headline=True,
    trace=lambda name, run: _trace(name, run) if name == "Africa" else None, draw=_draw_pair,
    claims=(
        _ratio_claim("Africa", 6), _losses_claim("Africa", 47, "47"), FEWER,
        ordered(
            "Africa's total utilisation is slightly higher",
            [("Africa", mean("Africa", "utilisation")), ("HSTCP", mean("HSTCP", "utilisation"))],
            paper="slightly higher",
        ),
    ),
)  # fmt: skip
FIGURE_5 = Artefact(
    name="figure-5",
    title="Figure 5: fairness, Africa beside Reno, all access links 1 Gbit/s",
    about="622 Mbit/s, 164 ms; Africa and Reno for 8 minutes.",
    cases=_both("1 Gbit/s"), measure=_measure_pair,
    trace=lambda name, run: _trace(name, run) if name == "Africa" else None, draw=_draw_pair,
    claims=(_ratio_claim("Africa", 4), _losses_claim("Africa", 32, "32"), FEWER),
)  # fmt: skip
FIGURE_6 = Artefact(
    name="figure-6",
    title="Figure 6: fairness, HSTCP beside Reno, all access links 1 Gbit/s",
    about="622 Mbit/s, 164 ms; HSTCP and Reno for 8 minutes.",
    cases=_both("1 Gbit/s"), measure=_measure_pair,
    trace=lambda name, run: _trace(name, run) if name == "HSTCP" else None, draw=_draw_pair,
    claims=(_ratio_claim("HSTCP", 17), _losses_claim("HSTCP", 2000, "slightly over 2000"), LESS),
)  # fmt: skip


def _cases_7(effort: Effort) -> Mapping[str, Case]:
    one = {"controller": "africa", "rtt": "84 ms", "access": "1 Gbit/s", "name": "africa"}
    other = {
        "source": "cbr", "rate": "300 Mbit/s", "rtt": "84 ms", "start": "160 s", "stop": "320 s",
        "name": "noise cbr",
    }  # fmt: skip
    made = scenario(
        [one, other], delay_ms=40, duration_s=480, sample_s=0.2,
    )  # fmt: skip
    return {"Africa": Case(made, effort.runs)}


def _measure_7(_name: str, run: Run) -> Row:
    own = run.windows.filter(pl.col("flow") == 0)
    time = own["time_s"].to_numpy()
    rate = own["delivered_bytes"].to_numpy() * 8 / 0.2 / 1e6

    def average(start: float, end: float) -> float:
        return float(rate[(time > start) & (time <= end)].mean())

    available = RATE_MBPS * 0.97
    low = (time > 160) & (rate < 1.1 * (available - 300))
    high = (time > 322) & (rate > 0.9 * available)
    return {
        "before": average(100, 160),
        "during": average(200, 320),
        "after": average(400, 480),
        "down_s": float(time[np.argmax(low)] - 160) if low.any() else float("inf"),
        "up_s": float(time[np.argmax(high)] - 320) if high.any() else float("inf"),
    }


FIGURE_7 = Artefact(
    name="figure-7",
    title="Figure 7: adapting to 300 Mbit/s of datagrams from 160 s to 320 s",
    about="One Africa flow on 622 Mbit/s, RTT 84 ms.",
    cases=_cases_7, measure=_measure_7, trace=_trace,
    draw=lambda _n, traces: pictures.over_time(
        traces, {"Africa": ("Africa",)}, "window", "window (packets)", height=3.0
    ),
    claims=(
        between("quick reduction", mean("Africa", "down_s"), 0, 10, unit="s", paper="quickly",
                why="time until its rate fits beside the datagrams, 120 round trips at most"),
        between("fast recovery after 320 s", mean("Africa", "up_s"), 0, 20, unit="s",
                paper="quickly utilizes",
                why="time to 90 % of the link; Reno would need some 3000 round trips, 250 s"),
        near("it uses what the datagrams leave", mean("Africa", "during"),
             0.97 * RATE_MBPS - 300, within=0.05, unit="Mbit/s", why="near capacity, in slow mode",
             paper="the remaining capacity"),
    ),
)  # fmt: skip

RATIOS = (1, 2, 3, 6)


def _cases_table(control: str) -> Callable[[Effort], Mapping[str, Case]]:
    def cases(effort: Effort) -> Mapping[str, Case]:
        found = {}
        for times in RATIOS:
            flows = [
                {"controller": control, "rtt": f"{30 * one} ms", "access": "1 Gbit/s"}
                for one in (1, times)
            ]
            made = scenario(flows, delay_ms=5, duration_s=effort.pick(480, 240))
            found[f"RTT ratio {times}"] = Case(made, effort.runs)
        return found

    return cases


def _table(
    number: str, control: str, label: str, values: Sequence[float], losses: Sequence[int]
) -> Artefact:
    def draw(numbers: Numbers, _traces: Traces) -> Figure:
        rows = []
        for times, value, lost in zip(RATIOS, values, losses, strict=True):
            case = f"RTT ratio {times}"
            rows.append(
                [times, f"{value:.4g}", str(numbers.of(case, "ratio")), lost,
                 str(numbers.of(case, "losses"))]
            )  # fmt: skip
        heads = ["RTT ratio", "ratio (paper)", "ratio (ours)", "losses (paper)", "losses (ours)"]
        return pictures.grid(heads, rows)

    claims = [
        near(
            f"RTT ratio {times}: throughput ratio", mean(f"RTT ratio {times}", "ratio"), value,
            within=0.1 if times == 1 else 0.5,
            why="equal flows" if times == 1 else "one run of the paper, whose buffer is open",
        )
        for times, value in zip(RATIOS, values, strict=True)
    ]  # fmt: skip
    claims += [
        between(
            f"RTT ratio {times}: packets lost", mean(f"RTT ratio {times}", "losses"), lost / 4,
            4 * lost, why="one run, slow start or not is open; a factor of four",
            paper=str(lost),
        )
        for times, lost in zip(RATIOS, losses, strict=True)
    ]  # fmt: skip
    return Artefact(
        name=f"table-{number}",
        title=f"Table {number.upper()}: RTT bias of {label}",
        about="Two flows on 622 Mbit/s for 8 minutes, RTT 30 ms and a multiple of it.",
        cases=_cases_table(control), measure=_measure_pair, draw=draw,
        claims=tuple(claims), headline=number == "i",
    )  # fmt: skip


TABLE_1 = _table("i", "africa", "Africa", (1.0132, 2.3552, 3.6106, 8.4616), (440, 581, 529, 336))
TABLE_2 = _table("ii", "hstcp", "HSTCP", (0.9752, 31.74, 93.72, 284.5), (5050, 3881, 19603, 7614))
ARTEFACTS = (
    FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, TABLE_1, TABLE_2,
)  # fmt: skip
