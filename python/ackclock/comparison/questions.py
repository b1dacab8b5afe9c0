"""What is asked of every control: a few scenarios, and what is measured in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ackclock import metrics
from ackclock.comparison.path import SAMPLE_S, STEP, Setting
from ackclock.engine import FlowSummary, Run, build
from ackclock.metrics import Estimate

Numbers = dict[str, float]
Array = NDArray[Any]
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
    fine : float
        An interval that reaches no further from its middle says enough, whatever the value.
    least, most : float
        Smallest and largest possible number.
    better : int
        1 where more is better, -1 where less is, 0 where neither.
    is_ratio : bool
        Runs differ by factors.
    """

    key: str
    title: str
    about: str
    fine: float
    least: float = 0.0
    most: float = float("inf")
    better: int = 0
    is_ratio: bool = False

    def estimate(self, values: Sequence[float]) -> Estimate:
        """Estimate the answer.

        Parameters
        ----------
        values : sequence of float
            One per run.

        Returns
        -------
        Estimate
            Mean (of a ratio the geometric one) and an interval that is possible.
        """
        found = metrics.of_ratios(values) if self.is_ratio else metrics.over_runs(values)
        return metrics.within(found, self.least, self.most)

    def says(self, found: Estimate) -> bool:
        """Tell whether an interval is narrow enough to say something.

        Parameters
        ----------
        found : Estimate
            An answer.

        Returns
        -------
        bool
            It has an interval, and that reaches no further than half of the value or `fine`.
        """
        reach = max(found.high - found.value, found.value - found.low)
        return bool(reach <= max(abs(found.value) / 2, self.fine))


QUESTIONS = (
    Question("goodput", "goodput alone (Mbit/s)", "one flow", 0.1, better=1),
    Question(
        "delay", "queueing delay alone, mean (ms)", "one flow; mean RTT less propagation", 1.0, better=-1
    ),
    Question("delay_p95", "queueing delay alone, p95 (ms)", "one flow; 95th percentile", 1.0, better=-1),
    Question(
        "loss",
        "packets lost alone (%)",
        "one flow; dropped of those sent, random ones too",
        0.5,
        most=100.0,
        better=-1,
    ),
    Question(
        "cov",
        f"CoV of the rate over {SMOOTHNESS_RTTS} RTTs, alone",
        "one flow; standard deviation over mean of what arrives",
        0.1,
        better=-1,
    ),
    Question(
        "itself",
        "Jain's index against itself",
        "two flows alike, over the whole time",
        0.05,
        most=1.0,
        better=1,
    ),
    Question(
        "worse",
        "smaller share against itself (%)",
        "two flows alike; 50 % is an equal share",
        10.0,
        most=50.0,
        better=1,
    ),
    Question("beside_reno", "share next to Reno (%)", "of the goodput of both", 10.0, most=100.0),
    Question(
        "stolen_reno",
        "stolen from Reno, BSR (%)",
        "what Reno loses compared with sharing with another Reno flow (TCP-FIT, eq. 22)",
        10.0,
        least=-float("inf"),
        most=100.0,
        better=-1,
    ),
    Question(
        "beside_cubic-linux", "share next to cubic-linux (%)", "of the goodput of both", 10.0, most=100.0
    ),
    Question(
        "stolen_cubic-linux",
        "stolen from cubic-linux, BSR (%)",
        "what cubic-linux loses compared with sharing with another cubic-linux flow",
        10.0,
        least=-float("inf"),
        most=100.0,
        better=-1,
    ),
    Question(
        "rtt_ratio",
        "goodput ratio, RTT against twice the RTT",
        "two flows alike but for the RTT; 1 is fair, 4 is Reno's in theory; geometric mean",
        0.2,
        is_ratio=True,
    ),
    Question(
        "recovery",
        "recovery after a step (s)",
        f"half of the link is taken by datagrams from {STEP[0]:.0%} to {STEP[1]:.0%} of the run; "
        f"time after it until the goodput is {RECOVERED:.0%} of that before",
        1.0,
        better=-1,
    ),
)


