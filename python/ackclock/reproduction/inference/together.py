"""Several items changed together, before a claim is called not found: it may need two items."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from statistics import fmean
from typing import TYPE_CHECKING

from ackclock.reproduction.claims.artefact import Artefact, Claim, Target
from ackclock.reproduction.claims.usual import logarithm, width
from ackclock.reproduction.trials.settings import Item, Setting, name_of
from ackclock.reproduction.trials.tried import SEARCHED, ClaimKey, Outcome, Trial, judge

if TYPE_CHECKING:
    from ackclock.reproduction.inference.search import Search
    from ackclock.reproduction.paper import Paper

ALONE = 10
"""Most settings that are reached by moving one item after the other from the best trial, with that trial."""
PAIRED = 36
"""Most settings that differ from the best of these in one or two items: with three items of four values each
these are 9 and 27."""
RESCUING = 3
"""Most settings that give a claim and are judged by the other artefacts, too."""
LEAST_GAIN = 0.5
"""The search moves to a setting only if it is nearer by so many tolerances, in the mean of the claims: a walk
driven by noise would leave out pairs of values."""
FARTHEST = 10.0
"""A number counts as moved by at most so many tolerances: a larger move says nothing more about an item."""


def searched(
    search: Search,
    artefact: Artefact,
    every: Sequence[Artefact],
    chosen: Setting,
    known: Sequence[Trial],
    runs: int,
    first_run: int,
) -> list[Trial]:
    """Look for settings that give claims which no trial gave; return trials that differ in several items.

    From the best trial of the artefact, of the search or `known`, one item after the other takes the value
    that is best alone, and then pairs take each of their values, starting with the pairs whose items move the
    numbers most. At the best setting that gives a claim, items go back to their chosen value if no such claim
    is lost. A setting that gives a claim is judged by the other artefacts of `every`, too. No trial is made
    if every claim holds somewhere, and stated items are not changed.
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
    judged = [trial for trial in before if yardstick.score(trial) > -math.inf]
    if not judged:
        return []
    at_chosen = [trial for trial in judged if dict(trial.setting) == dict(chosen)]
    nearest = max(judged, key=yardstick.score)
    best = (yardstick.better(at_chosen[0], nearest) if at_chosen else nearest).setting
    start = {**chosen, **{item.name: best[item.name] for item in items}}

    def look(settings: Sequence[Setting]) -> list[Trial]:
        return search.look(settings, [artefact], SEARCHED, runs, first_run) if settings else []

    (here,) = trials = look([start])
    alone = {item.name: yardstick.alone(item, judged, chosen) for item in items}
    moves = {name: moved for name, (moved, _) in alone.items()}
    for item in sorted(items, key=lambda item: -moves[item.name])[: ALONE - 1]:
        others = _others(item, here)
        value = next((value for value in alone[item.name][1] if value in others), others[0])
        (trial,) = look([{**here.setting, item.name: value}])
        moves[item.name] = max(moves[item.name], yardstick.moved(here, trial))
        trials.append(trial)
        here = yardstick.better(here, trial)
    pairs = sorted(itertools.combinations(items, 2), key=lambda pair: -min(moves[item.name] for item in pair))
    apart: dict[str, Setting] = {}
    for pair in pairs:
        values = [[value.value for value in item.values] for item in pair]
        changed = (
            {**here.setting, **dict(zip((item.name for item in pair), both, strict=True))}
            for both in itertools.product(*values)
        )
        apart |= {name_of(setting): setting for setting in changed}
    known_here = {name_of(trial.setting) for trial in trials}
    trials += look([setting for name, setting in apart.items() if name not in known_here][:PAIRED])
    keys = [(artefact.name, claim.name) for claim in lost]

    def given(trial: Trial) -> set[ClaimKey]:
        outcomes = {key: trial.outcomes[key] for key in keys if trial.possible}
        return {key for key, outcome in outcomes.items() if outcome.holds and not outcome.undecided}

    rescuing = sorted(filter(given, trials), key=yardstick.score, reverse=True)
    if rescuing:
        simple = rescuing[0]
        for item in items:
            if simple.setting[item.name] != chosen[item.name]:
                (trial,) = look([{**simple.setting, item.name: chosen[item.name]}])
                trials.append(trial)
                simple = trial if given(trial) >= given(simple) else simple
        rescuing.insert(0, simple)
    for setting in list({name_of(trial.setting): trial.setting for trial in rescuing}.values())[:RESCUING]:
        affected = [each for each in every if each is not artefact and paper.differs(each, chosen, setting)]
        trials += search.look([setting], affected, SEARCHED, runs, first_run) if affected else []
    return [trial for trial in trials if sum(trial.setting[name] != chosen[name] for name in chosen) > 1]


class _Yardstick:
    """How good the claims of an artefact are in a trial, and how far apart they are in two."""

    def __init__(self, artefact: Artefact, claims: Sequence[Claim]) -> None:
        self._claims = [((artefact.name, claim.name), claim.target) for claim in claims]

    def score(self, trial: Trial) -> float:
        """Return by how many tolerances the claims miss, in the mean and negative; without one infinite."""
        if any(key not in trial.outcomes for key, _ in self._claims):
            return -math.inf
        # Unlike the score of a search, this score also falls far from the target, and so shows the direction.
        return -fmean(_missed(target, trial.outcomes[key]) for key, target in self._claims)

    def better(self, here: Trial, other: Trial) -> Trial:
        """Return the other trial if it is possible and nearer by `LEAST_GAIN`."""
        is_nearer = self.score(other) >= self.score(here) + LEAST_GAIN
        return other if other.possible and is_nearer else here

    def moved(self, before: Trial, after: Trial) -> float:
        """Return by how many tolerances the numbers of the claims differ in two trials, in the mean."""
        return fmean(
            _distance(target, before.outcomes[key], after.outcomes[key]) for key, target in self._claims
        )

    def alone(self, item: Item, trials: Sequence[Trial], chosen: Setting) -> tuple[float, Sequence[object]]:
        """Return how far an item alone has moved the numbers, and its values.

        The values are those that were tried, the best first.
        """
        at_chosen = next((trial for trial in trials if dict(trial.setting) == dict(chosen)), None)
        tries = [
            trial
            for trial in trials
            if {name for name in chosen if trial.setting[name] != chosen[name]} == {item.name}
        ]
        moved = max((self.moved(at_chosen, trial) for trial in tries), default=0.0) if at_chosen else 0.0
        return moved, [trial.setting[item.name] for trial in sorted(tries, key=self.score, reverse=True)]


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
