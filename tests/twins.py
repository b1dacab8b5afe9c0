"""Built-in controls written once more as classes."""

from __future__ import annotations

import copy
import math
from decimal import Context, Decimal
from pathlib import Path
from typing import Any, ClassVar

from ackclock import Ack, Control, Loss, Start, Timeout

SCENARIOS = Path(__file__).with_name("data") / "criteria.json"
"""A scenario per criterion of RFC 9743, which `satellites/test_twin_scenarios.py` takes from there."""
TICKS_PER_S = 1e12


class Reno(Control):
    """RFC 5681, and by the rules of Linux its Reno."""

    def __init__(self, start: Start) -> None:
        super().__init__(start)
        self.whole_packets = start.rules == "linux"

    def on_ack(self, ack: Ack) -> None:
        growth = self.grow(ack)
        self.window += self.packets_for(growth, self.window)

    def on_loss(self, _loss: Loss) -> None:
        self.cut_to(self.window / 2)


class Aimd(Control):
    """AIMD(32, 1/8)."""

    def on_ack(self, ack: Ack) -> None:
        growth = self.grow(ack)
        self.window += growth * 32.0 / self.window

    def on_loss(self, _loss: Loss) -> None:
        self.cut_to(self.window * (1.0 - 0.125))


def cube_root(number: float) -> float:
    """Return the nearest double, which the C library's function does not guarantee."""
    context = Context(prec=60)
    return float(context.power(Decimal(number), context.divide(Decimal(1), Decimal(3))))


class Cubic(Control):
    """RFC 9438."""

    internals: ClassVar[tuple[str, ...]] = ("w_max",)
    SCALE, BETA = 0.4, 0.7
    ALPHA = 3.0 * (1.0 - BETA) / (1.0 + BETA)

    def __init__(self, start: Start) -> None:
        super().__init__(start)
        self.w_max = self.window_before_cut = 0.0
        self.rtt_s: float | None = None
        # Time in ticks, K in seconds, W_max and the Reno-friendly window in packets.
        self.epoch: tuple[int, float, float, float] | None = None

    def cubic(self, time_s: float, k_s: float, w_max: float) -> float:
        away_s = time_s - k_s
        return self.SCALE * away_s * away_s * away_s + w_max

    def new_epoch(self, ack: Ack) -> tuple[int, float, float, float]:
        """Return the epoch of congestion avoidance that begins now."""
        now = round(ack.now_s * TICKS_PER_S)
        if self.w_max <= self.window:
            return now, 0.0, self.window, self.window
        return now, cube_root((self.w_max - self.window) / self.SCALE), self.w_max, self.window

    def on_ack(self, ack: Ack) -> None:
        if ack.rtt_s is not None:
            old = ack.rtt_s if self.rtt_s is None else self.rtt_s
            self.rtt_s = old + (ack.rtt_s - old) / 8.0
        growth = self.grow(ack)
        if growth <= 0.0:
            return
        now, window = round(ack.now_s * TICKS_PER_S), self.window
        began, k_s, origin, friendly = self.epoch or self.new_epoch(ack)
        friendly += growth * (1.0 if friendly >= self.window_before_cut else self.ALPHA) / window
        self.epoch = (began, k_s, origin, friendly)
        time_s = (now - began) / TICKS_PER_S
        if self.cubic(time_s, k_s, origin) < friendly:
            self.window = max(window, friendly)
            return
        target = self.cubic(time_s + (self.rtt_s or 0.0), k_s, origin)
        self.window += growth * (min(max(target, window), 1.5 * window) - window) / window

    def on_loss(self, _loss: Loss) -> None:
        window = self.window
        self.w_max = self.whole(window * (1.0 + self.BETA) / 2.0 if window < self.w_max else window)
        self.window_before_cut, self.epoch = window, None
        self.cut_to(window * self.BETA)

    def on_timeout(self, timeout: Timeout) -> None:
        self.window_before_cut = self.window
        window = self.window
        super().on_timeout(timeout)
        if timeout.first:
            self.ssthresh = max(2.0, self.whole(window * self.BETA))
        self.w_max, self.epoch = 0.0, None


