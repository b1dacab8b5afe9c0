"""TCP-FIT on links that lose at random: its sessions, its throughput, its queue."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl

from ackclock.engine import Run, build, number
from ackclock.metrics import over_runs
from ackclock.models import fit
from ackclock.predictions import paths
from ackclock.predictions.prediction import Prediction, Simulation, of_subject

RATE_MBPS = 10.0
CAPACITY = RATE_MBPS * 1e6 / build.PACKET_BITS
BUFFER = 100
FIXED_ALPHA = 0.5


def predict(
    loss: Sequence[float] = (0.0003, 0.001, 0.003, 0.01, 0.03),
    propagation_s: Sequence[float] = (0.05, 0.1),
    simulation: Simulation | None = None,
) -> Prediction:
    """Predict the throughput of one FIT flow by equation 19, alpha fixed at 0.5.

    `loss` are random loss rates P of the link, and `propagation_s` propagation round trips D. The flow is
    simulated on 10 Mbit/s with a buffer of 100 packets.

    The table has the queueing delay q at which equation 19 equals the capacity, so that the link is full with
    a queue and without congestion loss: state (b) of equation 20, Theorem 1. `sessions` is N of equation 17
    at that q. When simulated, `measured_q_ms` and `measured_sessions` are means over time; `sessions_at_q` is
    equation 17 and `equation_19` the throughput at the measured q, `equation_15` with the measured N; `full`
    is the share of time with the link full.
    """
    rows: list[dict[str, object]] = []
    scenarios = []
    for delay, p in product(propagation_s, loss):
        q = fit.queueing_at_capacity(p, delay, CAPACITY, FIXED_ALPHA)
        # Without a queue one session is enough; with too long a queue the buffer overflows.
        row: dict[str, object] = {"rtt": f"{delay * 1000:g} ms", "p": p, "predicted": RATE_MBPS}
        queued = 0 < q * CAPACITY <= BUFFER
        row["q_ms"] = 1000 * q if queued else None
        row["sessions"] = float(fit.mean_sessions(FIXED_ALPHA, delay, q)) if queued else None
        rows.append(row)
        scenarios.append(scenario(p, delay))
    estimates = []
    if simulation is not None:
        measured = simulation.each(scenarios, _measure)
        for row, runs, (delay, p) in zip(rows, measured, product(propagation_s, loss), strict=True):
            estimates.append(over_runs([goodput for goodput, *_ in runs], least=0.0))
            _, q_s, sessions, full = (float(np.mean(values)) for values in zip(*runs, strict=True))
            row["measured_q_ms"], row["measured_sessions"], row["full"] = 1000 * q_s, sessions, full
            row["sessions_at_q"] = float(fit.mean_sessions(FIXED_ALPHA, delay, q_s))
            mbps = build.PACKET_BITS / 1e6
            equation_19 = fit.estimated_throughput(p, delay, q_s, FIXED_ALPHA)
            row["equation_19"] = float(equation_19) * mbps
            row["equation_15"] = float(fit.throughput(p, delay + q_s, sessions)) * mbps
    return of_subject("fit", rows, estimates, alpha=FIXED_ALPHA, rate_mbps=RATE_MBPS)


def scenario(p: float, delay_s: float) -> build.Table:
    """Return the scenario of one flow, from the link's random loss rate and the propagation round trip."""
    flow = build.flow("fit", rtt=build.seconds(delay_s), params={"alpha": FIXED_ALPHA})
    path = paths.limited(RATE_MBPS, BUFFER, loss={"kind": "bernoulli", "rate": p})
    return path.scenario(flow, duration_s=700.0, measured_from_s=100.0, sample_s=0.05)


def _measure(run: Run) -> tuple[float, float, float, float]:
    """Return goodput, queueing delay, mean N, and the share of samples with the link full.

    The delay is the median over update periods of their means: N is in equilibrium where it falls as often
    as it rises.
    """
    start_s = run.summary["measured_from_s"]
    windows = run.windows.filter((pl.col("time_s") > start_s) & pl.col("rtt_ms").is_not_null())
    losses = run.events.filter((pl.col("kind") == "loss") & (pl.col("time_s") >= start_s))
    period = np.searchsorted(losses["time_s"].to_numpy(), windows["time_s"].to_numpy())
    flow = run.summary["flows"][0]
    delay_s = (windows["rtt_ms"].to_numpy() - flow["rtt_ms"]) / 1000 - 1 / CAPACITY
    counts = np.bincount(period)
    means = np.bincount(period, delay_s)[counts > 0] / counts[counts > 0]
    queues = run.queues_of(0).filter(pl.col("time_s") > start_s)
    full = float((queues["utilisation"].to_numpy() > 0.999).mean())
    sessions = float(windows["n"].to_numpy().mean())
    return number(flow["goodput_mbps"]), float(np.median(means)), sessions, full
