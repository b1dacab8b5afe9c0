"""Honest controls, which no criterion may judge worse."""

# The callbacks are documented by `ackclock.Control`.
# ruff: noqa: D102, ARG002

from __future__ import annotations

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


class KeepsMore(Honest):
    """Keeps 0.55 of its window at a loss: an honest control that is not Reno."""

    decrease = 0.55
