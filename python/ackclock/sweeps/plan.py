"""The plan of a sweep: a base scenario, parameters, and the number of runs of each point."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import engine
from ackclock.engine.paths import PathChoice
from ackclock.names import hint
from ackclock.runs import rows

ParameterValue = float | int | bool | str
SCENARIO = "scenario.json"
"""Name of the scenario in the folder of a sweep's results."""
MOST_RUNS = 1_000_000
"""A sweep with more runs is treated as a typing error."""


@dataclass(frozen=True)
class Parameter:
    """A key of the scenario that takes several values.

    Attributes
    ----------
    name : str
        Name of its column in the results.
    keys : tuple of str
        Keys that it sets, as in ``flow.0.rtt``.
    unit : str
        Unit of numbers in the scenario; empty if there is none.
    values : tuple
        All its values; when points are listed, the values in these points.
    """

    name: str
    keys: tuple[str, ...]
    unit: str
    values: tuple[ParameterValue, ...]

    @property
    def kind(self) -> type[ParameterValue]:
        """The type of its column: float, int, bool or str."""
        kinds = {type(value) for value in self.values}
        return kinds.pop() if len(kinds) == 1 else float

    def settings(self, value: ParameterValue) -> list[str]:
        """Return the changes of the scenario for one value.

        Parameters
        ----------
        value : number, flag or str
            Value of the parameter.

        Returns
        -------
        list of str
            Changes such as ``"flow.0.rtt=80 ms"``.
        """
        text = value if isinstance(value, str) else json.dumps(value)
        return [f"{key}={text}{' ' if self.unit else ''}{self.unit}" for key in self.keys]


@dataclass(frozen=True)
class Replication:
    """The number of runs of a point: fixed, or until an interval is narrow enough.

    Attributes
    ----------
    least : int
        Runs of each point, and the step in which more are added.
    most : int
        Largest number of runs of a point; equal to `least` for a fixed number.
    within : float
        Half-width of the 95 % interval over runs, as a share of the mean, at which a point is done.
    metric : str
        Metric of the interval: a numeric column of the results, averaged over the flows of a run.
    """

    least: int = 5
    most: int = 5
    within: float = 0.0
    metric: str = "goodput_mbps"


@dataclass(frozen=True)
class Point:
    """One combination of parameter values.

    Attributes
    ----------
    index : int
        Position in the order of points.
    values : mapping
        Values by the names of the parameters.
    settings : tuple of str
        Changes of the scenario.
    """

    index: int
    values: Mapping[str, ParameterValue]
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """A sweep with all points checked.

    Attributes
    ----------
    name : str
        Name of the experiment.
    scenario : Scenario
        The base scenario.
    parameters : tuple of Parameter
        Columns of the results, in order.
    points : tuple of Point
        All combinations of values.
    replication : Replication
        Number of runs of each point.
    controls : tuple of str
        Congestion controls of all points, each once.
    text : str
        The sweep file, whose scenario is ``scenario.json`` next to it; empty for a plan from elsewhere.
    """

    name: str
    scenario: engine.Scenario
    parameters: tuple[Parameter, ...]
    points: tuple[Point, ...] = field(repr=False)
    replication: Replication = Replication()
    controls: tuple[str, ...] = ()
    text: str = field(default="", repr=False, compare=False)

    @property
    def least_runs(self) -> int:
        """The number of runs that are made in any case."""
        return len(self.points) * self.replication.least

    @property
    def most_runs(self) -> int:
        """The largest possible number of runs."""
        return len(self.points) * self.replication.most


def _family(value: ParameterValue) -> type:
    return float if type(value) is int else type(value)


SCENARIOS = frozenset({"dumbbell", "parking_lot", "path", "link", "flow"})
"""Tables of a scenario, which a sweep does not have."""


