"""Scenarios of the study's one setting; paper.toml lists every value and its basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from ackclock.reproduction.numbers import Effort
from ackclock.runs import Case

PACKET_BYTES = 1000
LINK_MBPS = 2.5
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

CONTROLLERS = {
    TCP: "reno",
    GAIMD: "gaimd",
    TFRC: "tfrc",
    TEAR: "tear",
}
"""The engine's names of their controls."""


class Reference(StrEnum):
    """Other conditions that a figure is compared with; braces are where the protocol belongs."""

    ALONE = "one {}"
    BERNOULLI = "{}, Bernoulli 1 %"
    BESIDE_TCP = "{} beside TCP"
    PERIODIC = "{}, periodic"


class Compared(NamedTuple):
    """Key of a case that a figure does not show: it is what the cases shown are compared with."""

    protocol: Protocol
    reference: Reference

    def __str__(self) -> str:
        return self.reference.format(self.protocol)


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


def flows(protocol: Protocol, **settings: Any) -> dict[str, Any]:
    """Describe flows of a protocol.

    Parameters
    ----------
    protocol : Protocol
        What controls them.
    **settings
        Other keys of a flow.

    Returns
    -------
    dict
        An entry of `[[flow]]`.
    """
    one: dict[str, Any] = {
        "controller": CONTROLLERS[protocol],
        "rtt": "100 ms",
        "start": {"uniform": ["0 s", "10 s"]},
    }
    if protocol is not TEAR:
        one["overhead"] = "1 ms"
    return one | settings


def case(
    effort: Effort,
    some: Sequence[Mapping[str, Any]],
    duration_s: float,
    *,
    loss: Mapping[str, Any] | None = None,
    events: Sequence[Mapping[str, Any]] = (),
    recovery: str = "reno",
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
    events : sequence of mapping
        Changes during the run.
    recovery : str
        Loss recovery of TCP and GAIMD.

    Returns
    -------
    Case
        The scenario and its runs.
    """
    link: dict[str, Any] = {
        "rate": f"{LINK_MBPS} Mbit/s" if loss is None else "100 Mbit/s",
        "delay": "30 ms",
        "queue": {"kind": "droptail", "limit": "50 packets" if loss is None else "10000 packets"},
    }
    if loss is not None:
        link["loss"] = dict(loss)
    scenario = {
        "run": {
            "duration": f"{duration_s:g} s", "warmup": f"{MEASURED_FROM_S:g} s",
            "sample": "20 ms" if loss is None else "100 ms",
        },
        "tcp": {"min_rto": "400 ms", "clock": "100 ms", "recovery": recovery},
        "dumbbell": link,
        "flow": [dict(one) for one in some],
    }  # fmt: skip
    if events:
        scenario["event"] = [dict(one) for one in events]
    return Case(scenario, effort.runs)


def steady(effort: Effort, *some: Mapping[str, Any], loss: Mapping[str, Any] | None = None) -> Case:
    """Make a case whose conditions do not change.

    Parameters
    ----------
    effort : Effort
        How much is run.
    *some : mapping
        Flows, as `flows` describes them.
    loss : mapping, optional
        A controlled loss; see `case`.

    Returns
    -------
    Case
        The scenario, 550 s long, and its runs.
    """
    return case(effort, some, effort.pick(550, 250), loss=loss)
