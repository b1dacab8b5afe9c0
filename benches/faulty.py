"""Controls with a planted fault each, and honest ones: what an evaluation must catch, and must not.

Each class is Reno but for its fault, so that a finding can have no other cause.
"""

# The callbacks are documented by `ackclock.Control`.
# ruff: noqa: D102, ARG002

from __future__ import annotations

import math

import ackclock


class Honest(ackclock.Control):
    """Reno, written in Python."""

    increase = 1.0
    decrease = 0.5

    def on_ack(self, ack: ackclock.Ack) -> None:
        if not self.slow_start(ack):
            self.window += self.increase * ack.growth / self.window

    def on_loss(self, loss: ackclock.Loss) -> None:
        self.ssthresh = self.window = max(2.0, self.decrease * self.window)


class Timid(Honest):
    """Grows by nine tenths of a packet in a round trip: an honest control that is not Reno."""

    increase = 0.9


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


class TurnsLater(Honest):
    """Is Reno for a while, and then eight flows in one."""

    after_s = 30.0
    flows = 8.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        if ack.now_s > self.after_s:
            self.increase, self.decrease = self.flows, 1 - 0.5 / self.flows
        super().on_ack(ack)


class TurnsMuchLater(TurnsLater):
    """Is Reno for 100 s, which is longer than most scenarios."""

    after_s = 100.0


class WildAfterIdling(Honest):
    """Grows without bound once it has been idle for 4 s."""

    idle_s = 4.0

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.last_s = 0.0
        self.is_wild = False

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.is_wild = self.is_wild or ack.now_s - self.last_s > self.idle_s
        self.last_s = ack.now_s
        if self.is_wild:
            self.window += ack.credit
        else:
            super().on_ack(ack)

    def on_loss(self, loss: ackclock.Loss) -> None:
        if not self.is_wild:
            super().on_loss(loss)


class WildAfterAMinute(WildAfterIdling):
    """Grows without bound once it has been idle for a minute."""

    idle_s = 60.0


class BurstsAfterAMinute(Honest):
    """Begins again with 200 packets once it has been idle for a minute."""

    burst = 200.0

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.last_s = 0.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        super().on_ack(ack)
        if ack.now_s - self.last_s > 60:
            self.window = self.burst
        self.last_s = ack.now_s


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


CAUGHT_BY: dict[type[Honest], tuple[str, ...]] = {
    HardlyBacksOff: ("mixed", "loss"),
    FourInOne: ("mixed", "loss"),
    TwiceAsFast: ("mixed", "loss"),
    Fixed: ("collapse-loss", "collapse-silence", "loss"),
    IgnoresMarks: ("aqm",),
    BlindToLoss: ("mixed", "loss"),
    NeverEndsSlowStart: ("mixed", "loss"),
    NeverBelowTen: ("collapse-silence", "collapse-overload"),
    GivesWay: ("compete", "wired"),
    TurnsLater: ("mixed", "loss"),
    TurnsMuchLater: ("late",),
    WildAfterIdling: ("app-limited",),
    WildAfterAMinute: ("late",),
    BeginsWith200: ("short",),
    Oscillates: ("wired",),
    UnfairByRtt: ("rtt",),
    Multiplies: ("self-fairness",),
}
"""The criteria of which at least one must find the fault, the first of them the one that asks for it."""
HONEST: tuple[type[Honest], ...] = (Honest, Timid)
"""Controls that no criterion may call worse."""
