"""The setting that a paper really had: tried on some of its claims, tested on others."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import qmc

from ackclock.engine import integrity
from ackclock.reproduction import tried
from ackclock.reproduction.paper import Chosen, Paper
from ackclock.reproduction.search import Search
from ackclock.reproduction.settings import Basis, Item, Setting, declared
from ackclock.reproduction.tried import DESIGN, Trial
from ackclock.runs import Store

SETTINGS = 16
"""Number of settings that are drawn by default."""
REFINING_RUN, TESTING_RUN = 100, 200
"""First runs of the refinement and of the test: other seeds than those that chose."""
REFINING_RUNS, TESTING_RUNS = 2, 3
SURVIVING_SHARE = 3
"""One setting in three advances to the next round, which has twice as many seeds."""
DIRECTORY = "inferred"
"""Subdirectory of the paper that `keep` writes to."""
PASSES = 2
"""Largest number of times that each item may be changed."""


@dataclass(frozen=True)
class Inferred:
    """The result of trying settings.

    `setting` is the declared one unless another is accepted, that is, explains the claims that it was
    not fitted to better. `scores` are mean log-likelihoods by ``fit`` and ``held_out`` of the
    ``declared`` setting and of the ``best`` for the claims that choose, with the same seeds. `trials` is
    everything that was tried.
    """

    setting: Setting
    accepted: bool
    scores: Mapping[str, Mapping[str, float]]
    trials: Sequence[Trial]


def draw(items: Sequence[Item], count: int) -> list[dict[str, object]]:
    """Draw at most `count` settings evenly from all that are plausible, the declared one first.

    They are all settings if there are no more, else points of a Sobol sequence.
    """
    first = declared(items)
    free = [item for item in items if item.is_open]
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
    return list({_name(setting): dict(setting) for setting in settings}.values())


def _name(setting: Setting) -> str:
    return json.dumps(dict(setting), sort_keys=True)


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

    Settings drawn evenly are judged by the claims that choose, with more seeds for those that do better;
    what the paper states is not changed. The best setting is refined item by item with other seeds.
    Among values that do equally well, the simulator's default is preferred. The result is accepted only
    if it explains the claims that were held out better than the declared setting does, with seeds of
    their own. Last, the claims of all artefacts but those that are left out for their cost are judged at
    the settings drawn, which shows how robust each is.

    `cache` is the folder of earlier runs, `settings` the number of settings to draw, and `known` is
    called when the setting is chosen and only the robustness of claims remains to be measured. A
    LookupError says that the paper does not name the claims that choose.
    """
    with ExitStack() as stack:
        store = None if cache is None else stack.enter_context(Store(cache).opened())
        return _inferred(Search(paper, store, jobs, tell, address), settings, known)


def _inferred(search: Search, settings: int, known: Callable[[Inferred], None]) -> Inferred:
    paper = search.paper
    first = declared(paper.items)
    drawn = draw(paper.items, settings)
    # What the paper states is not for a fit to change: other values only show what depends on it.
    stated = {item.name: item.declared for item in paper.items if item.name and item.is_stated}
    best = _refine(search, _halve(search, _distinct(setting | stated for setting in drawn)))
    finalists = _distinct([first, best])
    tested = search.look(finalists, search.scored(), "test", TESTING_RUNS, TESTING_RUN)
    by_name = {_name(trial.setting): trial for trial in tested}
    before, after = by_name[_name(first)], by_name[_name(best)]
    accepted = after is not before and _gains(before, after)
    scores = {"declared": before.scores, "best": after.scores}
    chosen = best if accepted else first
    known(Inferred(chosen, accepted, scores, list(search.trials)))
    # One run each: that other seeds are other draws is part of what a share of settings says.
    left_out = paper.inference.left_out if paper.inference else ()
    cheap = [artefact for artefact in paper.artefacts if artefact.name not in left_out]
    search.look(_distinct([*drawn, best]), cheap, DESIGN, 1)
    return Inferred(chosen, accepted, scores, search.trials)


def _gains(before: Trial, after: Trial) -> bool:
    """Return whether a setting explains the held-out claims better."""
    return after.possible and after.scores.get("held_out", -math.inf) > before.scores.get(
        "held_out", -math.inf
    )


