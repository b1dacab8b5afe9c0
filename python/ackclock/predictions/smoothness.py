"""Smoothness: the coefficient of variation of sending rates, over loss rates and loss processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from ackclock.engine import Run, build
from ackclock.metrics import cov, over_runs
from ackclock.models import smoothness, timeouts
from ackclock.models.laws import Array
from ackclock.predictions import paths
from ackclock.predictions.prediction import Prediction, Simulation, curves, of_subject

RTT_S = 0.1
MEASURED_S = 1000.0

TEAR_COV = smoothness.tear_factor(0.25) * smoothness.cov_at_bernoulli_losses(0.5)

PROTOCOLS: dict[str, tuple[str, build.Table]] = {
    "TCP": ("reno", {"recovery": "newreno"}),
    "TCP, minimum RTO 1 s": ("reno", {"recovery": "newreno", "min_rto": "1 s", "clock": "100 ms"}),
    "GAIMD": ("gaimd", {"recovery": "newreno"}),
    "TFRC": ("tfrc", {}),
    "TEAR": ("tear", {}),
}


def _low_loss(protocol: str, p: float) -> float:
    if protocol == "TFRC":
        return float(smoothness.tfrc(p)[1])
    if protocol == "TEAR":
        return float(TEAR_COV)
    increase, keep = (0.31, 0.875) if protocol == "GAIMD" else (1.0, 0.5)
    return smoothness.aimd_bernoulli(p, increase, keep).cov


def predict(
    loss: Sequence[float] = (0.0005, 0.002, 0.005, 0.01, 0.02, 0.05, 0.08, 0.15, 0.2),
    simulation: Simulation | None = None,
) -> Prediction:
    """Predict the CoV of the sending rate per round trip under Bernoulli loss.

    The formulas are those of low loss: AIMD without timeouts, TFRC with the mean of eight loss intervals,
    TEAR with the CoV and correlation of windows under Bernoulli losses (0.21 in the study and 0.34 in its
    correction are for Poisson losses). `timeouts` is the chain of the timer, with the minimum timeout of the
    protocol. Each protocol is simulated alone for 1000 s, RTT 100 ms.
    """
    rows, scenarios = [], []
    for protocol, (controller, settings) in PROTOCOLS.items():
        for p in loss:
            row: dict[str, object] = {"protocol": protocol, "p": p, "predicted": _low_loss(protocol, p)}
            row["timeouts"] = None
            if protocol in ("TCP", "GAIMD"):
                row["timeouts"] = timeouts.cov(p, 2.0)
            elif protocol.startswith("TCP"):
                row["timeouts"] = timeouts.cov(p, 10.0)
            rows.append(row)
            flow = build.flow(controller, rtt=build.seconds(RTT_S), overhead="100 us", **settings)
            path = replace(paths.limited(100.0, 1000, loss={"kind": "bernoulli", "rate": p}), rtt_ms=120.0)
            scenarios.append(
                path.scenario(flow, duration_s=100.0 + MEASURED_S, measured_from_s=100.0, sample_s=RTT_S)
            )
    estimates = [] if simulation is None else simulation.estimate(scenarios, _rate_variation)
    fine = np.geomspace(min(loss), max(loss), 40)
    formulas = {
        protocol: np.vectorize(partial(_low_loss, protocol), otypes=[float]) for protocol in PROTOCOLS
    }
    return of_subject("smoothness", rows, estimates, curves("protocol", "p", fine, formulas))


def _rate_variation(run: Run) -> float:
    """Return the CoV of the bytes that the first flow sent per sampling interval of the measured time."""
    windows = run.windows_of(0).filter(pl.col("time_s") > run.summary["measured_from_s"])
    return float(cov(windows["sent_bytes"].to_numpy()))


AIMD: dict[str, tuple[str, float, float]] = {"Reno": ("reno", 1.0, 0.5), "GAIMD": ("gaimd", 0.31, 0.875)}
MEAN_INTERVAL_S = 10.0
LOSSES = 400


def _intervals(kind: str, seed: int) -> Array:
    """Draw loss intervals in seconds with a mean of 100 round trips."""
    generator = np.random.default_rng(seed)
    drawn: Array
    if kind == "constant":
        drawn = np.ones(LOSSES)
    elif kind == "exponential":
        drawn = generator.exponential(1.0, LOSSES)
    elif kind == "Pareto, shape 2.5":
        drawn = 0.6 * (1 + generator.pareto(2.5, LOSSES))
    else:
        # Ten short intervals, then ten long ones, drawn around their means.
        drawn = np.where(np.arange(LOSSES) // 10 % 2 == 0, 0.4, 1.6) * generator.uniform(0.5, 1.5, LOSSES)
    # Loss events within one recovery would count as one event.
    return np.maximum(drawn * MEAN_INTERVAL_S, 4 * RTT_S)


KINDS = ("constant", "exponential", "Pareto, shape 2.5", "in alternating bursts")


def predict_processes(simulation: Simulation | None = None) -> Prediction:
    """Predict the CoV of AIMD's window for several processes of loss events, 400 per run at drawn times.

    This is Palm's inversion formula on the drawn loss intervals, with the time of recovery. For exponential
    intervals without it sqrt((1 - beta)/(1 + beta)) is 0.58 for Reno and 0.26 for GAIMD.
    """
    runs = 1 if simulation is None else simulation.runs
    rows, scenarios = [], []
    for label, (controller, increase, keep) in AIMD.items():
        for kind in KINDS:
            drawn = [_intervals(kind, seed) for seed in range(1, runs + 1)]
            predicted = [
                smoothness.aimd_with_intervals(intervals / RTT_S, increase, keep, paths.RECOVERY).cov
                for intervals in drawn
            ]
            rows.append({"control": label, "intervals": kind, "predicted": float(np.mean(predicted))})
            for intervals in drawn:
                tops = [increase * MEAN_INTERVAL_S / RTT_S / (1 - keep)]
                for interval in intervals:
                    tops.append(keep * tops[-1] + increase * interval / RTT_S)
                ssthresh = round(keep * tops[0])
                flow = build.flow(controller, rtt=build.seconds(RTT_S), initial_ssthresh=ssthresh)
                times = 2.0 + np.concatenate(([0.0], np.cumsum(intervals)))
                scenario = paths.losing_together(
                    [(flow, RTT_S, tops)], times.tolist(), float(times[-1]) + 1, RTT_S
                )
                scenarios.append(scenario)
    estimates = []
    if simulation is not None:
        # Every run has its own loss times, so each is a scenario that is run once.
        once = replace(simulation, runs=1)

        def measure(run: Run) -> float:
            # The same part of the run that the formula averages over.
            window = run.windows["window"].to_numpy()
            time = run.windows["time_s"].to_numpy()
            controller = run.summary["flows"][0]["controller"]
            keep = {name: keep for name, _, keep in AIMD.values()}[controller]
            losses = run.events.filter(pl.col("kind") == "loss")["time_s"].to_numpy()
            settled = smoothness.settling_losses(LOSSES, keep)
            inside = (time > losses[settled]) & (time < losses[-1])
            return float(cov(window[inside]))

        covs = [value for (value,) in once.each(scenarios, measure)]
        grouped = [covs[index : index + runs] for index in range(0, len(covs), runs)]
        estimates = [over_runs(values, least=0.0) for values in grouped]
    return of_subject("processes", rows, estimates)
