"""How often an evaluation is wrong about a control that is its own baseline.

Reno and CUBIC are evaluated with other random numbers than the baselines' runs, which they are:
every criterion that is called worse is a false alarm. At most one in twenty may be.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from ackclock.decision.comparisons import Limit
from ackclock_evaluate.evaluate import evaluate
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import BASELINES, Subject
from ackclock_evaluate.suites import SUITES

ALARMS = ("worse", "fails", "failed")
MOST = 0.05


def main() -> int:
    """Evaluate, and print the verdicts "worse"; fail when there are too many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=list(SUITES), default="rfc9743")
    parser.add_argument("--only", default="", help="criteria, with commas; by default all")
    parser.add_argument("--seeds", type=int, default=20, help="how many; by default 20")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=None, help="runs at once; one per core")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/false-alarms"))
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    criteria = tuple(
        criterion
        for criterion in SUITES[given.suite]
        if criterion.cells is not None and (not wanted or criterion.id in wanted)
    )
    if not criteria or wanted - {criterion.id for criterion in criteria}:
        parser.error(f"--only: {given.suite} does not have all of {', '.join(sorted(wanted))}")
    counts: Counter[str] = Counter()
    for seed in range(1, given.seeds + 1):
        for name in BASELINES:
            request = Request(
                Subject(name), criteria, mode="full" if given.full else "quick", seed=seed, paired=False
            )
            results = evaluate(request, given.output, jobs=given.jobs).results
            verdicts = ", ".join(f"{result.criterion.id} {result.verdict}" for result in results)
            print(f"{name}, seed {seed}: {verdicts}", flush=True)
            for result in results:
                counts[result.verdict] += 1
                if result.verdict in ALARMS and result.worst is not None:
                    cell, judged = result.worst
                    metric = judged.metric if isinstance(judged, Limit) else judged.margin.metric
                    print(f"  {result.criterion.id} {result.verdict}: {cell.cell.name}, {metric}", flush=True)
    total = sum(counts.values())
    alarms = sum(counts[verdict] for verdict in ALARMS)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    print(f"{alarms} of {total} criteria ({alarms / total:.1%}; at most {MOST:.0%})")
    return int(alarms > MOST * total)


if __name__ == "__main__":
    sys.exit(main())
