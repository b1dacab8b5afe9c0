"""The base class of controls that are written in Python."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from ackclock._native import Ack, Loss, Lost, Start, Timeout
from ackclock.engine.hystart import HyStartPlusPlus

LEAST_AFTER_LOSS = 2.0
"""The smallest window after a loss event, packets (RFC 5681, equation 4)."""


class Control:
    """A base for controls written in Python: slow start, timeouts and undo as Reno has them.

    A control need not derive from it. What the engine asks of a class: that it can be called with
    a `Start` and its parameters by name, has the methods ``on_ack``, ``on_loss``, ``on_timeout``,
    and an attribute ``window`` (packets, at least 1). It may have the other attributes and methods
    of this class, and ``on_recovered``, which is called with the time in seconds when a loss
    episode has ended without a timeout.

    Attributes
    ----------
    window : float
        The congestion window, packets. Read after every call.
    ssthresh : float
        The slow-start threshold, packets.
    before : tuple of float
        Window and ssthresh before the last loss event or first timeout, packets; noted by the
        engine.
    pacing_rate : float or None
        Packets per second at which packets are sent, or None for as soon as the window allows.
        Read after every call.
    quantum : int or None
        Packets that may go at once when they are paced; None is one packet. Read after every call.
    internals : tuple of str
        Of the class: names of attributes (numbers) that the trace is to hold.
    wants_rate : bool
        Of the class: whether `Ack.rate` and `Ack.delivery_rate` are to be measured.
    wants_losses : bool
        Of the class: whether ``on_lost`` and ``on_restart`` are to be called, and `Ack.lost` to be
        counted.
    wants_marks : bool
        Of the class: whether `Ack.marked` is to be counted; no loss event is then signalled for an
        ECN mark.
    window_is_a_cap : bool
        Of the class: whether the window only caps what a model of the path paces, so that
        `Ack.window_limited` says nothing about it.
    ecn : str or None
        Of the class: the ECN codepoint of its data, ``"ect0"`` or ``"ect1"``, or None for what the
        scenario says.
    """

    internals: ClassVar[tuple[str, ...]] = ()
    wants_rate: ClassVar[bool] = False
    wants_losses: ClassVar[bool] = False
    wants_marks: ClassVar[bool] = False
    window_is_a_cap: ClassVar[bool] = False
    ecn: ClassVar[Literal["ect0", "ect1"] | None] = None
    before: tuple[float, float] = (1.0, math.inf)
    pacing_rate: float | None = None
    quantum: int | None = None
    _hystart: HyStartPlusPlus | None = None

    def __init__(self, start: Start) -> None:
        self.window = start.window
        self._initial_window = start.window
        self.ssthresh = start.ssthresh
        if start.hystart:
            self._hystart = HyStartPlusPlus()

    def on_ack(self, ack: Ack) -> None:
        """Grow, or not: called for every acknowledgement.

        Parameters
        ----------
        ack : Ack
            What arrived.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method on_ack(self, ack)")

    def on_loss(self, loss: Loss) -> None:
        """Give way: called once per loss event.

        Parameters
        ----------
        loss : Loss
            When, and whether it was an ECN mark.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method on_loss(self, loss)")

    def on_timeout(self, timeout: Timeout) -> None:
        """Begin again with one packet (RFC 5681, section 3.1).

        Parameters
        ----------
        timeout : Timeout
            When, and whether the packet timed out for the first time.
        """
        if timeout.first:
            self.ssthresh = max(2.0, self.window / 2)
        self.window = 1.0

    def on_idle(self, now_s: float) -> None:  # noqa: ARG002
        """Begin again with the initial window after a pause (RFC 5681, section 4.1).

        Parameters
        ----------
        now_s : float
            When, seconds.
        """
        self.window = min(self.window, self._initial_window)

    def on_undo(self, now_s: float) -> None:  # noqa: ARG002
        """Take the last cut back: the loss that it was for has turned out to be none (RFC 4015).

        Parameters
        ----------
        now_s : float
            When, seconds.
        """
        self.window, self.ssthresh = self.before

    def on_lost(self, lost: Lost) -> None:
        """Take note of a lost packet: called for each, with `wants_losses`.

        Parameters
        ----------
        lost : Lost
            When, and how the packet was sent.
        """

    def on_restart(self, now_s: float) -> None:
        """Take note that the application sends again with nothing in flight, with `wants_losses`.

        Parameters
        ----------
        now_s : float
            When, seconds.
        """

    def on_moderated(self, window: float) -> None:
        """Let the window fall to what was in flight when a recovery ended.

        Parameters
        ----------
        window : float
            Packets.
        """
        self.window = max(1.0, min(self.window, window))

    def grow(self, ack: Ack) -> float:
        """Grow by slow start, up to ssthresh; with HyStart++ where the scenario asks for it.

        Parameters
        ----------
        ack : Ack
            What arrived.

        Returns
        -------
        float
            Packets of growth that are left for congestion avoidance; 0 in slow start.
        """
        if self.window >= self.ssthresh:
            return ack.growth
        if self.before is not Control.before:
            # HyStart++ is for the first slow start (RFC 9406, section 4.3).
            self._hystart = None
        step = ack.growth
        if self._hystart is not None:
            if self._hystart.leaves_slow_start(ack):
                self.leave_slow_start()
                return ack.growth
            step = self._hystart.step(step)
        room = self.ssthresh - self.window
        if step < room:
            self.window += step
            return 0.0
        self.window = self.ssthresh
        return step - room

    def slow_start(self, ack: Ack) -> bool:
        """Grow by a packet per acknowledged packet while the window is below ssthresh.

        Parameters
        ----------
        ack : Ack
            What arrived.

        Returns
        -------
        bool
            Whether this is slow start, so that nothing else is to be added for this ACK.
        """
        if self.window >= self.ssthresh:
            return False
        self.grow(ack)
        return True

    def leave_slow_start(self) -> None:
        """End slow start where the window is now."""
        self._hystart = None
        self.ssthresh = max(LEAST_AFTER_LOSS, self.window)

    def cut_to(self, window: float) -> None:
        """Let window and ssthresh become this, at least 2 packets, after a loss event.

        Parameters
        ----------
        window : float
            Packets.
        """
        self._hystart = None
        self.window = self.ssthresh = max(LEAST_AFTER_LOSS, window)

    def fall_to(self, window: float) -> None:
        """Let the window fall without a loss event; ssthresh does not stay above it.

        Parameters
        ----------
        window : float
            Packets.
        """
        self.window = max(1.0, window)
        self.ssthresh = min(self.ssthresh, max(LEAST_AFTER_LOSS, self.window))

    def kept(self, loss: Loss, fraction: float, after_mark: float) -> float:
        """Return what to keep of the window: more after an ECN mark (ABE, RFC 8511, section 3).

        Parameters
        ----------
        loss : Loss
            The loss event.
        fraction : float
            What to keep after a loss, between 0 and 1.
        after_mark : float
            What to keep after a mark in congestion avoidance, if it is more.

        Returns
        -------
        float
            Between 0 and 1.
        """
        is_marked = loss.ecn and self.window >= self.ssthresh
        return max(fraction, after_mark) if is_marked else fraction
