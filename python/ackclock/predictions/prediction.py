"""The type of predictions: formulas at some points, next to simulated values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl
from numpy.typing import ArrayLike

from ackclock.draw import latex, plots
from ackclock.metrics import Estimate, over_runs
from ackclock.models.laws import Array
from ackclock.names import hint
from ackclock.predictions.subjects import SUBJECTS
from ackclock.runs import Case, measure_all

if TYPE_CHECKING:
    from ackclock.engine import Run


T = TypeVar("T")
PointRow = dict[str, Any]
"""A point of a prediction: numbers and words by column."""


@dataclass(frozen=True)
class Simulation:
    """Parameters of the simulations that predictions are compared with.

    Attributes
    ----------
    runs : int
        Runs of each scenario, each with different random streams.
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
        """Simulate scenarios and return for each the mean over runs of a measure that is not negative."""
        return [over_runs(values, least=0.0) for values in self.each(scenarios, measure)]

    def each(self, scenarios: Sequence[Mapping[str, object]], measure: Callable[[Run], T]) -> list[list[T]]:
        """Simulate scenarios and return what `measure` returns for a recorded run, by scenario and run."""
        cases = [Case(scenario, self.runs) for scenario in scenarios]
        return measure_all(cases, measure, self.jobs, self.cluster)

    def once(
        self, scenarios: Sequence[Mapping[str, object] | None], measure: Callable[[Run], Estimate]
    ) -> list[Estimate]:
        """Simulate scenarios in which nothing is random, each once, and return the estimate of `measure`.

        None stands for a point that cannot be simulated; its estimate is NaN.
        """
        cases = [Case(scenario) for scenario in scenarios if scenario is not None]
        measured = iter(measure_all(cases, measure, self.jobs, self.cluster))
        missing = Estimate(float("nan"), float("nan"), float("nan"), 0)
        return [missing if scenario is None else next(measured)[0] for scenario in scenarios]


@dataclass(frozen=True, repr=False)
class Prediction:
    """Numbers of a model, next to those of the simulation.

    Attributes
    ----------
    title : str
        Title of the table and the picture.
    points : polars.DataFrame
        One row per point: the columns `hue` and `x`, `predicted`, and when simulated `simulated`,
        `low`, `high` (95 % interval).
    x, hue : str
        Column along the axis, and column whose values get curves.
    x_label, y_label : str
        Labels of the axes, with units.
    line : polars.DataFrame, optional
        Columns `hue`, `x` and `predicted` of a finer curve for the picture.
    log_x, log_y : bool
        Whether the axes are logarithmic.
    notes : tuple of str
        Remarks that are needed to read the numbers.
    profile : str
        Profile of the simulated senders, as in scenarios; empty when nothing was simulated.
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
    profile: str = ""

    def __repr__(self) -> str:
        return f"<Prediction: {self.title}; {self.points.height} points>"

    def _repr_png_(self) -> bytes:
        with plots.in_style():
            return self.draw()._repr_png_()

    def to_latex(self) -> str:
        """Return the points as a LaTeX table with the rules of booktabs."""
        return latex.table(self.points.columns, self.points.rows(), profile=self.profile)

    def draw(self) -> plots.Picture:
        """Draw the predicted curves and the simulated points with their intervals, in one panel."""
        figure, (panel,) = plots.panels(1, height=4.0)
        names = self.points[self.hue].unique(maintain_order=True).to_list()
        categorical = self.points[self.x].dtype == pl.String
        simulated = "simulated" in self.points.columns
        categories = self.points[self.x].unique(maintain_order=True).to_list()
        for index, name in enumerate(names):
            style = plots.style(index)
            own = self.points.filter(pl.col(self.hue) == name)
            line = own if self.line is None else self.line.filter(pl.col(self.hue) == name)
            if categorical:
                # Categories have no order for a line to follow.
                style["linestyle"] = "none"
                panel.plot(
                    [categories.index(value) for value in line[self.x]],
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
                x = [categories.index(value) for value in known[self.x]] if categorical else known[self.x]
                plots.errors(
                    panel,
                    x,
                    known["simulated"],
                    known["low"],
                    known["high"],
                    index=index,
                    label=str(name) if categorical else None,
                    joined=False,
                )
        if categorical:
            panel.set_xticks(range(len(categories)), categories)
            panel.set_xlim(-0.5, len(categories) - 0.5)
        panel.set(xlabel=self.x_label, ylabel=self.y_label)
        if self.log_x:
            panel.set_xscale("log")
        if self.log_y:
            panel.set_yscale("log")
        plots.name_profile(panel, self.profile)
        plots.legend(panel, min(4, len(names)))
        return figure


def check_names(names: Collection[str], known: Collection[str], what: str) -> None:
    """Raise LookupError for a control without a formula; `what` names the formula in the message."""
    for name in names:
        if name not in known:
            raise LookupError(f"no {what} of {name!r}; {hint(name, known)}")


def of_subject(
    subject: str,
    rows: Sequence[PointRow],
    estimates: Sequence[Estimate] = (),
    line: pl.DataFrame | None = None,
    **numbers: object,
) -> Prediction:
    """Return the prediction of a subject from its points, and from their estimates if there are any.

    Title and axes are those of `SUBJECTS`; `numbers` are the fields of the title.
    """
    named = [field.name for field in fields(Prediction) if field.name in SUBJECTS[subject]]
    described = {name: SUBJECTS[subject][name] for name in named}
    described["title"] = described["title"].format(**numbers)
    described["notes"] = tuple(described.get("notes", ()))
    return Prediction(points=with_simulated(rows, estimates), line=line, **described)


def curves(hue: str, x: str, at: Array, formulas: Mapping[str, Callable[[Array], ArrayLike]]) -> pl.DataFrame:
    """Return the values of formulas at many points, as `Prediction.line`."""
    return pl.concat(
        pl.DataFrame({hue: name, x: at, "predicted": formula(at)}) for name, formula in formulas.items()
    )


def with_simulated(rows: Sequence[Mapping[str, Any]], estimates: Sequence[Estimate]) -> pl.DataFrame:
    """Return `Prediction.points`: the predicted points joined with their estimates, if there are any."""
    if not estimates:
        return pl.DataFrame(list(rows), infer_schema_length=None)
    joined = [
        {**row, "simulated": estimate.value, "low": estimate.low, "high": estimate.high}
        for row, estimate in zip(rows, estimates, strict=True)
    ]
    frame = pl.DataFrame(joined, infer_schema_length=None)
    return frame.with_columns(pl.col("simulated", "low", "high").fill_nan(None))
