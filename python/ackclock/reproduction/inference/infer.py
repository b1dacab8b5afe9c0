"""The setting that a paper really had: tried on all of its artefacts, and tested by cross-validation."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import qmc

from ackclock.engine import integrity
from ackclock.reproduction.claims.artefact import Artefact
from ackclock.reproduction.claims.usual import LEAST_CLOSENESS
from ackclock.reproduction.inference import readings
from ackclock.reproduction.inference.search import Search
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.cells import Cell
from ackclock.reproduction.trials.crossvalidation import Validation, validate
from ackclock.reproduction.trials.settings import Basis, Item, Setting, declared, name_of
from ackclock.reproduction.trials.tried import DESIGN, LOSSES, Trial
from ackclock.runs import Store

SETTINGS = 16
"""Number of settings that are drawn by default."""
HALVING_RUN, REFINING_RUN, TESTING_RUN, SECOND_RUN, OWN_RUN = 50, 100, 200, 300, 400
"""First runs of the rounds, of the refinement, of the test, of the second look at the settings drawn, and of
the items that a single artefact has: each has seeds that nothing before has seen."""
HALVING_RUNS, TESTING_RUNS = 2, 3
SURVIVING_SHARE = 3
"""One setting in three advances to the next round."""
LEFT = 3
"""The rounds end when so many settings are left."""
ABOVE_LEAST = 1.1
"""If no setting is possible, losses may depart by this factor more than at the least violating setting: two
means of twenty runs differ by as much."""
RUNNERS_UP = 2
"""Settings of the last round that are tested with the refined and the declared one."""
DIRECTORY = "inferred"
"""Subdirectory of the paper that `keep` writes to."""


@dataclass(frozen=True)
class Inferred:
    """The result of trying settings.

    `setting` is the declared setting, or its substitute if it is impossible, unless another is accepted.
    `alternative` is the best setting if it is neither accepted nor worse. `validation` is the test of the
    finalists, `trials` has all trials, and `cells` is the matrix of readings around the setting, empty until
    it is known. `own` has the test of each item that a single artefact has, over the rows of that artefact.
    """

    setting: Setting
    alternative: Setting | None
    validation: Validation
    trials: Sequence[Trial]
    cells: Sequence[Cell] = ()
    own: Mapping[str, Validation] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether the setting is another than the declared one."""
        return self.validation.accepted


def free_items(items: Sequence[Item]) -> list[Item]:
    """Return the items that a search may change; items that the paper states are not among them."""
    return [item for item in items if item.is_open and not item.is_stated]


def draw(items: Sequence[Item], count: int) -> list[dict[str, object]]:
    """Draw at most `count` settings evenly from all that may be chosen, the declared one first.

    They are all settings if there are no more, else points of a Sobol sequence.
    """
    first = declared(items)
    free = free_items(items)
    if math.prod(len(item.values) for item in free) <= count:
        points: Iterable[Sequence[int]] = itertools.product(*(range(len(item.values)) for item in free))
    else:
        # More points than asked for, because several may fall on the same levels.
        sobol = qmc.Sobol(len(free), scramble=True, rng=1).random_base2(math.ceil(math.log2(4 * count)))
        points = (sobol * [len(item.values) for item in free]).astype(int).tolist()
    drawn = [
        first | {item.name: item.values[level].value for item, level in zip(free, point, strict=True)}
        for point in points
    ]
    return _distinct([first, *drawn])[:count]


