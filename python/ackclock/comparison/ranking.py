"""The rank of the controls in a question: the best, those like it, those behind, and those undecided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ackclock.comparison.answers import Comparison
from ackclock.comparison.questions import FIRST_SCREEN, LOOKED_AT, STEP, Question
from ackclock.decision import Place, Standing, not_excluded, spent, with_the_best

LEADING: tuple[Standing, ...] = ("best", "alike", "close")
"""Standings of the best control and of controls that are like it."""
IDLE = 0.1
"""A control with less than this share of the best goodput alone is idle: packets that it does not send are
neither delayed nor lost, take nothing from others, and need no recovery. It would win every question but the
first."""


@dataclass(frozen=True)
class Ranking:
    """The standings of the controls in one question, in the order given."""

    question: Question
    """A question with a margin."""
    means: Mapping[str, float]
    """The mean of each control."""
    standings: Mapping[str, Standing]
    """The standing of each control, as in `ackclock.decision.Place`."""
    more_runs: Mapping[str, int | None]
    """About how many more runs would decide, for controls that are undecided or close."""
    runs: Mapping[str, int] = field(default_factory=dict)
    """How many runs of each control have a number."""
    idle: tuple[str, ...] = ()
    """Controls that are not ranked, because they carry less than a tenth of the best."""
    places: tuple[Place, ...] = ()
    """The places that the standings come from."""
    bounds: tuple[str, ...] = ()
    """Controls that took at least their mean, because some runs ended before they had recovered."""

    def at(self, *standings: Standing) -> list[str]:
        """Return the controls with these standings."""
        return [name for name, standing in self.standings.items() if standing in standings]

    @property
    def leaders(self) -> list[str]:
        """The best control and the controls that are like it; none if the runs do not decide."""
        return self.at(*LEADING)

    def cell(self, control: str) -> str:
        """Return how a control compares with the best, in a few words."""
        standing = self.standings.get(control)
        if standing is None:
            return "not ranked" if control in self.idle else ""
        if standing == "undecided":
            return f"undecided{more_runs(self.more_runs[control])}"
        if standing == "behind":
            return self._distance(self.means[control], self.means[self.at("best")[0]])
        if standing == "best":
            return standing if len(self.standings) > 1 else ""
        return f"{standing}, unless it collapses in up to {self.missed} of runs"

    @property
    def fewest(self) -> int | None:
        """About how many more runs would decide something."""
        return min((number for number in self.more_runs.values() if number is not None), default=None)

    @property
    def missed(self) -> str:
        """The share of runs in which a collapse is not excluded, such as ``45 %``."""
        return f"{100 * not_excluded(min(self.runs.values())):.0f} %"

    def _distance(self, mine: float, best: float) -> str:
        margin = self.question.margin
        word = "less" if mine < best else "more"
        small, large = sorted((mine, best))
        if margin is None or margin.ratio is None or small <= max(margin.least, margin.difference or 0.0):
            unit = " points" if self.question.margin and self.question.margin.unit == "%" else ""
            return f"{large - small:.2g}{unit} {word}"
        if large >= 2 * small:
            times = f"{large / small:.2g}" if large < 10 * small else f"{large / small:.0f}"
            return f"{times} times {'as much' if word == 'more' else 'less'}"
        return f"{100 * abs(mine / best - 1):.0f} % {word}"


def rank(comparison: Comparison, question: Question, controls: Sequence[str] | None = None) -> Ranking:
    """Rank controls by a question that has a margin, each against the best by the rule of all verdicts.

    Idle controls are ranked by their goodput alone.
    """
    chosen = comparison.controls if controls is None else controls
    idle = () if question.key == "goodput" else idle_controls(comparison)
    values = {name: possible(comparison, question, name) for name in chosen if name not in idle}
    named = tuple(name for name in chosen if name in idle)
    share = 1.0
    # Only these are looked at more than once.
    if comparison.setting.runs is None and question.scenario in LOOKED_AT and values:
        share = spent(len(next(iter(values.values()))))
    late = [name for name in values if is_late(comparison, question, name)]
    return replace(ranked(question, values, comparison.setting.recovery_scale_s, share, late), idle=named)


def is_late(comparison: Comparison, question: Question, control: str) -> bool:
    """Return whether some runs of a control ended before it had recovered."""
    return question.key == "recovery" and bool(np.isinf(comparison.values["recovery"][control]).any())


def _with_bounds(whole: Ranking, late: Sequence[str], of: Callable[[Sequence[str]], Ranking]) -> Ranking:
    """Return a ranking in which some means are lower bounds: their controls may only be behind.

    Longer runs would decide about these controls; more runs would not. All others are compared without them.
    """
    exact = [name for name in whole.standings if name not in late]
    among = of(exact) if exact else replace(whole, places=(), standings={})
    places = dict(zip(among.standings, among.places, strict=True))
    for name in late:
        is_behind = (
            bool(exact)
            and whole.standings[name] == "behind"
            and of([*exact, name]).standings[name] == "behind"
        )
        places[name] = Place("behind" if is_behind else "undecided")
    if exact:
        leader = min(exact, key=lambda name: whole.means[name])
        is_shown = any(place.standing != "undecided" for name, place in places.items() if name != leader)
        places[leader] = Place("best") if is_shown else replace(places[leader], standing="undecided")
    return replace(
        whole,
        standings={name: places[name].standing for name in whole.standings},
        more_runs={
            name: among.more_runs.get(name)
            for name in whole.standings
            if places[name].standing in ("undecided", "close")
        },
        places=tuple(places[name] for name in whole.standings),
        bounds=tuple(late),
    )


def idle_controls(comparison: Comparison) -> tuple[str, ...]:
    """Return the controls whose goodput alone is less than a tenth of the best."""
    goodputs = {name: float(np.mean(comparison.values["goodput"][name])) for name in comparison.controls}
    best = max(goodputs.values(), default=0.0)
    return tuple(name for name, goodput in goodputs.items() if goodput < IDLE * best)


def ranked(
    question: Question,
    values: Mapping[str, Sequence[float]],
    recovery_scale_s: float,
    share: float = 1.0,
    late: Sequence[str] = (),
) -> Ranking:
    """Rank items that have a number per run, such as controls, or paths for one control.

    `share` is the argument of `with_the_best`; the means of items in `late` are lower bounds. Raises
    ValueError if the question has no margin.
    """
    if late:

        def of(names: Sequence[str]) -> Ranking:
            return ranked(question, {name: values[name] for name in names}, recovery_scale_s, share)

        return _with_bounds(of(list(values)), late, of)
    margin = question.margin
    if margin is None:
        raise ValueError(f"{question.key} has no better answer")
    if question.key == "recovery":
        # Recovery times have steps of this length, and the times of both controls may be a step off.
        margin = replace(margin, difference=2 * recovery_scale_s)
    means = {name: float(np.nanmean(runs)) for name, runs in values.items() if not np.all(np.isnan(runs))}
    placed = with_the_best({name: values[name] for name in means}, margin, len(FIRST_SCREEN), share)
    standings = {name: place.standing for name, place in placed.items()}
    more = {
        name: None if place.runs_needed is None else max(1, place.runs_needed - len(values[name]))
        for name, place in placed.items()
        if place.standing in ("undecided", "close")
    }
    runs = {name: int(np.sum(~np.isnan(values[name]))) for name in means}
    return Ranking(question, means, standings, more, runs, places=tuple(placed.values()))


MOST_RUNS = 100
"""More runs than this are not worth a number."""


def more_runs(number: int | None) -> str:
    """Return how many more runs would decide, as the end of a clause."""
    if number is None:
        return ""
    if number > MOST_RUNS:
        return f", more than {MOST_RUNS} more runs"
    return f", about {number} more {'run' if number == 1 else 'runs'}"


def possible(comparison: Comparison, question: Question, control: str) -> list[float]:
    """Return the number of each run of a control, limited to possible values.

    A flow that never recovered took at least the rest of the run.
    """
    values = comparison.values[question.key][control]
    if question.key != "recovery":
        return values
    return [min(value, (1 - STEP[1]) * comparison.setting.run_s) for value in values]
