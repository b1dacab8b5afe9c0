"""The items of a setting on which a claim depends, found among the settings that were drawn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from ackclock.decision import acting
from ackclock.reproduction.trials.settings import Item, name_of
from ackclock.reproduction.trials.tried import DESIGN, ClaimKey, Trial

SHOWN = 3
"""Most items that are named."""


def depends_on(key: ClaimKey, trials: Sequence[Trial], items: Sequence[Item]) -> str:
    """Name the items that turn a claim, and how often it holds with each of their values.

    `items` are those that the claim can depend on. Only settings that were judged with two sets of seeds
    count: each set must confirm it (`ackclock.decision.acting`). The text is empty if no item is shown to
    act.
    """
    pairs = _pairs(key, trials)
    free = [item for item in items if len({repr(first.setting[item.name]) for first, _ in pairs}) > 1]
    outcomes = [[trial.outcomes[key] for trial in pair] for pair in pairs]
    if not free or len({outcome.holds for pair in outcomes for outcome in pair}) < 2:
        return ""
    has_numbers = not any(math.isnan(outcome.value) for pair in outcomes for outcome in pair)
    first, second = (
        [pair[seeds].value if has_numbers else float(pair[seeds].holds) for pair in outcomes]
        for seeds in (0, 1)
    )
    levels = [[_level(item, pair[0]) for item in free] for pair in pairs]
    named = [free[column] for column in acting(levels, first, second)]
    return "; ".join(_words(key, pairs, item) for item in named[:SHOWN])


def _pairs(key: ClaimKey, trials: Sequence[Trial]) -> list[tuple[Trial, Trial]]:
    """Return two trials of the design with different seeds for each setting that has them."""
    by_setting: dict[str, dict[int, Trial]] = defaultdict(dict)
    for trial in trials:
        if trial.stage == DESIGN and trial.possible and key in trial.outcomes:
            by_setting[name_of(trial.setting)].setdefault(trial.first_run, trial)
    pairs = (list(of_setting.values())[:2] for of_setting in by_setting.values())
    return [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]


def _level(item: Item, trial: Trial) -> int:
    return [value.value for value in item.values].index(trial.setting[item.name])


def _words(key: ClaimKey, pairs: Sequence[tuple[Trial, Trial]], item: Item) -> str:
    """Return an item, and in how many trials with each of its values the claim holds."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        for trial in pair:
            groups[item.words(trial.setting[item.name])].append(trial.outcomes[key].holds)
    words = ", ".join(f"{name}: {sum(held)} of {len(held)}" for name, held in groups.items())
    return f"{item.quantity} ({words})"
