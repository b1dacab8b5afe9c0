"""Figures 14 and 15: random loss, and noise in the measured delay."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ackclock.draw.figure import SECONDS, Axis, Chart, Group, Series
from ackclock.engine import Run, build, number
from ackclock.metrics import Estimate, over_batches, over_runs
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import curve_chart
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.traces import window_trace
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case
from ackclock_papers.illinois.setting import flow, random_start, scenario, vegas

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOSSES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
SHOWN = 0.005
"""Probability of loss of the window curves."""


class LossyFlow(NamedTuple):
    """A flow alone on a lossy link, figure 14."""

    control: str
    """Congestion control, by the paper's name."""
    loss: float
    """Probability that a packet is lost."""

    def __str__(self) -> str:
        return f"{self.control}, p = {self.loss:g}"


def lossy(case: LossyFlow, setting: Setting, duration_s: float) -> build.Table:
    """Make a scenario of figure 14, `duration_s` seconds long, of which 50 s are left out."""
    entry = flow(case.control, setting)
    if case.control == "Illinois":
        entry["params"] = entry.get("params", {}) | {"eta1": 0.2}
    return scenario(
        [entry],
        setting,
        rate_mbps=40,
        buffer=200,
        duration_s=duration_s,
        warmup_s=50,
        sample_s=0.5,
        loss={"kind": "bernoulli", "rate": case.loss},
    )


def _cases_14(effort: Effort) -> Mapping[LossyFlow, Case]:
    return {
        case: Case(lossy(case, effort.setting, effort.pick(1050, 350)), runs=effort.runs)
        for case in itertools.starmap(LossyFlow, itertools.product(("Reno", "Illinois"), LOSSES))
    }


def _measure_14(run: Run) -> Row:
    windows = run.windows.filter(run.windows["time_s"] > run.summary["measured_from_s"])
    batch = over_batches(windows["window"].to_numpy())
    summary = run.summary["flows"][0]
    events = summary["loss_events"] or 0
    return {
        "window": summary["mean_window"],
        "goodput_mbps": summary["goodput_mbps"],
        "batch_half_width": (batch.high - batch.low) / 2,
        "timeout_share": summary["timeouts"] / max(1, summary["timeouts"] + events),
        "queue_drops": float(run.summary["links"][0]["queue_drops"]),
    }


def _gains(numbers: Numbers, key: str, losses: Sequence[float] = LOSSES) -> NDArray[np.float64]:
    """Return the ratio of Illinois to Reno, by loss rate and run."""
    ours, reno = (
        np.array([numbers.each(LossyFlow(control, loss), key) for loss in losses])
        for control in ("Illinois", "Reno")
    )
    gains: NDArray[np.float64] = ours / reno
    return gains


def median_gain(numbers: Numbers, key: str) -> Estimate:
    """Return the median over the loss rates of the ratio of a number of Illinois to Reno's."""
    return over_runs(np.median(_gains(numbers, key), axis=0), least=0.0)


def factor_from_four(numbers: Numbers) -> Estimate:
    """Return the factor between a gain of the window and 4, either way, in the median over the loss rates."""
    gains = _gains(numbers, "window") / 4
    return over_runs(np.median(np.maximum(gains, 1 / gains), axis=0), least=1.0)


def gain_least_like_four(numbers: Numbers, losses: Sequence[float]) -> Estimate:
    """Return the gain of the window that is furthest from 4, of those at some loss rates."""
    gains = _gains(numbers, "window", losses)
    return over_runs(gains[np.argmax(np.abs(gains.mean(axis=1) - 4))], least=0.0)


def share_without_drops(numbers: Numbers) -> Estimate:
    """Return the share of controls and loss rates without a drop at the queue."""
    drops = [sum(numbers.each(case, "queue_drops")) for case in numbers.rows]
    share = float(np.mean([count == 0 for count in drops]))
    return Estimate(share, math.nan, math.nan, 1)


def _draw_14(numbers: Numbers, traces: Traces) -> Group:
    controls = ("Reno", "Illinois")
    curves = {name: [(loss, LossyFlow(name, loss), "window") for loss in LOSSES] for name in controls}
    # A curve needs rising x, and the gains are in the order of LOSSES.
    raised = sorted(zip(LOSSES, 20 * _gains(numbers, "window").mean(axis=1), strict=True))
    ratio = ([loss for loss, _ in raised], [float(gain) for _, gain in raised])
    x, y = Axis("loss probability", log=True), Axis("mean window", "packets")
    left = curve_chart(numbers, curves, x, y, key="loss", lines={"ratio times 20": ratio})
    frames = {name: traces[LossyFlow(name, SHOWN)] for name in controls}
    over_time = [
        Series(name, index, frame["time_s"], frame["window"])
        for index, (name, frame) in enumerate(frames.items())
    ]
    y = Axis("window", "packets", range=(0, None))
    heading = f"p = {SHOWN:g}"
    right = Chart("time", f"{heading}: {y.titled}", SECONDS, y, over_time, heading=heading)
    return Group([left, right], linked=False)


