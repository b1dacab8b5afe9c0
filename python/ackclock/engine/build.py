"""Scenarios from Python: the tables of a scenario file, put together.

>>> import ackclock
>>> scenario = ackclock.scenario(
...     ackclock.dumbbell(rate="100 Mbit/s", delay="20 ms", queue="250 packets"),
...     ackclock.flow("illinois", rtt="80 ms"),
...     ackclock.flow("cubic", rtt="80 ms", start="10 s", count=2),
...     duration="60 s",
...     warmup="20 s",
... )
>>> [flow["controller"] for flow in scenario["flow"]]
['illinois', 'cubic']

Quantities are texts, as in the file. `mbps`, `seconds`, `milliseconds` and `packets` write numbers
as such texts:

>>> from ackclock.engine import build
>>> build.dumbbell(build.mbps(2.5), build.milliseconds(30), build.packets(50))["dumbbell"]["rate"]
'2.5 Mbit/s'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Table = dict[str, Any]
PACKET_BITS = 8000
"""A data packet of 1000 bytes, the default of scenarios."""


def _text(value: float, unit: str, places: int) -> str:
    digits = f"{value:.{places}f}"
    return f"{digits.rstrip('0').rstrip('.') if places else digits} {unit}"


def mbps(value: float) -> str:
    """Write a rate.

    Parameters
    ----------
    value : float
        Mbit/s; whole bits per second are kept.

    Returns
    -------
    str
        Such as ``"2.5 Mbit/s"``.
    """
    return _text(value, "Mbit/s", 6)


def seconds(value: float) -> str:
    """Write a time.

    Parameters
    ----------
    value : float
        Seconds; whole nanoseconds are kept.

    Returns
    -------
    str
        Such as ``"0.05 s"``.
    """
    return _text(value, "s", 9)


def milliseconds(value: float) -> str:
    """Write a time, as `seconds` does.

    Parameters
    ----------
    value : float
        Milliseconds; whole nanoseconds are kept.

    Returns
    -------
    str
        Such as ``"50 ms"``.
    """
    return _text(value, "ms", 6)


def packets(count: int) -> str:
    """Write a number of packets.

    Parameters
    ----------
    count : int
        Packets.

    Returns
    -------
    str
        Such as ``"50 packets"``.
    """
    return _text(count, "packets", 0)


def dumbbell(rate: str, delay: str, queue: str | Mapping[str, Any] = "100 packets", **more: Any) -> Table:
    """One shared link with an access link per flow.

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
        Other keys of ``[dumbbell]``: ``loss``, ``delay_noise``, ``reverse``, ``outage`` and so on.

    Returns
    -------
    dict
        To be given to `scenario`.

    Raises
    ------
    ValueError
        When `queue` is a number, which has no unit.
    """
    if isinstance(queue, int | float):
        raise ValueError(f'queue: the unit is missing; write e.g. "{queue} packets"')
    kept = {"kind": "droptail", "limit": queue} if isinstance(queue, str) else dict(queue)
    return {"dumbbell": {"rate": rate, "delay": delay, "queue": kept, **more}}


def flow(
    controller: str | None = None,
    *,
    rtt: str | None = None,
    start: Any = None,
    stop: Any = None,
    name: Any = None,
    count: Any = None,
    params: Any = None,
    bytes: Any = None,  # noqa: A002
    access: Any = None,
    direction: Any = None,
    to: Any = None,
    transport: Any = None,
    rtt_noise: Any = None,
    source: Any = None,
    rate: Any = None,
    codepoint: Any = None,
    on: Any = None,
    off: Any = None,
    shape: Any = None,
    think: Any = None,
    objects: Any = None,
    object: Any = None,  # noqa: A002
    arrivals: Any = None,
    limit: Any = None,
    delay_noise: Any = None,
    reverse_noise: Any = None,
    receiver: Any = None,
    deadline: Any = None,
    pulse: Any = None,
    frame_rate: Any = None,
    key_every: Any = None,
    key_ratio: Any = None,
    size: Any = None,
    every: Any = None,
    spacing: Any = None,
    requests: Any = None,
    profile: Any = None,
    packet: Any = None,
    ack: Any = None,
    initial_window: Any = None,
    initial_ssthresh: Any = None,
    receive_window: Any = None,
    recovery: Any = None,
    min_rto: Any = None,
    min_rto_bounds: Any = None,
    max_rto: Any = None,
    initial_rto: Any = None,
    clock: Any = None,
    rtt_sampling: Any = None,
    delayed_ack: Any = None,
    delayed_ack_timer: Any = None,
    limited_transmit: Any = None,
    max_burst: Any = None,
    overhead: Any = None,
    growth: Any = None,
    pacing: Any = None,
    pacing_gain: Any = None,
    slow_start_gain: Any = None,
    min_window: Any = None,
    hystart: Any = None,
    ecn: Any = None,
    ace_bits: Any = None,
    **more: Any,
) -> Table:
    """Describe a flow, or several of a kind.

    Every key of ``[[flow]]`` is an argument, so that an editor can complete it; docs/scenario.md
    says what each means and what holds without it.

    Parameters
    ----------
    controller : str, optional
        A name of `controllers`, one that was given to `register`, ``"module:Class"``, or
        ``"library.so:name"``.
    rtt : str, optional
        Propagation round trip, such as ``"80 ms"``; by default that of the links.
    start, stop, name, count, params, bytes, access, direction, to, transport, rtt_noise
        When it runs, how many there are, what its control is given, and where it goes.
    source, rate, codepoint, on, off, shape, think, objects, object
        What it sends, when it is not a bulk transfer.
    size, every, spacing, requests, limit, arrivals
        Requests over one connection, an application's rate, and short flows that arrive at random:
        ``arrivals={"load": "10 %", "sizes": [["10 kB", "70 %"], ["1 MB", "30 %"]]}``.
    pulse, deadline, frame_rate, key_every, key_ratio
        Datagrams in pulses, when they are late, and frames of media.
    delay_noise, reverse_noise, receiver
        Delay of its own packets and ACKs, and how its receiver lies: ``receiver={"split": 10}``.
    profile, packet, ack, initial_window, initial_ssthresh, receive_window, recovery, min_rto,
    min_rto_bounds
        Settings of its sender and receiver, as in ``[tcp]``.
    max_rto, initial_rto, clock, rtt_sampling, delayed_ack, delayed_ack_timer, limited_transmit
        More of them.
    max_burst, overhead, growth, pacing, pacing_gain, slow_start_gain, min_window, hystart, ecn
        More of them.
    ace_bits
        The last of them.
    **more
        Keys that are words of Python, such as ``from``: ``**{"from": "a"}``.

    Returns
    -------
    dict
        To be given to `scenario`.
    """
    # In one pass: papers describe tens of thousands of flows.
    given = {key: value for key, value in locals().items() if value is not None and key != "more"}
    return given | {key: value for key, value in more.items() if value is not None}


def scenario(
    topology: Mapping[str, Any],
    *flows: Mapping[str, Any],
    duration: str = "100 s",
    warmup: str | None = None,
    seed: int = 1,
    sample: str | None = None,
    tcp: Mapping[str, Any] | None = None,
    events: tuple[Mapping[str, Any], ...] = (),
) -> Table:
    """Put a scenario together, to be simulated, saved as JSON, or swept.

    Parameters
    ----------
    topology : mapping
        As `dumbbell` gives it, or ``{"parking_lot": ...}``, or ``{"node": [...], "link": [...]}``.
    *flows : mapping
        As `flow` gives them.
    duration : str
        Simulated time.
    warmup : str, optional
        Time before measuring starts.
    seed : int
        Seed of the random streams.
    sample : str, optional
        Spacing of the tables over time.
    tcp : mapping, optional
        Settings of all flows, as in ``[tcp]``.
    events : tuple of mapping
        Changes during the run, as in ``[[event]]``.

    Returns
    -------
    dict
        As a scenario file holds it; `check` says what every key that is not given will be.
    """
    run = {"duration": duration, "warmup": warmup, "seed": seed, "sample": sample}
    made: Table = {"run": {key: value for key, value in run.items() if value is not None}}
    if tcp:
        made["tcp"] = dict(tcp)
    made |= topology
    made["flow"] = [dict(one) for one in flows]
    if events:
        made["event"] = [dict(one) for one in events]
    return made
