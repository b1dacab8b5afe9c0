"""The genomes of a search: changes every half second, pulses of datagrams, and ordinary paths."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np
import scipy

from ackclock.engine import build
from ackclock.engine.build import Table
from ackclock_evaluate.setting import PACKET_BYTES, Bottleneck, change
from ackclock_search.genome import (
    LARGEST_EXPONENT,
    LEAST_LEFT,
    MEASURED_FROM,
    PATH,
    SAMPLE_S,
    SLOT_S,
    SLOTS,
    Cast,
    Genome,
    Pattern,
    Vector,
    between,
    logistic,
    on_path,
)


class _Timeline(Genome):
    """A value changes every half second; a neutral slot repeats the value of the slot before it."""

    size = SLOTS
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

    def mean(self, pattern: Pattern) -> float:
        """Average the values over the measured time."""
        slots = self.slots(pattern)
        from_s = MEASURED_FROM * pattern.length_s
        ends = SLOT_S * np.arange(1, len(slots) + 1)
        return float(np.average(slots, weights=np.clip(ends - from_s, 0, SLOT_S)))


class _Capacity(_Timeline):
    """The rate of the bottleneck changes; its mean is the rate of the path."""

    name = "capacity"
    initial = PATH.rate_mbps

    def pattern(self, x: Vector) -> Pattern:
        weights = np.exp(np.clip(x, -LARGEST_EXPONENT, LARGEST_EXPONENT))
        return Pattern(tuple(PATH.rate_mbps * weights / weights.mean()))

    def event(self, at_s: float, value: float) -> list[Table]:
        return [change(at_s, "dumbbell.rate", build.mbps(value))]

    def capacity_mbps(self, pattern: Pattern) -> float:
        return self.mean(pattern)


class _Delay(_Timeline):
    """The way back gets longer, by up to half a round trip."""

    name = "delay"
    initial = 0.0
    largest_ms: ClassVar[float] = PATH.rtt_ms / 2

    def pattern(self, x: Vector) -> Pattern:
        return Pattern(tuple(self.largest_ms * logistic(x)))

    def event(self, at_s: float, value: float) -> list[Table]:
        delay = build.milliseconds(PATH.rtt_ms / 4 + value)
        return [change(at_s, "dumbbell.reverse.delay", delay)]


class _FlowDelay(_Delay):
    """The way back of the last flow alone gets longer, on its own link to the bottleneck."""

    name = "flow-delay"
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

    name = "loss"
    initial = 0.0
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


class _ConstantGenome(Genome):
    """A few numbers that hold throughout a run, each with its neutral value."""

    neutral: ClassVar[tuple[float | None, ...]]
    """None where a value has no neutral one and stays."""

    def without(self, pattern: Pattern, dropped: frozenset[int]) -> Pattern:
        kept = list(pattern.values)
        for index in dropped:
            usual = self.neutral[index]
            kept[index] = kept[index] if usual is None else usual
        return replace(pattern, values=tuple(kept))


class _Pulses(_ConstantGenome):
    """Datagrams come in pulses: period (s), duration (s), rate (Mbit/s), start (s).

    The round trip is short compared with the smallest timeout, which is that of RFC 6298, section
    2.4, as in the attack of Kuzmanovic and Knightly (SIGCOMM 2003): only then do pulses resonate
    with it. An attack differs from a flood by sending little, so the share of the path that the
    pulses would take is subtracted.
    """

    name, size = "pulses", 4
    neutral = (None, None, None, 1.0)
    usual: ClassVar[Bottleneck] = replace(PATH, rtt_ms=20)
    min_rto: ClassVar[str] = "1 s"
    periods_s: ClassVar[tuple[float, float]] = (0.1, 3.3)
    shortest_s: ClassVar[float] = 1e-3
    longest: ClassVar[float] = 0.5
    """Longest duration of a pulse, as a share of the period."""
    rates_mbps: ClassVar[tuple[float, float]] = (PATH.rate_mbps / 3, 3 * PATH.rate_mbps)

    def pattern(self, x: Vector) -> Pattern:
        period_s = between(*self.periods_s, x[0])
        duration_s = between(self.shortest_s, self.longest * period_s, x[1])
        rate_mbps = between(*self.rates_mbps, x[2])
        return Pattern((period_s, duration_s, rate_mbps, 1 + float(logistic(x[3])) * period_s))

    def path(self, pattern: Pattern) -> Bottleneck:
        del pattern
        return self.usual

    def capacity_mbps(self, pattern: Pattern) -> float:
        return PATH.rate_mbps * max(LEAST_LEFT, 1 - self.penalty(pattern))

    def penalty(self, pattern: Pattern) -> float:
        period_s, duration_s, rate_mbps, _ = pattern.values
        return duration_s / period_s * rate_mbps / PATH.rate_mbps

    def scenario(self, pattern: Pattern, cast: Cast) -> Table:
        period_s, duration_s, rate_mbps, first_s = pattern.values
        pulses = {
            "source": "cbr",
            "name": "pulses",
            "rate": build.mbps(rate_mbps),
            "packet": f"{PACKET_BYTES} B",
            "rtt": build.milliseconds(self.usual.rtt_ms),
            "pulse": {"on": build.seconds(duration_s), "every": build.seconds(period_s)},
            "start": build.seconds(first_s),
        }
        tcp = {"min_rto": self.min_rto, "min_rto_bounds": "timeout"}
        return on_path(self.usual, pattern, cast, pulses, tcp=tcp)


class _Ordinary(_ConstantGenome):
    """An ordinary path: rate, RTT, buffer, flows, random loss, and grouped ACKs.

    Values: rate (Mbit/s), RTT (ms), buffer (bandwidth-delay products), number of flows, loss (%),
    time between groups of ACKs (ms). A run is at least 100 round trips long: on a longer path the
    search would find long slow starts, which the criterion `far` covers.
    """

    name, size = "path", 6
    neutral = (10.0, 40.0, 1.0, 1.0, 0.0, 0.0)
    flows_at = 3
    bounds: ClassVar = ((1, 200), (5, 120), (0.1, 16), (1, 16), (0, 3), (0, 80))
    least_group_ms: ClassVar[float] = 1.0

    def pattern(self, x: Vector) -> Pattern:
        values = [
            # Most ordinary paths have no loss and no grouped ACKs: half of the draws leave these 0.
            between(low, high, number) if low else high * max(0.0, 2 * float(logistic(number)) - 1)
            for (low, high), number in zip(self.bounds, x, strict=True)
        ]
        values[self.flows_at] = round(values[self.flows_at])
        return Pattern(tuple(map(float, values)))

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


GENOMES: dict[str, Genome] = {
    genome.name: genome for genome in (_Capacity(), _Pulses(), _FlowDelay(), _Delay(), _Loss(), _Ordinary())
}
SUITED: dict[str, tuple[str, ...]] = {
    "utilisation": ("capacity", "pulses", "path", "delay", "loss"),
    "delay": ("capacity", "delay", "pulses", "path"),
    "starvation": ("flow-delay", "capacity", "pulses"),
    "harm": ("capacity", "path", "delay", "loss"),
    "loss": ("capacity", "path", "pulses", "delay"),
    "stall": ("capacity", "pulses", "loss", "delay"),
    "unused": ("pulses", "path"),
}
"""The genomes that suit each objective; quick searches take the first two."""
