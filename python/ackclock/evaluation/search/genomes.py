"""The genomes of a search: those over time, pulses of datagrams, and ordinary paths."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ackclock.engine import build
from ackclock.evaluation.search.genome import (
    LEAST_LEFT,
    PATH,
    Cast,
    Curve,
    Genome,
    Pattern,
    Vector,
    logistic,
    on_path,
)
from ackclock.evaluation.search.timelines import CAPACITY, DELAY, FLOW_DELAY, LOSS
from ackclock.evaluation.setting import PACKET_BYTES, Bottleneck, Table


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
        (1, 200), (5, 120), (0.1, 16), (1, 16), (0, 3), (0, 80),
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
    one.name: one for one in (CAPACITY, _Pulses(), FLOW_DELAY, DELAY, LOSS, _Ordinary())
}
"""By name."""
