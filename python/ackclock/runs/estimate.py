"""How long runs will take, estimated from short trials of some of them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TypeVar

from ackclock import engine
from ackclock.runs.jobs import Job

Tried = TypeVar("Tried")

TRIALS = 8
"""Trials where a scenario must be drawn or read for each."""
MOST_TRIALS = 24
"""Trials where the scenarios have been read already, six seconds at most: a few scenarios of a paper may take
nearly all of its time, and fewer trials would miss them."""
TRIAL_S = 0.25
"""A trial is stopped after this wall time."""


@dataclass(frozen=True)
class WorkCost:
    """The expected cost of runs on this machine."""

    runs: int
    kept: int
    """Runs of an earlier command that need not be made."""
    simulated_s: float
    """Simulated time of the others."""
    estimated_s: float
    """Wall time of the others."""
    most_s: float | None = None
    """Wall time of all packets of a budget, where runs are made until something is decided."""

    def of_budget(self, budget: float, packets: float) -> WorkCost:
        """Return the same with the time of a budget; the runs have so many packets."""
        if self.runs == self.kept:
            return self
        missing = packets * (self.runs - self.kept) / self.runs
        return replace(self, most_s=float(f"{max(1.0, budget / missing) * self.estimated_s:.2g}"))


class DryRunError(Exception):
    """A dry run raises this error in place of its runs; it has their expected cost."""

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
    """Return the estimated wall time of runs; each scenario has a share of them, as often as it is listed.

    Each scenario, or `MOST_TRIALS` of them, spread evenly, is tried for a quarter of a second. Raises
    SimulationError when a trial fails.
    """
    counts = Counter(scenarios)
    tried = {scenario: _trial(scenario) for scenario in spread(list(counts), MOST_TRIALS)}
    if not tried:
        return 0.0
    total_s = sum(counts[scenario] * run_s for scenario, run_s in tried.items())
    mean_s = total_s / sum(counts[scenario] for scenario in tried)
    return mean_s * runs / min(at_once or os.cpu_count() or 1, runs)


def spread(items: Sequence[Tried], most: int = TRIALS) -> list[Tried]:
    """Return the items that are tried, spread evenly over all."""
    count = min(most, len(items))
    step = (len(items) - 1) / max(1, count - 1)
    return [items[round(index * step)] for index in range(count)]


def _trial(scenario: engine.Scenario) -> float:
    """Return the estimated wall time of one run, from how fast the second half of its trial is.

    The first half is cheaper: flows start, and find the rate of a fast path only after a while.
    """
    begin_s = time.monotonic()
    looks = [(0.0, 0.0)]

    def tell(simulated_s: float, _packets: int) -> None:
        looks.append((time.monotonic() - begin_s, simulated_s))
        if simulated_s > 0 and looks[-1][0] > TRIAL_S:
            raise _EnoughError

    try:
        engine.summary(scenario, progress=tell)
    except _EnoughError:
        last_s, reached_s = looks[-1]
        half_s, before_s = next(look for look in looks if look[0] >= last_s / 2 or look is looks[-2])
        if before_s >= reached_s:
            half_s, before_s = looks[0]
        return last_s + (scenario.duration_s - reached_s) * (last_s - half_s) / (reached_s - before_s)
    return time.monotonic() - begin_s
