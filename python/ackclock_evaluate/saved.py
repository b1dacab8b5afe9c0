"""Saved adversaries as cells: scenarios in which some control did worse than the baselines, for any control.

A file is a plain scenario. A comment names its objective: the way in which the control did worse, and so the
metric to compare. The package `ackclock_search` finds and writes such files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from ackclock import engine
from ackclock.decision.comparisons import Margin
from ackclock.decision.margins import BY_NAME, DELAY, GOODPUT, LOSS, SHARE
from ackclock.engine import Run
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import Cell, CellMeasure, CellNumbers, Criterion, Part, Parts
from ackclock_evaluate.joins import harm_of
from ackclock_evaluate.setting import Mode, Subject

MARK = "# objective: "
"""Beginning of the line of a file that names its objective."""


def stall(run: Run) -> CellNumbers:
    """Measure the longest time without a delivery of any flow of the judged control.

    ``stall`` is a share of the length of the run, which must be recorded.
    """
    longest_s = 0.0
    end_s = run.summary["duration_s"]
    for flow in measures.flows(run, "c"):
        table = run.windows_of(flow["id"])
        times = table.filter(pl.col("delivered_bytes") > 0)["time_s"].to_numpy()
        samples = table["time_s"].to_numpy()
        first_s = float(samples[0]) if samples.size else 0.0
        gaps = np.diff([first_s, *times, end_s])
        longest_s = max(longest_s, float(gaps.max()))
    return {"stall": longest_s / end_s}


@dataclass(frozen=True)
class Objective:
    """A way in which a control may do badly.

    As everywhere in an evaluation, the control is compared with the more permissive of the baselines:
    an outage, which hurts every control, does not count.
    """

    name: str
    """Name on the command line."""
    about: str
    margin: Margin
    """The metric that is compared with the baselines, and the difference that matters."""
    measure: CellMeasure = measures.general
    records: bool = False
    """Whether the measure needs tables over time."""
    count: int = 1
    """Number of flows of the judged control."""
    with_victim: bool = False
    """Whether a flow of CUBIC competes with them."""
    absolute: bool = False
    """Whether the control is judged by itself, without the baselines."""

    def value(self, mine: float, baselines: Sequence[float], scale: float) -> float:
        """Return how much worse the control does than the worse of the baselines in its place.

        `scale` is the unit; for an absolute objective the value is the share of it that is unused.
        """
        if self.absolute:
            return 1 - mine / scale
        if self.margin.higher_is_better:
            return (min(baselines) - mine) / scale
        return (mine - max(baselines)) / scale

    def parts(self, scenario: Table) -> Parts:
        """Return the parts of a cell: the scenario and, with a victim, the victim alone."""
        parts = {"run": Part(scenario, self.measure, self.records)}
        if self.with_victim:
            victims = [flow for flow in scenario["flow"] if not flow["name"].startswith("c")]
            parts["solo"] = Part({**scenario, "flow": victims}, self.measure, self.records)
        return parts

    def cell(self, name: str, scenario: Table, *, drawn: bool = True) -> Cell:
        """Return a scenario as a cell for any control in the judged place."""
        described = Cell(
            name, lambda subject: self.parts(replaced(scenario, subject)), judged=(self.margin,), drawn=drawn
        )
        return replace(described, numbers=harm_of) if self.with_victim else described


OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective("utilisation", "uses less of the path than the baselines", GOODPUT),
        Objective("delay", "keeps a longer queue than the baselines", DELAY),
        Objective("starvation", "shares less evenly between two of its flows", SHARE, count=2),
        Objective(
            "harm",
            "leaves less to a flow of cubic-linux",
            replace(BY_NAME["harm"], metric="harm_goodput"),
            measure=measures.victims,
            with_victim=True,
        ),
        Objective("loss", "loses a larger share of its packets", LOSS),
        Objective(
            "stall",
            "delivers nothing for a longer time",
            Margin("stall", "", higher_is_better=False, difference=0.05),
            measure=stall,
            records=True,
        ),
        Objective(
            "unused", "leaves most of the path unused, whatever the baselines do", GOODPUT, absolute=True
        ),
    )
}


def replaced(table: Table, subject: Subject) -> Table:
    """Return a scenario with a control in the judged place: the flows with names that begin with c."""
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


def read_file(file: Path) -> tuple[Objective, Table]:
    """Read a saved adversary; a file that is not one raises a ScenarioError."""
    content = engine.text_of(file)
    named = [line.removeprefix(MARK) for line in content.splitlines() if line.startswith(MARK)]
    if len(named) != 1 or named[0] not in OBJECTIVES:
        raise engine.ScenarioError(
            f"{file}: needs one line {MARK}NAME, where NAME is one of {', '.join(OBJECTIVES)}"
        )
    table = engine.parse(content, str(file)).written()
    if not any(str(flow.get("name", "")).startswith("c") for flow in table.get("flow", [])):
        raise engine.ScenarioError(
            f"{file}: needs a flow for the judged control, with a name that begins with c"
        )
    return OBJECTIVES[named[0]], table


def read(directory: Path) -> Criterion:
    """Read a folder of adversaries back as a criterion with a cell per file.

    A folder without files, or a file that is not a saved adversary, raises a ScenarioError.
    """
    files = sorted(directory.glob("*.toml"))
    if not files:
        raise engine.ScenarioError(f"{directory}: contains no adversaries (NAME.toml)")
    cells = []
    for file in files:
        objective, table = read_file(file)
        cells.append(objective.cell(file.stem, table))

    def all_cells(_: Mode) -> list[Cell]:
        return cells

    return Criterion(
        "found",
        "",
        "",
        "Saved adversaries",
        "Each of these scenarios was found by a search, and in it some control does worse than CUBIC "
        "and Reno. Here the judged control takes its place.",
        all_cells,
    )