FIGURE_14 = Simulated(
    name="figure-14",
    caption="mean window against random loss",
    about=(
        "One flow alone on 40 Mbit/s, RTT 100 ms, 200 packets, eta1 = 0.2. Intervals over runs; "
        "the numbers also have the half-width by 20 batch means within each run, as in the paper."
    ),
    cases=_cases_14,
    probe=Probe(("window", "goodput_mbps", "batch_half_width", "timeout_share", "queue_drops"), _measure_14),
    trace=lambda case, run: (
        window_trace(run, 0.0, 50, 150).drop("name") if case.loss == SHOWN else None
    ),
    draw=_draw_14,
    headline=True,
)  # fmt: skip


SIGMAS_MS = (0, 2, 4, 8, 12, 16, 24, 32)
GAMMAS = (2, 5, 10)
RATE_MBPS = 10


class NoisyPair(NamedTuple):
    """Two flows of which one or both measure noisy RTTs, figure 15."""

    gamma: int | None
    """Packets that a Vegas flow keeps in the queue; without it the flows are Illinois."""
    both: bool
    """Whether both flows measure noise, or only the first."""
    sigma_ms: int
    """Mean of the noise."""

    @property
    def control(self) -> str:
        """Control of the flows, with the parameter of Vegas."""
        return "Illinois" if self.gamma is None else f"Vegas {self.gamma}"

    def __str__(self) -> str:
        return f"{self.control}, {'both' if self.both else 'one'}, sigma = {self.sigma_ms} ms"

    def flows(self, setting: Setting) -> list[build.Table]:
        """Make both entries of ``[[flow]]``, the flow with noise first."""
        entry = flow("Illinois", setting) if self.gamma is None else vegas(self.gamma, setting)
        entry |= random_start(setting)
        noise = {"rtt_noise": build.milliseconds(self.sigma_ms)}
        return [entry | noise, entry | (noise if self.both else {})]


def noisy(case: NoisyPair, setting: Setting, duration_s: float, sample_s: float = 1.0) -> build.Table:
    """Make a scenario of figure 15, `duration_s` seconds long, of which 100 s are left out."""
    return scenario(
        case.flows(setting),
        setting,
        rate_mbps=RATE_MBPS,
        rtt_ms=60,
        buffer=50,
        duration_s=duration_s,
        warmup_s=100,
        sample_s=sample_s,
    )


def _cases_15(effort: Effort) -> Mapping[NoisyPair, Case]:
    fields = itertools.product((None, *GAMMAS), (True, False), SIGMAS_MS)
    return {
        case: Case(noisy(case, effort.setting, effort.pick(1000, 400)), runs=effort.runs, record=False)
        for case in itertools.starmap(NoisyPair, fields)
    }


def _measure_15(run: Run) -> Row:
    first, second = (number(sender["goodput_mbps"]) for sender in run.summary["flows"])
    return {"noisy_mbps": first, "other_mbps": second, "sum_mbps": first + second}


def _draw_15(numbers: Numbers, _traces: Traces) -> Group:
    curves = (
        ("both noisy, each", True, "noisy_mbps"),
        ("one noisy: the noisy flow", False, "noisy_mbps"),
        ("one noisy: the other flow", False, "other_mbps"),
    )
    charts = [
        curve_chart(
            numbers,
            {
                label: [(sigma, NoisyPair(gamma, both, sigma), key) for sigma in SIGMAS_MS]
                for label, both, key in curves
            },
            Axis("sigma", "ms"),
            Axis("goodput", "Mbit/s", range=(0, 10.5)),
            key=f"gamma-{gamma}",
            heading=NoisyPair(gamma, both=True, sigma_ms=0).control,
            height=2.2,
        )
        for gamma in (None, *GAMMAS)
    ]
    return Group(charts, columns=2)


def mean_of_cases(numbers: Numbers, key: str) -> Estimate:
    """Return the mean of a number over all cases that the claim reads."""
    return over_runs(np.mean([numbers.each(case, key) for case in numbers.rows], axis=0), least=0.0)


def _threshold_ms(numbers: Numbers, gamma: int) -> NDArray[np.float64]:
    """Return the noise at which two noisy Vegas flows leave a tenth of the link, by run, ms."""
    sums = np.array([numbers.each(NoisyPair(gamma, True, sigma_ms), "sum_mbps") for sigma_ms in SIGMAS_MS])
    enough = 0.9 * RATE_MBPS
    # The running least falls with the noise, as interpolation needs; a link that stays full has the
    # largest noise.
    least = np.minimum.accumulate(sums, axis=0)[::-1]
    return np.array([np.interp(enough, column, SIGMAS_MS[::-1]) for column in least.T])


def ratio_of_thresholds(numbers: Numbers, more: int, less: int) -> Estimate:
    """Return the threshold of two Vegas flows that keep `more` packets in the queue over that with `less`."""
    return over_runs(_threshold_ms(numbers, more) / _threshold_ms(numbers, less), least=0.0)


FIGURE_15 = Simulated(
    name="figure-15", caption="throughput against noise in the measured RTT",
    about=(
        "Two flows on 10 Mbit/s, 60 ms, 50 packets; noise uniform on [0, 2 sigma] in the RTTs that one "
        "or both measure. Vegas takes the mean RTT of a round trip, as ns-2's own agent does."
    ),
    cases=_cases_15, probe=Probe(("noisy_mbps", "other_mbps", "sum_mbps"), _measure_15), draw=_draw_15,
)  # fmt: skip
