"""The conclusions of a comparison in sentences, and the runs that they are based on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ackclock.comparison.answers import Comparison
from ackclock.comparison.first import answer, listed
from ackclock.comparison.questions import BY_KEY, FIRST_SCREEN
from ackclock.comparison.ranking import MOST_RUNS, Ranking, idle_controls, more_runs, rank
from ackclock.comparison.words import rounded
from ackclock.decision import ALIKE_RUNS, not_excluded
from ackclock.names import counted

ASKED = {
    "delay": ("the shortest queueing delay alone", "ms"),
    "loss": ("the fewest packets lost alone", "%"),
    "stolen_reno": ("the least goodput taken from Reno, compared with another Reno flow", "%"),
    "recovery": ("the fastest recovery after a step", "s"),
}
"""Questions that get a sentence each after the first: a name for the best answer, and its unit."""
SHORT = {
    "goodput": "goodput",
    "delay": "delay",
    "loss": "losses",
    "stolen_reno": "what Reno loses",
    "recovery": "recovery",
}
"""The questions of the first screen in a word."""
FLOODS = 10.0
"""Losses, in per cent, of a control that floods its path."""
BY_MARKS = ("dctcp", "prague")
"""Controls that are made for queues that mark packets."""
COMPETING = ("worse", "beside_reno", "beside_cubic-linux", "rtt_ratio")
"""Questions in which the packets of two flows compete."""
LEAST_RUNS = 3
"""Equal digits in fewer runs than this are not worth a warning."""
LOCKABLE = (1.0, 99.0)
"""Shares, in per cent, outside which equal digits mean that one flow has the link, and no phase lock."""
FAIR = {"worse": "50", "beside_reno": "50", "beside_cubic-linux": "50", "rtt_ratio": "1"}
"""Three digits of an equal share, which surprises nobody: fair queueing gives it in every run."""


def sentences(comparison: Comparison) -> list[str]:
    """Return the sentences of a comparison.

    The first says which control suits the path, and why. Others rank the controls by further
    questions, name problems of single controls, and end with the runs that all of this is based on.
    """
    lines = [answer(comparison)]
    if len(comparison.controls) > 1:
        lines.extend(
            _ranked(rank(comparison, BY_KEY[key]), *words)
            for key, words in ASKED.items()
            if key != "recovery" or not none_recovered(comparison)
        )
        lines.extend(_idle(comparison))
    if none_recovered(comparison):
        lines.append("No control had recovered after a step by the end of any run: use a longer --duration.")
    for control in comparison.controls:
        lost = comparison.estimates["loss"][control]
        if lost.value >= FLOODS:
            lines.append(f"{control} floods the path: {lost.value:.0f} % of its packets are lost.")
        back = comparison.estimates["recovery"][control]
        if np.isinf(back.value) and not none_recovered(comparison):
            lines.append(f"{control} had not recovered after a step {back.warning}.")
    lines.extend(locks(comparison))
    lines.extend(warned(comparison))
    if len(comparison.controls) > 1:
        lines.append(cost(comparison))
    lines.append(basis(comparison))
    return [line for line in lines if line]


def none_recovered(comparison: Comparison) -> bool:
    """Return whether no run of any control shows when it recovers after a step."""
    return all(np.isinf(values).all() for values in comparison.values["recovery"].values())


def basis(comparison: Comparison) -> str:
    """Return the sentences about the runs behind the others: their number and why they ended."""
    runs = {key: runs_of(comparison, key) for key in FIRST_SCREEN}
    fewest = min(runs.values())
    text = (
        f"This is based on {counted(fewest, 'run')} of {comparison.setting.run_s:g} s for each question and "
        "control on one path"
    )
    for number in sorted(set(runs.values()) - {fewest}):
        text += f", {number} for {listed([SHORT[key] for key in runs if runs[key] == number])}"
    if comparison.stops:
        text += f". The runs ended because {listed(_reasons(comparison))}"
    elif fewest < 2:
        return f"{text}: one run has no interval, so nothing is decided; leave out --runs."
    share = f"{100 * not_excluded(fewest):.0f} %"
    missed = f"{counted(fewest, 'run')} may miss a collapse in up to {share} of all"
    if fewest < ALIKE_RUNS:
        missed += f", so such controls are only close: {ALIKE_RUNS} runs show them to be alike"
    return (
        f"{text}. Controls are alike when they differ by less than a tenth (delays also by less than "
        "1 ms, losses by a quarter or 0.1 points, shares by 10 points), and undecided when the runs do "
        f"not tell. {missed}. The order may be different on another path."
    )


def runs_of(comparison: Comparison, key: str) -> int:
    """Return how many runs a question has."""
    return max((len(values) for values in comparison.values[key].values()), default=0)


def _reasons(comparison: Comparison) -> list[str]:
    """Return why the runs ended, as clauses."""
    by_reason: dict[str, list[str]] = {}
    for key, reason in comparison.stops.items():
        more = more_runs(rank(comparison, BY_KEY[key]).fewest).removeprefix(", ")
        # No number of runs would decide a hopeless question.
        name = SHORT[key] if reason in ("decided", "hopeless") or not more else f"{SHORT[key]} ({more})"
        by_reason.setdefault(reason, []).append(name)
    if set(by_reason) == {"decided"}:
        return ["all of this is decided"]
    texts = {
        "decided": "{} decided",
        "hopeless": "{} hopeless",
        "last look": "{} open after the last look",
        "budget": "{} open at the end of the budget (--budget)",
    }
    return [
        texts[reason].format(f"{listed(by_reason[reason])} {'is' if len(by_reason[reason]) == 1 else 'are'}")
        for reason in texts
        if reason in by_reason
    ]


def cost(comparison: Comparison) -> str:
    """Return how many more runs would decide the open questions, and their cost in packets."""
    more: dict[str, int] = {}
    for key in FIRST_SCREEN:
        for number in rank(comparison, BY_KEY[key]).more_runs.values():
            if number is not None and number <= MOST_RUNS:
                scenario = BY_KEY[key].scenario
                more[scenario] = max(number, more.get(scenario, 0))
    if not more or not comparison.packets:
        return ""
    most = max(more.values())
    packets = most * comparison.packets
    if comparison.stops:
        packets = sum(number * comparison.packets_of[name] for name, number in more.items())
    return (
        f"By the scatter so far about {counted(most, 'more run')} of every control, "
        f"{rounded(packets / 1e6, 2)} million packets, would decide what is undecided or close, as far as "
        f"{MOST_RUNS} more runs can."
    )


def warned(comparison: Comparison) -> list[str]:
    """Return the warnings of the runs, and a line about controls for ECN if this path marks no packets."""
    lines = [f"Warning: {warning}." for warning in comparison.warnings]
    waiting = [name for name in comparison.controls if name in BY_MARKS]
    if waiting and not comparison.setting.marks:
        verb = "follows" if len(waiting) == 1 else "follow"
        lines.append(
            f"{comparison.setting.kind} marks no packets here, so {listed(waiting)} only {verb} Reno's rules "
            "at losses; use --ecn with codel, fq_codel, pie or red, or --queue dualpi2."
        )
    return lines


def locks(comparison: Comparison) -> list[str]:
    """Return a warning for each unequal share of competing flows that is the same in all runs."""
    lines: list[str] = []
    # Two runs may agree by chance, and behind fair queueing flows do not compete for places in a queue.
    if comparison.setting.kind == "fq_codel":
        return lines
    for key in (key for key in COMPETING if runs_of(comparison, key) >= LEAST_RUNS):
        same = []
        for control in comparison.controls:
            digits = {f"{value:.3g}" for value in comparison.values[key][control]}
            is_saturated = (
                key != "rtt_ratio" and not LOCKABLE[0] <= float(max(digits, key=float)) <= LOCKABLE[1]
            )
            if len(digits) == 1 and not is_saturated and not digits & {FAIR[key], "nan"}:
                same.append(f"{control} {digits.pop()}")
        if same:
            lines.append(
                f"Chance may be missing: {BY_KEY[key].title} has the same three digits in all "
                f"{runs_of(comparison, key)} runs of {listed(same)}. A phase lock, in which packets always "
                "meet the queue in the same order, may be the cause; try another RTT."
            )
    return lines


def _idle(comparison: Comparison) -> list[str]:
    """Return the sentence about idle controls, which are ranked by goodput only."""
    names = idle_controls(comparison)
    if not names:
        return []
    rate = comparison.setting.path.rate_mbps
    shares = [100 * float(np.mean(comparison.values["goodput"][name])) / rate for name in names]
    least, most = (f"{share:.2g}" for share in (min(shares), max(shares)))
    verb, carried = "is" if len(names) == 1 else "are", least if least == most else f"{least} to {most}"
    pronoun = "it carries" if len(names) == 1 else "they carry"
    return [
        f"{listed(names)} {verb} not ranked by anything but goodput: {pronoun} {carried} % of the link, "
        "less than a tenth of the best."
    ]


def _ranked(ranking: Ranking, best: str, unit: str) -> str:
    if len(ranking.standings) < 2:
        return ""

    def numbers(names: Sequence[str]) -> str:
        least = dict.fromkeys(ranking.bounds, "at least ")
        return listed(
            [f"{name} {least.get(name, '')}{rounded(ranking.means[name])} {unit}" for name in names]
        )

    behind = sorted(ranking.at("behind"), key=lambda name: abs(ranking.means[name]))
    tail = f"; behind: {numbers(behind)}" if behind else ""
    open_ones = [f"{name} ({ranking.cell(name)})" for name in ranking.at("undecided")]
    tail += f"; {listed(open_ones)}" if open_ones else ""
    if not ranking.leaders:
        return (
            f"The runs do not tell who has {best}: {numbers(list(ranking.standings))}"
            f"{more_runs(ranking.fewest)}."
        )
    if not tail:
        word = "close" if ranking.at("close") else "alike"
        return f"All are {word} in {ranking.question.title}: {numbers(ranking.leaders)}."
    return f"With {best}: {numbers(ranking.leaders)}{tail}."
