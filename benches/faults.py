"""The planted faults that an evaluation finds, and the honest controls that it passes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import faulty

import ackclock
from ackclock.names import slug
from ackclock_evaluate.evaluate import evaluate
from ackclock_evaluate.results import Evaluation, Request
from ackclock_evaluate.setting import Subject
from ackclock_evaluate.suites import chosen

BAD = ("worse", "fails")


def main() -> int:
    """Evaluate the controls; return 1 when a fault is missed or an honest control is not passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of controls, with commas; by default all")
    parser.add_argument("--jobs", type=int, default=None, help="runs at once; one per core")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/faults"))
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    problems = 0
    for fault, criteria in faulty.CAUGHT_BY.items():
        if wanted and fault.__name__ not in wanted:
            continue
        also = faulty.ALSO_CAUGHT_BY.get(fault, ())
        results = _evaluated(fault, (*criteria, *also), given.output, given.jobs)
        verdicts = {result.criterion.id: result.verdict for result in results.results}
        is_caught = any(verdicts[name] in BAD for name in criteria) and all(
            verdicts[name] in BAD for name in also
        )
        problems += not is_caught
        shown = ", ".join(f"{name} {verdict}" for name, verdict in verdicts.items())
        print(f"{'caught' if is_caught else 'MISSED'}: {fault.__name__}: {shown}", flush=True)
    for control in faulty.HONEST:
        if wanted and control.__name__ not in wanted:
            continue
        panel = (*faulty.CAUGHT_BY.values(), *faulty.ALSO_CAUGHT_BY.values())
        every = tuple(dict.fromkeys(name for names in panel for name in names))
        results = _evaluated(control, every, given.output, given.jobs)
        bad = [result.criterion.id for result in results.results if result.verdict in BAD]
        problems += bool(bad)
        print(f"{'ALARM' if bad else 'passed'}: {control.__name__} {', '.join(bad)}", flush=True)
    return int(problems > 0)


def _evaluated(
    control: type[ackclock.Control], criteria: tuple[str, ...], output: Path, jobs: int | None
) -> Evaluation:
    name = slug(control.__name__)
    ackclock.register(name, control)
    return evaluate(Request(Subject(name), chosen(["rfc9743"], criteria)), output, jobs=jobs)


if __name__ == "__main__":
    sys.exit(main())
