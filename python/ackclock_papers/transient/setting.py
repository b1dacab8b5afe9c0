"""Scenarios of the study's one setting; paper.toml lists every item, its values and their bases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from ackclock.engine import build
from ackclock.reproduction.numbers import Effort
from ackclock.runs import Case

PACKET_BYTES = 1000
LINK_MBPS = 2.5
BUFFER_PACKETS = 50
LINK_PACKETS_PER_S = LINK_MBPS * 1e6 / (8 * PACKET_BYTES)
RTT_S = 0.1
"""Without a queue."""
MEASURED_FROM_S = 50.0
CHANGE_S = 100.0
"""What the study has at round trip 1000."""


class Protocol(StrEnum):
    """A protocol of the study."""

    TCP = "TCP"
    GAIMD = "GAIMD"
    TFRC = "TFRC"
    TEAR = "TEAR"


TCP, GAIMD, TFRC, TEAR = Protocol

CONTROLLERS = {TCP: "reno", GAIMD: "gaimd", TEAR: "tear"}
"""The engine's names of their controls, but for TFRC."""


class Version(NamedTuple):
    """A TFRC that the study may have run.

    Attributes
    ----------
    controller : str
        The engine's name of it.
    overhead : str, optional
        Where it is not that of TCP.
    """

    controller: str
    overhead: str | None = None


TFRCS = {
    "as ns-2 had it in 2000": Version("tfrc-2000"),
    "RFC 5348": Version("tfrc"),
    "RFC 5348, overhead 1 ms": Version("tfrc", "1 ms"),
}
"""By the value of ``tfrc``."""
STUDIED = frozenset(CONTROLLERS.values()) | {one.controller for one in TFRCS.values()}
"""The engine's names of everything that a protocol of the study may be."""

MEAN_OF_RUN = "the mean of the run"
"""The value of ``axis`` with which times are counted in the round trips that the run had."""

RED = {
    "kind": "red",
    "limit": f"{BUFFER_PACKETS} packets",
    "min_threshold": 5,
    "max_threshold": 25,
    "max_p": 0.1,
}
"""The link's other queue; paper.toml says how its parameters were scaled."""


class Reference(StrEnum):
    """Other conditions that a figure is compared with; braces are where the protocol belongs."""

    ALONE = "one {}"
    BESIDE_TCP = "{} beside TCP"
    BESIDE_TCP_RED = "{} beside TCP, RED"
    PERIODIC = "{}, periodic"


class Compared(NamedTuple):
    """Key of a case that a figure does not show: it is what the cases shown are compared with."""

    protocol: Protocol
    reference: Reference

    def __str__(self) -> str:
        return self.reference.format(self.protocol)


class Lossy(NamedTuple):
    """A flow under Bernoulli loss.

    Attributes
    ----------
    protocol : Protocol
        What controls it.
    loss : float
        Probability of a packet's loss.
    """

    protocol: Protocol
    loss: float

    def __str__(self) -> str:
        return f"{self.protocol}, {self.loss:.1%}"


class Without(NamedTuple):
    """A protocol of which a mechanism is switched off: a parameter of its control."""

    protocol: Protocol
    mechanism: str

    def __str__(self) -> str:
        return f"{self.protocol} without {self.mechanism}"


def bernoulli(rate: float) -> dict[str, Any]:
    """Make every packet's loss independent of the others.

    Parameters
    ----------
    rate : float
        Probability of the loss of a packet.

    Returns
    -------
    dict
        The loss of a link, as in a scenario file.
    """
    return {"kind": "bernoulli", "rate": rate}


def flows(effort: Effort, protocol: Protocol, **settings: Any) -> dict[str, Any]:
    """Describe flows of a protocol.

    Parameters
    ----------
    effort : Effort
        Has the setting.
    protocol : Protocol
        What controls them.
    **settings
        Other keys of a flow.

    Returns
    -------
    dict
        An entry of `[[flow]]`.
    """
    tfrc = TFRCS[effort.setting["tfrc"]]
    start = {"uniform": ["0 s", "10 s"]}
    controller = tfrc.controller if protocol is TFRC else CONTROLLERS[protocol]
    one = build.flow(controller, rtt=build.seconds(RTT_S), start=start)
    if protocol is not TEAR:
        one["overhead"] = effort.setting["overhead"]
    if protocol is TFRC and tfrc.overhead:
        one["overhead"] = tfrc.overhead
    if protocol is GAIMD:
        one["params"] = {"whole_windows": effort.setting["whole_windows"]}
    return one | settings


def datagrams(effort: Effort) -> dict[str, Any]:
    """Describe the five ON/OFF sources.

    Parameters
    ----------
    effort : Effort
        Has the setting.

    Returns
    -------
    dict
        An entry of `[[flow]]`.
    """
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
    some: Sequence[Mapping[str, Any]],
    duration_s: float,
    *,
    loss: Mapping[str, Any] | None = None,
    queue: Mapping[str, Any] | None = None,
    events: Sequence[Mapping[str, Any]] = (),
    recovery: str | None = None,
) -> Case:
    """Make a case of the study.

    Parameters
    ----------
    effort : Effort
        How much is run.
    some : sequence of mapping
        Flows, as `flows` describes them.
    duration_s : float
        Length of the run; the first 50 s are not measured.
    loss : mapping, optional
        A controlled loss; the link then has 100 Mbit/s.
    queue : mapping, optional
        In place of the droptail queue.
    events : sequence of mapping
        Changes during the run.
    recovery : str, optional
        Loss recovery of TCP and GAIMD where it is not that of the setting.

    Returns
    -------
    Case
        The scenario and its runs.
    """
    free = loss is None
    link = build.dumbbell(
        build.mbps(LINK_MBPS if free else 100),
        "30 ms",
        queue or build.packets(BUFFER_PACKETS if free else 10_000),
    )
    if loss is not None:
        link["dumbbell"]["loss"] = dict(loss)
    tcp = {
        "recovery": recovery or effort.setting["recovery"],
        "rtt_sampling": effort.setting["rtt_sampling"],
        "min_rto": effort.setting["min_rto"],
        "clock": "100 ms",
        "initial_rto": "6 s",
        "limited_transmit": effort.setting["limited_transmit"],
        "initial_window": 1,
    }
    scenario = build.scenario(
        link,
        *some,
        duration=build.seconds(duration_s),
        warmup=build.seconds(MEASURED_FROM_S),
        sample="20 ms" if free else "100 ms",
        tcp=tcp,
        events=tuple(events),
    )
    return Case(scenario, effort.runs)


def steady(
    effort: Effort,
    *some: Mapping[str, Any],
    loss: Mapping[str, Any] | None = None,
    queue: Mapping[str, Any] | None = None,
) -> Case:
    """Make a case whose conditions do not change.

    Parameters
    ----------
    effort : Effort
        How much is run.
    *some : mapping
        Flows, as `flows` describes them.
    loss, queue : mapping, optional
        As in `case`.

    Returns
    -------
    Case
        The scenario, 550 s long, and its runs.
    """
    return case(effort, some, effort.pick(550, 250), loss=loss, queue=queue)
