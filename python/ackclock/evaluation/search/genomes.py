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
from scipy.optimize import brentq

from ackclock.engine import build
from ackclock.evaluation.setting import (
    PACKET_BYTES,
    STANDARD,
    Bottleneck,
    Subject,
    Table,
    change,
)

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
        return replace(
            pattern, values=tuple(float(f"{one:.{ROUND_DIGITS}g}") for one in pattern.values)
        )


class _Timeline(Genome):
    """Something changes every half second; the neutral value of a slot is the one before it."""

    size = SLOTS
    label: ClassVar[str]
    initial: ClassVar[float]

    def without(self, pattern: Pattern, dropped: frozenset[int]) -> Pattern:
        kept: list[float] = []
        for index, value in enumerate(pattern.values):
            before = kept[-1] if kept else self.initial
            kept.append(before if index in dropped else value)
        return replace(pattern, values=tuple(kept))

    def slots(self, pattern: Pattern) -> tuple[float, ...]:
        return pattern.values[: round(pattern.length_s / SLOT_S)]

    def events(self, pattern: Pattern) -> tuple[Table, ...]:
        """Describe the changes; a slot that is like the one before it needs none."""
        found: list[Table] = []
        before = self.initial
        for index, value in enumerate(self.slots(pattern)):
            if value != before:
                found += self.event(index * SLOT_S, value)
            before = value
        return tuple(found)

    @abstractmethod
    def event(self, at_s: float, value: float) -> list[Table]:
        """Describe one change."""

    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        return on_path(self.path(pattern), pattern, cast, events=self.events(pattern))

    def curve(self, pattern: Pattern) -> Curve:
        slots = self.slots(pattern)
        return self.label, [index * SLOT_S for index in range(len(slots))], list(slots)

    def mean(self, pattern: Pattern) -> float:
        """Average the values over the measured time."""
        slots = self.slots(pattern)
        from_s = MEASURED_FROM * pattern.length_s
        ends = SLOT_S * np.arange(1, len(slots) + 1)
        return float(np.average(slots, weights=np.clip(ends - from_s, 0, SLOT_S)))


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


class _Capacity(_Timeline):
    """The rate of the bottleneck changes; its mean is that of the path."""

    name, about = "capacity", "the bottleneck's rate changes every half second"
    label, initial = "rate (Mbit/s)", PATH.rate_mbps

    def pattern(self, x: Vector) -> Pattern:
        weights = np.exp(np.clip(x, -LARGEST_EXPONENT, LARGEST_EXPONENT))
        return Pattern(tuple(PATH.rate_mbps * weights / weights.mean()))

    def event(self, at_s: float, value: float) -> list[Table]:
        return [change(at_s, "dumbbell.rate", build.mbps(value))]

    def capacity_mbps(self, pattern: Pattern) -> float:
        return self.mean(pattern)


class _Delay(_Timeline):
    """The way back gets longer, by up to half a round trip."""

    name, about = "delay", "the delay changes every half second by up to half a round trip"
    label, initial = "extra delay (ms)", 0.0
    largest_ms: ClassVar[float] = PATH.rtt_ms / 2

    def pattern(self, x: Vector) -> Pattern:
        return Pattern(tuple(self.largest_ms * logistic(x)))

    def event(self, at_s: float, value: float) -> list[Table]:
        delay = build.milliseconds(PATH.rtt_ms / 4 + value)
        return [change(at_s, "dumbbell.reverse.delay", delay)]


