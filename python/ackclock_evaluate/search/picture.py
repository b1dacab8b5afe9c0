"""An adversary over time, with the rates and queues of the control and of a baseline."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ackclock.draw import plots
from ackclock_evaluate.cell import CellCurves
from ackclock_evaluate.search.again import Again
from ackclock_evaluate.search.saved import Adversary


def picture(adversary: Adversary | Again) -> Figure:
    """Draw an adversary, as a search found it or as a saved file was rerun.

    The panels are what changes during a run, if anything does; the goodput of the flows in the
    judged place, with the control and with the more permissive baseline; and the queue.
    """
    with plots.in_style():
        rows = 2 if adversary.timeline is None else 3
        figure, panels = plots.panels(rows, height=1.3)
        if adversary.timeline is not None:
            label, times, values = adversary.timeline
            end_s = _end_s(adversary)
            panels[0].step([*times, end_s], [*values, values[-1]], where="post", color="black")
            panels[0].set_ylabel(label)
        rates, queues = panels[-2:]
        named = {"candidate": adversary.candidate, adversary.baseline: adversary.baseline}
        if adversary.candidate == adversary.baseline:
            named = {"candidate": adversary.candidate}
        index = 0
        for subject, name in named.items():
            curves = adversary.curves[subject]
            for flow, rate in _rates(curves, apart=adversary.objective.count > 1).items():
                label = f"{name}, {flow}" if flow else name
                rates.plot(curves["time"], rate, label=label, **plots.style(index))
                index += 1
        for position, subject in enumerate(named):
            curves = adversary.curves[subject]
            look = plots.style(position if index == len(named) else 2 * position)
            queues.plot(curves["time"], curves["queue"], **look)
        rates.set_ylabel("goodput (Mbit/s)")
        queues.set_ylabel("queue (packets)")
        queues.set_xlabel("time (s)")
        plots.legend(rates, columns=index)
        for panel in panels:
            panel.set_xlim(0, _end_s(adversary))
            panel.set_ylim(bottom=0)
    return figure


def _end_s(adversary: Adversary | Again) -> float:
    return float(adversary.curves["candidate"]["time"][-1])


def _rates(curves: CellCurves, *, apart: bool) -> dict[str, np.ndarray]:
    """Return the goodput of the flows in the judged place, their sum or each apart."""
    mine = {
        key.removeprefix("rate "): np.asarray(values)
        for key, values in curves.items()
        if key.startswith("rate c")
    }
    if apart:
        return mine
    together = np.sum(list(mine.values()), axis=0)
    return {"": together}
