"""Claims of the papers that used ns-2, judged by runs of ns-2.35 in place of ours: a table per paper.

It runs the scenarios that a claim reads, at the paper's setting, measures them by the claim's own artefact,
and has the claim judge the numbers. Without arguments it makes every table again: for the claims that
tests/verdicts.txt lists, for those that fail in a published result, and for those that a table has already.
Arguments are papers, artefacts or claims. With --missing it runs nothing and lists the runs without which
a main claim cannot be said to fail in ns-2, too.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import bridge
import numpy as np
import polars as pl

from ackclock import engine
from ackclock.reproduction.claims.artefact import Artefact, Claim, Simulated
from ackclock.reproduction.claims.numbers import FULL, QUICK, Effort, Numbers, Row
from ackclock.reproduction.ns2 import COLUMNS, NAME, words
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord, state
from ackclock.reproduction.shown import classes, published
from ackclock.reproduction.trials.settings import Setting
from ackclock_papers import PAPERS
from ackclock_papers.transient.setting import Protocol

ROOT = Path(__file__).parents[2]
VERDICTS = ROOT / "tests" / "verdicts.txt"
EFFORTS = {
    "africa": QUICK,
    "bic": QUICK,
    "illinois": replace(QUICK, runs=10),
    "transient": replace(FULL, runs=20),
}
"""The papers that used ns-2, and how long their runs are here: in full where the link is slow enough. There
are more of them where they are short: three or five left 18 claims undecided in ns-2."""
VARIANTS: Mapping[str, Sequence[Setting]] = {"illinois": ({"overhead": "0 s"},)}
"""Changes of the setting that are run, too: TCP-Linux stops most growth when an overhead is set."""

SEEDS: Mapping[str, int] = {
    "bic/figure-9/20-mbit-s-what-bi-tcp-more-mostly-what": 40,
    "bic/figure-10/bi-tcp-close-to-one-at-all-scales": 5,
    "transient/figure-12/tfrc-and-tear-smoother-than-tcp-and-gaimd": 40,
    "transient/figure-24/gaimd-responds-as-in-figure-26": 107,
    "transient/figure-34/tfrc-takes-much-longer-than-gaimd": 221,
}
"""Claims that get more runs than the others of their paper, because those left them undecided."""

LONGEST_MIN = 10
"""A claim that needs a longer run of ns-2 is not run; its row has the estimate instead."""
UNSEEN = {
    "alpha-alpha-max-always-p-0.005": "ns-2 does not show the alpha of Illinois at a time",
    "beta-beta-min-always-p-0.005": "ns-2 does not show the window right before and after a cut",
}
"""Claims about quantities that polls do not show, with the reason."""

STAND_INS: Mapping[str, Mapping[str, str]] = {
    "tfrc-and-tear-smoother-than-tcp-and-gaimd": {str(Protocol.TEAR): str(Protocol.TFRC)}
}
"""Claims about the worst of several controls; each control that ns-2 lacks is replaced by another of them. A
claim that fails for some of the controls fails for all; a claim that holds for some proves nothing."""


def wanted(names: Sequence[str]) -> list[tuple[Paper, Artefact, Claim]]:
    """Return the claims that are to be judged: those that fail, those that have a row, and those named."""
    chosen: set[str] = set()
    listed = [line.split(" | ")[0] for line in VERDICTS.read_text(encoding="utf-8").splitlines()]
    for name in EFFORTS:
        known = [f"{name}/{row['artefact']}/{row['claim']}" for row in rows_of(name)]
        failed = failed_in_full(name)
        chosen |= {claim for claim in (*listed, *known, *failed) if claim.startswith(f"{name}/")}
    every = {
        f"{paper}/{artefact.name}/{claim.name}": (PAPERS[paper], artefact, claim)
        for paper in EFFORTS
        for artefact in PAPERS[paper].artefacts
        for claim in artefact.claims
    }
    if names:
        chosen = {claim for claim in chosen if any(claim.startswith(f"{name}/") for name in names)}
        chosen |= {name for name in names if name.count("/") == 2}
    unknown = chosen - set(every)
    if unknown:
        raise SystemExit(f"there is no claim {min(unknown)}")
    return [claim for name, claim in every.items() if name in chosen]


def failed_in_full(paper: str) -> list[str]:
    """Return the claims that do not hold in the published result of a paper."""
    result = published.read(ROOT / "papers" / paper / published.NAME)
    claims = (claim for each in result.values() for claim in each.record["claims"])
    return [claim["id"] for claim in claims if not claim["holds"]]


def rows_of(paper: str) -> list[dict[str, str]]:
    """Return the rows of a paper's table."""
    file = table_of(paper)
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def table_of(paper: str) -> Path:
    """Return the file of a paper's table."""
    return ROOT / "python" / "ackclock_papers" / paper / NAME


