"""How many runs each case of an artefact needs, planned from a pilot: a table next to a paper's data file."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from ackclock.decision import runs_to_decide
from ackclock.reproduction.artefact import Artefact, Simulated
from ackclock.reproduction.judge import Asked, Judgement, judge
from ackclock.reproduction.numbers import FULL, Key
from ackclock.reproduction.paper import Paper
from ackclock.runs import Store

PILOT = replace(FULL, first_run=1000)
"""The runs from which the others are planned. No judged run has such a number: the plan follows from none of
the runs that it asks for, so none of these can have been added until they said what was wanted."""
LEAST = FULL.runs
LEAST_COSTLY = 3
"""Fewest runs where even `LEAST` cost more than `MOST_PACKETS`: with two an interval is 13 errors wide."""
MOST = 100
"""Most runs of a case. What they do not decide is less than 0.28 standard deviations of a run from its limit:
a single run of the paper tells nothing about it."""
MOST_PACKETS = 5e9
"""Most packets that the runs of an artefact may simulate: 20 minutes of a core with 4 million a second. Time
is not measured, so that a plan is the same on any machine."""
COLUMNS = ("artefact", "case", "runs", "claim", "cut")


class Planned(NamedTuple):
    """The number of runs of a case.

    `claim` is the claim that asks for most, empty where none asks for more than the least. `cut` says what
    keeps it from having as many as it asks for: ``most`` is `MOST`, ``cost`` is `MOST_PACKETS`; else empty.
    """

    artefact: str
    case: str
    runs: int
    claim: str = ""
    cut: str = ""


def make(
    chosen: Iterable[tuple[Paper, Artefact]],
    store: Store,
    jobs: int | None = None,
    address: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, list[Planned]]:
    """Make the pilot of artefacts, and return the planned runs of each paper.

    The arguments are those of `ackclock.reproduction.make.reproduce`. An artefact of which the pilot fails
    gets no plan.
    """
    simulated = [(paper, artefact) for paper, artefact in chosen if isinstance(artefact, Simulated)]
    asked = [Asked.of(artefact, PILOT.at(paper.setting)) for paper, artefact in simulated]
    plans: dict[str, list[Planned]] = {}
    for index, judgement in judge(asked, store, jobs, address):
        paper, artefact = simulated[index]
        rows = planned(artefact, judgement)
        plans.setdefault(paper.name, []).extend(rows)
        most = max((row.runs for row in rows), default=0)
        tell(f"{paper.name}/{artefact.name}: {judgement.error or f'at most {most} runs of a case'}")
    return plans


def planned(artefact: Artefact, judgement: Judgement) -> list[Planned]:
    """Plan the runs of the cases of an artefact from its pilot.

    A case gets as many as the claim that needs most of those that read it (`runs_to_decide`). Where
    nothing is random, because the pilot has a single run, one is enough.
    """
    numbers, packets = judgement.numbers, judgement.packets
    random = {case for case, rows in numbers.rows.items() if len(rows) > 1}
    costly = math.fsum(LEAST * packets.get(case, 0.0) for case in random) > MOST_PACKETS
    least = LEAST_COSTLY if costly else LEAST
    wanted = {case: (least if case in random else 1, "", "") for case in numbers.rows}
    for claim, judged in judgement.claims:
        cases = [case for case in numbers.read_by(claim.judge) if case in random]
        if not cases or math.isnan(judged.apart):
            continue
        pilot = min(len(numbers.rows[case]) for case in cases)
        needed = runs_to_decide(judged.apart, pilot, MOST)
        for case in cases:
            if (needed or MOST) > wanted[case][0]:
                wanted[case] = needed or MOST, claim.name, "" if needed else "most"
    ceiling = _affordable({case: runs for case, (runs, *_) in wanted.items()}, packets)
    return [
        Planned(artefact.name, str(case), min(runs, ceiling), claim, "cost" if runs > ceiling else cut)
        for case, (runs, claim, cut) in wanted.items()
    ]


def _affordable(runs: Mapping[Key, int], packets: Mapping[Key, float]) -> int:
    """Return the largest number of runs of a case with which an artefact costs at most `MOST_PACKETS`."""

    def cost(ceiling: int) -> float:
        return math.fsum(min(number, ceiling) * packets.get(case, 0.0) for case, number in runs.items())

    return max(
        [LEAST_COSTLY, *(number for number in range(LEAST_COSTLY, MOST + 1) if cost(number) <= MOST_PACKETS)]
    )


def write(file: Path, rows: Iterable[Planned]) -> None:
    """Write a plan."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    file.write_text(text.getvalue(), encoding="utf-8")


def read(file: Traversable) -> list[Planned]:
    """Read a plan; nothing where there is none."""
    if not file.is_file():
        return []
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return [Planned(row["artefact"], row["case"], int(row["runs"]), row["claim"], row["cut"]) for row in rows]


def merge(earlier: Sequence[Planned], now: Sequence[Planned]) -> list[Planned]:
    """Return a plan in which the artefacts that were planned now replace themselves, ordered by name."""
    new = {row.artefact for row in now}
    return sorted([*(row for row in earlier if row.artefact not in new), *now], key=lambda row: row.artefact)
