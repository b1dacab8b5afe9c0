"""Builders for people: they refuse at once what a scenario would refuse, by the name of the argument.

`build` has the same functions without a check, for papers, which describe tens of thousands of flows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import ParamSpec

from ackclock.engine import build, today
from ackclock.engine.scenario import read
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
    """Return a builder that checks its result, whose keys a scenario calls `key` and a name."""

    @functools.wraps(builder)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> build.Table:
        table = builder(*args, **kwargs)
        try:
            for around in within(table):
                read(around)
        except ScenarioError as error:
            place = error.key or ""
            name = place.removeprefix(key)
            if name != place and name not in ELSEWHERE:
                problem = str(error).split(f"{place}: ", 1)[1]
                raise ScenarioError(f"{name}: {problem}", key=name, remedy=error.remedy) from None
        return table

    return checked


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


def _of_run(table: build.Table) -> list[build.Table]:
    return [_scenario({"run": table["run"]})]


scenario = _checking(today.scenario, _of_run, "run.")
dumbbell = _checking(build.dumbbell, _of_path, "dumbbell.")
flow = _checking(build.flow, _of_flow, "flow.0.")
