"""The objectives of a search: the ways in which a control may do worse than CUBIC and Reno.

An outage, which hurts every control, does not count. As everywhere in an evaluation, the control is
compared with the more permissive of the baselines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ackclock.decision.paired import Margin
from ackclock.engine import Run
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import (
    DELAY,
    GOODPUT,
    LOSS,
    SHARE,
    Cell,
    CellMeasure,
    CellNumbers,
    Part,
    Parts,
    harm_margin,
)
from ackclock_evaluate.criteria.sharing import harm_of
from ackclock_evaluate.search.genome import Cast, Genome, Pattern
from ackclock_evaluate.setting import CUBIC, Subject

VICTIM = Subject(CUBIC)
"""The competing flow of the objective `harm`."""
HALF = 0.5
"""An objective without baselines is met when more than this share of the path is unused."""


def stall(run: Run) -> CellNumbers:
    """Measure the longest time without a delivery of any flow of the judged control.

    ``stall`` is a share of the length of the run, which must be recorded.
    """
    longest_s = 0.0
    end_s = run.summary["duration_s"]
    for flow in measures.flows(run, "c"):
        table = run.windows.filter(pl.col("flow") == flow["id"])
        times = table.filter(pl.col("delivered_bytes") > 0)["time_s"].to_numpy()
        samples = table["time_s"].to_numpy()
        first_s = float(samples[0]) if samples.size else 0.0
        gaps = np.diff([first_s, *times, end_s])
        longest_s = max(longest_s, float(gaps.max()))
    return {"stall": longest_s / end_s}


@dataclass(frozen=True)
class Objective:
    """A way in which a control may do badly."""

    name: str
    """Name on the command line."""
    about: str
    margin: Margin
    """The metric that is compared with the baselines, and the difference that matters."""
    genomes: tuple[str, ...]
    """Genomes that suit it; quick searches take the first two."""
    measure: CellMeasure = measures.general
    records: bool = False
    """Whether the measure needs tables over time."""
    count: int = 1
    """Number of flows of the judged control."""
    with_victim: bool = False
    """Whether a flow of CUBIC competes with them."""
    absolute: bool = False
    """Whether the control is judged by itself, whatever the baselines do."""

    def scale(self, genome: Genome, pattern: Pattern) -> float:
        """Return the unit that makes differences comparable between patterns.

        It is the capacity for a goodput, the round-trip time for a delay, and 1 for a share.
        """
        if self.margin.metric == "goodput":
            return genome.capacity_mbps(pattern)
        if self.margin.metric == "delay_p95":
            return genome.path(pattern).rtt_ms
        return 1.0

    def value(self, mine: float, baselines: Sequence[float], scale: float) -> float:
        """Return the value that a search maximises.

        It is how much worse the control does than the worse of the baselines in its place; for an
        absolute objective, the unused share of the path.
        """
        if self.absolute:
            return 1 - mine / scale
        if self.margin.higher_is_better:
            return (min(baselines) - mine) / scale
        return (mine - max(baselines)) / scale

    def cast(self, subject: Subject) -> Cast:
        """Return the senders, with a control in the judged place."""
        mine = [(subject, "c", self.count)]
        return [*mine, (VICTIM, "v", 1)] if self.with_victim else mine

    def parts(self, scenario: Table) -> Parts:
        """Return the parts of a cell: the scenario, and the victim alone where there is one."""
        parts = {"run": Part(scenario, self.measure, self.records)}
        if self.with_victim:
            victims = [flow for flow in scenario["flow"] if not flow["name"].startswith("c")]
            parts["solo"] = Part({**scenario, "flow": victims}, self.measure, self.records)
        return parts

    def cell(self, name: str, genome: Genome, pattern: Pattern) -> Cell:
        """Return a pattern as a cell of an evaluation, judged by the margin of the objective."""
        described = Cell(
            name,
            lambda subject: self.parts(genome.scenario(pattern, self.cast(subject))),
            judged=(self.margin,),
            drawn=True,
        )
        return replace(described, numbers=harm_of) if self.with_victim else described


OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective(
            "utilisation",
            "uses less of the path than the baselines",
            GOODPUT,
            ("capacity", "pulses", "path", "delay", "loss"),
        ),
        Objective(
            "delay", "keeps a longer queue than the baselines", DELAY, ("capacity", "delay", "pulses", "path")
        ),
        Objective(
            "starvation",
            "shares less evenly between two of its flows",
            SHARE,
            ("flow-delay", "capacity", "pulses"),
            count=2,
        ),
        Objective(
            "harm",
            "leaves less to a flow of cubic-linux",
            harm_margin("harm_goodput"),
            ("capacity", "path", "delay", "loss"),
            measure=measures.victims,
            with_victim=True,
        ),
        Objective(
            "loss", "loses a larger share of its packets", LOSS, ("capacity", "path", "pulses", "delay")
        ),
        Objective(
            "stall",
            "delivers nothing for a longer time",
            Margin("stall", "", higher_is_better=False, difference=0.05),
            ("capacity", "pulses", "loss", "delay"),
            measure=stall,
            records=True,
        ),
        Objective(
            "unused",
            "leaves most of the path unused, whatever the baselines do",
            GOODPUT,
            ("pulses", "path"),
            absolute=True,
        ),
    )
}
