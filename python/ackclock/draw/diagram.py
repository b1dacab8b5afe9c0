"""A diagram of nodes and arrows as SVG, for a page."""

from __future__ import annotations

from xml.etree import ElementTree

from ackclock.draw.figure import Diagram

WIDTH, HEIGHT = 640.0, 230.0
"""The area in which nodes are placed."""
EDGE_X, EDGE_Y = 70.0, 30.0
"""Room for boxes and labels around the nodes."""
PER_LETTER = 7.5
MARGIN = 10.0
HALF_HEIGHT = 13.0
BEND = 0.35
"""How far an arrow that leads back is bent, as a share of its width."""


def svg(diagram: Diagram, title: str) -> str:
    """Return a diagram as an SVG element whose classes the style of the page colours.

    A backward arrow is bent, so that it does not cover the forward arrow.
    """
    heights = [_position(diagram, name)[1] for name in diagram.nodes]
    bends = [_position(diagram, end)[1] + _bend(diagram, start, end) / 2 for start, end, _ in diagram.arrows]
    top, bottom = min(heights) - EDGE_Y, max([*heights, *bends]) + EDGE_Y
    box = f"{-EDGE_X:g} {top:g} {WIDTH + 2 * EDGE_X:g} {bottom - top:g}"
    root = ElementTree.Element(
        "svg", {"class": "diagram", "viewBox": box, "role": "img", "aria-label": title}
    )
    for start, end, label in diagram.arrows:
        _arrow(root, diagram, start, end, label)
    for name in diagram.nodes:
        x, y = _position(diagram, name)
        half = _half_width(name)
        ends = {"x": x - half, "y": y - HALF_HEIGHT, "width": 2 * half, "height": 2 * HALF_HEIGHT}
        ElementTree.SubElement(root, "rect", {"rx": "5"} | _texts(ends))
        _label(root, x, y + 4, name)
    return ElementTree.tostring(root, encoding="unicode")


def _position(diagram: Diagram, name: str) -> tuple[float, float]:
    x, y = diagram.nodes[name]
    return x * WIDTH, (1 - y) * HEIGHT


def _bend(diagram: Diagram, start: str, end: str) -> float:
    """Return how far below the line between two nodes their arrow is bent."""
    return BEND * max(0.0, _position(diagram, start)[0] - _position(diagram, end)[0])


def _half_width(name: str) -> float:
    return MARGIN + PER_LETTER * len(name) / 2


def _arrow(root: ElementTree.Element, diagram: Diagram, start: str, end: str, label: str) -> None:
    (x0, y0), (x1, y1) = _position(diagram, start), _position(diagram, end)
    bend = _bend(diagram, start, end)
    # The curve bends towards this point, and leaves and meets the boxes in its direction.
    x, y = (x0 + x1) / 2, (y0 + y1) / 2 + bend
    first = _edge(x0, y0, x, y, _half_width(start))
    last = _edge(x1, y1, x, y, _half_width(end))
    path = f"M{first[0]:.1f} {first[1]:.1f}Q{x:.1f} {y:.1f} {last[0]:.1f} {last[1]:.1f}"
    ElementTree.SubElement(root, "path", {"d": path})
    # The head: a triangle at the end of the curve.
    far = ((last[0] - x) ** 2 + (last[1] - y) ** 2) ** 0.5 or 1.0
    along, across = (last[0] - x) / far, (last[1] - y) / far
    corners = [(last[0], last[1])] + [
        (last[0] - 9 * along - side * across, last[1] - 9 * across + side * along) for side in (3.5, -3.5)
    ]
    points = " ".join(f"{corner_x:.1f},{corner_y:.1f}" for corner_x, corner_y in corners)
    ElementTree.SubElement(root, "polygon", {"points": points})
    if label:
        _label(root, x, (y0 + y1) / 2 + bend / 2 + (16 if bend else -8), label, "label")


def _edge(x: float, y: float, to_x: float, to_y: float, half_width: float) -> tuple[float, float]:
    """Return where the line from the middle of a box to another place leaves the box."""
    across, up = to_x - x, to_y - y
    share = min(
        half_width / abs(across) if across else float("inf"),
        HALF_HEIGHT / abs(up) if up else float("inf"),
        1.0,
    )
    return x + share * across, y + share * up


def _label(root: ElementTree.Element, x: float, y: float, text: str, kind: str = "node") -> None:
    attributes = {"class": kind, "text-anchor": "middle"} | _texts({"x": x, "y": y})
    ElementTree.SubElement(root, "text", attributes).text = text


def _texts(numbers: dict[str, float]) -> dict[str, str]:
    return {name: f"{number:.1f}" for name, number in numbers.items()}
