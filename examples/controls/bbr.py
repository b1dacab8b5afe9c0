"""BBR, the model of version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), as a class.

It models the path by two numbers: the largest delivery rate of ten round trips, and RTprop, the
smallest RTT of ten seconds. It paces at a gain times the rate, and keeps at most a gain times their
product, and three packets, in flight. It sends the same packets as the built-in ``bbr``::

    ackclock simulate --set flow.0.controller=bbr:Bbr first.toml

Run the command in this directory, or install the module.
"""

from __future__ import annotations

import math
from typing import ClassVar

from ackclock import Ack, Control, Loss, Start, Timeout

STARTUP, DRAIN, PROBE_BW, PROBE_RTT = range(4)
CYCLE = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Pacing gains of ProbeBW in turn."""
FIRST_PHASE = 2
"""The first phase of the cycle: random in the draft, fixed here so that simulations are repeatable."""
BANDWIDTH_ROUNDS = 10
"""Round trips over which the largest delivery rate counts."""
FULL_GROWTH, FULL_ROUNDS = 1.25, 3
"""The pipe is full when the rate has not grown by this factor for this many round trips."""
LEAST_PACKETS = 4.0
"""Window in ProbeRTT, and smallest window otherwise."""
EXTRA_PACKETS = 3.0
"""Room beyond rate times delay, for delayed and aggregated acknowledgements."""
UNKNOWN_RTT_S = 1e-3
"""The RTT that the first pacing rate assumes before a measurement."""
HALF_TICK_S = 0.5e-12
"""The simulator counts picoseconds: a difference of less than half of that is rounding."""


class Bandwidth:
    """The largest delivery rate of the last round trips, packets per second."""

    def __init__(self) -> None:
        self.rounds = [0.0] * BANDWIDTH_ROUNDS
        self.round = 0
        self.largest = 0.0

    def note(self, round_trip: int, rate: float) -> None:
        """Take a sample of a round trip."""
        for later in range(self.round + 1, min(round_trip, self.round + BANDWIDTH_ROUNDS) + 1):
            self.rounds[later % BANDWIDTH_ROUNDS] = 0.0
        self.round = max(self.round, round_trip)
        slot = self.round % BANDWIDTH_ROUNDS
        self.rounds[slot] = max(self.rounds[slot], rate)
        self.largest = max(self.rounds)


class Bbr(Control):
    """BBR without packet conservation after a loss, and with a quantum of one packet."""

    wants_rate: ClassVar[bool] = True
    window_is_a_cap: ClassVar[bool] = True
    internals: ClassVar[tuple[str, ...]] = ("bandwidth_packets_per_s", "rtprop_ms", "mode", "pacing_gain")

    def __init__(
        self,
        start: Start,
        high_gain: float = 2.88539,
        cwnd_gain: float = 2.0,
        rtprop_s: float = 10.0,
        probe_rtt_ms: float = 200.0,
    ) -> None:
        super().__init__(start)
        self.ssthresh = math.inf
        self.high_gain, self.cwnd_gain = high_gain, cwnd_gain
        self.rtprop_lifetime_s, self.probe_rtt_s = rtprop_s, probe_rtt_ms / 1e3
        self.initial_window = start.window
        self.mode = STARTUP
        self.phase, self.phase_began_s = FIRST_PHASE, 0.0
        self.bandwidth = Bandwidth()
        self.rtprop_s: float | None = None
        self.rtprop_at_s = 0.0
        self.full_rate, self.full_rounds, self.is_filled = 0.0, 0, False
        self.delivered = self.round_end = self.round = 0
        self.lost_in_phase = False
        self.probe_rtt_ends_s: float | None = None
        self.round_passed = False
        self.limited_by_probe_rtt = (0, 0)
        self.window_before_probe_rtt = 0.0
        self.in_flight = 0.0
        self.pacing_rate: float = high_gain * start.window / UNKNOWN_RTT_S

    @property
    def bandwidth_packets_per_s(self) -> float:
        """The model's rate."""
        return self.bandwidth.largest

    @property
    def rtprop_ms(self) -> float:
        """The model's delay, to the picosecond."""
        return math.nan if self.rtprop_s is None else round(self.rtprop_s * 1e12) / 1e9

    @property
    def pacing_gain(self) -> float:
        """The factor of the rate."""
        return (self.high_gain, 1.0 / self.high_gain, CYCLE[self.phase], 1.0)[self.mode]

    @property
    def window_gain(self) -> float:
        """The factor of the product of rate and delay."""
        return (self.high_gain, self.high_gain, self.cwnd_gain, 1.0)[self.mode]

    def on_ack(self, ack: Ack) -> None:
        """Measure, change the mode when due, and set rate and window."""
        is_new_round = self.count_round_trips(ack)
        self.in_flight = float(ack.in_flight)
        if self.rtprop_s is None:
            self.rtprop_at_s = ack.now_s
            if ack.rtt_s is not None:
                self.pacing_rate = self.high_gain * self.initial_window / max(ack.rtt_s, 1e-12)
        has_expired = self.update_model(ack)
        if is_new_round:
            self.check_full_pipe(ack)
        self.advance_mode(ack, has_expired)
        rate = self.pacing_gain * self.bandwidth.largest
        if rate > 0.0 and (self.is_filled or rate > self.pacing_rate):
            self.pacing_rate = rate
        self.set_window(max(ack.credit, float(ack.delivered)))

    def count_round_trips(self, ack: Ack) -> bool:
        """Count round trips by deliveries (section 4.1.1.3); return whether one has ended."""
        if ack.rate is None:
            return False
        prior = ack.rate.prior_delivered
        self.delivered = max(self.delivered, prior + ack.rate.delivered)
        if prior < self.round_end:
            return False
        self.round_end, self.round_passed = self.delivered, True
        self.round += ack.delivered > 0
        return ack.delivered > 0

    def update_model(self, ack: Ack) -> bool:
        """Take a sample of rate and RTT; return whether RTprop had expired."""
        sample = ack.rate
        if sample is not None and sample.interval_s > 0.0 and ack.delivered > 0:
            rate = sample.delivered / sample.interval_s
            first, last = self.limited_by_probe_rtt
            is_limited = sample.application_limited or (last > 0 and first <= sample.prior_delivered <= last)
            if not is_limited or rate >= self.bandwidth.largest:
                self.bandwidth.note(self.round, rate)
        has_expired = ack.now_s - self.rtprop_at_s > self.rtprop_lifetime_s + HALF_TICK_S
        if ack.rtt_s is not None and (has_expired or self.rtprop_s is None or ack.rtt_s <= self.rtprop_s):
            self.rtprop_s, self.rtprop_at_s = ack.rtt_s, ack.now_s
        return has_expired

    def check_full_pipe(self, ack: Ack) -> None:
        """Note whether the rate still grows, once per round trip."""
        if self.is_filled or ack.rate is None or ack.rate.application_limited:
            return
        if self.bandwidth.largest >= self.full_rate * FULL_GROWTH:
            self.full_rate, self.full_rounds = self.bandwidth.largest, 0
        else:
            self.full_rounds += 1
            self.is_filled = self.full_rounds >= FULL_ROUNDS

    def target(self, gain: float) -> float | None:
        """Return the packets in flight at a gain; None while there is no model."""
        if self.rtprop_s is None or self.bandwidth.largest <= 0.0:
            return None
        return gain * self.bandwidth.largest * self.rtprop_s + EXTRA_PACKETS

    def begin_phase(self, phase: int, now_s: float) -> None:
        """Begin a phase of ProbeBW."""
        self.mode, self.phase, self.phase_began_s = PROBE_BW, phase, now_s
        self.lost_in_phase = False

    def advance_mode(self, ack: Ack, has_expired: bool) -> None:
        """Move to the next mode when due."""
        if self.mode == STARTUP and self.is_filled:
            self.mode = DRAIN
        target = self.target(1.0)
        if self.mode == DRAIN and target is not None and self.in_flight <= target:
            self.begin_phase(FIRST_PHASE, ack.now_s)
        if self.mode == PROBE_BW and self.phase_is_over(ack):
            self.begin_phase((self.phase + 1) % len(CYCLE), ack.now_s)
        self.probe_rtt(ack.now_s, has_expired)

    def phase_is_over(self, ack: Ack) -> bool:
        """Return whether the phase has lasted long enough and had its effect."""
        spent_s = ack.now_s - self.phase_began_s
        is_long = self.rtprop_s is not None and spent_s > self.rtprop_s + HALF_TICK_S
        gain = CYCLE[self.phase]
        target = self.target(max(gain, 1.0))
        has_reached = target is None or self.in_flight + ack.delivered >= target
        if gain > 1.0:
            return is_long and (self.lost_in_phase or has_reached)
        return is_long or (gain < 1.0 and not has_reached)

    def probe_rtt(self, now_s: float, has_expired: bool) -> None:
        """Drain the path for a while when RTprop has not been measured for long."""
        if self.mode != PROBE_RTT:
            if has_expired:
                self.mode, self.probe_rtt_ends_s = PROBE_RTT, None
                self.window_before_probe_rtt = self.window
                self.limited_by_probe_rtt = (self.delivered, self.limited_by_probe_rtt[1])
            return
        limited_until = self.delivered + int(self.in_flight)
        self.limited_by_probe_rtt = (self.limited_by_probe_rtt[0], limited_until)
        if self.probe_rtt_ends_s is None:
            if self.in_flight <= LEAST_PACKETS:
                self.probe_rtt_ends_s = now_s + self.probe_rtt_s
                self.round_end, self.round_passed = self.delivered, False
        elif now_s >= self.probe_rtt_ends_s - HALF_TICK_S and self.round_passed:
            self.rtprop_at_s = now_s
            self.window = max(self.window, self.window_before_probe_rtt)
            self.mode = STARTUP
            if self.is_filled:
                self.begin_phase(FIRST_PHASE, now_s)

    def set_window(self, acknowledged: float) -> None:
        """Move the window towards its target."""
        target = self.target(self.window_gain) or math.inf
        if self.is_filled:
            self.window = min(self.window + acknowledged, target)
        elif self.window < target or self.delivered < self.initial_window:
            self.window += acknowledged
        self.window = max(self.window, LEAST_PACKETS)
        if self.mode == PROBE_RTT:
            self.window = min(self.window, LEAST_PACKETS)

    def on_loss(self, loss: Loss) -> None:  # noqa: ARG002
        """Leave the window as it is: a loss says nothing about rate and delay."""
        self.lost_in_phase = True
        self.window = max(self.window, 2.0)

    def on_timeout(self, timeout: Timeout) -> None:  # noqa: ARG002
        """Begin again with one packet."""
        self.window = 1.0
