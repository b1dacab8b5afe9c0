"""The charts of a comparison's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.comparison.questions import QUESTIONS
from ackclock.draw.figure import SECONDS, Axis, Chart, Group, Series, numbered

if TYPE_CHECKING:
    from ackclock.comparison.answers import Comparison


def charts(comparison: Comparison) -> dict[str, Group]:
    """Return the groups of charts by their place on the page: goodput and delay, answers, one flow alone."""
    return {
        "goodput-delay": Group([_goodput_and_delay(comparison)], linked=False),
        "answers": Group(_answers(comparison), linked=False, columns=3),
        "alone": Group(_alone(comparison)),
    }


def _goodput_and_delay(comparison: Comparison) -> Chart:
    colours = numbered(comparison.controls)
    series = []
    for name, colour in colours.items():
        x, y = comparison.estimates["delay"][name], comparison.estimates["goodput"][name]
        dots = (comparison.values["delay"][name], comparison.values["goodput"][name])
        series.append(
            Series(
                name,
                colour,
                [x.value],
                [y.value],
                low=[y.low],
                high=[y.high],
                left=[x.low],
                right=[x.high],
                dots=dots,
            )
        )
    return Chart(
        "goodput-delay",
        "Goodput against queueing delay: higher and further left is better",
        Axis("queueing delay alone, mean", "ms"),
        Axis("goodput alone", "Mbit/s", range=(0.0, 1.05 * comparison.setting.path.rate_mbps)),
        series,
        kind="points",
    )


def _answers(comparison: Comparison) -> list[Chart]:
    colours = numbered(comparison.controls)
    panels = []
    for question in QUESTIONS:
        series = []
        for name, colour in colours.items():
            answer = comparison.estimates[question.key][name]
            values = comparison.values[question.key][name]
            series.append(
                Series(
                    name,
                    colour,
                    [answer.value],
                    [colour],
                    left=[answer.low],
                    right=[answer.high],
                    dots=(values, np.full(len(values), colour)),
                )
            )
        axes = Axis(question.title), Axis("control", names=comparison.controls)
        panels.append(Chart(question.key, question.title, *axes, series, kind="points"))
    return panels


def _alone(comparison: Comparison) -> list[Chart]:
    time = Axis(SECONDS.label, SECONDS.unit, range=(0.0, comparison.setting.run_s))
    curves = [
        (name, colour, comparison.curves[name]) for name, colour in numbered(comparison.controls).items()
    ]
    return [
        Chart(
            "window",
            "Congestion window (packets)",
            time,
            Axis("window", "packets"),
            [Series(name, colour, curve.time_s, curve.window) for name, colour, curve in curves],
        ),
        Chart(
            "goodput",
            "Goodput as it arrives, means of hundredths of the run (Mbit/s)",
            time,
            Axis("goodput", "Mbit/s"),
            [Series(name, colour, *curve.goodput) for name, colour, curve in curves],
        ),
        Chart(
            "queue",
            "Queue (packets)",
            time,
            Axis("queue", "packets"),
            [Series(name, colour, *curve.queue) for name, colour, curve in curves],
        ),
        Chart(
            "rtt_ms",
            "Round-trip time (ms)",
            time,
            Axis("RTT", "ms"),
            [Series(name, colour, curve.time_s, curve.rtt_ms) for name, colour, curve in curves],
        ),
    ]
