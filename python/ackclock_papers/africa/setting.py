"""Scenarios of the paper's one setting; paper.toml lists every value and its basis."""

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
