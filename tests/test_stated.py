"""The numbers that papers state, as grey marks in our figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ackclock.draw import charts, plots, printed, thumbnail
from ackclock.draw.figure import PAPER, Axis, Chart, Group, Series, limits, resolved
from ackclock.reproduction.shown import page, published, stated
from ackclock.reproduction.shown.stated import Stated
from ackclock_papers import PAPERS
from every_figure import drawn

SAID = {
    f"{name}/{artefact}": numbers
    for name in PAPERS
    for artefact, numbers in stated.load(PAPERS[name].home).items()
}
FIGURE = Group([Chart("a", "a", Axis("time", "s"), Axis("rate"), [Series("ours", 0, [0, 2, 4], [1, 2, 3])])])


def marks_of(chart: Chart) -> list[Series]:
    return [series for series in chart.series if series.is_paper]


def test_a_level_goes_across_what_is_shown_and_a_position_up() -> None:
    marked = stated.marked(FIGURE, [Stated("section 1", level=2.5), Stated("section 2", at=3)])
    assert isinstance(marked, Group)
    level, at = marks_of(marked.charts[0])
    assert (list(level.x), list(level.y)) == ([0, 4], [2.5, 2.5])
    assert (list(at.x), list(at.y)) == ([3, 3], [1, 3])
    assert {level.name, at.name} == {PAPER}


def test_points_may_name_a_bar() -> None:
    bars = Series("ours", 0, [0, 1], [3, 4], look="bars")
    figure = Group([Chart("b", "b", Axis("", names=("Reno", "FIT")), Axis("rate"), [bars], kind="points")])
    marked = stated.marked(figure, [Stated("table 1", points=[("FIT", 5)])])
    assert isinstance(marked, Group)
    (points,) = marks_of(marked.charts[0])
    assert (list(points.x), list(points.y), points.look) == ([1], [5], "points")
    with pytest.raises(LookupError, match="no 'BIC' on the axis"):
        stated.marked(figure, [Stated("table 1", points=[("BIC", 5)])])
    with pytest.raises(LookupError, match="no chart c"):
        stated.marked(figure, [Stated("table 1", ("c",), level=5)])


def test_a_figure_that_was_written_grows_for_its_marks() -> None:
    read = charts.load(charts.dump(FIGURE))
    marked = stated.marked(read, [Stated("section 1", level=9)])
    assert isinstance(marked, Group)
    chart = resolved(marked.charts[0])
    # From 0, and a margin of 6 % of 9 - 1 above: the least value is 1.
    assert chart.y.range == pytest.approx((0, 9 + 0.06 * 8))
    assert [place for place, _ in chart.y.ticks] == [0, 2, 4, 6, 8]
    assert chart.x.range == (0, 4)


def test_a_mark_needs_its_place_and_one_kind_of_position() -> None:
    with pytest.raises(ValueError, match="needs its source"):
        Stated("", level=1)
    with pytest.raises(ValueError, match="either points, a level or a position"):
        Stated("section 1", level=1, at=2)


def test_print_thumbnail_and_page_have_the_line_in_grey() -> None:
    marked = stated.marked(FIGURE, [Stated("section 1", level=2.5)])
    assert isinstance(marked, Group)
    with plots.in_style():
        (panel,) = printed.draw(marked).axes
    line = panel.get_lines()[-1]
    assert (line.get_label(), line.get_color(), line.get_linestyle()) == (PAPER, "#777777", "--")
    legend = panel.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["ours", PAPER]
    assert 'polyline class="paper"' in thumbnail.svg(marked)
    assert '"paper":true' in charts.dump(marked)


def test_every_stated_number_belongs_to_an_artefact_of_its_paper() -> None:
    names = {f"{name}/{artefact.name}" for name, paper in PAPERS.items() for artefact in paper.artefacts}
    assert set(SAID) <= names
    assert len(SAID) >= 20
    for numbers in SAID.values():
        assert stated.sources(numbers)


def test_every_figure_has_its_marks() -> None:
    every = dict(drawn())
    for name, numbers in SAID.items():
        drawing = every[name]
        assert isinstance(drawing, Group), name
        keys = [chart.key for chart in drawing.charts if marks_of(chart)]
        wanted = {key for one in numbers for key in one.charts or [chart.key for chart in drawing.charts]}
        assert set(keys) >= wanted, name


def test_the_marks_of_published_figures_lie_within_the_axes(tmp_path: Path) -> None:
    known = {name: published.read(place) for name, place in published.folders(PAPERS.values()).items()}
    for paper, artefacts in known.items():
        published.unpack(artefacts, tmp_path / paper)
    shown = [name for name in SAID if name.split("/")[1] in known[name.split("/")[0]]]
    assert len(shown) >= 15
    for name in shown:
        drawing = page.figure(tmp_path / name, SAID[name])
        assert isinstance(drawing, Group), name
        for chart, mark in ((own, mark) for own in drawing.charts for mark in marks_of(own)):
            for of in ("x", "y"):
                low, high = limits(chart, of)
                values = np.asarray(getattr(mark, of), float)
                assert low <= values.min() <= values.max() <= high, (name, chart.key, of)
