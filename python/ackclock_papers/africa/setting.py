"""Scenarios of the paper's setting; paper.toml lists every item with the values it may have."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from ackclock.engine import build
from ackclock.reproduction.trials.settings import Setting

RATE_MBPS = 622.0
ACCESS = "1 Gbit/s"
DECLARED_GAIN = 0.125
"""Gain of aRTT that the control has without a parameter."""
NOISE = "noise"
"""Name of the Poisson datagrams in the direction of the flows."""
NOISE_SHARE = 0.03
"""Share of the link, in either direction."""


class TcpVariant(StrEnum):
    """A congestion control of the paper."""

    RENO = "Reno"
    HSTCP = "HSTCP"
    SCALABLE = "Scalable"
    AFRICA = "Africa"


RENO, HSTCP, SCALABLE, AFRICA = TcpVariant

CONTROLLERS = {RENO: "reno", HSTCP: "hstcp", SCALABLE: "scalable", AFRICA: "africa"}
"""The engine's names of the controls."""


def as_read(setting: Setting, flow: build.Table) -> build.Table:
    """Return a flow with the parameters that the setting's readings of TCP-Africa ask for."""
    if flow.get("controller") != CONTROLLERS[AFRICA]:
        return flow
    params: build.Table = {}
    if setting["rtt_gain"] != DECLARED_GAIN:
        params["gain"] = setting["rtt_gain"]
    if setting["slow_decrease"] != HSTCP:
        params["slow_decrease"] = "reno"
    return {**flow, "params": params | flow.get("params", {})} if params else flow


def scenario(
    setting: Setting,
    flows: Sequence[build.Table],
    *,
    delay_ms: float,
    duration_s: float,
    sample_s: float = 0.5,
) -> build.Table:
    """Make a scenario of the paper, with background traffic in both directions.

    `delay_ms` is the one-way delay of the shared link.
    """
    noise = {
        "source": "poisson",
        "rate": build.mbps(NOISE_SHARE * RATE_MBPS),
        "packet": f"{setting['datagram_bytes']} B",
        "rtt": build.milliseconds(2 * delay_ms + 4),
    }
    return build.scenario(
        build.dumbbell(
            build.mbps(RATE_MBPS), build.milliseconds(delay_ms), build.packets(setting["buffer_packets"])
        ),
        *({"start": {"uniform": ["0 s", "1 s"]}, **as_read(setting, flow)} for flow in flows),
        {**noise, "name": NOISE},
        {**noise, "name": f"{NOISE} back", "direction": "reverse"},
        duration=build.seconds(duration_s),
        sample=build.seconds(sample_s),
        tcp={
            "packet": f"{setting['packet_bytes']} B",
            "overhead": setting["overhead"],
            "min_rto": setting["min_rto"],
            "clock": "10 ms",
            "recovery": setting["recovery"],
            **({} if setting["delayed_ack"] == 1 else {"delayed_ack": setting["delayed_ack"]}),
        },
    )
