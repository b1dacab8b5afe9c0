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


def dumbbell(
    rate: str,
    delay: str,
    queue: str | Mapping[str, Any] = "100 packets",
    **more: Any,
) -> Table:
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
        Other keys of ``[dumbbell]``: ``loss``, ``delay_noise``, ``reverse`` and so on.

    Returns
    -------
    dict
        To be given to `scenario`.

    Raises
    ------
    ValueError
        When `queue` is a number, which has no unit.
    """
    if isinstance(queue, int):
        raise ValueError(f'queue: the unit is missing; write e.g. "{queue} packets"')
    kept = {"kind": "droptail", "limit": queue} if isinstance(queue, str) else dict(queue)
    return {"dumbbell": {"rate": rate, "delay": delay, "queue": kept, **more}}


def flow(controller: str | None = None, *, rtt: str | None = None, **more: Any) -> Table:
    """Describe a flow, or several of a kind.

    Parameters
    ----------
    controller : str, optional
        A name of `controllers`, one that was given to `register`, ``"module:Class"``, or
        ``"library.so:name"``.
    rtt : str, optional
        Propagation round trip, such as ``"80 ms"``; by default that of the links.
    **more
        Other keys of ``[[flow]]``: ``params``, ``start``, ``count``, ``name``, ``recovery``,
        ``source`` and so on.

    Returns
    -------
    dict
        To be given to `scenario`.
    """
    given = {"controller": controller, "rtt": rtt, **more}
    return {key: value for key, value in given.items() if value is not None}


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
