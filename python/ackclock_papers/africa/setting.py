"""The one setting of the paper's simulations, with every value that it leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

RATE_MBPS = 622.0
ACCESS = "1 Gbit/s"
NOISE = "noise"
"""Name of the Poisson datagrams in the direction of the flows."""
NOISE_SHARE = 0.03
"""Of the link, in either direction."""
BUFFER_PACKETS = 291
"""An eighth of the bandwidth-delay product of tables I and II."""


class Control(StrEnum):
    """A congestion control of the paper."""

    RENO = "Reno"
    HSTCP = "HSTCP"
    SCALABLE = "Scalable"
    AFRICA = "Africa"


RENO, HSTCP, SCALABLE, AFRICA = Control

CONTROLLERS = {RENO: "reno", HSTCP: "hstcp", AFRICA: "africa"}
"""The engine's names of those that are simulated."""

SETTING = (
    ("shared link", "622 Mbit/s; 80 ms one way, in the tables 5 ms", "section IV"),
    (
        "access links",
        "1 ms each, in the tables 5 ms; 1 Gbit/s, in figures 3 and 4 Reno's 100 Mbit/s",
        "section IV; the sum of the delays is the RTT, 164 ms and 30 ms",
    ),
    ("duration", "8 minutes, all of it measured", "section IV"),
    ("overhead", "up to 8 microseconds", "section IV"),
    ("background", "Poisson datagrams, 3 % of the link, both ways", "section IV: about 3 %"),
    ("recovery", "SACK", "left open; the paper speaks of TCP-Reno and of RFC 3649"),
    ("packets", "1000 bytes; datagrams the same", "left open: ns-2's default"),
    (
        "buffer",
        "291 packets everywhere: an eighth of 622 Mbit/s times 30 ms",
        "left open; of 1, 1/8, 1/20 it fits table II best, and as many packets fit figures 3 to 6",
    ),
    ("starts", "both at random within the first second", "left open"),
    ("aRTT", "exponential mean with gain 1/8, over ACKs", "left open; alpha = 1.65 as printed"),
    ("losses", "after 30 s", "'not related to slow start', which left open how it was counted"),
    ("seeds", "5 runs", "the paper shows one"),
)  # fmt: skip


def scenario(
    flows: Sequence[Mapping[str, Any]],
    *,
    delay_ms: float,
    duration_s: float,
    sample_s: float = 0.5,
) -> dict[str, Any]:
    """Make a scenario of the paper.

    Parameters
    ----------
    flows : sequence of mapping
        Entries of `[[flow]]`.
    delay_ms : float
        One-way delay of the shared link.
    duration_s : float
        Length of the run.
    sample_s : float
        Sampling interval of the trace.

    Returns
    -------
    dict
        As in a scenario file, with the background both ways.
    """
    rtt = f"{2 * delay_ms + 4:g} ms"
    noise = {"source": "poisson", "rate": f"{NOISE_SHARE * RATE_MBPS:g} Mbit/s", "rtt": rtt}
    return {
        "run": {"duration": f"{duration_s:g} s", "sample": f"{sample_s:g} s"},
        "tcp": {"overhead": "8 us"},
        "dumbbell": {
            "rate": f"{RATE_MBPS:g} Mbit/s",
            "delay": f"{delay_ms:g} ms",
            "queue": {"kind": "droptail", "limit": f"{BUFFER_PACKETS} packets"},
        },
        "flow": [
            *({"start": {"uniform": ["0 s", "1 s"]}, **one} for one in flows),
            {**noise, "name": NOISE},
            {**noise, "name": f"{NOISE} back", "direction": "reverse"},
        ],
    }


CHANGES = (
    "The buffer is an eighth of the bandwidth-delay product (the whole of it before), the size "
    "that fits table II best: ratios of 0.94, 36, 92 and 275, where the paper has 0.98, 32, 94 "
    "and 284; with the whole product they are 0.95, 14, 62 and 343.",
    "It is as many packets in figures 3 to 7, too (an eighth of their own, larger product before): "
    "the ratios of figures 3 to 6 are then 24, 8, 5 and 16, where the paper has 25, 6, 4 and 17, "
    "and Africa loses 67 and 57 packets, where it has 47 and 32; they were 23, 5, 1.7 and 10, and "
    "9 and 16.",
)
"""Changed after the first data were seen."""
