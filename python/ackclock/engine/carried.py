"""The files that a scenario needs, for a folder in which it can be run again on another machine.

Traces and tables are in ``traces/``, and the scenario refers to them there. The files of a user's control are
at the place where its reference finds them from that folder: ``mine.py`` for ``mine:Mine``,
``target/release/libgentle.so`` for ``target/release/libgentle.so:gentle``. Installed modules and libraries
are not copied.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ackclock._native import FILE_KEYS
from ackclock.engine import controls
from ackclock.engine.scenario import Scenario
from ackclock.errors import ScenarioError

TRACES = "traces"
"""Folder of all files that a scenario names."""


@dataclass(frozen=True)
class Carried:
    """A scenario for a folder, and the files that belong into it.

    Attributes
    ----------
    scenario : Scenario
        The scenario with the names that its files have in the folder.
    files : mapping of str to bytes
        Contents of the files by their names relative to the folder.
    """

    scenario: Scenario
    files: Mapping[str, bytes] = field(default_factory=dict)


def of(scenario: Scenario, others: Iterable[str] = ()) -> Carried:
    """Return a scenario with all that it needs; `others` are controls that it does not name itself.

    Raises ScenarioError when a file of a control cannot be read any more.
    """
    named = [name for name in {*scenario.controls, *others} if controls.origin_of(name)]
    own = _of_controls(named) if named else {}
    texts = scenario.files
    if not texts:
        return Carried(scenario, own)
    names = _names(texts)
    contents = {names[name]: text for name, text in texts.items()}
    text = json.dumps(renamed(scenario.written(), names))
    moved = Scenario.read(text, scenario.file, [], True, controls.load_missing, contents)
    return Carried(moved, own | {name: text.encode() for name, text in contents.items()})


def _names(texts: Mapping[str, str]) -> dict[str, str]:
    """Return a name in the folder for each file; those with one name and different contents are numbered."""
    names: dict[str, str] = {}
    contents: dict[str, str] = {}
    for name, text in texts.items():
        path = Path(name)
        numbered = (f"{path.stem}-{number}{path.suffix}" for number in itertools.count(2))
        free = next(
            each for each in itertools.chain([path.name], numbered) if contents.setdefault(each, text) == text
        )
        names[name] = f"{TRACES}/{free}"
    return names


def renamed(described: Any, names: Mapping[str, str]) -> Any:
    """Return tables of a scenario, or values in them, with its files renamed."""
    if isinstance(described, list):
        return [renamed(each, names) for each in described]
    if not isinstance(described, dict):
        return described
    sets_file = str(described.get("set", "")).rpartition(".")[2] in FILE_KEYS
    return {
        key: names.get(value, value)
        if isinstance(value, str) and (key in FILE_KEYS or (sets_file and key == "to"))
        else renamed(value, names)
        for key, value in described.items()
    }


def _of_controls(names: Iterable[str]) -> dict[str, bytes]:
    """Return the files of the controls that are named by module or library."""
    files: dict[str, bytes] = {}
    for name in sorted(names):
        roots = _roots(name)
        for file in controls.files([name]) if roots else ():
            within = [file.relative_to(root) for root in roots if file.is_relative_to(root)]
            if within:
                files[PurePosixPath(within[0]).as_posix()] = _content(file, name)
    return files


def _content(file: Path, control: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{control}: {file} cannot be read: {error.strerror or error}") from error


def _roots(name: str) -> list[Path]:
    """Return the folders from which a reference to a control and its imports are found; none for others."""
    from ackclock.engine import installed

    origin = controls.origin_of(name)
    if not origin:
        return []
    if controls.LIBRARY.fullmatch(name):
        return [] if Path(origin).is_absolute() else [Path.cwd().resolve()]
    source = getattr(sys.modules.get(origin), "__file__", None)
    if source is None:
        return []
    # A package is found from the folder above it.
    depth = origin.count(".") + (Path(source).stem == "__init__")
    root = Path(source).resolve().parents[depth]
    return [] if installed.is_installed(root / "module") or not root.is_dir() else [root]