def _halve(search: Search, drawn: Sequence[Setting]) -> Setting:
    """Find the best of many settings, by successive halving with more seeds in each round."""
    runs, alive = 1, list(drawn)
    while True:
        trials = search.look(alive, search.scored("fit"), f"round of {len(alive)}", runs)
        ranked = sorted((trial for trial in trials if trial.possible), key=_fit, reverse=True)
        if not ranked:
            return drawn[0]
        if len(alive) <= SURVIVING_SHARE:
            return ranked[0].setting
        alive = [trial.setting for trial in ranked[: math.ceil(len(alive) / SURVIVING_SHARE)]]
        runs *= 2


def _fit(trial: Trial) -> float:
    return trial.scores.get("fit", -math.inf)


def _refine(search: Search, start: Setting) -> Setting:
    """Move one item at a time, with other seeds, and prefer the better founded of equals."""
    best = dict(start)
    for _ in range(PASSES):
        moves = [
            best | {item.name: value.value}
            for item in search.paper.items
            for value in item.values
            if item.is_open and not item.is_stated
        ]
        trials = _look_again(search, _distinct([best, *moves]))
        # Two seeds say little about the scatter at one setting, but all settings together do.
        error = float(np.mean([trial.scores.get("fit_error", 0.0) for trial in trials]))
        wanted = {}
        for item in search.paper.items:
            if item.is_open and not item.is_stated:
                others = [trial for trial in trials if _differs_only(trial.setting, best, item.name)]
                value, gain = _preferred(item, [trials[0], *others], error)
                if value != best[item.name]:
                    wanted[item.name] = value, gain
        moved = _together(search, trials[0], wanted, error)
        if moved == best:
            break
        best = moved
    return best


def _look_again(search: Search, settings: Sequence[Setting]) -> list[Trial]:
    return search.look(settings, search.scored("fit"), "refinement", REFINING_RUNS, REFINING_RUN)


def _together(
    search: Search, here: Trial, wanted: Mapping[str, tuple[object, float]], error: float
) -> dict[str, object]:
    """Make the moves that are good alone and not bad together, those that gain most first."""
    top = _fit(here)
    for name in sorted(wanted, key=lambda name: -wanted[name][1]):
        (there,) = _look_again(search, [dict(here.setting) | {name: wanted[name][0]}])
        top = max(top, _fit(there)) if there.possible else top
        if there.possible and _fit(there) >= top - error:
            here = there
    return dict(here.setting)


def _differs_only(setting: Setting, best: Setting, name: str) -> bool:
    return all((setting[key] == best[key]) == (key != name) for key in best)


def _preferred(item: Item, trials: Sequence[Trial], error: float) -> tuple[object, float]:
    """Return the value of an item with the best basis among those within the noise of the best score.

    The second number is its gain over the first trial.
    """
    possible = [trial for trial in trials if trial.possible] or list(trials[:1])
    top = max(map(_fit, possible))
    order = list(Basis)
    equals = [trial for trial in possible if _fit(trial) >= top - error]
    chosen = min(
        equals, key=lambda trial: (order.index(item.find(trial.setting[item.name]).basis), -_fit(trial))
    )
    return chosen.setting[item.name], _fit(chosen) - _fit(trials[0])


def is_kept(directory: Path) -> bool:
    """Return whether a directory has files of `keep` and no others, so that it may be replaced."""
    return {file.name for file in directory.iterdir()} <= {
        tried.SETTING,
        tried.SETTINGS,
        tried.CLAIMS,
        integrity.CHECKSUMS,
    }


def keep(result: Inferred, directory: Path) -> None:
    """Write the chosen setting and the tables of everything tried, as a paper reads them."""
    tried.write(directory, result.trials)
    words = {"setting": dict(result.setting), "accepted": result.accepted, "scores": result.scores}
    text = json.dumps(words, indent=2, ensure_ascii=False) + "\n"
    (directory / tried.SETTING).write_text(text, encoding="utf-8")


def applied(paper: Paper, result: Inferred) -> Paper:
    """Return the paper at the inferred setting."""
    chosen = Chosen(result.setting, result.accepted, result.scores, lambda: result.trials)
    return replace(paper, inferred=chosen)
