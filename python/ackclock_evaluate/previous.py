"""The previous evaluation of a control: merged with a new one, or set aside.

An evaluation of a few criteria must not replace a page that has more. Earlier
criteria whose runs are all kept appear on the new page as well; an earlier page that is not covered
by the new one stays under another name.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.engine import controls, integrity, storage
from ackclock.runs import progress
from ackclock_evaluate.cell import Criterion
from ackclock_evaluate.results import Request
from ackclock_evaluate.runs import code
from ackclock_evaluate.suites import criteria

RECORD = "verdicts.json"
SETTINGS = ("mode", "seed", "against")


def build(request: Request) -> str:
    """Return a digest of the engine, the measuring code and the loaded controls, in 16 hexadecimal digits."""
    own = controls.fingerprint([subject.name for subject in request.subjects])
    return hashlib.sha256(f"{engine.ENGINE} {code()} {own}".encode()).hexdigest()[:16]


def directory(request: Request) -> str:
    """Return a digest of the directory of the candidate's code, in 8 digits; empty if it is built in."""
    files = controls.files([request.candidate.name])
    return hashlib.sha256(str(files[0].resolve().parent).encode()).hexdigest()[:8] if files else ""


def replaced(request: Request, folder: Path) -> str:
    """Return a line about an earlier page of the control with other code; empty if there is none."""
    record = read(folder) if (folder / RECORD).exists() else None
    if record is None or record["control"]["digest"] == digest(request):
        return ""
    return f"the earlier page was made with other code of {request.candidate.name} and is replaced"


def digest(request: Request) -> str:
    """Return the digest of the code of the candidate, or of the engine if it is built in."""
    own = controls.fingerprint([request.candidate.name]).rpartition("=")[2].strip()
    return own or engine.ENGINE[:16]


def read(folder: Path) -> dict[str, Any] | None:
    """Read the verdicts of an evaluation; None if they are missing, or damaged, which is reported."""
    if not (folder / RECORD).exists():
        return None
    problem = integrity.problem_of(folder)
    if problem is not None:
        progress.say(f"{folder}: {problem}; this evaluation is not used")
        return None
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(record, dict) and {"build", "control", *SETTINGS} <= set(record)
    return record if whole else None


def settings(request: Request) -> dict[str, Any]:
    """Return the options that evaluations on the same page share, as ``verdicts.json`` has them."""
    shared = {
        "name": request.candidate.name,
        "params": dict(request.candidate.params),
        "mode": request.mode,
        "seed": request.seed,
        "against": list(request.against),
    }
    return dict(json.loads(json.dumps(shared)))


def _settings_of(record: dict[str, Any]) -> dict[str, Any]:
    control = record["control"]
    named = {"name": control["name"], "params": control["params"]}
    return named | {key: record[key] for key in SETTINGS}


def is_same(request: Request, record: dict[str, Any]) -> bool:
    """Return whether an earlier evaluation has the control, the options and the build of a request."""
    return settings(request) == _settings_of(record) and record["build"] == build(request)


def merge(request: Request, folder: Path) -> Request:
    """Add the criteria of an earlier evaluation, in the order of their suites.

    Criteria whose runs are not all cached are left out again when the evaluation begins. The
    controls of the request must be loaded.
    """
    record = read(folder)
    if record is None or not is_same(request, record):
        return request
    earlier = _keys(record)
    requested = {criterion.key for criterion in request.criteria}
    merged: list[Criterion] = list(request.criteria)
    for suite in dict.fromkeys(key.rpartition("/")[0] for key in earlier):
        try:
            known = criteria(suite)
        except (KeyError, engine.ScenarioError):
            continue
        merged += [
            criterion for criterion in known if criterion.key in earlier and criterion.key not in requested
        ]
    suites = list(dict.fromkeys(criterion.suite for criterion in merged))
    order = {
        criterion.key: (suites.index(suite), index)
        for suite in suites
        for index, criterion in enumerate(criteria(suite))
    }
    ordered = sorted(merged, key=lambda criterion: order[criterion.key])
    added = frozenset(criterion.key for criterion in ordered) - requested
    return replace(request, criteria=tuple(ordered), previous=added)


def _keys(record: dict[str, Any]) -> set[str]:
    return {f"{entry['suite']}/{entry['id']}" for entry in (*record["criteria"], *record["not_tested"])}


def commands(request: Request, folder: Path, command: str) -> dict[str, str]:
    """Return the command that evaluated each criterion of a merged request, by key of the criterion."""
    record = read(folder) if request.previous else None
    earlier: dict[str, str] = {}
    if record is not None:
        for entry in (*record["criteria"], *record["not_tested"]):
            earlier[f"{entry['suite']}/{entry['id']}"] = entry["command"]
    return {
        criterion.key: earlier.get(criterion.key, command) if criterion.key in request.previous else command
        for criterion in request.criteria
    }


def set_aside(request: Request, folder: Path) -> Path | None:
    """Rename an earlier evaluation, unless a merged request includes all of it; return its new place."""
    if not (folder / RECORD).exists():
        return None
    record = read(folder)
    if record is not None:
        mine, theirs = settings(request), _settings_of(record)
        against = set(theirs.pop("against")) <= set(mine.pop("against"))
        covered = _keys(record) <= {criterion.key for criterion in request.criteria}
        same = record["control"].get("directory", "") == directory(request)
        if mine == theirs and against and covered and same:
            return None
    free = storage.free_name(folder)
    # Relative links stay valid, because both folders are in the same directory.
    return folder.resolve().rename(free)