class _FlowDelay(_Delay):
    """The same for the last flow alone, on its own link to the bottleneck.

    At 50 Mbit/s: at 10 Mbit/s a queue of 20 packets takes longer than the largest extra delay, and
    being wrong about the base RTT costs a delay-based control little.
    """

    name = "flow-delay"
    about = "the delay of one flow alone changes every half second by up to half a round trip"
    access_ms: ClassVar[float] = 1.0

    def path(self, pattern: Pattern) -> Bottleneck:
        del pattern
        return STANDARD

    def event(self, at_s: float, value: float) -> list[Table]:
        delay = build.milliseconds(self.access_ms + value)
        return [change(at_s, "link.last-access.reverse.delay", delay)]

    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        path = self.path(pattern)
        named = [
            (subject, f"{name}-{index}" if count > 1 else name)
            for subject, name, count in cast
            for index in range(count)
        ]
        flows, links = [], []
        for subject, name in named:
            node = f"from-{name}"
            flows.append(subject.flow(name, path.rtt_ms, **{"from": node, "to": "end"}))
            link = "last-access" if name == named[-1][1] else f"access-{name}"
            links.append(
                {
                    "name": link,
                    "from": node,
                    "to": "start",
                    "rate": "10 Gbit/s",
                    "delay": build.milliseconds(self.access_ms),
                    "queue": {"kind": "droptail", "limit": "100000 packets"},
                }
            )
        made = path.scenario(
            *flows,
            duration_s=pattern.length_s,
            measured_from_s=MEASURED_FROM * pattern.length_s,
            sample_s=SAMPLE_S,
            events=self.events(pattern),
        )
        bottleneck = {"name": "bottleneck", "from": "start", "to": "end", **made.pop("dumbbell")}
        nodes = [{"name": name} for name in ("start", "end", *(one["from"] for one in links))]
        return made | {"node": nodes, "link": [bottleneck, *links]}


class _Loss(_Timeline):
    """Packets are lost at random, one in a hundred over all, at some times more than at others."""

    name, about = "loss", "random loss of 1 % over all is spread unevenly over half seconds"
    label, initial = "random loss (%)", 0.0
    mean_percent: ClassVar[float] = 1.0

    def pattern(self, x: Vector) -> Pattern:
        odds = np.clip(x, -2 * LARGEST_EXPONENT, 2 * LARGEST_EXPONENT)

        def excess(shift: float) -> float:
            return float(logistic(odds + shift).mean() - self.mean_percent / 100)

        return Pattern(tuple(100 * logistic(odds + brentq(excess, -30, 30, xtol=1e-12))))

    def event(self, at_s: float, value: float) -> list[Table]:
        return [change(at_s, "dumbbell.loss.rate", f"{value:.9f} %")]

    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        path = self.path(pattern).with_link(loss={"kind": "bernoulli", "rate": "0 %"})
        return on_path(path, pattern, cast, events=self.events(pattern))


class _Values(Genome):
    """A few numbers that hold throughout a run, each with its neutral value."""

    neutral: ClassVar[tuple[float | None, ...]]

    def without(self, pattern: Pattern, dropped: frozenset[int]) -> Pattern:
        kept = list(pattern.values)
        for index in dropped:
            usual = self.neutral[index]
            kept[index] = kept[index] if usual is None else usual
        return replace(pattern, values=tuple(kept))


