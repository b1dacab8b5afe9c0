"""The path on which controls are compared, and the scenarios on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ackclock import engine
from ackclock.comparison.words import rounded
from ackclock.engine import Scenario, build
from ackclock.names import counted

FIXED_RUNS = 5
"""Runs of a comparison that has no questions to decide, or several paths, if their number is not given."""
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
STARTS_WITHIN_S = 1.0
"""Flows start at random within this time."""
RANDOM = (
    "flows start at random within the first second, and each send is delayed at random by up to the "
    "transmission time of a packet"
)
"""The differences between runs, in words."""


def samples_s(seconds: float) -> float:
    """Return a time in whole samples, at least one."""
    return max(1, round(seconds / SAMPLE_S)) * SAMPLE_S


def recovery_scale_s(rtt_ms: float) -> float:
    """Return the averaging time of goodput for a recovery: one second, or five RTTs if these are longer."""
    return samples_s(max(1.0, 5 * rtt_ms / 1e3))


@dataclass(frozen=True)
class PathSetup:
    """A path, and the length and number of its runs.

    Attributes
    ----------
    path : build.Path
        The path; by default its buffer is the bandwidth-delay product. If the bottleneck's rate changes, it
        is the mean over the measured time.
    duration_s : float, optional
        Length of a run, seconds; by default four cycles of Reno after a warm-up of a fifth, at least
        60 and at most 600 seconds.
    runs : int, optional
        Number of runs; each uses different random streams. By default there are runs until the questions of
        the first screen are decided, if that is possible.
    profile : str
        Defaults of the senders: ``linux`` or ``ns2``.
    flows : int
        Number of flows of each control.
    base : mapping, optional
        A scenario that supplies everything else of the path.
    name : str
        Name of the path; empty for a path that is described by its numbers.
    given : frozenset of str
        Keys of the dumbbell for which the value of `path` replaces the value of the base.
    ecn : bool
        Whether all flows can be marked. A queue that marks then marks such packets and does not drop them.
    seed : int, optional
        Seed of the random streams; by default that of the base, or 1.
    fastest_mbps : float, optional
        Rate of the bottleneck in the run in which it is largest; by default that of the path. It is infinite
        where flows decide when the rate changes.
    loss_over_time : float
        Mean share of packets that are lost at random, where a file says it.
    """

    path: build.Path
    duration_s: float | None = None
    runs: int | None = None
    profile: str = "linux"
    flows: int = 1
    base: build.Table | None = None
    name: str = ""
    given: frozenset[str] = frozenset()
    ecn: bool = False
    seed: int | None = None
    fastest_mbps: float | None = None
    loss_over_time: float = 0.0

    @property
    def kind(self) -> str:
        """The kind of the queue at the bottleneck."""
        return str(self.path.discipline.get("kind", "droptail"))

    @property
    def marks(self) -> bool:
        """Whether the queue marks packets that can be marked."""
        return self.kind in ALWAYS_MARKS or bool(self.path.discipline.get("ecn"))

    @property
    def loss(self) -> float:
        """Probability that a packet is lost at random."""
        return float(self.path.link.get("loss", {}).get("rate", 0.0)) or self.loss_over_time

    @property
    def capacity_packets(self) -> float:
        """The packets that the path and its buffer hold."""
        return self.path.bdp_packets + self.path.buffer_packets

    @property
    def reno_cycle_s(self) -> float:
        """Length of one cycle of Reno alone: half of its largest window, a packet per round trip."""
        largest = self.capacity_packets
        # The round trip grows with the queue, which begins at half of the largest window.
        rtt_s = self.path.rtt_ms / 1e3 * max(1.0, 0.75 * largest / self.path.bdp_packets)
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

    @property
    def recovery_scale_s(self) -> float:
        """The averaging time of goodput for a recovery, from the function of the same name."""
        return recovery_scale_s(self.path.rtt_ms)

    def describe(self) -> str:
        """Return the path in a line of words: rate, RTT, buffer, loss, duration and runs."""
        path = self.path
        share = f"{path.buffer_packets / path.bdp_packets:.2g}"
        times = "" if share == "1" else f"{share} times "
        loss = f", random loss {100 * self.loss:g} %" if self.loss else ""
        ecn = f", ECN{'' if self.marks else ' (this queue marks nothing)'}" if self.ecn else ""
        flows = f"; {self.flows} flows of each control" if self.flows > 1 else ""
        runs = counted(self.runs, "run") if self.runs else "runs"
        return (
            f"{self.name + ': ' if self.name else ''}{rounded(path.rate_mbps, 4)} Mbit/s, "
            f"RTT {path.rtt_ms:g} ms, {self.kind} buffer "
            f"{path.buffer_packets} packets of {path.packet_bytes} bytes ({times}the bandwidth-delay "
            f"product){loss}{ecn}; profile {self.profile}, receive window {self.receive_window} packets"
            f"{flows}; {runs} of {self.run_s:g} s, measured from {self.warmup_s:g} s; {RANDOM}"
        )

    @property
    def most_mbps(self) -> float:
        """The largest possible goodput in Mbit/s."""
        return self.path.rate_mbps if self.fastest_mbps is None else self.fastest_mbps

    @property
    def receive_window(self) -> int:
        """Receive window in packets."""
        return max(RECEIVE_WINDOW, round(PATH_FILLS * self.capacity_packets))

    def scenario(
        self, *flows: build.Table, read: Callable[[build.Table], Scenario] = engine.read
    ) -> Scenario:
        """Return a scenario with flows on the path, with random starts and delays, as `read` reads it."""
        base = dict(self.base or {})
        tcp = {"profile": self.profile, "receive_window": self.receive_window, **base.get("tcp", {})}
        if self.ecn:
            tcp["ecn"] = True
        scenario = self.path.scenario(
            *flows,
            *base.get("flow", ()),
            duration_s=self.run_s,
            measured_from_s=self.warmup_s,
            sample_s=SAMPLE_S,
            tcp=self.path.sender(tcp),
        )
        if self.seed is not None:
            scenario["run"]["seed"] = self.seed
        if base:
            own = {key: value for key, value in scenario["dumbbell"].items() if key in self.given}
            # A given value replaces a series over time from a file.
            replaced = {f"{key}_series" for key in own}
            kept = {key: value for key, value in base.get("dumbbell", {}).items() if key not in replaced}
            scenario["dumbbell"] = kept | own
        return read(scenario | {key: base[key] for key in ("path", "event") if key in base})

    def flow(self, controller: str, name: str, rtt: float = 1.0) -> build.Table:
        """Return a flow that starts within the first second; `rtt` is its round-trip time over the path's."""
        return build.flow(
            controller,
            rtt=build.milliseconds(rtt * self.path.rtt_ms),
            name=name,
            start={"uniform": ["0 s", build.seconds(STARTS_WITHIN_S)]},
            count=self.flows if self.flows > 1 else None,
        )


ALWAYS_MARKS = ("step", "dualpi2")
"""Kinds of queues that exist to mark packets."""
