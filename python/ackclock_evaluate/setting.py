"""The common ground of all scenarios of an evaluation: senders, paths, controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ackclock.engine import build
from ackclock.engine.build import Table

Mode = Literal["quick", "full"]
LONG_S = {"quick": 60.0, "full": 90.0}
"""Length of a run on a path that does not change."""
PACKET_BYTES = 1500
CUBIC = "cubic-linux"
"""The CUBIC of Linux, the one that is in use."""
BASELINES = (CUBIC, "reno")
"""The controls that a candidate is compared with: the CUBIC of Linux and Reno (RFC 5681)."""


@dataclass(frozen=True)
class Subject:
    """The control under test, the candidate or a baseline in its place."""

    name: str
    """A built-in control, ``module:Class`` or ``library.so:name``."""
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Parameters that differ from the defaults."""

    def flow(self, name: str, rtt_ms: float, **more: Any) -> Table:
        """Describe a flow of it, by default with a start within the first second.

        The name is the same for every control, so that the random streams are the same. `more` are
        other keys of ``[[flow]]``.
        """
        keys = {"name": name, "start": {"uniform": ["0 s", "1 s"]}} | more
        params = dict(self.params) or None
        return build.flow(self.name, rtt=build.milliseconds(rtt_ms), params=params, **keys)


@dataclass(frozen=True)
class Bottleneck:
    """A path with one bottleneck."""

    rate_mbps: float = 50.0
    rtt_ms: float = 40.0
    """Propagation round trip."""
    buffer_bdp: float = 1.0
    """The queue in bandwidth-delay products; at least two packets."""
    packet_bytes: int = PACKET_BYTES
    queue_packets: int | None = None
    """The queue in packets, instead of `buffer_bdp`."""
    discipline: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Other keys of the queue, such as ``kind``; droptail by default."""
    link: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Other keys of the bottleneck, such as ``loss``, ``delay_noise`` or ``reverse``."""

    @property
    def packets_per_second(self) -> float:
        """Return its rate in data packets per second."""
        return self.rate_mbps * 1e6 / (8 * self.packet_bytes)

    @property
    def bdp_packets(self) -> float:
        """Return its bandwidth-delay product, packets."""
        return self.packets_per_second * self.rtt_ms / 1e3

    @property
    def buffer_packets(self) -> int:
        """Return the size of its queue, packets."""
        if self.queue_packets is not None:
            return self.queue_packets
        return max(2, round(self.buffer_bdp * self.bdp_packets))

    def with_link(self, **keys: Any) -> Bottleneck:
        """Return the same path with other keys of the link, such as ``loss={...}``."""
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
        """Return a scenario with flows on the path, by default measured after a quarter of its length.

        Senders are configured as on Linux, and each send is delayed at random by up to one packet's
        transmission time, so that no two flows are synchronised by construction. `sample_s` is the
        spacing of the tables over time; `tcp` overrides keys of all senders.
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
        """Return the keys of ``[tcp]`` for all senders, with `more` replacing the usual ones."""
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
    """Describe a change of a path, an ``[[event]]`` that sets a key such as ``dumbbell.rate``.

    It repeats every `every_s` seconds if that is given.
    """
    again = {} if every_s is None else {"every": build.seconds(every_s)}
    return {"at": build.seconds(at_s), "set": key, "to": to, **again}
