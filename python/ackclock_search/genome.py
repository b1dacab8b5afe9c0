"""The vectors of real numbers that a search varies, and their decoding to plain scenarios.

A vector is decoded to a pattern, whose values have units; a pattern is decoded to a scenario that
anyone can run. Minimising works on patterns. The genomes follow Ray and Seshan, CC-Fuzz (HotNets
2022), which varied the times at which a link sends and at which cross traffic comes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ackclock.engine.build import Table
from ackclock_evaluate.saved import Objective
from ackclock_evaluate.setting import Bottleneck, Subject

Vector = NDArray[np.float64]
Cast = Sequence[tuple[Subject, str, int]]
"""The senders: a control, the name of its flows, and their number."""

LENGTH_S = 12.0
SLOTS = 24
SLOT_S = LENGTH_S / SLOTS
MEASURED_FROM = 0.25
"""Measurement starts after this share of a run."""
SAMPLE_S = 0.1
PATH = Bottleneck(rate_mbps=10, rtt_ms=40, buffer_bdp=1)
"""The path of every genome that does not name another."""
LARGEST_EXPONENT = 2.5
"""Rates differ by a factor e^5 at most."""
LEAST_LEFT = 0.1
"""Pulses count as leaving at least this share of the path, so that no ratio explodes."""


@dataclass(frozen=True)
class Pattern:
    """A point of a genome: its values in units."""

    values: tuple[float, ...]
    length_s: float = LENGTH_S
    """Length of a run."""


class Genome(ABC):
    """A family of scenarios."""

    name: ClassVar[str]
    """Name on the command line."""
    size: ClassVar[int]
    """Length of a vector."""
    flows_at: ClassVar[int | None] = None
    """Index of the value that is a number of flows."""
    lengths_s: ClassVar[tuple[float, ...]] = (6.0, 9.0)
    """Shorter runs that minimising tries."""

    @abstractmethod
    def pattern(self, x: Vector) -> Pattern:
        """Decode any finite vector of `size` numbers; a standard normal vector is an ordinary pattern."""

    @abstractmethod
    def without(self, pattern: Pattern, dropped: frozenset[int]) -> Pattern:
        """Return a simpler pattern, whose values at the dropped indices are neutral."""

    @abstractmethod
    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        """Return the scenario of a pattern, as a file holds it."""

    def path(self, pattern: Pattern) -> Bottleneck:
        """Return the path of a pattern as it is before anything changes."""
        del pattern
        return PATH

    def capacity_mbps(self, pattern: Pattern) -> float:
        """Return the mean rate over the measured time that is left to the measured flows."""
        return self.path(pattern).rate_mbps

    def scale(self, objective: Objective, pattern: Pattern) -> float:
        """Return the unit of an objective: the capacity for a goodput, the RTT for a delay, 1 for a share."""
        if objective.margin.metric == "goodput":
            return self.capacity_mbps(pattern)
        if objective.margin.metric == "delay_p95":
            return self.path(pattern).rtt_ms
        return 1.0

    def penalty(self, pattern: Pattern) -> float:
        """Return the amount, 0 or more, that is subtracted from the value of a crude pattern."""
        del pattern
        return 0.0


def on_path(
    path: Bottleneck,
    pattern: Pattern,
    cast: Cast,
    *more: Table,
    events: tuple[Table, ...] = (),
    tcp: Mapping[str, Any] | None = None,
) -> Table:
    """Return the scenario of a cast and further flows; `events` change the path, `tcp` is for all senders."""
    flows = [
        subject.flow(name, path.rtt_ms, **({"count": count} if count > 1 else {}))
        for subject, name, count in cast
    ]
    return path.scenario(
        *flows,
        *more,
        duration_s=pattern.length_s,
        measured_from_s=MEASURED_FROM * pattern.length_s,
        sample_s=SAMPLE_S,
        events=events,
        tcp=tcp,
    )


def logistic(x: Any) -> Any:
    """Return 1/(1 + e^-x) of a number or an array, without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(x, float)))


def between(low: float, high: float, x: float) -> float:
    """Map any number to the range from `low` to `high`, evenly by logarithm; 0 is their geometric mean."""
    return float(low * (high / low) ** logistic(x))
