"""The path on which controls are compared, and the scenarios on it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.comparison.quantities import buffer_packets, duration_s, rate_mbps, share, time_ms
from ackclock.engine import build

CYCLES = 4
"""Cycles of Reno that are measured if the run can be that long."""
SHORTEST_S, LONGEST_S = 60.0, 600.0
WARMUP = 0.2
"""Share of a run that is left out of the measurement."""
SAMPLE_S = 0.05
RECEIVE_WINDOW = 16_777
"""Receive window in packets of a Linux host without tuning: the default of the profile linux."""
PATH_FILLS = 4
"""The smallest receive window over the capacity of path and buffer, as on a host that was tuned for
the path."""
STEP = (0.4, 0.6)
"""Start and end of the datagram flow that takes half of the link, as shares of the run."""


@dataclass(frozen=True)
class PathSetup:
    """A path, and the length and number of its runs.

    Attributes
    ----------
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    rtt_ms : float
        Propagation round trip, milliseconds.
    buffer : int, optional
        Buffer in packets of 1000 bytes; by default the bandwidth-delay product.
    loss : float
        Probability that a packet is lost at random.
    duration_s : float, optional
        Length of a run, seconds; by default four cycles of Reno after a warm-up of a fifth, at least
        60 and at most 600 seconds.
    runs : int
        Number of runs; each uses different random streams.
    profile : str
        Defaults of the senders: ``linux`` or ``ns2``.
    flows : int
        Number of flows of each control.
    queue : mapping, optional
        The queue without its limit, such as ``{"kind": "codel"}``; by default droptail.
    base : mapping, optional
        A scenario that supplies everything else of the path.
    name : str
        Name of the path; empty for a path that is described by its numbers.
    given : frozenset of str
        Keys of the dumbbell for which the numbers above replace those of the base.
    """

    rate_mbps: float
    rtt_ms: float
    buffer: int | None = None
    loss: float = 0.0
    duration_s: float | None = None
    runs: int = 5
    profile: str = "linux"
    flows: int = 1
    queue: Mapping[str, object] | None = None
    base: build.Table | None = None
    name: str = ""
    given: frozenset[str] = field(default_factory=frozenset)

    @property
    def product_packets(self) -> float:
        """The bandwidth-delay product in packets."""
        return self.rate_mbps * 1e6 * self.rtt_ms / 1e3 / build.PACKET_BITS

    @property
    def buffer_packets(self) -> int:
        """The buffer in packets, whether given or by default."""
        return max(2, round(self.product_packets)) if self.buffer is None else self.buffer

    @property
    def reno_cycle_s(self) -> float:
        """Length of one cycle of Reno alone: half of its largest window, a packet per round trip."""
        largest = self.product_packets + self.buffer_packets
        # The round trip grows with the queue, which begins at half of the largest window.
        rtt_s = self.rtt_ms / 1e3 * max(1.0, 0.75 * largest / self.product_packets)
        return largest / 2 * rtt_s

    @property
    def run_s(self) -> float:
        """Length of a run in seconds, whether given or by default."""
        if self.duration_s is not None:
            return self.duration_s
        wanted = CYCLES * self.reno_cycle_s / (1 - WARMUP)
        return float(round(min(LONGEST_S, max(SHORTEST_S, wanted))))

    @property
    def warmup_s(self) -> float:
        """Start of the measurement in seconds."""
        return WARMUP * self.run_s

    def describe(self) -> str:
        """Return the path in words: rate, RTT, buffer, loss, duration and runs.

        Returns
        -------
        str
            One line of text without a full stop.
        """
        share = self.buffer_packets / self.product_packets
        loss = f", random loss {100 * self.loss:g} %" if self.loss else ""
        kind = (self.queue or {}).get("kind", "droptail")
        flows = f"; {self.flows} flows of each control" if self.flows > 1 else ""
        return (
            f"{self.name + ': ' if self.name else ''}{self.rate_mbps:.4g} Mbit/s, "
            f"RTT {self.rtt_ms:g} ms, {kind} buffer "
            f"{self.buffer_packets} packets of 1000 bytes ({share:.2g} of the bandwidth-delay "
            f"product){loss}; profile {self.profile}, receive window {self.receive_window} packets"
            f"{flows}; {self.runs} runs of {self.run_s:g} s, measured from "
            f"{self.warmup_s:g} s; flows start at random within the first second, and each send is "
            "delayed at random by up to the transmission time of a packet"
        )

    @property
    def most_mbps(self) -> float:
        """The largest possible goodput in Mbit/s; infinite where the rate changes."""
        path = (self.base or {}).get("dumbbell", {})
        changes = "rate_trace" in path or "square" in path or (self.base or {}).get("event")
        return float("inf") if changes else self.rate_mbps

    @property
    def receive_window(self) -> int:
        """Receive window in packets."""
        holds = self.product_packets + self.buffer_packets
        return max(RECEIVE_WINDOW, round(PATH_FILLS * holds))

    def scenario(self, *flows: build.Table) -> build.Table:
        """Return a scenario with flows on the path.

        Parameters
        ----------
        *flows : dict
            Flows as `build.flow` returns them.

        Returns
        -------
        dict
            A scenario with random starts and delays.
        """
        base = dict(self.base or {})
        packet_s = build.PACKET_BITS / (self.rate_mbps * 1e6)
        tcp = {
            "profile": self.profile,
            "overhead": build.milliseconds(packet_s * 1e3),
            "receive_window": self.receive_window,
        }
        scenario = build.scenario(
            {"dumbbell": dict(base.get("dumbbell", {})) | self._numbers()},
            *flows,
            *base.get("flow", ()),
            duration=build.seconds(self.run_s),
            warmup=build.seconds(self.warmup_s),
            sample=build.seconds(SAMPLE_S),
            tcp=tcp | dict(base.get("tcp", {})),
        )
        return scenario | {key: base[key] for key in ("path", "event") if key in base}

    def _numbers(self) -> build.Table:
        """Return the keys of the dumbbell that do not come from the base."""
        limit = {"limit": build.packets(self.buffer_packets)}
        dumbbell = {
            "rate": build.mbps(self.rate_mbps),
            "delay": build.milliseconds(self.rtt_ms / 4),
            "queue": dict(self.queue or {"kind": "droptail"}) | limit,
            "loss": {"kind": "bernoulli", "rate": self.loss} if self.loss else {"kind": "none"},
        }
        return {key: value for key, value in dumbbell.items() if not self.base or key in self.given}

    def flow(self, controller: str, name: str, rtt: float = 1.0) -> build.Table:
        """Return a flow on the path.

        Parameters
        ----------
        controller : str
            Name of its control.
        name : str
            Name of the flow.
        rtt : float
            Its round-trip time over that of the path.

        Returns
        -------
        dict
            A flow that starts within the first second.
        """
        counted = {"count": self.flows} if self.flows > 1 else {}
        return build.flow(
            controller,
            rtt=build.milliseconds(rtt * self.rtt_ms),
            name=name,
            start={"uniform": ["0 s", "1 s"]},
            **counted,
        )


MUCH_LOSS = 0.2
"""A random loss rate above which the verb names it on standard error."""


def of_numbers(
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | None = None,
    loss: str | None = None,
    **more: Any,
) -> PathSetup:
    """Return a path from its numbers as people write them.

    The defaults are 100 Mbit/s, 100 ms, a buffer of the bandwidth-delay product, and no random loss;
    `more` are fields of `PathSetup`. Raises ValueError when a number cannot be read.
    """
    mbps, milliseconds = rate_mbps(rate or "100mbit"), time_ms(rtt or "100ms")
    packets = None if buffer is None else buffer_packets(buffer, mbps, milliseconds)
    more["profile"] = more.get("profile") or "linux"
    return PathSetup(mbps, milliseconds, packets, share(loss or "0"), **more)


def of_scenario(base: build.Table, name: str, **given: Any) -> PathSetup:
    """Return the path of a scenario: its dumbbell, ``[tcp]``, events, and flows without control.

    `base` is a scenario or ``{"path": "geo"}``; the first of its flows with a control supplies the round
    trip, and the compared controls replace these flows. `given` takes precedence over the scenario:
    ``rate``, ``rtt``, ``buffer`` and ``loss`` as people write them, ``queue`` as a mapping, and fields of
    `PathSetup`. Raises ValueError when it is not a dumbbell or a number cannot be read.
    """
    texts = {key: given.pop(key) for key in ("rate", "rtt", "buffer", "loss")}
    queue = given.pop("queue")
    flows = list(base.get("flow", [])) or [{"controller": "reno"}]
    run = base.get("run") or {"duration": "60 s"}
    complete = tomllib.loads(engine.check({**base, "flow": flows, "run": run}))
    if "dumbbell" not in complete:
        raise ValueError(f"{name}: compare needs a [dumbbell] or a named path")
    path = complete["dumbbell"]
    own = [flow for flow in complete["flow"] if "source" not in flow]
    rtt = texts["rtt"] or (own[0]["rtt"] if own else None)
    round_trip_ms = time_ms(rtt) if rtt else 2 * time_ms(path["delay"])
    rate = rate_mbps(texts["rate"]) if texts["rate"] else _mean_rate_mbps(path)
    overridden = {
        "rate": texts["rate"],
        "delay": texts["rtt"],
        "queue": queue or texts["buffer"],
        "loss": texts["loss"],
    }
    given_queue = queue or {key: value for key, value in path["queue"].items() if key != "limit"}
    limit = texts["buffer"] or path["queue"]["limit"]
    loss = path.get("loss", {})
    kept = {key: value for key, value in base.items() if key in ("path", "tcp", "dumbbell", "event")}
    tcp = {key: value for key, value in base.get("tcp", {}).items() if key != "profile"}
    profile = given.pop("profile") or base.get("tcp", {}).get("profile", "linux")
    if texts["rate"] and "rate_trace" in kept.get("dumbbell", {}):
        raise ValueError(f"{name}: has a rate_trace; leave out --rate")
    return PathSetup(
        rate,
        round_trip_ms,
        buffer_packets(limit, rate, round_trip_ms),
        share(texts["loss"]) if texts["loss"] else share_of(loss),
        queue=given_queue,
        base=kept | {"tcp": tcp, "flow": [flow for flow in base.get("flow", []) if "source" in flow]},
        name=name,
        profile=profile,
        given=frozenset(key for key, value in overridden.items() if value),
        **given,
    )


def share_of(loss: Mapping[str, Any]) -> float:
    """Return the loss rate of a path from its table; 0 where there is none or it is not Bernoulli's."""
    return share(str(loss["rate"])) if loss.get("kind") == "bernoulli" else 0.0


TRACE_PACKET_BITS = 12_000
"""Each line of a rate trace is an opportunity to send 1500 bytes."""


def _mean_rate_mbps(path: build.Table) -> float:
    if "rate_trace" not in path:
        return rate_mbps(path["rate"])
    lines = engine.text_of(Path(path["rate_trace"])).split()
    return len(lines) * TRACE_PACKET_BITS / float(lines[-1]) / 1e3


def of_file(file: Path, **given: Any) -> PathSetup:
    """Return the path of a scenario file in TOML or JSON, as `of_scenario` does."""
    import json

    engine.read(file)
    text = engine.text_of(file)
    base = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    trace = base.get("dumbbell", {}).get("rate_trace")
    if trace is not None:
        # The scenarios of a comparison are written to another directory.
        base["dumbbell"]["rate_trace"] = str((file.parent / trace).resolve())
    if duration := base.get("run", {}).get("duration"):
        given["duration_s"] = given.get("duration_s") or duration_s(duration)
    return of_scenario(base, file.stem, **given)
