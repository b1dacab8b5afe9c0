"""The questions of a comparison: a few scenarios, and the metrics of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ackclock import metrics
from ackclock.comparison.path import SAMPLE_S, STEP, PathSetup
from ackclock.decision import Margin, margins
from ackclock.engine import FlowSummary, Run, build
from ackclock.metrics import Estimate

RunNumbers = dict[str, float]
"""The metrics of one run, by the key of their question."""
SMOOTHNESS_RTTS = 10
"""Round trips over which a rate is averaged before its CoV is computed."""
RECOVERED = 0.9
"""Share of the goodput before the step at which a flow has recovered."""


@dataclass(frozen=True)
class Question:
    """A question, with one number per run as the answer.

    Attributes
    ----------
    key : str
        Name of its number.
    title : str
        Short title with the unit.
    about : str
        What exactly is measured.
    margin : Margin, optional
        The difference that matters, as in an evaluation; a question without one has no better answer.
    least, most : float
        Smallest and largest possible number.
    is_ratio : bool
        Whether the number is a ratio, so that runs differ by factors.
    """

    key: str
    title: str
    about: str
    margin: Margin | None = None
    least: float = 0.0
    most: float = float("inf")
    is_ratio: bool = False

    def estimate(self, values: Sequence[float]) -> Estimate:
        """Return the mean over runs (the geometric mean of ratios) with an interval of possible values."""
        estimate = metrics.of_ratios(values) if self.is_ratio else metrics.over_runs(values)
        return metrics.within(estimate, self.least, self.most)


def _less(
    metric: str, unit: str, ratio: float | None = margins.RATIO, difference: float | None = None
) -> Margin:
    return Margin(metric, unit, higher_is_better=False, ratio=ratio, difference=difference)


def _more(metric: str, unit: str, ratio: float | None = None, difference: float | None = None) -> Margin:
    return Margin(metric, unit, higher_is_better=True, ratio=ratio, difference=difference, least=1e-3)


QUESTIONS = (
    Question(
        "goodput", "goodput alone (Mbit/s)", "one flow", _more("goodput", "Mbit/s", ratio=margins.RATIO)
    ),
    Question(
        "delay",
        "queueing delay alone, mean (ms)",
        "one flow; mean RTT minus propagation",
        _less("queueing delay", "ms", difference=margins.DELAY_MS),
    ),
    Question(
        "delay_p95",
        "queueing delay alone, p95 (ms)",
        "one flow; 95th percentile",
        _less("queueing delay, p95", "ms", difference=margins.DELAY_MS),
    ),
    Question(
        "loss",
        "packets lost alone (%)",
        "one flow; dropped packets over sent packets, including random losses",
        _less("loss", "%", ratio=margins.LOSS_RATIO, difference=100 * margins.LOSS_SHARE),
        most=100.0,
    ),
    Question(
        "cov",
        f"CoV of the rate over {SMOOTHNESS_RTTS} RTTs, alone",
        "one flow; standard deviation over mean of the rate of arrival",
        _less("CoV", "", difference=0.1),
    ),
    Question(
        "itself",
        "Jain's index against itself",
        "two equal flows, over the whole time",
        _more("Jain's index", "", difference=margins.JAIN),
        most=1.0,
    ),
    Question(
        "worse",
        "smaller share against itself (%)",
        "two equal flows; 50 % is an equal share",
        _more("smaller share", "%", difference=10.0),
        most=50.0,
    ),
    Question("beside_reno", "share next to Reno (%)", "share of the total goodput", most=100.0),
    Question(
        "stolen_reno",
        "stolen from Reno, BSR (%)",
        "goodput that Reno loses compared with sharing with another Reno flow (TCP-FIT, eq. 22)",
        _less("goodput taken from Reno", "%", ratio=None, difference=10.0),
        least=-float("inf"),
        most=100.0,
    ),
    Question("beside_cubic-linux", "share next to cubic-linux (%)", "share of the total goodput", most=100.0),
    Question(
        "stolen_cubic-linux",
        "stolen from cubic-linux, BSR (%)",
        "goodput that cubic-linux loses compared with sharing with another cubic-linux flow",
        _less("goodput taken from cubic-linux", "%", ratio=None, difference=10.0),
        least=-float("inf"),
        most=100.0,
    ),
    Question(
        "rtt_ratio",
        "goodput ratio, RTT against twice the RTT",
        "two flows that differ only in RTT; 1 is fair, 4 is Reno's in theory; geometric mean",
        is_ratio=True,
    ),
    Question(
        "recovery",
        "recovery after a step (s)",
        f"datagrams take half of the link from {STEP[0]:.0%} to {STEP[1]:.0%} of the run; time from "
        f"their end until the goodput is {RECOVERED:.0%} of the goodput before",
        _less("recovery after a step", "s", difference=2.0),
    ),
)
BY_KEY = {question.key: question for question in QUESTIONS}


def scenarios(setting: PathSetup, control: str) -> dict[str, dict[str, Any]]:
    """Return the scenarios for one control by name."""
    first = setting.flow(control, "first")
    step_s = [share * setting.run_s for share in STEP]
    half = {
        "source": "cbr",
        "rate": build.mbps(setting.path.rate_mbps / 2),
        "rtt": build.milliseconds(setting.path.rtt_ms),
        "name": "step",
        "start": build.seconds(step_s[0]),
        "stop": build.seconds(step_s[1]),
    }
    # Reno against itself is Reno next to Reno: the same names make it the same scenario.
    return {
        "alone": setting.scenario(first),
        "against itself": setting.scenario(first, setting.flow(control, "second")),
        "next to Reno": setting.scenario(first, setting.flow("reno", "second")),
        "next to cubic-linux": setting.scenario(first, setting.flow("cubic-linux", "second")),
        "two RTTs": setting.scenario(first, setting.flow(control, "second", rtt=2.0)),
        "after a step": setting.scenario(first, half),
    }


def group(run: Run, setting: PathSetup, index: int) -> list[FlowSummary]:
    """Return the flows of the first or second group.

    A group has as many flows as the path has of each control; the flows behind both groups are the path's
    own traffic.
    """
    return [*run.summary["flows"][index * setting.flows : (index + 1) * setting.flows]]


def _goodputs(run: Run, setting: PathSetup) -> list[float]:
    return [sum(flow["goodput_mbps"] or 0.0 for flow in group(run, setting, index)) for index in (0, 1)]


def _received(run: Run, setting: PathSetup) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the times of samples, and the bytes that the first group received in each."""
    windows = run.windows.filter(pl.col("flow") < setting.flows)
    sums = windows.group_by("time_s").agg(pl.col("delivered_bytes").sum()).sort("time_s")
    return sums["time_s"].to_numpy(), sums["delivered_bytes"].to_numpy()


