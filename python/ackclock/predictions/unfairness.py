"""RTT unfairness of two flows that lose together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from ackclock.engine import Run, build
from ackclock.metrics import over_runs
from ackclock.models import laws, unfairness
from ackclock.names import hint
from ackclock.predictions import paths
from ackclock.predictions.prediction import Prediction, Simulation, of_subject

LAWS: dict[str, tuple[laws.Law, Mapping[str, object]]] = {
    "aimd": (laws.aimd(32, 0.125), {}),
    "bic": (laws.bic(), {"search": "per_rtt"}),
    "hstcp": (laws.hstcp(), {}),
    "gaimd": (laws.aimd(0.31, 0.125), {}),
    "compound": (laws.compound(), {}),
}
CLOSED = {"aimd": 0.5, "gaimd": 0.5, "hstcp": 0.82}
EPOCHS = 20
SETTLING_EPOCHS = 40
"""AIMD(32, 0.125) forgets a wrong start by the factor 0.875 per epoch: to half a per cent."""


def predict(
    controls: Sequence[str] = ("aimd", "bic", "hstcp"),
    ratios: Sequence[float] = (1.0, 2.0, 3.0, 6.0),
    rtt_s: float = 0.04,
    capacity: float = 312_500.0,
    simulation: Simulation | None = None,
) -> Prediction:
    """Predict the ratio of throughputs of two flows with different round trips that lose together.

    `ratios` are round-trip times of the long flow over that of the short one, and the link overflows at
    `capacity` packets per second, which sets the time between losses. Column `predicted` includes the time of
    recovery, `without_recovery` does not, and `power_law` is ratio^(1/(1 - d)). The flows are simulated with
    loss events at the predicted epochs. LookupError is raised for a control without a window law here; the
    message says why.
    """
    for name in controls:
        if name == "scalable":
            raise LookupError("scalable never converges: see ackclock predict divergence")
        if name not in LAWS:
            raise LookupError(f"no window law of {name!r}; {hint(name, LAWS)}")
    rows, scenarios = [], []
    for name in controls:
        law, params = LAWS[name]
        for ratio in ratios:
            rtts = (rtt_s, ratio * rtt_s)
            shares = laws.synchronised(law, rtts, capacity, recovery=paths.RECOVERY)
            plain = laws.synchronised(law, rtts, capacity)
            closed = CLOSED.get(name)
            rows.append(
                {
                    "control": name,
                    "rtt_ratio": ratio,
                    "predicted": float(shares.rate[0] / shares.rate[1]),
                    "without_recovery": float(plain.rate[0] / plain.rate[1]),
                    "power_law": None if closed is None else float(unfairness.of_exponent(ratio, closed)),
                    "epoch_s": shares.epoch_s,
                }
            )
            if simulation is not None:
                scenarios.append(_scenario(name, params, rtts, shares))
    estimates = [] if simulation is None else simulation.estimate(scenarios, _ratio)
    return of_subject("unfairness", rows, estimates)


def _scenario(
    name: str, params: Mapping[str, object], rtts: tuple[float, float], shares: laws.Shares
) -> build.Table:
    # Slow start has ended by the first loss event.
    times = 20 * max(rtts) + shares.epoch_s * np.arange(SETTLING_EPOCHS + EPOCHS + 1)
    flows = []
    for rtt, top in zip(rtts, shares.window.tolist(), strict=True):
        ssthresh = paths.rounded(max(2.0, 0.9 * top))
        settings: build.Table = {"params": dict(params), "initial_ssthresh": ssthresh}
        flows.append((build.flow(name, rtt=build.seconds(rtt), **settings), rtt, [top] * len(times)))
    duration_s = float(times[-1]) + 2 * max(rtts)
    return paths.losing_together(flows, times.tolist(), duration_s, shares.epoch_s / 4)


def _ratio(run: Run) -> float:
    """Return the ratio of the bytes delivered in the last epochs, from loss event to loss event."""
    times = run.events.filter((pl.col("flow") == 0) & (pl.col("kind") == "loss"))["time_s"]
    begin, end = times[-EPOCHS - 1], times[-1]
    rates = []
    for index in (0, 1):
        window = run.windows_of(index)
        total = np.cumsum(window["arrived_bytes"].to_numpy())
        ends = np.interp([begin, end], window["time_s"].to_numpy(), total)
        rates.append(ends[1] - ends[0])
    return float(rates[0] / rates[1])


def diverge(
    ratio: float = 3.0,
    rtt_s: float = 0.04,
    epoch_s: float = 1.0,
    epochs: int = 12,
    simulation: Simulation | None = None,
) -> Prediction:
    """Predict how the windows of two Scalable flows drift apart, epoch by epoch.

    The ratio of the windows grows by the factor 1.01^(t/RTT1 - t/RTT2) per epoch, without end (the round trip
    of recovery is the same for both in round trips, so it cancels). `epoch_s` is the time between their
    common loss events. The flows are simulated from equal windows of 2000 packets.
    """
    rtts = (rtt_s, ratio * rtt_s)
    growth = 1.01 ** (epoch_s / rtts[0] - epoch_s / rtts[1])
    counts = np.arange(epochs + 1)
    rows = [
        {"control": "scalable", "epoch": int(count), "predicted": float(growth**count)} for count in counts
    ]
    estimates = []
    if simulation is not None:
        start = 2000.0
        times = 20 * rtts[1] + epoch_s * counts
        settings = {"controller": "scalable", "initial_ssthresh": start}
        flows = [({**settings, "rtt": build.seconds(rtt)}, rtt, [start] * len(times)) for rtt in rtts]
        scenario = paths.losing_together(flows, times.tolist(), float(times[-1]) + 1, epoch_s)
        (measured,) = simulation.each([scenario], lambda run: _window_ratios(run, epochs + 1))
        # The flows reach the first loss event with different windows: ratios are relative to it.
        relative = np.array(measured) / np.array(measured)[:, :1]
        estimates = [over_runs(column, least=0.0) for column in relative.T]
    return of_subject("divergence", rows, estimates, short=rtts[0], long=rtts[1])


def _window_ratios(run: Run, count: int) -> list[float]:
    losses = run.events.filter(pl.col("kind") == "loss")
    tops = [losses.filter(pl.col("flow") == index)["window_before"] for index in (0, 1)]
    return [float(tops[0][index] / tops[1][index]) for index in range(count)]
