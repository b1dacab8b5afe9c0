"""The common ground of all scenarios of an evaluation: senders, paths, controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ackclock.engine import build
from ackclock.engine.build import Table
from ackclock.suites.reader import Mode as Mode
from ackclock.suites.reader import Subject as Subject

LONG_S = {"quick": 60.0, "full": 90.0}
"""Length of a run on a path that does not change."""
PACKET_BYTES = 1500
ACCESS_DELAY = "5 ms"
"""Delay, one way, of the bottleneck and of each access link in `Bottleneck.apart`."""
CUBIC = "cubic-linux"
"""The CUBIC of Linux, which is the version in use."""
BASELINES = (CUBIC, "reno")
"""The controls that a candidate is compared with: the CUBIC of Linux and Reno (RFC 5681)."""


@dataclass(frozen=True)
class Bottleneck(build.Path):
    """A path with one bottleneck, and with senders configured as on Linux."""

    rate_mbps: float = 50.0
    rtt_ms: float = 40.0
    packet_bytes: int = PACKET_BYTES

    def scenario(
        self,
        *flows: Mapping[str, object],
        duration_s: float,
        measured_from_s: float | None = None,
        sample_s: float = 1.0,
        events: tuple[Mapping[str, object], ...] = (),
        tcp: Mapping[str, object] | None = None,
        topology: Table | None = None,
    ) -> Table:
        """Return a scenario as `build.Path` does.

        `tcp` replaces keys of all senders, and `topology` replaces the dumbbell of the path.
        """
        scenario = super().scenario(
            *flows,
            duration_s=duration_s,
            measured_from_s=measured_from_s,
            sample_s=sample_s,
            events=events,
            tcp=self.sender(tcp),
        )
        if topology is None:
            return scenario
        return {**topology, **{key: value for key, value in scenario.items() if key != "dumbbell"}}

    def apart(self, access: Mapping[str, Mapping[str, Any]]) -> Table:
        """Return the path as a topology in which every flow has an access link of its own.

        `access` has the nodes at which the flows start, with keys of their links that differ. All flows
        go to node ``far``; the bottleneck is the first link, the access links are ``access-NODE``.
        """
        fast = {
            # At ten times the bottleneck's rate no burst forms a queue here.
            "rate": build.mbps(10 * self.rate_mbps),
            "delay": ACCESS_DELAY,
            "queue": {"kind": "droptail", "limit": "100000 packets"},
        }
        bottleneck = {
            "rate": build.mbps(self.rate_mbps),
            "delay": ACCESS_DELAY,
            "queue": self.topology()["dumbbell"]["queue"],
            **self.link,
        }
        links = [
            {"name": "bottleneck", "from": "near", "to": "far", **bottleneck},
            *(
                {"name": f"access-{name}", "from": name, "to": "near", **fast, **keys}
                for name, keys in access.items()
            ),
        ]
        return {"node": [{"name": name} for name in (*access, "near", "far")], "link": links}


STANDARD = Bottleneck()
"""50 Mbit/s, 40 ms, a buffer of one bandwidth-delay product: 167 packets."""


def change(at_s: float, key: str, to: str | bool, every_s: float | None = None) -> Table:
    """Describe a change of a path, an ``[[event]]`` that sets a key such as ``dumbbell.rate``.

    It repeats every `every_s` seconds if that is given.
    """
    again = {} if every_s is None else {"every": build.seconds(every_s)}
    return {"at": build.seconds(at_s), "set": key, "to": to, **again}
