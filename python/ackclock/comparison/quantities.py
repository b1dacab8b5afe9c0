"""What people write on the command line, read by the rules of scenarios."""

from __future__ import annotations

from typing import Literal

from ackclock.engine import build, quantity

MOST_LOSS_WITHOUT_A_SIGN = 0.2
"""A bare number above this is more often per cent than a share."""


def _read(
    text: str, kind: Literal["rate_bps", "time_s", "fraction"], low: float, high: float, refusal: str
) -> float:
    try:
        value = quantity(text, kind)
    except ValueError as error:
        raise ValueError(refusal) from error
    if not low <= value <= high:
        raise ValueError(refusal)
    return value


def rate_mbps(text: str) -> float:
    """Read a rate as people write it.

    Parameters
    ----------
    text : str
        Such as ``100mbit``, ``100 Mbit/s`` or ``1Gbit``.

    Returns
    -------
    float
        Mbit/s.

    Raises
    ------
    ValueError
        When it is not a rate from 1 kbit/s to 1 Tbit/s.
    """
    return _read(text, "rate_bps", 1e3, 1e12, f"not a rate: {text!r}; write e.g. 100mbit") / 1e6


def time_ms(text: str) -> float:
    """Read a time as people write it.

    Parameters
    ----------
    text : str
        Such as ``80ms`` or ``0.1 s``.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    ValueError
        When it is not a time from 1 us to 100 s.
    """
    return (
        _read(text, "time_s", 1e-6, 100.0, f"not a time from 1 us to 100 s: {text!r}; write e.g. 80ms") * 1e3
    )


LONGEST_S = 180 * 24 * 3600.0
"""Of a run, as scenarios have it."""
SHORTEST_S = 1e-6


def duration_s(text: str) -> float:
    """Read how long a run is, as scenarios read it.

    Parameters
    ----------
    text : str
        Such as ``120s``, ``2 min`` or ``1h``.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    ValueError
        When it is not a time from 1 us to 180 days.
    """
    refusal = f"not a duration: {text!r}; write e.g. 120s, 2min or 1h, at most 180 days"
    return _read(text, "time_s", SHORTEST_S, LONGEST_S, refusal)


def share(text: str) -> float:
    """Read a probability as people write it.

    Parameters
    ----------
    text : str
        Such as ``1%`` or ``0.01``.

    Returns
    -------
    float
        From 0 to below 1.

    Raises
    ------
    ValueError
        When it is not such a probability, or a bare number above 0.2, which may be meant in per
        cent.
    """
    below_one = 1.0 - 2.0**-53
    refusal = f"not a loss rate: {text!r}; write e.g. 1% or 0.01"
    found = _read(text, "fraction", 0.0, below_one, refusal)
    if found > MOST_LOSS_WITHOUT_A_SIGN and "%" not in text:
        raise ValueError(
            f"a loss rate of {text} is {found:.3g} of all packets: "
            f"write {100 * found:g}% if that is meant, or {text}%"
        )
    return found


def buffer_packets(text: str, rate_mbps: float, rtt_ms: float) -> int:
    """Read a buffer as people write it.

    Parameters
    ----------
    text : str
        Such as ``250`` (packets of 1000 bytes), ``250 packets``, ``2bdp``, ``100ms`` or ``3MB``.
    rate_mbps, rtt_ms : float
        Of the path, for what is given in products or as a time.

    Returns
    -------
    int
        Packets, at least 2.

    Raises
    ------
    ValueError
        When it is none of these, or not from 2 to ten million packets.
    """
    refusal = f"not a buffer: {text!r}; write e.g. 250, 2bdp, 100ms or 3MB"
    per_ms = rate_mbps * 1e3 / build.PACKET_BITS
    written = text.strip().lower()
    try:
        if written.endswith("bdp"):
            count = float(written.removesuffix("bdp")) * rtt_ms * per_ms
        elif written.removesuffix("packets").strip().isdigit():
            count = float(written.removesuffix("packets"))
        elif written.endswith("s"):
            count = quantity(text, "time_s") * 1e3 * per_ms
        else:
            count = quantity(text, "size_bytes") * 8 / build.PACKET_BITS
    except ValueError as error:
        raise ValueError(refusal) from error
    if not 2 <= round(count) <= 10_000_000:
        raise ValueError(f"{refusal}: from 2 to 10000000 packets, this is {count:.3g}")
    return round(count)
