"""The base class of controls that are written in Python."""

from __future__ import annotations

import math
from typing import ClassVar

from ackclock._native import Ack, Loss, Start, Timeout


class Control:
    """A base for controls written in Python: slow start and timeouts as Reno has them.

    A control need not derive from it. What the engine asks of a class: that it can be called with
    a `Start` and its parameters by name, has the methods ``on_ack``, ``on_loss``, ``on_timeout``,
    and an attribute ``window`` (packets, at least 1). It may have ``ssthresh`` (packets, shown in
    the trace), ``pacing_rate`` (packets per second, or None) and the methods ``on_recovered``,
    ``on_undo``, ``on_idle``, which are called with the time in seconds, and ``on_moderated``, which
    is called with packets.

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
    internals : tuple of str
        Of the class: names of attributes (numbers) that the trace is to hold.
    wants_rate : bool
        Of the class: whether `Ack.delivery_rate` is to be measured.
    """

    internals: ClassVar[tuple[str, ...]] = ()
    wants_rate: ClassVar[bool] = False
    before: tuple[float, float] = (1.0, math.inf)
    pacing_rate: float | None = None

    def __init__(self, start: Start) -> None:
        self.window = start.window
        self._initial_window = start.window
        self.ssthresh = start.ssthresh

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

    def on_moderated(self, window: float) -> None:
        """Let the window fall to what was in flight when a recovery ended.

        Parameters
        ----------
        window : float
            Packets.
        """
        self.window = max(1.0, min(self.window, window))

    def grow(self, ack: Ack) -> float:
        """Grow by slow start, up to ssthresh.

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
        room = self.ssthresh - self.window
        if ack.growth < room:
            self.window += ack.growth
            return 0.0
        self.window = self.ssthresh
        return ack.growth - room

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
        self.window = min(self.window + ack.growth, self.ssthresh)
        return True
