"""An adversary over time, with the rates and queues of the control and of a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ackclock import engine
from ackclock.draw.figure import SECONDS, Axis, Chart, Group, Series
from ackclock.engine.build import Table
from ackclock_evaluate.cell import CellCurves
from ackclock_evaluate.results import CANDIDATE
from ackclock_evaluate.saved import Objective
from ackclock_search.saved import Adversary

CHANGES = "the path"
"""The name of the curve of changes during a run."""
BLACK = 6
"""The number of the colour of text."""
TimelineCurve = tuple[str, list[float], list[float]]
"""Changes over time: label with unit, times in seconds, values that hold from them."""


def figure(adversary: Adversary) -> Group:
    """Return the charts of an adversary that a search has found."""
    names = {CANDIDATE: adversary.candidate, adversary.baseline: adversary.baseline}
    return charts(adversary.objective, adversary.scenario, names, adversary.curves)


def charts(
    objective: Objective, scenario: Table, names: Mapping[str, str], curves: Mapping[str, CellCurves]
) -> Group:
    """Return charts of the changes during a run, and of goodput and queue of the judged flows."""
    end_s = float(curves[CANDIDATE]["time"][-1])
    time = replace(SECONDS, range=(0.0, end_s))
    # A baseline that is compared with itself is drawn once.
    distinct = {name: subject for subject, name in reversed(list(names.items()))}
    rates: list[Series] = []
    queues: list[Series] = []
    for name, subject in reversed(list(distinct.items())):
        lines = curves[subject]
        if not lines:
            # Where the objective needs no baseline, none has been run.
            continue
        # The queue has the colour of the first curve of the control that it is a queue of.
        queues.append(Series(name, len(rates), lines["time"], lines["queue"]))
        for flow, rate in _rates(lines, apart=objective.count > 1).items():
            rates.append(Series(f"{name}, {flow}" if flow else name, len(rates), lines["time"], rate))
    drawn = [
        Chart("goodput", "Goodput (Mbit/s)", time, Axis("goodput", "Mbit/s", range=(0.0, None)), rates),
        Chart("queue", "Queue (packets)", time, Axis("queue", "packets", range=(0.0, None)), queues),
    ]
    changing = timeline(scenario)
    if changing is not None:
        label, times, values = changing
        changes = Series(CHANGES, BLACK, [*times, end_s], [*values, values[-1]], look="steps")
        drawn.insert(0, Chart("path", label, time, Axis(label, range=(0.0, None)), [changes]))
    return Group(drawn)


def _rates(curves: CellCurves, *, apart: bool) -> dict[str, np.ndarray]:
    """Return the goodput of the flows in the judged place, their sum or each apart."""
    mine = {
        key.removeprefix("rate "): np.asarray(values)
        for key, values in curves.items()
        if key.startswith("rate c")
    }
    return mine if apart else {"": np.sum(list(mine.values()), axis=0)}


def timeline(table: Table) -> TimelineCurve | None:
    """Return how a key of a link, or the rate of pulses, changes during a scenario; None if nothing does."""
    for flow in table["flow"]:
        if "pulse" in flow:
            return _pulses(flow, engine.quantity(table["run"]["duration"], "time_s"))
    events = table.get("event", [])
    if not events:
        return None
    key = str(events[0]["set"])
    texts = [_initial(table, key), *(event["to"] for event in events)]
    times = [0.0, *(engine.quantity(event["at"], "time_s") for event in events)]
    if key.endswith("loss.rate"):
        return "random loss (%)", times, [float(text.removesuffix("%")) for text in texts]
    if key.endswith(".rate"):
        return "rate (Mbit/s)", times, [engine.quantity(text, "rate_bps") / 1e6 for text in texts]
    if key.endswith(".delay"):
        delays = np.array([engine.quantity(text, "time_s") * 1e3 for text in texts])
        return "extra delay (ms)", times, np.round(delays - delays[0], 9).tolist()
    return None


def _pulses(flow: Table, length_s: float) -> TimelineCurve:
    period_s, on_s, first_s = (
        engine.quantity(text, "time_s")
        for text in (flow["pulse"]["every"], flow["pulse"]["on"], flow["start"])
    )
    times, rates = [0.0], [0.0]
    for start_s in np.arange(first_s, length_s, period_s):
        times += [float(start_s), min(float(start_s) + on_s, length_s)]
        rates += [engine.quantity(flow["rate"], "rate_bps") / 1e6, 0.0]
    return "pulses (Mbit/s)", times, rates


def _initial(table: Table, key: str) -> str:
    """Return the value of a key before the first event, or the forward value if the reverse has none."""
    first, *path = key.split(".")
    section = table[first]
    if first == "link":
        section = next(link for link in section if link.get("name") == path[0])
        path = path[1:]
    if path[0] == "reverse" and path[1] not in section.get("reverse", {}):
        path = path[1:]
    for name in path:
        section = section[name]
    return str(section)
