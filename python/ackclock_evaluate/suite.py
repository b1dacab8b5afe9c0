"""Suites: TOML files that say what is asked of a control."""

from __future__ import annotations

import functools
import hashlib
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path

from ackclock import engine
from ackclock.engine.scenario import shown, text_of
from ackclock_evaluate import shape
from ackclock_evaluate.cell import Cell, Criterion
from ackclock_evaluate.formulas import MOST_POINTS, Names, ProblemError, TomlValue, of_mode, points
from ackclock_evaluate.setting import Mode, Subject
from ackclock_evaluate.situation import Keys, Situation, merged

MODES: tuple[Mode, ...] = ("quick", "full")
DEFAULT = "rfc9743"
HOME = resources.files("ackclock_suites")
TEXTS = ("section", "level", "title", "about", "axis", "shown", "not_tested")


def schema() -> dict[str, TomlValue]:
    """Return the JSON schema (draft 2020-12) of suites."""
    content: dict[str, TomlValue] = json.loads((HOME / "schema.json").read_text("utf-8"))
    return content


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
    """Return the criteria of the text of a suite; `name` is that of the suite, and errors name `file`.

    The digest of a suite is the first 16 hexadecimal digits of the SHA-256 of its text. If it is
    rehearsed, all of its scenarios are built and checked.
    """
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise engine.ScenarioError(f"{file}: is nested too deeply") from None
    except ValueError as error:
        raise engine.ScenarioError(f"{file}: {shown(str(error))}") from error
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return of_document(document, name, file, digest, rehearsed=rehearsed)


def of_document(
    document: Keys, name: str, file: str, digest: str, *, rehearsed: bool
) -> tuple[Criterion, ...]:
    """Return the criteria of a suite whose TOML has been read."""
    try:
        whole = schema()
        shape.check(document, whole, whole)
        ids = [keys["id"] for keys in document["criterion"]]
        for criterion in ids:
            if ids.count(criterion) > 1:
                raise ProblemError("criterion", f"{criterion} occurs twice; give each an id of its own")
        criteria = tuple(
            replace(_criterion(document, index), suite=name, digest=digest) for index in range(len(ids))
        )
        for mode in MODES if rehearsed else ():
            # What stands for a table in a mode has to be one.
            shape.check(of_mode(document, mode), whole, whole)
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
    return [situation.cell() for situation in _situations(document, index, mode, "cell", {})]


def _further(document: Keys, index: int, mode: Mode, victim: str) -> list[Cell]:
    return [
        situation.cell() for situation in _situations(document, index, mode, "further", {"victim": victim})
    ]


def _situations(document: Keys, index: int, mode: Mode, kind: str, given: Keys) -> Iterator[Situation]:
    """Yield what a cell is made of, for every point of the grid of all cells and of its own."""
    criterion = of_mode(document["criterion"][index], mode)
    every = merged(of_mode(document.get("every", {}), mode), criterion.get("every", {}))
    templates = of_mode(document.get("template", {}), mode)
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
                yield Situation({**merged(every, keys), "in_mode": mode}, {**given, **point, **inner}, where)


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
