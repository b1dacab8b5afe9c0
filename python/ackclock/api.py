"""The verbs of the command line, for Python: simulate, check, controllers, explain and more."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _native, storage
from ackclock._native import ScenarioError, SimulationError

if TYPE_CHECKING:
    import polars as pl

__version__ = _native.VERSION

Scenario = Path | str | Mapping[str, Any]
"""A path, TOML text (it contains a line break), or the same as nested mappings."""

Progress = Callable[[float, int], None]
"""Called with simulated seconds and packets about every 50 ms; what it raises ends the run."""

TABLES = ("flows", "windows", "queues", "events")


@dataclass(frozen=True)
class Source:
    """The text of a scenario, and what to call it in messages."""

    text: str
    file: str
    is_json: bool = False

    @classmethod
    def of(cls, scenario: Scenario | Source) -> Source:
        """Read a scenario from wherever it is.

        Parameters
        ----------
        scenario : Path, str, mapping or Source
            A path, TOML text (it contains a line break), or nested mappings.

        Returns
        -------
        Source
            Its text and name.

        Raises
        ------
        ScenarioError
            When the file cannot be read.
        """
        if isinstance(scenario, Source):
            return scenario
        if isinstance(scenario, Mapping):
            return cls(json.dumps(scenario), "<mapping>", is_json=True)
        if isinstance(scenario, str) and "\n" in scenario:
            return cls(scenario, "<text>")
        path = Path(scenario)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise ScenarioError(f"{path}: is no text; a scenario is TOML in UTF-8") from error
        return cls(text, str(path), is_json=path.suffix == ".json")


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    summary : dict
        What `ackclock simulate --json` prints, without `wall_s`.
    scenario : str
        The scenario as run, every default filled in, as TOML.
    tables : dict
        Columns by table, as the engine gave them or read from disk; empty when the run was not
        recorded.
    """

    summary: dict[str, Any]
    scenario: str
    tables: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Fingerprint of everything that happened: 16 hexadecimal digits."""
        return str(self.summary["digest"])

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: the summary's columns; counters from time 0 start with `whole_run_`."""
        import polars as pl

        rows = []
        for flow in self.summary["flows"]:
            row = {key: value for key, value in flow.items() if not isinstance(value, dict)}
            row |= {f"whole_run_{key}": value for key, value in flow["whole_run"].items()}
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    @cached_property
    def windows(self) -> pl.DataFrame:
        """Per flow and sampling time: window (packets), ssthresh, rtt_ms, control internals."""
        return self._table("windows")

    @cached_property
    def queues(self) -> pl.DataFrame:
        """Per link and sampling time: queue (packets), drops, marks, utilisation."""
        return self._table("queues")

    @cached_property
    def events(self) -> pl.DataFrame:
        """Loss events, timeouts, starts and ends of flows, with the window before and after."""
        return self._table("events")

    def _table(self, name: str) -> pl.DataFrame:
        import polars as pl

        if name not in self.tables:
            raise ValueError(f"the run has no table of {name}: simulate with record=True")
        return pl.DataFrame(self.tables[name]).fill_nan(None)

    @classmethod
    def read(cls, directory: Path) -> Run:
        """Read what `write` wrote, Parquet.

        Parameters
        ----------
        directory : Path
            Where it is.

        Returns
        -------
        Run
            The run; without tables when it was not recorded.

        Raises
        ------
        OSError
            When a file cannot be read.
        """
        import polars as pl

        tables = {
            name: pl.read_parquet(directory / f"{name}.parquet")
            for name in ("windows", "queues", "events")
            if (directory / f"{name}.parquet").exists()
        }
        summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
        return cls(summary, (directory / "scenario.toml").read_text(encoding="utf-8"), tables)

    def write(self, directory: Path, *, csv: bool = False, tables: bool = True) -> None:
        """Write the files of the run into `directory`, which is made if it does not exist.

        Parameters
        ----------
        directory : Path
            Where to.
        csv : bool
            CSV in place of Parquet.
        tables : bool
            False leaves out the tables over time.

        Raises
        ------
        OSError
            When a file cannot be written; what was written before stays.
        """
        directory.mkdir(exist_ok=True)
        for name in TABLES if tables else ("flows",):
            storage.write_table(getattr(self, name), directory, name, csv=csv)
        (directory / "summary.json").write_text(
            json.dumps(self.summary, indent=2) + "\n", encoding="utf-8"
        )
        (directory / "scenario.toml").write_text(self.scenario, encoding="utf-8")

    def save(self, directory: Path | str, *, csv: bool = False, force: bool = False) -> None:
        """Write flows, windows, queues, events, summary.json and scenario.toml, or nothing.

        Parameters
        ----------
        directory : Path or str
            Directory that is to hold them.
        csv : bool
            CSV in place of Parquet.
        force : bool
            Replace a previous result.

        Raises
        ------
        StorageError
            When the directory may not be replaced or cannot be written.
        """
        with new_result(Path(directory), force=force) as temporary:
            self.write(temporary, csv=csv)