class HyStart:
    """HyStart of Linux, of a sender that does not pace; all times in ticks, as the engine counts them."""

    LOW_WINDOW, SAMPLES = 16.0, 8
    IN_TRAIN, OFFLOAD, LEAST_RISE, MOST_RISE = (round(ms * TICKS_PER_S / 1000) for ms in (2, 1, 4, 16))

    def __init__(self) -> None:
        self.has_ended = False
        self.round = self.began = self.train = self.samples = 0
        self.least = self.current = math.inf

    def ends(self, ack: Ack, window: float) -> bool:
        """Return whether slow start ends, in which the acknowledgement comes."""
        if ack.rtt_s is None:
            return False
        now, rtt = round(ack.now_s * TICKS_PER_S), round(ack.rtt_s * TICKS_PER_S)
        self.least = min(self.least, rtt)
        if not self.has_ended and ack.round != self.round:
            self.round, self.began, self.train = ack.round, now, now
            self.samples, self.current = 0, math.inf
        if self.has_ended or window < self.LOW_WINDOW:
            return False
        self.has_ended = self._train_is_long(now) or self._delay_has_risen(rtt)
        return self.has_ended

    def _train_is_long(self, now: int) -> bool:
        if now - self.train > self.IN_TRAIN:
            return False
        self.train = now
        return now - self.began > (self.least + self.OFFLOAD) // 2

    def _delay_has_risen(self, rtt: int) -> bool:
        self.current = min(self.current, rtt)
        self.samples += 1
        rise = min(max(self.least // 8, self.LEAST_RISE), self.MOST_RISE)
        return self.samples > self.SAMPLES and self.current > self.least + rise


class CubicLinux(Cubic):
    """CUBIC of Linux, which counts in whole packets, with its HyStart."""

    FRIENDLY = 8.0 / 15.0
    FASTEST, SLOWEST_PROBE, SLOWEST = 2.0, 20.0, 100.0
    whole_packets = True

    def __init__(self, start: Start) -> None:
        super().__init__(start)
        self.hystart = HyStart()

    def on_ack(self, ack: Ack) -> None:
        if ack.rtt_s is not None:
            self.rtt_s = ack.rtt_s if self.rtt_s is None else min(self.rtt_s, ack.rtt_s)
        if self.window < self.ssthresh and self.hystart.ends(ack, self.window):
            self.ssthresh = max(2.0, self.window)
        growth = self.grow(ack)
        if growth <= 0.0:
            return
        began, k_s, origin, friendly = self.epoch or self.new_epoch(ack)
        friendly += growth * self.FRIENDLY / self.window
        self.epoch = (began, k_s, origin, friendly)
        time_s = (round(ack.now_s * TICKS_PER_S) - began) / TICKS_PER_S
        window = math.floor(self.window)
        target = math.floor(origin) + math.trunc(self.cubic(time_s + (self.rtt_s or 0.0), k_s, 0.0))
        packets = window // (target - window) if target > window else self.SLOWEST * window
        if self.w_max == 0.0:
            packets = min(packets, self.SLOWEST_PROBE)
        if math.floor(friendly) > window:
            packets = min(packets, window // (math.floor(friendly) - window))
        self.window += self.packets_for(growth, max(packets, self.FASTEST))

    def on_timeout(self, timeout: Timeout) -> None:
        super().on_timeout(timeout)
        self.rtt_s, self.hystart = None, HyStart()


def judged(scenario: dict[str, Any], control: str) -> dict[str, Any]:
    """Return a scenario with another control in place of the one under test."""
    other = copy.deepcopy(scenario)
    for flow in other["flow"]:
        if flow.get("controller") == "reno":
            flow["controller"] = control
    return other


assert math.isclose(cube_root(27.0), 3.0, rel_tol=0.0)
