"""A control judged against an earlier version of itself: a control, or the numbers of a kept evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from ackclock import engine
from ackclock.decision.comparisons import Compared, Margin, compare
from ackclock.engine import controls
from ackclock.metrics import Estimate
from ackclock_evaluate import previous
from ackclock_evaluate.cell import CellNumbers, Criterion
from ackclock_evaluate.results import (
    CANDIDATE,
    CellResult,
    CriterionResult,
    Earlier,
    MarginResult,
    Measured,
    Request,
    is_same_numbers,
    judge,
)

WORDS = {"holds": "like", "fails": "worse", "failed": "worse"}
"""Verdicts on a limit, or on runs that failed, as verdicts on a version."""


def with_baseline(request: Request, given: str, home: Path) -> Request:
    """Return a request that also judges the candidate against an earlier version of it.

    `given` is a control, or the folder of a kept evaluation; `home` is the folder of this evaluation.
    Raises ScenarioError if there is no such version, or if this evaluation would replace it.
    """
    folder = Path(given)
    if not (folder.exists() or folder.name == previous.RECORD):
        if "/" in given and not controls.origin_of(given):
            raise engine.ScenarioError(f"{given}: is neither a control nor the folder of an evaluation")
        (name,) = controls.labelled([given])
        others = tuple(dict.fromkeys((*request.against, name)))
        return replace(request, against=others, earlier=Earlier(name))
    folder = folder.parent if folder.name == previous.RECORD else folder
    if folder.resolve() == home.resolve():
        raise engine.ScenarioError(
            f"{folder}: this evaluation would replace it; choose another directory with -o, or move it"
        )
    return replace(request, earlier=_kept_in(folder, request))


def _kept_in(folder: Path, request: Request) -> Earlier:
    """Read the numbers of the candidate of a kept evaluation.

    Raises ScenarioError if the folder has no evaluation, or its numbers cannot be compared with the
    request's.
    """
    record = previous.read(folder)
    if record is None:
        raise engine.ScenarioError(
            f"{folder}: holds no evaluation; ackclock evaluate CONTROL -o DIR writes one"
        )
    digests = {criterion.suite: criterion.digest for criterion in request.criteria}
    again = f"evaluate {record['control']['name']} again"
    for suite, digest in digests.items():
        if record["suites"].get(suite) != digest:
            raise engine.ScenarioError(
                f"{folder}: was not made with this version of the suite {suite}; {again}"
            )
    if record.get("rules") != engine.RULES:
        raise engine.ScenarioError(f"{folder}: was measured by other rules than today's; {again}")
    if record["mode"] != request.mode:
        raise engine.ScenarioError(
            f"{folder}: is a {record['mode']} evaluation, and this one would be {request.mode}; {again}, or "
            f"use --{record['mode']}"
        )
    there = {entry["id"] for entry in (*record["criteria"], *record["not_tested"])}
    missing = [criterion.id for criterion in request.criteria if criterion.id not in there]
    if missing:
        raise engine.ScenarioError(
            f"{folder}: does not have {', '.join(missing)}; {again}, or choose criteria with --only"
        )
    rows = pl.read_parquet(folder / "numbers.parquet").filter(pl.col("role") == CANDIDATE)
    numbers: dict[tuple[str, str], list[CellNumbers]] = {}
    for (criterion, cell, _), run in rows.group_by(["criterion", "cell", "run"], maintain_order=True):
        values = dict(zip(run["metric"], run["value"].fill_null(np.nan), strict=True))
        numbers.setdefault((str(criterion), str(cell)), []).append(values)
    return Earlier(f"{record['control']['name']} in {folder}", numbers)


def judged(results: Sequence[CriterionResult], earlier: Earlier) -> list[CriterionResult]:
    """Judge a candidate by each criterion against an earlier version instead of the baselines.

    The verdicts are ``better``, ``like``, ``not worse``, ``undecided`` and ``worse``; a limit that the
    candidate breaks, and the earlier version does not, and a failed run are ``worse``.
    """
    there = None if earlier.kept is None else {criterion for criterion, _ in earlier.kept}
    return [
        _criterion(result, earlier)
        for result in results
        if result.verdict != "not tested" and (there is None or result.criterion.id in there)
    ]


def _criterion(result: CriterionResult, earlier: Earlier) -> CriterionResult:
    again = judge(result.criterion, [_cell(result.criterion, cell, earlier) for cell in result.cells])
    return replace(again, verdict=WORDS.get(again.verdict, again.verdict))


def _cell(criterion: Criterion, cell: CellResult, earlier: Earlier) -> CellResult:
    mine, theirs = cell.measured[CANDIDATE], earlier.measured(criterion, cell)
    others = {name: each for name, each in cell.measured.items() if name not in (CANDIDATE, earlier.name)}
    measured = {CANDIDATE: mine, earlier.name: theirs, **others}
    if mine.problem:
        return CellResult(cell.cell, measured, [], [])
    # Equal packets are alike, however much the runs scatter.
    is_same = bool(theirs.numbers) and is_same_numbers(mine.numbers[: len(theirs.numbers)], theirs.numbers)
    comparisons = [
        MarginResult(margin, earlier.name, _compare(mine, theirs, margin, cell.share, is_same=is_same))
        for margin in cell.cell.judged
    ]
    limits = [
        limit.bound.judge(mine.values(limit.bound.metric), [theirs.values(limit.bound.metric)])
        for limit in cell.limits
    ]
    return CellResult(cell.cell, measured, comparisons, limits, cell.share)


def _compare(mine: Measured, theirs: Measured, margin: Margin, share: float, *, is_same: bool) -> Compared:
    if is_same:
        return Compared("like", 1.0, None, identical=True, effect=Estimate(0.0, 0.0, 0.0, len(mine.numbers)))
    return compare(mine.values(margin.metric), theirs.values(margin.metric), margin, share)


def sentence(results: Sequence[CriterionResult], earlier: Earlier) -> str:
    """Sum the verdicts up, such as ``than OLD: worse in mixed; undecided in rtt; like in 3 criteria``."""
    parts = []
    for verdict in ("worse", "undecided", "better"):
        named = [result.criterion.id for result in results if result.verdict == verdict]
        parts += [f"{verdict} in {', '.join(named)}"] if named else []
    rest = sum(result.verdict in ("like", "not worse") for result in results)
    parts += [f"like it or not worse in {rest} of {len(results)} criteria"] if rest else []
    return f"Compared with {earlier.name}: {'; '.join(parts) or 'no criterion applies'}"
