"""Pictures of an evaluation, drawn of numbers that are written by hand."""

import pytest

from ackclock.decision.comparisons import Margin
from ackclock.draw.figure import Chart
from ackclock_evaluate import figures
from ackclock_evaluate.cell import Cell, Criterion
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Measured


def result(cells: dict[str, tuple[dict, dict]], shown: str) -> CriterionResult:
    """Return a criterion with cells, each with its parameters and the numbers of every control."""
    margins = (Margin(shown, "ms", higher_is_better=False),)
    results = [
        CellResult(
            Cell(name, lambda _: {}, judged=margins, parameters=parameters),
            {control: Measured([numbers, numbers]) for control, numbers in by_control.items()},
            (),
            (),
        )
        for name, (parameters, by_control) in cells.items()
    ]
    return CriterionResult(Criterion("it", "1", "", "", "", shown=shown), results, "like", None, None)


def points(chart: Chart) -> dict[str, list[tuple[float, float]]]:
    return {
        series.name: [(float(x), float(y)) for x, y in zip(series.x, series.y, strict=True)]
        for series in chart.series
    }


def test_quantiles_are_drawn_where_all_of_them_are_known():
    whole = {"delay_p50": 10.0, "delay_p95": 20.0, "delay_p99": 40.0}
    quantiles = result(
        {
            "whole": ({}, {CANDIDATE: whole, "cubic-linux": whole | {"delay_p99": 80.0}}),
            "part": ({}, {CANDIDATE: {"delay_p95": 20.0}, "cubic-linux": whole}),
        },
        "delay_p95",
    )
    figure = figures.quantiles(quantiles, "mine")
    assert figure is not None
    (panel,) = figure.charts
    # -log10 of 0.5, 0.05 and 0.01.
    for name, last in (("mine", 40.0), ("cubic-linux", 80.0)):
        for expected, point in zip([(0.301, 10), (1.301, 20), (2, last)], points(panel)[name], strict=True):
            assert point == pytest.approx(expected, abs=1e-3)


def test_a_metric_without_percentiles_has_no_quantiles():
    assert figures.quantiles(result({"a": ({}, {CANDIDATE: {"loss": 0.1}})}, "loss"), "mine") is None


def test_a_ladder_is_per_flow_of_either_kind():
    cells = {
        f"{mine} next to {10 - mine}": (
            {"mine": mine, "others": 10 - mine, "victim": "reno"},
            # 4 Mbit/s for each flow of one kind, 6 for each of the other.
            {CANDIDATE: {"goodput": 4.0 * mine, "victim_goodput": 6.0 * (10 - mine)}},
        )
        for mine in (1, 5, 9)
    }
    figure = figures.ladder(result(cells, "goodput"), "mine")
    assert figure is not None
    (panel,) = figure.charts
    assert points(panel) == {"mine": [(1, 4), (5, 4), (9, 4)], "reno": [(1, 6), (5, 6), (9, 6)]}
    # Two steps are not a ladder.
    assert figures.ladder(result(dict(list(cells.items())[:2]), "goodput"), "mine") is None
