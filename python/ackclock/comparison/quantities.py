"""Quantities on the command line, read by the rules of scenarios."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from ackclock.engine import build, quantity

MOST_LOSS_WITHOUT_A_SIGN = 0.2
"""A bare number above this probably means per cent."""


NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kMG]?)\s*")
"""A number whose unit is missing or cut short, as in 20M."""


def _instead(text: str, units: Mapping[str, str]) -> str:
    """Return a hint at the right form of a number without its unit; empty if the text is something else."""
    number = NUMBER.fullmatch(text)
    unit = units.get(number[2]) if number else None
    return f"; write {number[1]}{unit} if that is meant" if number and unit else ""


def _read(
    text: str,
    kind: Literal["rate_bps", "time_s", "fraction"],
    low: float,
    high: float,
    refusal: str,
    units: Mapping[str, str] | None = None,
) -> float:
    try:
        value = quantity(text, kind)
    except ValueError as error:
        meant = _instead(text, units or {})
        raise ValueError(refusal.partition("; write e.g.")[0] + meant if meant else refusal) from error
    if not low <= value <= high:
        raise ValueError(refusal)
    return value


def rate_mbps(text: str) -> float:
    """Read a rate such as ``100mbit``, ``100 Mbit/s`` or ``1Gbit``, from 1 kbit/s to 1 Tbit/s, in Mbit/s."""
    units = {"": "mbit", "k": "kbit", "M": "mbit", "G": "gbit"}
    return _read(text, "rate_bps", 1e3, 1e12, f"not a rate: {text!r}; write e.g. 100mbit", units) / 1e6


def time_ms(text: str) -> float:
    """Read a time such as ``80ms`` or ``0.1 s``, from 1 us to 100 s, in milliseconds."""
    refusal = f"not a time from 1 us to 100 s: {text!r}; write e.g. 80ms"
    return _read(text, "time_s", 1e-6, 100.0, refusal, {"": "ms"}) * 1e3


LONGEST_S = 180 * 24 * 3600.0
"""The longest run that a scenario allows."""
SHORTEST_S = 1e-6


def duration_s(text: str) -> float:
    """Read the length of a run such as ``120s``, ``2 min`` or ``1h``, up to 180 days, in seconds."""
    refusal = f"not a duration: {text!r}; write e.g. 120s, 2min or 1h, at most 180 days"
    return _read(text, "time_s", SHORTEST_S, LONGEST_S, refusal)


def share(text: str) -> float:
    """Read a probability such as ``1%`` or ``0.01``, below 1.

    Raises ValueError for a bare number above 0.2, too, which may be meant in per cent.
    """
    below_one = 1.0 - 2.0**-53
    refusal = f"not a loss rate: {text!r}; write e.g. 1% or 0.01"
    probability = _read(text, "fraction", 0.0, below_one, refusal)
    if probability > MOST_LOSS_WITHOUT_A_SIGN and "%" not in text:
        raise ValueError(
            f"a loss rate of {text} is {probability:.3g} of all packets: "
            f"write {100 * probability:g}% if that is meant, or {text}%"
        )
    return probability


def buffer_packets(
    text: str, rate_mbps: float, rtt_ms: float, packet_bytes: int = build.PACKET_BITS // 8
) -> int:
    """Read a buffer in packets, from 2 to ten million.

    It may be ``250`` (packets), ``250 packets``, ``2bdp``, ``100ms`` or ``3MB``; products and times refer to
    the rate, the RTT and the packets of the path.
    """
    refusal = f"not a buffer: {text!r}; write e.g. 250, 2bdp, 100ms or 3MB"
    per_ms = rate_mbps * 1e3 / (8 * packet_bytes)
    written = text.strip().lower()
    try:
        if written.endswith("bdp"):
            count = float(written.removesuffix("bdp")) * rtt_ms * per_ms
        elif written.removesuffix("packets").strip().isdigit():
            count = float(written.removesuffix("packets"))
        elif written.endswith("s"):
            count = quantity(text, "time_s") * 1e3 * per_ms
        else:
            count = quantity(text, "size_bytes") / packet_bytes
    except ValueError as error:
        raise ValueError(refusal) from error
    if not 2 <= round(count) <= 10_000_000:
        raise ValueError(f"{refusal}; allowed are 2 to 10000000 packets, not {count:.3g}")
    return round(count)
