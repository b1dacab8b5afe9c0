"""An adversary over time, with the rates and queues of the control and of a baseline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ackclock.draw.figure import SECONDS, Axis, Chart, Group, Series
from ackclock_evaluate.cell import CellCurves
from ackclock_evaluate.search.again import Again
from ackclock_evaluate.search.saved import Adversary

CHANGES = "the path"
"""The name of the curve of what changes during a run."""


def figure(adversary: Adversary | Again) -> Group:
    """Return the charts of an adversary, as a search found it or as a saved file was rerun.

    They are what changes during a run, if anything does; the goodput of the flows in the judged place,
    with the control and with the more permissive baseline; and the queue.
    """
    end_s = float(adversary.curves["candidate"]["time"][-1])
    time = replace(SECONDS, range=(0.0, end_s))
    named = {"candidate": adversary.candidate, adversary.baseline: adversary.baseline}
    if adversary.candidate == adversary.baseline:
        named = {"candidate": adversary.candidate}
    rates: list[Series] = []
    queues: list[Series] = []
    for subject, name in named.items():
        curves = adversary.curves[subject]
        # The queue has the colour of the first curve of the control that it is a queue of.
        queues.append(Series(name, len(rates), curves["time"], curves["queue"]))
        for flow, rate in _rates(curves, apart=adversary.objective.count > 1).items():
            rates.append(Series(f"{name}, {flow}" if flow else name, len(rates), curves["time"], rate))
    charts = [
        Chart("goodput", "Goodput (Mbit/s)", time, Axis("goodput", "Mbit/s", range=(0.0, None)), rates),
        Chart("queue", "Queue (packets)", time, Axis("queue", "packets", range=(0.0, None)), queues),
    ]
    if adversary.timeline is not None:
        label, times, values = adversary.timeline
        changes = Series(CHANGES, BLACK, [*times, end_s], [*values, values[-1]], look="steps")
        charts.insert(0, Chart("path", label, time, Axis(label, range=(0.0, None)), [changes]))
    return Group(charts)


BLACK = 6
"""The number of the colour of text."""


def _rates(curves: CellCurves, *, apart: bool) -> dict[str, np.ndarray]:
    """Return the goodput of the flows in the judged place, their sum or each apart."""
    mine = {
        key.removeprefix("rate "): np.asarray(values)
        for key, values in curves.items()
        if key.startswith("rate c")
    }
    return mine if apart else {"": np.sum(list(mine.values()), axis=0)}
