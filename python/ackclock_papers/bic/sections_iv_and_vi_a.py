"""Sections III, IV, VI and VII: losses per event, synchronised losses, and the background alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run, build, number
from ackclock.metrics import Estimate, over_runs
from ackclock.models import unfairness as predicted
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.figures_2_and_3 import DROPTAIL, FIGURE_2
from ackclock_papers.bic.setting import GIGABIT_MBPS, as_read, background_mbps, case
from ackclock_papers.bic.tables_1_to_3 import QUICK_GIGABIT_S, QUICK_MEGABIT_S, TABLE_1, RttPair, case_table

RATE_MBPS, RTT_MS, LEFT_OUT_S, LENGTH_S = 100.0, 100.0, 20.0, 120.0
"""Link and times of a flow alone, whose windows are about 1000 packets."""
SLOW_MBPS = 0.8
"""Rate at which the largest window, 10 packets on the path and 2 in the buffer, is below 14."""
SLOW_BUFFER, LOW_WINDOW = 2, 14


class LoneControl(NamedTuple):
    """A control alone on its link; `increase` is that of AIMD."""

    controller: str
    increase: int = 0
    slow: bool = False

    def __str__(self) -> str:
        name = f"AIMD({self.increase}, 0.125)" if self.increase else self.controller
        return f"{name}, small windows" if self.slow else name

    def flow(self) -> build.Table:
        """Return the entry of ``[[flow]]``."""
        entry: build.Table = {"controller": self.controller}
        if self.increase:
            entry["params"] = {"alpha": self.increase, "beta": 0.125}
        return entry


AIMD = tuple(LoneControl("aimd", increase) for increase in (32, 8, 1))
BIC, HSTCP = LoneControl("bic"), LoneControl("hstcp")
SLOW = tuple(LoneControl(controller, slow=True) for controller in ("bic", "reno"))


def _alone(effort: Effort, control: LoneControl) -> Case:
    setting = effort.setting
    rate_mbps = SLOW_MBPS if control.slow else RATE_MBPS
    product = round(rate_mbps * 1e3 * RTT_MS / 8 / setting["packet_bytes"])
    scenario = build.scenario(
        build.dumbbell(
            build.mbps(rate_mbps), "10 ms", build.packets(SLOW_BUFFER if control.slow else product // 4)
        ),
        {"rtt": build.milliseconds(RTT_MS), **as_read(setting, control.flow())},
        duration=build.seconds(LENGTH_S),
        warmup=build.seconds(LEFT_OUT_S),
        sample="0.5 s",
        tcp={"packet": f"{setting['packet_bytes']} B", "recovery": "sack", "overhead": "8 us"},
    )
    return Case(scenario, effort.runs)


def _measure_alone(run: Run) -> Row:
    later = pl.col("time_s") > LEFT_OUT_S
    losses = run.events.filter(later & (pl.col("kind") == "loss"))
    drops = float(run.queues_of(0).filter(later)["drops"].sum())
    kept = losses["window_after"].to_numpy() / losses["window_before"].to_numpy()
    return {
        "drops": drops / losses.height if losses.height else float("nan"),
        "kept": float(np.mean(kept)) if len(kept) else float("nan"),
        "window": number(run.summary["flows"][0]["mean_window"]),
    }


SECTION_VI_A = Simulated(
    name="section-vi-a",
    caption="losses per event, and small windows",
    about=(
        f"One flow on {RATE_MBPS:g} Mbit/s, RTT {RTT_MS:g} ms, a buffer of a quarter of the "
        f"bandwidth-delay product; and on {SLOW_MBPS:g} Mbit/s."
    ),
    cases=lambda effort: {control: _alone(effort, control) for control in (*AIMD, BIC, HSTCP, *SLOW)},
    probe=Probe(("drops", "kept", "window"), _measure_alone),
    draw=every_number,
    headline=True,
)

BACKGROUND = "background alone"
FEW = 500
"""Window, packets, below which the text says that losses are hardly synchronised."""
EQUAL_RTT = ("AIMD", "BI-TCP", "HSTCP", "STCP")
PREDICTED: dict[str, float] = {"AIMD": 0.5, "HSTCP": 0.82}
"""Exponents d of section V, by which the ratio is RTT2/RTT1 to the power of 1/(1 - d)."""


class EqualPair(NamedTuple):
    """Two flows of equal RTT, of table 2 or 3."""

    control: str
    rate_mbps: float

    def __str__(self) -> str:
        return f"{self.control}, {self.rate_mbps:g} Mbit/s"


EQUAL_PAIRS = tuple(EqualPair(name, rate) for name in EQUAL_RTT for rate in (GIGABIT_MBPS, RATE_MBPS))
UNEQUAL = tuple(RttPair(name, multiple) for name in PREDICTED for multiple in (3, 6))


def _cases_4(effort: Effort) -> Mapping[Key, Case]:
    quick_s = {GIGABIT_MBPS: QUICK_GIGABIT_S, RATE_MBPS: QUICK_MEGABIT_S}
    table_1 = TABLE_1.cases(effort)
    return {
        **{pair: table_1[pair] for pair in UNEQUAL},
        **{
            pair: case_table(effort, RttPair(pair.control, 1), pair.rate_mbps, quick_s[pair.rate_mbps])
            for pair in EQUAL_PAIRS
        },
        DROPTAIL: FIGURE_2.cases(effort)[DROPTAIL],
        BACKGROUND: case(effort, [], GIGABIT_MBPS, duration_s=200, quick_s=60),
    }


def together(run: Run, merge_s: float, long_window: tuple[float, float] = (0, np.inf)) -> float:
    """Return the share of the congestion events of a run's first two flows in which both lose.

    Loss events within `merge_s` are one congestion event. Only events count before which the second flow
    has a window, packets, in the half-open range `long_window`; NaN without such an event.
    """
    start_s = run.summary["measured_from_s"]
    kinds = pl.col("kind").is_in(["loss", "timeout"])
    own = run.events.filter(kinds & (pl.col("flow") < 2) & (pl.col("time_s") >= start_s))
    events = metrics.congestion_events(own["time_s"].to_numpy(), own["flow"].to_numpy(), merge_s)
    second = run.windows_of(1)
    time_s, window = (second[key].to_numpy() for key in ("time_s", "window"))
    chosen = []
    for at_s, losing in events:
        before = window[max(int(np.searchsorted(time_s, at_s)) - 1, 0)]
        if long_window[0] <= before < long_window[1]:
            chosen.append(len(losing) == 2)
    return float(np.mean(chosen)) if chosen else float("nan")


def _of_table_1(pair: RttPair, run: Run) -> Row:
    merge_s = 4e-3 * 40 * pair.ratio
    return {
        "ratio": TABLE_1.measure(pair, run)["ratio"],
        "small": together(run, merge_s, (0, FEW)),
        "large": together(run, merge_s, (FEW, np.inf)),
    }


def _forward_share(run: Run) -> Row:
    mbps = background_mbps(run)
    forward = sum(load for group, load in mbps.items() if group.direction == "forward")
    return {"forward": forward / GIGABIT_MBPS}


def _probe_4(key: Key, _effort: Effort) -> Probe:
    if isinstance(key, EqualPair):
        # Twice the RTT of 40 ms with a queue of as much.
        return Probe(("together",), lambda run: {"together": together(run, 0.16)})
    if isinstance(key, RttPair):
        return Probe(("ratio", "small", "large"), partial(_of_table_1, key))
    return Probe(("forward",), _forward_share)


def by_analysis(numbers: Numbers, control: str, ratio: int) -> Estimate:  # noqa: ARG001
    """Return the ratio of throughputs that the analysis predicts for an RTT ratio."""
    return over_runs([float(predicted.of_exponent(ratio, PREDICTED[control]))])


def where_any(numbers: Numbers, key: str) -> Estimate:
    """Return the mean of a number over the runs of all cases that have it."""
    values = [value for case in numbers.rows for value in numbers.each(case, key) if not np.isnan(value)]
    return over_runs(values or [float("nan")], least=0.0)


SECTION_IV = Simulated(
    name="section-iv",
    caption="synchronised losses in tables 1 to 3, and the background alone",
    about=(
        "Loss events of the two flows in the runs of tables 1 to 3, ratios of table 1 next to those "
        "that synchronised losses would give, and figure 2's background without high-speed flows."
    ),
    cases=_cases_4,
    probe=_probe_4,
    draw=every_number,
)
