"""Sections 1 to 3, 5 and 6: one flow in the runs of figures 8 and 14, and flows on small links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from ackclock.draw.figure import Table
from ackclock.engine import Run, number
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.illinois import figures_8_and_10, other_functions
from ackclock_papers.illinois.figures_14_and_15 import LOSSES, LossyFlow, NoisyPair, lossy, noisy
from ackclock_papers.illinois.setting import flow, random_start, scenario, vegas

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOWN = 0.005
"""Loss probability of figure 14's curves."""
LOSSY = tuple(LossyFlow(control, p) for control in ("Reno", "Illinois") for p in LOSSES)
ILLINOIS = (figures_8_and_10.HALF, figures_8_and_10.MILD)
CURVES = (figures_8_and_10.RENO, figures_8_and_10.ON_SACK, figures_8_and_10.BIC, *ILLINOIS)
"""Flows of figure 8 that the quick reproduction runs in any case."""


def _own(run: Run, flow_id: int, key: str) -> NDArray[np.float64]:
    return run.windows_of(flow_id)[key].to_numpy().astype(float)


def on_lossy_link(run: Run) -> Row:
    """Measure a flow of figure 14, by the keys of `LOSSY_NUMBERS`."""
    later = pl.col("time_s") > run.summary["measured_from_s"]
    losses = run.events.filter(later & (pl.col("kind") == "loss"))
    cut = 1 - losses["window_after"].to_numpy() / losses["window_before"].to_numpy()
    rows = run.windows.filter(later & (pl.col("window") >= pl.col("ssthresh")))
    alpha = rows["alpha"].to_numpy().astype(float) if "alpha" in rows.columns else np.zeros(1)
    return {
        "cut": float(np.median(cut)) if len(cut) else float("nan"),
        "avoiding": float(rows["window"].to_numpy().mean()),
        "largest alpha": float((alpha > 9.99).mean()),
        "least beta": float((cut < 0.13).mean()) if len(cut) else float("nan"),
    }


LOSSY_NUMBERS = ("cut", "avoiding", "largest alpha", "least beta")
"""Median share of the window that a loss event cuts; mean window while it is not below ssthresh; share of
the time outside of slow start in which alpha is 10, 0 for Reno; share of loss events that cut an eighth."""
CURVE_NUMBERS = ("goodput_mbps", "epoch_round_trips", "used_share", "convex", "to_full_s")


def _cases_5(effort: Effort) -> Mapping[Key, Case]:
    alone = figures_8_and_10.cases(effort)
    return {
        **{case: alone[case] for case in CURVES},
        **{
            case: Case(lossy(case, effort.setting, effort.pick(1050, 350)), runs=effort.runs)
            for case in LOSSY
        },
    }


def _of_curve(run: Run) -> Row:
    row = figures_8_and_10.measure_flow(run)
    return {key: row[key] for key in CURVE_NUMBERS}


def _probe_5(case: Key, _effort: Effort) -> Probe:
    if case in LOSSY:
        return Probe(LOSSY_NUMBERS, on_lossy_link)
    return Probe(CURVE_NUMBERS, _of_curve)


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [
        [f"{case}: {key}", str(numbers.of(case, key))]
        for case, rows_of_case in numbers.rows.items()
        for key in rows_of_case[0]
    ]
    return Table(["", "measured"], rows)


ILLINOIS_AT = LossyFlow("Illinois", SHOWN)

SECTION_5 = Simulated(
    name="section-5", caption="one flow: statements of the text on the runs of figures 8 and 14",
    about="Runs of figures 8 and 14, of sections 1 to 3, 5 and 6.3.",
    cases=_cases_5, probe=_probe_5, draw=_draw, headline=True,
)  # fmt: skip


class Small(NamedTuple):
    """Flows on a small link, by their label."""

    label: str

    def __str__(self) -> str:
        return self.label


SLOW = Small("two Reno and two Illinois at 1 Mbit/s")
FAST_FIRST, FAST_SECOND = Small("FAST before Reno"), Small("FAST after Reno")
FEW, MANY = Small("4 Vegas flows"), Small("8 Vegas flows")
GAMMA, SMALL_BUFFER = 10, 50
OPTIONS = {
    Small(f"extremes of single RTTs, sigma = {sigma_ms} ms"): NoisyPair(None, True, sigma_ms)
    for sigma_ms in (0, 32)
}
DEFAULTS = {
    Small(f"extremes of means, sigma = {sigma_ms} ms"): NoisyPair(None, True, sigma_ms)
    for sigma_ms in (0, 32)
}
VEGAS = {sigma_ms: NoisyPair(2, True, sigma_ms) for sigma_ms in (8, 16, 32)}
"""Noises of figure 15 beyond 3.2 ms, the threshold of gamma = 2."""
BUFFERS = {
    (control, packets): Small(f"{control}, B = {packets}")
    for control in ("Illinois", "C-TCP")
    for packets in (10, 50)
}
FIXED = Small("Illinois with beta = 1/2, p = 0.005")
LEFT_OUT_S, SLOW_S, THRESHOLD = 100.0, 600.0, 10


def _slow(effort: Effort) -> Case:
    setting = effort.setting
    flows = [
        flow(control, setting) | random_start(setting) | {"count": 2} for control in ("Reno", "Illinois")
    ]
    description = scenario(
        flows, setting, rate_mbps=1, buffer=10, duration_s=SLOW_S, warmup_s=LEFT_OUT_S, sample_s=0.5
    )
    return Case(description, effort.runs)


