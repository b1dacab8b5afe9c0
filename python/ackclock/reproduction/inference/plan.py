"""How many runs each case of an artefact needs, planned from a pilot: a table next to a paper's data file."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from ackclock.decision import runs_to_decide
from ackclock.reproduction.claims.artefact import Artefact, Simulated
from ackclock.reproduction.claims.judge import Assignment, Judgement, judge
from ackclock.reproduction.claims.numbers import FULL, QUICK, Effort, Key, Numbers
from ackclock.reproduction.paper import Paper
from ackclock.runs import Store

PILOT = replace(FULL, first_run=1000)
"""The pilot runs, from which the other runs are planned. No judged run has such a number: the plan does not
depend on the runs that it asks for, so nobody can add runs until they give a wanted answer."""
QUICK_PILOT = replace(QUICK, runs=PILOT.runs, first_run=PILOT.first_run)
"""The same for the quick reproduction."""
LEAST = FULL.runs
LEAST_CHEAP = 30
CHEAP_PACKETS = 2e7
"""A case gets up to `LEAST_CHEAP` runs where those beyond `LEAST` simulate no more packets than this: five
seconds of a core."""
HALVES = 2
"""A claim gets this many times the runs that decide it: each half of the seeds alone decides it with the same
probability, and whether the halves agree is a check."""
LEAST_COSTLY = 3
"""Fewest runs where even `LEAST` cost more than `MOST_PACKETS`: with two an interval is 13 errors wide."""
MOST = 100
"""Most runs of a case. A number that they leave undecided is less than 0.28 standard deviations of a run from
its limit: a single run of the paper tells nothing about it."""
MOST_PACKETS = 9e9
"""Most packets that the runs of an artefact may simulate: half an hour of a core with 5 million a second.
Time is not measured, so that a plan is the same on any machine."""
LEAST_QUICK = 12
LEAST_PACKETS_QUICK = 3e5
"""Fewest runs of a case in a quick reproduction, where those beyond three add no more packets than this."""
MOST_PACKETS_QUICK = 1e7
"""Most packets that more runs for a claim may add to a quick reproduction: two seconds of a core. It is a
price by claim, so that the plan of an artefact does not depend on others."""
SURELY = 5 / 3
"""A claim of a quick reproduction gets this many times the runs that decide it with 80 %, where they add at
most `SURE_PACKETS_QUICK`. They decide it with 95 %: by normal quantiles it takes ((1.960 + 1.645) / (1.960 +
0.842))**2 = 1.66 times the runs."""
SURE_PACKETS_QUICK = MOST_PACKETS_QUICK / 2
"""Most packets that the runs of a claim, `SURELY` times as many, may add to a quick reproduction."""
COLUMNS = ("artefact", "case", "runs", "claim", "cut")


class Planned(NamedTuple):
    """The number of runs of a case.

    `claim` is the claim that asks for most runs, empty if none asks for more than the least number. `cut`
    names the bound that denies it some of these runs: ``most`` is `MOST`, ``cost`` is `MOST_PACKETS` or
    `MOST_PACKETS_QUICK`; else empty.
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
    pilot: Effort = PILOT,
) -> dict[str, list[Planned]]:
    """Make the pilot of artefacts, and return the planned runs of each paper.

    With `QUICK_PILOT` as `pilot` the plan is for a quick reproduction. The other arguments are as in
    `ackclock.reproduction.make.reproduce`. An artefact gets no plan if its pilot fails.
    """
    simulated = [(paper, artefact) for paper, artefact in chosen if isinstance(artefact, Simulated)]
    assignments = [Assignment.of(artefact, pilot.at(paper.setting)) for paper, artefact in simulated]
    plans: dict[str, list[Planned]] = {}
    for index, judgement in judge(assignments, store, jobs, address):
        paper, artefact = simulated[index]
        rows = (planned_quick if pilot.quick else planned)(artefact, judgement)
        plans.setdefault(paper.name, []).extend(rows)
        most = max((row.runs for row in rows), default=0)
        tell(f"{paper.name}/{artefact.name}: {judgement.error or f'at most {most} runs of a case'}")
    return plans


