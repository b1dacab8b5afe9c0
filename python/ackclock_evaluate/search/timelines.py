"""Genomes in which something changes every half second."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np
import scipy

from ackclock.engine import build
from ackclock.engine.build import Table
from ackclock_evaluate.search.genome import (
    LARGEST_EXPONENT,
    MEASURED_FROM,
    PATH,
    SAMPLE_S,
    SLOT_S,
    SLOTS,
    Cast,
    Genome,
    Pattern,
    TimelineCurve,
    Vector,
    logistic,
    on_path,
)
from ackclock_evaluate.setting import change


class _Timeline(Genome):
    """Something changes every half second; the neutral value of a slot is that of the slot before."""

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
        """Return the changes; a slot with the value of the slot before it needs none."""
        changes: list[Table] = []
        before = self.initial
        for index, value in enumerate(self.slots(pattern)):
            if value != before:
                changes += self.event(index * SLOT_S, value)
            before = value
        return tuple(changes)

    @abstractmethod
    def event(self, at_s: float, value: float) -> list[Table]:
        """Return the change of a slot."""

    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        return on_path(self.path(pattern), pattern, cast, events=self.events(pattern))

    def curve(self, pattern: Pattern) -> TimelineCurve:
        slots = self.slots(pattern)
        return self.label, [index * SLOT_S for index in range(len(slots))], list(slots)

    def mean(self, pattern: Pattern) -> float:
        """Average the values over the measured time."""
        slots = self.slots(pattern)
        from_s = MEASURED_FROM * pattern.length_s
        ends = SLOT_S * np.arange(1, len(slots) + 1)
        return float(np.average(slots, weights=np.clip(ends - from_s, 0, SLOT_S)))


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
    """The way back of the last flow alone gets longer, on its own link to the bottleneck."""

    name = "flow-delay"
    about = "the delay of one flow alone changes every half second by up to half a round trip"
    access_ms: ClassVar[float] = 1.0

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
        scenario = path.scenario(
            *flows,
            duration_s=pattern.length_s,
            measured_from_s=MEASURED_FROM * pattern.length_s,
            sample_s=SAMPLE_S,
            events=self.events(pattern),
        )
        bottleneck = {"name": "bottleneck", "from": "start", "to": "end", **scenario.pop("dumbbell")}
        nodes = [{"name": name} for name in ("start", "end", *(link["from"] for link in links))]
        return scenario | {"node": nodes, "link": [bottleneck, *links]}


class _Loss(_Timeline):
    """Random loss of 1 % over the whole run, more at some times than at others."""

    name, about = "loss", "random loss of 1 % over all is spread unevenly over half seconds"
    label, initial = "random loss (%)", 0.0
    mean_percent: ClassVar[float] = 1.0

    def pattern(self, x: Vector) -> Pattern:
        odds = np.clip(x, -2 * LARGEST_EXPONENT, 2 * LARGEST_EXPONENT)

        def excess(shift: float) -> float:
            return float(logistic(odds + shift).mean() - self.mean_percent / 100)

        return Pattern(tuple(100 * logistic(odds + scipy.optimize.brentq(excess, -30, 30, xtol=1e-12))))

    def event(self, at_s: float, value: float) -> list[Table]:
        return [change(at_s, "dumbbell.loss.rate", f"{value:.9f} %")]

    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        path = self.path(pattern).with_link(loss={"kind": "bernoulli", "rate": "0 %"})
        return on_path(path, pattern, cast, events=self.events(pattern))


CAPACITY, DELAY, FLOW_DELAY, LOSS = _Capacity(), _Delay(), _FlowDelay(), _Loss()
