"""Section IV: statements that are not in figures 3 to 7, and section II's on the same controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock.engine import Run, build, number
from ackclock.metrics import Estimate
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.africa.figure_7 import COME_S, FIGURE_7
from ackclock_papers.africa.figures_2_to_6 import (
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FIGURE_6,
    LEFT_OUT_S,
    measure_pair,
)
from ackclock_papers.africa.section_iii_b import BEFORE_LOSSES, BELOW, before_losses, own
from ackclock_papers.africa.setting import ACCESS, AFRICA, HSTCP, RATE_MBPS, TcpVariant, scenario
from ackclock_papers.africa.tables_i_and_ii import TABLE_2, UNEQUAL, RttRatio, table_case

QUEUED = 10
"""Packets in the queue from which the one in transmission hardly counts."""


class AlphaVariant(NamedTuple):
    """Figure 5 with another alpha."""

    value: float

    def __str__(self) -> str:
        return f"alpha {self.value:g}"


class Shift(NamedTuple):
    """Figure 5 with or without an overhead, the RTT of Africa longer by some milliseconds."""

    overhead: bool
    longer_ms: float

    def __str__(self) -> str:
        return f"{'with' if self.overhead else 'without'} overhead, {self.longer_ms:g} ms more"


ALPHAS = (AlphaVariant(0.5), AlphaVariant(5))
"""Below one and far above it, as the text says 'usually ... larger than one'."""
SHIFTS = tuple(Shift(overhead, ms) for overhead in (True, False) for ms in (0, 0.3, 0.6, 0.9))
STCP = tuple(RttRatio(multiple, TcpVariant.SCALABLE) for multiple in UNEQUAL)
FIRST_S = 60.0
"""Time in which the network 'is still stabilizing after slow start'."""
ACCESS_QUEUE, FAST_ALONE, HSTCP_ALONE = "access queue", "FAST alone", "HSTCP alone"
ALONE_S = 60.0


def _with(case: Case, change: Callable[[build.Table], None]) -> Case:
    """Return a case whose scenario is changed."""
    description = dict(case.scenario)  # type: ignore[arg-type]
    description |= {"tcp": dict(description["tcp"]), "flow": [dict(entry) for entry in description["flow"]]}
    change(description)
    return Case(description, case.runs)


def _shifted(effort: Effort, shift: Shift) -> Case:
    def change(description: build.Table) -> None:
        description["flow"][0]["rtt"] = f"{164 + shift.longer_ms:g} ms"
        description["run"] = {**description["run"], "duration": f"{effort.pick(240, 60):g} s"}
        if not shift.overhead:
            del description["tcp"]["overhead"]

    return _with(FIGURE_5.cases(effort)[AFRICA], change)


def _alone(effort: Effort, controller: str) -> Case:
    flow = {"controller": controller, "rtt": "84 ms", "access": ACCESS}
    description = scenario(effort.setting, [flow], delay_ms=40, duration_s=ALONE_S, sample_s=0.2)
    return Case(description, effort.runs)


def _access_queue(effort: Effort) -> Case:
    """Return figure 4 with a queue like the shared one before Reno's access link."""
    queue = {"kind": "droptail", "limit": build.packets(effort.setting["buffer_packets"])}
    links = [
        {"name": "shared", "from": "s", "to": "r", "rate": "622 Mbit/s", "delay": "80 ms"},
        {"name": "access", "from": "c", "to": "s", "rate": "100 Mbit/s", "delay": "1 ms"},
        {"name": "fast", "from": "a", "to": "s", "rate": ACCESS, "delay": "1 ms"},
        {"name": "far", "from": "r", "to": "b", "rate": ACCESS, "delay": "1 ms"},
    ]
    ends = (("a", "b"), ("c", "b"), ("s", "r"), ("r", "s"))

    def change(description: build.Table) -> None:
        del description["dumbbell"]
        description["link"] = [{**link, "queue": queue} for link in links]
        for entry, (start, end) in zip(description["flow"], ends, strict=True):
            for key in ("access", "direction", "rtt"):
                entry.pop(key, None)
            entry |= {"from": start, "to": end}

    return _with(FIGURE_4.cases(effort)[AFRICA], change)


def _cases_4(effort: Effort) -> Mapping[Key, Case]:
    five = FIGURE_5.cases(effort)

    def variant(alpha: AlphaVariant) -> Case:
        def change(description: build.Table) -> None:
            description["flow"][0].setdefault("params", {})["alpha"] = alpha.value

        return _with(five[AFRICA], change)

    return {
        FIGURE_5.name: five[AFRICA],
        FIGURE_6.name: FIGURE_6.cases(effort)[HSTCP],
        FIGURE_3.name: FIGURE_3.cases(effort)[HSTCP],
        FIGURE_7.name: FIGURE_7.cases(effort)[AFRICA],
        **{alpha: variant(alpha) for alpha in ALPHAS},
        **{shift: _shifted(effort, shift) for shift in SHIFTS},
        **{case: table_case(effort, TcpVariant.SCALABLE, case.times) for case in STCP},
        **{RttRatio(multiple): TABLE_2.cases(effort)[RttRatio(multiple)] for multiple in UNEQUAL},
        ACCESS_QUEUE: _access_queue(effort),
        FAST_ALONE: _alone(effort, "fast"),
        HSTCP_ALONE: _alone(effort, "hstcp"),
    }


