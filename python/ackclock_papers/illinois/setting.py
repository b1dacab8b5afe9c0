"""Scenarios of the paper's setting; paper.toml lists every item with the values it may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ackclock.engine import Run, build, quantity
from ackclock.reproduction.claims.numbers import Effort
from ackclock.reproduction.trials.settings import Setting

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
"""Loss recovery where the paper's choice of agent implies one."""

HSTCP_RULES = {"closed form": "hstcp", "table": "hstcp-table"}
"""Controls of HS-TCP by the value of ``hstcp_rule``."""

TCP: dict[str, build.Table] = {
    "2 packets, 10 ms, an ACK per packet, yes, any": {},
    "3 packets, the rest alike": {"initial_window": 3},
    "an ACK for two packets, the rest alike": {"delayed_ack": 2},
    "no limited transmit, the rest alike": {"limited_transmit": False},
    "bursts of 4 packets at most, the rest alike": {"max_burst": 4},
}
"""Keys of ``[tcp]`` by the value of ``tcp``."""

ITEMS = {"Reno": "reno_recovery", "Illinois": "illinois_recovery"}
"""Items of the setting that have the loss recovery of the remaining controls."""

OF_ONE_FLOW = "that of one flow"
"""The value of ``several_overhead`` with which several flows have the overhead of one."""

COUNTED = "counts"
"""The value of ``transmitting`` with which the packet in transmission takes a place of the buffer."""

PACKET_BYTES = 1000
"""Packet size that the paper states."""
BUFFER_PACKETS = 100
"""Buffer of most figures."""

MEASURED_FROM_S = 200.0
SAMPLE_S = 0.02


def scenario(
    flows: Sequence[build.Table],
    setting: Setting,
    *,
    rate_mbps: int = 100,
    rtt_ms: int = 100,
    buffer: int = BUFFER_PACKETS,
    duration_s: float = 1200.0,
    warmup_s: float = MEASURED_FROM_S,
    sample_s: float = SAMPLE_S,
    **link: Any,
) -> build.Table:
    """Make a scenario of the paper: a dumbbell with one droptail bottleneck.

    `rtt_ms` is the propagation round trip of every flow without one of its own, `buffer` is in packets,
    and `link` has other keys of ``[dumbbell]``.
    """
    common = {"rtt": build.milliseconds(rtt_ms), "access": setting["access"]}
    limit = buffer if setting["transmitting"] == COUNTED else buffer + 1
    return build.scenario(
        build.dumbbell(build.mbps(rate_mbps), build.milliseconds(rtt_ms / 2), build.packets(limit), **link),
        *(common | flow for flow in flows),
        duration=build.seconds(duration_s),
        warmup=build.seconds(warmup_s),
        sample=build.seconds(sample_s),
        tcp={
            "profile": "ns2",
            "handshake": False,
            "packet": f"{setting['packet']} B",
            "min_rto": setting["min_rto"],
            "clock": "10 ms",
            "overhead": overhead(setting, sum(flow.get("count", 1) for flow in flows)),
            **({} if setting["initial_ssthresh"] == "unlimited" else {"initial_ssthresh": 100}),
            **TCP[setting["tcp"]],
        },
    )


def overhead(setting: Setting, flows: int) -> str:
    """Return the longest random delay before a send in a scenario of so many flows."""
    several: str = setting["several_overhead"]
    alone: str = setting["overhead"]
    return alone if flows == 1 or several == OF_ONE_FLOW else several


def capacity(rate_mbps: float, packet_bytes: float = PACKET_BYTES) -> float:
    """Convert a rate to packets per second; `packet_bytes` is the size on the wire."""
    return rate_mbps * 1e6 / (8 * packet_bytes)


def packet_bytes(run: Run) -> float:
    """Return the size of the packets of a run, in bytes on the wire."""
    return quantity(run.summary["flows"][0]["settings"]["packet"], "size_bytes")


def flow(
    control: str, setting: Setting, *, recovery: str | None = None, beta: float | None = None
) -> build.Table:
    """Make a flow of a control, by the paper's name: an entry of ``[[flow]]``.

    By default its loss recovery is the paper's; `beta` is both beta_min and beta_max of Illinois.
    """
    controller = HSTCP_RULES[setting["hstcp_rule"]] if control == "HS-TCP" else CONTROLLERS[control]
    entry = build.flow(controller, recovery=recovery or RECOVERIES.get(control) or setting[ITEMS[control]])
    params: build.Table = {} if beta is None else {"beta_min": beta, "beta_max": beta}
    if control == "Illinois" and not setting["backoff_ends_wait"]:
        params["backoff_ends_wait"] = False
    if control == "BIC":
        # The kernel of the paper's time, before 4.0.
        params["whole_counts"] = False
    if params:
        entry["params"] = params
    return entry


def vegas(packets: int, setting: Setting) -> build.Table:
    """Make a Vegas flow that keeps `packets` in the queue: this paper sets its three limits equal."""
    limits = dict.fromkeys(("alpha", "beta", "gamma"), float(packets))
    return flow("Vegas", setting) | {"params": {**limits, "rtt": setting["vegas_rtt"]}}


def random_start(setting: Setting) -> build.Table:
    """Return the key of a flow that starts at random."""
    return {"start": {"uniform": ["0 s", setting["starts"]]}}


def seeds_alone(effort: Effort) -> int:
    """Return how many runs a single flow needs: one where nothing in the scenario is random."""
    return 1 if effort.setting["overhead"] == "0 s" else effort.runs
