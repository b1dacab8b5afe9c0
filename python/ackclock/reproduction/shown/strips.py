"""The numbers of claims at every setting that was tried, as strips next to the paper's values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.draw.figure import Axis, ticks
from ackclock.reproduction.claims.artefact import Artefact, Claim
from ackclock.reproduction.trials import tried

if TYPE_CHECKING:
    from ackclock.reproduction.paper import Paper

WIDE = 30.0
"""Numbers that differ by a larger factor are placed by their logarithms."""
MARGIN = 0.06
"""Room at both ends, as a share of the range of the numbers."""


EXACT = 1e-4
"""Ranges that are narrower than this share of their upper end are shown as a line."""


@dataclass(frozen=True)
class Strip:
    """A claim's number at every plausible setting. Places are per cent of the width."""

    sentence: str
    settings: Sequence[tuple[float, bool, bool]]
    """Place, whether the claim holds there, and whether the setting is the chosen one."""
    holds: tuple[float, float]
    """Ends of the range in which the claim holds."""
    paper: float | None
    """Place of the paper's value."""
    ticks: Sequence[tuple[float, str]]


def shown(artefact: Artefact, paper: Paper) -> list[Claim]:
    """Return the claims with a strip: their number was measured at two plausible settings or more."""
    return [claim for claim in artefact.claims if len(_values(artefact, claim, paper)) > 1]


def strips(artefact: Artefact, paper: Paper) -> list[Strip]:
    """Return a strip for each claim that has one."""
    return [_strip(claim, _values(artefact, claim, paper)) for claim in shown(artefact, paper)]


def _values(artefact: Artefact, claim: Claim, paper: Paper) -> list[tuple[float, bool, bool]]:
    """Return the number at each plausible setting, whether the claim held, and whether it is chosen."""
    key = (artefact.name, claim.name)
    values = []
    for trial in tried.plausible(paper.trials, key):
        value, holds = trial.outcomes[key].value, trial.outcomes[key].holds
        if claim.target is not None and math.isfinite(value):
            values.append((value, holds, dict(trial.setting) == dict(paper.setting)))
    return values


def _strip(claim: Claim, values: Sequence[tuple[float, bool, bool]]) -> Strip:
    assert claim.target is not None  # noqa: S101
    target = claim.target
    marks = [number for number in (target.low, target.high, target.expected) if number is not None]
    if target.high - target.low < EXACT * abs(target.high):
        # The range would be too narrow to be seen among the numbers.
        marks = [target.high]
    ends = [value for value, *_ in values] + [number for number in marks if math.isfinite(number)]
    is_log = min(ends) > 0 and (target.logarithmic or max(ends) > WIDE * min(ends))
    scale = math.log if is_log else float
    first, last = scale(min(ends)), scale(max(ends))
    room = MARGIN * (last - first or abs(last) or 1.0)
    first, last = first - room, last + room
    low, high = (math.exp(first), math.exp(last)) if is_log else (first, last)

    def position(value: float) -> float:
        inside = min(max(value, low), high)
        return round(100 * (scale(inside) - first) / (last - first), 2)

    return Strip(
        claim.sentence,
        [(position(value), holds, is_chosen) for value, holds, is_chosen in values],
        (position(target.low), position(target.high)),
        None if target.expected is None else position(target.expected),
        [(position(value), word) for value, word in ticks(Axis("", log=is_log), (low, high))],
    )


MEANING = {
    "robust": "holds, and at four of five plausible settings at least",
    "fragile": "holds, but not at four of five plausible settings",
    "untried": "holds, and no other setting was tried",
    "undecided": "undecided: the 95 % interval allows both answers",
    "depends": "does not hold, but does at another value of an open setting",
    "not found": "does not hold at any setting that was tried",
    "contradicted": "does not hold: the paper contradicts itself",
    "differs": "does not hold, and not every reading, alone and with others, was tried",
}
"""The state of a claim, in a few words."""


def counts(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of claims by key of `MEANING`."""
    claims = dict.fromkeys(MEANING, 0)
    for record in records:
        for claim in record["claims"]:
            kind = claim["verdict"]
            if kind == "reproduced" and not claim["tried_settings"]:
                kind = "untried"
            elif kind == "reproduced":
                kind = "robust" if claim["robust"] else "fragile"
            claims[kind] += 1
    return claims