def changes_of(paper: Paper, artefact: Artefact) -> list[Setting]:
    """Return the changes of the paper's setting with which a claim is run: first none."""
    other = paper.other(artefact)
    return [{}, *VARIANTS.get(paper.name, ()), *([other] if other else [])]


class Missing(NamedTuple):
    """A run of ns-2 that could prove that a main claim fails there, too: the claim, and the change."""

    claim: str
    change: str


def missing(paper: Paper, records: Sequence[ArtefactRecord]) -> Iterator[Missing]:
    """Yield missing runs of ns-2 for main claims that fail at every setting in these records.

    A claim lacks no run if ns-2 has another control for it, or if it is a formula.
    """
    known = {(row["artefact"], row["claim"], row["change"]): row for row in rows_of(paper.name)}
    stated = {
        claim["id"]: claim for each in classes.classify(paper, records).values() for claim in each.stated
    }
    for name, record in stated.items():
        _, of, claim_name = name.split("/")
        artefact = paper[of]
        claim = next((claim for claim in artefact.claims if claim.name == claim_name), None)
        other = record.get("alternative")
        fails = state(record) == "does not hold" and record["verdict"] not in ("depends", "contradicted")
        if claim is None or not fails or (other and (other["holds"] or other["undecided"])):
            continue
        for change in changes_of(paper, artefact):
            row = known.get((of, claim_name, words(change)))
            lacks = row is None or row["holds"] == "undecided"
            if lacks and can_prove(artefact, claim, EFFORTS[paper.name].at(dict(paper.setting) | change)):
                yield Missing(name, words(change))


def can_prove(artefact: Artefact, claim: Claim, effort: Effort) -> bool:
    """Return whether ns-2 has the exact controls of a claim, and shows its quantities."""
    agents = agents_of(artefact, claim, effort)
    return not isinstance(agents, str) and not any("(" in agent for agent in agents)


def agents_of(artefact: Artefact, claim: Claim, effort: Effort) -> list[str] | str:
    """Return the agents of ns-2 by case that a claim reads, or why there are none."""
    read = cases_of(artefact, claim, effort) if isinstance(artefact, Simulated) else []
    if not isinstance(artefact, Simulated) or not read:
        return "a formula, without runs"
    if claim.name in UNSEEN:
        return UNSEEN[claim.name]
    cases, stand_ins = artefact.cases(effort), STAND_INS.get(claim.name, {})
    try:
        agents = [
            bridge.ran(engine.read(cases[case].scenario)) for case in read if str(case) not in stand_ins
        ]
    except bridge.MissingError as lacks:
        return f"ns-2 does not have {lacks}"
    return list(dict.fromkeys(" + ".join(of_case) for of_case in agents))


def cases_of(artefact: Artefact, claim: Claim, effort: Effort) -> list[Any]:
    """Return the cases with numbers that a claim reads."""
    return claim.cases(case for case, _ in artefact.supplied(effort))


