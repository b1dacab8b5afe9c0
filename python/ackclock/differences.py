"""The differences between two results of the same verb, whichever it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ackclock.engine import RULES, ScenarioError, difference, elsewhere, integrity
from ackclock.engine.difference import Difference, Result
from ackclock.runs import rows

NOT_NUMBERS = (
    "run",
    "stop",
    "point",
    "title",
    "scenario",
    "profile",
    "low",
    "high",
    "runs",
    "error",
    "digest",
)
"""Columns of results that neither name a row nor are compared."""
SubjectNumbers = dict[tuple[str, str], list[float]]
"""Numbers of all runs, by subject and quantity."""


@dataclass(frozen=True)
class _KeptResult:
    """The content of a result of another verb than ``simulate``."""

    verb: str
    about: Mapping[str, object]
    """The inputs of the result, and its verdicts."""
    values: SubjectNumbers


def diff(a: Result, b: Result) -> Difference:
    """Return the differences between two results of the same verb.

    Parameters
    ----------
    a, b : Run, sequence of Run, Path or str
        Runs; the directory that ``simulate -o``, ``compare``, ``sweep``, ``evaluate``, ``search`` or
        ``reproduce`` wrote, of a single artefact for the last; or a table that ``predict -o`` wrote.

    Returns
    -------
    Difference
        The differences. Flows of runs are matched by their position, and all else by its names.

    Raises
    ------
    ScenarioError
        If a path does not hold a result, or the results are of different verbs.

    Examples
    --------
    >>> import ackclock
    >>> path = ackclock.dumbbell("10 Mbit/s", "20 ms", queue="50 packets")
    >>> flows = [ackclock.flow("reno", rtt=rtt) for rtt in ("50 ms", "80 ms")]
    >>> runs = [ackclock.simulate(ackclock.scenario(path, flow, duration="5 s")) for flow in flows]
    >>> ackclock.diff(*runs).scenario.rows()
    [('flow.0.rtt', '50 ms', '80 ms')]
    """
    first, second = _kept(a), _kept(b)
    if first is None and second is None:
        return difference.of_runs(a, b)
    verbs = [kept.verb if kept else "simulate" for kept in (first, second)]
    if first is None or second is None or verbs[0] != verbs[1]:
        raise ScenarioError(f"A is a result of {verbs[0]} and B of {verbs[1]}; choose two of the same verb")
    values = [first.values, second.values]
    numbers = [
        {"subject": subject, "quantity": quantity, **difference.change(values[0][key], values[1][key])}
        for key in values[0]
        if key in values[1]
        for subject, quantity in [key]
    ]
    keys = difference.keys(first.about, second.about) + [
        {"key": f"{subject}: {quantity}", "a": has[0], "b": has[1]}
        for subject, quantity in {**values[0], **values[1]}
        for has in [tuple("there" if (subject, quantity) in side else None for side in values)]
        if None in has
    ]
    return Difference(
        pl.DataFrame(keys, schema=difference.KEYS),
        pl.DataFrame(numbers, schema=difference.NUMBERS),
        not keys and values[0] == values[1],
        ((), ()),
    )


def _kept(given: Result) -> _KeptResult | None:
    """Read a result of another verb than ``simulate``; None for runs, and without a result."""
    if not isinstance(given, Path | str):
        return None
    path = Path(given)
    if path.is_file() and path.suffix in (".csv", ".parquet"):
        return _KeptResult("predict", {}, _by_names(_read(path)))
    for marker, read in _READERS.items():
        if any(path.glob(marker)):
            try:
                return read(path)
            except (KeyError, TypeError, AttributeError, pl.exceptions.PolarsError) as error:
                raise ScenarioError(f"{path}: is not a result that this version can read: {error}") from error
    return None


def _read(file: Path) -> pl.DataFrame:
    try:
        content = elsewhere.read(file)
        return pl.read_csv(content) if file.suffix == ".csv" else pl.read_parquet(content)
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be read: {error.strerror or error}") from error
    except pl.exceptions.PolarsError as error:
        raise ScenarioError(f"{file}: is not a table: {str(error).splitlines()[0]}") from error


def _by_names(table: pl.DataFrame) -> SubjectNumbers:
    """Return the numbers of a table; its texts, and as many of its first numbers as it takes, name a row."""
    names = [name for name in table.columns if name not in NOT_NUMBERS]
    keys = [name for name in names if table[name].dtype == pl.String]
    run = [name for name in ("run",) if name in table.columns]
    others = iter([name for name in names if name not in keys])
    while table.select(keys + run).is_duplicated().any() if keys + run else table.height > 1:
        keys.append(next(others))
    rest = list(others)
    values: SubjectNumbers = {}
    for row in table.iter_rows(named=True):
        subject = ", ".join(
            row[name] if isinstance(row[name], str) else f"{name} {row[name]}" for name in keys
        )
        for name in rest:
            if isinstance(row[name], int | float):
                values.setdefault((subject, name), []).append(float(row[name]))
    return values


def _record(folder: Path, name: str) -> dict[str, Any]:
    """Read a file of JSON in a folder whose files have not changed since it was written."""
    integrity.check(folder)
    try:
        record = elsewhere.parsed(elsewhere.read(folder / name))
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        raise ScenarioError(f"{folder / name}: cannot be read: {problem}") from error
    if not isinstance(record, dict):
        raise ScenarioError(f"{folder / name}: is not the record of a result")
    return record


def _evaluation(folder: Path) -> _KeptResult:
    record = _record(folder, "verdicts.json")
    if record.get("rules") != RULES:
        raise ScenarioError(
            f"{folder}: was measured by other rules than today's; evaluate {record['control']['name']} again"
        )
    about = {key: record[key] for key in ("control", "suites", "profile", "mode", "seed", "against")}
    about["verdict"] = {entry["id"]: entry["verdict"] for entry in record["criteria"]}
    runs = _read(folder / "numbers.parquet").filter(pl.col("role") == "candidate")
    values: SubjectNumbers = {}
    for criterion, cell, metric, value in runs.select("criterion", "cell", "metric", "value").iter_rows():
        if value is not None:
            values.setdefault((f"{criterion}: {cell}", metric), []).append(value)
    return _KeptResult("evaluate", about, values)


def _comparison(folder: Path) -> _KeptResult:
    integrity.check(folder)
    table = _read(folder / "answers.parquet")
    names = [name for name in table.columns if name not in (*NOT_NUMBERS, "question", "value")]
    values = {
        (", ".join(str(row[name]) for name in names), str(row["question"])): [row["value"]]
        for row in table.iter_rows(named=True)
        if row["value"] is not None
    }
    return _KeptResult("compare", {"profile": " and ".join(table["profile"].unique().sort())}, values)


def _sweep(folder: Path) -> _KeptResult:
    from ackclock.sweeps import picture

    try:
        picture.refuse_damaged(folder)
    except ValueError as error:
        raise ScenarioError(str(error)) from error
    table = picture.scan(folder).collect()
    parameters = [name for name in table.columns if name not in rows.COLUMNS]
    values: SubjectNumbers = {}
    for row in table.iter_rows(named=True):
        subject = ", ".join(
            [*(f"{name} {row[name]}" for name in parameters), str(row["name"] or row["flow"])]
        )
        for name in rows.NUMBERS:
            if row[name] is not None:
                values.setdefault((subject, name), []).append(row[name])
    failed = table.filter(pl.col("error").is_not_null()).height
    return _KeptResult("sweep", {"runs that failed": str(failed)}, values)


def _artefact(folder: Path) -> _KeptResult:
    record = _record(folder, "artefact.json")
    about: dict[str, Any] = {key: record[key] for key in ("paper", "name", "quick", "profile")}
    about["holds"] = {claim["id"]: claim["holds"] for claim in record["claims"]}
    file = folder / "numbers.parquet"
    return _KeptResult("reproduce", about, _by_names(_read(file)) if file.exists() else {})


def _search(folder: Path) -> _KeptResult:
    return _KeptResult("search", {}, dict(_numbers_in(_record(folder, "search.json"))))


def _numbers_in(tree: object, key: str = "") -> Iterator[tuple[tuple[str, str], list[float]]]:
    """Yield the numbers of nested JSON by their keys."""
    if isinstance(tree, Mapping | list):
        for name, value in tree.items() if isinstance(tree, Mapping) else enumerate(tree):
            yield from _numbers_in(value, f"{key}.{name}" if key else str(name))
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        subject, _, quantity = key.rpartition(".")
        yield (subject, quantity), [float(tree)]


_READERS = {
    "verdicts.json": _evaluation,
    "answers.parquet": _comparison,
    "part-*.parquet": _sweep,
    "artefact.json": _artefact,
    "search.json": _search,
}
"""How to read the result of a verb, by a file that only its results have."""
