"""Claims judged with Reno, which does nothing new, in the place of the paper's control: which can fall.

The paper's controls are `controls` in `paper.toml`. Every flow that has one of them gets Reno, in the cases
of an artefact, and the claims are judged by the same numbers, limits and seeds as before. A claim about Reno
alone is judged with CUBIC.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ackclock.engine import storage
from ackclock.names import counted
from ackclock.reproduction.claims.artefact import Artefact, Claim, Judged, Simulated
from ackclock.reproduction.claims.judge import Assignment, Judgement, controls_of, judge
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers
from ackclock.reproduction.exchanged import RENO, Exchanged, guarded
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.shown import outcome, page
from ackclock.reproduction.task import plan_of
from ackclock.reproduction.trials import exchanges
from ackclock.reproduction.trials.exchanges import Exchange, Outcome, Own
from ackclock.runs import Case, Store
from ackclock.runs.store import CACHE

CUBIC = "cubic"
LIVE = "the paper measured it on the Internet"
FORMULA = "it is a formula, which no run decides"


AFTER: Mapping[Outcome, str] = {
    exchanges.STANDS: "holds",
    exchanges.FALLS: "does not hold",
    exchanges.UNDECIDED: "is undecided",
}
"""The outcome of a claim with the other control, if it does not hold with the paper's own."""


@dataclass
class _Inquiry:
    """An artefact with the claims that can be exchanged, by the control in the place of another.

    `refused` has the reasons for the other claims, by name, and `error` the reason why a scenario was
    refused. The first of the `assignments` has the paper's own controls, and the others belong to
    `exchanged`; there are none if nothing can be exchanged.
    """

    paper: Paper
    artefact: Artefact
    exchanged: Sequence[Exchanged]
    refused: Mapping[str, str]
    assignments: Sequence[Assignment] = ()
    error: str = ""


@dataclass(frozen=True)
class ExchangedPaper:
    """The exchanges of a paper that were judged, in the order of its claims, and the errors, a line each."""

    paper: Paper
    rows: Sequence[Exchange]
    errors: Sequence[str]

    @property
    def sentence(self) -> str:
        """The number of claims with each outcome."""
        counts = exchanges.counts(row.outcome for row in self.rows)
        return f"{outcome.short_name(self.paper)}: {counts}"


def write(
    chosen: Sequence[tuple[Paper, Artefact]],
    papers: Iterable[Paper],
    output: Path,
    effort: Effort,
    jobs: int | None = None,
    address: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
    *,
    planned: bool = False,
) -> list[ExchangedPaper]:
    """Judge artefacts with Reno in the place of the controls of their papers, and write the tables.

    A table is DIR/PAPER/exchange.csv. If `output` has one of the artefacts, its pages are rewritten for all
    `papers`. The other arguments and errors are those of `judged`. Raises StorageError when something cannot
    be written.
    """
    storage.probe(output)
    with Store(output / CACHE).opened() as store:
        results = judged(chosen, effort, store, jobs, address, tell, planned=planned)
    for result in results:
        file = output / result.paper.name / exchanges.EXCHANGE
        every = exchanges.merge(exchanges.read(file), result.rows)
        file.parent.mkdir(parents=True, exist_ok=True)
        with storage.sealed_file(file) as new:
            exchanges.write(new, every)
    if any((output / paper.name / artefact.name / "artefact.json").exists() for paper, artefact in chosen):
        page.write(output, papers)
    return results


def judged(
    chosen: Sequence[tuple[Paper, Artefact]],
    effort: Effort,
    store: Store,
    jobs: int | None = None,
    address: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
    *,
    planned: bool = False,
) -> list[ExchangedPaper]:
    """Judge the claims of artefacts with the controls of their papers and with Reno in their place.

    `effort` says how many runs there are, and how long, `store` is open and has earlier runs, `jobs` is the
    number of parallel runs, `address` the scheduler of a Dask cluster, and `tell` gets a line per artefact.
    `planned` takes the planned runs of each case instead of those of `effort`. Raises LookupError when a
    paper does not say which controls are its own.
    """
    papers = {paper.name: paper for paper, _ in chosen}
    for paper in papers.values():
        if not paper.controls:
            raise LookupError(
                f'{paper.name}: paper.toml does not name the paper\'s own controls: controls = ["cubic"]'
            )
    inquiries = [
        _inquiry(
            paper, artefact, effort.at(paper.setting), plan_of(paper, artefact, effort) if planned else {}
        )
        for paper, artefact in chosen
        if artefact.claims
    ]
    assignments = [
        (index, place, assignment)
        for index, inquiry in enumerate(inquiries)
        for place, assignment in enumerate(inquiry.assignments)
    ]
    finished: dict[int, dict[int, Judgement]] = defaultdict(dict)
    rows: dict[int, list[Exchange]] = {}
    errors: dict[str, list[str]] = defaultdict(list)

    def conclude(index: int) -> None:
        inquiry = inquiries[index]
        name = f"{inquiry.paper.name}/{inquiry.artefact.name}"
        rows[index], error = _rows(inquiry, finished.pop(index, {}))
        if error:
            errors[inquiry.paper.name].append(f"{name}: {error}")
        said = exchanges.counts(each.outcome for each in rows[index])
        tell(f"{name}: {counted(len(rows[index]), 'claim')}: {error or said}")

    for number, judgement in judge([each for *_, each in assignments], store, jobs, address):
        index, place, _ = assignments[number]
        finished[index][place] = judgement
        if len(finished[index]) == len(inquiries[index].assignments):
            conclude(index)
    for index, inquiry in enumerate(inquiries):
        if not inquiry.assignments:
            conclude(index)
    return [
        ExchangedPaper(
            paper,
            [row for index, each in enumerate(inquiries) if each.paper is paper for row in rows[index]],
            errors[paper.name],
        )
        for paper in papers.values()
    ]


