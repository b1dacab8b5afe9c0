"""Controls with a planted fault each, and honest ones: what an evaluation must catch, and must not.

Each class is Reno but for its fault, so that a finding can have no other cause.
"""

# The callbacks are documented by `ackclock.Control`.
# ruff: noqa: D102, ARG002

from __future__ import annotations

import math

from faulty_in_time import (
    BurstsEveryMinute,
    ForgetsSsthresh,
    FreezesAfterTimeout,
    IgnoresAtFirst,
    KeepsAfterIdling,
    LeaksAway,
    OneAfterIdling,
    StartsSlowly,
    TurnsLater,
    TurnsMuchLater,
    WaitsAfterLoss,
    WildAfterAMinute,
    WildAfterIdling,
)
from honest import Honest, KeepsMore, Timid

import ackclock


class HardlyBacksOff(Honest):
    """Keeps nine tenths of its window at a loss."""

    decrease = 0.9


class FourInOne(Honest):
    """Grows and backs off as four flows of Reno together."""

    increase = 4.0
    decrease = 1 - 0.5 / 4


class TwiceAsFast(Honest):
    """Grows by two packets in a round trip."""

    increase = 2.0


class Fixed(Honest):
    """Has a window of 1000 packets, whatever happens."""

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.window = 1000.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.window = 1000.0

    def on_loss(self, loss: ackclock.Loss) -> None:
        self.window = 1000.0

    def on_timeout(self, timeout: ackclock.Timeout) -> None:
        self.window = 1000.0


class IgnoresMarks(Honest):
    """Negotiates ECN and does not react to marks."""

    def on_loss(self, loss: ackclock.Loss) -> None:
        if not loss.ecn:
            super().on_loss(loss)


class BlindToLoss(Honest):
    """Sends twice its largest recent delivery rate, and ignores losses."""

    wants_rate = True

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.largest: dict[int, float] = {}
        self.least_rtt_s = math.inf

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.least_rtt_s = min(self.least_rtt_s, ack.rtt_s or math.inf)
        if ack.delivery_rate is None or math.isinf(self.least_rtt_s):
            return
        self.largest[ack.round] = max(ack.delivery_rate, self.largest.get(ack.round, 0.0))
        self.largest.pop(ack.round - 10, None)
        target = 3.0 + 2.0 * max(self.largest.values()) * self.least_rtt_s
        self.window = min(target, self.window + ack.credit)

    def on_loss(self, loss: ackclock.Loss) -> None:
        pass


class IgnoresSome(Honest):
    """Ignores losses while it loses less than a share of its packets."""

    ignored = 0.1

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.acked = self.lost = 0.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.acked += ack.credit
        super().on_ack(ack)

    def on_loss(self, loss: ackclock.Loss) -> None:
        self.lost += 1
        # Of the last thousand packets or so.
        forgotten = min(1.0, 1000 / max(1.0, self.acked))
        self.acked, self.lost = self.acked * forgotten, self.lost * forgotten
        if self.lost >= self.ignored * self.acked:
            super().on_loss(loss)


class NeverEndsSlowStart(Honest):
    """Begins slow start again after each loss, at half of the window."""

    def on_loss(self, loss: ackclock.Loss) -> None:
        super().on_loss(loss)
        self.ssthresh = math.inf


class NeverBelowTen(Honest):
    """Does not go below ten packets, at losses or timeouts."""

    def on_loss(self, loss: ackclock.Loss) -> None:
        super().on_loss(loss)
        self.ssthresh = self.window = max(10.0, self.window)

    def on_timeout(self, timeout: ackclock.Timeout) -> None:
        self.ssthresh = self.window = max(10.0, self.window / 2)


class FillsBuffers(Honest):
    """Keeps 0.98 of its window at a loss, and so a standing queue."""

    decrease = 0.98


class Unresponsive(Honest):
    """Sends 5 Mbit/s, in packets of 1500 bytes, whether they arrive or not."""

    pacing_rate = 5e6 / (8 * 1500)

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.window = 10_000.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        pass

    def on_loss(self, loss: ackclock.Loss) -> None:
        pass

    def on_timeout(self, timeout: ackclock.Timeout) -> None:
        pass


class GivesWay(Honest):
    """Backs off as soon as it sees a millisecond of queue."""

    queue_s = 0.001

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.least_rtt_s = math.inf
        self.round = 0

    def on_ack(self, ack: ackclock.Ack) -> None:
        if ack.rtt_s is not None:
            self.least_rtt_s = min(self.least_rtt_s, ack.rtt_s)
            if ack.rtt_s > self.least_rtt_s + self.queue_s and ack.round > self.round:
                self.round = ack.round
                self.ssthresh = self.window = max(2.0, self.window / 2)
                return
        super().on_ack(ack)


