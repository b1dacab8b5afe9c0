"""A cell of a suite: its keys become scenarios, measures and margins."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from ackclock import engine
from ackclock.decision.comparisons import Limit
from ackclock.engine.build import Table
from ackclock.names import NAME
from ackclock.suites.formulas import GridPoint, Names, ProblemError, TomlValue, each, fill
from ackclock.suites.reader import Keys, flows, margin, merged, number, text
from ackclock_evaluate.cell import Cell, CellMeasure, CellNumbers, Part, Parts
from ackclock_evaluate.setting import Bottleneck, Subject
from ackclock_evaluate.vocabulary import CHOICES, JOINS, MEASURES, RECORDED

_OF_PATH = ("rate_mbps", "rtt_ms", "buffer_bdp", "queue_packets", "packet_bytes")
_DERIVED = ("packets_per_second", "bdp_packets", "buffer_packets")


@dataclass(frozen=True)
class Situation:
    """The keys of a cell at one point of its grid."""

    keys: Keys
    point: GridPoint
    where: str
    """The place in the file, for errors."""

    def cell(self) -> Cell:
        """Return the cell; a mistake raises a ProblemError."""
        names, keys = self._names(self.keys), self.keys
        if "name" not in keys:
            raise ProblemError(self.where, "name is missing")
        name = text(self._filled("name", names), f"{self.where}.name")
        cell = Cell(
            name,
            self.parts,
            judged=tuple(margin(entry, f"{self.where}.judge") for entry in self._filled("judge", names, [])),
            limits=tuple(
                _limit(entry, f"{self.where}.limits") for entry in self._filled("limits", names, [])
            ),
            parameters=self._parameters(names),
            drawn=keys.get("drawn", False),
            shown=tuple(keys.get("extra", {}).items()),
            id=text(self._filled("id", names, ""), f"{self.where}.id"),
        )
        if not NAME.fullmatch(cell.id):
            raise ProblemError(
                f"{self.where}.id", f"{cell.id[:60]!r} is not lower-case words joined by hyphens"
            )
        if not cell.judged and not cell.limits:
            raise ProblemError(self.where, "judge is missing, or limits")
        join = self._filled("join", names, "")
        return replace(cell, numbers=_call(JOINS, join, f"{self.where}.join")) if join else cell

    def parts(self, subject: Subject, *, rehearsed: bool = False) -> Parts:
        """Return the scenarios with a control in the judged place, by part.

        If they are only rehearsed, numbers of a run that comes before the others are 1.
        """
        chosen = {
            name: merged(self.keys, more)
            for name, more in self.keys.get("parts", {"run": {}}).items()
            if more.get("mode", self.keys["in_mode"]) == self.keys["in_mode"]
        }
        before: dict[str, float] = {}
        firsts = self.keys.get("before", {})
        for metric, first in firsts.items():
            if first not in chosen:
                raise ProblemError(f"{self.where}.before.{metric}", f"unknown part {first[:40]!r}")
            part = self._part(chosen[first], subject, {})
            before[metric] = 1.0 if rehearsed else _measured(part, metric, f"{self.where}.before")
        return {
            name: self._part(keys, subject, {} if name in firsts.values() else before)
            for name, keys in chosen.items()
        }

    def _part(self, keys: Keys, subject: Subject, before: Mapping[str, float]) -> Part:
        names = self._names(keys, before)
        measure = fill(keys.get("measure", "general"), names, f"{self.where}.measure")
        function = _call(MEASURES, measure, f"{self.where}.measure")
        wanted = measure if isinstance(measure, str) else measure["name"]
        return Part(self._scenario(keys, names, subject), function, wanted in RECORDED)

    def _names(self, keys: Keys, before: Mapping[str, float] | None = None) -> Names:
        path = keys.get("path", {})
        defaults: dict[str, TomlValue] = {name: getattr(Bottleneck(), name) for name in _OF_PATH[:3]}
        defaults |= {name: path[name] for name in _OF_PATH if name in path}
        defaults |= {name: keys[name] for name in ("length_s", "from_s", "sample_s") if name in keys}
        defaults |= {name: partial(self._of_path, keys, name) for name in _DERIVED}
        return Names({**self.point, **(before or {})}, defaults | keys.get("let", {}))

    def _of_path(self, keys: Keys, name: str, names: Names) -> TomlValue:
        return getattr(self._path(keys, names), name)

    def _filled(self, key: str, names: Names, default: TomlValue = None) -> TomlValue:
        return fill(self.keys.get(key, default), names, f"{self.where}.{key}")

    def _parameters(self, names: Names) -> dict[str, float | str]:
        location, given = f"{self.where}.parameters", self.keys.get("parameters", {})
        formulas = given if isinstance(given, Mapping) else {name: f"{{{name}}}" for name in given}
        values: dict[str, float | str] = fill(formulas, names, location)
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise ProblemError(location, f"{name[:40]} is neither a number nor a text")
        return values

    def _path(self, keys: Keys, names: Names) -> Bottleneck:
        location = f"{self.where}.path"
        path = fill(keys.get("path", {}), names, location)
        known = {name: number(path.pop(name), f"{location}.{name}", 0) for name in _OF_PATH if name in path}
        if "packet_bytes" in known and known["packet_bytes"] < 1:
            raise ProblemError(f"{location}.packet_bytes", "must be at least 1")
        for name in ("rate_mbps", "rtt_ms"):
            if known.get(name, 1) == 0:
                raise ProblemError(f"{location}.{name}", "must be above 0")
        discipline = path.pop("queue", {})
        if not isinstance(discipline, Mapping):
            raise ProblemError(f"{location}.queue", f"expected a table, got {discipline!r:.40}")
        return Bottleneck(**known, discipline=discipline, link={} if keys.get("undisturbed") else path)

    def _scenario(self, keys: Keys, names: Names, subject: Subject) -> Table:
        path = self._path(keys, names)
        if "candidate" in keys:
            subject = Subject(text(fill(keys["candidate"], names), f"{self.where}.candidate"))
        senders, nodes = flows(keys, names, self.where, subject, path.rtt_ms)
        times = {
            name: number(fill(keys[key], names, f"{self.where}.{key}"), f"{self.where}.{key}", 0)
            for key, name in (
                ("length_s", "duration_s"), ("from_s", "measured_from_s"), ("sample_s", "sample_s"),
            )
            if key in keys
        }  # fmt: skip
        if "duration_s" not in times:
            raise ProblemError(self.where, "length_s is missing")
        topology = fill(keys.get("topology"), names, f"{self.where}.topology")
        return path.scenario(
            *senders,
            **times,
            events=() if keys.get("undisturbed") else self._events(keys, names),
            tcp=fill(keys.get("tcp", {}), names, f"{self.where}.tcp"),
            topology=path.apart(nodes) if nodes else topology,
        )

    def _events(self, keys: Keys, names: Names) -> tuple[Table, ...]:
        events: list[Table] = []
        for location, described, scope in each(keys.get("events", []), names, f"{self.where}.events"):
            event = fill(described, scope, location)
            changes = event["set"] if isinstance(event["set"], Mapping) else {event["set"]: event.get("to")}
            again = {"every": event["every"]} if "every" in event else {}
            events += [{"at": event["at"], "set": key, "to": to, **again} for key, to in changes.items()]
        return tuple(events)


@functools.cache
def _run_once(scenario: str, measure: CellMeasure) -> CellNumbers:
    return measure(engine.simulate(engine.parse(scenario, "suite", is_json=True)))


def _measured(part: Part, metric: str, where: str) -> float:
    numbers = _run_once(json.dumps(part.scenario), part.measure)
    if metric not in numbers:
        raise ProblemError(where, f"{metric[:40]} is not measured; choose from {', '.join(numbers)}")
    return numbers[metric]


def _call(known: Mapping[str, TomlValue], wanted: TomlValue, where: str) -> TomlValue:
    """Return a function of the vocabulary, with the arguments that stand next to its name, if any."""
    arguments = dict(wanted) if isinstance(wanted, Mapping) else {"name": wanted}
    name = text(arguments.pop("name"), where)
    if name not in known:
        raise ProblemError(where, f"unknown name {name[:40]!r}; choose from {', '.join(known)}")
    function = known[name]
    allowed = [
        item for item in inspect.signature(function).parameters.values() if item.kind == item.KEYWORD_ONLY
    ]
    missing = [item.name for item in allowed if item.default is item.empty and item.name not in arguments]
    for argument in [*missing, *(set(arguments) - {item.name for item in allowed})]:
        takes = ", ".join(item.name for item in allowed) or "nothing"
        state = "is missing" if argument in missing else "is unknown"
        raise ProblemError(f"{where}.{argument[:40]}", f"{state}; {name} takes {takes}")
    for argument in CHOICES.keys() & arguments.keys():
        if str(arguments[argument]) not in CHOICES[argument]:
            raise ProblemError(f"{where}.{argument}", f"unknown; choose from {', '.join(CHOICES[argument])}")
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in arguments.items()}
    return partial(function, **frozen) if frozen else function


def _limit(entry: Keys, where: str) -> Limit:
    limit = Limit(**entry)
    text(limit.metric, where)
    if (limit.at_most is None) == (limit.at_least is None):
        raise ProblemError(where, f"{limit.metric[:40]} needs either at_most or at_least")
    number(limit.at_least if limit.at_most is None else limit.at_most, where)
    return limit
