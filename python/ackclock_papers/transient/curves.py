"""Pictures of runs over round trips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ackclock.engine import Run
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Traces
from ackclock.reproduction.numbers import Key, Numbers
from ackclock_papers.transient import measure
from ackclock_papers.transient.setting import Compared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {
    "rate": "packets\nper RTT",
    "window": "window\n(packets)",
    "queue": "queue\n(packets)",
    "fairness": "F",
}
"""Words at the axis, by column of `measure.trace`."""


@dataclass(frozen=True)
class Excerpt:
    """Round trips that pictures show, with a panel for each case.

    Attributes
    ----------
    first, last : int
        Both are shown.
    change : int, optional
        Where a line marks the change of the conditions.
    """

    first: int
    last: int
    change: int | None = None

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
        if isinstance(case, Compared):
            return None
        return measure.trace(run, self.first, self.last)

    def draw(self, column: str) -> Callable[[Numbers, Traces], Figure]:
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

        def draw(_numbers: Numbers, traces: Traces) -> Figure:
            return pictures.over_time(
                traces, {str(case): (case,) for case in traces}, column, LABELS[column],
                span=(self.first, self.last), x="round_trip", x_label="round trip",
                mark=self.change, height=1.3,
            )  # fmt: skip

        return draw


STEADY = Excerpt(800, 1000)
STEP = Excerpt(900, 1300, change=1000)
