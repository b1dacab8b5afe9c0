"""Builders for people: they refuse at once a value that a scenario would refuse, and name the argument.

`build` has the same functions without a check, for papers, which describe tens of thousands of flows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import ParamSpec

from ackclock.engine import build, today
from ackclock.engine.scenario import Scenario, read
from ackclock.errors import ScenarioError

Arguments = ParamSpec("Arguments")
ELSEWHERE = ("from", "to", "arrivals")
"""Keys of a flow that are right or wrong only together with the topology and the length of the run."""


def _scenario(tables: Mapping[str, object]) -> build.Table:
    """Return a scenario around some of its tables that refuses nothing by itself."""
    path = build.dumbbell("1 Gbit/s", "0 s", "100 packets")
    run = {"run": {"duration": "4320 h", "sample": "1 h"}, "flow": [{"controller": "reno"}]}
    return {**path, **run, **tables}


def _checking(
    builder: Callable[Arguments, build.Table], within: Callable[[build.Table], list[build.Table]], key: str
) -> Callable[Arguments, build.Table]:
    """Return a builder that checks its result; a scenario has `key` in front of the result's keys."""

    @functools.wraps(builder)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> build.Table:
        table = builder(*args, **kwargs)
        try:
            for around in within(table):
                read(around)
        except ScenarioError as error:
            named = _by_argument(error, key)
            if named is not None and named.key not in ELSEWHERE:
                raise named from None
        return table

    return checked


def _by_argument(error: ScenarioError, key: str) -> ScenarioError | None:
    """Return the refusal of a key that begins with `key` under the rest of its name; None for another key."""
    full_key = error.key or ""
    name = full_key.removeprefix(key)
    if name == full_key:
        return None
    problem = str(error).split(f"{full_key}: ", 1)[1]
    return ScenarioError(f"{name}: {problem}", key=name, remedy=error.remedy)


def _of_path(table: build.Table) -> list[build.Table]:
    return [_scenario(table)]


def _of_flow(table: build.Table) -> list[build.Table]:
    own = {name: value for name, value in table.items() if name not in ("from", "to")}
    if "every" not in own:
        return [_scenario({"flow": [own]})]
    # The number of requests has a limit, and it depends on the length of the run.
    timeless = {name: value for name, value in own.items() if name not in ("start", "stop")}
    return [
        _scenario({"flow": [own | {"every": "4320 h"}]}),
        _scenario({"run": {"duration": "1 s"}, "flow": [timeless]}),
    ]


dumbbell = _checking(build.dumbbell, _of_path, "dumbbell.")
flow = _checking(build.flow, _of_flow, "flow.0.")


def scenario(
    topology: Mapping[str, object],
    *flows: Mapping[str, object],
    duration: str = "100 s",
    warmup: str | None = None,
    seed: int = 1,
    sample: str | None = None,
    tcp: Mapping[str, object] | None = None,
    events: tuple[Mapping[str, object], ...] = (),
) -> Scenario:
    """Assemble a scenario of today's senders, to be simulated, changed, saved or swept.

    Parameters
    ----------
    topology : mapping
        Result of `dumbbell`, or ``{"path": "4g"}``, ``{"parking_lot": ...}``, or ``{"node": [...],
        "link": [...]}``.
    *flows : mapping
        Results of `flow`, in order.
    duration : str
        Simulated time, such as ``"60 s"``.
    warmup : str, optional
        Time before measuring starts.
    seed : int
        Seed of the random streams.
    sample : str, optional
        Sampling interval of the tables over time.
    tcp : mapping, optional
        Keys of all flows, as in ``[tcp]``. Its `profile` is ``"linux"``, today's Linux, unless it says
        ``"ns2"``, the setting of the papers.
    events : tuple of mapping
        Changes during the run, as in ``[[event]]``.

    Returns
    -------
    Scenario
        The checked scenario; `Scenario.toml` is its text with every default, `Scenario.with_` changes it.

    Raises
    ------
    ScenarioError
        If it is refused; an argument has its own name in the message.

    Examples
    --------
    >>> import ackclock
    >>> path = ackclock.dumbbell("10 Mbit/s", "20 ms", queue="50 packets")
    >>> scenario = ackclock.scenario(path, ackclock.flow("reno", rtt="50 ms"), duration="5 s")
    >>> scenario.duration_s, scenario.bottleneck, scenario.bdp_packets
    (5.0, 'bottleneck', 62.5)
    >>> scenario.with_("run.seed=2").seed
    2
    """
    senders = {"profile": today.PROFILE} | dict(tcp or {})
    tables = build.scenario(
        topology,
        *flows,
        duration=duration,
        warmup=warmup,
        seed=seed,
        sample=sample,
        tcp=senders,
        events=events,
    )
    try:
        return read(tables)
    except ScenarioError as error:
        raise _by_argument(error, "run.") or error from None
