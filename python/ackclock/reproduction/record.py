"""The record of an artefact in ``artefact.json``."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ackclock.reproduction.tried import VerdictKind


class SingleRuns(TypedDict):
    """The share of single runs in which a claim holds, with its exact interval."""

    hold: int
    runs: int
    low: float
    high: float


class FormerCheck(TypedDict):
    """The check of a claim before it was changed, after it had been run, and what it gives now."""

    tolerance: str
    measured: str
    holds: bool
    undecided: bool


class Ns2Record(TypedDict):
    """What ns-2 measures for a claim, and whether the claim holds there; None where that is not decided."""

    measured: str
    holds: bool | None


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
    tolerance: str
    measured: str
    ns2: NotRequired[Ns2Record | None]
    controls: NotRequired[list[str]]
    holds: bool
    single_runs: NotRequired[SingleRuns | None]
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
    """The scenario of a case and the number of its runs."""

    file: str
    runs: int


class ArtefactRecord(TypedDict):
    """An artefact: how it was made, its claims, and its verdict."""

    paper: str
    name: str
    title: str
    version: str
    engine: str
    fingerprint: str
    quick: bool
    cases: dict[str, CaseRecord]
    claims: list[ClaimRecord]
    expected_wrong_claims: NotRequired[float]
    verdict: str
    error: str
