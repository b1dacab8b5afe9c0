"""The conclusions of a comparison in sentences, and the runs that they are based on."""

from __future__ import annotations

import numpy as np

from ackclock import metrics
from ackclock.comparison.answers import Comparison
from ackclock.comparison.questions import QUESTIONS, Question
from ackclock.metrics import Estimate

ASKED = ("goodput", "delay", "loss", "stolen_reno", "recovery")
"""Questions that get a sentence each, in this order."""
SENTENCES = {
    "goodput": ("has", "have", "the highest goodput alone: {} Mbit/s", "goodput"),
    "delay": ("has", "have", "the lowest queueing delay: {} ms on average", "queueing delay"),
    "loss": ("loses", "lose", "the fewest packets: {} %", "losses"),
    "stolen_reno": (
        "takes",
        "take",
        "the least from Reno: {} % of what another Reno flow would leave",
        "the goodput taken from Reno",
    ),
    "recovery": ("recovers", "recover", "fastest after a step: {} s", "recovery after a step"),
}
"""By question: the verb for one leader and for several, its object, and the subject when undecided."""
FLOODS = 10.0
"""Losses, in per cent, of a control that floods its path."""


def sentences(comparison: Comparison) -> list[str]:
    """Return the sentences of a comparison.

    They rank the controls by question, then name problems of single controls, and end with the runs that
    all of this is based on. A ranking is undecided where the interval of the difference to the next
    control contains 0.
    """
    by_key = {question.key: question for question in QUESTIONS}
    lines = [_best(comparison, by_key[key]) for key in ASKED] if len(comparison.controls) > 1 else []
    for control in comparison.controls:
        lost = comparison.estimates["loss"][control]
        if lost.value >= FLOODS:
            lines.append(f"{control} floods the path: {lost.value:.0f} % of its packets are lost.")
        back = comparison.estimates["recovery"][control]
        if np.isinf(back.value):
            lines.append(f"{control} had not recovered after a step {back.warning}.")
    lines.extend(f"Warning: {warning}." for warning in comparison.warnings)
    setting = comparison.setting
    basis = (
        f"This is based on {setting.runs} {'runs' if setting.runs > 1 else 'run'} of "
        f"{setting.run_s:g} s for each question and control on one path"
    )
    if setting.runs < 2:
        lines.append(f"{basis}: one run has no interval, so nothing is decided; use --runs 5.")
    else:
        lines.append(
            f"{basis}; a difference counts when its 95 % interval does not contain 0. "
            "The order may be different on another path."
        )
    return [line for line in lines if line]


def verdict(question: Question, first: Estimate, second: Estimate) -> int | None:
    """Return 1 when the first answer is better, -1 when the second is, 0 when equal, None when undecided."""
    never = [np.isinf(first.value), np.isinf(second.value)]
    if any(never):
        return None if all(never) else (-1 if never[0] else 1)
    sign = metrics.sign(metrics.difference(first, second))
    return None if sign is None else sign * question.better


def _best(comparison: Comparison, question: Question) -> str:
    answers = comparison.estimates[question.key]
    known = [name for name in comparison.controls if np.isfinite(answers[name].value)]
    if len(known) < 2:
        return ""
    ranked = sorted(known, key=lambda name: -question.better * answers[name].value)
    best, followers = ranked[0], ranked[1:]
    verb, verb_of_several, text, subject = SENTENCES[question.key]
    equal = [name for name in followers if verdict(question, answers[best], answers[name]) == 0]
    undecided = [name for name in followers if verdict(question, answers[best], answers[name]) is None]
    rest = [name for name in followers if name not in equal and name not in undecided]
    if equal and not undecided and not rest:
        return f"All are equal in {subject}."
    if undecided:
        between = " and ".join([", ".join([best, *equal, *undecided[:-1]]), undecided[-1]])
        tail = f", ahead of {_list(rest, answers)}" if rest else ""
        return f"Undecided in {subject}: between {between}{tail}."
    leaders = " and ".join(filter(None, [", ".join([best, *equal[:-1]]), *equal[-1:]]))
    leading = text.format(f"{answers[best].value:.3g}")
    return f"{leaders} {verb_of_several if equal else verb} {leading}; {_list(rest, answers)}."


def _list(names: list[str], answers: dict[str, Estimate]) -> str:
    return ", ".join(f"{name} {answers[name].value:.3g}" for name in names)
