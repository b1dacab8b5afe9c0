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
"""Cycles of Reno that are measured, if they fit."""
SHORTEST_S, LONGEST_S = 60.0, 600.0
WARMUP = 0.2
"""Share of a run before measuring starts."""
SAMPLE_S = 0.05
RECEIVE_WINDOW = 16_777
"""Packets that a Linux host without tuning allows: the default of the profile linux."""
PATH_FILLS = 4
"""Times what the path and its buffer hold that the receive window has at least, as on a host that
was tuned for the path."""
STEP = (0.4, 0.6)
"""When a datagram flow takes half of the link: shares of the run."""


@dataclass(frozen=True)
class Setting:
    """A path, and how long and how often it is simulated.

    Attributes
    ----------
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    rtt_ms : float
        Propagation round trip, milliseconds.
    buffer : int, optional
        Packets of 1000 bytes; by default the bandwidth-delay product.
    loss : float
        Probability of a random loss, per packet.
    duration_s : float, optional
        Length of a run, seconds; by default four cycles of Reno and a fifth for the start, from
        60 to 600.
    runs : int
        Number of runs; each uses different random streams.
    profile : str
        Settings of the senders: ``linux`` or ``ns2``.
    flows : int
        Flows of each control, where there is one by default.
    queue : mapping, optional
        The queue without its limit, such as ``{"kind": "codel"}``; by default droptail.
    base : mapping, optional
        A scenario from which everything else of the path is taken; see `of_scenario`.
    name : str
        What the path is called; empty for one that is described by its numbers.
    given : frozenset of str
        Keys of the dumbbell that are given by the numbers above although there is a base.
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
        """The bandwidth-delay product."""
        return self.rate_mbps * 1e6 * self.rtt_ms / 1e3 / build.PACKET_BITS

    @property
    def buffer_packets(self) -> int:
        """The buffer, given or not."""
        return max(2, round(self.product_packets)) if self.buffer is None else self.buffer

    @property
    def reno_cycle_s(self) -> float:
        """One cycle of Reno alone: half of its largest window, a packet per round trip."""
        largest = self.product_packets + self.buffer_packets
        # The round trip grows with the queue, from half of the window on.
        rtt_s = self.rtt_ms / 1e3 * max(1.0, 0.75 * largest / self.product_packets)
        return largest / 2 * rtt_s

    @property
    def run_s(self) -> float:
        """Length of a run, given or not; whole seconds."""
        if self.duration_s is not None:
            return self.duration_s
        wanted = CYCLES * self.reno_cycle_s / (1 - WARMUP)
        return float(round(min(LONGEST_S, max(SHORTEST_S, wanted))))

    @property
    def warmup_s(self) -> float:
        """When measuring starts, seconds."""
        return WARMUP * self.run_s

    def describe(self) -> str:
        """Return the path in words.

        Returns
        -------
        str
            Rate, RTT, buffer, loss, duration and runs.
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
            f"{self.warmup_s:g} s; starts within the first second, up to a packet's time of "
            "random delay before each send"
        )

    @property
    def most_mbps(self) -> float:
        """The largest possible goodput; infinite where the rate changes."""
        path = (self.base or {}).get("dumbbell", {})
        changes = "rate_trace" in path or "square" in path or (self.base or {}).get("event")
        return float("inf") if changes else self.rate_mbps

    @property
    def receive_window(self) -> int:
        """Packets in flight that the receivers allow."""
        holds = self.product_packets + self.buffer_packets
        return max(RECEIVE_WINDOW, round(PATH_FILLS * holds))

    def scenario(self, *flows: build.Table) -> build.Table:
        """Put flows on the path.

        Parameters
        ----------
        *flows : dict
            As `build.flow` gives them.

        Returns
        -------
        dict
            A scenario, in which something is random.
        """
        base = dict(self.base or {})
        packet_s = build.PACKET_BITS / (self.rate_mbps * 1e6)
        tcp = {
            "profile": self.profile,
            "overhead": build.milliseconds(packet_s * 1e3),
            "receive_window": self.receive_window,
        }
        made = build.scenario(
            {"dumbbell": dict(base.get("dumbbell", {})) | self._numbers()},
            *flows,
            *base.get("flow", ()),
            duration=build.seconds(self.run_s),
            warmup=build.seconds(self.warmup_s),
            sample=build.seconds(SAMPLE_S),
            tcp=tcp | dict(base.get("tcp", {})),
        )
        return made | {key: base[key] for key in ("path", "event") if key in base}

    def _numbers(self) -> build.Table:
        """Return the keys of the dumbbell that are not those of the base."""
        limit = {"limit": build.packets(self.buffer_packets)}
        all_of = {
            "rate": build.mbps(self.rate_mbps),
            "delay": build.milliseconds(self.rtt_ms / 4),
            "queue": dict(self.queue or {"kind": "droptail"}) | limit,
            "loss": {"kind": "bernoulli", "rate": self.loss} if self.loss else {"kind": "none"},
        }
        return {key: value for key, value in all_of.items() if not self.base or key in self.given}

    def flow(self, controller: str, name: str, rtt: float = 1.0) -> build.Table:
        """Describe a flow on the path.

        Parameters
        ----------
        controller : str
            Its control.
        name : str
            Its name.
        rtt : float
            Its round trip over that of the path.

        Returns
        -------
        dict
            A flow that starts within the first second.
        """
        several = {"count": self.flows} if self.flows > 1 else {}
        return build.flow(
            controller,
            rtt=build.milliseconds(rtt * self.rtt_ms),
            name=name,
            start={"uniform": ["0 s", "1 s"]},
            **several,
        )


