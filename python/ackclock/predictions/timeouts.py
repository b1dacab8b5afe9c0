"""AIMD where timeouts dominate: equation 41 of the transient study, and its chain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ackclock.metrics import over_runs
from ackclock.models import timeouts
from ackclock.predictions.prediction import Prediction, of_subject

PACKETS = 100_000


def predict(
    loss: Sequence[float] = (0.1, 0.15, 0.2, 0.3, 0.4), timeout: int = 4, seeds: int = 5
) -> Prediction:
    """Predict the CoV of the sending rate per round trip, with an RTO of `timeout` round trips.

    It is given as printed (1.87 at p = 0.2, t = 4, where the text has 1.7) and for the chain (2.08). The
    simulated column is the chain itself, not a TCP: `seeds` Monte Carlo runs with 100000 packets each.
    """
    rows, estimates = [], []
    for name, formula in (("as printed", timeouts.printed_cov), ("of the chain", timeouts.cov)):
        for p in loss:
            rows.append({"formula": name, "p": p, "predicted": formula(p, timeout)})
            values = []
            for seed in range(seeds):
                generator = np.random.default_rng(seed)
                sent = timeouts.simulate_sending(p, timeout, PACKETS, generator)
                values.append(float(sent.std() / sent.mean()))
            estimates.append(over_runs(values, least=0.0))
    return of_subject("timeouts", rows, estimates, timeout=timeout)
