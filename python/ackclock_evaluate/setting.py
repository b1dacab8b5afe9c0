"""What all scenarios of an evaluation have in common: the sender, the paths, and who sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ackclock.engine import build
from ackclock.engine.build import Table

Mode = Literal["quick", "full"]
LONG_S = {"quick": 60.0, "full": 90.0}
"""Length of a run in which nothing is changed."""
PACKET_BYTES = 1500
CUBIC = "cubic-linux"
"""The CUBIC that is in use: that of Linux."""
BASELINES = (CUBIC, "reno")
"""What a candidate is judged by: the CUBIC of Linux and Reno (RFC 5681)."""


@dataclass(frozen=True)
class Subject:
    """A control in the place that is judged.

    Attributes
    ----------
    name : str
        A control's name, ``module:Class`` or ``library.so:name``.
    params : mapping
        Its parameters where they are not the defaults.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def flow(self, name: str, rtt_ms: float, **more: Any) -> Table:
        """Describe a flow of it.

        Parameters
        ----------
        name : str
            Name of the flow, the same for every control, so that chance is the same.
        rtt_ms : float
            Propagation round trip, milliseconds.
        **more
            Other keys of ``[[flow]]``; without a ``start`` it is in the first second.

        Returns
        -------
        dict
            The flow.
        """
        given = {"name": name, "start": {"uniform": ["0 s", "1 s"]}} | more
        params = dict(self.params) or None
        return build.flow(self.name, rtt=build.milliseconds(rtt_ms), params=params, **given)


@dataclass(frozen=True)
class Bottleneck:
    """A path with one bottleneck.

    Attributes
    ----------
    rate_mbps : float
        Its rate, Mbit/s.
    rtt_ms : float
        Propagation round trip, milliseconds.
    buffer_bdp : float
        Its queue in bandwidth-delay products; at least two packets.
    packet_bytes : int
        Size of a data packet.
    queue_packets : int, optional
        The queue in packets, in place of `buffer_bdp`.
    discipline : mapping
        Other keys of the queue: ``kind`` and so on; droptail by default.
    link : mapping
        Other keys of the bottleneck: ``loss``, ``delay_noise``, ``reverse`` and so on.
    """

    rate_mbps: float = 50.0
    rtt_ms: float = 40.0
    buffer_bdp: float = 1.0
    packet_bytes: int = PACKET_BYTES
    queue_packets: int | None = None
    discipline: Mapping[str, Any] = field(default_factory=dict, hash=False)
    link: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def packets_per_second(self) -> float:
        """How many data packets it carries in a second."""
        return self.rate_mbps * 1e6 / (8 * self.packet_bytes)

    @property
    def bdp_packets(self) -> float:
        """Its bandwidth-delay product, packets."""
        return self.packets_per_second * self.rtt_ms / 1e3

    @property
    def buffer_packets(self) -> int:
        """Its queue, packets."""
        if self.queue_packets is not None:
            return self.queue_packets
        return max(2, round(self.buffer_bdp * self.bdp_packets))

    def with_link(self, **keys: Any) -> Bottleneck:
        """Give the same path with other keys of the bottleneck.

        Parameters
        ----------
        **keys
            Such as ``loss={"kind": "bernoulli", "rate": "1 %"}``.

        Returns
        -------
        Bottleneck
            The path.
        """
        return replace(self, link={**self.link, **keys})

    def scenario(
        self,
        *flows: Table,
        duration_s: float,
        measured_from_s: float | None = None,
        sample_s: float = 1.0,
        events: tuple[Table, ...] = (),
        tcp: Mapping[str, Any] | None = None,
    ) -> Table:
        """Put flows on the path.

        Parameters
        ----------
        *flows : dict
            As `Subject.flow` gives them.
        duration_s : float
            Length of a run, seconds.
        measured_from_s : float, optional
            When measuring starts; by default after a quarter.
        sample_s : float
            Spacing of the tables over time, seconds.
        events : tuple of dict
            Changes of the path.
        tcp : mapping, optional
            Settings of all senders that differ.

        Returns
        -------
        dict
            A scenario: senders as Linux has them, and a random delay of up to one packet's time
            before each send, so that no two flows are in step by construction.
        """
        from_s = duration_s / 4 if measured_from_s is None else measured_from_s
        queue = {"kind": "droptail", "limit": build.packets(self.buffer_packets), **self.discipline}
        return build.scenario(
            build.dumbbell(
                build.mbps(self.rate_mbps), build.milliseconds(self.rtt_ms / 4), queue, **self.link
            ),
            *flows,
            duration=build.seconds(duration_s),
            warmup=build.seconds(from_s),
            sample=build.seconds(sample_s),
            tcp=self.sender(tcp),
            events=events,
        )

    def sender(self, more: Mapping[str, Any] | None = None) -> Table:
        """Give the settings that all senders have.

        Parameters
        ----------
        more : mapping, optional
            What differs.

        Returns
        -------
        dict
            As ``[tcp]`` has them.
        """
        packet_time_s = 1 / self.packets_per_second
        usual = {
            "profile": "linux",
            "packet": f"{self.packet_bytes} B",
            "overhead": build.seconds(round(packet_time_s, 9)),
        }
        return usual | dict(more or {})


STANDARD = Bottleneck()
"""50 Mbit/s, 40 ms, a buffer of one bandwidth-delay product: 167 packets."""


def change(at_s: float, key: str, to: str | bool, every_s: float | None = None) -> Table:
    """Describe a change of a path.

    Parameters
    ----------
    at_s : float
        When, seconds.
    key : str
        Such as ``dumbbell.rate``.
    to : str or bool
        Its new value.
    every_s : float, optional
        How often it happens again, seconds.

    Returns
    -------
    dict
        An ``[[event]]``.
    """
    again = {} if every_s is None else {"every": build.seconds(every_s)}
    return {"at": build.seconds(at_s), "set": key, "to": to, **again}
