"""The names that suites use for measures of a run and for joins of the parts of a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ackclock.comparison import measures as everyday
from ackclock_evaluate import joins, measures, states, timelines
from ackclock_evaluate.cell import CellNumbers

_OVER_TIME: dict[str, Callable[..., CellNumbers]] = {
    "breaker": timelines.breaker,
    "cuts": timelines.cuts,
    "delay_range": timelines.delay_range,
    "fairness": timelines.fairness,
    "jittered": timelines.jittered,
    "joining": timelines.joining,
    "passes": states.passes,
    "ramp_up": timelines.ramp_up,
    "recovery": timelines.recovery,
    "shared": timelines.shared,
    "shares": timelines.shares,
    "silence": timelines.silence,
}
RECORDED = frozenset(_OVER_TIME) | everyday.RECORDED
"""The measures that need tables over time."""
MEASURES: dict[str, Callable[..., CellNumbers]] = {
    **_OVER_TIME,
    **everyday.MEASURES,
    "audio": measures.audio,
    "behind_two": measures.behind_two,
    "burst": measures.burst,
    "completion": measures.completion,
    "completions": measures.completions,
    "cross_traffic": measures.cross_traffic,
    "datagrams": measures.datagrams,
    "general": measures.general,
    "marked": measures.marked,
    "overload": measures.overload,
    "page_times": measures.page_times,
    "policed": measures.policed,
    "real_time": measures.real_time,
    "requests": measures.requests,
    "sent_per_round_trip": measures.sent_per_round_trip,
    "sessions": measures.sessions,
    "unfairness": measures.unfairness,
    "victims": measures.victims,
}
"""Functions of a run; a suite gives their keyword arguments."""
CHOICES: Mapping[str, Mapping[str, object]] = {"check": states.CHECKS}
"""The allowed values of arguments that are names."""
JOINS: dict[str, Callable[..., CellNumbers]] = {
    "falls": joins.falls,
    "gain": joins.gain,
    "harm": joins.harm_of,
    "harm_to_goodput": joins.harm_to_goodput,
    "in_ranges": joins.in_ranges,
    "kept": joins.kept,
    "marks_per_loss": joins.marks_per_loss,
    "slowdowns": joins.slowdowns,
    "stolen": joins.stolen,
}
"""Functions from the numbers of each part to the numbers of the cell."""
