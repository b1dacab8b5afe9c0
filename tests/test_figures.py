"""Every figure of the papers says the same in print and on the page: names, ticks, ends, values."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.transforms import Bbox

from ackclock.draw import charts, plots, printed
from ackclock.draw.figure import PAPER, Axis, Chart, Group, Series, limits, resolved, ticks
from ackclock.reproduction.claims.artefact import Computed
from ackclock.reproduction.claims.figures import bar_chart, with_paper
from ackclock.reproduction.claims.numbers import Numbers
from ackclock.reproduction.claims.usual import mean, near
from every_figure import drawn

DRAWN = dict(drawn())
FIGURES = {name: drawing for name, drawing in DRAWN.items() if isinstance(drawing, Group)}


def as_written(group: Group) -> tuple[list[list[float]], list[dict[str, Any]]]:
    """Return the columns and charts that a page gets."""
    page = json.loads(charts.dump(group))
    columns = [[math.nan if value is None else value for value in column] for column in page["columns"]]
    return columns, page["groups"][""]["charts"]


def lines_of(panel: Axes) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the curves and points of a panel, without the caps of intervals."""
    lines = [line for line in panel.lines if line.get_marker() not in ("_", "|", 0, 1, 2, 3)]
    return [(np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)) for line in lines]


def test_all_figures_with_axes_are_described() -> None:
    # A picture without charts is a table or a diagram of nodes, and has no axes.
    pictures = [drawing for drawing in DRAWN.values() if not isinstance(drawing, Group)]
    for drawing in pictures:
        with plots.in_style():
            figure = printed.draw(drawing)
        assert not any(panel.axison for panel in figure.axes)
    assert len(FIGURES) > len(pictures) > 0


@pytest.mark.parametrize("name", FIGURES)
def test_print_and_page_agree(name: str) -> None:
    group = FIGURES[name]
    with plots.in_style():
        figure = printed.draw(group)
        figure.draw_without_rendering()
    columns, written = as_written(group)
    panels = [panel for panel in figure.axes if panel.axison]
    assert len(panels) == len(written) == len(group.charts)
    for panel, chart in zip(panels, written, strict=True):
        for key, spine, ends in (("x", panel.xaxis, panel.get_xlim()), ("y", panel.yaxis, panel.get_ylim())):
            axis = chart[key]
            np.testing.assert_allclose(sorted(ends), axis["range"], rtol=1e-9, atol=1e-12)
            assert [label.get_text() for label in spine.get_ticklabels()] == [
                word for _, word in axis["ticks"]
            ]
            np.testing.assert_allclose(spine.get_ticklocs(), [place for place, _ in axis["ticks"]], rtol=1e-9)
            assert (spine.get_scale() == "log") == bool(axis.get("log"))
        bars_of = [container for container in panel.containers if isinstance(container, BarContainer)]
        in_print = lines_of(panel)
        names = {*panel.get_legend_handles_labels()[1]}
        for record in chart["series"]:
            assert record["name"] in names
            x, y = (np.array(columns[record[key]]) for key in "xy")
            if record.get("look") == "bars":
                patches = bars_of.pop(0).patches
                middle = [bar.get_x() + bar.get_width() / 2 for bar in patches]
                np.testing.assert_allclose(middle, x, rtol=1e-5, atol=1e-9)
                base = np.array(columns[record["base"]]) if "base" in record else np.zeros(len(x))
                np.testing.assert_allclose([bar.get_y() for bar in patches], base, rtol=1e-5)
                top = [bar.get_y() + bar.get_height() for bar in patches]
                np.testing.assert_allclose(top, y, rtol=1e-5)
            elif not record.get("paper") or "bar_width" not in chart:
                place = next(
                    place
                    for place, (across, up) in enumerate(in_print)
                    if across.shape == x.shape
                    and np.allclose(across, x, rtol=1e-5, equal_nan=True)
                    and np.allclose(up, y, rtol=1e-5, equal_nan=True)
                )
                del in_print[place]
        assert not bars_of