class _Reader:
    """Reads a sweep file; every refusal is one line with the file and the key."""

    def __init__(self, file: str) -> None:
        self.file = file

    def refuse(self, key: str, problem: str) -> engine.ScenarioError:
        line = f"{self.file}: {key}: {problem}" if key else f"{self.file}: {problem}"
        # A key in the file may contain any character.
        return engine.ScenarioError(engine.shown(line))

    def only(self, key: str, table: object, allowed: Sequence[str]) -> Mapping[str, object]:
        if not isinstance(table, dict):
            raise self.refuse(key, "expected a table")
        unknown = [name for name in table if name not in allowed]
        if unknown:
            full = f"{key}.{unknown[0]}" if key else unknown[0]
            raise self.refuse(full, f"unknown key: {hint(unknown[0], allowed)}")
        return table

    def whole(self, key: str, value: object, low: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= MOST_RUNS:
            raise self.refuse(key, f"expected a whole number from {low} to {MOST_RUNS}")
        return value

    def number(self, key: str, value: object) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.refuse(key, "expected a number")
        return float(self.value(key, value))

    def values(self, key: str, given: object) -> tuple[ParameterValue, ...]:
        if isinstance(given, dict):
            return self._range(key, given)
        if not isinstance(given, list) or not given:
            raise self.refuse(key, "expected a list of values, or { from, through, count }")
        for value in given:
            self.value(key, value)
        if len({_family(value) for value in given}) > 1:
            raise self.refuse(key, "mixes strings, numbers and booleans; use one type")
        if len(set(given)) < len(given):
            raise self.refuse(key, "has the same value twice")
        return tuple(given)

    def value(self, key: str, value: object) -> ParameterValue:
        if not isinstance(value, str | int | float | bool):
            raise self.refuse(key, "expected a number, a string, or true or false")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise self.refuse(key, "a whole number has at most 64 bits, as in TOML and Parquet")
        return value

    def _range(self, key: str, given: Mapping[str, object]) -> tuple[ParameterValue, ...]:
        table = self.only(key, given, ("from", "through", "count", "log"))
        for needed in ("from", "through", "count"):
            if needed not in table:
                raise self.refuse(f"{key}.{needed}", "missing")
        low, high = (self.number(f"{key}.{end}", table[end]) for end in ("from", "through"))
        count = self.whole(f"{key}.count", table["count"], 2)
        if table.get("log", False):
            if low <= 0 or high <= 0:
                raise self.refuse(key, "a logarithmic range must lie above 0")
            spaced = np.geomspace(low, high, count)
        else:
            spaced = np.linspace(low, high, count)
        # Twelve digits hide only the rounding of the spacing.
        values = tuple(float(f"{value:.12g}") for value in spaced)
        whole = isinstance(table["from"], int) and all(value.is_integer() for value in values)
        return tuple(self.value(key, int(value)) for value in values) if whole else values


def read(file: Path | str, path_choice: PathChoice | None = None) -> Plan:
    """Read a sweep file.

    Parameters
    ----------
    file : Path or str
        TOML as in docs/sweeps.md in the repository; its scenario is found relative to this file.
    path_choice : PathChoice, optional
        A path in place of that of the scenario.

    Returns
    -------
    Plan
        The sweep, with every point checked.

    Raises
    ------
    ScenarioError
        When the file or a scenario is refused: one line with the key and the allowed values.
    """
    path = Path(file)
    text = engine.text_of(path)
    reader = _Reader(str(path))
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise reader.refuse("", f"is not TOML: {error}") from error
    except RecursionError:
        raise reader.refuse("", "is nested too deeply") from None
    if SCENARIOS & set(tree):
        problem = 'is a scenario, which ackclock simulate runs; a sweep names one: scenario = "FILE"'
        raise reader.refuse("", problem)
    top = reader.only("", tree, ("name", "scenario", "parameters", "points", "runs"))
    name = top.get("name", path.stem)
    if not isinstance(name, str) or not name.replace("-", "").replace("_", "").isalnum():
        raise reader.refuse("name", "expected letters, digits, - and _")
    scenario_file = top.get("scenario")
    if not isinstance(scenario_file, str):
        raise reader.refuse("scenario", "expected the name of a scenario file next to this one")
    scenario = engine.read(path.parent / scenario_file)
    if path_choice is not None:
        scenario = path_choice.put(scenario.written(), scenario.file)
    parameters = tuple(_parameters(reader, top, scenario))
    points = tuple(_points(reader, top, parameters))
    plan = Plan(name, scenario, parameters, points, _replication(reader, top.get("runs", {})))
    if plan.most_runs > MOST_RUNS:
        raise reader.refuse("", f"asks for {plan.most_runs} runs; at most {MOST_RUNS} are allowed")
    return replace(plan, controls=tuple(_controls(reader, plan)), text=_moved(text, tree))


def _moved(text: str, tree: Mapping[str, Any]) -> str:
    """Return a sweep file that names ``scenario.json`` as its scenario; empty where that cannot be told."""
    moved = re.sub(r"^\s*scenario\s*=.*$", f'scenario = "{SCENARIO}"', text, count=1, flags=re.MULTILINE)
    return moved if tomllib.loads(moved) == {**tree, "scenario": SCENARIO} else ""


def _parameters(reader: _Reader, top: Mapping[str, object], scenario: engine.Scenario) -> Iterator[Parameter]:
    listed = "points" in top
    points = top.get("points", [])
    if not isinstance(points, list) or (listed and not points):
        raise reader.refuse("points", "expected a list of tables")
    given = top.get("parameters", {})
    # Any name is allowed.
    given = reader.only("parameters", given, list(given) if isinstance(given, dict) else ())
    for name, table in given.items():
        key = f"parameters.{name}"
        if not name.isidentifier():
            raise reader.refuse(key, "a name consists of letters, digits and _ because it becomes a column")
        table = reader.only(key, table, ("set", "unit") if listed else ("set", "unit", "to"))
        keys = table.get("set")
        keys = [keys] if isinstance(keys, str) else keys
        if not isinstance(keys, list) or not keys or not all(isinstance(text, str) for text in keys):
            raise reader.refuse(f"{key}.set", "expected a key such as flow.0.rtt, or several")
        if name in rows.COLUMNS:
            raise reader.refuse(key, f"{name} is a column of every result; choose another name")
        unit = table.get("unit", "")
        if not isinstance(unit, str):
            raise reader.refuse(f"{key}.unit", "expected a string such as ms")
        if listed:
            taken = [point[name] for point in points if isinstance(point, dict) and name in point]
            different = list(dict.fromkeys(map(_hashable, taken)))
            # A point that lacks the parameter is refused when points are read.
            values = reader.values(key, different) if different else ()
        else:
            values = reader.values(f"{key}.to", table.get("to"))
        if unit and any(isinstance(value, str) for value in values):
            raise reader.refuse(f"{key}.to", f"values must be numbers when unit = {unit!r}")
        yield Parameter(name, tuple(_expanded(keys, scenario)), unit, values)


def _hashable(value: object) -> object:
    """Return a hashable value; another value becomes an empty tuple, which is refused in the same way."""
    return value if isinstance(value, str | int | float | bool) else ()


def _expanded(keys: Sequence[str], scenario: engine.Scenario) -> Iterator[str]:
    """Yield the keys, with ``flow.*`` repeated for every flow of the scenario."""
    for key in keys:
        if key.startswith("flow.*."):
            yield from (f"flow.{index}.{key[7:]}" for index in range(scenario.flow_tables))
        else:
            yield key


def _points(reader: _Reader, top: Mapping[str, object], parameters: Sequence[Parameter]) -> Iterator[Point]:
    names = [parameter.name for parameter in parameters]
    listed = top.get("points")
    combinations: Iterable[Sequence[ParameterValue]]
    if isinstance(listed, list):
        chosen = []
        for index, given in enumerate(listed):
            table = reader.only(f"points.{index}", given, names)
            missing = [name for name in names if name not in table]
            if missing:
                raise reader.refuse(f"points.{index}.{missing[0]}", "missing")
            chosen.append([reader.value(f"points.{index}.{name}", table[name]) for name in names])
        combinations = chosen
    else:
        count = int(np.prod([len(parameter.values) for parameter in parameters], dtype=float))
        if count > MOST_RUNS:
            raise reader.refuse("parameters", f"make {count} points; at most {MOST_RUNS} are allowed")
        combinations = itertools.product(*(parameter.values for parameter in parameters))
    for index, values in enumerate(combinations):
        settings = [
            setting
            for parameter, value in zip(parameters, values, strict=True)
            for setting in parameter.settings(value)
        ]
        yield Point(index, dict(zip(names, values, strict=True)), tuple(settings))


def _replication(reader: _Reader, given: object) -> Replication:
    table = reader.only("runs", given, ("count", "within", "metric", "least", "most"))
    if "within" not in table:
        extra = [key for key in table if key != "count"]
        if extra:
            raise reader.refuse(f"runs.{extra[0]}", "needs runs.within, which is missing")
        count = reader.whole("runs.count", table.get("count", 5), 1)
        return Replication(count, count)
    if "count" in table:
        raise reader.refuse("runs.count", "use either count or within")
    within = reader.number("runs.within", table["within"])
    if not 0.0 < within < 1.0:
        raise reader.refuse("runs.within", "expected a share of the mean between 0 and 1")
    least = reader.whole("runs.least", table.get("least", 5), 2)
    most = reader.whole("runs.most", table.get("most", max(100, least)), least)
    metric = table.get("metric", "goodput_mbps")
    if metric not in rows.NUMBERS:
        raise reader.refuse("runs.metric", f"expected one of {', '.join(rows.NUMBERS)}")
    return Replication(least, most, within, metric)


def _controls(reader: _Reader, plan: Plan) -> list[str]:
    """Check every point, and return the controls in all of them."""
    names: dict[str, None] = {}
    for point in plan.points:
        try:
            scenario = engine.read(plan.scenario, settings=point.settings)
            names |= dict.fromkeys(scenario.controls)
        except engine.ScenarioError as error:
            values = ", ".join(f"{name} = {value}" for name, value in point.values.items())
            raise reader.refuse(f"point {point.index} ({values})", str(error)) from error
    return list(names)
