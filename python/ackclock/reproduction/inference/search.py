"""Settings tried on the claims of a paper: runs, outcomes and scores, all of them remembered."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean as mean
from typing import NamedTuple

from ackclock.reproduction.claims import losses
from ackclock.reproduction.claims.artefact import Artefact, Simulated
from ackclock.reproduction.claims.judge import Assignment, Judgement, judge
from ackclock.reproduction.claims.numbers import QUICK
from ackclock.reproduction.claims.records import CONDITIONS
from ackclock.reproduction.claims.usual import LEAST_CLOSENESS, closeness
from ackclock.reproduction.inference.fingerprint import MEASURING, fingerprint
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.trials.settings import Setting
from ackclock.reproduction.trials.tried import LOSSES, ClaimKey, Outcome, Trial
from ackclock.runs import Store

TELL_EVERY_S = 10.0
"""A long stage reports its progress at this interval."""


class Search:
    """Tries settings of a paper and remembers all of them.

    `store` is open and has earlier runs and outcomes. `judged` are the artefacts that do not cost too much,
    and `scored` are those `judged` artefacts that are simulated, depend on an open item and have claims.
    `claims` has the claims that were named before any run to choose (``fit``) and to test (``held_out``).
    Raises LookupError when the paper has no ``[inference]``, or it names an unknown claim.
    """

    def __init__(
        self,
        paper: Paper,
        store: Store | None,
        jobs: int | None,
        tell: Callable[[str], None],
        address: str | None = None,
    ) -> None:
        self.paper, self.store, self.jobs, self.tell = paper, store, jobs, tell
        self.address = address
        if paper.inference is None:
            raise LookupError(f"{paper.name}: paper.toml has no [inference]")
        self.claims = {
            "fit": _claims(paper, paper.inference.fit),
            "held_out": _claims(paper, paper.inference.held_out),
        }
        both = self.claims["fit"] & self.claims["held_out"]
        if both:
            raise LookupError(f"{paper.name}: {sorted(both)[0]} is in both fit and held_out")
        self.judged = [each for each in paper.artefacts if each.name not in paper.inference.left_out]
        self.scored = [
            artefact
            for artefact in self.judged
            if isinstance(artefact, Simulated) and artefact.claims and paper.relevant(artefact)
        ]
        self.refining_runs = paper.inference.runs
        self.trials: list[Trial] = []
        self._pace = _Pace()

    def expect(self, passes: float) -> None:
        """Say how many runs of every artefact there will be, about, for the time that is left."""
        self._pace.total = passes * len(self.judged)

    def look(
        self,
        settings: Sequence[Setting],
        artefacts: Sequence[Artefact],
        stage: str,
        runs: int,
        first_run: int = 0,
        like: Trial | None = None,
    ) -> list[Trial]:
        """Judge artefacts at settings for a stage of the search, and return a trial per setting.

        Where an artefact cannot differ from the trial `like` with the same seeds, its outcome is that one's.
        """
        prefix = f"{self.paper.name}: {stage}, {len(settings)} settings, {runs} runs each"
        self.tell(prefix + self._pace.words())
        conditions = [self.paper.conditions] if self.paper.conditions else []
        shown = [
            (number, artefact)
            for number, setting in enumerate(settings)
            for artefact in [*conditions, *artefacts]
            if like is None or self.paper.differs(artefact, like.setting, setting)
        ]
        effort = replace(QUICK, runs=runs, first_run=first_run)
        # Whether a setting is possible does not depend on the stage that asks.
        efforts = {artefact.name: replace(effort, first_run=0) for artefact in conditions}
        assignments = [
            Assignment.of(artefact, efforts.get(artefact.name, effort).at(settings[number]))
            for number, artefact in shown
        ]
        outcomes = [self._kept(assignment) for assignment in assignments]
        pending = [index for index, outcome in enumerate(outcomes) if outcome is None]
        self._pace.skip(runs * (len(assignments) - len(pending)))
        reported_s = time.monotonic()
        judged = judge([assignments[index] for index in pending], self.store, self.jobs, self.address)
        for done, (number, judgement) in enumerate(judged, 1):
            index = pending[number]
            outcomes[index] = self._keep(assignments[index], ArtefactOutcome.of(judgement, runs))
            if judgement.error:
                self.tell(f"{self.paper.name}/{assignments[index].artefact.name}: {judgement.error}")
            self._pace.advance(runs)
            if time.monotonic() - reported_s >= TELL_EVERY_S:
                reported_s = time.monotonic()
                self.tell(f"{prefix}, {done} of {len(pending)} artefacts{self._pace.words()}")
        trials = []
        for number, setting in enumerate(settings):
            by_name = {
                artefact.name: outcome
                for (of, artefact), outcome in zip(shown, outcomes, strict=True)
                if of == number and outcome
            }
            trials.append(self._trial(setting, by_name, stage, runs, first_run, like))
        self.trials += trials
        return trials

    def _name(self, assignment: Assignment) -> str:
        return f"judged/{fingerprint(assignment, self.paper.home, MEASURING)}"

    def _kept(self, assignment: Assignment) -> ArtefactOutcome | None:
        record = None if self.store is None else self.store.note(self._name(assignment))
        if record is None:
            return None
        error, claims = record
        return ArtefactOutcome(error, {name: ClaimOutcome(*fields) for name, fields in claims.items()})

    def _keep(self, assignment: Assignment, outcome: ArtefactOutcome) -> ArtefactOutcome:
        if self.store is not None and not outcome.error:
            self.store.write_note(self._name(assignment), outcome)
        return outcome

    def _trial(
        self,
        setting: Setting,
        artefact_outcomes: Mapping[str, ArtefactOutcome],
        stage: str,
        runs: int,
        first_run: int,
        like: Trial | None,
    ) -> Trial:
        possible, departure = (like.possible, like.scores.get(LOSSES)) if like else (True, None)
        if CONDITIONS in artefact_outcomes:
            stated = artefact_outcomes[CONDITIONS]
            against = {name for name, claim in stated.claims.items() if not claim.holds}
            possible = not stated.error and not against
            known = stated.claims.get(losses.NAME) if against <= {losses.NAME} else None
            departure = known.value if known and math.isfinite(known.value) else None
        outcomes = dict(like.outcomes) if like else {}
        by_artefact = dict(like.by_artefact) if like else {}
        by_claim = dict(like.by_claim) if like else {}
        for name, outcome in artefact_outcomes.items():
            if name != CONDITIONS:
                outcomes = {key: known for key, known in outcomes.items() if key[0] != name}
                for claim, said in outcome.claims.items():
                    outcomes[name, claim] = Outcome(said.holds, said.value, said.undecided)
                    by_claim[name, claim] = said.scores
                by_artefact[name] = outcome.scores(outcome.claims, runs)
        scores = {} if departure is None else {LOSSES: departure}
        if self.scored and all(artefact.name in by_artefact for artefact in self.scored):
            scores["score"] = mean([mean(by_artefact[artefact.name]) for artefact in self.scored])
        for kind, keys in self.claims.items():
            named = {name: [claim for of, claim in sorted(keys) if of == name] for name in artefact_outcomes}
            means = [
                mean(artefact_outcomes[name].scores(claims, runs)) for name, claims in named.items() if claims
            ]
            if means and like is None:
                scores[kind] = mean(means)
        return Trial(setting, stage, runs, first_run, possible, scores, outcomes, by_artefact, by_claim)


class ClaimOutcome(NamedTuple):
    """The outcome of a claim: whether it holds, its number, and its score in each run.

    A score is the logarithm of the `closeness`. `undecided` is as in `Judged`.
    """

    holds: bool
    value: float
    scores: list[float]
    undecided: bool


class ArtefactOutcome(NamedTuple):
    """The outcome of an artefact: an error, or its claims by name."""

    error: str
    claims: Mapping[str, ClaimOutcome]

    @classmethod
    def of(cls, judgement: Judgement, runs: int) -> ArtefactOutcome:
        """Keep the part of a judgement that a search needs, without its runs."""
        numbers = [judgement.numbers.only(run) for run in range(runs)]
        claims = {}
        for claim, said in judgement.claims:
            scores = [math.log(closeness(claim.target, claim.judge(run))) for run in numbers]
            claims[claim.name] = ClaimOutcome(
                bool(said.holds), float(said.value), scores, bool(said.undecided)
            )
        return cls(judgement.error, claims)

    def scores(self, claims: Iterable[str], runs: int) -> list[float]:
        """Return the mean score of claims in each run."""
        if self.error:
            return [math.log(LEAST_CLOSENESS)] * runs
        of_claims = [self.claims[claim].scores for claim in claims]
        return [mean([scores[run] for scores in of_claims]) for run in range(runs)] if of_claims else []


class _Pace:
    """The time that a search will still take, from the time that its judgements took."""

    def __init__(self) -> None:
        self.total = 0.0
        self._begin = time.monotonic()
        self._done = self._worked = 0

    def skip(self, known: int) -> None:
        """Count runs of artefacts with a known outcome."""
        self._done += known

    def advance(self, runs: int) -> None:
        """Count runs of an artefact that was judged."""
        self._done += runs
        self._worked += runs

    def words(self) -> str:
        """Return how much is done, and the time left once that can be said."""
        if not self.total:
            return ""
        words = f"; {self._done} of about {max(self.total, self._done):.0f} runs of artefacts"
        if self._worked:
            per_run_s = (time.monotonic() - self._begin) / self._worked
            words += f", about {max(self.total - self._done, 0) * per_run_s / 60:.0f} min left"
        return words


def _claims(paper: Paper, wanted: Mapping[str, Sequence[str]]) -> set[ClaimKey]:
    keys = set()
    for name, claims in wanted.items():
        known = [artefact for artefact in paper.artefacts if artefact.name == name]
        if not known:
            raise LookupError(f"{paper.name} has no {name}, which [inference] names")
        every = {claim.name for claim in known[0].claims}
        unknown = set(claims) - every - {"*"}
        if unknown:
            raise LookupError(f"{paper.name}/{name} has no claim {sorted(unknown)[0]!r}")
        keys |= {(name, claim_name) for claim_name in (every if "*" in claims else claims)}
    return keys
