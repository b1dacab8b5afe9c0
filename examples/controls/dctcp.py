"""Data Center TCP (RFC 8257) as a class: it reads every mark and cuts by their share.

It sends the same packets as the built-in ``dctcp``::

    ackclock simulate --set flow.0.controller=dctcp:Dctcp first.toml

Run the command in this directory, or install the module.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from ackclock import Ack, Control, Loss, Start, Timeout


class Dctcp(Control):
    """Reno that cuts by alpha / 2 per window of data with marks; alpha follows their share."""

    wants_marks: ClassVar[bool] = True
    ecn: ClassVar[Literal["ect0", "ect1"] | None] = "ect0"
    internals: ClassVar[tuple[str, ...]] = ("alpha", "marked_share")

    def __init__(
        self, start: Start, g: float = 0.0625, initial_alpha: float = 1.0, grows_in_cut: bool = True
    ) -> None:
        super().__init__(start)
        self.g, self.grows_in_cut = g, grows_in_cut
        self.alpha, self.marked_share = initial_alpha, 0.0
        self.round = 0
        self.delivered_in_round = self.marked_in_round = 0
        self.delivered = self.in_flight = 0
        self.cut_ends_at: int | None = None
        """Packets delivered when the window of data that was cut is acknowledged."""
        self.window_before_cut = 0.0

    def on_ack(self, ack: Ack) -> None:
        """Count marks, grow, and cut at the first mark of a window of data."""
        self.count(ack)
        if self.cut_ends_at is None or self.grows_in_cut:
            growth = self.grow(ack)
            self.window += growth / self.window
        if ack.marked > 0 and self.cut_ends_at is None and not ack.recovering:
            before = self.window
            self.begin_cut()
            self.cut_to(before * (1.0 - self.alpha / 2.0))
            # A window of less than 2 packets does not rise at a mark.
            self.window = min(self.window, before)

    def count(self, ack: Ack) -> None:
        """Move alpha at the end of a round trip (RFC 8257, section 3.3)."""
        self.delivered += ack.delivered
        self.in_flight = ack.in_flight
        self.delivered_in_round += ack.delivered
        self.marked_in_round += ack.marked
        if ack.round != self.round:
            self.round = ack.round
            if self.delivered_in_round > 0:
                self.marked_share = min(self.marked_in_round / self.delivered_in_round, 1.0)
                self.alpha += self.g * (self.marked_share - self.alpha)
            self.delivered_in_round = self.marked_in_round = 0
        if self.cut_ends_at is not None and self.delivered > self.cut_ends_at:
            self.cut_ends_at = None

    def begin_cut(self) -> None:
        """Ignore marks until the packets in flight are acknowledged."""
        self.window_before_cut = self.window
        self.cut_ends_at = self.delivered + max(self.in_flight, 1)

    def on_loss(self, loss: Loss) -> None:  # noqa: ARG002
        """Halve the window; if a mark has cut it already, this replaces that cut."""
        window = self.window
        before = window if self.cut_ends_at is None else self.window_before_cut
        self.begin_cut()
        self.cut_to(min(before / 2.0, window))

    def on_timeout(self, timeout: Timeout) -> None:
        """Begin again with one packet."""
        self.cut_ends_at = None
        super().on_timeout(timeout)
