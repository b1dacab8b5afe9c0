"""The genomes of a search: those over time, pulses of datagrams, and ordinary paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ackclock.engine import build
from ackclock.engine.build import Table
from ackclock_evaluate.search.genome import (
    LEAST_LEFT,
    PATH,
    Cast,
    Genome,
    Pattern,
    TimelineCurve,
    Vector,
    between,
    logistic,
    on_path,
)
from ackclock_evaluate.search.timelines import CAPACITY, DELAY, FLOW_DELAY, LOSS
from ackclock_evaluate.setting import PACKET_BYTES, Bottleneck


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


def pulsed(values: Sequence[float], length_s: float) -> TimelineCurve:
    """Return the rate of pulses with a period (s), a duration (s), a rate (Mbit/s) and a start (s)."""
    period_s, duration_s, rate_mbps, first_s = values
    times, rates = [0.0], [0.0]
    for start_s in np.arange(first_s, length_s, period_s):
        times += [float(start_s), min(float(start_s) + duration_s, length_s)]
        rates += [rate_mbps, 0.0]
    return "pulses (Mbit/s)", times, rates


class _Pulses(_ConstantGenome):
    """Datagrams come in pulses: period (s), duration (s), rate (Mbit/s), start (s).

    The round trip is short compared with the smallest timeout, which is that of RFC 6298, section
    2.4, as in the attack of Kuzmanovic and Knightly (SIGCOMM 2003): only then do pulses resonate
    with it. An attack differs from a flood by sending little, so the share of the path that the
    pulses would take is subtracted.
    """

    name, size, about = "pulses", 4, "datagrams come in pulses"
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

    def curve(self, pattern: Pattern) -> TimelineCurve:
        return pulsed(pattern.values, pattern.length_s)


class _Ordinary(_ConstantGenome):
    """An ordinary path: rate, RTT, buffer, flows, random loss, and grouped ACKs.

    Values: rate (Mbit/s), RTT (ms), buffer (bandwidth-delay products), number of flows, loss (%),
    time between groups of ACKs (ms). A run is at least 100 round trips long: on a longer path the
    search would find long slow starts, which the criterion `far` covers.
    """

    name, size, about = "path", 6, "rate, RTT, buffer, flows, loss and grouped ACKs of a path"
    neutral = (10.0, 40.0, 1.0, 1.0, 0.0, 0.0)
    flows_at = 3
    bounds: ClassVar[tuple[tuple[float, float], ...]] = (
        (1, 200),
        (5, 120),
        (0.1, 16),
        (1, 16),
        (0, 3),
        (0, 80),
    )
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

    def curve(self, pattern: Pattern) -> None:
        del pattern


GENOMES: dict[str, Genome] = {
    genome.name: genome for genome in (CAPACITY, _Pulses(), FLOW_DELAY, DELAY, LOSS, _Ordinary())
}
