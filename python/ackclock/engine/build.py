"""Scenarios from Python, assembled from the tables of a scenario file.

>>> import ackclock
>>> scenario = ackclock.scenario(
...     ackclock.dumbbell(rate="100 Mbit/s", delay="20 ms", queue="250 packets"),
...     ackclock.flow("illinois", rtt="80 ms"),
...     ackclock.flow("cubic", rtt="80 ms", start="10 s", count=2),
...     duration="60 s",
...     warmup="20 s",
... )
>>> scenario.flows
[('illinois-0', 'illinois'), ('cubic-1', 'cubic'), ('cubic-2', 'cubic')]

Quantities are texts, as in scenario files. `mbps`, `seconds`, `milliseconds` and `packets` write numbers
as such texts:

>>> from ackclock.engine import build
>>> build.dumbbell(build.mbps(2.5), build.milliseconds(30), build.packets(50))["dumbbell"]["rate"]
'2.5 Mbit/s'

`Path` is a dumbbell that is described by such numbers:

>>> path = build.Path(10.0, 40.0, buffer_bdp=2.0)
>>> path.scenario(build.flow("reno", rtt="40 ms"), duration_s=60.0)["dumbbell"]["queue"]
{'kind': 'droptail', 'limit': '100 packets'}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from ackclock.errors import ScenarioError

Table = dict[str, Any]
"""A table of a scenario with its nested tables, as in TOML and JSON."""
Moment = str | Mapping[str, Sequence[str]]
"""A time such as ``"10 s"``, or one that is drawn: ``{"uniform": ["0 s", "10 s"]}``."""
Direction = Literal["forward", "reverse"]
DIRECTIONS: tuple[Direction, ...] = "forward", "reverse"
"""The two ways of a link."""
Setting = str | float | Sequence[object] | Mapping[str, object] | None
"""The value of a key; a key that is None is left out."""
PACKET_BITS = 8000
"""Bits of a data packet of 1000 bytes, the default of scenarios."""


def _text(value: float, unit: str, decimals: int) -> str:
    digits = f"{value:.{decimals}f}"
    return f"{digits.rstrip('0').rstrip('.') if decimals else digits} {unit}"


def mbps(value: float) -> str:
    """Format a rate for a scenario.

    Parameters
    ----------
    value : float
        Rate in Mbit/s; whole bits per second are kept.

    Returns
    -------
    str
        Text such as ``"2.5 Mbit/s"``.
    """
    return _text(value, "Mbit/s", 6)


def seconds(value: float) -> str:
    """Format a time for a scenario.

    Parameters
    ----------
    value : float
        Time in seconds; whole nanoseconds are kept.

    Returns
    -------
    str
        Text such as ``"0.05 s"``.
    """
    return _text(value, "s", 9)


def milliseconds(value: float) -> str:
    """Format a time for a scenario, as `seconds` does.

    Parameters
    ----------
    value : float
        Time in milliseconds; whole nanoseconds are kept.

    Returns
    -------
    str
        Text such as ``"50 ms"``.
    """
    return _text(value, "ms", 6)


def packets(count: int) -> str:
    """Format a number of packets for a scenario.

    Parameters
    ----------
    count : int
        Number of packets.

    Returns
    -------
    str
        Text such as ``"50 packets"``.
    """
    return _text(count, "packets", 0)


def dumbbell(
    rate: str, delay: str, queue: str | Mapping[str, object] = "100 packets", **more: Setting
) -> Table:
    """Describe one shared link with an access link per flow.

    Parameters
    ----------
    rate : str
        Rate of the shared link, such as ``"100 Mbit/s"``.
    delay : str
        One-way delay of the shared link, such as ``"20 ms"``.
    queue : str or mapping
        Length of a droptail queue, such as ``"100 packets"``, or a queue as in a scenario file:
        ``{"kind": "codel", "limit": "1000 packets"}``.
    **more
        Other keys of ``[dumbbell]``: ``loss``, ``delay_noise``, ``reverse``, ``outage`` and so
        on.

    Returns
    -------
    dict
        A topology for `scenario`.

    Raises
    ------
    ScenarioError
        If `queue` is a number, which has no unit.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.dumbbell("10 Mbit/s", "20 ms", queue="50 packets")["dumbbell"]["queue"]
    {'kind': 'droptail', 'limit': '50 packets'}
    """
    if isinstance(queue, int | float):
        remedy = f'write e.g. "{queue} packets"'
        raise ScenarioError(f"queue: the unit is missing; {remedy}", key="queue", remedy=remedy)
    kept = {"kind": "droptail", "limit": queue} if isinstance(queue, str) else dict(queue)
    return {"dumbbell": {"rate": rate, "delay": delay, "queue": kept, **more}}


def flow(
    controller: str | None = None,
    *,
    rtt: str | None = None,
    start: Moment | None = None,
    stop: Moment | None = None,
    name: str | None = None,
    count: int | None = None,
    params: Mapping[str, object] | None = None,
    bytes: str | None = None,  # noqa: A002
    access: str | None = None,
    direction: Direction | None = None,
    to: str | None = None,
    transport: Literal["tcp", "quic"] | None = None,
    rtt_noise: str | None = None,
    source: str | None = None,
    rate: str | None = None,
    codepoint: str | None = None,
    on: str | None = None,
    off: str | None = None,
    shape: float | None = None,
    think: str | None = None,
    objects: float | None = None,
    object: str | None = None,  # noqa: A002
    arrivals: Mapping[str, object] | None = None,
    limit: str | None = None,
    delay_noise: Mapping[str, object] | None = None,
    reverse_noise: Mapping[str, object] | None = None,
    receiver: Mapping[str, object] | None = None,
    deadline: str | None = None,
    pulse: Mapping[str, object] | None = None,
    frame_rate: float | None = None,
    key_every: int | None = None,
    key_ratio: float | None = None,
    size: str | Sequence[object] | None = None,
    every: str | None = None,
    spacing: str | None = None,
    requests: int | None = None,
    schedule: Sequence[object] | None = None,
    file: str | None = None,
    profile: Literal["ns2", "linux"] | None = None,
    packet: str | None = None,
    ack: str | None = None,
    initial_window: float | None = None,
    initial_ssthresh: float | str | None = None,
    receive_window: int | str | None = None,
    recovery: str | None = None,
    min_rto: str | None = None,
    min_rto_bounds: str | None = None,
    max_rto: str | None = None,
    initial_rto: str | None = None,
    handshake: bool | None = None,
    clock: str | None = None,
    rtt_sampling: str | None = None,
    delayed_ack: int | None = None,
    delayed_ack_timer: str | None = None,
    limited_transmit: bool | None = None,
    max_burst: int | str | None = None,
    overhead: str | None = None,
    growth: str | None = None,
    pacing: bool | None = None,
    pacing_gain: float | None = None,
    slow_start_gain: float | None = None,
    min_window: int | None = None,
    slow_start_after_idle: bool | None = None,
    hystart: str | bool | None = None,
    ecn: bool | None = None,
    ace_bits: int | None = None,
    **more: Setting,
) -> Table:
    """Describe a flow, or several identical flows.

    Every key of ``[[flow]]`` is an argument, so that an editor can complete it; docs/scenario.md in the
    repository has the meaning and the default of each.

    Parameters
    ----------
    controller : str, optional
        A name of `controllers`, a name passed to `register`, ``"module:Class"``, or
        ``"library.so:name"``.
    rtt : str, optional
        Propagation round trip, such as ``"80 ms"``; by default that of the links.
    start, stop, name, count, params, bytes, access, direction, to, transport, rtt_noise
        Times, number of flows, parameters of the control, and route.
    source, rate, codepoint, on, off, shape, think, objects, object
        The traffic that it sends, if it is not a bulk transfer.
    size, every, spacing, requests, schedule, file, limit, arrivals
        Requests over one connection, an application's rate, and short flows that arrive at
        random: ``arrivals={"load": "10 %", "sizes": [["10 kB", "70 %"], ["1 MB", "30 %"]]}``.
    pulse, deadline, frame_rate, key_every, key_ratio
        Datagrams in pulses, the deadline after which they are late, and frames of media.
    delay_noise, reverse_noise, receiver
        Delay of its own packets and ACKs, and how its receiver misbehaves: ``receiver={"split":
        10}``.
    profile, packet, ack, initial_window, initial_ssthresh, receive_window, recovery, min_rto, min_rto_bounds
        Keys of its sender and receiver, as in ``[tcp]``.
    max_rto, initial_rto, handshake, clock, rtt_sampling, delayed_ack, delayed_ack_timer, limited_transmit
        More keys of ``[tcp]``.
    max_burst, overhead, growth, pacing, pacing_gain, slow_start_gain, min_window, hystart, ecn
        More keys of ``[tcp]``.
    slow_start_after_idle
        Another key of ``[tcp]``.
    ace_bits
        Bits of an ACK's count of ECN marks, as in ``[tcp]``.
    **more
        Keys that are keywords of Python, such as ``from``: ``**{"from": "a"}``.

    Returns
    -------
    dict
        A flow for `scenario`.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.flow("reno", rtt="50 ms", count=3)
    {'controller': 'reno', 'rtt': '50 ms', 'count': 3}
    """
    # In one pass: papers describe tens of thousands of flows.
    given = {key: value for key, value in locals().items() if value is not None and key != "more"}
    return given | {key: value for key, value in more.items() if value is not None}


def scenario(
    topology: Mapping[str, object],
    *flows: Mapping[str, object],
    duration: str = "100 s",
    warmup: str | None = None,
    seed: int = 1,
    sample: str | None = None,
    tcp: Mapping[str, object] | None = None,
    events: tuple[Mapping[str, object], ...] = (),
) -> Table:
    """Assemble a scenario from the arguments of `ackclock.scenario`, for the senders of the papers.

    Its senders have the profile of the format, ``"ns2"``, unless `tcp` names another. The topology cannot
    be a named path, which has senders of its own.
    """
    run = {"duration": duration, "warmup": warmup, "seed": seed, "sample": sample}
    tables: Table = {"run": {key: value for key, value in run.items() if value is not None}}
    if tcp:
        tables["tcp"] = dict(tcp)
    tables |= topology
    tables["flow"] = [dict(flow_table) for flow_table in flows]
    if events:
        tables["event"] = [dict(event) for event in events]
    return tables


@dataclass(frozen=True)
class Path:
    """A path with one bottleneck, from numbers.

    Attributes
    ----------
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    rtt_ms : float
        Propagation round trip, milliseconds; half of it is that of the bottleneck.
    buffer_bdp : float
        The queue in bandwidth-delay products; it holds at least two packets.
    packet_bytes : int
        Size of a data packet.
    queue_packets : int, optional
        The queue in packets, in place of `buffer_bdp`.
    discipline : mapping
        Other keys of the queue, such as ``kind``; droptail by default.
    link : mapping
        Other keys of ``[dumbbell]``, such as ``loss``, ``delay_noise`` or ``reverse``.
    """

    rate_mbps: float
    rtt_ms: float
    buffer_bdp: float = 1.0
    packet_bytes: int = PACKET_BITS // 8
    queue_packets: int | None = None
    discipline: Mapping[str, object] = field(default_factory=dict, hash=False)
    link: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def packets_per_second(self) -> float:
        """The rate in data packets per second."""
        return self.rate_mbps * 1e6 / (8 * self.packet_bytes)

    @property
    def bdp_packets(self) -> float:
        """The bandwidth-delay product in packets."""
        return self.packets_per_second * self.rtt_ms / 1e3

    @property
    def buffer_packets(self) -> int:
        """The size of the queue in packets."""
        if self.queue_packets is not None:
            return self.queue_packets
        return max(2, round(self.buffer_bdp * self.bdp_packets))

    def with_link(self, **keys: Setting) -> Self:
        """Return the same path with other keys of the link, such as ``loss={...}``."""
        return replace(self, link={**self.link, **keys})

    def topology(self) -> Table:
        """Return the path as a dumbbell."""
        queue = {"kind": "droptail", "limit": packets(self.buffer_packets), **self.discipline}
        usual = {"rate": mbps(self.rate_mbps), "delay": milliseconds(self.rtt_ms / 4), "queue": queue}
        return {"dumbbell": usual | dict(self.link)}

    def sender(self, more: Mapping[str, object] | None = None) -> Table:
        """Return keys of ``[tcp]`` for senders as on Linux, with `more` replacing them.

        Each send is delayed at random by up to one packet's transmission time, so that no two flows are
        synchronised by construction.
        """
        overhead = seconds(1 / self.packets_per_second)
        usual = {"profile": "linux", "packet": f"{self.packet_bytes} B", "overhead": overhead}
        return usual | dict(more or {})

    def scenario(
        self,
        *flows: Mapping[str, object],
        duration_s: float,
        measured_from_s: float | None = None,
        sample_s: float = 1.0,
        events: tuple[Mapping[str, object], ...] = (),
        tcp: Mapping[str, object] | None = None,
    ) -> Table:
        """Return a scenario with flows on the path, by default measured after a quarter of its length."""
        return scenario(
            self.topology(),
            *flows,
            duration=seconds(duration_s),
            warmup=seconds(duration_s / 4 if measured_from_s is None else measured_from_s),
            sample=seconds(sample_s),
            tcp=tcp,
            events=events,
        )
