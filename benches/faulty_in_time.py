"""Controls whose planted fault shows at a time: at the start, after a pause, a loss or a timeout, or late."""

# The callbacks are documented by `ackclock.Control`.
# ruff: noqa: D102, ARG002

from __future__ import annotations

import math

from honest import Honest

import ackclock


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


class BurstsEveryMinute(Honest):
    """Adds 300 packets to its window every minute."""

    next_s = 60.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        super().on_ack(ack)
        if ack.now_s >= self.next_s:
            self.next_s += 60.0
            self.window += 300.0


class LeaksAway(Honest):
    """Grows more slowly from second to second, and after 1000 s not at all."""

    lasts_s = 1000.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.increase = max(0.0, 1 - ack.now_s / self.lasts_s)
        super().on_ack(ack)


class StartsSlowly(Honest):
    """Keeps a window of two packets for its first two seconds."""

    until_s = math.inf

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.until_s = min(self.until_s, ack.now_s + 2)
        if ack.now_s < self.until_s:
            self.window = 2.0
        else:
            super().on_ack(ack)


class IgnoresAtFirst(Honest):
    """Leaves slow start at a loss, but does not back off in its first 20 s."""

    until_s = math.inf

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.until_s = min(self.until_s, ack.now_s + 20)
        super().on_ack(ack)

    def on_loss(self, loss: ackclock.Loss) -> None:
        if loss.now_s > self.until_s:
            super().on_loss(loss)
        else:
            self.ssthresh = self.window


class FreezesAfterTimeout(Honest):
    """Keeps a window of one packet for 20 s after a timeout."""

    until_s = 0.0

    def on_timeout(self, timeout: ackclock.Timeout) -> None:
        super().on_timeout(timeout)
        self.until_s = timeout.now_s + 20

    def on_ack(self, ack: ackclock.Ack) -> None:
        if ack.now_s >= self.until_s:
            super().on_ack(ack)
        else:
            self.window = 1.0


class ForgetsSsthresh(Honest):
    """Has no ssthresh after a timeout, so that slow start lasts until the next loss."""

    def on_timeout(self, timeout: ackclock.Timeout) -> None:
        super().on_timeout(timeout)
        self.ssthresh = math.inf


class WaitsAfterLoss(Honest):
    """Keeps a window of two packets for 20 s after a loss event."""

    until_s = 0.0

    def on_loss(self, loss: ackclock.Loss) -> None:
        self.window = self.ssthresh = 2.0
        self.until_s = loss.now_s + 20

    def on_ack(self, ack: ackclock.Ack) -> None:
        if ack.now_s >= self.until_s:
            super().on_ack(ack)


class OneAfterIdling(Honest):
    """Begins again with one packet after a pause, and in congestion avoidance."""

    def on_idle(self, now_s: float) -> None:
        self.window, self.ssthresh = 1.0, 2.0


class KeepsAfterIdling(Honest):
    """Sends its whole window at once after a pause."""

    def on_idle(self, now_s: float) -> None:
        pass
