"""A paper in a folder: artefacts with cases from scenario files, and numbers by their names in a run.

`paper.toml` has the title, the setting and the artefacts, `claims.toml` the claims
(`ackclock.reproduction.claims.records`), and `functions.py`, if there is one, the functions that both name.
`schema.json` next to this file has the keys of an artefact.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import resources
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import polars as pl

from ackclock import metrics
from ackclock.draw.figure import Drawing
from ackclock.engine import Run
from ackclock.engine import read as read_scenario
from ackclock.names import NAME, hint
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock.suites import shape
from ackclock.suites.formulas import GridPoint, Names, ProblemError, TomlTable, fill, of_mode, points

FUNCTIONS = "functions.py"
PARTS = ("flow", "link")
"""Parts of a run with numbers that are named by part, by name or index, and by column."""


def functions_of(home: Path) -> dict[str, Callable[..., Any]]:
    """Return the public functions of `functions.py` in the directory of a paper; none without the file."""
    file = home / FUNCTIONS
    if not file.is_file():
        return {}
    name = f"ackclock_paper_{home.name}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ProblemError(FUNCTIONS, "cannot be imported")
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return {
        key: value
        for key, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == name and not key.startswith("_")
    }


def check(tables: TomlTable) -> None:
    """Raise a ProblemError if the artefacts of `paper.toml` do not have the shape of the schema."""
    whole = json.loads((resources.files(__package__) / "schema.json").read_text("utf-8"))
    shape.check(tables, whole, whole)


def artefacts(
    home: Path, tables: TomlTable, functions: Mapping[str, Callable[..., Any]]
) -> list[Simulated[str]]:
    """Return the artefacts of a paper, without claims, in the order of the file.

    Parameters
    ----------
    home : Path
        Directory of the paper, in which scenarios are looked up.
    tables : mapping
        Tables of ``[artefact.NAME]``, by name.
    functions : mapping
        Functions of a run that return a number, by name, which ``numbers`` may name.

    Raises
    ------
    ProblemError
        When a table is wrong; it names the key.
    """
    check(tables)
    wrong = next((name for name in tables if not NAME.fullmatch(name)), None)
    if wrong is not None:
        raise ProblemError(f"artefact.{wrong}", "a name has lower-case words joined by hyphens")
    return [_ArtefactReader(home, name, table, functions).artefact() for name, table in tables.items()]


class _ArtefactReader:
    """Reads one artefact."""

    def __init__(
        self, home: Path, name: str, table: TomlTable, functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        self.home, self.name, self.table, self.functions = home, name, table, functions
        self.where = f"artefact.{name}"

    def artefact(self) -> Simulated[str]:
        """Return the artefact; its cases have their own labels."""
        assert self.known  # noqa: S101
        return Simulated(
            name=self.name,
            caption=self.table["caption"],
            about=self.table["about"],
            headline=self.table.get("headline", False),
            cases=self.cases,
            probe=self.probe,
            draw=self.draw,
        )

    @cached_property
    def known(self) -> dict[str, tuple[TomlTable, GridPoint]]:
        """The cases by label, each with its table and the values of its parameters."""
        known: dict[str, tuple[TomlTable, GridPoint]] = {}
        for index, table in enumerate(self.table["case"]):
            where = f"{self.where}.case.{index}"
            for point in points(table.get("grid", {}), Names({}), f"{where}.grid"):
                label = str(fill(table["label"], Names(point), f"{where}.label"))
                if label in known:
                    raise ProblemError(f"{where}.label", f"two cases are called {label!r:.60}")
                known[label] = (table, point)
        return known

    def cases(self, effort: Effort) -> dict[str, Case]:
        """Return the cases of an effort, by label."""
        mode = "quick" if effort.quick else "full"
        cases = {}
        for label, (table, point) in self.known.items():
            names = Names({**effort.setting, **point})
            changes = fill(of_mode(table.get("set", {}), mode), names, f"{self.where}.set")
            settings = [
                f"{key}={value if isinstance(value, str) else json.dumps(value)}"
                for key, value in changes.items()
            ]
            scenario = read_scenario(self.home / table["scenario"], settings=settings)
            cases[label] = Case(
                scenario, runs=min(effort.runs, table.get("runs", effort.runs)), record=self.is_recorded
            )
        return cases

    @property
    def is_recorded(self) -> bool:
        """Whether a number needs more than the summary."""
        return any(not isinstance(number, str) or ": " in number for number in self.table["numbers"].values())

    def probe(self, case: str, _effort: Effort) -> Probe:
        """Return how a case is measured."""
        _, point = self.known[case]
        named = fill(self.table["numbers"], Names(point), f"{self.where}.numbers")
        for key, number in named.items():
            name = None if isinstance(number, str) else number["function"]
            if name is not None and name not in self.functions:
                where = f"{self.where}.numbers.{key}"
                raise ProblemError(where, f"unknown function {name}: {hint(name, self.functions)}")
        return Probe(tuple(named), lambda run: self._measure(run, named))

    def _measure(self, run: Run, named: TomlTable) -> Row:
        row: dict[str, object] = {}
        overview: pl.DataFrame | None = None
        for key, number in named.items():
            if not isinstance(number, str):
                row[key] = self.functions[number["function"]](run, **number.get("given", {}))
            elif ": " in number:
                overview = metrics.overview([run]) if overview is None else overview
                row[key] = _of_overview(overview, *number.split(": ", 1))
            else:
                row[key] = _of_summary(run.summary, number)
        return row

    def draw(self, numbers: Numbers, _traces: Traces) -> Drawing:
        """Draw a number over a parameter, or every number as a table where nothing is plotted."""
        plot = self.table.get("plot")
        if plot is None:
            return figures.every_number(numbers, {})
        curves: dict[str, list[tuple[float, Key, Key]]] = {}
        for label, (_, point) in self.known.items():
            curve = str(point[plot["curve"]]) if "curve" in plot else plot["number"]
            curves.setdefault(curve, []).append((point[plot["x"]], label, plot["number"]))
        return figures.against(
            numbers,
            curves,
            plot.get("x_label", plot["x"]),
            plot.get("y_label", plot["number"]),
            log_x=plot.get("log_x", False),
            log_y=plot.get("log_y", False),
        )


def _of_overview(overview: pl.DataFrame, subject: str, metric: str) -> float:
    """Return a standard metric of a run, as `ackclock simulate` prints it."""
    rows = overview.filter((pl.col("subject") == subject) & (pl.col("metric") == metric))
    if rows.is_empty():
        known = [f"{row['subject']}: {row['metric']}" for row in overview.iter_rows(named=True)]
        raise LookupError(f"a run has no {subject}: {metric}; {hint(f'{subject}: {metric}', known)}")
    return float(rows["value"][0])


def _of_summary(summary: Mapping[str, Any], path: str) -> float:
    """Return a number of a summary, as ``flow.a.goodput_mbps``, ``link.0.utilisation`` or ``jain``."""
    part, _, rest = path.partition(".")
    table: Mapping[str, Any] = summary
    column = path
    if part in PARTS:
        name, _, column = rest.rpartition(".")
        members = summary[f"{part}s"]
        by_name = {str(member.get("name", member["id"])): member for member in members}
        by_name |= {str(index): member for index, member in enumerate(members) if str(index) not in by_name}
        if name not in by_name:
            raise LookupError(f"a run has no {part} {name!r}; {hint(name, by_name)}")
        table = by_name[name]
    value = table.get(column)
    if not isinstance(value, int | float):
        known = [key for key, number in table.items() if isinstance(number, int | float)]
        raise LookupError(f"{path}: there is no number {column!r}; {hint(column, known)}")
    return float(value)
