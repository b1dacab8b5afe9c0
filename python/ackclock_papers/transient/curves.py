"""Figures of runs over round trips."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from ackclock.draw.figure import Group
from ackclock.engine import Run
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import CaseKey, Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import measure
from ackclock_papers.transient.setting import LossyFlow, ReferenceCase

LABELS = {
    "rate": "packets\nper RTT",
    "window": "window\n(packets)",
    "queue": "queue\n(packets)",
    "fairness": "F",
}
"""Labels of the axis, by column of `measure.trace`."""


@dataclass(frozen=True)
class Excerpt:
    """Figures that show the same round trips, with a panel for each case."""

    first: int
    last: int
    """Last round trip that is shown."""
    probe: Probe
    change: int | None = None
    """Round trip at which a line marks the change of conditions."""

    def figure(
        self,
        number: int,
        column: str,
        caption: str,
        *,
        about: str,
        cases: Callable[[Effort], Mapping[CaseKey, Case]],
        headline: bool = False,
    ) -> Simulated[CaseKey]:
        """Make the figure that draws `column`, a key of `LABELS`, with a panel per case."""
        return Simulated(
            name=f"figure-{number}",
            caption=caption,
            about=about,
            cases=cases,
            probe=self.probe,
            trace=self.trace,
            draw=self.draw(column),
            headline=headline,
        )

    def trace(self, case: Key, run: Run) -> pl.DataFrame | None:
        """Return what the figure shows of a run, or None for a case that is only compared with."""
        if isinstance(case, LossyFlow | ReferenceCase):
            return None
        return measure.trace(run, self.first, self.last)

    def draw(self, column: str) -> Callable[[Numbers, Traces], Group]:
        """Return the function that draws a column, a key of `LABELS`."""

        def draw(_numbers: Numbers, traces: Traces) -> Group:
            return figures.over_time(
                traces,
                {str(case): (case,) for case in traces},
                column,
                LABELS[column],
                span=(self.first, self.last),
                x="round_trip",
                x_label="round trip",
                mark=self.change,
                height=1.3,
            )

        return draw


def _response(run: Run) -> Row:
    """Measure how the rate of all flows responds to the change."""
    counted = measure.rounds(run)
    return measure.response_of(counted.sent, counted.change)._asdict()


STEADY = Excerpt(800, 1000, measure.STEADINESS)
STEP = Excerpt(900, 1300, Probe(measure.Response._fields, _response), change=1000)
