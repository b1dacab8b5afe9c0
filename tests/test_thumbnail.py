"""Small drawings of figures: 120 by 72 units, of which 4 at each side stay free."""

from xml.etree import ElementTree

from ackclock.draw import thumbnail
from ackclock.draw.figure import Axis, Chart, Diagram, Group, Series, Table


def parsed(drawing):
    return ElementTree.fromstring(thumbnail.svg(drawing))  # noqa: S314


TO_2 = Axis("x", range=(0, 2))


def elements(*series, y=TO_2, **changes):
    drawing = Group([Chart("a", "a", TO_2, y, list(series), **changes)])
    root = parsed(drawing)
    assert root.get("aria-hidden") == "true"
    # Without the two axes.
    return list(root)[2:]


def test_a_line_goes_from_corner_to_corner():
    (line,) = elements(Series("a", 9, [0, 1, 2], [0, 1, 2]))
    assert line.get("points") == "4.0,68.0 60.0,36.0 116.0,4.0"
    # Nine is the second colour of eight.
    assert line.get("class") == "k1"


def test_a_logarithmic_axis_has_equal_decades_and_leaves_out_what_is_not_above_zero():
    y = Axis("y", range=(1, 100), log=True)
    (line,) = elements(Series("a", 0, [0, 0.5, 1, 2], [1, 0, 10, 100]), y=y)
    assert line.get("points") == "4.0,68.0 60.0,36.0 116.0,4.0"


def test_bars_stand_on_the_axis_or_on_each_other():
    first = Series("a", 0, [1], [1], look="bars")
    second = Series("b", 1, [1], [2], look="bars", base=[1])
    bars = elements(first, second, bar_width=0.5)
    # Half of a unit is a quarter of 112; the first bar is the lower half of the picture's 64.
    assert [(bar.get("y"), bar.get("height")) for bar in bars] == [("36.0", "32.0"), ("4.0", "32.0")]
    assert {(bar.get("x"), bar.get("width")) for bar in bars} == {("46.0", "28.0")}


def test_values_of_the_paper_are_marks_of_their_own():
    (mark,) = elements(Series("paper", 0, [1], [1], is_paper=True))
    assert (mark.tag, mark.get("class"), mark.get("cx"), mark.get("cy")) == (
        "circle",
        "paper",
        "60.0",
        "36.0",
    )


def test_a_long_curve_stays_small_and_keeps_its_peak():
    height = [0.0] * 10_000
    height[5000] = 2.0
    (line,) = elements(Series("a", 0, [place / 5000 for place in range(10_000)], height))
    places = line.get("points").split()
    assert len(places) <= thumbnail.MOST_PLACES + 2
    assert "60.0,4.0" in places


def test_what_has_no_axes_has_a_drawing_too():
    table = parsed(Table(["a", "b"], [[1, 2]]))
    assert [cell.get("class") for cell in table] == ["head", "head", "frame", "frame"]
    diagram = Diagram({"in": (0, 0.5), "out": (1, 0.5)}, [("in", "out", "10 ms")])
    tags = [part.tag for part in parsed(diagram)]
    assert tags == ["line", "circle", "circle"]
    assert len(parsed(None)) == 0
