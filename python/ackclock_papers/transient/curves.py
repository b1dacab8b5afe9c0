"""Figures of runs over round trips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from ackclock.draw.figure import Group
from ackclock.engine import Run
from ackclock.reproduction import figures
from ackclock.reproduction.artefact import CaseKey, Claim, Probe, Simulated, Traces
from ackclock.reproduction.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import measure
from ackclock_papers.transient.setting import Compared, Lossy

LABELS = {
    "rate": "packets\nper RTT",
    "window": "window\n(packets)",
    "queue": "queue\n(packets)",
    "fairness": "F",
}
"""Words at the axis, by column of `measure.trace`."""


@dataclass(frozen=True)
class Excerpt:
    """Figures that show the same round trips, with a panel for each case.

    Attributes
    ----------
    first, last : int
        Both are shown.
    probe : Probe
        What is measured in a run.
    change : int, optional
        Where a line marks the change of the conditions.
    """

    first: int
    last: int
    probe: Probe
    change: int | None = None

    def figure(
        self,
        number: int,
        column: str,
        caption: str,
        *,
        about: str,
        cases: Callable[[Effort], Mapping[CaseKey, Case]],
        claims: Sequence[Claim],
        headline: bool = False,
    ) -> Simulated[CaseKey]:
        """Make a figure.

        Parameters
        ----------
        number : int
            As printed.
        column : str
            What is drawn, a key of `LABELS`.
        caption, about, cases, claims, headline
            As in `Simulated`.

        Returns
        -------
        Simulated
            A panel for each case that is not only compared with.
        """
        return Simulated(
            name=f"figure-{number}",
            caption=caption,
            about=about,
            cases=cases,
            probe=self.probe,
            trace=self.trace,
            draw=self.draw(column),
            claims=claims,
            headline=headline,
        )

    def trace(self, case: Key, run: Run) -> pl.DataFrame | None:
        """Select what is shown of a run.

        Parameters
        ----------
        case : hashable
            Its case.
        run : Run
            A recorded run.

        Returns
        -------
        polars.DataFrame or None
            As `measure.trace`; None for what the cases shown are only compared with.
        """
        if isinstance(case, Compared | Lossy):
            return None
        return measure.trace(run, self.first, self.last)

    def draw(self, column: str) -> Callable[[Numbers, Traces], Group]:
        """Choose the column that is drawn.

        Parameters
        ----------
        column : str
            A key of `LABELS`.

        Returns
        -------
        callable
            From numbers and traces to the picture.
        """

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
