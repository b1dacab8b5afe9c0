"""Scenarios of the study's one setting; paper.toml lists every item, its values and their bases."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from ackclock.engine import build
from ackclock.reproduction.claims.numbers import Effort
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case

PACKET_BYTES = 1000
LINK_MBPS = 2.5
BUFFER_PACKETS = 50
LINK_PACKETS_PER_S = LINK_MBPS * 1e6 / (8 * PACKET_BYTES)
RTT_S = 0.1
"""Round trip without a queue."""
MEASURED_FROM_S = 50.0
CHANGE_S = 100.0
"""Time of the change, which the study has at round trip 1000."""


class Protocol(StrEnum):
    """A protocol of the study."""

    TCP = "TCP"
    GAIMD = "GAIMD"
    TFRC = "TFRC"
    TEAR = "TEAR"


TCP, GAIMD, TFRC, TEAR = Protocol

CONTROLLERS = {TCP: "reno", GAIMD: "gaimd", TEAR: "tear"}
"""The engine's names of their controls; TFRC's depends on the setting."""


class Version(NamedTuple):
    """A TFRC that the study may have run."""

    controller: str
    overhead: str | None = None
    """None for the same overhead as TCP's."""


TFRCS = {
    "as ns-2 had it in 2000": Version("tfrc-2000"),
    "as ns-2 had it in 2000, evenly spaced": Version("tfrc-2000", "0 s"),
    "RFC 5348": Version("tfrc"),
    "RFC 5348, overhead 1 ms": Version("tfrc", "1 ms"),
}
"""By the value of ``tfrc``."""
TEAR_SILENCE: dict[str, build.Table] = {
    "4 RTTs, at least 200 ms": {},
    "2 RTTs, at least 200 ms": {"silence_rtts": 2.0},
    "4 RTTs, at least 1 s": {"least_silence_s": 1.0},
}
"""Parameters of TEAR by the value of ``tear_silence``."""
TEAR_RUNNING_EPOCH: dict[str, build.Table] = {
    "as the newest": {},
    "as the newest, where the mean becomes larger by it": {"running_epoch": "if_larger"},
    "not at all": {"running_epoch": "left_out"},
}
"""Parameters of TEAR by the value of ``tear_running_epoch``."""
DATAGRAMS = frozenset({"cbr", "onoff", "poisson"})
"""The engine's names of sources of datagrams, which have no control."""

MEAN_OF_RUN = "the mean of the run"
"""The value of ``axis`` with which times are counted in mean round trips of the run."""

RED = {
    "kind": "red",
    "limit": f"{BUFFER_PACKETS} packets",
    "min_threshold": 5,
    "max_threshold": 25,
    "max_p": 0.1,
}
"""The link's other queue; paper.toml says how its parameters were scaled."""


class Reference(StrEnum):
    """Conditions that the cases of a figure are compared with; the protocol replaces the braces."""

    ALONE = "one {}"
    NEXT_TO_TCP = "{} next to TCP"
    NEXT_TO_TCP_RED = "{} next to TCP, RED"
    PERIODIC = "{}, periodic"
    JOINED_BY_ITS_OWN = "{} joined by its own"


class ReferenceCase(NamedTuple):
    """Key of a case that a figure does not show: the cases shown are compared with it."""

    protocol: Protocol
    reference: Reference

    def __str__(self) -> str:
        return self.reference.format(self.protocol)


class LossyFlow(NamedTuple):
    """A flow under Bernoulli loss."""

    protocol: Protocol
    loss: float
    """Probability that a packet is lost."""

    def __str__(self) -> str:
        return f"{self.protocol}, {self.loss:.1%}"


class Without(NamedTuple):
    """A protocol with a mechanism switched off, which is a parameter of its control."""

    protocol: Protocol
    mechanism: str

    def __str__(self) -> str:
        return f"{self.protocol} without {self.mechanism}"


def bernoulli(rate: float) -> build.Table:
    """Return the loss of a link that loses each packet independently, as in a scenario file."""
    return {"kind": "bernoulli", "rate": rate}


