"""Suites: TOML files with the requirements on a control."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ackclock import engine
from ackclock.engine.scenario import shown, text_of
from ackclock.suites import reader
from ackclock.suites.formulas import MOST_POINTS, ProblemError, of_mode
from ackclock.suites.reader import HOME, Keys
from ackclock_evaluate.cell import Cell, Criterion
from ackclock_evaluate.setting import Mode, Subject
from ackclock_evaluate.situation import Situation

MODES: tuple[Mode, ...] = ("quick", "full")
DEFAULT = "rfc9743"
TEXTS = ("section", "level", "title", "about", "axis", "shown", "not_tested")


def names() -> tuple[str, ...]:
    """Return the names of the suites of the package `ackclock_suites`, the default first."""
    files = sorted(file.name for file in HOME.iterdir() if file.name.endswith(".toml"))
    others = (file.removesuffix(".toml") for file in files)
    return (DEFAULT, *(name for name in others if name != DEFAULT))


@functools.cache
def built_in(name: str) -> tuple[Criterion, ...]:
    """Return the criteria of a suite of the package `ackclock_suites`."""
    return parse((HOME / f"{name}.toml").read_text("utf-8"), name, f"{name}.toml")


def read(file: Path) -> tuple[Criterion, ...]:
    """Read a suite from a file, and build all of its scenarios; a mistake raises a ScenarioError.

    The error names file and key, and says in one line what to do.
    """
    return parse(text_of(file), str(file), shown(str(file)), rehearsed=True)


def parse(text: str, name: str, file: str, *, rehearsed: bool = False) -> tuple[Criterion, ...]:
    """Return the criteria of the text of a suite called `name`; errors name `file`.

    The digest of a suite is the first 16 hexadecimal digits of the SHA-256 of its text. If it is
    rehearsed, all of its scenarios are built and checked.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return of_document(reader.document(text, file), name, file, digest, rehearsed=rehearsed)


def of_document(
    document: Keys, name: str, file: str, digest: str, *, rehearsed: bool
) -> tuple[Criterion, ...]:
    """Return the criteria of a suite whose TOML has been read."""
    try:
        reader.check(document)
        ids = [keys["id"] for keys in document["criterion"]]
        for criterion in ids:
            if ids.count(criterion) > 1:
                raise ProblemError("criterion", f"{criterion} occurs twice; give each an id of its own")
        criteria = tuple(
            replace(_criterion(document, index), suite=name, digest=digest) for index in range(len(ids))
        )
        for mode in MODES if rehearsed else ():
            # A value that replaces a table in a mode must be a table.
            reader.check(of_mode(document, mode))
            _rehearse(criteria, mode)
    except RecursionError:
        raise engine.ScenarioError(f"{file}: is nested too deeply") from None
    except ProblemError as error:
        raise engine.ScenarioError(f"{file}: {shown(str(error))}") from error
    return criteria


def _criterion(document: Keys, index: int) -> Criterion:
    keys = document["criterion"][index]
    texts = {name: keys[name] for name in TEXTS if name in keys}
    where = f"criterion.{index}"
    if "take" in keys:
        taken, _, wanted = keys["take"].partition("/")
        for criterion in built_in(taken) if taken in names() else ():
            if criterion.id == wanted:
                return replace(criterion, **texts, id=keys["id"])
        raise ProblemError(f"{where}.take", f"unknown criterion {keys['take'][:60]}")
    for name in ("section", "title"):
        if name not in keys:
            raise ProblemError(where, f"{name} is missing")
    if ("cell" in keys) == ("not_tested" in keys):
        raise ProblemError(where, "needs either cell or not_tested")
    return Criterion(
        id=keys["id"],
        section=keys["section"],
        level=keys.get("level", ""),
        title=keys["title"],
        about=keys.get("about", ""),
        cells=partial(_cells, document, index) if "cell" in keys else None,
        further=partial(_further, document, index) if "further" in keys else None,
        axis=keys.get("axis", ""),
        shown=keys.get("shown", ""),
        not_tested=keys.get("not_tested", ""),
    )


def _cells(document: Keys, index: int, mode: Mode) -> list[Cell]:
    return [Situation(*keys).cell() for keys in reader.cells(document, index, mode)]


def _further(document: Keys, index: int, mode: Mode, victim: str) -> list[Cell]:
    given = {"victim": victim}
    return [Situation(*keys).cell() for keys in reader.cells(document, index, mode, "further", given)]


def _rehearse(criteria: Sequence[Criterion], mode: Mode) -> None:
    """Build every scenario of a suite with Reno in the judged place, without running it."""
    total = 0
    for criterion in criteria:
        cells = list(criterion.cells(mode)) if criterion.cells else []
        cells += criterion.further(mode, "reno") if criterion.further else []
        total += len(cells)
        if total > MOST_POINTS:
            raise ProblemError("criterion", f"the suite has more than {MOST_POINTS} cells")
        ids = [cell.id for cell in cells]
        if len(set(ids)) < len(ids):
            twice = next(name for name in ids if ids.count(name) > 1)
            raise ProblemError(
                criterion.id, f"two cells have the id {twice}; give each a name or an id of its own"
            )
        for cell in cells:
            try:
                # The method of a situation; other criteria are not read from files.
                parts = cell.parts(Subject("reno"), rehearsed=True)  # type: ignore[call-arg]
                for part in parts.values():
                    engine.read(part.scenario)
            except engine.ScenarioError as error:
                text = str(error).removeprefix("scenario: ")
                raise ProblemError(f"{criterion.id}, {cell.name}", text) from error