def _queue_estimate(run: Run) -> Row:
    """Compare W (aRTT - minRTT)/aRTT with the queue, before the datagrams of figure 7 come."""
    time_s, rtt_ms = own(run, 0, "time_s"), own(run, 0, "rtt_ms")
    estimate = own(run, 0, "window") * (rtt_ms - np.nanmin(rtt_ms)) / rtt_ms
    queue = run.queues_of(0)["mean_packets"].to_numpy()
    selected = (time_s > LEFT_OUT_S) & (time_s < COME_S) & (queue >= QUEUED) & np.isfinite(estimate)
    quotient = estimate[selected].sum() / queue[selected].sum() if selected.any() else float("nan")
    return {"estimate": float(quotient)}


def _parts(run: Run) -> Row:
    """Measure the megabits that Reno, the second flow, delivers in the first minute and after it."""
    time_s = own(run, 1, "time_s")
    megabits = own(run, 1, "arrived_bytes") * 8e-6
    first = time_s <= FIRST_S
    return {"first": float(megabits[first].sum()), "rest": float(megabits[~first].sum())}


def _access_drops(run: Run) -> Row:
    links = {link["id"]: float(link["queue_drops"]) for link in run.summary["links"]}
    dropped = float(run.summary["flows"][1]["whole_run"]["dropped_packets"])
    return {"access": links["access"], "shared": dropped - links["access"]}


def _steady(run: Run) -> Row:
    """Measure a flow alone on figure 7's link."""
    time_s = own(run, 0, "time_s")
    rate_mbps = own(run, 0, "arrived_bytes") * 8e-6 / (time_s[1] - time_s[0])
    high = rate_mbps > BELOW * RATE_MBPS
    later = pl.col("time_s") > ALONE_S / 2
    shared = run.queues_of(0).filter(later)
    return {
        "utilisation": float(shared["utilisation"].mean()),  # type: ignore[arg-type]
        "drops": float(shared["drops"].sum()),
        "queue": float(shared["mean_packets"].mean()),  # type: ignore[arg-type]
        "up_s": float(time_s[np.argmax(high)]) if high.any() else float("inf"),
    }


def _with_hstcp(run: Run) -> Row:
    pair = measure_pair(run)
    dropped = float(run.queues_of(0).filter(pl.col("time_s") > LEFT_OUT_S)["drops"].sum())
    losses = {key: pair[key] for key in ("losses", "loss_events")}
    return {**_parts(run), **losses, "dropped": dropped}


def _ratio_and_losses(run: Run) -> Row:
    pair = measure_pair(run)
    return {key: pair[key] for key in ("ratio", "losses")}


def _of_figure_5(run: Run) -> Row:
    utilisation = number(run.summary["links"][0]["utilisation"])
    return {**_ratio_and_losses(run), **before_losses(run), "utilisation": utilisation}


WITH_HSTCP = Probe(("first", "rest", "losses", "loss_events", "dropped"), _with_hstcp)
STEADY = Probe(("utilisation", "drops", "queue", "up_s"), _steady)
PROBES: Mapping[Key, Probe] = {
    FIGURE_3.name: WITH_HSTCP,
    FIGURE_5.name: Probe(("ratio", "losses", *BEFORE_LOSSES, "utilisation"), _of_figure_5),
    FIGURE_6.name: WITH_HSTCP,
    FIGURE_7.name: Probe(("estimate",), _queue_estimate),
    ACCESS_QUEUE: Probe(("access", "shared"), _access_drops),
    FAST_ALONE: STEADY,
    HSTCP_ALONE: STEADY,
}
"""Measurements in the cases that are not a variant of figure 5 or of table II."""
VARIANT = Probe(("ratio", "losses"), _ratio_and_losses)


def early_gain(numbers: Numbers) -> Estimate:
    """Return the share of Reno's gain from figure 3 to figure 6 that falls into the first minute."""
    first, rest = (
        numbers.of(FIGURE_6.name, part).value - numbers.of(FIGURE_3.name, part).value
        for part in ("first", "rest")
    )
    value = first / (first + rest) if first + rest > 0 else float("nan")
    return Estimate(value, float("nan"), float("nan"), 1)


def spread(numbers: Numbers, overhead: str) -> Estimate:
    """Return the largest ratio over the least as the round trip changes, `with` or `without` the overhead."""
    ratios = [numbers.of(shift, "ratio").value for shift in SHIFTS if shift.overhead == (overhead == "with")]
    return Estimate(max(ratios) / min(ratios), float("nan"), float("nan"), 1)


SECTION_4 = Simulated(
    name="section-iv", caption="statements that are not in figures 3 to 7",
    about=(
        "Figures 5 and 6 with other settings; table II's flows with Scalable TCP; figure 4 with a "
        "queue before Reno's access link; FAST and HSTCP alone on figure 7's link for a minute."
    ),
    cases=_cases_4, probe=lambda case, _effort: PROBES.get(case, VARIANT), draw=every_number,

)  # fmt: skip
