"""Estimates the duration of a sweep from short trials."""

from __future__ import annotations

import os
import time

import numpy as np

from ackclock import engine
from ackclock.sweeps.plan import Plan

TRIALS = 8
TRIAL_S = 0.25
"""Wall time after which a trial is stopped."""


class _EnoughError(Exception):
    pass


def seconds(plan: Plan, jobs: int | None = None) -> float:
    """Return the estimated wall time in seconds of the runs that a sweep makes in any case.

    Some of its points, spread evenly, are tried for a quarter of a second each. Raises SimulationError when
    a trial fails.
    """
    chosen = np.linspace(0, len(plan.points) - 1, min(TRIALS, len(plan.points))).astype(int)
    mean = float(np.mean([_trial(plan, int(index)) for index in chosen]))
    return mean * plan.least_runs / (jobs or os.cpu_count() or 1)


def _trial(plan: Plan, index: int) -> float:
    """Return the estimated wall time of one run of a point."""
    scenario = engine.read(plan.scenario, settings=plan.points[index].settings)
    begin = time.monotonic()
    reached_s = 0.0

    def tell(simulated_s: float, _packets: int) -> None:
        nonlocal reached_s
        reached_s = simulated_s
        if time.monotonic() - begin > TRIAL_S:
            raise _EnoughError

    try:
        engine.summary(scenario, progress=tell)
    except _EnoughError:
        return (time.monotonic() - begin) * scenario.duration_s / reached_s
    return time.monotonic() - begin
