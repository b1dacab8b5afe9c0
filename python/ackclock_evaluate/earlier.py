"""What an earlier evaluation of the same control left: what is joined with a new one, or set aside.

An evaluation of a few criteria, or a search alone, must not take the place of a page that has more.
What was asked before and whose runs are all kept stands on the new page, too; what is not covered
by it stays where it was, under another name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.engine import controls, integrity
from ackclock.runs import progress
from ackclock_evaluate.cell import Criterion
from ackclock_evaluate.results import Asked
from ackclock_evaluate.runs import code
from ackclock_evaluate.suites import criteria

RECORD = "verdicts.json"
SETTINGS = ("mode", "seed", "against")


def build(asked: Asked) -> str:
    """Name everything by which the same scenario gives the same numbers.

    Parameters
    ----------
    asked : Asked
        What is done; its controls are loaded.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    own = controls.fingerprint([subject.name for subject in asked.subjects])
    return hashlib.sha256(f"{engine.ENGINE} {code()} {own}".encode()).hexdigest()[:16]


def read(place: Path) -> dict[str, Any] | None:
    """Read the verdicts of an earlier evaluation.

    Parameters
    ----------
    place : Path
        Its folder.

    Returns
    -------
    dict or None
        None when there are none, or they are not as they were written, which is said.
    """
    if not (place / RECORD).exists():
        return None
    problem = integrity.problem_of(place)
    if problem is not None:
        progress.say(f"{place}: {problem}; what it says is not used")
        return None
    try:
        found = json.loads((place / RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(found, dict) and {"build", "searches", "control", *SETTINGS} <= set(found)
    return found if whole else None


def settings(asked: Asked) -> dict[str, Any]:
    """Give what must be the same for two evaluations to stand on one page.

    Parameters
    ----------
    asked : Asked
        What is done.

    Returns
    -------
    dict
        As ``verdicts.json`` has it.
    """
    found = {
        "name": asked.candidate.name,
        "params": dict(asked.candidate.params),
        "mode": asked.mode,
        "seed": asked.seed,
        "against": list(asked.against),
    }
    return dict(json.loads(json.dumps(found)))


def _settings_of(record: dict[str, Any]) -> dict[str, Any]:
    control = record["control"]
    named = {"name": control["name"], "params": control["params"]}
    return named | {key: record[key] for key in SETTINGS}


def is_same(asked: Asked, record: dict[str, Any]) -> bool:
    """Say whether an earlier evaluation may stand on one page with a new one.

    Parameters
    ----------
    asked : Asked
        The new one.
    record : dict
        As `read` gives it.

    Returns
    -------
    bool
        Whether control, settings and everything that makes numbers are the same.
    """
    return settings(asked) == _settings_of(record) and record["build"] == build(asked)


def joined(asked: Asked, place: Path) -> Asked:
    """Add what was asked before.

    Parameters
    ----------
    asked : Asked
        What is to be done; its controls are loaded.
    place : Path
        Folder of the earlier evaluation, if there was one.

    Returns
    -------
    Asked
        With earlier criteria, in the order of their suites, which are left out again when not all
        of their runs are kept.
    """
    record = read(place)
    if record is None or not is_same(asked, record):
        return asked
    before = _keys(record)
    now = {one.key for one in asked.criteria}
    found: list[Criterion] = list(asked.criteria)
    for suite in dict.fromkeys(key.rpartition("/")[0] for key in before):
        try:
            known = criteria(suite)
        except (KeyError, engine.ScenarioError):
            continue
        found += [one for one in known if one.key in before and one.key not in now]
    suites = list(dict.fromkeys(one.suite for one in found))
    order = {
        one.key: (suites.index(suite), index) for suite in suites for index, one in enumerate(criteria(suite))
    }
    ordered = sorted(found, key=lambda one: order[one.key])
    earlier = frozenset(one.key for one in ordered) - now
    return replace(asked, criteria=tuple(ordered), earlier=earlier)


def _keys(record: dict[str, Any]) -> set[str]:
    return {f"{one['suite']}/{one['id']}" for one in (*record["criteria"], *record["not_tested"])}


def commands(asked: Asked, place: Path, command: str) -> dict[str, str]:
    """Say which command each criterion is from.

    Parameters
    ----------
    asked : Asked
        As `joined` gives it.
    place : Path
        Folder of the earlier evaluation.
    command : str
        The new one.

    Returns
    -------
    dict
        By key of the criterion.
    """
    record = read(place) if asked.earlier else None
    before: dict[str, str] = {}
    if record is not None:
        for one in (*record["criteria"], *record["not_tested"]):
            before[f"{one['suite']}/{one['id']}"] = one["command"]
    return {
        one.key: before.get(one.key, command) if one.key in asked.earlier else command
        for one in asked.criteria
    }


def searches(asked: Asked, place: Path, now: Sequence[str]) -> list[dict[str, Any]]:
    """Give earlier searches that still hold and were not made again.

    Parameters
    ----------
    asked : Asked
        What is done.
    place : Path
        Folder of the earlier evaluation.
    now : sequence of str
        Objectives that were looked for now.

    Returns
    -------
    list of dict
        As ``verdicts.json`` has them.
    """
    record = read(place)
    if record is None or not is_same(asked, record):
        return []
    return [one for one in record["searches"] if one["objective"] not in now]


def set_aside(asked: Asked, place: Path, objectives: Sequence[str]) -> Path | None:
    """Give an earlier evaluation another name, unless a new one has all that it has.

    Parameters
    ----------
    asked : Asked
        What was done, earlier criteria included.
    place : Path
        Folder of both.
    objectives : sequence of str
        What was looked for, earlier searches included.

    Returns
    -------
    Path or None
        Where the earlier one is now; None when the new one replaces it.

    Raises
    ------
    OSError
        When it cannot be renamed.
    """
    if not (place / RECORD).exists():
        return None
    record = read(place)
    if record is not None:
        mine, theirs = settings(asked), _settings_of(record)
        against = set(theirs.pop("against")) <= set(mine.pop("against"))
        looked_for = {one["objective"] for one in record["searches"]} <= set(objectives)
        asks = _keys(record) <= {one.key for one in asked.criteria}
        if mine == theirs and against and looked_for and asks:
            return None
    number = 1
    while (free := place.with_name(f"{place.name}.{number}")).exists():
        number += 1
    # Names of what is relative to it do not change: both are in one directory.
    return place.resolve().rename(free)
