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
from ackclock.engine.build import Table
from ackclock.metrics import Estimate
from ackclock_evaluate.cell import Cell, CellCurves, Criterion
from ackclock_evaluate.criteria.sharing import harm_of
from ackclock_evaluate.search.genome import TimelineCurve
from ackclock_evaluate.search.objectives import HALF, OBJECTIVES, Objective
from ackclock_evaluate.setting import Mode, Subject

MARK = "# objective: "
"""Beginning of the line of a file that names its objective."""
FRESH_RUNS = 10
WIDTH = 100


@dataclass(frozen=True)
class Adversary:
    """A scenario chosen to make a control do badly, and the results of runs with fresh seeds."""

    objective: Objective
    genome: str
    candidate: str
    """Name of the control."""
    scenario: Table
    """The scenario with the control in the judged place, and with the seed of the fresh runs."""
    capacity: float
    """Capacity of the path, Mbit/s."""
    estimates: Mapping[str, Estimate]
    """The compared metric of ``candidate``, ``cubic-linux`` and ``reno`` over the fresh runs."""
    baseline: str
    """The more permissive baseline."""
    value: Estimate
    """How much worse the control does than that baseline, run by run: for goodput a share of the
    capacity, for a delay in round trips. For an absolute objective, the unused share of the path."""
    verdict: Verdict
    """Verdict of the comparison with that baseline."""
    curves: Mapping[str, CellCurves]
    """Rates and queue in the first fresh run, by subject."""
    timeline: TimelineCurve | None

    @property
    def is_found(self) -> bool:
        """Whether the control is worse by more than the margin, or leaves half of the path unused."""
        if self.objective.absolute:
            return self.value.low > HALF
        return self.verdict == "worse"


def save(adversary: Adversary, directory: Path, number: int, command: str) -> Path:
    """Write an adversary as ``CONTROL-OBJECTIVE-NUMBER.toml``; `command` is the search that found it."""
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(adversary.candidate).name)
    file = directory / f"{safe}-{adversary.objective.name}-{number}.toml"
    with storage.explained(file):
        directory.mkdir(parents=True, exist_ok=True)
    with storage.new_file(file) as draft:
        storage.write(draft, text(adversary, file.name, command).encode())
    return file


def save_all(adversaries: Sequence[Adversary], directory: Path, command: str) -> list[tuple[Path, Adversary]]:
    """Write the adversaries of one control and one objective, numbered from 1."""
    return [
        (save(adversary, directory, number, command), adversary)
        for number, adversary in enumerate(adversaries, 1)
    ]


def text(adversary: Adversary, name: str, command: str) -> str:
    """Return an adversary as TOML, with a comment on its origin and on the numbers to expect."""
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
    """Write tables and lists of tables as TOML, from which `tomllib` reads the same back."""
    sections = []
    for name, value in table.items():
        if isinstance(value, list):
            named = [(f"[[{name}]]", entry) for entry in value]
        else:
            named = [(f"[{name}]", value)]
        for head, section in named:
            lines = [f"{key} = {_inline(inner)}" for key, inner in section.items()]
            sections.append("\n".join([head, *lines]) + "\n")
    return "\n".join(sections)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    # Strings, numbers and booleans are written as in JSON, except for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read(directory: Path) -> Criterion:
    """Read a folder of adversaries back as a criterion with a cell per file.

    The judged control takes the place of the flows whose names begin with c. A folder without
    files, or a file that is not a saved adversary, raises a ScenarioError.
    """
    files = sorted(directory.glob("*.toml"))
    if not files:
        raise engine.ScenarioError(f"{directory}: contains no adversaries (NAME.toml)")
    cells = [_cell(file) for file in files]

    def all_cells(_: Mode) -> list[Cell]:
        return cells

    return Criterion(
        "found",
        "",
        "",
        "Saved adversaries",
        "A search found each of these scenarios for some control, which does worse in it than CUBIC "
        "and Reno; here the judged control takes its place.",
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
        raise engine.ScenarioError(
            f"{file}: needs one line {MARK}NAME, where NAME is one of {', '.join(OBJECTIVES)}"
        )
    flows = table.get("flow", [])
    if not any(str(flow.get("name", "")).startswith("c") for flow in flows):
        raise engine.ScenarioError(
            f"{file}: needs a flow for the judged control, with a name that begins with c"
        )
    engine.read(file)
    objective = OBJECTIVES[named[0]]
    cell = Cell(
        file.stem,
        lambda subject: objective.parts(replaced(table, subject)),
        judged=(objective.margin,),
        drawn=True,
    )
    return replace(cell, numbers=harm_of) if objective.with_victim else cell


def replaced(table: Table, subject: Subject) -> Table:
    """Return a scenario with a control in the judged place."""
    flows = []
    for original in table["flow"]:
        flow = dict(original)
        if flow["name"].startswith("c"):
            flow.pop("params", None)
            flow["controller"] = subject.name
            if subject.params:
                flow["params"] = dict(subject.params)
        flows.append(flow)
    return {**table, "flow": flows}


def as_json(files: Sequence[tuple[Path, Adversary]]) -> list[dict[str, Any]]:
    """Return adversaries as ``verdicts.json`` lists them.

    ``value``, ``low`` and ``high`` belong to the candidate, ``baseline`` and ``intervals`` to the
    baselines; ``regret`` is the value that the search maximised.
    """
    rows = []
    for file, adversary in files:
        mine = adversary.estimates["candidate"]
        baselines = {name: value for name, value in adversary.estimates.items() if name != "candidate"}
        margin, regret = adversary.objective.margin, adversary.value
        rows.append(
            {
                "file": file.as_posix(),
                "objective": adversary.objective.name,
                "genome": adversary.genome,
                "metric": margin.metric,
                "unit": margin.unit,
                "value": mine.value,
                "low": mine.low,
                "high": mine.high,
                "baseline": {name: estimate.value for name, estimate in baselines.items()},
                "intervals": {name: [estimate.low, estimate.high] for name, estimate in baselines.items()},
                "regret": {"value": regret.value, "low": regret.low, "high": regret.high},
                "verdict": adversary.verdict,
            }
        )
    return rows
