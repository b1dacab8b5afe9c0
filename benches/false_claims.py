"""How often a claim is decided where there is nothing to decide: Reno is compared with itself.

Two cases of a figure have the same scenario but for their seeds. Claims at their limit are judged as those
of the papers are: an order of the two, each way, their ratio against 1, and the mean of a case against the
mean of all runs. With intervals of 95 % one in twenty is decided, half of these in either direction.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ackclock.decision import exact_share
from ackclock.draw.figure import Group
from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Claim, Judged, Probe, Simulated
from ackclock.reproduction.claims.judge import Assignment, judge
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.reproduction.claims.orders import ordered
from ackclock.reproduction.claims.usual import between, mean, ratio
from ackclock.runs import Case

NAMES = ("Reno", "Reno under another name")
MOST = 0.05
"""Stated share of claims that are decided, in either direction."""


def scenario(seed: int, duration_s: int) -> dict[str, Any]:
    """Return a Reno flow on 10 Mbit/s that random loss keeps below the rate of the link."""
    return {
        "run": {"duration": f"{duration_s} s", "warmup": "1 s", "seed": seed},
        "dumbbell": {
            "rate": "10 Mbit/s",
            "delay": "20 ms",
            "queue": {"kind": "droptail", "limit": "50 packets"},
            "loss": {"kind": "bernoulli", "rate": 0.01},
        },
        "flow": [{"controller": "reno", "rtt": "60 ms"}],
    }


def _measure(run: Run) -> dict[str, float]:
    return {"goodput": float(run.summary["flows"][0]["goodput_mbps"])}


def group(number: int, runs: int, duration_s: int) -> Assignment:
    """Return the comparison of Reno with itself with seeds of its own."""
    artefact = Simulated(
        name=f"figure-{number}",
        caption="Reno and Reno",
        about="Nothing differs but the seeds.",
        cases=lambda effort: {
            name: Case(scenario(2 * number + place, duration_s), effort.runs, record=False)
            for place, name in enumerate(NAMES)
        },
        probe=Probe(("goodput",), _measure),
        draw=lambda *_: Group(()),
    )
    return Assignment.of(artefact, Effort(quick=False, runs=runs))


def claims(limit: float) -> dict[str, Claim]:
    """Return claims that nothing but chance decides; `limit` is the mean of all runs."""
    first, second = ((name, mean(name, "goodput")) for name in NAMES)
    order = ordered("order", "one is above the other", [first, second], margin=0.0, why="any difference")
    equal = ratio((NAMES[0], "goodput"), (NAMES[1], "goodput"))
    return {
        "an order": order,
        "a ratio of at least 1": between("ratio", "", equal, 1.0, np.inf, why="the limit"),
        "a mean of at least that of all": between("mean", "", first[1], limit, np.inf, why="the limit"),
    }


def outcome(judged: Judged) -> str:
    """Return in which direction a claim is decided, if it is."""
    return "undecided" if judged.undecided else "holds" if judged.holds else "does not hold"


def count(every: list[Numbers]) -> dict[str, Counter[str]]:
    """Return how often each claim is decided in which direction."""
    limit = float(np.mean([numbers.each(name, "goodput") for numbers in every for name in NAMES]))
    return {
        name: Counter(outcome(claim.judge(numbers)) for numbers in every)
        for name, claim in claims(limit).items()
    }


def main() -> int:
    """Print the shares of decided claims; fail when one is certainly above the stated share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=1000, help="of seeds; by default 1000")
    parser.add_argument("--runs", type=int, default=5, help="of each case; by default 5")
    parser.add_argument("--duration", type=int, default=5, metavar="S", help="simulated; by default 5 s")
    parser.add_argument("--jobs", type=int, default=None, help="runs at once; one per core")
    parser.add_argument("-o", "--output", type=Path, default=None, help="file of the same lines")
    given = parser.parse_args()
    assignments = [group(number, given.runs, given.duration) for number in range(given.groups)]
    every = []
    for _, judgement in judge(assignments, jobs=given.jobs):
        if judgement.error:
            sys.exit(judgement.error)
        every.append(judgement.numbers)
    lines, too_many = [], False
    for name, counts in count(every).items():
        decided = exact_share(given.groups - counts["undecided"], given.groups)
        sides = ", ".join(f"{side} {counts[side] / given.groups:.1%}" for side in ("holds", "does not hold"))
        interval = f"[{decided.low:.1%}, {decided.high:.1%}]"
        lines.append(f"{name}: {decided.value:.1%} {interval} decided ({sides}); stated {MOST:.0%}")
        too_many |= decided.low > MOST
    print("\n".join(lines))
    if given.output:
        given.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(too_many)


if __name__ == "__main__":
    sys.exit(main())
