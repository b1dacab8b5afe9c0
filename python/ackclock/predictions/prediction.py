"""What a prediction is: formulas at some points, beside what the simulation gives there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl
from numpy.typing import ArrayLike

from ackclock.draw import latex, plots
from ackclock.metrics import Estimate, over_runs
from ackclock.models.laws import Array
from ackclock.runs import Case, measure_all

if TYPE_CHECKING:
    from ackclock.engine import Run


T = TypeVar("T")
Row = dict[str, Any]
"""A point of a prediction: numbers and words by column."""


@dataclass(frozen=True)
class Simulation:
    """How predictions are compared with simulations.

    Attributes
    ----------
    runs : int
        Runs of each scenario, each with other random streams.
    jobs : int, optional
        Runs at once; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler, whose workers make the runs.
    """

    runs: int = 5
    jobs: int | None = None
    cluster: str | None = None

    def estimate(
        self, scenarios: Sequence[Mapping[str, object]], measure: Callable[[Run], float]
    ) -> list[Estimate]:
        """Simulate scenarios and estimate one number of each.

        Parameters
        ----------
        scenarios : sequence of mapping
            As for `each`.
        measure : callable
            The number, from a recorded run; it is positive or 0.

        Returns
        -------
        list of Estimate
            Mean over the runs with its interval.
        """
        return [over_runs(values, least=0.0) for values in self.each(scenarios, measure)]

    def each(self, scenarios: Sequence[Mapping[str, object]], measure: Callable[[Run], T]) -> list[list[T]]:
        """Simulate scenarios and ask something of every run.

        Parameters
        ----------
        scenarios : sequence of mapping
            As in scenario files.
        measure : callable
            The question, to a recorded run.

        Returns
        -------
        list of list
            The answers by scenario and run.
        """
        cases = [Case(scenario, self.runs) for scenario in scenarios]
        return measure_all(cases, measure, self.jobs, self.cluster)

    def once(
        self, scenarios: Sequence[Mapping[str, object] | None], measure: Callable[[Run], Estimate]
    ) -> list[Estimate]:
        """Simulate scenarios in which nothing is random, each once.

        Parameters
        ----------
        scenarios : sequence of mapping
            As for `each`; None for what cannot be simulated.
        measure : callable
            The estimate, from a recorded run.

        Returns
        -------
        list of Estimate
            One for each scenario, NaN for None.
        """
        cases = [Case(scenario) for scenario in scenarios if scenario is not None]
        found = iter(measure_all(cases, measure, self.jobs, self.cluster))
        missing = Estimate(float("nan"), float("nan"), float("nan"), 0)
        return [missing if one is None else next(found)[0] for one in scenarios]


@dataclass(frozen=True, repr=False)
class Prediction:
    """Numbers of a model, and of the simulation beside them.

    Attributes
    ----------
    title : str
        What is predicted.
    points : polars.DataFrame
        One row per point: the columns `hue` and `x`, `predicted`, and when simulated `simulated`,
        `low`, `high` (95 % interval).
    x, hue : str
        Columns along the axis and of the curves.
    x_label, y_label : str
        Labels of the axes, with units.
    line : polars.DataFrame, optional
        Columns `hue`, `x` and `predicted` of a finer curve for the picture.
    log_x, log_y : bool
        Logarithmic axes.
    notes : tuple of str
        What must be known to read the numbers.
    """

    title: str
    points: pl.DataFrame
    x: str
    hue: str
    x_label: str
    y_label: str
    line: pl.DataFrame | None = None
    log_x: bool = False
    log_y: bool = False
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Prediction: {self.title}; {self.points.height} points>"

    def _repr_png_(self) -> bytes:
        with plots.in_style():
            return self.draw()._repr_png_()

    def to_latex(self) -> str:
        """Write the points as a table for LaTeX, with the rules of booktabs.

        Returns
        -------
        str
            A tabular.
        """
        return latex.table(self.points.columns, self.points.rows())

    def draw(self) -> plots.Picture:
        """Draw the predicted curves and the simulated points with their intervals.

        Returns
        -------
        Figure
            One panel.
        """
        figure, (panel,) = plots.panels(1, height=4.0)
        names = self.points[self.hue].unique(maintain_order=True).to_list()
        words = self.points[self.x].dtype == pl.String
        simulated = "simulated" in self.points.columns
        places = self.points[self.x].unique(maintain_order=True).to_list()
        for index, name in enumerate(names):
            style = plots.style(index)
            own = self.points.filter(pl.col(self.hue) == name)
            line = own if self.line is None else self.line.filter(pl.col(self.hue) == name)
            if words:
                # Words have no order to be joined by.
                style["linestyle"] = "none"
                panel.plot(
                    [places.index(place) for place in line[self.x]],
                    line["predicted"],
                    marker="_",
                    markersize=16,
                    label=None if simulated else str(name),
                    **style,
                )
            else:
                panel.plot(line[self.x], line["predicted"], label=str(name), **style)
            if simulated:
                known = own.filter(pl.col("simulated").is_not_null())
                x = [places.index(place) for place in known[self.x]] if words else known[self.x]
                plots.errors(
                    panel,
                    x,
                    known["simulated"],
                    known["low"],
                    known["high"],
                    index=index,
                    label=str(name) if words else None,
                    joined=False,
                )
        if words:
            panel.set_xticks(range(len(places)), places)
            panel.set_xlim(-0.5, len(places) - 0.5)
        panel.set(xlabel=self.x_label, ylabel=self.y_label)
        if self.log_x:
            panel.set_xscale("log")
        if self.log_y:
            panel.set_yscale("log")
        plots.legend(panel, min(4, len(names)))
        return figure


def check_names(names: Collection[str], known: Collection[str], what: str) -> None:
    """Refuse names of controls that nothing is known of.

    Parameters
    ----------
    names : collection of str
        Names that were asked for.
    known : collection of str
        Those that there are.
    what : str
        What is known of these.

    Raises
    ------
    LookupError
        When one is not among them; the message lists those that are.
    """
    for name in names:
        if name not in known:
            raise LookupError(f"no {what} of {name!r}; there are {', '.join(known)}")


def curves(hue: str, x: str, at: Array, formulas: Mapping[str, Callable[[Array], ArrayLike]]) -> pl.DataFrame:
    """Evaluate formulas at many points.

    Parameters
    ----------
    hue, x : str
        Columns for the names of the formulas and for the points.
    at : ndarray
        The points.
    formulas : mapping
        Each by its name, from the points to the numbers.

    Returns
    -------
    polars.DataFrame
        `Prediction.line`.
    """
    return pl.concat(
        pl.DataFrame({hue: name, x: at, "predicted": formula(at)}) for name, formula in formulas.items()
    )


def with_simulated(rows: Sequence[Mapping[str, object]], estimates: Sequence[Estimate]) -> pl.DataFrame:
    """Put what was simulated beside what was predicted.

    Parameters
    ----------
    rows : sequence of mapping
        The predicted points.
    estimates : sequence of Estimate
        One for each, or none at all.

    Returns
    -------
    polars.DataFrame
        `Prediction.points`.
    """
    if not estimates:
        return pl.DataFrame(list(rows), infer_schema_length=None)
    joined = [
        {**row, "simulated": one.value, "low": one.low, "high": one.high}
        for row, one in zip(rows, estimates, strict=True)
    ]
    frame = pl.DataFrame(joined, infer_schema_length=None)
    return frame.with_columns(pl.col("simulated", "low", "high").fill_nan(None))