class BeginsWith200(Honest):
    """Has an initial window of 200 packets."""

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.window = 200.0


class Oscillates(Honest):
    """Has a third of its window in every other two seconds."""

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.whole = self.window

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.window = self.whole
        super().on_ack(ack)
        self.whole = self.window
        if int(ack.now_s / 2) % 2:
            self.window = max(2.0, self.whole / 3)

    def on_loss(self, loss: ackclock.Loss) -> None:
        self.window = self.whole
        super().on_loss(loss)
        self.whole = self.window


class UnfairByRtt(Honest):
    """Grows by the square of 40 ms over its RTT: more unfair to long round trips than Reno."""

    exponent = 2.0

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.least_rtt_s = math.inf

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.least_rtt_s = min(self.least_rtt_s, ack.rtt_s or math.inf)
        self.increase = (0.04 / self.least_rtt_s) ** self.exponent
        super().on_ack(ack)


class Multiplies(Honest):
    """Grows by a hundredth of a packet per ACK and keeps seven eighths: it does not converge to fairness."""

    decrease = 0.875

    def on_ack(self, ack: ackclock.Ack) -> None:
        if not self.slow_start(ack):
            self.window += 0.01 * ack.growth


class EverySecondLoss(Honest):
    """Reacts to every second loss event only."""

    events = 0

    def on_loss(self, loss: ackclock.Loss) -> None:
        self.events += 1
        if self.events % 2:
            super().on_loss(loss)


class GrowsWithDelay(Honest):
    """Grows faster the longer the queue is: by nine packets in a round trip when the RTT has doubled."""

    least_rtt_s = math.inf

    def on_ack(self, ack: ackclock.Ack) -> None:
        if ack.rtt_s is not None:
            self.least_rtt_s = min(self.least_rtt_s, ack.rtt_s)
            self.increase = 1 + 8 * (ack.rtt_s / self.least_rtt_s - 1)
        super().on_ack(ack)


class FallsAtUndo(Honest):
    """Falls to two packets when a loss turns out to be spurious."""

    def on_undo(self, now_s: float) -> None:
        self.window = self.ssthresh = 2.0


class ReactsTwice(Honest):
    """Halves its window twice at a loss event."""

    decrease = 0.25


class Capped(Honest):
    """Has a window of at most 64 packets."""

    def on_ack(self, ack: ackclock.Ack) -> None:
        super().on_ack(ack)
        self.window = min(64.0, self.window)


CAUGHT_BY: dict[type[Honest], tuple[str, ...]] = {
    HardlyBacksOff: ("mixed", "loss"),
    FourInOne: ("mixed", "loss"),
    TwiceAsFast: ("mixed", "loss"),
    Fixed: ("collapse-loss", "collapse-silence", "loss"),
    IgnoresMarks: ("aqm",),
    BlindToLoss: ("mixed", "loss"),
    NeverEndsSlowStart: ("mixed", "loss"),
    NeverBelowTen: ("collapse-silence", "collapse-overload"),
    FillsBuffers: ("bufferbloat",),
    Unresponsive: ("collapse-undelivered",),
    GivesWay: ("compete", "wired"),
    TurnsLater: ("mixed", "loss"),
    TurnsMuchLater: ("late",),
    WildAfterIdling: ("app-limited",),
    WildAfterAMinute: ("late",),
    BeginsWith200: ("short",),
    Oscillates: ("wired",),
    UnfairByRtt: ("rtt",),
    Multiplies: ("self-fairness",),
    EverySecondLoss: ("mixed", "loss"),
    GrowsWithDelay: ("mixed", "loss"),
    FreezesAfterTimeout: ("collapse-silence",),
    WaitsAfterLoss: ("compete", "wired"),
    BurstsEveryMinute: ("late",),
    LeaksAway: ("late",),
    FallsAtUndo: ("reordering",),
    ReactsTwice: ("wired",),
    Capped: ("wired",),
    StartsSlowly: ("short",),
    IgnoresAtFirst: ("short",),
    OneAfterIdling: ("app-limited",),
    KeepsAfterIdling: ("app-limited",),
    ForgetsSsthresh: ("collapse-silence",),
}
"""At least one of these criteria must find the fault; the first is the criterion that asks for it."""
ALSO_CAUGHT_BY: dict[type[Honest], tuple[str, ...]] = {
    Fixed: (
        "real-time",
        "tunnel",
        "wireless",
        "ecn",
        "breakers",
        "delay",
        "iot",
        "far",
        "misbehaving",
        "transients",
        "path",
        "datacentre",
    )
}
"""Criteria without a fault above; each must find this fault, so that every criterion finds one."""
HONEST: tuple[type[Honest], ...] = (Honest, Timid, KeepsMore)
"""Controls that no criterion may call worse."""
