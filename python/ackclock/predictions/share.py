"""TCP-Illinois next to Reno: their windows on one droptail link."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from ackclock.engine import Run, build, number
from ackclock.metrics import over_runs, throughput_ratio, time_mean
from ackclock.models import fluid, illinois, matrix
from ackclock.predictions import paths
from ackclock.predictions.prediction import PointRow, Prediction, Simulation, of_subject

CAPACITY = 12_500.0
RTT_S = 0.1
BUFFER = 100
EACH = 2

SETTINGS: dict[str, tuple[str, list[build.Table]]] = {
    "ACK clock alone": ("0 s", []),
    "delay up to 0.5 ms": ("500 us", []),
    "delay up to 2 ms": ("2 ms", []),
    "5 % Poisson traffic": ("500 us", [{"source": "poisson", "rate": "5 Mbit/s", "rtt": "100 ms"}]),
}
"""Sources of randomness that decide which flow's packet meets the full queue: the random delay before each
send, and other traffic."""


def predict(simulation: Simulation | None = None) -> Prediction:
    """Predict the window of an Illinois flow over that of a Reno flow, with two of each on one link.

    It is (alpha*/(2 beta*))^(1/(1 + lambda)) of section 4.6, with alpha* = 1.21 of the fluid cycle, beta* =
    1/2, and lambda the exponent of f(x) at equal shares. `measured_alpha` is the alpha* of the simulated
    flows, `from_measured_alpha` the same formula with it, and `chain` the matrix model's chain with the
    alpha* of the fluid cycle. The flows are simulated on 100 Mbit/s, 100 ms, 100 packets, with several
    degrees of randomness.
    """
    flows = 2 * EACH
    # Just before a congestion event Illinois adds 0.1 and Reno 1 packet per round trip.
    most = round(matrix.largest_drop([0.1] * EACH + [1.0] * EACH))
    at = np.array([1 / flows, 1.01 / flows])
    backoff = matrix.backoff_probability(at, matrix.uniform_drops(most))
    exponent = float(np.diff(np.log(backoff))[0] / np.log(1.01))
    star = fluid.cycle(illinois.alpha, 0.5, CAPACITY, BUFFER, RTT_S).mean_increase
    generator = np.random.default_rng(1)
    chain = matrix.simulate(
        np.full((20, flows), RTT_S),
        np.ones(flows),
        generator.integers(1, most + 1, (20, 2500)),
        generator,
        increase=np.array([star] * EACH + [1.0] * EACH),
    )[:, 500:].mean(axis=(0, 1))
    common = {
        "model": "Illinois over Reno",
        "predicted": float(illinois.share_over_reno(star, 0.5, exponent)),
        "chain": throughput_ratio(chain[:EACH], chain[EACH:]),
    }
    rows: list[PointRow] = [{"chance": name, **common} for name in SETTINGS]
    estimates = []
    if simulation is not None:
        scenarios = [_scenario(delay, more) for delay, more in SETTINGS.values()]
        measured = simulation.each(scenarios, _measure)
        estimates = [over_runs([ratio for ratio, _ in runs], least=0.0) for runs in measured]
        for row, runs in zip(rows, measured, strict=True):
            row["measured_alpha"] = float(np.mean([alpha for _, alpha in runs]))
            row["from_measured_alpha"] = float(illinois.share_over_reno(row["measured_alpha"], 0.5, exponent))
    return of_subject("share", rows, estimates)


def _scenario(delay: str, more: list[build.Table]) -> Mapping[str, object]:
    settings: build.Table = {"overhead": delay, "start": {"uniform": ["0 s", "10 s"]}, "count": EACH}
    flows = [build.flow(name, rtt=build.seconds(RTT_S), **settings) for name in ("illinois", "reno")]
    path = paths.limited(100.0, BUFFER)
    return path.scenario(*flows, *more, duration_s=1000.0, measured_from_s=100.0, sample_s=0.1)


def _measure(run: Run) -> tuple[float, float]:
    """Return the ratio of mean windows, and alpha* weighted by 1/RTT (equation 28)."""
    windows = [number(flow["mean_window"]) for flow in run.summary["flows"]]
    start_s, end_s = run.summary["measured_from_s"], run.summary["duration_s"]
    alphas = []
    for index in range(EACH):
        own = run.windows_of(index).filter(pl.col("rtt_ms").is_not_null())
        time, rate = own["time_s"].to_numpy(), 1 / own["rtt_ms"].to_numpy()
        weighted = time_mean(time, own["alpha"].to_numpy() * rate, start_s, end_s)
        alphas.append(weighted / time_mean(time, rate, start_s, end_s))
    ratio = throughput_ratio(windows[:EACH], windows[EACH : 2 * EACH])
    return ratio, float(np.mean(alphas))
