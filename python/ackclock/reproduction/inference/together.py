"""Several items changed together, before a claim is called not found: what no item gives alone, two may."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from statistics import fmean
from typing import TYPE_CHECKING

from ackclock.reproduction.claims.artefact import Artefact, Claim, Target
from ackclock.reproduction.claims.usual import logarithm, width
from ackclock.reproduction.trials.settings import Item, Setting
from ackclock.reproduction.trials.tried import SEARCHED, Outcome, Trial, judge

if TYPE_CHECKING:
    from ackclock.reproduction.inference.search import Search
    from ackclock.reproduction.paper import Paper

ALONE = 10
"""Most settings that are reached by moving one item after the other from the best trial, with that trial."""
PAIRED = 27
"""Most settings in which two items have other values than at the best of these: all pairs of the values of
three items with four each."""
RESCUING = 3
"""Most settings that give a claim and are judged by the other artefacts, too."""
FARTHEST = 10.0
"""Most tolerances by which a number counts as moved: farther away says nothing more of an item."""


def searched(
    search: Search,
    artefact: Artefact,
    every: Sequence[Artefact],
    chosen: Setting,
    known: Sequence[Trial],
    runs: int,
    first_run: int,
) -> list[Trial]:
    """Look for settings that give what no trial gave, and return the trials that differ in several items.

    From the best trial of the artefact, of the search or `known`, one item after the other takes each of its
    values, and then pairs do, those first of which each item moves its numbers most. What gives a claim is
    judged by the other artefacts of `every`, too. No trial is made where every claim holds somewhere, and
    what the paper states is not changed.
    """
    paper = search.paper
    items = [item for item in paper.relevant(artefact) if not item.is_stated]
    before = [trial for trial in (*known, *search.trials) if trial.possible]
    lost = [
        claim
        for claim in artefact.claims
        if judge((artefact.name, claim.name), False, before).kind == "not found"
    ]
    if len(items) < 2 or not lost:
        return []
    main = _main_claims(paper, artefact)
    yardstick = _Yardstick(artefact, main if any(claim in main for claim in lost) else lost)
    best = max(before, key=yardstick.score).setting
    start = {**chosen, **{item.name: best[item.name] for item in items}}

    def look(settings: Sequence[Setting]) -> list[Trial]:
        return search.look(settings, [artefact], SEARCHED, runs, first_run) if settings else []

    (here,) = trials = look([start])
    judged = [trial for trial in before if yardstick.score(trial) > -math.inf]
    moves = {item.name: yardstick.moved_alone(item, judged, chosen) for item in items}
    left = ALONE - len(trials)
    for item in sorted(items, key=lambda item: -moves[item.name]):
        tries = look([{**here.setting, item.name: value} for value in _others(item, here)[:left]])
        left -= len(tries)
        moves[item.name] = max([moves[item.name], *(yardstick.moved(here, trial) for trial in tries)])
        trials += tries
        here = max([here, *(trial for trial in tries if trial.possible)], key=yardstick.score)
    pairs = sorted(itertools.combinations(items, 2), key=lambda pair: -min(moves[item.name] for item in pair))
    both = [
        {**here.setting, first.name: this, second.name: that}
        for first, second in pairs
        for this, that in itertools.product(_others(first, here), _others(second, here))
    ]
    trials += look(both[:PAIRED])
    keys = [(artefact.name, claim.name) for claim in lost]
    rescuing = [
        trial
        for trial in trials
        if trial.possible
        and any(trial.outcomes[key].holds and not trial.outcomes[key].undecided for key in keys)
    ]
    for trial in sorted(rescuing, key=yardstick.score, reverse=True)[:RESCUING]:
        others = [
            each for each in every if each is not artefact and paper.differs(each, chosen, trial.setting)
        ]
        trials += search.look([trial.setting], others, SEARCHED, runs, first_run) if others else []
    return [trial for trial in trials if sum(trial.setting[name] != chosen[name] for name in chosen) > 1]


class _Yardstick:
    """How good the claims of an artefact are in a trial, and how far apart they are in two."""

    def __init__(self, artefact: Artefact, claims: Sequence[Claim]) -> None:
        self._claims = [((artefact.name, claim.name), claim.target) for claim in claims]

    def score(self, trial: Trial) -> float:
        """Return by how many tolerances the claims miss, in the mean and negative; without one infinite."""
        if any(key not in trial.outcomes for key, _ in self._claims):
            return -math.inf
        # Other than that of a search, this score falls far from the target, too, and shows the way.
        return -fmean(_missed(target, trial.outcomes[key]) for key, target in self._claims)

    def moved(self, before: Trial, after: Trial) -> float:
        """Return by how many tolerances the numbers of the claims differ in two trials, in the mean."""
        return fmean(
            _distance(target, before.outcomes[key], after.outcomes[key]) for key, target in self._claims
        )

    def moved_alone(self, item: Item, trials: Sequence[Trial], chosen: Setting) -> float:
        """Return how far an item has moved the numbers at most where nothing else was changed."""
        at_chosen = next((trial for trial in trials if dict(trial.setting) == dict(chosen)), None)
        alone = [
            trial
            for trial in trials
            if {name for name in chosen if trial.setting[name] != chosen[name]} == {item.name}
        ]
        return max((self.moved(at_chosen, trial) for trial in alone), default=0.0) if at_chosen else 0.0


def _missed(target: Target | None, outcome: Outcome) -> float:
    if target is None or not math.isfinite(outcome.value):
        return float(not outcome.holds)
    nearest = min(max(outcome.value, target.low), target.high)
    return _distance(target, outcome, outcome._replace(value=nearest))


def _distance(target: Target | None, before: Outcome, after: Outcome) -> float:
    values = [before.value, after.value]
    if target is None or not all(map(math.isfinite, values)):
        return float(before.holds != after.holds)
    first, second = map(logarithm, values) if target.logarithmic else values
    return min(abs(first - second) / (width(target) or math.inf), FARTHEST)


def _others(item: Item, here: Trial) -> list[object]:
    return [value.value for value in item.values if value.value != here.setting[item.name]]


def _main_claims(paper: Paper, artefact: Artefact) -> list[Claim]:
    """Return the claims of an artefact that state its own main claim."""
    main = paper.main_claims.get(artefact.name)
    patterns = [name.removeprefix(f"{artefact.name}/") for name in main.ids] if main else []
    return [claim for claim in artefact.claims if any(fnmatchcase(claim.name, name) for name in patterns)]
