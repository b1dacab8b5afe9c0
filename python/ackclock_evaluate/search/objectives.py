"""What a search looks for: scenarios in which a control does worse than CUBIC and Reno do there.

What hurts everybody, an outage, does not count. As everywhere in an evaluation the comparison is
with the more permissive of the baselines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ackclock.decision.paired import Margin
from ackclock.engine import Run
from ackclock_evaluate import measures
from ackclock_evaluate.cell import (
    DELAY,
    GOODPUT,
    LOSS,
    SHARE,
    Cell,
    Measure,
    Numbers,
    Part,
    Parts,
    harm_margin,
)
from ackclock_evaluate.criteria.sharing import harm_of
from ackclock_evaluate.search.genome import Cast, Genome, Pattern
from ackclock_evaluate.setting import CUBIC, Subject, Table

VICTIM = Subject(CUBIC)
"""Beside whom a control is put where harm to others is looked for."""
HALF = 0.5
"""An objective without baselines is met when less than this share of the path is used."""


def stall(run: Run) -> Numbers:
    """Measure the longest time in which nothing is delivered.

    Parameters
    ----------
    run : Run
        A recorded run.

    Returns
    -------
    dict
        ``stall``: over the flows of the judged control the longest, as a share of the run.
    """
    longest_s = 0.0
    end_s = run.summary["duration_s"]
    for flow in measures.flows(run, "c"):
        table = run.windows.filter(pl.col("flow") == flow["id"])
        times = table.filter(pl.col("delivered_bytes") > 0)["time_s"].to_numpy()
        there = table["time_s"].to_numpy()
        first_s = float(there[0]) if there.size else 0.0
        gaps = np.diff([first_s, *times, end_s])
        longest_s = max(longest_s, float(gaps.max()))
    return {"stall": longest_s / end_s}


@dataclass(frozen=True)
class Objective:
    """What is looked for.

    Attributes
    ----------
    name : str
        On the command line.
    about : str
        In a few words.
    margin : Margin
        What is compared with the baselines, and which difference matters.
    genomes : tuple of str
        What is varied for it; quick searches take the first two.
    measure : callable
        What is wanted of a run.
    records : bool
        Whether that needs tables over time.
    count : int
        Flows of the judged control.
    with_victim : bool
        Whether a flow of CUBIC is beside them.
    absolute : bool
        Whether it is what the control itself does that counts, whatever the baselines do.
    """

    name: str
    about: str
    margin: Margin
    genomes: tuple[str, ...]
    measure: Measure = measures.general
    records: bool = False
    count: int = 1
    with_victim: bool = False
    absolute: bool = False

    def scale(self, genome: Genome, pattern: Pattern) -> float:
        """Give the unit in which differences are comparable between patterns.

        Parameters
        ----------
        genome : Genome
            What varies.
        pattern : Pattern
            The pattern.

        Returns
        -------
        float
            Of goodput the capacity, of a delay the round-trip time, of a share 1.
        """
        if self.margin.metric == "goodput":
            return genome.capacity_mbps(pattern)
        if self.margin.metric == "delay_p95":
            return genome.path(pattern).rtt_ms
        return 1.0

    def value(self, mine: float, baselines: Sequence[float], scale: float) -> float:
        """Give what is maximised.

        Parameters
        ----------
        mine : float
            The number of the judged control.
        baselines : sequence of float
            The same of the baselines in its place.
        scale : float
            As `scale` gives it.

        Returns
        -------
        float
            How much worse than the worse of the baselines; for an absolute objective how much of
            the path is not used.
        """
        if self.absolute:
            return 1 - mine / scale
        if self.margin.higher_is_better:
            return (min(baselines) - mine) / scale
        return (mine - max(baselines)) / scale

    def cast(self, subject: Subject) -> Cast:
        """Say who sends.

        Parameters
        ----------
        subject : Subject
            The control in the judged place.

        Returns
        -------
        sequence
            As `Genome.scenario` takes it.
        """
        mine = [(subject, "c", self.count)]
        return [*mine, (VICTIM, "v", 1)] if self.with_victim else mine

    def parts(self, scenario: Table) -> Parts:
        """Say what is run and measured.

        Parameters
        ----------
        scenario : dict
            As a file holds it.

        Returns
        -------
        mapping
            As `Cell.parts` gives it.
        """
        found = {"run": Part(scenario, self.measure, self.records)}
        if self.with_victim:
            others = [flow for flow in scenario["flow"] if not flow["name"].startswith("c")]
            found["solo"] = Part({**scenario, "flow": others}, self.measure, self.records)
        return found

    def cell(self, name: str, genome: Genome, pattern: Pattern) -> Cell:
        """Give a pattern as a cell of an evaluation.

        Parameters
        ----------
        name : str
            Of the cell.
        genome : Genome
            What varies.
        pattern : Pattern
            The pattern.

        Returns
        -------
        Cell
            With the comparison that this objective is about.
        """
        described = Cell(
            name,
            lambda subject: self.parts(genome.scenario(pattern, self.cast(subject))),
            judged=(self.margin,),
            drawn=True,
        )
        return replace(described, numbers=harm_of) if self.with_victim else described


OBJECTIVES: dict[str, Objective] = {
    one.name: one
    for one in (
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
"""By name."""
