"""Estimates the duration of a sweep from short trials."""

from __future__ import annotations

from collections.abc import Callable

from ackclock import engine
from ackclock.runs import Job, estimate
from ackclock.sweeps.plan import Plan, Point

MOST_READ = 64
"""The scenarios of so many points are read to estimate the packets of all points."""


def packets(plan: Plan) -> Callable[[Point], float]:
    """Return a function that estimates the packets of a run of a point from the nearest point tried."""
    if not plan.points:
        return lambda _: 0.0
    tried = estimate.spread(range(len(plan.points)), MOST_READ)
    jobs = [
        Job(engine.read(plan.scenario, settings=plan.points[index].settings), controls=plan.controls)
        for index in tried
    ]
    expected = [job.expected_packets for job in jobs]
    step = (len(plan.points) - 1) / max(1, len(tried) - 1)
    return lambda point: expected[round(point.index / step) if step else 0]


def seconds(plan: Plan, jobs: int | None = None) -> float:
    """Return the estimated wall time in seconds of the runs that a sweep makes in any case.

    Raises SimulationError when a trial fails.
    """
    points = estimate.spread(plan.points)
    scenarios = [engine.read(plan.scenario, settings=point.settings) for point in points]
    return estimate.seconds(scenarios, plan.least_runs, jobs)
