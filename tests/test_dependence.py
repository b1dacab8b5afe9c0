"""What a claim depends on: planted items are named, bystanders are not, and seeds must agree."""

from __future__ import annotations

import numpy as np
import pytest

from ackclock.reproduction.inference.infer import draw
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.dependence import depends_on
from ackclock.reproduction.trials.settings import Item
from ackclock.reproduction.trials.tried import DESIGN, Outcome, Trial
from ackclock_papers import PAPERS

LEVELS = {"a": 2, "b": 2, "c": 3, "d": 2, "e": 4, "f": 2, "g": 3, "h": 2}
ACTING = ("b", "d", "g")
SETTINGS, EFFECT = 32, 2.0
"""Settings drawn, and how far a value of an acting item moves a number, in deviations of one run."""
KEY = ("figure-1", "x-is-0")


def _items():
    return [
        Item.read(
            {
                "name": name,
                "quantity": name,
                "choice": "{}",
                "values": [{"value": value, "basis": "open", "evidence": "ours"} for value in range(count)],
            }
        )
        for name, count in LEVELS.items()
    ]


def _trials(seed, acting, first_runs=(0, 300)):
    items, random = _items(), np.random.default_rng(seed)
    trials = []
    for first_run in first_runs:
        for setting in draw(items, SETTINGS):
            shift = EFFECT * sum(setting[name] == LEVELS[name] - 1 for name in acting)
            number = shift + random.normal()
            trials.append(
                Trial(setting, DESIGN, 1, first_run, outcomes={KEY: Outcome(number < EFFECT, number)})
            )
    return trials


def _named(text):
    return {part.split(" (")[0] for part in text.split("; ") if part}


def test_planted_items_are_named_and_no_others():
    draws = [_named(depends_on(KEY, _trials(seed, ACTING), _items())) for seed in range(10)]
    assert sum(names == set(ACTING) for names in draws) >= 9, draws


def test_nothing_is_named_where_nothing_acts():
    # Each of two sets of seeds must confirm what both together show, so fewer than a twentieth are expected.
    draws = [_named(depends_on(KEY, _trials(seed, ()), _items())) for seed in range(100, 120)]
    assert sum(map(bool, draws)) <= 1, draws


def test_one_set_of_seeds_shows_nothing():
    assert depends_on(KEY, _trials(1, ACTING, first_runs=(0,)), _items()) == ""


def test_effects_that_other_seeds_do_not_repeat_are_chance():
    # The second measurement is the first with its sign reversed: as strong, and in the other direction.
    first = _trials(1, ACTING, first_runs=(0,))
    second = [
        Trial(
            trial.setting,
            DESIGN,
            1,
            300,
            outcomes={KEY: Outcome(not trial.outcomes[KEY].holds, -trial.outcomes[KEY].value)},
        )
        for trial in first
    ]
    assert depends_on(KEY, [*first, *second], _items()) == ""


def test_too_few_settings_tell_nothing_apart():
    # Twelve settings, and the items have 12 terms in addition to the mean.
    setting_names = {tuple(trial.setting.items()) for trial in _trials(1, ACTING)[:12]}
    few = [trial for trial in _trials(1, ACTING) if tuple(trial.setting.items()) in setting_names]
    assert depends_on(KEY, few, _items()) == ""


@pytest.mark.parametrize(
    ("artefact", "claim", "cannot_act"),
    [
        # It reads the run of a single Illinois flow, and no other.
        ("figure-14", "illinois-times-out-often-at-p-0.005", "reno_recovery"),
        # It reads all controls, and Reno's recovery changes Reno's run.
        ("figure-14", "illinois-much-better-throughput-than-reno", None),
    ],
)
def test_only_items_that_change_what_a_claim_reads_may_act(artefact, claim, cannot_act):
    paper = PAPERS["illinois"]
    claim = next(each for each in paper[artefact].claims if each.name == claim)
    names = {item.name for item in paper.relevant_to(paper[artefact], claim)}
    assert "illinois_recovery" in names
    assert (cannot_act not in names) if cannot_act else ("reno_recovery" in names)


def test_one_setting_with_one_set_of_seeds_is_not_enough_to_depend():
    trials = _trials(1, (), first_runs=(0,))
    outcomes = [Outcome(number == 3, 1.0) for number in range(len(trials))]
    judged = [
        Trial(trial.setting, DESIGN, 1, 0, outcomes={KEY: outcome})
        for trial, outcome in zip(trials, outcomes, strict=True)
    ]
    assert tried.judge(KEY, False, judged).kind == "not found"
    again = Trial(trials[3].setting, DESIGN, 1, 300, outcomes={KEY: Outcome(True, 1.0)})
    assert tried.judge(KEY, False, [*judged, again]).kind == "depends"
