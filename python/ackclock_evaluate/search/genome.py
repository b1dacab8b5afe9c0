"""What a search varies: vectors of real numbers, and the plain scenarios that they stand for.

A vector is decoded to a pattern, whose values have units; a pattern is decoded to a scenario that
anyone can run. Minimising works on patterns. The genomes follow Ray and Seshan, CC-Fuzz (HotNets
2022), which varied the times at which a link sends and at which cross traffic comes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ackclock_evaluate.setting import Bottleneck, Subject, Table

Vector = NDArray[np.float64]
Cast = Sequence[tuple[Subject, str, int]]
"""Who sends: a control, the name of its flows, and how many there are of them."""
Curve = tuple[str, list[float], list[float]]
"""What a pattern does over time: label with unit, times in seconds, values that hold from them."""

LENGTH_S = 12.0
SLOTS = 24
SLOT_S = LENGTH_S / SLOTS
MEASURED_FROM = 0.25
"""Share of a run after which it is measured."""
SAMPLE_S = 0.1
PATH = Bottleneck(rate_mbps=10, rtt_ms=40, buffer_bdp=1)
"""Where everything takes place that does not say otherwise."""
LARGEST_EXPONENT = 2.5
"""Rates differ by a factor e^5 at most."""
LEAST_LEFT = 0.1
"""Pulses count as leaving at least this share of the path, so that no ratio explodes."""
ROUND_DIGITS = 2


@dataclass(frozen=True)
class Pattern:
    """A point of a genome, in units.

    Attributes
    ----------
    values : tuple of float
        As its genome names them.
    length_s : float
        Length of a run, seconds.
    """

    values: tuple[float, ...]
    length_s: float = LENGTH_S


class Genome(ABC):
    """A family of scenarios.

    Attributes
    ----------
    name : str
        On the command line.
    size : int
        Numbers in a vector.
    about : str
        What varies, in a few words.
    flows_at : int, optional
        Which of a pattern's values is a number of flows.
    lengths_s : tuple of float
        Shorter runs that minimising tries, seconds.
    """

    name: ClassVar[str]
    size: ClassVar[int]
    about: ClassVar[str]
    flows_at: ClassVar[int | None] = None
    lengths_s: ClassVar[tuple[float, ...]] = (6.0, 9.0)

    @abstractmethod
    def pattern(self, x: Vector) -> Pattern:
        """Decode a vector.

        Parameters
        ----------
        x : ndarray, shape (size,)
            Any finite numbers; a standard normal vector is an ordinary one.

        Returns
        -------
        Pattern
            Within the bounds of the genome.
        """

    @abstractmethod
    def without(self, pattern: Pattern, dropped: frozenset[int]) -> Pattern:
        """Take something out of a pattern.

        Parameters
        ----------
        pattern : Pattern
            The pattern.
        dropped : frozenset of int
            Places of the values that are to be neutral.

        Returns
        -------
        Pattern
            A simpler one.
        """

    @abstractmethod
    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        """Decode a pattern to a scenario.

        Parameters
        ----------
        pattern : Pattern
            The pattern.
        cast : sequence
            Who sends.

        Returns
        -------
        dict
            As a scenario file holds it.
        """

    @abstractmethod
    def curve(self, pattern: Pattern) -> Curve | None:
        """Give what a pattern does over time.

        Parameters
        ----------
        pattern : Pattern
            The pattern.

        Returns
        -------
        tuple or None
            For a picture; None when nothing changes during a run.
        """

    def path(self, pattern: Pattern) -> Bottleneck:
        """Give the path of a pattern.

        Parameters
        ----------
        pattern : Pattern
            The pattern.

        Returns
        -------
        Bottleneck
            Without what changes during a run.
        """
        del pattern
        return PATH

    def capacity_mbps(self, pattern: Pattern) -> float:
        """Give what the path can carry for those who are measured.

        Parameters
        ----------
        pattern : Pattern
            The pattern.

        Returns
        -------
        float
            Mean over the measured time, Mbit/s.
        """
        return self.path(pattern).rate_mbps

    def penalty(self, pattern: Pattern) -> float:
        """Give what is subtracted from the value of a pattern that is too crude to be of interest.

        Parameters
        ----------
        pattern : Pattern
            The pattern.

        Returns
        -------
        float
            At least 0.
        """
        del pattern
        return 0.0

    def rounded(self, pattern: Pattern) -> Pattern:
        """Round the values of a pattern to two digits.

        Parameters
        ----------
        pattern : Pattern
            The pattern.

        Returns
        -------
        Pattern
            One that is easier to read.
        """
        return replace(pattern, values=tuple(float(f"{one:.{ROUND_DIGITS}g}") for one in pattern.values))


def on_path(
    path: Bottleneck,
    pattern: Pattern,
    cast: Cast,
    *more: Table,
    events: tuple[Table, ...] = (),
    tcp: Mapping[str, Any] | None = None,
) -> Table:
    """Put senders on a path.

    Parameters
    ----------
    path : Bottleneck
        The path.
    pattern : Pattern
        Says how long a run is.
    cast : sequence
        Who sends.
    *more : dict
        Further flows.
    events : tuple of dict
        Changes of the path.
    tcp : mapping, optional
        Settings of all senders that differ.

    Returns
    -------
    dict
        The scenario.
    """
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
    """Give 1/(1 + e^-x), without overflow.

    Parameters
    ----------
    x : array_like
        Any finite numbers.

    Returns
    -------
    array_like
        From 0 to 1.
    """
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(x, float)))


def between(low: float, high: float, x: float) -> float:
    """Give a positive number between two, evenly by its logarithm.

    Parameters
    ----------
    low, high : float
        The two.
    x : float
        Any finite number; 0 gives their geometric mean.

    Returns
    -------
    float
        Within them.
    """
    return float(low * (high / low) ** logistic(x))
