"""The record of an artefact in ``artefact.json``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from ackclock.reproduction.trials.tried import VerdictKind


class SingleRuns(TypedDict):
    """The share of single runs in which a claim holds, with its exact interval."""

    hold: int
    runs: int
    low: float
    high: float


class HalvesRecord(TypedDict):
    """The outcomes of a claim in the even runs alone and in the odd runs alone.

    Whether it holds in each half; None if the half leaves it undecided.
    """

    even: bool | None
    odd: bool | None


class FormerCheck(TypedDict):
    """The former check of a claim, changed after its first run, and its present result."""

    tolerance: str
    measured: str
    holds: bool
    undecided: bool


class Ns2Record(TypedDict):
    """The result of ns-2 for a claim, and whether the claim holds there; None if that is not decided.

    `near` tells whether its numbers are within the claim's tolerance of ours; None if that is not known.
    `approximate` are agents with another control than ours. `missing` has the changes of the paper's setting
    that were not run in ns-2; an empty text is the setting itself.
    """

    measured: str
    holds: bool | None
    near: NotRequired[bool | None]
    approximate: NotRequired[list[str]]
    missing: NotRequired[list[str]]


class OtherSetting(TypedDict):
    """A claim at the other setting of its paper, where two settings cannot be distinguished."""

    measured: str
    holds: bool
    undecided: bool
    verdict: VerdictKind


class ClaimRecord(TypedDict):
    """A claim, its numbers at the paper's setting, and its verdict."""

    id: str
    claim: str
    paper: str
    source: NotRequired[str]
    tolerance: str
    measured: str
    tolerances_missed: NotRequired[float | None]
    ns2: NotRequired[Ns2Record | None]
    controls: NotRequired[list[str]]
    holds: bool
    single_runs: NotRequired[SingleRuns | None]
    halves: NotRequired[HalvesRecord | None]
    wrong_probability: NotRequired[float | None]
    verdict: VerdictKind
    alternative: NotRequired[OtherSetting | None]
    robust: bool
    holding_settings: int
    tried_settings: int
    depends_on: str
    finding: str
    finding_id: str
    former: NotRequired[FormerCheck | None]


class CaseRecord(TypedDict):
    """The scenario of a case, the number of its runs, and whether all of them are alike, packet by packet."""

    file: str
    runs: int
    alike: NotRequired[bool]


class LossesRecord(TypedDict):
    """Drops over packets of a kind of flow in the runs of a case, where kinds of flow share a link.

    `low` and `high` are the ends of the 95 % interval over runs, None where there is none, and `fewest_drops`
    those of all kinds in the run with the fewest.
    """

    case: str
    kind: str
    drops_over_packets: float
    low: float | None
    high: float | None
    runs: int
    fewest_drops: int


class ArtefactRecord(TypedDict):
    """An artefact: how it was made, and its claims."""

    paper: str
    name: str
    title: str
    version: str
    engine: str
    rules: NotRequired[int]
    commit: NotRequired[str]
    published: NotRequired[str]
    fingerprint: str
    quick: bool
    profile: NotRequired[str]
    cases: dict[str, CaseRecord]
    claims: list[ClaimRecord]
    losses: NotRequired[list[LossesRecord]]
    expected_wrong_claims: NotRequired[float]
    error: str


def alike(record: ArtefactRecord) -> str:
    """Return a sentence about cases with identical runs; empty if there are none."""
    cases = [label for label, case in record.get("cases", {}).items() if case.get("alike")]
    if not cases:
        return ""
    others = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
    return (
        f"All runs of {cases[0]}{others} are alike, because nothing in the scenario is random: "
        "their intervals and single runs prove nothing."
    )


def state(claim: ClaimRecord) -> str:
    """Return the outcome of a claim: it ``holds``, ``does not hold``, or is ``undecided``."""
    if claim["verdict"] == "undecided":
        return "undecided"
    return "holds" if claim["verdict"] == "reproduced" else "does not hold"


@dataclass(frozen=True)
class Reliability:
    """How far the decisions of many claims can be relied on.

    `decided` is the number of claims with a decision, and about `wrong` of these decisions are expected to be
    wrong. Among the claims with runs that could be halved, `both` were decided by each half, `contradicting`
    of them in opposite ways, and `one_only` by a single half.
    """

    decided: int
    wrong: float
    both: int
    contradicting: int
    one_only: int

    def sentences(self) -> list[str]:
        """Return the sentences for people; none if nothing is decided."""
        if not self.decided:
            return []
        said = [
            f"About {self.wrong:.1f} of the {self.decided} decided claims are expected to be decided wrongly."
        ]
        if self.both + self.one_only:
            said.append(
                f"Judged by the even and by the odd runs alone, {self.both} claims are decided by each half, "
                f"and {self.contradicting} of them in opposite ways; {self.one_only} are decided by one half."
            )
        return said


def reliability(records: Iterable[ArtefactRecord]) -> Reliability:
    """Return how far the decisions of all claims of some artefacts can be relied on."""
    every = list(records)
    claims = [claim for record in every for claim in record["claims"]]
    halves = [(half["even"], half["odd"]) for claim in claims if (half := claim.get("halves"))]
    both = [(even, odd) for even, odd in halves if even is not None and odd is not None]
    return Reliability(
        decided=sum(claim["verdict"] != "undecided" for claim in claims),
        wrong=math.fsum(record.get("expected_wrong_claims", 0.0) for record in every),
        both=len(both),
        contradicting=sum(even != odd for even, odd in both),
        one_only=sum((even is None) != (odd is None) for even, odd in halves),
    )