@pytest.mark.parametrize("name", FIGURES)
def test_words_do_not_lie_on_each_other(name: str) -> None:
    """Titles, legends and panels in print: names stood on titles in three figures of a quick reproduction."""
    with plots.in_style():
        figure = printed.draw(FIGURES[name])
        figure.draw_without_rendering()
        panels = [panel for panel in figure.axes if panel.axison]
        boxes = []
        for panel in panels:
            titles = (panel.title, *(getattr(panel, f"_{side}_title") for side in ("left", "right")))
            boxes += [title.get_window_extent() for title in titles if title.get_text()]
            legend = panel.get_legend()
            boxes += [legend.get_window_extent()] if legend else []
        boxes += [legend.get_window_extent() for legend in figure.legends]
        boxes += [panel.get_window_extent() for panel in panels]
    for place, box in enumerate(boxes):
        for other in boxes[place + 1 :]:
            shared = Bbox.intersection(box, other)
            # Edges may touch: two points.
            edge = 2 / 72 * figure.dpi
            assert shared is None or min(shared.width, shared.height) <= edge, (box, other)


def test_every_value_lies_within_the_ends() -> None:
    for name, group in FIGURES.items():
        for chart in map(resolved, group.charts):
            for series in chart.series:
                y = np.asarray(series.y, float)
                low, high = chart.y.range or (math.nan, math.nan)
                if chart.y.names or not np.isfinite(y).any():
                    continue
                if FIGURES[name].charts[0].y.range is None:
                    assert np.nanmin(y) >= low, (name, chart.key)
                    assert np.nanmax(y) <= high, (name, chart.key)


@given(values=st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=20), is_log=st.booleans())
def test_ticks_are_few_and_within_the_ends(values: list[float], is_log: bool) -> None:
    axis = Axis("value", log=is_log)
    chart = Chart("a", "a", Axis("x"), axis, [Series("one", 0, range(len(values)), values)])
    low, high = limits(chart, "y")
    assert low <= min(values) <= max(values) <= high
    labelled = ticks(axis, (low, high))
    assert len(labelled) <= 12
    assert all(low * (1 - 1e-6) <= place <= high * (1 + 1e-6) for place, _ in labelled)
    assert len({word for _, word in labelled}) == len(labelled)


def test_a_logarithmic_axis_is_labelled_by_decades() -> None:
    # 2 to 5e6 has the powers from 10 to 10^6; 2 to 50 has too few, so 2, 5, 10, 20, 50.
    assert [word for _, word in ticks(Axis("a", log=True), (2.0, 5e6))] == [
        "10¹",
        "10²",
        "10³",
        "10⁴",
        "10⁵",
        "10⁶",
    ]
    words = [word for _, word in ticks(Axis("a", log=True), (2.0, 50.0))]
    assert words == ["2", "5", "10", "20", "50"]


def test_what_the_paper_states_is_a_grey_mark_at_our_bar() -> None:
    # The paper says 5 of the second number; of the first it says nothing.
    numbers = Numbers({"a": [{"rate": 3.0}] * 2, "b": [{"rate": 4.0}] * 2}, {})
    places = {"rate (Mbit/s)": [("a", "rate"), ("b", "rate")]}
    group = Group([bar_chart(numbers, ["A", "B"], places, "rate (Mbit/s)")])
    claim = near("b", "b is 5", mean("b", "rate"), 5, within=0.1, why="a test", unit="Mbit/s")
    artefact = Computed(name="b", caption="", about="", draw=None, compute=None, numbers={}, claims=[claim])
    (chart,) = with_paper(group, artefact.printed).charts
    measured, paper = chart.series
    assert (paper.name, paper.is_paper, list(paper.x), list(paper.y)) == (PAPER, True, [1], [5])
    np.testing.assert_array_equal(measured.y, [3, 4])
    # The mark is within the axis, too.
    assert limits(chart, "y")[1] > 5


def test_stacked_bars_keep_their_own_lengths() -> None:
    stacked = FIGURES["fit/figure-6"].charts[0]
    first, second, *_ = stacked.series
    np.testing.assert_allclose(np.asarray(second.base, float), np.asarray(first.y, float))
    assert (np.asarray(second.y, float) > np.asarray(second.base, float)).all()
