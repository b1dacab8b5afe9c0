"""Drops over packets of every artefact in which kinds of flow share a link, at each declared value.

Each quick case is run at the chosen setting of its paper, and again where one item that spreads arrivals
has another of its values and changes it; ``conditions`` is the case by which a paper's settings are judged.
Cases of several artefacts with the same scenario are run once. The rows of the papers that are asked for
replace theirs in ``benches/data/losses.csv``; cases that are too costly for a quick table are printed.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from ackclock.engine import read
from ackclock.reproduction import library
from ackclock.reproduction.claims import losses
from ackclock.reproduction.claims.artefact import Simulated
from ackclock.reproduction.claims.numbers import QUICK
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case, run_all

FILE = Path(__file__).parent / "data" / "losses.csv"
HEADS = (
    *("paper", "artefacts", "case", "item", "value", "kind", "drops_over_packets", "low", "high"),
    *("runs", "fewest_drops", "impossible"),
)
ITEMS = ("overhead", "several_overhead", "delayed_ack", "tcp")
"""Items that spread the arrivals of packets; of ``tcp`` only the ACK for two packets does."""
DELAYED = "an ACK for two packets, the rest alike"
MOST_PACKETS, PACKETS = 1e7, 2e6
"""Most packets of a run but of a condition, and of all runs of a case where these are more than the least."""
LEAST_RUNS = 3


def settings(paper: Paper, items: Collection[str]) -> Iterator[tuple[str, object, Setting]]:
    """Yield the chosen setting, and settings in which one of these items has another value."""
    chosen = dict(paper.setting)
    yield "", "as chosen", chosen
    for item in paper.items:
        for value in item.values:
            asked = item.name in items and (item.name != "tcp" or value.value == DELAYED)
            if asked and value.value != chosen[item.name]:
                yield item.name, value.value, chosen | {item.name: value.value}


def cases(paper: Paper, setting: Setting) -> dict[str, tuple[list[str], str, Case]]:
    """Return the quick cases of a paper by the digest of their scenario, with their artefacts and labels."""
    found: dict[str, tuple[list[str], str, Case]] = {}
    stated = paper.conditions.claims[-1] if paper.losses and paper.conditions else None
    shared = {case for case, _ in stated.reads} if stated else set()
    for artefact in (paper.conditions, *paper.artefacts):
        if isinstance(artefact, Simulated):
            for key, case in artefact.cases(QUICK.at(setting)).items():
                if artefact is not paper.conditions or key in shared:
                    scenario = read(case.scenario)
                    own = Case(scenario, case.runs if key in shared else 1, record=False)
                    names, *_ = found.setdefault(scenario.digest, ([], str(key), own))
                    names.append(artefact.name)
    return found


def rows(paper: Paper, items: Collection[str]) -> Iterator[list[object]]:
    """Run the cases of a paper, and yield a row per case, setting and kind of flow."""
    of_settings = [(item, value, cases(paper, setting)) for item, value, setting in settings(paper, items)]
    every = {digest: of[2] for *_, some in of_settings for digest, of in some.items()}
    costs = {digest: case.jobs()[0].expected_packets for digest, case in every.items()}
    cheap = {digest for digest, cost in costs.items() if cost <= MOST_PACKETS or every[digest].runs > 1}
    for digest, (names, label, _) in of_settings[0][2].items():
        if digest not in cheap:
            print(f"{paper.name}/{names[0]}, {label}: not run, {costs[digest]:.1e} packets", file=sys.stderr)
    asked = [digest for digest in costs if digest in cheap and _has_several(every[digest])]
    runs = [
        int(max(LEAST_RUNS, every[digest].runs, min(losses.SEEDS, PACKETS // costs[digest])))
        for digest in asked
    ]
    more = [
        Case(every[digest].scenario, count, record=False) for digest, count in zip(asked, runs, strict=True)
    ]
    known = {
        digest: losses.over_runs([losses.counts(run) for run in some])
        for digest, some in zip(asked, run_all(more), strict=True)
    }
    shown = set()
    for item, value, some in of_settings:
        for digest, (names, label, _) in some.items():
            # A case that an item does not change is already listed at the chosen setting.
            if digest in known and digest not in shown:
                shown.add(digest)
                for kind in known[digest]:
                    ends = [f"{number:.3g}" for number in (kind.ratio.value, kind.ratio.low, kind.ratio.high)]
                    said = "yes" if kind.is_impossible else "no"
                    first = [paper.name, " ".join(dict.fromkeys(names)), label, item, value, kind.kind]
                    yield [*first, *ends, kind.ratio.samples, kind.fewest_drops, said]


def _has_several(case: Case) -> bool:
    """Return whether a scenario may have flows of several kinds, which the counts of a run then tell."""
    scenario = read(case.scenario)
    return scenario.toml().count("[[flow]]") > 1


def main() -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", help="by default all")
    parser.add_argument("--item", action="append", choices=ITEMS, help="varied; by default all")
    given = parser.parse_args()
    papers = library.every()
    kept: dict[str, list[list[object]]] = defaultdict(list)
    if FILE.exists():
        with FILE.open(encoding="utf-8", newline="") as file:
            for row in list(csv.reader(file))[1:]:
                kept[row[0]].append(list(row))
    for name in given.papers or papers:
        kept[name] = list(rows(papers[name], given.item or ITEMS))
        with FILE.open("w", encoding="utf-8", newline="") as file:
            ordered = [row for paper in papers for row in kept[paper]]
            csv.writer(file, lineterminator="\n").writerows([HEADS, *ordered])
    return 0


if __name__ == "__main__":
    sys.exit(main())
