"""The names that suites use: measures of a run, joins of the parts of a cell, and margins."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ackclock.decision.paired import Margin
from ackclock_evaluate import measures, timelines
from ackclock_evaluate.cell import DELAY, GOODPUT, JAIN, LOSS, SHARE, CellNumbers, harm_margin, time_margin

_OVER_TIME: dict[str, Callable[..., CellNumbers]] = {
    "breaker": timelines.breaker,
    "cuts": timelines.cuts,
    "delay_range": timelines.delay_range,
    "fairness": timelines.fairness,
    "joining": timelines.joining,
    "recovery": timelines.recovery,
    "silence": timelines.silence,
}
RECORDED = frozenset(_OVER_TIME)
"""The measures that need tables over time."""
MEASURES: dict[str, Callable[..., CellNumbers]] = {
    **_OVER_TIME,
    "audio": measures.audio,
    "behind_two": measures.behind_two,
    "completion": measures.completion,
    "completions": measures.completions,
    "datagrams": measures.datagrams,
    "general": measures.general,
    "marked": measures.marked,
    "overload": measures.overload,
    "page_times": measures.page_times,
    "requests": measures.requests,
    "sent_per_round_trip": measures.sent_per_round_trip,
    "victims": measures.victims,
}
"""Functions of a run; their keyword arguments are those of a suite."""
JOINS: dict[str, Callable[..., CellNumbers]] = {}
"""Functions from the numbers of each part to those of the cell."""
MARGINS: Mapping[str, Margin] = {
    "goodput": GOODPUT,
    "delay_p95": DELAY,
    "loss": LOSS,
    "smallest_share": SHARE,
    "jain": JAIN,
    "utilisation": Margin("utilisation", "", higher_is_better=True, ratio=1.1),
    "harm": harm_margin(""),
    "time": time_margin(""),
}
"""Margins by name; those of harm and of a time have no metric of their own."""
