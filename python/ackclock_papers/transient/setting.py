"""The one setting of the study's simulations, with every value that the text leaves open."""

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


SETTING = (
    ("bottleneck", "2.5 Mbit/s, 30 ms, droptail 50 packets", "section 2.2"),
    ("access links", "10 ms each, unlimited: RTT 100 ms", "section 2.2: never the bottleneck"),
    ("packets", "1000 bytes; ACKs of 40 bytes, none delayed", "section 2.2; ns-2's defaults"),
    ("recovery of TCP and GAIMD", "Reno; SACK in figures 18 and 19", "section 2.2; figure 18"),
    (
        "retransmission timeout",
        "at least 400 ms, clock 100 ms",
        "left open; the study's own analysis has a timeout of four round trips (equation 7)",
    ),
    ("initial window and ssthresh", "2 packets, unlimited", "left open: ns-2's defaults"),
    ("GAIMD", "alpha 0.31, beta 7/8", "section 1"),
    (
        "TFRC",
        "RFC 5348, with history discounting (floor 0.5)",
        "the study ran a snapshot of ns-2 of June 2000; discounting is on where it does not say",
    ),
    ("TEAR", "with its timeout; figure 22 also without", "section 2.2"),
    ("overhead", "up to 1 ms; TEAR none", "section 2.2: small, for TCP, GAIMD and TFRC"),
    ("starts", "uniform over 10 s", "left open"),
    ("rates", "bytes sent in each round trip, the mean of the run", "section 3: per round trip"),
    (
        "controlled loss",
        "flows that do not meet: 100 Mbit/s for up to 32 of them, with the loss at the link",
        "left open; one flow alone never fills 2.5 Mbit/s at the loss rates of most figures",
    ),
    ("RED", "not run", "the text says that it is like droptail; its parameters are left open"),
)


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


CHANGES = (
    "Rates and fairness are counted per mean round trip of the run (per 100 ms before): with a "
    "queue the round trip is a quarter of a second, and a window that is sent as one train looked "
    "like a fluctuation.",
    "Table 1: I is measured with 5 flows (20 before), which do not fill the link while they grow.",
    "Figure 1: the shortest sample of the trace is that of the first window's last packet.",
)
"""Changed after the first data were seen."""
