"""Scenarios of the paper's one setting; paper.toml lists every value and its basis."""

from __future__ import annotations

from typing import Any

CONTROLLERS = {
    "Reno": "reno",
    "HS-TCP": "hstcp",
    "Illinois": "illinois",
    "BIC": "bic-linux",
    "C-TCP": "compound-linux",
    "Vegas": "vegas",
}
"""Congestion controls of the engine, by the paper's names."""

RECOVERIES = {
    "Reno": "newreno",
    "Illinois": "newreno",
    "BIC": "linux-2.6",
    "C-TCP": "linux-2.6",
}
"""Loss recovery of the controls that do not run on SACK."""

PACKET_BITS = 8000
"""Packets have 1000 bytes, headers included."""

MEASURED_FROM_S = 200.0
SAMPLE_S = 0.02
OVERHEAD = "80 us"


def scenario(
    flows: list[dict[str, Any]],
    *,
    rate_mbps: int = 100,
    rtt_ms: int = 100,
    buffer: int = 100,
    duration_s: float = 1200.0,
    warmup_s: float = MEASURED_FROM_S,
    sample_s: float = SAMPLE_S,
) -> dict[str, Any]:
    """Make a scenario of the paper: a dumbbell with one droptail bottleneck, 1000-byte packets.

    Parameters
    ----------
    flows : list of dict
        As `flow` gives them.
    rate_mbps : int
        Rate of the bottleneck, Mbit/s.
    rtt_ms : int
        Propagation round trip of every flow that has none of its own, ms.
    buffer : int
        Buffer of the bottleneck, packets.
    duration_s, warmup_s, sample_s : float
        Length of the run, what is left out at its start, and the sampling interval, s.

    Returns
    -------
    dict
        The scenario, as in a scenario file.
    """
    return {
        "run": {
            "duration": f"{duration_s:g} s",
            "warmup": f"{warmup_s:g} s",
            "sample": f"{sample_s * 1000:g} ms",
            "seed": 1,
        },
        "tcp": {"profile": "ns2", "packet": f"{PACKET_BITS // 8} B"},
        "dumbbell": {
            "rate": f"{rate_mbps} Mbit/s",
            "delay": f"{rtt_ms / 2:g} ms",
            "queue": {"kind": "droptail", "limit": f"{buffer} packets"},
        },
        "flow": [{"rtt": f"{rtt_ms} ms"} | flow for flow in flows],
    }


def capacity(rate_mbps: float) -> float:
    """Convert a rate to packets per second.

    Parameters
    ----------
    rate_mbps : float
        Rate, Mbit/s.

    Returns
    -------
    float
        Packets per second.
    """
    return rate_mbps * 1e6 / PACKET_BITS


def flow(control: str, *, recovery: str | None = None, beta: float | None = None) -> dict[str, Any]:
    """Make a flow of the paper.

    Parameters
    ----------
    control : str
        Its congestion control, by the paper's name.
    recovery : str, optional
        Its loss recovery; by default the paper's.
    beta : float, optional
        Both beta_min and beta_max of Illinois.

    Returns
    -------
    dict
        An entry of ``[[flow]]``.
    """
    made: dict[str, Any] = {
        "controller": CONTROLLERS[control],
        "recovery": recovery or RECOVERIES.get(control, "sack"),
    }
    if beta is not None:
        made["params"] = {"beta_min": beta, "beta_max": beta}
    if control == "Vegas":
        made["params"] = {"rtt": "mean"}
    return made
