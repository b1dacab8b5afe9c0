"""Sections II and V: statements on controls, checked on small links."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock.engine import Run, build, number, quantity
from ackclock.models import laws
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.runs import Case

if TYPE_CHECKING:
    from numpy.typing import NDArray

RTT_MS, SLOW_MBPS, FAST_MBPS = 84.0, 20.0, 100.0
"""Round trip of figure 7, and rates at which a loss-based control has several epochs in a run."""
FULL = 0.95
"""Utilisation with which a link is full: the upper end of G in section II-C."""
SAMPLE_S = 0.2
LEFT_OUT_S = 20.0
"""Time of slow start and its consequences."""
INCREASES = (32, 8, 1)
TOGETHER, ALONE, NOISY, CLEAN, REVERSE = "Vegas and Reno", "Vegas", "noisy", "clean", "reverse"
BUFFERLESS = {"africa": "without a buffer", "hstcp": "HSTCP without a buffer"}
NOISE_MS = 50
"""Sigma of the noise in the measured RTTs: more than half of the round trip."""


def _drops_of(increase: int) -> str:
    return f"AIMD({increase}, 0.125)"


def _case(
    effort: Effort,
    rate_mbps: float,
    duration_s: float,
    *flows: Mapping[str, object],
    buffer_rtts: float = 0.25,
) -> Case:
    packet_bytes = effort.setting["packet_bytes"]
    filling = rate_mbps * 1e3 * RTT_MS / 8 / packet_bytes
    description = build.scenario(
        build.dumbbell(
            build.mbps(rate_mbps),
            build.milliseconds(RTT_MS / 4),
            build.packets(max(round(buffer_rtts * filling), 1)),
        ),
        *({"rtt": build.milliseconds(RTT_MS), **flow} for flow in flows),
        duration=build.seconds(duration_s),
        sample=build.seconds(SAMPLE_S),
        tcp={
            "packet": f"{packet_bytes} B",
            "overhead": effort.setting["overhead"],
            "recovery": effort.setting["recovery"],
        },
    )
    return Case(description, effort.runs)


def _cases_2(effort: Effort) -> Mapping[str, Case]:
    avoiding = {"initial_ssthresh": 2}
    return {
        TOGETHER: _case(
            effort,
            SLOW_MBPS,
            120,
            {"controller": "vegas", **avoiding},
            {"controller": "reno", **avoiding},
            buffer_rtts=1,
        ),
        ALONE: _case(effort, SLOW_MBPS, 60, {"controller": "vegas", **avoiding}, buffer_rtts=1),
        **{
            _drops_of(increase): _case(
                effort, FAST_MBPS, 120, {"controller": "aimd", "params": {"alpha": increase, "beta": 0.125}}
            )
            for increase in INCREASES
        },
    }


def _own(run: Run, flow: int, key: str) -> NDArray[np.float64]:
    return run.windows_of(flow)[key].to_numpy().astype(float)


def _losses(run: Run, flow: int) -> pl.DataFrame:
    kinds = pl.col("kind").is_in(["loss", "timeout"])
    return run.events.filter(kinds & (pl.col("flow") == flow))


def _full_at(run: Run) -> int:
    """Find the first sample in which the link is full."""
    used = run.queues_of(0)["utilisation"].to_numpy()
    return int(np.argmax(used >= FULL)) if (used >= FULL).any() else len(used) - 1


def _together(run: Run) -> Row:
    time_s, vegas, reno = _own(run, 0, "time_s"), _own(run, 0, "window"), _own(run, 1, "window")
    full = _full_at(run)
    losses = _losses(run, 1)["time_s"]
    end_s = float(losses[0]) if len(losses) else float(time_s[-1])
    last = max(int(np.searchsorted(time_s, end_s)) - 1, full)
    rates = [number(flow["goodput_mbps"]) for flow in run.summary["flows"][:2]]
    return {
        "windows": vegas[full] / reno[full],
        "Vegas when full": vegas[full],
        "Vegas at Reno's loss": vegas[last],
        "Reno when full": reno[full],
        "Reno at its loss": reno[last],
        "Reno over Vegas": rates[1] / rates[0],
    }


def _growth(run: Run, begin: int, end: int) -> float:
    """Return the growth of the first flow from one sample to another, packets per round trip."""
    window = _own(run, 0, "window")
    seconds = (end - begin) * SAMPLE_S
    return float((window[end] - window[begin]) / (seconds / (RTT_MS / 1e3)))


def _growths(run: Run) -> Row:
    full, last = _full_at(run), len(_own(run, 0, "window")) - 1
    return {"growth before": _growth(run, 0, full), "growth after": _growth(run, full, last)}


def _drops_per_event(run: Run) -> Row:
    later = pl.col("time_s") > LEFT_OUT_S
    drops = float(run.queues_of(0).filter(later)["drops"].sum())
    events = _losses(run, 0).filter(pl.col("time_s") >= LEFT_OUT_S).height
    return {"drops per event": drops / events if events else float("nan")}


TOGETHER_NUMBERS = (
    "windows",
    "Vegas when full",
    "Vegas at Reno's loss",
    "Reno when full",
    "Reno at its loss",
    "Reno over Vegas",
)


def _probe_2(case: str, _effort: Effort) -> Probe:
    if case == TOGETHER:
        return Probe(TOGETHER_NUMBERS, _together)
    if case == ALONE:
        return Probe(("growth before", "growth after"), _growths)
    return Probe(("drops per event",), _drops_per_event)


SECTION_2_D = Simulated(
    name="section-ii-d",
    caption="Vegas next to Reno, and losses per congestion event",
    about=(
        "One Vegas flow next to one of Reno, and alone, both in congestion avoidance from the start "
        f"on {SLOW_MBPS:g} Mbit/s; AIMD alone on {FAST_MBPS:g} Mbit/s; RTT {RTT_MS:g} ms."
    ),
    cases=_cases_2,
    probe=_probe_2,
    draw=every_number,
    headline=True,
)


def _cases_5(effort: Effort) -> Mapping[str, Case]:
    africa = {"controller": "africa"}
    reverse = {"controller": "reno", "direction": "reverse", "count": 2}
    return {
        NOISY: _case(effort, FAST_MBPS, 200, {**africa, "rtt_noise": f"{NOISE_MS} ms"}),
        CLEAN: _case(effort, FAST_MBPS, 120, africa),
        REVERSE: _case(effort, FAST_MBPS, 120, africa, reverse),
        # Without pacing a link without a buffer drops every second packet of a burst.
        **{
            name: _case(
                effort,
                FAST_MBPS,
                60,
                {"controller": control, "pacing": True, "overhead": "0 s"},
                buffer_rtts=0,
            )
            for control, name in BUFFERLESS.items()
        },
    }


def _epochs(run: Run) -> Row:
    """Measure growth and cuts of the first flow after slow start.

    A round trip is a window of packets delivered, as the measured ones are noisy.
    """
    time_s, window = _own(run, 0, "time_s"), _own(run, 0, "window")
    packet_bytes = quantity(run.summary["flows"][0]["settings"]["packet"], "size_bytes")
    delivered = _own(run, 0, "arrived_bytes") / packet_bytes
    cuts = _losses(run, 0).filter(pl.col("time_s") >= LEFT_OUT_S)
    at_s, before, after = (cuts[key].to_numpy() for key in ("time_s", "window_before", "window_after"))
    growths = []
    for begin in range(len(at_s) - 1):
        inside = (time_s > at_s[begin]) & (time_s <= at_s[begin + 1])
        # In the first round trip the loss is repaired, and the window stands still.
        trips = float((delivered[inside] / window[inside]).sum()) - 1
        if trips > 0:
            growths.append((before[begin + 1] - after[begin]) / trips)
    starts, ends = time_s[:-1], time_s[1:]
    cut = np.array([((at_s > start) & (at_s <= end)).any() for start, end in zip(starts, ends, strict=True)])
    fell = (np.diff(window) < 0) & ~cut & (starts > LEFT_OUT_S)
    kept = after / (before * (1 - laws.hstcp_cut(before)))
    return {
        "growth": float(np.mean(growths)) if growths else float("nan"),
        "kept": float(np.mean(kept)) if len(kept) else float("nan"),
        "falls": float(fell.sum()),
    }


def _slow_below(run: Run) -> Row:
    """Measure the share of the time below a full link in which the first flow is slow."""
    used = run.queues_of(0)["utilisation"].to_numpy()
    free = (used < FULL) & (_own(run, 0, "time_s") > LEFT_OUT_S)
    share = float(1 - _own(run, 0, "fast")[free].mean()) if free.any() else float("nan")
    return {"slow below capacity": share}


def _without_buffer(case: str, run: Run) -> Row:
    fast = _own(run, 0, "fast").mean() if case == BUFFERLESS["africa"] else 1.0
    return {"fast": float(fast), "window": number(run.summary["flows"][0]["mean_window"])}


def _probe_5(case: str, _effort: Effort) -> Probe:
    if case == NOISY:
        return Probe(("growth", "kept", "falls"), _epochs)
    if case in BUFFERLESS.values():
        return Probe(("fast", "window"), partial(_without_buffer, case))
    return Probe(("slow below capacity",), _slow_below)


SECTION_5 = Simulated(
    name="section-v", caption="robustness",
    about=(
        f"Africa alone on {FAST_MBPS:g} Mbit/s, RTT {RTT_MS:g} ms: with noise in what it measures, "
        "without a buffer, and with two Reno flows in the other direction."
    ),
    cases=_cases_5, probe=_probe_5, draw=every_number, headline=True,

)  # fmt: skip