MUCH_LOSS = 0.2
"""A loss rate that is said aloud."""


def of_numbers(
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | None = None,
    loss: str | None = None,
    **more: Any,
) -> Setting:
    """Describe a path by its numbers, as people write them.

    Parameters
    ----------
    rate, rtt, buffer, loss : str, optional
        By default 100 Mbit/s, 100 ms, the bandwidth-delay product, and no random loss.
    **more
        Fields of `Setting`.

    Returns
    -------
    Setting
        The path.

    Raises
    ------
    ValueError
        When a number cannot be read.
    """
    mbps, milliseconds = rate_mbps(rate or "100mbit"), time_ms(rtt or "100ms")
    packets = None if buffer is None else buffer_packets(buffer, mbps, milliseconds)
    more["profile"] = more.get("profile") or "linux"
    return Setting(mbps, milliseconds, packets, share(loss or "0"), **more)


def of_scenario(base: build.Table, name: str, **given: Any) -> Setting:
    """Describe the path of a scenario: its dumbbell, ``[tcp]``, events, and flows without control.

    Parameters
    ----------
    base : mapping
        A scenario, or ``{"path": "geo"}``. Its flows with a control give the round trip (the
        first of them), the controls that are compared take their place.
    name : str
        What to call the path.
    **given
        What comes before the scenario: ``rate``, ``rtt``, ``buffer`` and ``loss`` as people write
        them, ``queue`` as a mapping, and fields of `Setting`.

    Returns
    -------
    Setting
        With the numbers of the path.

    Raises
    ------
    ValueError
        When it is not a dumbbell, or a number cannot be read.
    ScenarioError
        When the scenario is refused.
    """
    texts = {key: given.pop(key) for key in ("rate", "rtt", "buffer", "loss")}
    queue = given.pop("queue")
    flows = list(base.get("flow", [])) or [{"controller": "reno"}]
    run = base.get("run") or {"duration": "60 s"}
    complete = tomllib.loads(engine.check({**base, "flow": flows, "run": run}))
    if "dumbbell" not in complete:
        raise ValueError(f"{name}: compare needs a [dumbbell] or a named path")
    path = complete["dumbbell"]
    own = [one for one in complete["flow"] if "source" not in one]
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
    return Setting(
        rate,
        round_trip_ms,
        buffer_packets(limit, rate, round_trip_ms),
        share(texts["loss"]) if texts["loss"] else share_of(loss),
        queue=given_queue,
        base=kept | {"tcp": tcp, "flow": [one for one in base.get("flow", []) if "source" in one]},
        name=name,
        profile=profile,
        given=frozenset(key for key, value in overridden.items() if value),
        **given,
    )


def share_of(loss: build.Table) -> float:
    """Return the loss rate of a path, as far as it is one number.

    Parameters
    ----------
    loss : mapping
        As a scenario holds it.

    Returns
    -------
    float
        0 where there is none or it is not Bernoulli's.
    """
    return share(str(loss["rate"])) if loss.get("kind") == "bernoulli" else 0.0


TRACE_PACKET_BITS = 12_000
"""Each line of a rate trace is an opportunity to send 1500 bytes."""


def _mean_rate_mbps(path: build.Table) -> float:
    if "rate_trace" not in path:
        return rate_mbps(path["rate"])
    lines = engine.text_of(Path(path["rate_trace"])).split()
    return len(lines) * TRACE_PACKET_BITS / float(lines[-1]) / 1e3


def of_file(file: Path, **given: Any) -> Setting:
    """Describe the path of a scenario file, as `of_scenario`.

    Parameters
    ----------
    file : Path
        TOML or JSON.
    **given
        As for `of_scenario`.

    Returns
    -------
    Setting
        With the numbers of the path.

    Raises
    ------
    ValueError, ScenarioError
        As `of_scenario`.
    """
    import json

    engine.read(file)
    text = engine.text_of(file)
    base = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    trace = base.get("dumbbell", {}).get("rate_trace")
    if trace is not None:
        # The scenarios of a comparison lie elsewhere.
        base["dumbbell"]["rate_trace"] = str((file.parent / trace).resolve())
    if duration := base.get("run", {}).get("duration"):
        given["duration_s"] = given.get("duration_s") or duration_s(duration)
    return of_scenario(base, file.stem, **given)
