"""The reader of suites: the keys of each cell, its flows and its margins."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any, Literal

from ackclock import engine
from ackclock.decision import margins
from ackclock.decision.comparisons import Margin
from ackclock.engine import build
from ackclock.engine.build import Table
from ackclock.engine.scenario import shown
from ackclock.suites import shape
from ackclock.suites.formulas import (
    MOST_POINTS,
    GridPoint,
    Names,
    ProblemError,
    TomlValue,
    each,
    fill,
    of_mode,
    points,
)

Mode = Literal["quick", "full"]
Keys = Mapping[str, TomlValue]
HOME = resources.files("ackclock_suites")
MERGED = ("grid", "let", "path", "tcp")
"""A cell replaces single entries of its templates under these keys."""
CANDIDATE = "candidate"
"""The control of a flow that is judged; flows without a control have it, too."""
DATAGRAMS = ("cbr", "poisson", "onoff", "media")
"""Sources that no control slows down."""


@dataclass(frozen=True)
class Subject:
    """The control under test, the candidate or a baseline in its place."""

    name: str
    """A built-in control, ``module:Class`` or ``library.so:name``."""
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Parameters that differ from the defaults."""

    def flow(self, name: str, rtt_ms: float, **more: Any) -> Table:
        """Describe a flow of it, by default with a start within the first second.

        The name is the same for every control, so that the random streams are the same. `more` are
        other keys of ``[[flow]]``.
        """
        keys = {"name": name, "start": {"uniform": ["0 s", "1 s"]}} | more
        params = dict(self.params) or None
        return build.flow(self.name, rtt=build.milliseconds(rtt_ms), params=params, **keys)


def schema() -> dict[str, TomlValue]:
    """Return the JSON schema (draft 2020-12) of suites."""
    content: dict[str, TomlValue] = json.loads((HOME / "schema.json").read_text("utf-8"))
    return content


