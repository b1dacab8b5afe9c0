"""The verb `evaluate` as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ackclock.engine import controls
from ackclock_evaluate import evaluate as judging
from ackclock_evaluate import page, previous, versions
from ackclock_evaluate.results import Evaluation, Request
from ackclock_evaluate.setting import Mode, Subject
from ackclock_evaluate.suites import chosen


def evaluate(
    control: str,
    *,
    params: Mapping[str, Any],
    against: Sequence[str],
    suites: Sequence[str],
    only: Sequence[str],
    full: bool,
    seed: int,
    baseline: Path | str | None,
    output: Path,
    jobs: int | None,
    cluster: str | None,
) -> Evaluation:
    """Evaluate a control and write its page; `ackclock.evaluate` documents the arguments."""
    mode: Mode = "full" if full else "quick"
    (name,) = controls.labelled([control])
    others = controls.labelled(against)
    request = Request(Subject(name, dict(params)), chosen(suites, only), others, mode, seed)
    if baseline is not None:
        request = versions.with_baseline(request, str(baseline), page.folder(output, name))
    request = previous.merge(request, page.folder(output, name))
    evaluation = judging.evaluate(request, output / ".cache", jobs=jobs, cluster=cluster)
    page.write(evaluation, output, f"ackclock.evaluate({control!r})")
    return evaluation
