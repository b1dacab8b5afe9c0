"""Estimates the duration of a sweep from short trials."""

from __future__ import annotations

from ackclock import engine
from ackclock.runs import estimate
from ackclock.sweeps.plan import Plan


def seconds(plan: Plan, jobs: int | None = None) -> float:
    """Return the estimated wall time in seconds of the runs that a sweep makes in any case.

    Raises SimulationError when a trial fails.
    """
    points = estimate.spread(plan.points)
    scenarios = [engine.read(plan.scenario, settings=point.settings) for point in points]
    return estimate.seconds(scenarios, plan.least_runs, jobs)
