"""Section 3: members of the class C-AIMD with other functions than TCP-Illinois's own, on figure 8's link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ackclock.engine import build
from ackclock.reproduction.claims.numbers import Effort, Key
from ackclock.runs import Case
from ackclock_papers.illinois.setting import flow, scenario, seeds_alone


class Member(NamedTuple):
    """The powers of f1, by which alpha falls with the queueing delay, and of f2, by which beta rises."""

    f1_power: float
    f2_power: float

    def __str__(self) -> str:
        return f"C-AIMD with powers {self.f1_power:g} and {self.f2_power:g}"


MEMBERS = (Member(1.0, 2.0), Member(2.0, 0.5))
"""An increase that falls in a straight line with a decrease that rises late, and one that falls at once with
a decrease that rises at once; TCP-Illinois has a hyperbola and a straight line."""


def cases(effort: Effort) -> Mapping[Key, Case]:
    """Declare a run for each member, like those of figure 8."""
    return {
        member: Case(
            scenario([_flow(member, effort)], effort.setting, duration_s=effort.pick(1200, 600)),
            runs=seeds_alone(effort),
        )
        for member in MEMBERS
    }


def _flow(member: Member, effort: Effort) -> build.Table:
    entry = flow("Illinois", effort.setting)
    return entry | {"params": entry.get("params", {}) | {"f1": "power"} | member._asdict()}
