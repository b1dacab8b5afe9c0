"""Settings tried on the claims of a paper: runs, outcomes and scores, all of them remembered."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ackclock.reproduction.artefact import Artefact
from ackclock.reproduction.claims import LEAST_LIKELIHOOD, likelihood
from ackclock.reproduction.fingerprint import MEASURING, fingerprint
from ackclock.reproduction.judge import Asked, Judgement, judge
from ackclock.reproduction.numbers import QUICK
from ackclock.reproduction.paper import CONDITIONS, Paper
from ackclock.reproduction.settings import Setting
from ackclock.reproduction.tried import ClaimKey, Outcome, Trial
from ackclock.runs import Store


class Search:
    """Tries settings of a paper and remembers all of them.

    `store` is open and has earlier runs and outcomes. Raises LookupError when the paper does not name
    the claims that choose, or names an unknown one.
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
        self.trials: list[Trial] = []

    def scored(self, *kinds: str) -> list[Artefact]:
        """Return the artefacts with claims that choose (``fit``) or test (``held_out``)."""
        names = {name for kind in kinds or self.claims for name, _ in self.claims[kind]}
        return [artefact for artefact in self.paper.artefacts if artefact.name in names]

    def look(
        self,
        settings: Sequence[Setting],
        artefacts: Sequence[Artefact],
        stage: str,
        runs: int,
        first_run: int = 0,
    ) -> list[Trial]:
        """Judge artefacts at settings for a stage of the search, and return a trial per setting."""
        self.tell(f"{self.paper.name}: {stage}, {len(settings)} settings, {runs} runs each")
        conditions = [self.paper.conditions] if self.paper.conditions else []
        shown = [*conditions, *artefacts]
        effort = replace(QUICK, runs=runs, first_run=first_run)
        asked = [Asked.of(artefact, effort.at(setting)) for setting in settings for artefact in shown]
        seen = [self._kept(request) for request in asked]
        due = [index for index, request in enumerate(seen) if request is None]
        judged = judge([asked[index] for index in due], self.store, self.jobs, self.address)
        for number, judgement in judged:
            index = due[number]
            seen[index] = self._keep(asked[index], Seen.of(judgement, runs))
            if judgement.error:
                self.tell(f"{self.paper.name}/{asked[index].artefact.name}: {judgement.error}")
        trials = []
        for number, setting in enumerate(settings):
            mine = seen[number * len(shown) : (number + 1) * len(shown)]
            by_name = {artefact.name: got for artefact, got in zip(shown, mine, strict=True) if got}
            trials.append(self._trial(setting, by_name, stage, runs, first_run))
        self.trials += trials
        return trials

    def _name(self, asked: Asked) -> str:
        return f"judged/{fingerprint(asked, f'ackclock_papers.{self.paper.name}', MEASURING)}"

    def _kept(self, asked: Asked) -> Seen | None:
        record = None if self.store is None else self.store.note(self._name(asked))
        if record is None:
            return None
        error, claims = record
        return Seen(error, {name: SeenClaim(*fields) for name, fields in claims.items()})

    def _keep(self, asked: Asked, seen: Seen) -> Seen:
        if self.store is not None and not seen.error:
            self.store.write_note(self._name(asked), seen)
        return seen

    def _trial(self, setting: Setting, seen: Mapping[str, Seen], stage: str, runs: int, first: int) -> Trial:
        stated = {CONDITIONS} & set(seen)
        possible = all(
            not seen[name].error and all(claim.holds for claim in seen[name].claims.values())
            for name in stated
        )
        outcomes = {
            (name, sentence): Outcome(said.holds, said.value, said.undecided)
            for name, outcome in seen.items()
            for sentence, said in outcome.claims.items()
            if name not in stated
        }
        scores = {}
        for kind, keys in self.claims.items():
            mean, *per_run = (_score(seen, keys, index) for index in range(runs + 1))
            if not math.isnan(mean):
                scores[kind] = mean
                if runs > 1:
                    scores[f"{kind}_error"] = float(np.std(per_run, ddof=1) / math.sqrt(runs))
        return Trial(setting, stage, runs, first, possible, scores, outcomes)


class SeenClaim(NamedTuple):
    """The outcome of a claim: whether it holds, its number, and logarithms of likelihoods.

    The first logarithm is for all runs together; one for each run follows. `undecided` is as in `Judged`.
    """

    holds: bool
    value: float
    likelihoods: list[float]
    undecided: bool


class Seen(NamedTuple):
    """The outcome of an artefact: an error, or its claims by name."""

    error: str
    claims: Mapping[str, SeenClaim]

    @classmethod
    def of(cls, judgement: Judgement, runs: int) -> Seen:
        """Keep the part of a judgement that a search needs, without its runs."""
        numbers = [judgement.numbers, *(judgement.numbers.only(run) for run in range(runs))]
        claims = {}
        for claim, said in judgement.claims:
            chances = [likelihood(claim.target, claim.judge(run)) for run in numbers]
            holds, value = bool(said.holds), float(said.value)
            claims[claim.name] = SeenClaim(holds, value, list(map(math.log, chances)), bool(said.undecided))
        return cls(judgement.error, claims)


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


def _score(seen: Mapping[str, Seen], keys: set[ClaimKey], index: int) -> float:
    """Return the mean log-likelihood of claims, with equal weights of artefacts, for all runs or for one."""
    by_artefact = []
    for name, outcome in seen.items():
        wanted = [claim for artefact, claim in keys if artefact == name]
        if wanted and outcome.error:
            by_artefact.append(math.log(LEAST_LIKELIHOOD))
        elif wanted:
            # Sums of numbers depend on their order, which that of a set is not.
            logarithms = [outcome.claims[claim].likelihoods[index] for claim in sorted(wanted)]
            by_artefact.append(math.fsum(logarithms) / len(logarithms))
    return math.fsum(by_artefact) / len(by_artefact) if by_artefact else math.nan
