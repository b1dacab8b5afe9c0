"""Scenarios of the paper's setting; paper.toml lists every item with the values it may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ackclock.engine import Run, build, quantity
from ackclock.reproduction.numbers import Effort
from ackclock.reproduction.settings import Setting

CONTROLLERS = {
    "Reno": "reno",
    "HS-TCP": "hstcp",
    "Illinois": "illinois",
    "BIC": "bic-linux",
    "C-TCP": "compound-linux",
    "Vegas": "vegas",
}
"""Congestion controls of the engine, by the paper's names."""

RECOVERIES = {"HS-TCP": "sack", "BIC": "linux-2.6", "C-TCP": "linux-2.6", "Vegas": "newreno"}
"""Loss recovery where the paper's choice of agent leaves one."""

ITEMS = {"Reno": "reno_recovery", "Illinois": "illinois_recovery"}
"""Items that say the loss recovery of the others."""

PACKET_BYTES = 1000
"""What the paper says that a packet has."""

MEASURED_FROM_S = 200.0
SAMPLE_S = 0.02


def scenario(
    flows: Sequence[dict[str, Any]],
    setting: Setting,
    *,
    rate_mbps: int = 100,
    rtt_ms: int = 100,
    buffer: int = 100,
    duration_s: float = 1200.0,
    warmup_s: float = MEASURED_FROM_S,
    sample_s: float = SAMPLE_S,
    **link: Any,
) -> dict[str, Any]:
    """Make a scenario of the paper: a dumbbell with one droptail bottleneck.

    Parameters
    ----------
    flows : sequence of dict
        As `flow` gives them.
    setting : mapping
        Values of the named items.
    rate_mbps : int
        Rate of the bottleneck, Mbit/s.
    rtt_ms : int
        Propagation round trip of every flow that has none of its own, ms.
    buffer : int
        Buffer of the bottleneck, packets.
    duration_s, warmup_s, sample_s : float
        Length of the run, what is left out at its start, and the sampling interval, s.
    **link
        Other keys of ``[dumbbell]``.

    Returns
    -------
    dict
        The scenario, as in a scenario file.
    """
    common = {"rtt": build.milliseconds(rtt_ms), "access": setting["access"]}
    return build.scenario(
        build.dumbbell(build.mbps(rate_mbps), build.milliseconds(rtt_ms / 2), build.packets(buffer), **link),
        *(common | flow for flow in flows),
        duration=build.seconds(duration_s),
        warmup=build.seconds(warmup_s),
        sample=build.seconds(sample_s),
        tcp={
            "profile": "ns2",
            "packet": f"{setting['packet']} B",
            "min_rto": setting["min_rto"],
            "clock": "10 ms",
            "overhead": setting["overhead"],
        },
    )


def capacity(rate_mbps: float, packet_bytes: float = PACKET_BYTES) -> float:
    """Convert a rate to packets per second.

    Parameters
    ----------
    rate_mbps : float
        Rate, Mbit/s.
    packet_bytes : float
        Size of a packet on the wire.

    Returns
    -------
    float
        Packets per second.
    """
    return rate_mbps * 1e6 / (8 * packet_bytes)


def packet_bytes(run: Run) -> float:
    """Say how long the packets of a run were.

    Parameters
    ----------
    run : Run
        A run whose flows have packets of one size.

    Returns
    -------
    float
        Bytes on the wire.
    """
    return quantity(run.summary["flows"][0]["settings"]["packet"], "size_bytes")


def flow(
    control: str, setting: Setting, *, recovery: str | None = None, beta: float | None = None
) -> dict[str, Any]:
    """Make a flow of the paper.

    Parameters
    ----------
    control : str
        Its congestion control, by the paper's name.
    setting : mapping
        Values of the named items.
    recovery : str, optional
        Its loss recovery; by default the paper's.
    beta : float, optional
        Both beta_min and beta_max of Illinois.

    Returns
    -------
    dict
        An entry of ``[[flow]]``.
    """
    made = build.flow(
        CONTROLLERS[control], recovery=recovery or RECOVERIES.get(control) or setting[ITEMS[control]]
    )
    if beta is not None:
        made["params"] = {"beta_min": beta, "beta_max": beta}
    return made


def vegas(packets: int, setting: Setting) -> dict[str, Any]:
    """Make a Vegas flow, whose three limits are the same in this paper.

    Parameters
    ----------
    packets : int
        Packets that it keeps in the queue.
    setting : mapping
        Values of the named items.

    Returns
    -------
    dict
        An entry of ``[[flow]]``.
    """
    limits = dict.fromkeys(("alpha", "beta", "gamma"), float(packets))
    return flow("Vegas", setting) | {"params": {**limits, "rtt": "mean"}}


def random_start(setting: Setting) -> dict[str, Any]:
    """Give the key of a flow that does not start with the others.

    Parameters
    ----------
    setting : mapping
        Values of the named items.

    Returns
    -------
    dict
        To be joined with a flow.
    """
    return {"start": {"uniform": ["0 s", setting["starts"]]}}


def seeds_alone(effort: Effort) -> int:
    """Say how many runs a single flow needs.

    Parameters
    ----------
    effort : Effort
        How much is run.

    Returns
    -------
    int
        One where nothing in the scenario is random.
    """
    return 1 if effort.setting["overhead"] == "0 s" else effort.runs
