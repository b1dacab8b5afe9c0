"""An artefact with another control in place of some of its own: its runs, and the outcomes of claims."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from ackclock import engine
from ackclock.engine import Run, ScenarioError
from ackclock.reproduction.claims.artefact import Claim, Judged, Probe, Simulated
from ackclock.reproduction.claims.judge import Assignment
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row, like
from ackclock.reproduction.claims.orders import GAP
from ackclock.reproduction.trials import exchanges
from ackclock.reproduction.trials.exchanges import Exchange, Own

RENO = "reno"


class FailedJudged(Judged):
    """The result of a claim that raised an error: `measured` is the error."""


@dataclass
class Exchanged:
    """An artefact in which `control` replaces the controls `replaced`, and the problems of its cases."""

    artefact: Simulated[Any]
    claims: Sequence[Claim]
    control: str
    replaced: Collection[str]
    problems: dict[Key, str] = field(default_factory=dict)
    """Why a case is not measured."""
    lacking: dict[Key, tuple[Collection[str], Sequence[str]]] = field(default_factory=dict)
    """Numbers of a case that are not measured, and the columns that the other control does not have."""

    def assignment(self, effort: Effort, plan: Mapping[str, int]) -> Assignment:
        """Return the runs of the cases that the claims read; `plan` is passed to `Assignment.of`."""
        own = self.artefact.cases(effort)
        wanted = {case for claim in self.claims for case in claim.cases(own)}
        tables = {key: engine.read(own[key].scenario).tables() for key in own if key in wanted}
        window_flows = (flow for table in tables.values() for flow in table["flow"])
        reno: Mapping[str, Any] = next((flow for flow in window_flows if flow.get("controller") == RENO), {})
        new = {key: replace(own[key], scenario=self._scenario(table, reno)) for key, table in tables.items()}
        for key, case in new.items():
            try:
                engine.read(case.scenario)
            except ScenarioError as refusal:
                self.problems[key] = f"its scenario is refused with {self.control}: {refusal}"
                new[key] = own[key]
        claims = tuple(guarded(claim) for claim in self.claims)
        return Assignment.of(
            replace(self.artefact, cases=lambda _effort: new, probe=self._probe, claims=claims, trace=None),
            effort,
            plan,
        )

    def _scenario(self, table: Mapping[str, Any], reno: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a scenario with the other control.

        A flow keeps everything but its parameters. A flow without a random delay, such as one with a rate set
        by a timer, gets the delay of the paper's `reno` flows, because it now sends in bursts.
        """
        delay = {"overhead": reno["overhead"]} if "overhead" in reno else {}
        return {
            **table,
            "flow": [
                {key: value for key, value in (delay | flow).items() if key != "params"}
                | {"controller": self.control}
                if flow.get("controller") in self.replaced
                else flow
                for flow in table["flow"]
            ],
        }

    def _probe(self, case: Key, effort: Effort) -> Probe:
        """Return the probe of a case; a number that a run does not have is NaN."""
        own = self.artefact.probe_of(case, effort)

        def measure(run: Run) -> Row:
            try:
                row, columns = _measured(own, run)
            except Exception as error:
                # Every run fails in the same way: the control lacks the number.
                words = f"{self.control} does not have what is measured: {_line(error)}"
                self.problems.setdefault(case, words)
                return dict.fromkeys(own.keys, math.nan)
            if columns:
                lacking = {str(key) for key, value in row.items() if value is LACKING}
                self.lacking.setdefault(case, (lacking, columns))
            return row

        return Probe(own.keys, measure)

    def outcome(self, claim: Claim, judged: Judged, own: Own, numbers: Numbers) -> Exchange:
        """Return the outcome of a claim, judged by `numbers`."""
        cases = claim.cases(numbers.rows)
        problem = next((self.problems[case] for case in cases if case in self.problems), "")
        problem = problem or self._without_column(claim, judged, numbers)
        if not problem and isinstance(judged, FailedJudged):
            problem = f"it cannot be judged with {self.control}: {judged.measured}"
        if not problem and claim.target is not None and math.isnan(judged.value):
            problem = f"{self.control} does not have this number"
        answer = exchanges.STANDS if judged.holds else exchanges.FALLS
        if problem:
            answer = exchanges.CANNOT
        elif judged.undecided and (judged.holds or not _compares_alike(claim, numbers)):
            answer = exchanges.UNDECIDED
        measured = "" if problem else judged.measured
        runs = numbers.runs_of(cases)
        return Exchange(self.artefact.name, claim.name, own, self.control, answer, measured, problem, runs)

    def _without_column(self, claim: Claim, judged: Judged, numbers: Numbers) -> str:
        """Return which column a claim cannot do without; nothing where it needs none."""
        is_number = claim.target is not None and not math.isnan(judged.value)
        for label, key in claim.reads:
            for case in like(numbers.rows, [label]):
                keys, columns = self.lacking.get(case, ((), ()))
                if str(key) in keys or (key is None and keys and not is_number):
                    return f"{self.control} does not have {' and '.join(columns)}"
        return ""


LACKING = math.nan
"""Replaces a number that depends on a column which the other control does not have."""
FILLS = (-1e9, 1e9)
"""Values for such a column: a number that is the same with both values does not depend on the column."""


def _measured(probe: Probe, run: Run) -> tuple[Row, Sequence[str]]:
    """Measure a run of another control; return the row and the columns that it lacks."""
    columns: list[str] = []
    while True:
        fills = FILLS if columns else FILLS[:1]
        try:
            rows = [probe.measure(_with_columns(run, columns, fill)) for fill in fills]
        except pl.exceptions.ColumnNotFoundError as error:
            name = re.search(r'"(\w+)"', str(error))
            if name is None or name[1] in columns:
                raise
            columns.append(name[1])
            continue
        first, last = rows[0], rows[-1]
        # By their text, because an estimate may have an interval that is not a number.
        row = {key: value if repr(value) == repr(last[key]) else LACKING for key, value in first.items()}
        return row, columns


def _with_columns(run: Run, columns: Sequence[str], value: float) -> Run:
    """Return a run whose windows have more columns."""
    if not columns:
        return run
    filled = copy.copy(run)
    filled.__dict__.pop("_windows_by_flow", None)
    filled.__dict__["windows"] = run.windows.with_columns(pl.lit(value).alias(name) for name in columns)
    return filled


def _compares_alike(claim: Claim, numbers: Numbers) -> bool:
    """Return whether an order compares a number with itself, of runs that are the same after the exchange.

    Such an order does not hold, but intervals over runs that scatter would leave it undecided.
    """
    pairs = [
        (case, key) for label, key in claim.reads if key is not None for case in like(numbers.rows, [label])
    ]
    values = [tuple(numbers.each(case, key)) for case, key in pairs]
    return claim.target == GAP and len(set(values)) < len(values)


def guarded(claim: Claim) -> Claim:
    """Return a claim that reports its error as its result, so that the other claims are still judged."""

    def judged(numbers: Numbers) -> Judged:
        try:
            return claim.judge(numbers)
        except Exception as error:
            return FailedJudged(_line(error), holds=False)

    return replace(claim, judge=judged, finding=None, former=None)


def _line(error: Exception) -> str:
    """Return an error as one line."""
    words = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {words[0].partition(';')[0]}".removesuffix(": ")