@dataclass(frozen=True)
class Laboratory:
    """A paper at a setting, whose scenarios ns-2 runs: a run that several artefacts need is made once."""

    paper: Paper
    effort: Effort
    rows: dict[tuple[str, str, int], Row] = field(default_factory=dict)
    """Numbers by artefact, digest of the scenario, and run."""

    @cached_property
    def users(self) -> Mapping[str, Sequence[tuple[Simulated[Any], Any]]]:
        """Artefacts and cases by the digest of their scenario."""
        users = defaultdict(list)
        for artefact in self.paper.artefacts:
            if isinstance(artefact, Simulated):
                for case, needed in artefact.cases(self.effort).items():
                    users[engine.read(needed.scenario).digest].append((artefact, case))
        return users

    def measure(self, artefact: Artefact, scenario: engine.Scenario, run: int) -> Row:
        """Return the numbers that an artefact takes from a run of a scenario."""
        key = (artefact.name, scenario.digest, run)
        if key not in self.rows:
            result = bridge.simulate(scenario, run)
            for other, case in self.users[scenario.digest]:
                # The measures of other artefacts may need more than this run of ns-2 recorded.
                lacking = (KeyError, ValueError, TypeError, ZeroDivisionError, pl.exceptions.PolarsError)
                with contextlib.suppress(*lacking), np.errstate(all="ignore"):
                    row = other.probe_of(case, self.effort).measure(result)
                    self.rows[other.name, scenario.digest, run] = row
        return self.rows[key]

    def judge(self, artefact: Artefact, claim: Claim) -> dict[str, str]:
        """Return the columns of a claim's row."""
        agents = agents_of(artefact, claim, self.effort)
        if isinstance(agents, str) or not isinstance(artefact, Simulated):
            return {"why": str(agents)}
        read, cases = cases_of(artefact, claim, self.effort), artefact.cases(self.effort)
        stand_ins = STAND_INS.get(claim.name, {})
        more = SEEDS.get(f"{self.paper.name}/{artefact.name}/{claim.name}", 0)
        cases = {
            case: replace(cases[case], runs=max(cases[case].runs, more))
            for case in read
            if str(case) not in stand_ins
        }
        scenarios = {case: engine.read(needed.scenario) for case, needed in cases.items()}
        minutes = {case: bridge.minutes(scenario) for case, scenario in scenarios.items()}
        if max(minutes.values()) > LONGEST_MIN:
            total = sum(cases[case].runs * minutes[case] for case in cases)
            count = sum(needed.runs for needed in cases.values())
            return {"why": f"not run: {count} runs would take about {total:.0f} minutes of ns-2"}
        # ns-2 uses one processor per run.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            waiting = {
                case: [
                    pool.submit(self.measure, artefact, scenarios[case], run)
                    for run in range(cases[case].runs)
                ]
                for case in cases
            }
            rows = {case: [run.result() for run in runs] for case, runs in waiting.items()}
        by_name = {str(case): of_case for case, of_case in rows.items()}
        rows |= {case: by_name[stand_ins[str(case)]] for case in read if str(case) in stand_ins}
        numbers = Numbers(rows, self.effort.setting, artefact.bounds)
        result = claim.judge(numbers)
        seeds = min(needed.runs for needed in cases.values())
        durations = {tomllib.loads(scenario.toml())["run"]["duration"] for scenario in scenarios.values()}
        if re.search(r"\bnan\b", result.measured):
            # An event that did not happen in every run proves nothing.
            return {"why": f"what it measures does not happen in every run: {result.measured}"}
        lacking = " and ".join(stand_ins)
        if lacking and result.holds:
            return {"why": f"it holds without {lacking}, which ns-2 does not have: {result.measured}"}
        return {
            "measured": result.measured + (f" (without {lacking})" if lacking else ""),
            "holds": "undecided" if result.undecided else "yes" if result.holds else "no",
            "seeds": str(seeds),
            "by_seed": "; ".join(claim.judge(numbers.only(run)).measured for run in range(seeds)),
            "seconds": " ".join(f"{bridge.seconds(text):g}" for text in sorted(durations)),
            "ran": "; ".join(agents),
            "ns2": bridge.version(),
        }


def put(paper: Paper, artefact: Artefact, claim: Claim, new: Sequence[Mapping[str, str]]) -> None:
    """Put the rows of a claim into the table of its paper, in the order of the paper."""
    order = [(some.name, other.name) for some in paper.artefacts for other in some.claims]
    own = (artefact.name, claim.name)
    kept = [row for row in rows_of(paper.name) if (row["artefact"], row["claim"]) != own]
    rows = sorted([*kept, *new], key=lambda row: order.index((row["artefact"], row["claim"])))
    with table_of(paper.name).open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Judge claims, and put their rows into the tables; or list what is missing."""
    if sys.argv[1:] == ["--missing"]:
        for name in EFFORTS:
            result = published.read(ROOT / "papers" / name / published.NAME)
            for run in missing(PAPERS[name], [known.record for known in result.values()]):
                print(run.claim, f"with {run.change}" if run.change else "at the paper's setting")
        return
    bridge.check_installed()
    laboratories: dict[tuple[str, str], Laboratory] = {}
    for paper, artefact, claim in wanted(sys.argv[1:]):
        new: list[dict[str, str]] = []
        for change in changes_of(paper, artefact):
            at = EFFORTS[paper.name].at(dict(paper.setting) | change)
            laboratory = laboratories.setdefault((paper.name, words(change)), Laboratory(paper, at))
            row = {"artefact": artefact.name, "claim": claim.name, "change": words(change)}
            new.append(row | laboratory.judge(artefact, claim))
            print(f"{paper.name}/{artefact.name}/{claim.name}", new[-1].get("why") or new[-1], flush=True)
            if "why" in new[-1]:
                # Why there is no number does not depend on the setting.
                break
        put(paper, artefact, claim, new)


if __name__ == "__main__":
    main()