def holds_result(directory: Path) -> bool:
    """Whether a directory holds what `Run.save` or several runs wrote, and nothing else.

    Parameters
    ----------
    directory : Path
        Directory to look at.

    Returns
    -------
    bool
        True when it can be replaced without loss of anything else.
    """
    tables = {f"{name}.{ending}" for name in TABLES for ending in ("parquet", "csv")}
    names = frozenset(tables | {"summary.json", "scenario.toml"})
    runs = list(directory.iterdir())
    if runs and all(re.fullmatch(r"run-\d{4,}", run.name) and run.is_dir() for run in runs):
        return all(storage.holds_only(run, names, "summary.json") for run in runs)
    return storage.holds_only(directory, names, "summary.json")


def new_result(directory: Path, *, force: bool) -> AbstractContextManager[Path]:
    """Give a directory that becomes `directory` when the block ends, and vanishes when it fails.

    Parameters
    ----------
    directory : Path
        Directory that is to hold a run or several.
    force : bool
        Replace a previous result.

    Returns
    -------
    context manager
        Its value is the path to write to.

    Raises
    ------
    StorageError
        When the directory may not be replaced or cannot be written.
    """
    return storage.new_directory(directory, force=force, is_result=holds_result)


def simulate(
    scenario: Scenario | Source,
    *,
    settings: Sequence[str] = (),
    run: int = 0,
    record: bool = True,
    progress: Progress | None = None,
    pcap: Path | str | None = None,
) -> Run:
    """Simulate a scenario packet by packet.

    Parameters
    ----------
    scenario : Path, str or mapping
        A path, TOML text (it contains a line break), or nested mappings.
    settings : sequence of str
        Changes such as ``"flow.0.rtt=80ms"``.
    run : int
        Number of the run: other random streams of the same seed.
    record : bool
        Keep windows, queues and events over time, too.
    progress : callable, optional
        Called with simulated seconds and packets about every 50 ms.
    pcap : Path or str, optional
        File for the packets, readable by tshark.

    Returns
    -------
    Run
        Summary, tables and the scenario as run.

    Raises
    ------
    ScenarioError
        When the scenario is refused: file, line, key and what is allowed.
    SimulationError
        When the simulation itself fails.
    """
    source = Source.of(scenario)
    summary, tables = _native.simulate(
        source.text,
        source.file,
        list(settings),
        source.is_json,
        run,
        record,
        progress,
        None if pcap is None else str(pcap),
    )
    return Run(json.loads(summary), check(source, settings=settings), dict(tables))


def check(scenario: Scenario | Source, *, settings: Sequence[str] = ()) -> str:
    """Check a scenario without running it.

    Parameters
    ----------
    scenario : Path, str or mapping
        A path, TOML text (it contains a line break), or nested mappings.
    settings : sequence of str
        Changes such as ``"flow.0.rtt=80ms"``.

    Returns
    -------
    str
        The scenario as it would run, every default filled in, as TOML.

    Raises
    ------
    ScenarioError
        When the scenario is refused: file, line, key and what is allowed.
    """
    source = Source.of(scenario)
    return _native.check(source.text, source.file, list(settings), source.is_json)


def controllers() -> list[dict[str, Any]]:
    """List the congestion controls: name, kind, source and parameters with their domains.

    Returns
    -------
    list of dict
        One entry per control.
    """
    listed: list[dict[str, Any]] = json.loads(_native.controllers())
    return listed


def explain(controller: str) -> str:
    """Give the page of a control: what it does, equations, deviations, parameters.

    Parameters
    ----------
    controller : str
        Its name.

    Returns
    -------
    str
        Markdown.

    Raises
    ------
    LookupError
        When there is no control of that name; the message has the nearest ones.
    """
    entries = {entry["name"]: entry for entry in controllers()}
    if controller not in entries:
        near = difflib.get_close_matches(controller, entries, n=3, cutoff=0.4)
        hint = f"did you mean {', '.join(near)}?" if near else "see ackclock controllers"
        raise LookupError(f"no control is named {controller!r}; {hint}")
    entry = entries[controller]
    lines = [_native.page(controller) or "", f"Source: {entry['source']}", "", "## Parameters"]
    if not entry["parameters"]:
        lines.append("None.")
    else:
        lines += ["| name | default | allowed | meaning |", "| --- | --- | --- | --- |"]
    for parameter in entry["parameters"]:
        allowed = parameter.get("choices") or [parameter["minimum"], parameter["maximum"]]
        between = ", " if "choices" in parameter else " to "
        words = between.join(json.dumps(value) for value in allowed)
        default = json.dumps(parameter["default"])
        lines.append(f"| {parameter['name']} | {default} | {words} | {parameter['meaning']} |")
    return "\n".join(lines) + "\n"


def example() -> str:
    """Give a commented scenario.

    Returns
    -------
    str
        TOML.
    """
    return _native.example()


def schema() -> dict[str, Any]:
    """Give the JSON schema of scenarios.

    Returns
    -------
    dict
        The schema.
    """
    described: dict[str, Any] = json.loads(_native.schema())
    return described


__all__ = [
    "Run",
    "ScenarioError",
    "SimulationError",
    "Source",
    "check",
    "controllers",
    "example",
    "explain",
    "new_result",
    "schema",
    "simulate",
]