def _inquiry(paper: Paper, artefact: Artefact, effort: Effort, plan: Mapping[str, int]) -> _Inquiry:
    """Return which claims of an artefact can be exchanged, and why the others cannot."""
    if not isinstance(artefact, Simulated):
        return _Inquiry(paper, artefact, (), {claim.name: FORMULA for claim in artefact.claims})
    main = paper.main_claims.get(artefact.name)
    assignment = Assignment.of(artefact, effort)
    if assignment.error:
        refused = dict.fromkeys((claim.name for claim in artefact.claims), assignment.error)
        return _Inquiry(paper, artefact, (), refused, error=assignment.error)
    cases = Numbers(dict.fromkeys(assignment.jobs, ()))
    own = set(paper.controls)
    refused = {}
    exchangeable: dict[str, list[Claim]] = {}
    for claim in artefact.claims:
        controls = controls_of(assignment, cases, claim)
        if not claim.cases(cases.rows):
            refused[claim.name] = FORMULA
        elif main is not None and main.kind == "live":
            refused[claim.name] = LIVE
        elif own & set(controls):
            exchangeable.setdefault(RENO, []).append(claim)
        elif controls == [RENO]:
            exchangeable.setdefault(CUBIC, []).append(claim)
        else:
            refused[claim.name] = (
                f"its runs do not have {' or '.join(paper.controls)}, "
                f"only {', '.join(controls) or 'flows without a control'}"
            )
    exchanged = [
        Exchanged(artefact, claims, control, own if control == RENO else {RENO})
        for control, claims in exchangeable.items()
    ]
    if not exchanged:
        return _Inquiry(paper, artefact, (), refused)
    read = [claim for each in exchanged for claim in each.claims]
    wanted = {case for claim in read for case in claim.cases(cases.rows)}

    def cases_read(known: Effort) -> Mapping[Key, Case]:
        return {key: case for key, case in artefact.cases(known).items() if key in wanted}

    alone = replace(artefact, claims=tuple(map(guarded, read)), cases=cases_read, trace=None)
    assignments = [each.assignment(effort, plan) for each in exchanged]
    return _Inquiry(paper, artefact, exchanged, refused, [Assignment.of(alone, effort, plan), *assignments])


def _rows(inquiry: _Inquiry, judgements: Mapping[int, Judgement]) -> tuple[list[Exchange], str]:
    """Return a row per claim of an artefact, and the error of its own runs."""
    name = inquiry.artefact.name
    rows = {
        claim: Exchange(name, claim, "", "", exchanges.CANNOT, "", reason, 0)
        for claim, reason in inquiry.refused.items()
    }
    first = judgements.get(0, Judgement())
    before = {claim.name: judged for claim, judged in first.claims}
    for place, exchanged in enumerate(inquiry.exchanged, 1):
        after = {claim.name: judged for claim, judged in judgements[place].claims}
        for claim in exchanged.claims:
            own = _state(before.get(claim.name))
            if claim.name in after:
                row = exchanged.outcome(claim, after[claim.name], own, judgements[place].numbers)
            else:
                reason = f"its runs failed with {exchanged.control}: {judgements[place].error}"
                row = Exchange(name, claim.name, own, exchanged.control, exchanges.CANNOT, "", reason, 0)
            if own != "holds":
                with_own = own.replace("undecided", "is undecided") or f"cannot be judged ({first.error})"
                reason = f"with the paper's own control it {with_own} in as many runs"
                if row.outcome != exchanges.CANNOT:
                    reason += f"; with {exchanged.control} it {AFTER[row.outcome]}"
                row = row._replace(outcome=exchanges.NOT_BEFORE, reason=reason)
            rows[claim.name] = row
    return [rows[claim.name] for claim in inquiry.artefact.claims], inquiry.error or first.error


def _state(judged: Judged | None) -> Own:
    """Return whether a claim holds, as a word; nothing where it was not judged."""
    if judged is None:
        return ""
    return "undecided" if judged.undecided else "holds" if judged.holds else "does not hold"