def _mean(values: list[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else float("nan")


def _alone(run: Run, setting: PathSetup) -> RunNumbers:
    flows = group(run, setting, 0)
    scale_s = max(1, round(SMOOTHNESS_RTTS * setting.path.rtt_ms / 1e3 / SAMPLE_S)) * SAMPLE_S
    _, rates = metrics.over_intervals(*_received(run, setting), scale_s, setting.warmup_s, setting.run_s)
    mean = _mean([flow["mean_rtt_ms"] for flow in flows])
    p95 = _mean([flow["rtt_p95_ms"] for flow in flows])
    dropped = sum(flow["dropped_packets"] for flow in flows)
    return {
        "goodput": sum(flow["goodput_mbps"] or 0.0 for flow in flows),
        # Percentiles come from a histogram, whose bins may end below the propagation delay.
        "delay": float(np.maximum(0.0, mean - setting.path.rtt_ms)),
        "delay_p95": float(np.maximum(0.0, p95 - setting.path.rtt_ms)),
        "loss": 100 * metrics.loss_rate(dropped, sum(flow["sent_packets"] for flow in flows)),
        "cov": float(metrics.cov(rates)),
        **_causes(run, flows),
    }


CAUSES = ("random_losses", "queue_drops", "marks", "held_by_receiver")
"""What is counted of a flow alone to say what limits it."""


def _causes(run: Run, flows: Sequence[FlowSummary]) -> RunNumbers:
    """Return losses at random and in the queue, marks, and how full the receive window is on average."""
    link = run.summary["links"][0]
    full = []
    for flow in flows:
        allowed = flow["settings"]["receive_window"]
        if isinstance(allowed, int) and flow["goodput_mbps"] and flow["mean_rtt_ms"]:
            bits = flow["goodput_mbps"] * 1e3 * flow["mean_rtt_ms"]
            full.append(bits / build.PACKET_BITS / allowed)
    return {
        "random_losses": float(link["random_losses"]),
        "queue_drops": float(link["queue_drops"]),
        "marks": float(link["marks"]),
        "held_by_receiver": max(full, default=0.0),
    }


def _against_itself(run: Run, setting: PathSetup) -> RunNumbers:
    shares = _goodputs(run, setting)
    flows = run.summary["flows"][: 2 * setting.flows]
    return {
        "itself": float(metrics.jain([flow["goodput_mbps"] or 0.0 for flow in flows])),
        "worse": 100 * min(shares) / sum(shares) if sum(shares) else float("nan"),
    }


def _beside(other: str) -> Callable[[Run, PathSetup], RunNumbers]:
    def measure(run: Run, setting: PathSetup) -> RunNumbers:
        own, left = _goodputs(run, setting)
        total = own + left
        return {
            f"beside_{other}": 100 * own / total if total else float("nan"),
            # Not an answer by itself: the goodput next to a flow of the same control is the reference.
            f"left_{other}": left,
        }

    return measure


def _two_rtts(run: Run, setting: PathSetup) -> RunNumbers:
    short, long = _goodputs(run, setting)
    return {"rtt_ratio": metrics.throughput_ratio(short, long) if long and short else float("nan")}


def _after_a_step(run: Run, setting: PathSetup) -> RunNumbers:
    time_s, received = _received(run, setting)
    taken_s, freed_s = (share * setting.run_s for share in STEP)
    before = metrics.goodput(time_s, received, setting.warmup_s, taken_s)
    scale_s = setting.recovery_scale_s
    ends, rates = metrics.over_intervals(time_s, received, scale_s, freed_s, setting.run_s)
    back = rates * 8e-6 >= RECOVERED * before
    return {"recovery": float(ends[np.argmax(back)] - freed_s) if back.any() else float("inf")}


MEASURES: Mapping[str, Callable[[Run, PathSetup], RunNumbers]] = {
    "alone": _alone,
    "against itself": _against_itself,
    "next to Reno": _beside("reno"),
    "next to cubic-linux": _beside("cubic-linux"),
    "two RTTs": _two_rtts,
    "after a step": _after_a_step,
}
