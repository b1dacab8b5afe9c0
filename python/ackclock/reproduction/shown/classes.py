"""The class of an artefact: the outcome of the one claim that a reader of the paper would name for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from ackclock.reproduction.main_claims import MainClaim
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ClaimRecord

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "reproduced": "the main claim holds, in packets",
        "verified": "the main claim holds, and is a formula",
        "setting": "a drawing or a table that defines something and shows no result",
        "analogue": "measured on the Internet by the paper, and simulated here",
        "undecided": "the 95 % interval of the main claim's number allows both answers",
        "possible as one run": "the main claim does not hold on average, but in one run of twenty or more",
        "depends on a setting": "the main claim holds at one setting or reading and not at another",
        "unknown code": "the paper leaves open how its control works, and its code is not public",
        "two simulators differ": "the main claim does not hold here, and ns-2 has another answer or number",
        "fails in ns-2, too": "the main claim does not hold in ns-2 either: with the paper's control its "
        "number is near ours at every setting that may be the paper's",
        "the paper contradicts itself": "the main claim cannot hold together with the rest of the paper",
        "not found": "the main claim holds at no setting and no reading that was tried",
        "differs": "the main claim does not hold, and not every reading, alone and with others, was tried",
        "not checked": "no claim states the main claim, or the artefact whose claims state it was not run",
        "failed": "a run failed",
    }
)
"""The classes and their meanings. If several claims state a main claim, the last class here counts."""
GROUPS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "holds": ("reproduced", "verified"),
        "fails in a second simulator, too": ("fails in ns-2, too",),
        "depends on a setting that the paper does not state": ("depends on a setting",),
        "open": (
            "undecided",
            "possible as one run",
            "unknown code",
            "two simulators differ",
            "the paper contradicts itself",
            "not found",
            "differs",
            "not checked",
        ),
    }
)
"""The classes of artefacts with a main claim, in the groups that every screen and page has."""
HOLDS, OTHER_SIMULATOR, SETTING, OPEN = GROUPS
FAILED = "failed"
NO_CLAIM = "no main claim"
"""Replaces a group for artefacts without a claim that packets could show."""
POSSIBLE = 0.05
"""A claim is possible as one run if it holds in this share of single runs."""


@dataclass(frozen=True)
class Classified:
    """The class of an artefact, its main claim, the claims that state it, and the claims with this class."""

    name: str
    main: MainClaim | None
    stated: Sequence[ClaimRecord] = ()
    deciding: Sequence[ClaimRecord] = ()

    @property
    def group(self) -> str:
        """The group of `GROUPS` with its class; `FAILED` without a result; or `NO_CLAIM`."""
        if self.name == FAILED:
            return FAILED
        return next((group for group, names in GROUPS.items() if self.name in names), NO_CLAIM)

    @property
    def holds(self) -> bool | None:
        """Whether the main claim holds; None when that is not known."""
        if not self.stated or self.name in ("undecided", "not checked", "failed"):
            return None
        return all(claim["holds"] for claim in self.stated)

    @property
    def runs(self) -> int:
        """The most runs of a claim with this class; 0 for formulas."""
        runs = (claim.get("single_runs") for claim in self.deciding)
        return max((alone["runs"] for alone in runs if alone), default=0)


def classify(paper: Paper, records: Iterable[Mapping[str, Any]]) -> dict[str, Classified]:
    """Return the class of every artefact of a paper that has a record, by its name.

    `records` are those of ``artefact.json``, or contain them. A main claim that another artefact's claims
    state needs the record of that artefact, too.
    """
    known = {record["name"]: record for record in records if record["paper"] == paper.name}
    claims = {claim["id"]: claim for record in known.values() for claim in record["claims"]}
    return {name: _classified(paper, record, claims) for name, record in known.items()}


def _classified(paper: Paper, record: Mapping[str, Any], claims: Mapping[str, ClaimRecord]) -> Classified:
    main = paper.main_claims.get(record["name"])
    if record["error"]:
        return Classified("failed", main)
    if main is None:
        return Classified("not checked", None)
    stated: list[ClaimRecord] = []
    is_complete = bool(main.ids)
    for name in main.ids:
        pattern = f"{paper.name}/{name}" if "/" in name else f"{paper.name}/{record['name']}/{name}"
        named = [claim for claim_id, claim in claims.items() if fnmatchcase(claim_id, pattern)]
        stated += named
        is_complete &= bool(named)
    fixed = {"setting": "setting", "live": "analogue"}.get(main.kind)
    if fixed:
        return Classified(fixed, main, stated, [claim for claim in stated if not claim["holds"]] or stated)
    if not is_complete:
        return Classified("not checked", main)
    holds = "verified" if main.kind == "formula" else "reproduced"
    order = list(CLASSES)
    unknown = set(paper.unknown_code)
    kinds = [_class_of_claim(claim, holds, unknown) for claim in stated]
    name = max(kinds, key=order.index)
    deciding = [claim for claim, kind in zip(stated, kinds, strict=True) if kind == name]
    return Classified(name, main, stated, deciding)


def _class_of_claim(claim: ClaimRecord, holds: str, unknown: set[str]) -> str:
    kind, other = claim["verdict"], claim.get("alternative")
    if kind == "reproduced":
        return "depends on a setting" if other and not (other["holds"] or other["undecided"]) else holds
    if kind in ("undecided", "contradicted"):
        return "undecided" if kind == "undecided" else "the paper contradicts itself"
    # ns-2 cannot contradict a claim that holds at another plausible setting.
    if kind == "depends" or (other and other["holds"] and not other["undecided"]):
        return "depends on a setting"
    in_ns2 = claim.get("ns2")
    if in_ns2 and (in_ns2["holds"] or in_ns2.get("near") is False):
        return "two simulators differ"
    if in_ns2 and not lacking(claim):
        return "fails in ns-2, too"
    if unknown & set(claim.get("controls", ())):
        return "unknown code"
    alone = claim.get("single_runs")
    if alone is not None and alone["hold"] and alone["hold"] >= POSSIBLE * alone["runs"]:
        return "possible as one run"
    return kind


def lacking(claim: ClaimRecord) -> list[str]:
    """Return reasons why ns-2 does not prove that a claim fails there, too; none if it proves it."""
    in_ns2, other = claim.get("ns2"), claim.get("alternative")
    if in_ns2 is None:
        return ["ns-2 was not asked"]
    said = [f"ns-2 has another control, {agent}" for agent in in_ns2.get("approximate", ())]
    said += [f"ns-2 was not asked {_at(change)}" for change in in_ns2.get("missing", ())]
    if in_ns2["holds"]:
        said.append("it holds in ns-2")
    elif in_ns2["holds"] is None:
        said.append("ns-2 leaves it undecided")
    if not in_ns2.get("near"):
        far = in_ns2.get("near") is False
        said.append("ns-2's number is not ours" if far else "ns-2's number is not shown to be near ours")
    if other and other["undecided"]:
        said.append("it is undecided at the other setting")
    return said


def unproven(classified: Classified) -> list[str]:
    """Return why ns-2, where it was asked, does not prove that a main claim fails there, too.

    A claim that holds at another setting cannot be proven to fail.
    """
    if classified.name in GROUPS[SETTING]:
        return []
    claims = [claim for claim in classified.deciding if claim.get("ns2") and not claim["holds"]]
    return list(dict.fromkeys(reason for claim in claims for reason in lacking(claim)))


def _at(change: str) -> str:
    return f"with {change}" if change else "at the paper's setting"


def counts(classified: Iterable[Classified]) -> dict[str, int]:
    """Return the number of artefacts by group; those without a result or a main claim come last."""
    count = Counter(each.group for each in classified)
    return {name: count[name] for name in (*GROUPS, FAILED, NO_CLAIM) if count[name]}
