"""Rerun a saved adversary, so that its figure can be drawn again."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ackclock import engine
from ackclock.engine.build import Table
from ackclock_evaluate import timelines
from ackclock_evaluate.cell import CellCurves
from ackclock_evaluate.search.genome import TimelineCurve
from ackclock_evaluate.search.genomes import pulsed
from ackclock_evaluate.search.objectives import OBJECTIVES, Objective
from ackclock_evaluate.search.saved import MARK, replaced
from ackclock_evaluate.setting import BASELINES, Subject

_BASELINE = re.compile(r"^# Beside (\S+): ", re.MULTILINE)
_LABELS = {"rate": "rate (Mbit/s)", "delay": "extra delay (ms)"}


@dataclass(frozen=True)
class Again:
    """The rerun of a saved adversary, for `figure`."""

    objective: Objective
    candidate: str
    baseline: str
    curves: Mapping[str, CellCurves]
    """Rates and queue in the first run, by subject."""
    timeline: TimelineCurve | None


def again(file: Path) -> Again:
    """Run a file of `saved.save` with its own control and with the baseline in its place.

    A file that is not a saved adversary raises a ScenarioError.
    """
    content = engine.text_of(file)
    table = tomllib.loads(content)
    objectives = [line.removeprefix(MARK) for line in content.splitlines() if line.startswith(MARK)]
    named_baseline = _BASELINE.search(content)
    judged = [flow for flow in table.get("flow", []) if str(flow.get("name", "")).startswith("c")]
    if len(objectives) != 1 or objectives[0] not in OBJECTIVES or named_baseline is None or not judged:
        raise engine.ScenarioError(f"{file}: not an adversary saved by a search")
    candidate = Subject(judged[0]["controller"], judged[0].get("params", {}))
    baseline = named_baseline[1] if named_baseline[1] in BASELINES else BASELINES[0]
    subjects = {"candidate": candidate, baseline: Subject(baseline)}
    curves = {
        name: timelines.curves(engine.simulate(replaced(table, subject)))
        for name, subject in subjects.items()
    }
    return Again(OBJECTIVES[objectives[0]], candidate.name, baseline, curves, timeline(table))


def timeline(table: Table) -> TimelineCurve | None:
    """Return how a key of a link, or the rate of pulses, changes during a scenario; None if nothing does."""
    for flow in table["flow"]:
        if "pulse" in flow:
            quantities = [
                engine.quantity(flow["pulse"]["every"], "time_s"),
                engine.quantity(flow["pulse"]["on"], "time_s"),
                engine.quantity(flow["rate"], "rate_bps") / 1e6,
                engine.quantity(flow["start"], "time_s"),
            ]
            return pulsed(quantities, engine.quantity(table["run"]["duration"], "time_s"))
    events = table.get("event", [])
    if not events:
        return None
    key = str(events[0]["set"])
    last = key.rpartition(".")[2]
    if last not in _LABELS:
        return None
    values = [_number(last, _initial(table, key)), *(_number(last, event["to"]) for event in events)]
    if last == "delay":
        values = np.round(np.subtract(values, values[0]), 9).tolist()
    times = [0.0, *(engine.quantity(event["at"], "time_s") for event in events)]
    return _LABELS[last], times, values


def _number(key: str, value: str) -> float:
    if key == "rate":
        return engine.quantity(value, "rate_bps") / 1e6
    return engine.quantity(value, "time_s") * 1e3


def _initial(table: Table, key: str) -> str:
    """Return the value of a key before the first event; that of the other direction if it has none."""
    first, *path = key.split(".")
    section = table[first]
    if first == "link":
        section = next(link for link in section if link.get("name") == path[0])
        path = path[1:]
    if path[0] == "reverse" and path[1] not in section.get("reverse", {}):
        path = path[1:]
    *parents, last = path
    for name in parents:
        section = section[name]
    return str(section[last])
