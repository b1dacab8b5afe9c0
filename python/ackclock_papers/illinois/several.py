"""Figures 9, 11, 12 and 13: goodput, shares and synchronisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.draw import plots
from ackclock.engine import Run
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Artefact, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.illinois import one_flow
from ackclock_papers.illinois.setting import OVERHEAD, flow, scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTROLS = {
    "Reno": "reno",
    "HS-TCP": "hstcp",
    "Illinois": "illinois",
    "BIC": "bic-linux",
    "C-TCP": "compound-linux",
}
ALONE = {
    "Reno": "Reno",
    "HS-TCP": "HS-TCP on SACK",
    "Illinois 0.5": "Illinois, β = 0.5",
    "Illinois 0.125": "Illinois, β = 0.125",
    "BIC": "BIC",
    "C-TCP": "C-TCP",
}
RTTS_MS = (60, 80, 100, 120)


def _together(effort: Effort, flows: Sequence[Mapping[str, Any]], overhead: str = OVERHEAD) -> Case:
    settings = {"overhead": overhead, "start": {"uniform": ["0 s", "10 s"]}}
    # The link has the delay of the shortest round trip; access links make up the others.
    shortest_ms = min(int(str(one.get("rtt", "100 ms")).removesuffix(" ms")) for one in flows)
    made = scenario(
        [{"rtt": "100 ms", **one, **settings} for one in flows], rtt_ms=shortest_ms,
        duration_s=effort.pick(600, 300), warmup_s=100, sample_s=0.1,
    )  # fmt: skip
    return Case(made, runs=effort.runs)


def _measure(_case: str, run: Run) -> Row:
    """Sum goodputs, and measure who loses together."""
    flows = run.summary["flows"]
    losses = run.events.filter(
        pl.col("kind").is_in(["loss", "timeout"])
        & (pl.col("time_s") > run.summary["measured_from_s"])
    )
    longest_s = max(one["rtt_ms"] for one in flows) / 1000
    events = metrics.congestion_events(
        losses["time_s"].to_numpy(), losses["flow"].to_numpy(), 2 * longest_s
    )
    losing = [len(who) for _, who in events]
    row: dict[str, Any] = {
        "goodput_mbps": sum(one["goodput_mbps"] for one in flows),
        "timeouts": sum(one["timeouts"] for one in flows),
        "events": len(events),
        "losing_flows": float(np.mean(losing)) if losing else float("nan"),
        "all_lose": float(metrics.synchronisation(losing, len(flows))),
    }
    for index, one in enumerate(flows):
        row[f"goodput_{index}"] = one["goodput_mbps"]
        row[f"window_{index}"] = one["mean_window"]
    if len({one["rtt_ms"] for one in flows}) > 1:
        rtts = [one["rtt_ms"] for one in flows]
        windows = [one["mean_window"] for one in flows]
        row["mu"] = metrics.rtt_unfairness_exponent(windows, rtts)
    else:
        row["reno_share"] = sum(one["goodput_mbps"] for one in flows[:2]) / row["goodput_mbps"]
    return row


def _trace(_case: str, run: Run) -> pl.DataFrame:
    return pictures.windows(run, 0.2, 150, 250)


def _cases_9(effort: Effort) -> Mapping[str, Case]:
    one = one_flow.cases(effort)
    found = {f"1 flow: {name}": one[case] for name, case in ALONE.items()}
    for name, control in CONTROLS.items():
        found[f"4 flows: {name}"] = _together(effort, [flow(control) | {"count": 4}])
    return found


def _measure_9(case: str, run: Run) -> Row:
    if case.startswith("1"):
        return {"goodput_mbps": run.summary["flows"][0]["goodput_mbps"]}
    return _measure(case, run)


def _draw_9(numbers: Numbers, _traces: Traces) -> Figure:
    figure, panels = plots.panels(2, height=2.2)
    for panel, kind in zip(panels, ("1 flow", "4 flows"), strict=True):
        shown = [case for case in numbers.rows if case.startswith(kind)]
        found = [numbers.of(case, "goodput_mbps") for case in shown]
        errors = [0.0 if np.isnan(one.high) else one.high - one.value for one in found]
        words = [case.split(": ")[1] for case in shown]
        plots.bars(panel, words, [one.value for one in found], errors, f"{kind}: goodput (Mbit/s)")
        panel.set_ylim(0, 110)
    return figure


def _highest(kind: str, ours: str, others: Sequence[str], reason: str = "") -> Any:
    def judge(numbers: Numbers) -> tuple[str, bool]:
        mine = numbers.of(f"{kind}: {ours}", "goodput_mbps")
        best = max(others, key=lambda name: numbers.of(f"{kind}: {name}", "goodput_mbps").value)
        theirs = numbers.of(f"{kind}: {best}", "goodput_mbps")
        return f"{mine} Mbit/s; {best} {theirs}", mine.value > theirs.value

    return holds(
        f"{kind}: {ours} has a higher goodput than {', '.join(others)}",
        "the highest", judge, why="the order of the means", reason=reason,
    )  # fmt: skip


FIGURE_9 = Artefact(
    name="figure-9",
    title="Figure 9: goodput of one flow and of four",
    about=(
        "Left: the runs of figure 8. Right: four flows of one algorithm, 100 Mbit/s, RTT 100 ms, "
        f"buffer 100 packets, overhead {OVERHEAD}, random starts; sum of the goodputs."
    ),
    cases=_cases_9,
    measure=_measure_9,
    draw=_draw_9,
    headline=True,
    claims=(
        _highest("1 flow", "Illinois 0.125", ("Reno", "HS-TCP", "BIC", "C-TCP")),
        _highest(
            "1 flow", "Illinois 0.5", ("Reno", "HS-TCP", "BIC", "C-TCP"),
            "With beta 1/2 the window falls to half of the link, and packet trains double the time "
            "until it is full again (see figure 8).",
        ),
        _highest("4 flows", "Illinois", ("Reno", "HS-TCP", "BIC", "C-TCP")),
    ),
)  # fmt: skip

RIVALS = {**CONTROLS, "Vegas": "vegas"}


def _cases_11(effort: Effort) -> Mapping[str, Case]:
    found = {}
    for name, control in RIVALS.items():
        if name != "Reno":
            found[f"2 Reno + 2 {name}"] = _together(
                effort, [flow("reno") | {"count": 2}, flow(control) | {"count": 2}]
            )
    return found | _mixed(effort, tuple(CONTROLS))


def _mixed(effort: Effort, names: Sequence[str]) -> dict[str, Case]:
    return {
        f"60 to 120 ms: {name}": _together(
            effort, [{**flow(CONTROLS[name]), "rtt": f"{rtt} ms"} for rtt in RTTS_MS]
        )
        for name in names
    }


def _draw_11(numbers: Numbers, _traces: Traces) -> Figure:
    figure, (left, right) = plots.panels(2, height=2.4)
    mixed = [case for case in numbers.rows if case.startswith("2 Reno")]
    for shift, (label, first) in enumerate((("Reno", 0), ("the other", 2))):
        heights = [
            float(np.mean([numbers.of(case, f"goodput_{first + k}").value for k in (0, 1)]))
            for case in mixed
        ]
        left.bar(
            np.arange(len(mixed)) + 0.4 * shift, heights, 0.38, label=label,
            color=plots.COLOURS[shift],
        )  # fmt: skip
    left.set_xticks(np.arange(len(mixed)) + 0.2, [case.split("2 ")[-1] for case in mixed])
    left.set_ylabel("mean throughput\n(Mbit/s)")
    plots.legend(left, 2)
    trips = [case for case in numbers.rows if case.startswith("60")]
    for index, rtt in enumerate(RTTS_MS):
        heights = [numbers.of(case, f"window_{index}").value for case in trips]
        right.bar(
            np.arange(len(trips)) + 0.2 * index, heights, 0.18, label=f"{rtt} ms",
            color=plots.COLOURS[index],
        )  # fmt: skip
    right.set_xticks(np.arange(len(trips)) + 0.3, [case.split(": ")[1] for case in trips])
    right.set_ylabel("mean window\n(packets)")
    plots.legend(right, 4)
    return figure


GROWERS = (
    "A full droptail queue that is fed by ACK clocks drops what growing windows add, whoever fills "
    "the link (docs/theory.md, Illinois beside Reno): near congestion Reno adds ten times as many "
    "packets as Illinois and has most losses. Tried: a random delay of 2 ms before each send "
    "brings the ratio of windows from 8 to 1.3, 5 % Poisson traffic to 1.4; with twice the "
    "buffer, or an overhead of 0.8 ms, Illinois leaves Reno more than HS-TCP does. It depends on "
    "the agents, too: with ns-2's TCP-Linux for both, Reno keeps 0.147 beside Illinois and 0.104 "
    "beside HS-TCP, so there the claim holds (linux-2.6: 0.167 and 0.105); beside ns-2's own "
    "HS-TCP on SACK it keeps 0.120. The paper gives Illinois NewReno."
)

FIGURE_11 = Artefact(
    name="figure-11",
    title="Figure 11: beside Reno, and with different round trips",
    about=(
        "Left: two Reno flows and two of another algorithm, 100 Mbit/s, 100 ms, 100 packets. "
        "Right: four flows of one algorithm with RTTs of 60, 80, 100 and 120 ms; mu is fitted to "
        "window ~ RTT^-mu."
    ),
    cases=_cases_11,
    measure=_measure,
    draw=_draw_11,
    headline=True,
    claims=(
        *(
            ordered(
                f"Illinois leaves Reno more than {other} does",
                [
                    ("Reno beside Illinois", mean("2 Reno + 2 Illinois", "reno_share")),
                    (f"beside {other}", mean(f"2 Reno + 2 {other}", "reno_share")),
                ],
                unit="of the goodput",
                paper="more",
                reason=GROWERS,
            )
            for other in ("HS-TCP", "BIC", "C-TCP")
        ),
        between(
            "Vegas gets very little beside Reno",
            mean("2 Reno + 2 Vegas", "reno_share"), 0.75, 1,
            why="Reno's share of the goodput; a fair one would be 0.5", paper="very little",
        ),
        between(
            "Illinois: nearly equal windows whatever the RTT",
            mean("60 to 120 ms: Illinois", "mu"), -0.35, 0.35,
            why="mu 0 is equal windows; the matrix model has up to 0.34 under heavy congestion",
            paper="nearly equal",
        ),
        between(
            "Reno: nearly equal windows whatever the RTT",
            mean("60 to 120 ms: Reno", "mu"), -0.35, 0.35, why="as for Illinois",
            paper="nearly equal",
        ),
        *(
            ordered(
                f"{other} favours short RTTs more than Illinois does",
                [
                    (other, mean(f"60 to 120 ms: {other}", "mu")),
                    ("Illinois", mean("60 to 120 ms: Illinois", "mu")),
                ],
                unit="(mu)",
                paper="favour short RTTs",
            )
            for other in ("HS-TCP", "BIC", "C-TCP")
        ),
    ),
)  # fmt: skip


def _cases_12(effort: Effort) -> Mapping[str, Case]:
    found = {
        f"4 {name}": _together(effort, [flow(CONTROLS[name]) | {"count": 4}])
        for name in ("Illinois", "HS-TCP")
    }
    for name in ("Illinois", "HS-TCP", "BIC", "C-TCP"):
        found[f"2 Reno + 2 {name}"] = _together(
            effort, [flow("reno") | {"count": 2}, flow(CONTROLS[name]) | {"count": 2}]
        )
    return found


def _draw_windows(_numbers: Numbers, traces: Traces) -> Figure:
    panels = {case: (case,) for case in traces}
    return pictures.over_time(
        traces, panels, "window", "window\n(packets)", span=(150, 250), height=1.4
    )


FIGURE_12 = Artefact(
    name="figure-12",
    title="Figure 12: window curves, equal round trips",
    about=(
        "Four flows on 100 Mbit/s, 100 ms, 100 packets. Loss events within two round trips are one "
        "congestion event."
    ),
    cases=_cases_12,
    measure=_measure,
    trace=_trace,
    draw=_draw_windows,
    claims=(
        between(
            "Illinois backs off unsynchronised",
            mean("4 Illinois", "losing_flows"), 1, 2,
            why="flows that lose per congestion event, of four; 1 is never together",
            paper="unsynchronised",
        ),
        between(
            "HS-TCP backs off synchronised",
            mean("4 HS-TCP", "losing_flows"), 2, 4,
            why="flows that lose per congestion event, of four; 4 is always together",
            paper="synchronised frequently",
        ),
        ordered(
            "HS-TCP leaves Reno less than Illinois does",
            [
                ("Reno beside Illinois", mean("2 Reno + 2 Illinois", "reno_share")),
                ("beside HS-TCP", mean("2 Reno + 2 HS-TCP", "reno_share")),
            ],
            unit="of the goodput", paper="more unfair to TCP-Reno", reason=GROWERS,
        ),
    ),
)  # fmt: skip

FIGURE_13 = Artefact(
    name="figure-13",
    title="Figure 13: window curves, round trips of 60 to 120 ms",
    about="Four flows of one algorithm on 100 Mbit/s, 100 packets; mu as in figure 11.",
    cases=lambda effort: _mixed(effort, ("Illinois", "HS-TCP", "BIC", "C-TCP")),
    measure=_measure,
    trace=_trace,
    draw=_draw_windows,
    claims=(
        near(
            "Illinois is fair to large RTTs: equal windows",
            mean("60 to 120 ms: Illinois", "mu"), 0, within=0.35, absolute=True,
            why="the matrix model has mu up to 0.34 under heavy congestion", paper="mu near 0",
        ),
        *(
            ordered(
                f"{other} is less fair to large RTTs than Illinois",
                [
                    (other, mean(f"60 to 120 ms: {other}", "mu")),
                    ("Illinois", mean("60 to 120 ms: Illinois", "mu")),
                ],
                unit="(mu)",
                paper="not fair",
            )
            for other in ("HS-TCP", "BIC", "C-TCP")
        ),
    ),
)  # fmt: skip
