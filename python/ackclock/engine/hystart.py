"""HyStart++ (RFC 9406) for controls that are written in Python."""

from __future__ import annotations

from ackclock._native import Ack

SAMPLES = 8
"""RTT samples that a round trip needs before it counts (``N_RTT_SAMPLE``)."""
DIVISOR = 4.0
"""Growth in conservative slow start is divided by this (``CSS_GROWTH_DIVISOR``)."""
ROUNDS = 5
"""Round trips of conservative slow start before slow start ends (``CSS_ROUNDS``)."""
LEAST_RISE_PS, LARGEST_RISE_PS = 4_000_000_000, 16_000_000_000
"""The rise that counts lies between these (``MIN_RTT_THRESH``, ``MAX_RTT_THRESH``)."""
TICKS_PER_S = 1e12
"""The engine counts picoseconds, and so does this, to decide as the built-in controls do."""


class HyStartPlusPlus:
    """The state of HyStart++, which ends slow start early when the RTT rises."""

    def __init__(self) -> None:
        self._round = 0
        self._samples = 0
        self._current_ps: int | None = None
        self._last_ps: int | None = None
        self._baseline_ps: int | None = None
        self._rounds = 0

    def leaves_slow_start(self, ack: Ack) -> bool:
        """Take the RTT of an ACK; return whether slow start ends, after five conservative round trips."""
        if ack.round != self._round:
            self._round = ack.round
            self._last_ps, self._current_ps = self._current_ps, None
            self._samples = 0
            if self._baseline_ps is not None:
                self._rounds += 1
        if ack.rtt_s is not None:
            rtt_ps = round(ack.rtt_s * TICKS_PER_S)
            self._current_ps = rtt_ps if self._current_ps is None else min(self._current_ps, rtt_ps)
            self._samples += 1
        if self._samples >= SAMPLES and self._current_ps is not None and self._last_ps is not None:
            rise_ps = min(max(self._last_ps // 8, LEAST_RISE_PS), LARGEST_RISE_PS)
            if self._baseline_ps is None:
                if self._current_ps >= self._last_ps + rise_ps:
                    self._baseline_ps, self._rounds = self._current_ps, 0
            elif self._current_ps < self._baseline_ps:
                self._baseline_ps = None
        return self._baseline_ps is not None and self._rounds >= ROUNDS

    def step(self, growth: float) -> float:
        """Return the growth that counts now, packets: a quarter of it in conservative slow start."""
        return growth if self._baseline_ps is None else growth / DIVISOR
