"""Whether the search for adversaries finds worse ones than random draws do, at the same cost.

This was written down before the first run, with the rule that decides.

**Problems.** A control, an objective and a genome each: one problem per genome with values over time
(two for `capacity`, the first of most objectives), and both genomes with a few numbers. All six have
adversaries, found earlier by the optimiser, which favours it.

**Searches.** Five per problem, with seeds that no published search has used. In each, CMA-ES tries 480
patterns, the quick budget, and 480 standard normal vectors are drawn; a pattern has two runs of the
control and two of each baseline (`unused`: of the control alone). Of either side the 20 best patterns
get five runs with other seeds, which choose one, and that one gets ten runs with fresh seeds: the same
number of runs on both sides. A side's score is the mean over the fresh runs of what a search maximises,
less the penalty of the genome: a share of the path, of the fair share or of the packets. A scenario that
fails scores 0.

**Statistic.** The difference of the two scores of a search, optimiser less draws, is averaged over the
problems; the interval is Student's over the five searches, 95 %. Problems are reported by themselves,
too, their probabilities corrected by Holm.

**Rule.** The optimiser stays if

1. the interval of the mean over the problems lies above 0.02, a fifth of the tenth of the goodput that an
   evaluation counts as a difference, and
2. whichever problem is left out, the interval of the mean over the others lies above 0.

Otherwise it goes, with all that only it needs, and a search is the best of random draws. Differential
evolution, which replaces CMA-ES where `cma` is not installed, goes in either case: there would be no
reason to keep a second optimiser that is not tested.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from shared import ROOT

from ackclock.decision import Estimate, Margin, compare, holm, over_runs
from ackclock.runs import Store, places, progress
from ackclock_evaluate.saved import OBJECTIVES
from ackclock_evaluate.setting import BASELINES, Subject
from ackclock_search import GENOMES
from ackclock_search.run import Attempt
from ackclock_search.trials import Trials

PROBLEMS = (
    ("bic", "harm", "capacity"),
    ("illinois", "loss", "capacity"),
    ("copa", "utilisation", "delay"),
    ("fast", "starvation", "flow-delay"),
    ("reno", "unused", "pulses"),
    ("bbr", "utilisation", "path"),
)
SEEDS = (101, 102, 103, 104, 105)
BUDGET, RUNS = 480, 2
LEAST = 0.02
COLUMNS = ("control", "objective", "genome", "seed", "optimiser", "draws")
SCORES = ROOT / "benches" / "data" / "adversaries.csv"
Problem = tuple[str, str, str]
Scores = dict[tuple[Problem, int], tuple[float, float]]
"""The scores of the optimiser and of random draws, by problem and seed."""


def searched(problem: Problem, seed: int, jobs: int) -> tuple[float, float]:
    """Search once and return both scores."""
    control, objective, genome = problem
    with (
        tempfile.TemporaryDirectory() as cache,
        Store(Path(cache)).opened() as kept,
        places.opened([control, *BASELINES], jobs=jobs) as place,
        progress.Count(0, "runs", shown=False) as bar,
    ):
        trials = Trials(Subject(control), kept, place, bar)
        attempt = Attempt(trials, OBJECTIVES[objective], GENOMES[genome], seed, RUNS)
        attempt.look(BUDGET, optimised=True)
        assert len(attempt.searched) == len(attempt.drawn) == BUDGET  # noqa: S101
        best = [
            attempt.shortlisted(attempt.searched, attempt.means)[0][1],
            attempt.shortlisted(attempt.drawn)[0][1],
        ]
        judged = attempt.judged(best)
    ours, theirs = (
        0.0 if adversary is None else adversary.value.value - attempt.genome.penalty(pattern)
        for pattern, adversary in zip(best, judged, strict=True)
    )
    return ours, theirs


def read() -> Scores:
    """Return the scores that are recorded."""
    if not SCORES.exists():
        return {}
    with SCORES.open(encoding="utf-8") as file:
        return {
            ((row["control"], row["objective"], row["genome"]), int(row["seed"])): (
                float(row["optimiser"]),
                float(row["draws"]),
            )
            for row in csv.DictReader(file)
        }


def record(problem: Problem, seed: int, scores: tuple[float, float]) -> None:
    """Add the scores of a search to the file."""
    new = not SCORES.exists()
    with SCORES.open("a", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        if new:
            rows.writerow(COLUMNS)
        rows.writerow([*problem, seed, *(f"{score:.6f}" for score in scores)])


def ahead(scores: Scores, problems: Sequence[Problem]) -> Estimate:
    """Return by how much the optimiser is ahead on the mean of some problems, over searches."""
    differences = [
        [scores[problem, seed][0] - scores[problem, seed][1] for problem in problems] for seed in SEEDS
    ]
    return over_runs(np.mean(differences, axis=1))


def stays(scores: Scores) -> bool:
    """Apply the rule, and print the numbers behind its decision."""
    tests = []
    for problem in PROBLEMS:
        ours, theirs = zip(*(scores[problem, seed] for seed in SEEDS), strict=True)
        # Whether random draws are behind: the harm of being smaller.
        tests.append(compare(theirs, ours, Margin("score", "", higher_is_better=True, difference=1e-9)).p)
        print(f"{', '.join(problem)}: {np.mean(ours):.3f}, draws {np.mean(theirs):.3f}", end="; ")
        print(f"ahead by {ahead(scores, [problem])}")
    print("probabilities, corrected:", ", ".join(f"{p:.3f}" for p in holm(tests)))
    together = ahead(scores, PROBLEMS)
    print(f"all problems: ahead by {together}; must be above {LEAST}")
    robust = True
    for left_out in PROBLEMS:
        others = ahead(scores, [problem for problem in PROBLEMS if problem != left_out])
        print(f"without {', '.join(left_out)}: {others}; must be above 0")
        robust = robust and others.low > 0
    return together.low > LEAST and robust


def main() -> int:
    """Make the searches that are not recorded, as far as asked, and apply the rule to all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=None, help="how many searches to make; by default all")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once; by default 1")
    given = parser.parse_args()
    scores = read()
    missing = [(problem, seed) for seed in SEEDS for problem in PROBLEMS if (problem, seed) not in scores]
    for problem, seed in missing[: given.most]:
        scores[problem, seed] = searched(problem, seed, given.jobs)
        record(problem, seed, scores[problem, seed])
        print(*problem, seed, scores[problem, seed], flush=True)
    if len(scores) < len(PROBLEMS) * len(SEEDS):
        print(f"{len(scores)} searches are recorded; the rule needs all of them")
        return 0
    print(f"the optimiser {'stays' if stays(scores) else 'goes'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
