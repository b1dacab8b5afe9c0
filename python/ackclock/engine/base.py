"""The base class of controls that are written in Python."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from ackclock._native import Ack, Loss, Lost, Start, Timeout
from ackclock.engine.hystart import HyStartPlusPlus

LEAST_AFTER_LOSS = 2.0
"""The smallest window after a loss event, packets (RFC 5681, equation 4)."""
ROUNDING = 1.0 / 4096.0
"""More than the rounding errors of a window, packets, and less than any step."""


class Control:
    """A base class for controls written in Python: slow start, timeouts and undo as in Reno.

    A control need not derive from it. The engine requires a class that can be called with a `Start` and its
    parameters by name, has the methods ``on_ack``, ``on_loss`` and ``on_timeout``, and an attribute
    ``window`` (packets, at least 1). It may have the other attributes and methods of this class, and
    ``on_recovered``, which is called with the time in seconds when a loss episode has ended without a
    timeout, and ``on_caught_up``, when all packets outstanding at a timeout have been acknowledged
    (``recovery = "rack"`` alone).

    Attributes
    ----------
    window : float
        The congestion window, packets. Read after every call.
    ssthresh : float
        The slow-start threshold, packets.
    before : tuple of float
        Window and ssthresh before the last loss event or first timeout, packets; set by the
        engine.
    rules : str
        ``"linux"`` or ``"standard"``, as the `Start` has it.
    whole_packets : bool
        Whether `packets_for`, `cut_to` and `on_timeout` keep the window at a whole number of packets, as
        Linux does. False unless the control sets it.
    idle_timeouts : int
        Whole retransmission timeouts that the last idle time lasted; set by the engine.
    pacing_rate : float or None
        Packets per second at which packets are sent; None sends them as soon as the window
        allows. Read after every call.
    quantum : int or None
        Packets that may be sent at once when they are paced; None is one packet. Read after
        every call.
    internals : tuple of str
        Class attribute: names of numeric attributes that the trace records.
    wants_rate : bool
        Class attribute: whether `Ack.rate` and `Ack.delivery_rate` are measured.
    wants_losses : bool
        Class attribute: whether ``on_lost`` and ``on_restart`` are called, and `Ack.lost` is
        counted.
    wants_marks : bool
        Class attribute: whether `Ack.marked` is counted; an ECN mark then signals no loss
        event.
    window_is_a_cap : bool
        Class attribute: whether the window only caps a rate that follows from a model of the
        path, so that `Ack.window_limited` says nothing about the control.
    ecn : str or None
        Class attribute: the ECN codepoint of its data, ``"ect0"`` or ``"ect1"``; None leaves it
        to the scenario.
    """

    internals: ClassVar[tuple[str, ...]] = ()
    wants_rate: ClassVar[bool] = False
    wants_losses: ClassVar[bool] = False
    wants_marks: ClassVar[bool] = False
    window_is_a_cap: ClassVar[bool] = False
    ecn: ClassVar[Literal["ect0", "ect1"] | None] = None
    before: tuple[float, float] = (1.0, math.inf)
    rules: Literal["standard", "linux"] = "standard"
    whole_packets: bool = False
    idle_timeouts: int = 1
    pacing_rate: float | None = None
    quantum: int | None = None
    _hystart: HyStartPlusPlus | None = None
    _counted: float = 0.0

    def __init__(self, start: Start) -> None:
        self.window = start.window
        self._initial_window = start.window
        self.ssthresh = start.ssthresh
        self.rules = start.rules
        if start.hystart:
            self._hystart = HyStartPlusPlus()

    def on_ack(self, ack: Ack) -> None:
        """Adjust the window; called for every acknowledgement.

        Parameters
        ----------
        ack : Ack
            The acknowledgement that arrived.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method on_ack(self, ack)")

    def on_loss(self, loss: Loss) -> None:
        """Reduce the window; called once per loss event.

        Parameters
        ----------
        loss : Loss
            Its time, and whether it was an ECN mark.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method on_loss(self, loss)")

    def on_timeout(self, timeout: Timeout) -> None:
        """Restart with one packet (RFC 5681, section 3.1).

        Parameters
        ----------
        timeout : Timeout
            Its time, and whether the packet timed out for the first time.
        """
        if timeout.first:
            self.ssthresh = max(LEAST_AFTER_LOSS, self.whole(self.window / 2))
        self.window = 1.0
        self._counted = 0.0

    def on_idle(self, now_s: float) -> None:  # noqa: ARG002
        """Restart with the initial window after a pause (RFC 5681, section 4.1).

        By the rules of Linux the window is halved once per retransmission timeout that has passed, down to
        the initial one, and ssthresh is at least 3/4 of it (``tcp_cwnd_restart``).

        Parameters
        ----------
        now_s : float
            The present time, seconds.
        """
        least = min(self.window, self._initial_window)
        if self.rules == "standard":
            self.window = least
            return
        quarters = float(math.floor(self.window / 2) + math.floor(self.window / 4))
        self.ssthresh = max(self.ssthresh, quarters)
        for _ in range(self.idle_timeouts):
            if self.window <= least:
                break
            self.window = float(math.floor(self.window / 2))
        self.window = max(self.window, least)

    def on_undo(self, now_s: float) -> None:  # noqa: ARG002
        """Undo the last reduction, because the loss that caused it was spurious (RFC 4015).

        Parameters
        ----------
        now_s : float
            The present time, seconds.
        """
        self.window, self.ssthresh = self.before

    def on_lost(self, lost: Lost) -> None:
        """Note a lost packet; called for each one if `wants_losses` is set.

        Parameters
        ----------
        lost : Lost
            Time of the loss, and the state when the packet was sent.
        """

    def on_restart(self, now_s: float) -> None:
        """Note that the application sends again with nothing in flight, if `wants_losses` is set.

        Parameters
        ----------
        now_s : float
            The present time, seconds.
        """

    def on_moderated(self, window: float) -> None:
        """Reduce the window to the packets in flight at the end of a recovery.

        Parameters
        ----------
        window : float
            Packets in flight then.
        """
        self.window = max(1.0, min(self.window, window))

    def grow(self, ack: Ack) -> float:
        """Grow by slow start up to ssthresh, with HyStart++ if the scenario enables it.

        Parameters
        ----------
        ack : Ack
            The acknowledgement that arrived.

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
            The acknowledgement that arrived.

        Returns
        -------
        bool
            Whether the flow is in slow start, so that nothing else is added for this ACK.
        """
        if self.window >= self.ssthresh:
            return False
        self.grow(ack)
        return True

    def packets_for(self, growth: float, each: float) -> float:
        """Return the packets by which the window grows if every `each` acknowledged packets add one.

        With `whole_packets` the fractions are counted until they make a packet, as in Linux
        (``tcp_cong_avoid_ai``). The count of an earlier, slower growth adds at most one packet.

        Parameters
        ----------
        growth : float
            Packets of growth, as `grow` returns them.
        each : float
            Packets, more than 0: the window for Reno.

        Returns
        -------
        float
            The packets to add to the window.
        """
        if not self.whole_packets:
            return growth / each
        if growth <= 0.0:
            return 0.0
        kept = 1.0 if self._counted >= each else 0.0
        count = growth if kept else self._counted + growth
        packets = float(math.floor(count / each))
        self._counted = count - packets * each
        return kept + packets

    def whole(self, window: float) -> float:
        """Return a window in whole packets with `whole_packets`, and as it is otherwise.

        Parameters
        ----------
        window : float
            The window, packets.

        Returns
        -------
        float
            The window to have instead, packets.
        """
        return float(math.floor(window + ROUNDING)) if self.whole_packets else window

    def leave_slow_start(self) -> None:
        """End slow start at the current window."""
        self._hystart = None
        self.ssthresh = max(LEAST_AFTER_LOSS, self.window)

    def cut_to(self, window: float) -> None:
        """Set window and ssthresh after a loss event, to at least 2 packets.

        Parameters
        ----------
        window : float
            The new window, packets.
        """
        self._hystart = None
        self.window = self.ssthresh = max(LEAST_AFTER_LOSS, self.whole(window))
        self._counted = 0.0

    def fall_to(self, window: float) -> None:
        """Reduce the window without a loss event; ssthresh does not stay above it.

        Parameters
        ----------
        window : float
            The new window, packets.
        """
        self.window = max(1.0, window)
        self.ssthresh = min(self.ssthresh, max(LEAST_AFTER_LOSS, self.window))

    def kept(self, loss: Loss, fraction: float, after_mark: float) -> float:
        """Return the fraction of the window to keep: more after an ECN mark (ABE, RFC 8511, section 3).

        Parameters
        ----------
        loss : Loss
            The loss event.
        fraction : float
            The fraction to keep after a loss, between 0 and 1.
        after_mark : float
            The fraction to keep after a mark in congestion avoidance, if it is larger.

        Returns
        -------
        float
            A fraction between 0 and 1.
        """
        is_marked = loss.ecn and self.window >= self.ssthresh
        return max(fraction, after_mark) if is_marked else fraction