def flows(effort: Effort, protocol: Protocol, **settings: Any) -> build.Table:
    """Return an entry of ``[[flow]]``: flows of a protocol at the setting of `effort`.

    `settings` are more keys of the flow.
    """
    tfrc = TFRCS[effort.setting["tfrc"]]
    start = {"uniform": ["0 s", "10 s"]}
    controller = tfrc.controller if protocol is TFRC else CONTROLLERS[protocol]
    flow = build.flow(controller, rtt=build.seconds(RTT_S), start=start)
    if protocol is not TEAR:
        flow["overhead"] = effort.setting["overhead"]
    if protocol is TFRC and tfrc.overhead:
        flow["overhead"] = tfrc.overhead
    params = parameters(effort.setting, protocol) | settings.pop("params", {})
    return flow | ({"params": params} if params else {}) | settings


def parameters(setting: Setting, protocol: Protocol) -> build.Table:
    """Return the parameters of a protocol's control that differ from its defaults at a setting."""
    if protocol is GAIMD:
        return {"whole_windows": setting["whole_windows"]}
    if protocol is TFRC:
        return {"damping": True} if setting["tfrc_damping"] else {}
    if protocol is TEAR:
        rounds = setting["tear_feedback"]
        feedback = {} if rounds == 1 else {"feedback_rtts": float(rounds)}
        running = TEAR_RUNNING_EPOCH[setting["tear_running_epoch"]]
        return TEAR_SILENCE[setting["tear_silence"]] | running | feedback
    return {}


def datagrams(effort: Effort) -> build.Table:
    """Return an entry of ``[[flow]]``: the five ON/OFF sources."""
    return build.flow(
        source="onoff",
        rate="500 kbit/s",
        on="1 s",
        off="2 s",
        shape=1.5,
        count=5,
        rtt=build.seconds(RTT_S),
        packet=effort.setting["datagram"],
    )


def case(
    effort: Effort,
    entries: Sequence[build.Table],
    duration_s: float,
    *,
    loss: build.Table | None = None,
    queue: build.Table | None = None,
    events: Sequence[build.Table] = (),
    recovery: str | None = None,
) -> Case:
    """Make a case of the study; the first 50 s of a run are not measured.

    With a controlled `loss` the link has 100 Mbit/s. `queue` replaces the droptail queue, and `recovery`
    the loss recovery of TCP and GAIMD that the setting has.
    """
    recovery = recovery or effort.setting["recovery"]
    if recovery == "reno" and effort.setting["ns2_reno"]:
        recovery = "reno-ns2"
    free = loss is None
    link = build.dumbbell(
        build.mbps(LINK_MBPS if free else 100),
        "30 ms",
        queue or build.packets(BUFFER_PACKETS if free else 10_000),
    )
    if loss is not None:
        link["dumbbell"]["loss"] = dict(loss)
    tcp = {
        "recovery": recovery,
        "rtt_sampling": effort.setting["rtt_sampling"],
        "min_rto": effort.setting["min_rto"],
        "clock": "100 ms",
        "initial_rto": "6 s",
        "limited_transmit": effort.setting["limited_transmit"],
        "initial_window": effort.setting["initial_window"],
        **({} if effort.setting["delayed_ack"] == 1 else {"delayed_ack": effort.setting["delayed_ack"]}),
    }
    scenario = build.scenario(
        link,
        *entries,
        duration=build.seconds(duration_s),
        warmup=build.seconds(MEASURED_FROM_S),
        sample="20 ms" if free else "100 ms",
        tcp=tcp,
        events=tuple(events),
    )
    return Case(scenario, effort.runs)


def steady(
    effort: Effort, *entries: build.Table, loss: build.Table | None = None, queue: build.Table | None = None
) -> Case:
    """Make a case whose conditions do not change, 550 s long (250 s if quick)."""
    return case(effort, entries, effort.pick(550, 250), loss=loss, queue=queue)