def document(text: str, file: str) -> Keys:
    """Return the tables of the text of a suite without a check of their shape; errors name `file`."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise engine.ScenarioError(f"{file}: is nested too deeply") from None
    except ValueError as error:
        raise engine.ScenarioError(f"{file}: {shown(str(error))}") from error


def check(keys: Keys) -> None:
    """Raise a ProblemError if a suite does not have the shape of the schema."""
    whole = schema()
    shape.check(keys, whole, whole)


def merged(*levels: Keys) -> dict[str, TomlValue]:
    """Return the keys of several levels; keys of later levels replace the same keys of earlier ones."""
    result: dict[str, TomlValue] = {}
    for level in levels:
        result |= {
            key: {**result.get(key, {}), **value} if key in MERGED else value for key, value in level.items()
        }
    return result


def cells(
    suite: Keys, index: int, mode: Mode, kind: str = "cell", given: Keys | None = None
) -> Iterator[tuple[Keys, GridPoint, str]]:
    """Yield keys, names and place of every cell of a criterion: one per point of all grids.

    `given` are names for formulas; `kind` is ``cell`` or ``further``.
    """
    criterion, given = of_mode(suite["criterion"][index], mode), given or {}
    every = merged(of_mode(suite.get("every", {}), mode), criterion.get("every", {}))
    templates = of_mode(suite.get("template", {}), mode)
    outer = every.pop("grid", {})
    count = 0
    for point in points(outer, Names(given), f"criterion.{index}.every.grid"):
        for number, cell in enumerate(criterion[kind]):
            if cell.get("mode", mode) != mode:
                continue
            where = f"criterion.{index}.{kind}.{number}"
            like = cell.get("like", [])
            levels = []
            for name in [like] if isinstance(like, str) else like:
                if name not in templates:
                    known = ", ".join(templates) or "none"
                    raise ProblemError(f"{where}.like", f"unknown template {name[:40]!r}; known are {known}")
                levels.append(templates[name])
            keys = merged(*levels, cell)
            grid = keys.pop("grid", {})
            for inner in points(grid, Names({**given, **point}), f"{where}.grid"):
                count += 1
                if count > MOST_POINTS:
                    raise ProblemError(where, f"the criterion has more than {MOST_POINTS} cells")
                yield {**merged(every, keys), "in_mode": mode}, {**given, **point, **inner}, where


def flows(
    keys: Keys, names: Names, where: str, subject: Subject, rtt_ms: float
) -> tuple[list[Table], dict[str, Table]]:
    """Return the flows of a cell, and the nodes at which they start on access links of their own, if any do.

    `rtt_ms` is the round-trip time of flows that have none of their own.
    """
    if "flows" not in keys:
        raise ProblemError(where, "flows is missing")
    described, nodes = [], {}
    for location, content, scope in each(keys["flows"], names, f"{where}.flows"):
        flow = fill(content, scope, location)
        name = flow.pop("name")
        own_ms = number(flow.pop("rtt_ms", rtt_ms), f"{location}.rtt_ms", 0)
        if name in keys.get("without", ()) or flow.get("count") == 0:
            continue
        control, params = flow.pop("control", CANDIDATE), flow.pop("params", {})
        if "node" in flow:
            node = dict(flow.pop("node"))
            flow |= {"from": node["name"], "to": "far"}
            nodes[text(node.pop("name"), f"{location}.node.name")] = node
        if flow.get("source") in DATAGRAMS:
            described.append({"name": name, "rtt": build.milliseconds(own_ms), **flow})
            continue
        sender = subject if control == CANDIDATE else Subject(text(control, f"{location}.control"), params)
        try:
            described.append(sender.flow(name, own_ms, **flow))
        except TypeError as error:
            raise ProblemError(location, "a key is not one of [[flow]]") from error
    if nodes and not all("from" in flow for flow in described):
        raise ProblemError(f"{where}.flows", "node is missing in a flow; all flows have one, or none")
    return described, nodes


def number(value: TomlValue, where: str, least: float | None = None) -> TomlValue:
    """Return a value that is a number, at least `least`; another one raises a ProblemError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        raise ProblemError(where, f"expected a number, got {value!r:.40}")
    if least is not None and not value >= least:
        raise ProblemError(where, f"must be at least {least:g}, is {value:g}")
    return value


def text(value: TomlValue, where: str) -> str:
    """Return a value that is a text; another one raises a ProblemError."""
    if not isinstance(value, str):
        raise ProblemError(where, f"expected a text, got {value!r:.40}")
    return value


def margin(entry: TomlValue, where: str) -> Margin:
    """Return the margin that ``"loss"``, ``"loss of media_loss"`` or a table describes."""
    if isinstance(entry, str):
        like, _, metric = entry.partition(" of ")
        entry = {"like": like} | ({"metric": metric} if metric else {})
    if not isinstance(entry, Mapping) or not isinstance(entry.get("metric", ""), str):
        raise ProblemError(where, f"expected a margin and a metric, got {entry!r:.40}")
    fields = dict(entry)
    like = fields.pop("like", None)
    if like is None:
        for name in ("metric", "higher_is_better"):
            if name not in fields:
                raise ProblemError(where, f"{name} is missing, or like, one of {', '.join(margins.BY_NAME)}")
        described = Margin(**{"unit": "", **fields})
    elif like not in margins.BY_NAME:
        raise ProblemError(where, f"unknown margin {like[:40]!r}; choose from {', '.join(margins.BY_NAME)}")
    else:
        described = replace(margins.BY_NAME[like], **fields)
    if not described.metric:
        raise ProblemError(where, f'metric is missing; write "{like} of METRIC"')
    if described.difference is not None:
        number(described.difference, f"{where}.difference")
    if not ((described.ratio or 0) > 1 or (described.difference or 0) > 0):
        raise ProblemError(where, f"{described.metric[:40]} needs a ratio above 1 or a difference above 0")
    return described
