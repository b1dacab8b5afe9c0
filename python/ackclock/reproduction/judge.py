"""Artefacts judged: simulate what they need, measure, and hold every claim against the numbers."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock.engine import Run
from ackclock.reproduction.artefact import (
    Artefact,
    Claim,
    Computed,
    Judged,
    Simulated,
    Traces,
    Verdict,
)
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case, Task, each


@dataclass(frozen=True)
class Judgement:
    """What came out of an artefact.

    Attributes
    ----------
    numbers : Numbers
        What was measured; empty when something failed.
    traces : mapping
        What the picture shows over time, by case.
    claims : sequence of (Claim, Judged)
        Every claim with what its numbers say; empty when something failed.
    error : str
        What went wrong; empty when nothing did.
    """

    numbers: Numbers = field(default_factory=lambda: Numbers({}))
    traces: Traces = field(default_factory=dict)
    claims: Sequence[tuple[Claim, Judged]] = ()
    error: str = ""

    @property
    def verdict(self) -> Verdict | str:
        """Verdict of the artefact.

        *reproduced* when every claim holds, *differs* when one does not, *not stated* without any
        claim, *failed* when there is an error.
        """
        if self.error:
            return "failed"
        if not self.claims:
            return "not stated"
        return "reproduced" if all(judged.holds for _, judged in self.claims) else "differs"


def cases_of(artefact: Artefact, effort: Effort) -> Mapping[Any, Case]:
    """Give what an artefact simulates.

    Parameters
    ----------
    artefact : Artefact
        A figure or table.
    effort : Effort
        How much is run.

    Returns
    -------
    mapping
        Cases by key; empty when it needs no run.
    """
    return artefact.cases(effort) if isinstance(artefact, Simulated) else {}


@dataclass
class _Work:
    """What has been measured for one artefact so far."""

    artefact: Artefact
    effort: Effort
    cases: Mapping[Any, Case]
    rows: dict[Any, dict[int, Row]] = field(default_factory=lambda: defaultdict(dict))
    traces: dict[Any, Any] = field(default_factory=dict)
    waiting: set[Task] = field(default_factory=set)
    error: str = ""

    def take(self, key: Any, task: Task, run: Run) -> None:
        """Measure a run of one of its cases."""
        assert isinstance(self.artefact, Simulated)  # noqa: S101
        row = self.artefact.measure(key, run)
        promised = self.artefact.keys(key, self.effort)
        if set(row) != promised:
            different = sorted(map(str, set(row) ^ promised))
            raise ValueError(f"measured and declared numbers differ: {', '.join(different)}")
        self.rows[key][task.run] = row
        if task.run == 0 and self.artefact.trace is not None:
            shown = self.artefact.trace(key, run)
            if shown is not None:
                self.traces[key] = shown

    def judgement(self) -> Judgement:
        """Judge what was measured."""
        if self.error:
            return Judgement(error=self.error)
        try:
            numbers, traces = self._finish()
            return Judgement(
                numbers, traces, [(one, one.judge(numbers)) for one in self.artefact.claims]
            )
        except Exception as error:
            return Judgement(error=f"{type(error).__name__}: {error}")

    def _finish(self) -> tuple[Numbers, Traces]:
        """Give all numbers, in the order of cases and runs."""
        if isinstance(self.artefact, Computed):
            rows, traces = self.artefact.compute(self.effort)
            found = {key: frozenset().union(*some) for key, some in rows.items()}
            if found != dict(self.artefact.supplied(self.effort)):
                raise ValueError("computed and declared numbers differ")
            return Numbers(rows), traces
        ordered = {
            key: [self.rows[key][run] for run in sorted(self.rows[key])] for key in self.cases
        }
        return Numbers(ordered), {key: self.traces[key] for key in self.cases if key in self.traces}


def judge(
    artefacts: Sequence[Artefact],
    effort: Effort,
    cache: Path | None = None,
    jobs: int | None = None,
) -> Iterator[tuple[int, Judgement]]:
    """Judge artefacts; runs that several of them need are made once.

    Parameters
    ----------
    artefacts : sequence of Artefact
        Figures and tables.
    effort : Effort
        How much is run.
    cache : Path, optional
        Directory of earlier runs, to which these are added.
    jobs : int, optional
        Runs at once; by default one per core.

    Yields
    ------
    int, Judgement
        Index of an artefact and what came out of it, as soon as its last run is measured.
    """
    works = [_Work(one, effort, cases_of(one, effort)) for one in artefacts]
    users: dict[Task, list[tuple[int, Any]]] = defaultdict(list)
    for index, work in enumerate(works):
        for key, case in work.cases.items():
            for task in Task.all_of(case):
                users[task].append((index, key))
                work.waiting.add(task)
    lock = threading.Lock()

    def measure(task: Task, run: Run) -> None:
        for index, key in users[task]:
            try:
                works[index].take(key, task, run)
            except Exception as error:
                with lock:
                    words = f"{key}: {type(error).__name__}: {error}"
                    works[index].error = works[index].error or words

    for index, work in enumerate(works):
        if not work.waiting:
            yield index, work.judgement()
    for task, error in each(list(users), measure, jobs, cache):
        for index, key in users[task]:
            work = works[index]
            if error is not None and not work.error:
                work.error = f"{key}: {error}"
            if task in work.waiting:
                work.waiting.discard(task)
                if not work.waiting:
                    yield index, work.judgement()
                    # The numbers have been given away; nothing is kept until the end.
                    works[index] = _Work(work.artefact, effort, {})
