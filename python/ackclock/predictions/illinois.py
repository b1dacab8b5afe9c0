"""TCP-Illinois: its curves, its gain on lossy links, and Vegas with noise in its RTT."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from ackclock.decision import over_runs, ratio_of_means
from ackclock.engine import Run, build, number
from ackclock.models import illinois
from ackclock.models.laws import Array
from ackclock.predictions import paths
from ackclock.predictions.prediction import Prediction, Simulation, curves, of_subject

RTT_S = 0.1
POSITIONS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)


def predict_curves(
    eta1: float = 0.01, largest_s: float = 0.03, simulation: Simulation | None = None
) -> Prediction:
    """Predict alpha and beta as functions of the queueing delay da over the largest one dm (figure 1).

    Alpha has its maximum up to the share `eta1` of dm. One flow is simulated on 100 Mbit/s with a buffer of
    dm, and alpha and beta are read from its trace where its mean delay passes each position.
    """
    parameters = illinois.Parameters(eta1=eta1)
    formulas: dict[str, Callable[[ArrayLike], Array]] = {
        "alpha (packets per round trip)": lambda at: illinois.alpha(at, 1.0, parameters),
        "beta": lambda at: illinois.beta(at, 1.0, parameters),
    }
    rows: list[dict[str, object]] = [
        {"curve": name, "position": at, "predicted": float(formula(at))}
        for name, formula in formulas.items()
        for at in POSITIONS
    ]
    estimates = []
    if simulation is not None:
        # Paced: in a train of packets most wait for the others, however empty the link.
        settings: build.Table = {"params": {"eta1": eta1}, "initial_ssthresh": 1000, "pacing": True}
        flow = build.flow("illinois", rtt=build.seconds(RTT_S), **settings)
        path = paths.limited(100.0, max(2, round(largest_s * 12_500)))
        scenario = path.scenario(flow, duration_s=800.0, measured_from_s=200.0, sample_s=0.05)
        (curves_of_runs,) = simulation.each([scenario], _read_curves)
        for row in rows:
            key = "alpha" if str(row["curve"]).startswith("alpha") else "beta"
            near = [values[key][POSITIONS.index(row["position"])] for values in curves_of_runs]
            estimates.append(over_runs(near, least=0.0))
    return of_subject(
        "curves", rows, estimates, curves("curve", "position", np.linspace(0, 1, 401), formulas)
    )


def _read_curves(run: Run) -> dict[str, list[float]]:
    trace = run.windows.filter(
        (pl.col("time_s") > run.summary["measured_from_s"]) & pl.col("dm_s").is_not_null()
    )
    position = (trace["da_s"] / trace["dm_s"]).to_numpy()
    medians: dict[str, list[float]] = {"alpha": [], "beta": []}
    for at in POSITIONS:
        near = np.abs(position - at) <= 0.01
        for key, values in medians.items():
            samples = trace[key].to_numpy()[near]
            values.append(float(np.median(samples)) if samples.size else float("nan"))
    return medians


def predict_gain(
    loss: Sequence[float] = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    simulation: Simulation | None = None,
) -> Prediction:
    """Predict the window of Illinois over Reno's on a link with random losses (figure 14).

    The formulas are sqrt(alpha_max/(2 beta_min)) of equation 31 and the 7.07 of equation 1, which is larger.
    Each control is simulated alone: 40 Mbit/s, 100 ms, 200 packets, eta1 = 0.2.
    """
    printed, exact = illinois.gain_on_lossy_link()
    rows = [
        {"formula": name, "p": p, "predicted": value}
        for name, value in (("equation 31", printed), ("equation 1", exact))
        for p in loss
    ]
    estimates = []
    if simulation is not None:
        scenarios = [
            _lossy(controller, params, p)
            for controller, params in (("illinois", {"eta1": 0.2}), ("reno", {}))
            for p in loss
        ]
        means = simulation.each(scenarios, lambda run: run.summary["flows"][0]["mean_window"])
        ratios = [
            ratio_of_means(np.asarray(windows, float), np.asarray(windows_of_reno, float))
            for windows, windows_of_reno in zip(means[: len(loss)], means[len(loss) :], strict=True)
        ]
        estimates = ratios * 2
    return of_subject("gain", rows, estimates)


def _lossy(controller: str, params: dict[str, float], p: float) -> build.Table:
    flow = build.flow(controller, rtt=build.seconds(RTT_S), params=params, recovery="newreno")
    path = paths.limited(40.0, 200, loss={"kind": "bernoulli", "rate": p})
    return path.scenario(flow, duration_s=550.0, measured_from_s=50.0)


NOISE_RTT_S = 0.06
NOISE_CAPACITY = 1250.0


def predict_noise(
    gamma: Sequence[float] = (2, 5, 10),
    sigma_ms: Sequence[float] = (0, 2, 4, 8, 12, 16, 24, 32),
    simulation: Simulation | None = None,
) -> Prediction:
    """Predict the throughput of two Vegas flows whose RTT measurement is noisy, in Mbit/s (figure 15).

    Each flow keeps `gamma` packets in the queue; the noise is uniform on [0, 2 sigma]. The total falls when
    sigma exceeds 2 gamma/C. The flows are simulated on 10 Mbit/s, 60 ms and 50 packets; as in the paper's
    Vegas, they use the mean RTT of a round trip.
    """
    mbps = build.PACKET_BITS / 1e6
    rows, scenarios = [], []
    for queued in gamma:
        threshold = float(illinois.vegas_threshold(queued, NOISE_CAPACITY, 2))
        for sigma in sigma_ms:
            noise = (sigma / 1000, sigma / 1000)
            rates = illinois.vegas_throughput(queued, NOISE_CAPACITY, NOISE_RTT_S, noise)
            rows.append(
                {
                    "gamma": f"gamma = {queued:g}",
                    "sigma_ms": float(sigma),
                    "predicted": min(float(rates.sum()), NOISE_CAPACITY) * mbps,
                    "threshold_ms": 1000 * threshold,
                }
            )
            more: build.Table = {"overhead": "500 us", "count": 2, "rtt_noise": build.milliseconds(sigma)}
            params = {"alpha": queued, "beta": queued, "gamma": queued, "rtt": "mean"}
            rtt = build.seconds(NOISE_RTT_S)
            flow = build.flow("vegas", rtt=rtt, params=params, **more)
            path = paths.limited(10.0, 50)
            scenarios.append(path.scenario(flow, duration_s=250.0, measured_from_s=50.0))
    estimates = [] if simulation is None else simulation.estimate(scenarios, _together)
    return of_subject("noise", rows, estimates)


def _together(run: Run) -> float:
    return sum(number(flow["goodput_mbps"]) for flow in run.summary["flows"])
