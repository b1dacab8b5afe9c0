"""Adversaries as files: plain scenarios that anyone can run, and that are read back as a suite."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.decision.paired import Verdict
from ackclock.engine import storage
from ackclock.metrics import Estimate
from ackclock_evaluate.cell import Cell, Criterion, Curves
from ackclock_evaluate.criteria.sharing import harm_of
from ackclock_evaluate.search.objectives import HALF, OBJECTIVES, Objective
from ackclock_evaluate.setting import Mode, Subject, Table

MARK = "# objective: "
"""Begins the line of a file that says what it was looked for."""
FRESH_RUNS = 10
WIDTH = 100


@dataclass(frozen=True)
class Adversary:
    """A scenario in which a control was to do badly, and what it did there with fresh seeds.

    Attributes
    ----------
    objective : Objective
        What was looked for.
    genome : str
        What was varied.
    candidate : str
        Name of the control.
    scenario : dict
        With the control in its place, and the seed of the fresh runs.
    capacity : float
        What the path can carry, Mbit/s.
    estimates : dict
        The compared number of ``candidate``, ``cubic-linux`` and ``reno`` over the fresh runs.
    baseline : str
        The more permissive baseline.
    value : Estimate
        How much worse than it, run by run, as the search counts: for goodput as a share of the
        capacity, for a delay in round trips. For an absolute objective the share that is unused.
    verdict : str
        Of the comparison with that baseline.
    curves : dict
        Rates and queue in the first fresh run, by subject.
    timeline : tuple, optional
        What the scenario does over time.
    """

    objective: Objective
    genome: str
    candidate: str
    scenario: Table
    capacity: float
    estimates: Mapping[str, Estimate]
    baseline: str
    value: Estimate
    verdict: Verdict
    curves: Mapping[str, Curves]
    timeline: tuple[str, list[float], list[float]] | None

    @property
    def is_found(self) -> bool:
        """Whether it is one: past the margin, or for an absolute objective past one half."""
        if self.objective.absolute:
            return self.value.low > HALF
        return self.verdict == "worse"


def save(adversary: Adversary, directory: Path, number: int, command: str) -> Path:
    """Write an adversary as a scenario.

    Parameters
    ----------
    adversary : Adversary
        What was found.
    directory : Path
        Where to; it is made when it is missing.
    number : int
        Of the file, from 1.
    command : str
        With which it was looked for.

    Returns
    -------
    Path
        ``CONTROL-OBJECTIVE-NUMBER.toml``.

    Raises
    ------
    StorageError
        When it cannot be written.
    """
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(adversary.candidate).name)
    file = directory / f"{safe}-{adversary.objective.name}-{number}.toml"
    with storage.explained(file):
        directory.mkdir(parents=True, exist_ok=True)
    with storage.new_file(file) as draft:
        storage.write(draft, text(adversary, file.name, command).encode())
    return file


def save_all(adversaries: Sequence[Adversary], directory: Path, command: str) -> list[tuple[Path, Adversary]]:
    """Write adversaries, numbered from 1.

    Parameters
    ----------
    adversaries : sequence of Adversary
        Of one control and one objective.
    directory, command
        As for `save`.

    Returns
    -------
    list of (Path, Adversary)
        Files and what is in them.

    Raises
    ------
    StorageError
        As `save`.
    """
    return [(save(one, directory, number, command), one) for number, one in enumerate(adversaries, 1)]


def text(adversary: Adversary, name: str, command: str) -> str:
    """Write an adversary as the text of a file.

    Parameters
    ----------
    adversary : Adversary
        What was found.
    name : str
        Of the file.
    command : str
        With which it was looked for.

    Returns
    -------
    str
        TOML, with a comment that says where it comes from and what to expect.
    """
    import ackclock

    margin = adversary.objective.margin
    unit = f" {margin.unit}" if margin.unit else ""
    names = {"candidate": adversary.candidate}
    compared = [
        f"#   {names.get(subject, f'baseline {subject}')}: {estimate}{unit}"
        for subject, estimate in adversary.estimates.items()
    ]
    digest = engine.read(adversary.scenario).digest
    head = [
        f"# An adversary of {adversary.candidate}: a path on which it {adversary.objective.about}.",
        f"# Found by `{command}` with ackclock {ackclock.__version__}; digest {digest}.",
        f"{MARK}{adversary.objective.name}",
        f"# genome: {adversary.genome}",
        f"# `ackclock simulate {name} --runs {FRESH_RUNS} --json`: {margin.metric} of the flows",
        "# whose names begin with c, or in their place; mean and 95 % interval over these runs:",
        *compared,
        f"# Beside {adversary.baseline}: {adversary.verdict}; as the search counts, {adversary.value}.",
        "",
    ]
    return "\n".join(head) + toml(adversary.scenario)


def toml(table: Mapping[str, Any]) -> str:
    """Write a scenario as TOML.

    Parameters
    ----------
    table : mapping
        Tables and lists of tables.

    Returns
    -------
    str
        What `tomllib` reads back as the same.
    """
    found = []
    for name, value in table.items():
        for head, one in (
            [(f"[[{name}]]", each) for each in value] if isinstance(value, list) else [(f"[{name}]", value)]
        ):
            lines = [f"{key} = {_inline(inner)}" for key, inner in one.items()]
            found.append("\n".join([head, *lines]) + "\n")
    return "\n".join(found)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    # Texts, numbers and truth values are written as in JSON, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read(directory: Path) -> Criterion:
    """Read a folder of adversaries back as a criterion.

    Parameters
    ----------
    directory : Path
        The folder.

    Returns
    -------
    Criterion
        With a cell per file, in which the judged control takes the place of the flows whose names
        begin with c.

    Raises
    ------
    ScenarioError
        When there are no files, or one of them is no scenario or does not say what it is about.
    """
    files = sorted(directory.glob("*.toml"))
    if not files:
        raise engine.ScenarioError(f"{directory}: holds no adversaries (NAME.toml)")
    cells = [_cell(file) for file in files]

    def all_cells(_: Mode) -> list[Cell]:
        return cells

    return Criterion(
        "found",
        "",
        "",
        "Adversaries that were found",
        "Each was found by a search for scenarios in which some control does worse than CUBIC and "
        "Reno; here the judged control is in its place.",
        all_cells,
    )


def _cell(file: Path) -> Cell:
    content = engine.text_of(file)
    try:
        table = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise engine.ScenarioError(f"{file}: {error}") from error
    named = [line.removeprefix(MARK) for line in content.splitlines() if line.startswith(MARK)]
    if len(named) != 1 or named[0] not in OBJECTIVES:
        raise engine.ScenarioError(f"{file}: needs one line {MARK}NAME, with one of {', '.join(OBJECTIVES)}")
    flows = table.get("flow", [])
    if not any(str(flow.get("name", "")).startswith("c") for flow in flows):
        raise engine.ScenarioError(f"{file}: has no flow whose name begins with c, to be replaced")
    engine.read(file)
    objective = OBJECTIVES[named[0]]
    found = Cell(
        file.stem,
        lambda subject: objective.parts(replaced(table, subject)),
        judged=(objective.margin,),
        drawn=True,
    )
    return replace(found, numbers=harm_of) if objective.with_victim else found


def replaced(table: Table, subject: Subject) -> Table:
    """Put a control in the judged place of a scenario.

    Parameters
    ----------
    table : dict
        The scenario.
    subject : Subject
        The control.

    Returns
    -------
    dict
        The scenario with it.
    """
    flows = []
    for flow in table["flow"]:
        made = dict(flow)
        if made["name"].startswith("c"):
            made.pop("params", None)
            made["controller"] = subject.name
            if subject.params:
                made["params"] = dict(subject.params)
        flows.append(made)
    return {**table, "flow": flows}


def as_json(files: Sequence[tuple[Path, Adversary]]) -> list[dict[str, Any]]:
    """Give adversaries as the report of an evaluation lists them.

    Parameters
    ----------
    files : sequence
        Files and what is in them.

    Returns
    -------
    list of dict
        ``file``, ``objective``, ``genome``, ``metric``, ``unit``, ``value``, ``low``, ``high`` of
        the candidate, ``baseline`` (means by name) and ``intervals`` of these, ``regret`` with its
        ends, and ``verdict``.
    """
    found = []
    for file, one in files:
        mine = one.estimates["candidate"]
        margin = one.objective.margin
        found.append(
            {
                "file": file.as_posix(),
                "objective": one.objective.name,
                "genome": one.genome,
                "metric": margin.metric,
                "unit": margin.unit,
                "value": mine.value,
                "low": mine.low,
                "high": mine.high,
                "baseline": {
                    name: estimate.value for name, estimate in one.estimates.items() if name != "candidate"
                },
                "intervals": {
                    name: [estimate.low, estimate.high]
                    for name, estimate in one.estimates.items()
                    if name != "candidate"
                },
                "regret": {"value": one.value.value, "low": one.value.low, "high": one.value.high},
                "verdict": one.verdict,
            }
        )
    return found
