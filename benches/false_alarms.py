"""How often an evaluation is wrong about a control that is its own baseline.

Reno and CUBIC are evaluated with other random numbers than the shipped runs of the baselines: every
criterion that is called worse is a false alarm. At most one in twenty may be, and at most a tenth undecided.
The same is asked of their copies in Python: `--controls honest:Honest`, and `twins:CubicLinux` in `tests/`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from ackclock.engine import ScenarioError
from ackclock_evaluate.evaluate import evaluate, refuse_unknown
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import BASELINES, Mode, Subject
from ackclock_evaluate.suites import SUITES

ALARMS = ("worse", "fails", "failed")
MOST, MOST_UNDECIDED = 0.05, 0.1


def main() -> int:
    """Evaluate, and print the verdicts "worse"; fail when there are too many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=list(SUITES), default="rfc9743")
    parser.add_argument("--only", default="", help="criteria, with commas; by default all")
    parser.add_argument(
        "--controls",
        default=",".join(BASELINES),
        help="controls that are baselines, with commas; by default these themselves",
    )
    parser.add_argument("--times", type=int, default=10, help="evaluations of each; by default 10")
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
    controls = given.controls.split(",")
    try:
        for name in controls:
            refuse_unknown(Request(Subject(name), criteria))
    except ScenarioError as error:
        parser.error(f"--controls: {error}")
    counts: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    mode: Mode = "full" if given.full else "quick"
    for time in range(1, given.times + 1):
        for name in controls:
            request = Request(Subject(name), criteria, mode=mode, first=1000 * time)
            results = evaluate(request, given.output, jobs=given.jobs).results
            verdicts = ", ".join(f"{result.criterion.id} {result.verdict}" for result in results)
            print(f"{name}, {time}: {verdicts}", flush=True)
            for result in results:
                counts[result.verdict] += 1
                compared.update(judged.verdict for cell in result.decisive for judged in cell.judged)
                if result.verdict in ALARMS and result.worst is not None:
                    cell, judged = result.worst
                    where = f"{cell.cell.name}, {judged.bound.metric}"
                    print(f"  {result.criterion.id} {result.verdict}: {where}", flush=True)
    total = sum(counts.values())
    alarms = sum(counts[verdict] for verdict in ALARMS)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    number, undecided = compared.total(), compared["undecided"]
    share = f"{undecided / number:.1%}; at most {MOST_UNDECIDED:.0%}"
    print(f"{undecided} of {number} comparisons are undecided ({share})")
    print(f"{alarms} of {total} criteria ({alarms / total:.1%}; at most {MOST:.0%})")
    return int(alarms > MOST * total or undecided > MOST_UNDECIDED * number)


if __name__ == "__main__":
    sys.exit(main())
