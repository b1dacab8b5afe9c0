"""The common picture style: readable in print, without colour, and by the colour-blind."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

# Okabe and Ito's palette; line styles distinguish the curves without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)), "-")
MARKERS = "osD^v<>Px*"

# Made by `scripts/font` and nine times smaller than DejaVu Sans, which Matplotlib would take apart anew for
# every PDF. Letters that it lacks come from there.
font_manager.fontManager.addfont(Path(__file__).with_name("AckclockSans.ttf"))

STYLE: dict[str, Any] = {
    "font.family": ["Ackclock Sans", "DejaVu Sans"],
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 0.9,
    "pdf.fonttype": 42,
    "path.simplify_threshold": 0.2,
}
WIDTH = 6.5
"""Width of a picture: the text width of a page, inches."""
SCREEN_DPI = 130
"""Resolution of pictures in notebooks, for the text width of most of them."""


class Picture(Figure):
    """A figure that a notebook shows when it is the value of a cell."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=SCREEN_DPI)
        return buffer.getvalue()


def panels(rows: int, *, height: float = 1.7, columns: int = 1) -> tuple[Picture, list[Axes]]:
    """Return a picture and its panels, row by row; `height` is the height of a panel in inches."""
    figure = Picture(figsize=(WIDTH, rows * height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [panel for row in axes for panel in row]


def name_profile(panel: Axes, profile: str) -> None:
    """Write the profile of the senders above a panel, at its right; nothing where it is unknown."""
    if profile not in ("", "-"):
        panel.set_title(f"profile {profile}", loc="right", fontsize="small")


def style(index: int) -> dict[str, Any]:
    """Return the colour and line style of a curve by its number, from 0, as arguments of `Axes.plot`."""
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": LINES[index % len(LINES)]}


def marker(index: int) -> str:
    """Return the marker of a curve by its number, from 0."""
    return MARKERS[index % len(MARKERS)]


def errors(
    panel: Axes,
    x: ArrayLike,
    y: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    index: int = 0,
    label: str | None = None,
    joined: bool = True,
    sideways: bool = False,
) -> None:
    """Draw values with intervals in y or, `sideways`, in x; NaN or None marks a value without one.

    `index` is the number of the curve, from 0, which gives its colour, line and marker.
    """
    value, start, end = (np.asarray(column, float) for column in (x if sideways else y, low, high))
    half = np.maximum(np.nan_to_num([value - start, end - value]), 0)
    look = style(index) if joined else {"color": style(index)["color"], "linestyle": "none"}
    panel.errorbar(
        x,
        y,
        **{"xerr" if sideways else "yerr": half},
        marker=MARKERS[index % len(MARKERS)],
        markersize=3.5,
        capsize=2,
        label=label,
        **look,
    )


def legend(panel: Axes, columns: int) -> None:
    """Put the legend above the panel, where no data is drawn."""
    panel.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=columns, handlelength=3)


def save(figure: Figure, file: Path | io.BytesIO, ending: str) -> None:
    """Write a picture (200 dots per inch); its bytes depend on the figure and not on the clock."""
    date = {"pdf": "CreationDate", "svg": "Date"}.get(ending)
    # Names in an SVG are random without it.
    with mpl.rc_context({"svg.hashsalt": "ackclock"}):
        dpi = "figure" if ending == "pdf" else 200
        # In memory first: Matplotlib's own way out of a disk that fails ends with another error.
        whole = io.BytesIO()
        figure.savefig(whole, format=ending, dpi=dpi, metadata={date: None} if date else None)
    if isinstance(file, Path):
        file.write_bytes(whole.getvalue())
    else:
        file.write(whole.getvalue())


def rendered(figure: Figure, name: str) -> dict[str, bytes]:
    """Return the files of a picture: `name`.pdf (vectors) and `name`.png (200 dots per inch)."""
    files = {}
    for ending in ("pdf", "png"):
        content = io.BytesIO()
        save(figure, content, ending)
        files[f"{name}.{ending}"] = content.getvalue()
        # The layout is kept: computing it again would be a fifth of a picture's time.
        figure.set_layout_engine("none")
    return files


def in_style() -> AbstractContextManager[None]:
    """Return a context manager that sets the common style, and afterwards restores the previous one."""
    return mpl.rc_context(cast(Any, STYLE))