def planned(artefact: Artefact, judgement: Judgement) -> list[Planned]:
    """Plan the runs of the cases of an artefact from its pilot.

    A case gets `HALVES` times the runs of the most demanding claim that reads it (`runs_to_decide`). Where
    nothing is random, because the pilot has a single run, one is enough.
    """
    numbers, packets = judgement.numbers, judgement.packets
    random = _random(numbers)
    costly = math.fsum(LEAST * packets.get(case, 0.0) for case in random) > MOST_PACKETS

    def least(case: Key) -> int:
        cost = max(packets.get(case, 0.0), 1.0)
        if case not in random:
            return 1
        if costly and LEAST * cost > CHEAP_PACKETS:
            return LEAST_COSTLY
        return min(LEAST_CHEAP, LEAST + int(CHEAP_PACKETS // cost))

    wanted = {case: (least(case), "", "") for case in numbers.rows}
    for claim, cases, needed in _needs(judgement):
        runs = min(HALVES * (needed or MOST), MOST)
        for case in cases:
            if runs > wanted[case][0]:
                wanted[case] = runs, claim, "" if needed else "most"
    ceilings = _affordable({case: runs for case, (runs, *_) in wanted.items()}, packets)
    return [
        Planned(
            artefact.name,
            str(case),
            min(runs, ceilings[case]),
            claim,
            "cost" if runs > ceilings[case] else cut,
        )
        for case, (runs, claim, cut) in wanted.items()
    ]


def planned_quick(artefact: Artefact, judgement: Judgement) -> list[Planned]:
    """Plan the runs of the cases of an artefact in a quick reproduction from its pilot.

    Cheap cases get twelve. Among the claims that read a case and would add at most `MOST_PACKETS_QUICK`, the
    most demanding one sets its runs, or `SURELY` times as many if these add at most `SURE_PACKETS_QUICK`.
    Other cases keep their runs.
    """
    numbers, packets = judgement.numbers, judgement.packets
    random = _random(numbers)

    def least(case: Key) -> int:
        more = LEAST_PACKETS_QUICK // max(packets.get(case, 0.0), 1.0)
        return min(LEAST_QUICK, QUICK.runs + int(more)) if case in random else 1

    wanted = {case: (least(case), "", "") for case in numbers.rows}

    def price(cases: Sequence[Key], runs: int) -> float:
        return math.fsum(max(runs - wanted[case][0], 0) * packets.get(case, 0.0) for case in cases)

    # Claims that need the fewest runs come first: later claims need not add these runs again.
    for claim, cases, needed in sorted(_needs(judgement), key=lambda need: need[2] or math.inf):
        runs = needed if needed and price(cases, needed) <= MOST_PACKETS_QUICK else None
        if runs is not None:
            surely = min(math.ceil(SURELY * runs), MOST)
            runs = surely if price(cases, surely) <= SURE_PACKETS_QUICK else runs
        for case in cases:
            if runs is not None and runs > wanted[case][0]:
                wanted[case] = runs, claim, wanted[case][2]
            elif runs is None and (needed or MOST) > wanted[case][0] and not wanted[case][2]:
                wanted[case] = (*wanted[case][:2], "cost" if needed else "most")
    return [Planned(artefact.name, str(case), *row) for case, row in wanted.items()]


def _random(numbers: Numbers) -> set[Key]:
    return {case for case, rows in numbers.rows.items() if len(rows) > 1}


def _needs(judgement: Judgement) -> Iterator[tuple[str, list[Key], int | None]]:
    """Yield claims that need runs: name, cases and how many of each, None where `MOST` are too few."""
    numbers = judgement.numbers
    random = _random(numbers)
    for claim, judged in judgement.claims:
        cases = [case for case in claim.cases(numbers.rows) if case in random]
        if cases and not math.isnan(judged.apart):
            pilot = min(len(numbers.rows[case]) for case in cases)
            yield claim.name, cases, runs_to_decide(judged.apart, pilot, MOST)


def _affordable(runs: Mapping[Key, int], packets: Mapping[Key, float]) -> dict[Key, int]:
    """Return the most runs of each case for which an artefact costs at most `MOST_PACKETS`.

    The packets of a case are bounded and not its runs: cheap cases keep their runs if others are costly.
    """

    def ceilings(share: float) -> dict[Key, int]:
        return {
            case: min(number, max(LEAST_COSTLY, int(share // max(packets.get(case, 0.0), 1.0))))
            for case, number in runs.items()
        }

    def is_affordable(share: float) -> bool:
        return math.fsum(n * packets.get(case, 0.0) for case, n in ceilings(share).items()) <= MOST_PACKETS

    low, high = 0.0, MOST_PACKETS
    if is_affordable(high):
        return ceilings(high)
    # Halving 60 times leaves less than a packet.
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_affordable(middle) else (low, middle)
    return ceilings(low)


def write(file: Path, rows: Iterable[Planned]) -> None:
    """Write a plan."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    file.write_text(text.getvalue(), encoding="utf-8")


def read(file: Traversable) -> list[Planned]:
    """Read a plan; a missing file has no rows."""
    if not file.is_file():
        return []
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return [Planned(row["artefact"], row["case"], int(row["runs"]), row["claim"], row["cut"]) for row in rows]


def merge(earlier: Sequence[Planned], now: Sequence[Planned]) -> list[Planned]:
    """Return a plan in which the artefacts that were planned now replace themselves, ordered by name."""
    new = {row.artefact for row in now}
    return sorted([*(row for row in earlier if row.artefact not in new), *now], key=lambda row: row.artefact)
