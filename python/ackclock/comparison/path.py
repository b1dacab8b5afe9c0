"""The path on which controls are compared, and the scenarios on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from ackclock import engine
from ackclock.comparison.quantities import buffer_packets, duration_s, rate_mbps, share, time_ms
from ackclock.comparison.words import rounded
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
STARTS_WITHIN_S = 1.0
"""Flows start at random within this time."""
RANDOM = (
    "flows start at random within the first second, and each send is delayed at random by up to the "
    "transmission time of a packet"
)
"""What differs between runs."""


def samples_s(seconds: float) -> float:
    """Return a time in whole samples, at least one."""
    return max(1, round(seconds / SAMPLE_S)) * SAMPLE_S


def recovery_scale_s(rtt_ms: float) -> float:
    """Return the time over which goodput is averaged to see a recovery: a second, or five longer RTTs."""
    return samples_s(max(1.0, 5 * rtt_ms / 1e3))


@dataclass(frozen=True)
class PathSetup:
    """A path, and the length and number of its runs.

    Attributes
    ----------
    path : build.Path
        The path; by default its buffer is the bandwidth-delay product.
    duration_s : float, optional
        Length of a run, seconds; by default four cycles of Reno after a warm-up of a fifth, at least
        60 and at most 600 seconds.
    runs : int
        Number of runs; each uses different random streams.
    profile : str
        Defaults of the senders: ``linux`` or ``ns2``.
    flows : int
        Number of flows of each control.
    base : mapping, optional
        A scenario that supplies everything else of the path.
    name : str
        Name of the path; empty for a path that is described by its numbers.
    given : frozenset of str
        Keys of the dumbbell that `path` has in place of the base.
    ecn : bool
        Whether all flows can be marked. A queue that marks then marks such packets and does not drop them.
    seed : int, optional
        Seed of the random streams; by default that of the base, or 1.
    """

    path: build.Path
    duration_s: float | None = None
    runs: int = 5
    profile: str = "linux"
    flows: int = 1
    base: build.Table | None = None
    name: str = ""
    given: frozenset[str] = frozenset()
    ecn: bool = False
    seed: int | None = None

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
        return float(self.path.link.get("loss", {}).get("rate", 0.0))

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
        """Time over which goodput is averaged to see a recovery, as `recovery_scale_s` has it."""
        return recovery_scale_s(self.path.rtt_ms)

    def describe(self) -> str:
        """Return the path in a line of words: rate, RTT, buffer, loss, duration and runs."""
        path = self.path
        share = f"{path.buffer_packets / path.bdp_packets:.2g}"
        times = "" if share == "1" else f"{share} times "
        loss = f", random loss {100 * self.loss:g} %" if self.loss else ""
        ecn = f", ECN{'' if self.marks else ' (this queue marks nothing)'}" if self.ecn else ""
        flows = f"; {self.flows} flows of each control" if self.flows > 1 else ""
        return (
            f"{self.name + ': ' if self.name else ''}{rounded(path.rate_mbps, 4)} Mbit/s, "
            f"RTT {path.rtt_ms:g} ms, {self.kind} buffer "
            f"{path.buffer_packets} packets of 1000 bytes ({times}the bandwidth-delay "
            f"product){loss}{ecn}; profile {self.profile}, receive window {self.receive_window} packets"
            f"{flows}; {self.runs} runs of {self.run_s:g} s, measured from "
            f"{self.warmup_s:g} s; {RANDOM}"
        )

    @property
    def most_mbps(self) -> float:
        """The largest possible goodput in Mbit/s; infinite where the rate changes."""
        path = (self.base or {}).get("dumbbell", {})
        changes = "rate_trace" in path or "square" in path or (self.base or {}).get("event")
        return float("inf") if changes else self.path.rate_mbps

    @property
    def receive_window(self) -> int:
        """Receive window in packets."""
        return max(RECEIVE_WINDOW, round(PATH_FILLS * self.capacity_packets))

    def scenario(self, *flows: build.Table) -> build.Table:
        """Return a scenario with flows on the path, with random starts and delays."""
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
            scenario["dumbbell"] = base.get("dumbbell", {}) | own
        return scenario | {key: base[key] for key in ("path", "event") if key in base}

    def flow(self, controller: str, name: str, rtt: float = 1.0) -> build.Table:
        """Return a flow that starts within the first second; `rtt` is its round-trip time over the path's."""
        return build.flow(
            controller,
            rtt=build.milliseconds(rtt * self.path.rtt_ms),
            name=name,
            start={"uniform": ["0 s", build.seconds(STARTS_WITHIN_S)]},
            count=self.flows if self.flows > 1 else None,
        )


