"""A saved adversary once more: what its file says is run, and its picture can be drawn again."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import engine
from ackclock_evaluate import timelines
from ackclock_evaluate.cell import Curves
from ackclock_evaluate.search.genome import Curve
from ackclock_evaluate.search.genomes import pulsed
from ackclock_evaluate.search.objectives import OBJECTIVES, Objective
from ackclock_evaluate.search.saved import MARK, replaced
from ackclock_evaluate.setting import BASELINES, Subject, Table

_BASELINE = re.compile(r"^# Beside (\S+): ", re.MULTILINE)
_LABELS = {"rate": "rate (Mbit/s)", "delay": "extra delay (ms)"}


@dataclass(frozen=True)
class Again:
    """What a picture of a saved adversary needs.

    Attributes
    ----------
    objective : Objective
        What was looked for.
    candidate, baseline : str
        Controls that are drawn.
    curves : dict
        Rates and queue in the first run, by subject.
    timeline : tuple, optional
        What the scenario does over time.
    """

    objective: Objective
    candidate: str
    baseline: str
    curves: Mapping[str, Curves]
    timeline: Curve | None


def again(file: Path) -> Again:
    """Run what a saved adversary says, with its control and with the baseline in its place.

    Parameters
    ----------
    file : Path
        As `saved.save` writes it.

    Returns
    -------
    Again
        For `picture`.

    Raises
    ------
    ScenarioError
        When the file is not a saved adversary.
    """
    content = engine.text_of(file)
    table = tomllib.loads(content)
    objectives = [line.removeprefix(MARK) for line in content.splitlines() if line.startswith(MARK)]
    beside = _BASELINE.search(content)
    mine = [flow for flow in table.get("flow", []) if str(flow.get("name", "")).startswith("c")]
    if len(objectives) != 1 or objectives[0] not in OBJECTIVES or beside is None or not mine:
        raise engine.ScenarioError(f"{file}: is not an adversary that a search has saved")
    candidate = Subject(mine[0]["controller"], mine[0].get("params", {}))
    baseline = beside[1] if beside[1] in BASELINES else BASELINES[0]
    subjects = {"candidate": candidate, baseline: Subject(baseline)}
    curves = {
        name: timelines.curves(engine.simulate(replaced(table, subject)))
        for name, subject in subjects.items()
    }
    return Again(OBJECTIVES[objectives[0]], candidate.name, baseline, curves, timeline(table))


def timeline(table: Table) -> Curve | None:
    """Say what a scenario does over time.

    Parameters
    ----------
    table : dict
        The scenario, in which one key of a link changes, or datagrams come in pulses.

    Returns
    -------
    tuple or None
        Label with unit, times (s) and values that hold from them; None when nothing changes.
    """
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
    values = [_number(last, _initial(table, key)), *(_number(last, one["to"]) for one in events)]
    if last == "delay":
        values = [float(one) for one in np.round(np.subtract(values, values[0]), 9)]
    times = [0.0, *(engine.quantity(one["at"], "time_s") for one in events)]
    return _LABELS[last], times, values


def _number(key: str, value: str) -> float:
    if key == "rate":
        return engine.quantity(value, "rate_bps") / 1e6
    return engine.quantity(value, "time_s") * 1e3


def _initial(table: Table, key: str) -> Any:
    """Give the value of a key before anything changes; the other direction's where it has none."""
    first, *path = key.split(".")
    place = table[first]
    if first == "link":
        place = next(one for one in place if one.get("name") == path[0])
        path = path[1:]
    if path[0] == "reverse" and path[1] not in place.get("reverse", {}):
        path = path[1:]
    for name in path:
        place = place[name]
    return place
