"""The pictures of a comparison: answers, goodput against delay, windows."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ackclock.comparison.answers import Comparison
from ackclock.comparison.questions import QUESTIONS
from ackclock.draw import plots

COLUMNS = 3
"""Number of panels in a row."""


def answers(comparison: Comparison) -> Figure:
    """Draw every question as a panel with a point per control; infinite values are left out."""
    names = comparison.controls
    with plots.in_style():
        rows = -(-len(QUESTIONS) // COLUMNS)
        height = 0.55 + 0.16 * len(names)
        figure, panels = plots.panels(rows, columns=COLUMNS, height=height)
        figure.set_figwidth(1.35 * plots.WIDTH)
        for panel in panels[len(QUESTIONS) :]:
            panel.remove()
        for index, (panel, question) in enumerate(zip(panels, QUESTIONS, strict=False)):
            for row, name in enumerate(names):
                estimate = comparison.estimates[question.key][name]
                values = np.asarray(comparison.values[question.key][name], float)
                values = values[np.isfinite(values)]
                panel.plot(values, np.full(values.size, row), ".", color="0.6", markersize=3)
                if np.isfinite(estimate.value):
                    plots.errors(
                        panel,
                        [estimate.value],
                        [row],
                        [estimate.low],
                        [estimate.high],
                        index=row,
                        sideways=True,
                    )
                else:
                    panel.text(
                        0.02,
                        row,
                        "never" if np.isinf(estimate.value) else "-",
                        fontsize=7,
                        va="center",
                        transform=panel.get_yaxis_transform(),
                    )
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


def goodput_and_delay(comparison: Comparison) -> Figure:
    """Draw goodput against queueing delay of one flow alone: every run, and the mean."""
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
                    [x.value],
                    [y.value],
                    xerr=across,
                    yerr=up,
                    color=color,
                    marker=plots.style(index).get("marker", "o"),
                    markersize=5,
                    label=name,
                )
        panel.set(xlabel="queueing delay alone, mean (ms)", ylabel="goodput alone (Mbit/s)")
        panel.set_xlim(left=0)
        panel.set_ylim(0, 1.05 * comparison.setting.rate_mbps)
        panel.legend(fontsize=7)
    return figure


def windows(comparison: Comparison) -> Figure:
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