CAN_MARK = ("red", "ared", "codel", "pie", "fq_codel")
"""Kinds of queues that mark packets in place of dropping them when ``ecn`` is set."""
ALWAYS_MARKS = ("step", "dualpi2")
"""Kinds of queues that exist to mark packets."""
MUCH_LOSS = 0.2
"""A random loss rate above which the verb names it on standard error."""


class RunOptions(TypedDict, total=False):
    """The fields of `PathSetup` that people choose; without a profile it is that of the path."""

    duration_s: float | None
    runs: int
    profile: str | None
    flows: int
    ecn: bool
    seed: int | None


class PathOptions(RunOptions, total=False):
    """Options as people write them, such as ``rate="10mbit"``; None is that of the path."""

    rate: str | None
    rtt: str | None
    buffer: str | None
    loss: str | None
    queue: str | None


def of_options(
    path: str | None, scenario: Path | None, duration: str | None, **given: Unpack[PathOptions]
) -> PathSetup:
    """Return the named path, that of a scenario file, or one of numbers, from options as people write them.

    `given` are those of `of_scenario`, and take precedence. Raises ValueError when one cannot be read.
    """
    if path is not None and scenario is not None:
        raise ValueError("path and scenario both name a path; use only one")
    if duration is not None:
        given["duration_s"] = seconds = duration_s(duration)
        if seconds <= STARTS_WITHIN_S:
            raise ValueError(
                f"not a duration of more than 1 s: '{duration}'; flows start within the first second"
            )
    if scenario is not None:
        return of_file(scenario, **given)
    return of_numbers(**given) if path is None else of_scenario({"path": path}, path, **given)


def grid_of_options(
    queues: Sequence[str],
    buffers: Sequence[str],
    path: str | None,
    scenario: Path | None,
    duration: str | None = None,
    **given: Unpack[PathOptions],
) -> dict[tuple[str, str], PathSetup]:
    """Return a setting for each queue and each buffer, by their names; others are as for `of_options`.

    Without a name the queue or the buffer is that of the path. Raises ValueError when one cannot be read.
    """
    if not all([*queues, *buffers]):
        raise ValueError("a list has an empty name; write e.g. droptail,codel or 1bdp,4bdp")
    cells = {}
    for queue in dict.fromkeys(queues) or [None]:
        for buffer in dict.fromkeys(buffers) or [None]:
            given["queue"], given["buffer"] = queue, buffer
            setting = of_options(path, scenario, duration, **given)
            named = f"{setting.path.buffer_packets / setting.path.bdp_packets:.2g}bdp"
            cells[queue or setting.kind, buffer or named] = setting
    return cells


def of_numbers(
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | None = None,
    loss: str | None = None,
    queue: str | None = None,
    **more: Unpack[RunOptions],
) -> PathSetup:
    """Return a path from its numbers as people write them.

    The defaults are 100 Mbit/s, 100 ms, a buffer of the bandwidth-delay product, and no random loss;
    `more` are fields of `PathSetup`. Raises ValueError when a number cannot be read.
    """
    mbps, milliseconds = rate_mbps(rate or "100mbit"), time_ms(rtt or "100ms")
    packets = None if buffer is None else buffer_packets(buffer, mbps, milliseconds)
    path = build.Path(
        mbps,
        milliseconds,
        queue_packets=packets,
        discipline=_marking({"kind": queue} if queue else {}, ecn=more.get("ecn", False)),
        link={"loss": _random_loss(share(loss or "0"))},
    )
    return _setup(path, more, "linux")


def _setup(path: build.Path, options: RunOptions, profile: str) -> PathSetup:
    """Return the setup of a path with the options, and a profile if these have none."""
    return PathSetup(
        path,
        duration_s=options.get("duration_s"),
        runs=options.get("runs", PathSetup.runs),
        profile=options.get("profile") or profile,
        flows=options.get("flows", PathSetup.flows),
        ecn=options.get("ecn", PathSetup.ecn),
        seed=options.get("seed"),
    )


