"""The stochastic matrix model: shares of flows with different round trips (figures 2 to 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ackclock.models import matrix
from ackclock.models.laws import Array
from ackclock.predictions.prediction import Prediction, of_subject

RUNS, EVENTS, SETTLING_EVENTS = 50, 1000, 500
SHORTEST_S, LONGEST_S = 0.05, 0.25
LEVELS = {"light": 0.5, "medium": 1.0, "heavy": 2.0}
"""Largest number of drops per event, over the number of flows."""


def study(flows: int, level: str, seed: int = 1) -> tuple[Array, Array]:
    """Simulate the paper's study once for a key of `LEVELS`, with random round trips, starts and drops.

    The results are round-trip times, shape (runs, flows), and shares, shape (runs, events, flows).
    """
    generator = np.random.default_rng(seed)
    rtt = generator.uniform(SHORTEST_S, LONGEST_S, (RUNS, flows))
    most = max(1, round(flows * LEVELS[level]))
    drops = generator.integers(1, most + 1, (RUNS, SETTLING_EVENTS + EVENTS))
    start = generator.dirichlet(np.ones(flows), RUNS)
    return rtt, matrix.simulate(rtt, start, drops, generator)[:, SETTLING_EVENTS:]


def predict(flows: Sequence[float] = (4, 10), seed: int = 1) -> Prediction:
    """Simulate the chain for three levels of congestion: 50 runs of 1000 events each.

    Numbers of flows N are rounded; round trips of 50 to 250 ms, starts and drops are random. The table has
    x/x* over T/T_mean by least squares, with the exponent `mu`, the range of x/x*, and the largest
    Std(x)/mean; `mean_field_mu` is the exponent of the mean field, Theorem 4.3 without variance.
    """
    rows, lines = [], []
    trips = np.geomspace(0.4, 1.8, 30)
    for count in map(round, flows):
        for level in LEVELS:
            rtt, shares = study(count, level, seed)
            mean, deviation = shares.mean(axis=1), shares.std(axis=1)
            ratio = mean / matrix.equal_window_shares(rtt)
            mu = matrix.mu(mean, rtt)
            pmf = matrix.uniform_drops(max(1, round(count * LEVELS[level])))
            field = np.array([matrix.mean_shares(rtt_of_run, pmf) for rtt_of_run in rtt])
            name = f"N = {count}, {level}"
            relative = rtt / rtt.mean(axis=1, keepdims=True)
            for at in (0.5, 1.0, 1.5):
                near = np.abs(np.log(relative / at)) < 0.1
                rows.append(
                    {
                        "case": name,
                        "rtt_over_mean": at,
                        "predicted": float(np.median(ratio[near])) if near.any() else None,
                        "mu": mu,
                        "mean_field_mu": matrix.mu(field, rtt),
                        "lowest_ratio": float(ratio.min()),
                        "highest_ratio": float(ratio.max()),
                        "largest_std_over_mean": float((deviation / mean).max()),
                    }
                )
            lines.append(pl.DataFrame({"case": name, "rtt_over_mean": trips, "predicted": trips**-mu}))
    return of_subject("matrix", rows, line=pl.concat(lines))