class _Pulses(_Values):
    """Datagrams come in pulses: period (s), duration (s), rate (Mbit/s), start (s).

    The round trip is short beside the smallest timeout, which is that of RFC 6298, section 2.4, as
    in the attack of Kuzmanovic and Knightly (SIGCOMM 2003): only then is there a resonance with it.
    """

    name, size, about = "pulses", 4, "datagrams come in pulses"
    neutral = (None, None, None, 1.0)
    fair_load: ClassVar[float] = 0.3
    usual: ClassVar[Bottleneck] = replace(PATH, rtt_ms=20)
    min_rto: ClassVar[str] = "1 s"

    def pattern(self, x: Vector) -> Pattern:
        period_s = float(np.exp(np.clip(x[0], -2.3, 1.2)))
        duration_s = 0.5 * float(logistic(x[1])) * period_s
        rate_mbps = 3 * PATH.rate_mbps * float(logistic(x[2]))
        return Pattern((period_s, duration_s, rate_mbps, 1 + float(logistic(x[3])) * period_s))

    def path(self, pattern: Pattern) -> Bottleneck:
        del pattern
        return self.usual

    def load(self, pattern: Pattern) -> float:
        """Give the share of the path that the pulses would take."""
        period_s, duration_s, rate_mbps, _ = pattern.values
        return duration_s / period_s * rate_mbps / PATH.rate_mbps

    def capacity_mbps(self, pattern: Pattern) -> float:
        return PATH.rate_mbps * max(LEAST_LEFT, 1 - self.load(pattern))

    def penalty(self, pattern: Pattern) -> float:
        return 0.5 * max(0.0, self.load(pattern) - self.fair_load)

    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        sender = {"min_rto": self.min_rto}
        return on_path(self.usual, pattern, cast, *self._flows(pattern), tcp=sender)

    def _times(self, pattern: Pattern) -> list[tuple[float, float]]:
        period_s, duration_s, _, first_s = pattern.values
        starts = np.arange(first_s, pattern.length_s - duration_s - 1e-6, period_s)
        return [(float(start), float(start) + duration_s) for start in starts]

    def _flows(self, pattern: Pattern) -> list[Table]:
        """Describe the pulses: a flow for each, since datagrams have a constant rate."""
        return [
            {
                "source": "cbr",
                "name": f"pulse-{index}",
                "rate": build.mbps(max(1e-6, pattern.values[2])),
                "packet": f"{PACKET_BYTES} B",
                "rtt": build.milliseconds(self.usual.rtt_ms),
                "start": build.seconds(start_s),
                "stop": build.seconds(max(stop_s, start_s + 1e-9)),
            }
            for index, (start_s, stop_s) in enumerate(self._times(pattern))
        ]

    def curve(self, pattern: Pattern) -> Curve:
        times, values = [0.0], [0.0]
        for start_s, stop_s in self._times(pattern):
            times += [start_s, stop_s]
            values += [pattern.values[2], 0.0]
        return "pulses (Mbit/s)", times, values


class _Ordinary(_Values):
    """A path as there are many: rate, RTT, buffer, flows, random loss, and grouped ACKs.

    Values: rate (Mbit/s), RTT (ms), buffer (bandwidth-delay products), number of flows, loss (%),
    time between groups of ACKs (ms). A run is at least 100 round trips long: on a longer path the
    search would find slow starts that take long, which the criterion far is about.
    """

    name, size, about = "path", 6, "rate, RTT, buffer, flows, loss and grouped ACKs of a path"
    neutral = (10.0, 40.0, 1.0, 1.0, 0.0, 0.0)
    flows_at = 3
    bounds: ClassVar[tuple[tuple[float, float], ...]] = (
        (1, 50), (5, 120), (0.1, 16), (1, 16), (0, 3), (0, 80),
    )  # fmt: skip
    least_group_ms: ClassVar[float] = 1.0

    def pattern(self, x: Vector) -> Pattern:
        shares = logistic(x)
        found = [
            # Of what ordinary paths do not have, half of the draws have nothing.
            low * (high / low) ** share if low else high * max(0.0, 2 * share - 1)
            for (low, high), share in zip(self.bounds, shares, strict=True)
        ]
        found[self.flows_at] = round(found[self.flows_at])
        return Pattern(tuple(float(one) for one in found))

    def path(self, pattern: Pattern) -> Bottleneck:
        rate_mbps, rtt_ms, buffer_bdp, _, loss, group_ms = pattern.values
        path = Bottleneck(rate_mbps, rtt_ms, buffer_bdp)
        if loss > 0:
            path = path.with_link(loss={"kind": "bernoulli", "rate": f"{loss:.9f} %"})
        if group_ms >= self.least_group_ms:
            grouped = {"aggregation": {"every": build.milliseconds(group_ms)}}
            path = path.with_link(reverse=grouped)
        return path

    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        times = round(pattern.values[self.flows_at])
        crowd = [(subject, name, times * count) for subject, name, count in cast]
        return on_path(self.path(pattern), pattern, crowd)

    def capacity_mbps(self, pattern: Pattern) -> float:
        return pattern.values[0] * (1 - pattern.values[4] / 100)

    def curve(self, pattern: Pattern) -> None:
        del pattern


GENOMES: dict[str, Genome] = {
    one.name: one for one in (_Capacity(), _Pulses(), _FlowDelay(), _Delay(), _Loss(), _Ordinary())
}
"""By name."""