def _order(effort: Effort, fast_s: float, reno_s: float) -> Case:
    flows = [
        {"controller": "fast", "recovery": "sack", "start": f"{fast_s:g} s"},
        flow("Reno", effort.setting) | {"start": f"{reno_s:g} s"},
    ]
    description = scenario(flows, effort.setting, rate_mbps=10, duration_s=400, warmup_s=LEFT_OUT_S)
    return Case(description, effort.runs, record=False)


def _vegas(effort: Effort, count: int) -> Case:
    flows = [vegas(GAMMA, effort.setting) | random_start(effort.setting) | {"count": count}]
    description = scenario(
        flows,
        effort.setting,
        rate_mbps=10,
        rtt_ms=60,
        buffer=SMALL_BUFFER,
        duration_s=300,
        warmup_s=LEFT_OUT_S,
    )
    return Case(description, effort.runs, record=False)


def _noisy(effort: Effort, case: NoisyPair, extremes: str | None = None) -> Case:
    description = noisy(case, effort.setting, effort.pick(1000, 400))
    if extremes is not None:
        for entry in description["flow"]:
            entry["params"] = entry.get("params", {}) | {"extremes": extremes}
    return Case(description, effort.runs, record=False)


def _alone(effort: Effort, control: str, packets: int) -> Case:
    description = scenario(
        [flow(control, effort.setting)],
        effort.setting,
        rate_mbps=10,
        rtt_ms=60,
        buffer=packets,
        duration_s=effort.pick(1000, 500),
    )
    return Case(description, effort.runs, record=False)


def _fixed(effort: Effort) -> Case:
    description = lossy(ILLINOIS_AT, effort.setting, effort.pick(1050, 350))
    (entry,) = description["flow"]
    description["flow"] = [{**entry, "params": {**entry["params"], "beta_min": 0.5}}]
    return Case(description, effort.runs)


def _cases_3(effort: Effort) -> Mapping[Key, Case]:
    return {
        SLOW: _slow(effort),
        FAST_FIRST: _order(effort, 0, 30),
        FAST_SECOND: _order(effort, 30, 0),
        FEW: _vegas(effort, 4),
        MANY: _vegas(effort, 8),
        **{small: _noisy(effort, noisy_pair, "sample") for small, noisy_pair in OPTIONS.items()},
        **{small: _noisy(effort, noisy_pair) for small, noisy_pair in DEFAULTS.items()},
        **{case: _noisy(effort, case) for case in VEGAS.values()},
        **{small: _alone(effort, *key) for key, small in BUFFERS.items()},
        **other_functions.cases(effort),
        FIXED: _fixed(effort),
        ILLINOIS_AT: Case(lossy(ILLINOIS_AT, effort.setting, effort.pick(1050, 350)), effort.runs),
    }


def _below_threshold(run: Run) -> Row:
    """Measure alpha and cuts of Illinois, flows 2 and 3, in windows below W_thresh."""
    wrong_alpha, wrong_cut = [0.0], [0.0]
    for flow_id in (2, 3):
        small = _own(run, flow_id, "window") < THRESHOLD
        # alpha changes once per round trip: two samples in a row are five of them.
        settled = small[1:] & small[:-1] & (_own(run, flow_id, "time_s")[1:] > LEFT_OUT_S)
        wrong_alpha.extend(np.abs(_own(run, flow_id, "alpha")[1:][settled] - 1))
        losses = run.events.filter(
            (pl.col("flow") == flow_id)
            & (pl.col("kind") == "loss")
            & (pl.col("time_s") >= LEFT_OUT_S)
            & (pl.col("window_before") < THRESHOLD)
            # A window of less than four packets is cut to two.
            & (pl.col("window_before") > 4)
        )
        share = 1 - losses["window_after"].to_numpy() / losses["window_before"].to_numpy()
        wrong_cut.extend(np.abs(share - 0.5))
    return {"alpha off by": max(wrong_alpha), "beta off by": max(wrong_cut)}


def _rates(run: Run) -> list[float]:
    return [number(sender["goodput_mbps"]) for sender in run.summary["flows"]]


def _share_of_illinois(run: Run) -> Row:
    rates = _rates(run)
    return {"Illinois over Reno": sum(rates[2:]) / sum(rates[:2]), **_below_threshold(run)}


def _share_of_fast(run: Run) -> Row:
    rates = _rates(run)
    return {"share of FAST": rates[0] / sum(rates)}


def _dropped(run: Run) -> Row:
    return {"dropped": float(sum(sender["dropped_packets"] for sender in run.summary["flows"]))}


FAST = Probe(("share of FAST",), _share_of_fast)
DROPPED = Probe(("dropped",), _dropped)
PROBES: Mapping[Key, Probe] = {
    SLOW: Probe(("Illinois over Reno", "alpha off by", "beta off by"), _share_of_illinois),
    FAST_FIRST: FAST,
    FAST_SECOND: FAST,
    FEW: DROPPED,
    MANY: DROPPED,
}
"""Measurements in addition to the goodput of all flows."""


def _probe_3(case: Key, _effort: Effort) -> Probe:
    if case in other_functions.MEMBERS:
        return figures_8_and_10.PROBE
    more = PROBES.get(case)
    if more is None:
        return Probe(("goodput_mbps",), lambda run: {"goodput_mbps": sum(_rates(run))})
    return Probe(
        ("goodput_mbps", *more.keys), lambda run: {"goodput_mbps": sum(_rates(run)), **more.measure(run)}
    )


SECTION_3 = Simulated(
    name="section-3", caption="statements of the text, on small links",
    about=(
        "Low speed, FAST and Vegas, options of Illinois and small buffers, sections 2, 3, 5 and "
        "6.4; links of 1 to 40 Mbit/s. Other members of C-AIMD, on figure 8's link."
    ),
    cases=_cases_3, probe=_probe_3, draw=_draw, headline=True,
)  # fmt: skip