def _distinct(settings: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    return list({name_of(setting): dict(setting) for setting in settings}.values())


def infer(
    paper: Paper,
    cache: Path | None = None,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
    settings: int = SETTINGS,
    address: str | None = None,
    known: Callable[[Inferred], None] = lambda _: None,
) -> Inferred:
    """Find the setting that a paper really had, if it can be found.

    Settings drawn evenly are judged by all simulated artefacts that depend on an open item, with new seeds
    for the better ones; stated items are not changed. The best setting is refined item by item. It is
    accepted only if cross-validation over artefacts and seeds, with seeds of its own, finds that it gains
    more than twice the error over the declared setting; else both are kept. An item that a single artefact
    has is tested in the same way over the rows of that artefact. Last, every open item is given each of its
    values at the chosen setting, and the settings drawn are judged once more with other seeds, which shows
    how robust each claim is.

    `cache` is the folder of earlier runs, `settings` the number of settings to draw, and `known` is called
    when the setting is chosen and only the robustness of claims remains to be measured. A LookupError says
    that the paper does not list the artefacts that take part.
    """
    with ExitStack() as stack:
        store = None if cache is None else stack.enter_context(Store(cache).opened())
        return _inferred(Search(paper, store, jobs, tell, address), settings, known)


def _inferred(search: Search, settings: int, known: Callable[[Inferred], None]) -> Inferred:
    items = search.paper.items
    drawn = draw(items, settings)
    search.expect(passes(search, len(drawn)))
    design = search.look(drawn, search.judged, DESIGN, 1)
    first, most = _first(search, design)
    ranked = _halve(search, design, most) or [first]
    best = _refine(search, ranked[0], most)
    finalists = _distinct([first, best, *ranked[:RUNNERS_UP]])
    tested = [
        replace(trial, possible=_may_be(trial, most))
        for trial in search.look(finalists, search.scored, "test", TESTING_RUNS, TESTING_RUN)
    ]
    validation = validate(tested, [artefact.name for artefact in search.scored])
    chosen = dict(validation.finalists[validation.best] if validation.accepted else first)
    own = {}
    for item, artefact in own_items(search):
        own[item.name] = _by_rows(search, artefact, item, chosen, most)
        if own[item.name].accepted:
            chosen[item.name] = own[item.name].finalists[own[item.name].best][item.name]
    other = validation.alternative and {
        **validation.alternative,
        **{name: chosen[name] for name, test in own.items() if test.accepted},
    }
    alternative = None if other == chosen else other
    result = Inferred(chosen, alternative, validation, search.trials, own=own)
    known(replace(result, trials=list(search.trials)))
    cells = readings.judged(search, search.scored, search.refining_runs, chosen, REFINING_RUN)
    stated = [
        chosen | {item.name: value.value}
        for item in items
        for value in item.values[1:]
        if item.is_open and item.is_stated
    ]
    every = _distinct([*drawn, chosen, *filter(None, [alternative]), *stated])
    search.look(every[len(drawn) :], search.judged, DESIGN, 1)
    search.look(every, search.judged, DESIGN, 1, SECOND_RUN)
    return replace(result, cells=cells)


def own_items(search: Search) -> list[tuple[Item, Artefact]]:
    """Return the free items that only one of the scored artefacts can depend on, each with that artefact."""
    relevant = [(artefact, search.paper.relevant(artefact)) for artefact in search.scored]
    having = [
        (item, [artefact for artefact, items in relevant if item in items])
        for item in free_items(search.paper.items)
    ]
    return [(item, artefacts[0]) for item, artefacts in having if len(artefacts) == 1]


def _by_rows(search: Search, artefact: Artefact, item: Item, chosen: Setting, most: float) -> Validation:
    """Cross-validate the values of an item over the claims of its only artefact, the chosen value first.

    Whole artefacts cannot do it: without this one, nothing is left that depends on the item.
    """
    others = [value.value for value in item.values if value.value != chosen[item.name]]
    settings = [dict(chosen) | {item.name: value} for value in (chosen[item.name], *others)]
    tested = search.look(settings, [artefact], "rows", TESTING_RUNS, OWN_RUN)
    names = [claim.name for claim in artefact.claims]
    rows = [
        replace(
            trial,
            possible=_may_be(trial, most),
            scores={},
            by_artefact={
                name: trial.by_claim.get((artefact.name, name), [math.log(LEAST_CLOSENESS)] * TESTING_RUNS)
                for name in names
            },
        )
        for trial in tested
    ]
    return validate(rows, names)


def passes(search: Search, drawn: int) -> float:
    """Return about how many runs of every artefact an inference makes, if it moves no item."""
    free = {item.name for item in free_items(search.paper.items)}
    others = [
        sum(len(item.values) - 1 for item in search.paper.relevant(artefact) if item.name in free)
        for artefact in search.scored
    ]
    stated = sum(len(item.values) - 1 for item in search.paper.items if item.is_open and item.is_stated)
    return (
        2 * (drawn + stated + 2)
        + HALVING_RUNS * sum(_rounds(drawn))
        + 2 * search.refining_runs * (1 + float(np.mean(others or [0])))
        + TESTING_RUNS * (2 + RUNNERS_UP)
    )


def _first(search: Search, design: Sequence[Trial]) -> tuple[Setting, float]:
    """Return the substitute for the declared setting if that is impossible, and a limit.

    The substitute is the possible setting with the best basis that differs from the declared one in a single
    item, or else the first possible setting that was drawn. Where losses make all of them impossible, the
    least violating one is kept, and settings whose losses depart from proportion by no more than the limit
    are allowed with it; otherwise the limit is 0.
    """
    if design[0].possible:
        return design[0].setting, 0.0
    order = list(Basis)
    others = [
        (order.index(value.basis), dict(design[0].setting) | {item.name: value.value})
        for item in free_items(search.paper.items)
        for value in item.values
        if value.value != design[0].setting[item.name]
    ]
    changed = [setting for _, setting in sorted(others, key=itemgetter(0))]
    like = replace(design[0], outcomes={}, by_artefact={})
    alone = search.look(changed, [], "conditions", 1, like=like) if changed else []
    every = [design[0], *alone, *design[1:]]
    possible = next((trial for trial in every if trial.possible), None)
    if possible is not None:
        return possible.setting, 0.0
    least = min(every, key=_departure)
    return least.setting, ABOVE_LEAST * least.scores.get(LOSSES, 0.0)


def _departure(trial: Trial) -> float:
    return trial.scores.get(LOSSES, math.inf)


def _may_be(trial: Trial, most: float) -> bool:
    """Return whether a setting may be chosen: it is possible, or its losses depart by no more than `most`."""
    return trial.possible or _departure(trial) <= most


def _halve(search: Search, trials: Sequence[Trial], most: float) -> list[Setting]:
    """Rank settings by successive halving with new seeds in each round, and return those left at the end."""
    first_run, ranked = HALVING_RUN, _ranked(trials, most)
    for count in _rounds(len(ranked)):
        again = search.look(ranked[:count], search.scored, f"round of {count}", HALVING_RUNS, first_run)
        ranked = _ranked(again, most)
        first_run += HALVING_RUNS
    return ranked


def _rounds(count: int) -> list[int]:
    """Return the number of settings in each round: a third, until a third is no more than are left."""
    rounds: list[int] = []
    while count > LEFT * (SURVIVING_SHARE if rounds else 1):
        count = math.ceil(count / SURVIVING_SHARE)
        rounds.append(count)
    return rounds


def _ranked(trials: Sequence[Trial], most: float) -> list[Setting]:
    possible = [trial for trial in trials if _may_be(trial, most)]
    return [trial.setting for trial in sorted(possible, key=_score, reverse=True)]


def _score(trial: Trial) -> float:
    return trial.scores.get("score", -math.inf)


def _refine(search: Search, start: Setting, most: float) -> Setting:
    """Move one item after the other to the value that is best or, among equals, best founded."""
    (here,) = _look_again(search, [start])
    for item in free_items(search.paper.items):
        others = [
            dict(here.setting) | {item.name: value.value}
            for value in item.values
            if value.value != here.setting[item.name]
        ]
        here = _preferred(item, [here, *_look_again(search, others, here)], most)
    return here.setting


def _look_again(search: Search, settings: Sequence[Setting], like: Trial | None = None) -> list[Trial]:
    return search.look(settings, search.scored, "refinement", search.refining_runs, REFINING_RUN, like)


def _preferred(item: Item, trials: Sequence[Trial], most: float) -> Trial:
    """Return the trial of the value with the best basis among those within the error of the best score.

    Of values with the same basis the declared one is preferred, and then that with the best score.
    """
    possible = [trial for trial in trials if _may_be(trial, most)] or list(trials[:1])
    top = max(possible, key=_score)
    equals = [trial for trial in possible if trial is top or not _is_better(top, trial)]
    order = list(Basis)

    def rank(trial: Trial) -> tuple[int, bool, float]:
        value = item.find(trial.setting[item.name])
        return order.index(value.basis), value.value != item.declared, -_score(trial)

    return min(equals, key=rank)


def _is_better(better: Trial, other: Trial) -> bool:
    """Return whether the gain over another trial, paired by artefact and seed, exceeds its error."""
    gains = [
        np.subtract(better.by_artefact[name], other.by_artefact[name])
        for name in better.by_artefact
        if list(better.by_artefact[name]) != list(other.by_artefact[name])
    ]
    # One artefact says by its seeds how certain a gain is, several by their difference.
    paired = np.array(gains[0] if len(gains) == 1 else [gain.mean() for gain in gains])
    if len(paired) < 2:
        return False
    return bool(paired.mean() > np.std(paired, ddof=1) / math.sqrt(len(paired)))


def is_kept(directory: Path) -> bool:
    """Return whether a directory has files of `keep` and no others, so that it may be replaced."""
    return {file.name for file in directory.iterdir()} <= {
        tried.SETTING,
        tried.SETTINGS,
        tried.CLAIMS,
        integrity.CHECKSUMS,
    }


def words(result: Inferred) -> dict[str, Any]:
    """Return the parts of a result that are kept besides the tables."""
    return {
        "setting": dict(result.setting),
        "alternative": None if result.alternative is None else dict(result.alternative),
        "accepted": result.accepted,
        "validation": result.validation.words(),
        "own": {name: test.words() for name, test in result.own.items()},
    }


def keep(result: Inferred, directory: Path) -> None:
    """Write the chosen setting and the tables of everything tried, as a paper reads them."""
    tried.write(directory, result.trials)
    text = json.dumps(words(result), indent=2, ensure_ascii=False) + "\n"
    (directory / tried.SETTING).write_text(text, encoding="utf-8")
