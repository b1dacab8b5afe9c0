"""The verbs of the command line, for Python: simulate, check, controllers, explain and more."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import _native
from ackclock._native import ScenarioError, SimulationError
from ackclock.engine import Run, controls, holds_result, new_result

__version__ = _native.VERSION

Scenario = Path | str | Mapping[str, Any]
"""A path, TOML text (it contains a line break), or the same as nested mappings."""

Progress = Callable[[float, int], None]
"""Called with simulated seconds and packets about every 50 ms; what it raises ends the run."""


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


def simulate(
    scenario: Scenario | Source,
    *,
    settings: Sequence[str] = (),
    run: int = 0,
    record: bool = True,
    progress: Progress | None = None,
    pcap: Path | str | None = None,
    qlog: Path | str | None = None,
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
    qlog : Path or str, optional
        Directory that is there, for a file ``NAME.sqlog`` of every QUIC flow, readable by qvis.

    Returns
    -------
    Run
        Summary, tables and the scenario as run.

    Raises
    ------
    ScenarioError
        When the scenario is refused: file, line, key and what is allowed.
    SimulationError
        When the simulation itself fails. What a control written in Python raises comes as it is,
        with its traceback.
    """
    source = Source.of(scenario)
    checked = check(source, settings=settings)
    summary, tables = _native.simulate(
        source.text,
        source.file,
        list(settings),
        source.is_json,
        run,
        record,
        progress,
        None if pcap is None else str(pcap),
        None if qlog is None else str(qlog),
    )
    return Run(json.loads(summary), checked, dict(tables))


def summary(
    source: Source,
    *,
    settings: Sequence[str] = (),
    run: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Simulate a scenario for its summary alone: what many short runs need.

    Parameters
    ----------
    source : Source
        The scenario.
    settings, run, progress
        As for `simulate`.

    Returns
    -------
    dict
        As `Run.summary`.

    Raises
    ------
    ScenarioError, SimulationError
        As `simulate`.
    """
    controls.prepare(source.text, is_json=source.is_json, settings=settings)
    text, _ = _native.simulate(
        source.text, source.file, list(settings), source.is_json, run, False, progress
    )
    made: dict[str, Any] = json.loads(text)
    return made


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
    controls.prepare(source.text, is_json=source.is_json, settings=settings)
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
    "holds_result",
    "new_result",
    "schema",
    "simulate",
    "summary",
]