def _marking(discipline: build.Table, *, ecn: bool) -> build.Table:
    """Return a discipline that marks packets if that is wanted and its kind can."""
    can = ecn and discipline.get("kind") in CAN_MARK
    return discipline | {"ecn": True} if can else discipline


def _random_loss(probability: float) -> build.Table:
    return {"kind": "bernoulli", "rate": probability} if probability else {"kind": "none"}


def of_scenario(base: build.Table, name: str, **given: Unpack[PathOptions]) -> PathSetup:
    """Return the path of a scenario: its dumbbell, ``[tcp]``, events, and flows without control.

    `base` is a scenario or ``{"path": "geo"}``; the first of its flows with a control supplies the round
    trip, and the compared controls replace these flows. `given` takes precedence over the scenario:
    ``rate``, ``rtt``, ``buffer``, ``loss`` and ``queue`` as people write them, and fields of `PathSetup`.
    Raises ValueError when it is not a dumbbell or a number cannot be read.
    """
    flows = list(base.get("flow", [])) or [{"controller": "reno"}]
    run = base.get("run") or {"duration": "60 s"}
    return _of_tables(base, engine.tables({**base, "flow": flows, "run": run}), name, given)


def _of_tables(base: build.Table, complete: build.Table, name: str, given: PathOptions) -> PathSetup:
    """Return the path of a scenario as it was written, and with every default filled in."""
    queue, ecn = given.get("queue"), given.get("ecn", False)
    overridden = {
        "rate": given.get("rate"),
        "delay": given.get("rtt"),
        "queue": queue or given.get("buffer") or ecn,
        "loss": given.get("loss"),
    }
    if "dumbbell" not in complete:
        raise ValueError(f"{name}: compare needs a [dumbbell] or a named path")
    if given.get("rate") and "rate_trace" in base.get("dumbbell", {}):
        raise ValueError(f"{name}: has a rate_trace; leave out --rate")
    path = complete["dumbbell"]
    own = [flow for flow in complete["flow"] if "source" not in flow]
    rtt = given.get("rtt") or (own[0]["rtt"] if own else None)
    round_trip_ms = time_ms(rtt) if rtt else 2 * time_ms(path["delay"])
    rate = _mean_rate_mbps(path) if (text := given.get("rate")) is None else rate_mbps(text)
    own_queue = dict(path["queue"])
    own_limit = own_queue.pop("limit")
    loss = share_of(path.get("loss", {})) if (text := given.get("loss")) is None else share(text)
    setup = _setup(
        build.Path(
            rate,
            round_trip_ms,
            queue_packets=buffer_packets(given.get("buffer") or own_limit, rate, round_trip_ms),
            discipline=_marking({"kind": queue} if queue else own_queue, ecn=ecn),
            link={"loss": _random_loss(loss)},
        ),
        given,
        base.get("tcp", {}).get("profile", "linux"),
    )
    tcp = {key: value for key, value in base.get("tcp", {}).items() if key != "profile"}
    kept = {key: value for key, value in base.items() if key in ("path", "dumbbell", "event")}
    others = [flow for flow in base.get("flow", []) if "source" in flow]
    return replace(
        setup,
        base=kept | {"tcp": tcp, "flow": others},
        name=name,
        given=frozenset(key for key, value in overridden.items() if value),
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


def of_file(file: Path, **given: Unpack[PathOptions]) -> PathSetup:
    """Return the path of a scenario file in TOML or JSON, as `of_scenario` does."""
    base, scenario = engine.written_tables(engine.text_of(file), str(file), is_json=file.suffix == ".json")
    complete = engine.tables(scenario)
    trace = base.get("dumbbell", {}).get("rate_trace")
    if trace is not None:
        # The scenarios of a comparison are written to another directory.
        trace = str((file.parent / trace).resolve())
        base["dumbbell"]["rate_trace"] = complete["dumbbell"]["rate_trace"] = trace
    if duration := base.get("run", {}).get("duration"):
        given["duration_s"] = given.get("duration_s") or duration_s(duration)
    if given.get("seed") is None:
        given["seed"] = base.get("run", {}).get("seed")
    return _of_tables(base, complete, file.stem, given)
