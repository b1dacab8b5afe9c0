"""What is asked of every control: a few scenarios, and what is measured in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.comparison.path import SAMPLE_S, STEP, Setting
from ackclock.engine import Run, build

Numbers = dict[str, float]
SMOOTHNESS_RTTS = 10
"""Round trips over which a rate is averaged, for its CoV."""
RECOVERED = 0.9
"""Share of the goodput before the step at which a flow has recovered."""


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes
    ----------
    key : str
        Name of its number.
    title : str
        In a few words, with the unit.
    about : str
        What exactly is measured.
    """

    key: str
    title: str
    about: str


QUESTIONS = (
    Question("goodput", "goodput alone (Mbit/s)", "one flow"),
    Question("delay", "queueing delay alone, mean (ms)", "one flow; mean RTT less propagation"),
    Question("delay_p95", "queueing delay alone, p95 (ms)", "one flow; 95th percentile"),
    Question("loss", "packets lost alone (%)", "one flow; dropped of those sent, random ones too"),
    Question(
        "cov",
        f"CoV of the rate over {SMOOTHNESS_RTTS} RTTs, alone",
        "one flow; standard deviation over mean of what arrives",
    ),
    Question("itself", "Jain's index against itself", "two flows alike, over the whole time"),
    Question(
        "worse", "smaller share against itself (%)", "two flows alike; 50 % is an equal share"
    ),
    Question("beside_reno", "share beside Reno (%)", "of the goodput of both"),
    Question(
        "stolen_reno",
        "stolen from Reno, BSR (%)",
        "what Reno loses against another Reno beside it (TCP-FIT, eq. 22)",
    ),
    Question("beside_cubic", "share beside CUBIC (%)", "of the goodput of both"),
    Question(
        "stolen_cubic",
        "stolen from CUBIC, BSR (%)",
        "what CUBIC loses against another CUBIC beside it",
    ),
    Question(
        "rtt_ratio",
        "goodput ratio, RTT against twice the RTT",
        "two flows alike but for the RTT; 1 is fair, 4 is Reno's in theory",
    ),
    Question(
        "recovery",
        "recovery after a step (s)",
        f"half of the link is taken by datagrams from {STEP[0]:.0%} to {STEP[1]:.0%} of the run; "
        f"time after it until the goodput is {RECOVERED:.0%} of that before",
    ),
)


def scenarios(setting: Setting, control: str) -> dict[str, dict[str, Any]]:
    """Describe the scenarios for one control.

    Parameters
    ----------
    setting : Setting
        The path.
    control : str
        Its name.

    Returns
    -------
    dict
        Scenarios by name.
    """
    one = setting.flow(control, "first")
    step_s = [share * setting.run_s for share in STEP]
    half = {
        "source": "cbr",
        "rate": build.mbps(setting.rate_mbps / 2),
        "rtt": build.milliseconds(setting.rtt_ms),
        "name": "step",
        "start": build.seconds(step_s[0]),
        "stop": build.seconds(step_s[1]),
    }
    # Reno against itself is Reno beside Reno: with the same names it is the same scenario.
    return {
        "alone": setting.scenario(one),
        "against itself": setting.scenario(one, setting.flow(control, "second")),
        "beside Reno": setting.scenario(one, setting.flow("reno", "second")),
        "beside CUBIC": setting.scenario(one, setting.flow("cubic", "second")),
        "two RTTs": setting.scenario(one, setting.flow(control, "second", rtt=2.0)),
        "after a step": setting.scenario(one, half),
    }


def _goodputs(run: Run) -> list[float]:
    return [flow["goodput_mbps"] or 0.0 for flow in run.summary["flows"]]


def _alone(run: Run, setting: Setting) -> Numbers:
    flow = run.summary["flows"][0]
    windows = run.windows.filter(pl.col("flow") == 0)
    scale_s = max(1, round(SMOOTHNESS_RTTS * setting.rtt_ms / 1e3 / SAMPLE_S)) * SAMPLE_S
    _, rates = metrics.over_intervals(
        windows["time_s"].to_numpy(),
        windows["delivered_bytes"].to_numpy(),
        scale_s,
        setting.warmup_s,
        setting.run_s,
    )
    missing = float("nan")
    mean, p95 = flow["mean_rtt_ms"] or missing, flow["rtt_p95_ms"] or missing
    return {
        "goodput": flow["goodput_mbps"] or 0.0,
        "delay": mean - setting.rtt_ms,
        "delay_p95": p95 - setting.rtt_ms,
        "loss": 100 * metrics.loss_rate(flow["dropped_packets"], flow["sent_packets"]),
        "cov": float(metrics.cov(rates)),
    }


def _against_itself(run: Run, _setting: Setting) -> Numbers:
    shares = _goodputs(run)
    return {
        "itself": float(metrics.jain(shares)),
        "worse": 100 * min(shares) / sum(shares) if sum(shares) else float("nan"),
    }


def _beside(other: str) -> Callable[[Run, Setting], Numbers]:
    def measure(run: Run, _setting: Setting) -> Numbers:
        mine, others = _goodputs(run)
        total = mine + others
        return {
            f"beside_{other}": 100 * mine / total if total else float("nan"),
            # Not an answer by itself: it is compared with what is left beside the other's own kind.
            f"left_{other}": others,
        }

    return measure


def _two_rtts(run: Run, _setting: Setting) -> Numbers:
    short, long = _goodputs(run)
    return {"rtt_ratio": metrics.throughput_ratio(short, long) if long else float("nan")}


def _after_a_step(run: Run, setting: Setting) -> Numbers:
    windows = run.windows.filter(pl.col("flow") == 0)
    time_s, received = windows["time_s"].to_numpy(), windows["delivered_bytes"].to_numpy()
    taken_s, freed_s = (share * setting.run_s for share in STEP)
    before = metrics.goodput(time_s, received, setting.warmup_s, taken_s)
    # A second, or five round trips if they are longer.
    scale_s = max(1, round(max(1.0, 5 * setting.rtt_ms / 1e3) / SAMPLE_S)) * SAMPLE_S
    ends, rates = metrics.over_intervals(time_s, received, scale_s, freed_s, setting.run_s)
    back = rates * 8e-6 >= RECOVERED * before
    return {"recovery": float(ends[np.argmax(back)] - freed_s) if back.any() else float("inf")}


MEASURES: Mapping[str, Callable[[Run, Setting], Numbers]] = {
    "alone": _alone,
    "against itself": _against_itself,
    "beside Reno": _beside("reno"),
    "beside CUBIC": _beside("cubic"),
    "two RTTs": _two_rtts,
    "after a step": _after_a_step,
}