def scenarios(setting: Setting, control: str) -> dict[str, build.Table]:
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
        "next to Reno": setting.scenario(one, setting.flow("reno", "second")),
        "next to cubic-linux": setting.scenario(one, setting.flow("cubic-linux", "second")),
        "two RTTs": setting.scenario(one, setting.flow(control, "second", rtt=2.0)),
        "after a step": setting.scenario(one, half),
    }


def group(run: Run, setting: Setting, place: int) -> list[FlowSummary]:
    """Return the flows of a group: the first, or those beside them.

    Parameters
    ----------
    run : Run
        A run.
    setting : Setting
        Its path.
    place : int
        0 or 1.

    Returns
    -------
    list of FlowSummary
        As many as the path has of each control; what stands behind them is its own traffic.
    """
    return run.summary["flows"][place * setting.flows : (place + 1) * setting.flows]


def _goodputs(run: Run, setting: Setting) -> list[float]:
    return [sum(flow["goodput_mbps"] or 0.0 for flow in group(run, setting, place)) for place in (0, 1)]


def _received(run: Run, setting: Setting) -> tuple[Array, Array]:
    """Return when samples were taken, and the bytes that the first group received in each."""
    windows = run.windows.filter(pl.col("flow") < setting.flows)
    sums = windows.group_by("time_s").agg(pl.col("delivered_bytes").sum()).sort("time_s")
    return sums["time_s"].to_numpy(), sums["delivered_bytes"].to_numpy()


def _mean(values: list[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else float("nan")


def _alone(run: Run, setting: Setting) -> Numbers:
    flows = group(run, setting, 0)
    scale_s = max(1, round(SMOOTHNESS_RTTS * setting.rtt_ms / 1e3 / SAMPLE_S)) * SAMPLE_S
    _, rates = metrics.over_intervals(*_received(run, setting), scale_s, setting.warmup_s, setting.run_s)
    mean = _mean([flow["mean_rtt_ms"] for flow in flows])
    p95 = _mean([flow["rtt_p95_ms"] for flow in flows])
    dropped = sum(flow["dropped_packets"] for flow in flows)
    return {
        "goodput": sum(flow["goodput_mbps"] or 0.0 for flow in flows),
        # Percentiles come from a histogram, whose bins may end below the propagation delay.
        "delay": float(np.maximum(0.0, mean - setting.rtt_ms)),
        "delay_p95": float(np.maximum(0.0, p95 - setting.rtt_ms)),
        "loss": 100 * metrics.loss_rate(dropped, sum(flow["sent_packets"] for flow in flows)),
        "cov": float(metrics.cov(rates)),
    }


def _against_itself(run: Run, setting: Setting) -> Numbers:
    shares = _goodputs(run, setting)
    flows = run.summary["flows"][: 2 * setting.flows]
    return {
        "itself": float(metrics.jain([flow["goodput_mbps"] or 0.0 for flow in flows])),
        "worse": 100 * min(shares) / sum(shares) if sum(shares) else float("nan"),
    }


def _beside(other: str) -> Callable[[Run, Setting], Numbers]:
    def measure(run: Run, setting: Setting) -> Numbers:
        mine, others = _goodputs(run, setting)
        total = mine + others
        return {
            f"beside_{other}": 100 * mine / total if total else float("nan"),
            # Not an answer by itself: it is compared with what is left beside the other's own kind.
            f"left_{other}": others,
        }

    return measure


def _two_rtts(run: Run, setting: Setting) -> Numbers:
    short, long = _goodputs(run, setting)
    return {"rtt_ratio": metrics.throughput_ratio(short, long) if long and short else float("nan")}


def _after_a_step(run: Run, setting: Setting) -> Numbers:
    time_s, received = _received(run, setting)
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
    "next to Reno": _beside("reno"),
    "next to cubic-linux": _beside("cubic-linux"),
    "two RTTs": _two_rtts,
    "after a step": _after_a_step,
}
