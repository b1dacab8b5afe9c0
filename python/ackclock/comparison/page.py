"""What a comparison looks like: a table, two pictures, and a page with both."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ackclock import engine
from ackclock.comparison.answers import Comparison
from ackclock.comparison.charts import charts
from ackclock.comparison.conclusion import sentences
from ackclock.comparison.questions import QUESTIONS
from ackclock.comparison.words import words as words
from ackclock.draw import lab, plots
from ackclock.draw.charts import address
from ackclock.draw.page import html
from ackclock.engine import storage

COLUMNS = 3
"""Panels side by side."""


def _answers(comparison: Comparison) -> Figure:
    """Draw every question as a panel with a point per control; what is infinite is left out."""
    names = comparison.controls
    with plots.in_style():
        rows = -(-len(QUESTIONS) // COLUMNS)
        height = 0.55 + 0.16 * len(names)
        figure, panels = plots.panels(rows, columns=COLUMNS, height=height)
        figure.set_figwidth(1.35 * plots.WIDTH)
        for panel in panels[len(QUESTIONS) :]:
            panel.remove()
        for index, (panel, question) in enumerate(zip(panels, QUESTIONS, strict=False)):
            for place, name in enumerate(names):
                found = comparison.estimates[question.key][name]
                values = np.asarray(comparison.values[question.key][name], float)
                values = values[np.isfinite(values)]
                panel.plot(values, np.full(values.size, place), ".", color="0.6", markersize=3)
                if np.isfinite(found.value):
                    plots.errors(
                        panel, [found.value], [place], [found.low], [found.high], index=place,
                        sideways=True,
                    )  # fmt: skip
                else:
                    panel.text(
                        0.02, place, "never" if np.isinf(found.value) else "-", fontsize=7,
                        va="center", transform=panel.get_yaxis_transform(),
                    )  # fmt: skip
            panel.set_title(question.title, fontsize=7, loc="left")
            shown = names if index % COLUMNS == 0 else [""] * len(names)
            panel.set_yticks(range(len(names)), shown)
            panel.set_ylim(len(names) - 0.5, -0.5)
            panel.grid(visible=False, axis="y")
            panel.margins(x=0.1)
            low, high = panel.get_xlim()
            if low > 0 and low < 0.5 * high:
                panel.set_xlim(0, None)
    return figure


def _goodput_and_delay(comparison: Comparison) -> Figure:
    """Draw goodput against queueing delay, one flow alone: every run, and their mean."""
    with plots.in_style():
        figure, (panel,) = plots.panels(1, height=2.6)
        for index, name in enumerate(comparison.controls):
            color = plots.style(index)["color"]
            answers = {key: comparison.estimates[key][name] for key in ("delay", "goodput")}
            x, y = answers["delay"], answers["goodput"]
            runs = (comparison.values["delay"][name], comparison.values["goodput"][name])
            panel.plot(*runs, ".", color=color, alpha=0.4, markersize=4)
            if np.isfinite(x.value) and np.isfinite(y.value):
                across = None if np.isnan(x.low) else [[x.value - x.low], [x.high - x.value]]
                up = None if np.isnan(y.low) else [[y.value - y.low], [y.high - y.value]]
                panel.errorbar(
                    [x.value], [y.value], xerr=across, yerr=up, color=color,
                    marker=plots.style(index).get("marker", "o"), markersize=5, label=name,
                )  # fmt: skip
        panel.set(xlabel="queueing delay alone, mean (ms)", ylabel="goodput alone (Mbit/s)")
        panel.set_xlim(left=0)
        panel.set_ylim(0, 1.05 * comparison.setting.rate_mbps)
        panel.legend(fontsize=7)
    return figure


def _windows(comparison: Comparison) -> Figure:
    """Draw the window of each control alone: a panel per control, packets against seconds."""
    with plots.in_style():
        figure, panels = plots.panels(len(comparison.controls), height=1.3)
        for index, (panel, name) in enumerate(zip(panels, comparison.controls, strict=True)):
            curve = comparison.curves[name]
            panel.plot(curve.time_s, curve.window, color=plots.style(index)["color"])
            panel.set_title(name, fontsize=8, loc="left")
            panel.set(xlim=(0, comparison.setting.run_s), ylim=(0, None), ylabel="window")
        panels[-1].set_xlabel("time (s)")
    return figure


NAMES = frozenset(
    {"index.html", lab.NAME, "answers.csv", "answers.parquet", "scenarios", ".cache"}
    | {
        f"{one}.{ending}"
        for one in ("answers", "goodput-delay", "windows")
        for ending in ("pdf", "png")
    }
)


def write(comparison: Comparison, output: Path, command: str) -> None:
    """Write the page with its pictures, numbers and scenarios, each file whole.

    Parameters
    ----------
    comparison : Comparison
        The answers.
    output : Path
        Directory.
    command : str
        What makes the page again.

    Raises
    ------
    StorageError
        When something cannot be written.
    """
    with storage.explained(output):
        (output / "scenarios").mkdir(parents=True, exist_ok=True)
        links: dict[str, list[tuple[str, str, str]]] = {}
        laboratory = lab.page()
        if laboratory is not None:
            with storage.new_file(output / lab.NAME) as path:
                path.write_text(laboratory, "utf-8")
        for (name, control), scenario in comparison.scenarios.items():
            file = re.sub(r"[^A-Za-z0-9-]+", "-", f"{name} {control}") + ".json"
            with storage.new_file(output / "scenarios" / file) as path:
                path.write_text(json.dumps(scenario, indent=1) + "\n", "utf-8")
            links.setdefault(control, []).append((name, file, lab.NAME + lab.fragment(scenario)))
        with plots.in_style():
            for name, figure in (
                ("goodput-delay", _goodput_and_delay(comparison)),
                ("answers", _answers(comparison)),
                ("windows", _windows(comparison)),
            ):
                for ending in ("pdf", "png"):
                    made = {"CreationDate": None} if ending == "pdf" else None
                    with storage.new_file(output / f"{name}.{ending}") as path:
                        figure.savefig(path, format=ending, dpi=200, metadata=made)
        storage.write_table(comparison.table, output, "answers")
        storage.write_table(comparison.table, output, "answers", csv=True)
        text = html(
            "comparison.html",
            charts=charts(comparison),
            pictures={
                name: address((output / f"{name}.png").read_bytes())
                for name in ("goodput-delay", "answers", "windows")
            },
            controls=comparison.controls,
            path=comparison.setting.describe(),
            conclusion=sentences(comparison),
            rows=[
                (
                    one,
                    [
                        words(comparison.estimates[one.key][name], one)
                        for name in comparison.controls
                    ],
                )
                for one in QUESTIONS
            ],
            short=comparison.setting.run_s < comparison.setting.reno_cycle_s,
            cycle_s=comparison.setting.reno_cycle_s,
            command=command,
            links=links,
            has_lab=laboratory is not None,
            version=engine.__version__,
        )
        with storage.new_file(output / "index.html") as path:
            path.write_text(text, "utf-8")
