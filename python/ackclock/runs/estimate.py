"""How long runs will take, estimated from short trials of some of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from ackclock import engine
from ackclock.runs.jobs import Job

Tried = TypeVar("Tried")

TRIALS = 8
TRIAL_S = 0.25
"""Wall time after which a trial is stopped."""


@dataclass(frozen=True)
class WorkCost:
    """What runs will cost on this machine."""

    runs: int
    kept: int
    """Runs of an earlier command that need not be made."""
    simulated_s: float
    """Simulated time of the others."""
    estimated_s: float
    """Wall time of the others."""


class DryRunError(Exception):
    """Raised in place of the runs of a dry run, with what they would cost."""

    def __init__(self, cost: WorkCost) -> None:
        super().__init__(cost)
        self.cost = cost


class _EnoughError(Exception):
    pass


_is_dry = ContextVar("is_dry", default=False)


@contextmanager
def dry() -> Iterator[None]:
    """Let the first runs in this block be estimated and not made, which raises DryRunError."""
    token = _is_dry.set(True)
    try:
        yield
    finally:
        _is_dry.reset(token)


def is_dry() -> bool:
    """Return whether runs must be estimated and not made."""
    return _is_dry.get()


def cost(missing: Sequence[Job], kept: int = 0, at_once: int | None = None) -> WorkCost:
    """Return the cost of jobs that are missing, next to others that are kept."""
    simulated_s = sum(job.scenario.duration_s for job in missing)
    estimated_s = seconds([job.scenario for job in missing], len(missing), at_once)
    return WorkCost(len(missing) + kept, kept, simulated_s, float(f"{estimated_s:.2g}"))


def seconds(scenarios: Sequence[engine.Scenario], runs: int, at_once: int | None = None) -> float:
    """Return the estimated wall time of runs that are spread evenly over scenarios.

    Some of the scenarios, spread evenly, are tried for a quarter of a second each. Raises SimulationError
    when a trial fails.
    """
    trials = [_trial(scenario) for scenario in spread(scenarios)]
    if not trials:
        return 0.0
    return sum(trials) / len(trials) * runs / min(at_once or os.cpu_count() or 1, runs)


def spread(items: Sequence[Tried]) -> list[Tried]:
    """Return the items that are tried, spread evenly over all."""
    count = min(TRIALS, len(items))
    step = (len(items) - 1) / max(1, count - 1)
    return [items[round(index * step)] for index in range(count)]


def _trial(scenario: engine.Scenario) -> float:
    """Return the estimated wall time of one run."""
    begin = time.monotonic()
    reached_s = 0.0

    def tell(simulated_s: float, _packets: int) -> None:
        nonlocal reached_s
        reached_s = simulated_s
        if simulated_s > 0 and time.monotonic() - begin > TRIAL_S:
            raise _EnoughError

    try:
        engine.summary(scenario, progress=tell)
    except _EnoughError:
        return (time.monotonic() - begin) * scenario.duration_s / reached_s
    return time.monotonic() - begin
