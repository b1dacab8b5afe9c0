"""The conclusions of an evaluation in sentences: its headline, and a paragraph to quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ackclock import engine
from ackclock.decision.comparisons import LimitResult
from ackclock.engine import today
from ackclock_evaluate import written
from ackclock_evaluate.cell import Criterion, words
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Evaluation, Request
from ackclock_evaluate.setting import BASELINES, CUBIC
from ackclock_evaluate.suites import chosen

LEVELS = {"MUST": "MUST", "SHOULD": "SHOULD", "": "other criteria"}
MOST_NAMED = 4
"""A sentence names at most this many criteria."""
STARVED = "starved"
"""The metric of the limit on starvation."""
SHARE = "share"
"""The metric of the limit on the share that a control gets for itself."""


def not_asked(request: Request) -> tuple[Criterion, ...]:
    """Return the criteria of the suites of a request that it leaves out."""
    suites = list(dict.fromkeys(criterion.suite for criterion in request.criteria))
    requested = {criterion.key for criterion in request.criteria}
    return tuple(
        criterion
        for criterion in chosen(suites)
        if criterion.key not in requested and criterion.cells is not None
    )


@dataclass(frozen=True)
class Limited:
    """The scenarios with a limit on a metric, the scenarios that fail it, and the undecided ones."""

    cells: Sequence[CellResult]
    failed: Sequence[CellResult]
    undecided: Sequence[CellResult]

    @property
    def count(self) -> str:
        """How many of how many fail, and how many may."""
        doubt = f", and perhaps in {len(self.undecided)} more" if self.undecided else ""
        return f"{len(self.failed) or 'none'} of {len(self.cells)} scenarios{doubt}"


def limited(evaluation: Evaluation, metric: str) -> Limited:
    """Return the scenarios with a limit on a metric, such as the time of starvation."""
    limits = [
        (cell, limit)
        for result in evaluation.results
        for cell in result.decisive
        for limit in cell.limits
        if limit.bound.metric == metric
    ]

    def judged(verdict: str) -> list[CellResult]:
        return [cell for cell, each in limits if each.verdict == verdict]

    return Limited([cell for cell, _ in limits], judged("fails"), judged("undecided"))


def profile(evaluation: Evaluation) -> str:
    """Return the profile of the senders of an evaluation."""
    cells = [cell for result in evaluation.results for cell in result.cells]
    return today.profiles(
        *(scenario for cell in cells for scenario in cell.measured[CANDIDATE].scenarios.values())
    )


def headline(evaluation: Evaluation) -> str:
    """Sum an evaluation up: the findings by level, starvation, and undecided or omitted criteria."""
    left_out = not_asked(evaluation.request)
    tested = [result for result in evaluation.results if result.verdict != "not tested"]
    known = {criterion.level for criterion in left_out} | {each.criterion.level for each in tested}
    levels = {
        label: [result for result in tested if result.criterion.level == level]
        for level, label in LEVELS.items()
        if level in known
    }
    none = [label for label, results in levels.items() if not results]
    parts = [_of_level(label, results) for label, results in levels.items() if results]
    parts += [f"{' and '.join(none)}: none asked"] if none else []
    sentences = ["; ".join(parts)] if parts else []
    starved, share = limited(evaluation, STARVED), limited(evaluation, SHARE)
    if starved.cells:
        sentences.append(f"Starves other flows in {starved.count}")
    else:
        sentences.append("Starvation: not asked")
    if share.failed:
        sentences.append(f"Cannot compete with {CUBIC} in {share.count}")
    for verdict, label in (("failed", "A run failed in"), ("undecided", "Undecided:")):
        named = [result for result in tested if result.verdict == verdict]
        if named:
            sentences.append(f"{label} {_names(named)}")
    if left_out:
        sentences.append(f"Not asked: {len(left_out)} of {len(left_out) + len(tested)} criteria")
    return ". ".join(sentences)


def _of_level(label: str, results: Sequence[CriterionResult]) -> str:
    bad = [result for result in results if result.verdict in {"worse", "fails"}]
    limits = " or past a limit" if any(result.verdict == "fails" for result in bad) else ""
    text = f"{label}: worse than both {' and '.join(BASELINES)}{limits} in {len(bad)} of {len(results)}"
    return f"{text} ({_names(bad, with_cells=True)})" if bad else text


def _names(results: Sequence[CriterionResult], *, with_cells: bool = False) -> str:
    named = [
        f"{result.criterion.id} in {result.worse} of {len(result.decisive)} scenarios"
        if with_cells
        else result.criterion.id
        for result in results[:MOST_NAMED]
    ]
    more = len(results) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def paragraph(evaluation: Evaluation, date: str) -> str:
    """Return a paragraph to quote, with everything that is needed to repeat the evaluation."""
    request = evaluation.request
    candidate = request.candidate
    settings = ", ".join(f"{key} = {value}" for key, value in candidate.params.items())
    digests = {criterion.suite: criterion.digest for criterion in request.criteria}
    suites = ", ".join(f"{suite} {digest}".strip() for suite, digest in digests.items())
    sentences = [
        f"{candidate.name}{f' ({settings})' if settings else ''} was evaluated on {date} with ackclock "
        f"{engine.__version__} (suite {suites}, {request.mode} mode, seed {request.seed}, profile "
        f"{profile(evaluation)}) against {' and '.join(BASELINES)} in the same simulated scenarios",
        headline(evaluation),
    ]
    largest = _largest(evaluation)
    if largest:
        sentences.append(largest)
    return ". ".join(sentences) + "."


def _largest(evaluation: Evaluation) -> str:
    """Return the decisive comparison with the largest effect among the criteria that are worse."""
    worse = [
        (result, cell, judged)
        for result in evaluation.results
        if result.verdict == "worse" and result.worst
        for cell, judged in [result.worst]
        if not isinstance(judged, LimitResult)
    ]
    if not worse:
        return ""
    result, cell, judged = max(worse, key=lambda each: each[2].compared.effect.low)
    bound = judged.bound
    mine = written.with_unit(bound.metric, bound.unit, cell.measured[CANDIDATE].estimate(bound.metric))
    theirs = ", ".join(
        f"{name} {written.with_unit(bound.metric, bound.unit, cell.measured[name].estimate(bound.metric))}"
        for name in BASELINES
    )
    return (
        f"The largest effect is in {result.criterion.id} ({cell.cell.name}): {words(bound.metric)} {mine}, "
        f"compared with {theirs}; {written.evidence(judged)}"
    )
