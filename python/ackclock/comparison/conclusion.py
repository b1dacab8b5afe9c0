"""What a comparison comes to, in sentences, each with what it rests on."""

from __future__ import annotations

import numpy as np

from ackclock import metrics
from ackclock.comparison.answers import Comparison
from ackclock.comparison.questions import QUESTIONS, Question
from ackclock.metrics import Estimate

ASKED = ("goodput", "delay", "loss", "stolen_reno", "recovery")
"""Questions that make a sentence each, in this order."""
SENTENCES = {
    "goodput": ("carries", "carry", "most alone: {} Mbit/s", "goodput"),
    "delay": ("adds", "add", "least queueing delay: {} ms on average", "queueing delay"),
    "loss": ("loses", "lose", "least: {} % of the packets", "losses"),
    "stolen_reno": (
        "takes",
        "take",
        "least from Reno: {} % of what another Reno would leave",
        "what Reno loses",
    ),
    "recovery": ("is", "are", "back first after a step: {} s", "the recovery after a step"),
}
"""Of one leader and of several, what follows the verb, and what is undecided otherwise."""
FLOODS = 10.0
"""Losses, in per cent, of a control that floods its path."""


def sentences(comparison: Comparison) -> list[str]:
    """Say what the answers come to.

    Parameters
    ----------
    comparison : Comparison
        The answers.

    Returns
    -------
    list of str
        A sentence per question that several controls answer, then what is wrong with any of them,
        then what the sentences rest on. Where the interval of the difference to the next control
        holds both signs it says "undecided".
    """
    by_key = {question.key: question for question in QUESTIONS}
    said = [_best(comparison, by_key[key]) for key in ASKED] if len(comparison.controls) > 1 else []
    for control in comparison.controls:
        lost = comparison.estimates["loss"][control]
        if lost.value >= FLOODS:
            said.append(f"{control} floods the path: {lost.value:.0f} % of its packets are lost.")
        back = comparison.estimates["recovery"][control]
        if np.isinf(back.value):
            said.append(f"{control} was not back after a step {back.warning}.")
    said.extend(f"Warning: {warning}." for warning in comparison.warnings)
    setting = comparison.setting
    rests = (
        f"This rests on {setting.runs} {'runs' if setting.runs > 1 else 'run'} of "
        f"{setting.run_s:g} s for each question and control on one path"
    )
    if setting.runs < 2:
        said.append(f"{rests}: one run has no interval, so nothing is decided; use --runs 5.")
    else:
        said.append(
            f"{rests}; a difference counts when its 95 % interval does not hold 0. "
            "Another path may turn it round."
        )
    return [one for one in said if one]


def verdict(question: Question, first: Estimate, second: Estimate) -> int | None:
    """Tell which of two answers is better.

    Parameters
    ----------
    question : Question
        What was asked; more or less of it must be better.
    first, second : Estimate
        Answers.

    Returns
    -------
    int or None
        1 for the first, -1 for the second, 0 for neither; None when it is undecided.
    """
    never = [np.isinf(first.value), np.isinf(second.value)]
    if any(never):
        return None if all(never) else (-1 if never[0] else 1)
    found = metrics.sign(metrics.difference(first, second))
    return None if found is None else found * question.better


def _best(comparison: Comparison, question: Question) -> str:
    answers = comparison.estimates[question.key]
    known = [name for name in comparison.controls if np.isfinite(answers[name].value)]
    if len(known) < 2:
        return ""
    ranked = sorted(known, key=lambda name: -question.better * answers[name].value)
    best, others = ranked[0], ranked[1:]
    verb, verb_of_several, text, subject = SENTENCES[question.key]
    equal = [name for name in others if verdict(question, answers[best], answers[name]) == 0]
    undecided = [name for name in others if verdict(question, answers[best], answers[name]) is None]
    rest = [name for name in others if name not in equal and name not in undecided]
    if equal and not undecided and not rest:
        return f"All are equal in {subject}."
    if undecided:
        between = " and ".join([", ".join([best, *equal, *undecided[:-1]]), undecided[-1]])
        tail = f"; {_list(rest, answers)} behind" if rest else ""
        return f"Undecided in {subject}: between {between}{tail}."
    leaders = " and ".join(filter(None, [", ".join([best, *equal[:-1]]), *equal[-1:]]))
    told = text.format(f"{answers[best].value:.3g}")
    return f"{leaders} {verb_of_several if equal else verb} {told}; {_list(rest, answers)}."


def _list(names: list[str], answers: dict[str, Estimate]) -> str:
    return ", ".join(f"{name} {answers[name].value:.3g}" for name in names)
