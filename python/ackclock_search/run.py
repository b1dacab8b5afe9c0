"""A search: many patterns are tried, and the best of them are run again with fresh seeds and simplified."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from ackclock import engine, metrics
from ackclock.decision.comparisons import of_criterion
from ackclock.engine import today
from ackclock.metrics import Estimate
from ackclock.names import hint
from ackclock.runs import Limits, Store, estimate, places, progress
from ackclock.runs.live import OFF, Live
from ackclock_evaluate.evaluate import refuse_unknown
from ackclock_evaluate.results import CANDIDATE, CellResult, Request
from ackclock_evaluate.saved import OBJECTIVES, Objective
from ackclock_evaluate.setting import BASELINES, CUBIC, Mode, Subject
from ackclock_search import optimise
from ackclock_search.genome import Cast, Genome, Pattern, Vector
from ackclock_search.genomes import GENOMES, SUITED
from ackclock_search.minimise import minimise
from ackclock_search.saved import FRESH_RUNS, Adversary
from ackclock_search.trials import Trials, problem

T = TypeVar("T")
Tried = list[tuple[float, Vector]]

BUDGET = {"quick": 480, "full": 4000}
"""Patterns tried per genome, and random draws to compare with."""
RUNS = {"quick": 2, "full": 3}
"""Runs of a pattern during the search."""
QUICK_GENOMES = 2
BEST = 5
SHORTLIST = 20
CHECKING_RUNS = 5
"""Runs of each pattern on the shortlist, with other seeds: they choose the best."""
CHECKING = 500
"""Added to the seed for the checking runs."""
APART = 0.3
"""Least distance (root mean square) of two patterns on the shortlist, in standard deviations of the draws."""
FRESH = 1000
"""Added to the seed for the reported runs, which choose nothing."""


@dataclass(frozen=True)
class Searched:
    """The result of a search with one genome."""

    objective: Objective
    genome: Genome
    optimised: bool
    """Whether an optimiser has searched as well; otherwise the best patterns come from random draws."""
    budget: int
    """Patterns drawn, and as many tried by the optimiser."""
    fresh: Estimate
    """Value of the optimiser's best pattern over fresh runs, less the penalty of its genome."""
    fresh_at_random: Estimate
    """The same for the best random pattern."""
    history: list[float]
    """Best value so far, by number of patterns tried, on the seed of the search: flattered by the choice."""
    adversaries: list[Adversary]
    """The best patterns of either side that are past the margin with fresh seeds, simplified."""
    failures: list[str]
    """Errors of runs, each once."""
    profile: str = ""
    """Profile of the senders, as in scenarios."""

    @property
    def beats_random(self) -> bool:
        """Whether the best does more harm than the best random pattern, with 95 % confidence."""
        return metrics.difference(self.fresh, self.fresh_at_random).low > 0

    def __str__(self) -> str:
        """Sum the search up in a line, with its value over fresh seeds next to the value of random draws."""
        count = len(self.adversaries)
        outcome = {0: "no adversary", 1: "1 adversary"}.get(count, f"{count} adversaries")
        line = f"{self.objective.name}, {self.genome.name}: {outcome}; {self.fresh} with fresh seeds"
        if not self.optimised:
            return f"{line}, by random draws"
        beaten = "" if self.beats_random else "; not shown to beat random draws"
        return f"{line}, random draws {self.fresh_at_random}{beaten}"


def search(
    candidate: Subject,
    objective: str,
    cache: Path,
    *,
    mode: Mode = "quick",
    budget: int | None = None,
    genomes: Sequence[str] = (),
    seed: int = 1,
    jobs: int | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
    optimised: bool | None = None,
    shown: bool = True,
    live: Live = OFF,
    tell: Callable[[str], object] = lambda _: None,
) -> list[Searched]:
    """Search for scenarios in which a control does worse than CUBIC and Reno, genome by genome.

    The quick mode makes two runs per pattern and takes the first two genomes of the objective, the
    full mode makes three and takes all of its genomes; `budget` and `genomes` override the defaults.
    `optimised` says whether an optimiser searches in addition to random draws, by default if it is
    installed. An interrupted search resumes from the numbers in `cache`. `tell` is called with lines
    about the progress; other arguments are those of `evaluate`. A dry run raises DryRunError with the cost
    of the whole search: which of its runs are kept is known only when it chooses them.
    """
    goal = _named(OBJECTIVES, [objective], "objective")[0]
    suited = SUITED[goal.name]
    varied = _named(GENOMES, genomes or (suited if mode == "full" else suited[:QUICK_GENOMES]), "genome")
    count = budget or BUDGET[mode]
    if count < 2 * optimise.POPULATION:
        raise engine.ScenarioError(
            f"a search needs a budget of at least {2 * optimise.POPULATION}, not {count}"
        )
    chosen = optimise.is_installed() if optimised is None else optimised
    if optimised is None and not chosen:
        tell("only random draws, because cma is not installed: pip install cma")
    refuse_unknown(Request(candidate, ()))
    runs_of = {genome.name: _runs(goal, count, RUNS[mode], optimised=chosen) for genome in varied}
    if estimate.is_dry():
        raise estimate.DryRunError(_cost(candidate, goal, varied, runs_of, seed, jobs))
    results = []
    with (
        Store(cache).opened() as kept,
        places.opened([candidate.name, *BASELINES], jobs=jobs, cluster=cluster, limits=limits) as place,
    ):
        for genome in varied:
            runs, unit = runs_of[genome.name], f"runs with {genome.name}"
            with progress.Count(runs, unit, shown=shown, live=live) as bar:
                attempt = Attempt(Trials(candidate, kept, place, bar), goal, genome, seed, RUNS[mode])
                attempt.look(count, optimised=chosen)
                searched = attempt.confirm()
            tell(str(searched))
            results.append(searched)
    return results


def _runs(objective: Objective, budget: int, runs: int, *, optimised: bool) -> int:
    """Return about how many runs a search with one genome makes; simplifying its adversaries adds some."""
    parts = 2 if objective.absolute else 4 if objective.with_victim else 3
    looks = (1 + optimised) * (budget * runs + SHORTLIST * CHECKING_RUNS)
    return parts * (looks + FRESH_RUNS * (BEST + 1))


def _cast(candidate: Subject, objective: Objective) -> Cast:
    mine = (candidate, "c", objective.count)
    return [mine, (Subject(CUBIC), "v", 1)] if objective.with_victim else [mine]


def _cost(
    candidate: Subject,
    objective: Objective,
    genomes: Sequence[Genome],
    runs: Mapping[str, int],
    seed: int,
    jobs: int | None,
) -> estimate.WorkCost:
    """Return the cost of a search, from short trials of random patterns of each genome."""
    simulated_s = estimated_s = 0.0
    cast = _cast(candidate, objective)
    for genome in genomes:
        drawn = np.random.default_rng(seed).standard_normal((estimate.TRIALS, genome.size))
        scenarios = [engine.read(genome.scenario(genome.pattern(vector), cast)) for vector in drawn]
        simulated_s += runs[genome.name] * float(np.mean([each.duration_s for each in scenarios]))
        estimated_s += estimate.seconds(scenarios, runs[genome.name], jobs)
    return estimate.WorkCost(sum(runs.values()), 0, round(simulated_s), float(f"{estimated_s:.2g}"))


def _named(known: Mapping[str, T], names: Sequence[str], kind: str) -> list[T]:
    for name in names:
        if name not in known:
            raise engine.ScenarioError(f'unknown {kind} "{name}": {hint(name, known)}')
    return [known[name] for name in names]


class Attempt:
    """The vectors of a genome that have been tried, with their values."""

    def __init__(self, trials: Trials, objective: Objective, genome: Genome, seed: int, runs: int) -> None:
        self.trials, self.objective, self.genome, self.seed, self.runs = trials, objective, genome, seed, runs
        self.cast = _cast(trials.candidate, objective)
        self.searched: Tried = []
        self.drawn: Tried = []
        self.means: list[Vector] = []
        self.failures: dict[str, None] = {}

    def look(self, budget: int, *, optimised: bool) -> None:
        """Try random patterns, and as many that the optimiser chooses."""
        size = self.genome.size
        if optimised:
            together = self._together(self.searched)
            crossover = size > optimise.POPULATION
            self.means = optimise.maximise(together, size, budget, self.seed, crossover=crossover)
        optimise.at_random(self._together(self.drawn), size, budget, self.seed)
        if self.failures and all(value == 0 for value, _ in self.searched + self.drawn):
            raise engine.SimulationError(f"every run failed: {next(iter(self.failures))}")

    def _together(self, tried: Tried) -> optimise.Together:
        # Each generation has runs of its own, because CMA-ES uses only the order within a generation:
        # with the same runs throughout it would overfit to their start times.
        generations = itertools.count()

        def together(vectors: Sequence[Vector]) -> list[float]:
            patterns = [self.genome.pattern(vector) for vector in vectors]
            first = self.runs * next(generations)
            values = self.values(patterns, self.seed, range(first, first + self.runs))
            tried.extend(zip(values, map(np.array, vectors), strict=True))
            return values

        return together

    def values(self, patterns: Sequence[Pattern], seed: int, runs: range) -> list[float]:
        """Return the values that the search maximises, less penalties; 0 where a run fails."""
        cells = [
            self.objective.cell("pattern", self.genome.scenario(pattern, self.cast), drawn=False)
            for pattern in patterns
        ]
        measured = self.trials.results(cells, seed=seed, runs=runs, alone=self.objective.absolute)
        values = []
        for pattern, result in zip(patterns, measured, strict=True):
            error = problem(result)
            if error:
                self.failures.setdefault(error)
            value = np.nan if error else np.mean(self._by_run(pattern, result, BASELINES))
            values.append(float(value) - self.genome.penalty(pattern) if np.isfinite(value) else 0.0)
        return values

    def _by_run(self, pattern: Pattern, result: CellResult, baselines: Sequence[str]) -> list[float]:
        """Return how much worse than the worse of some baselines the control does in each run."""
        metric, scale = self.objective.margin.metric, self.genome.scale(self.objective, pattern)
        theirs = [result.measured[name].values(metric) for name in baselines if name in result.measured]
        return [
            self.objective.value(mine, [values[run] for values in theirs], scale)
            for run, mine in enumerate(result.measured[CANDIDATE].values(metric))
        ]

    def checked(self, patterns: Sequence[Pattern]) -> list[float]:
        """Return values with seeds that the search has not seen."""
        return self.values(patterns, self.seed + CHECKING, range(CHECKING_RUNS))

    def shortlisted(self, tried: Tried, means: Sequence[Vector] = ()) -> list[tuple[float, Pattern]]:
        """Return the best patterns, none nearly equal to another, in the order of their checked values."""
        vectors = [*means, *_apart(tried)][:SHORTLIST]
        patterns = [self.genome.pattern(vector) for vector in vectors]
        checked = zip(self.checked(patterns), patterns, strict=True)
        return sorted(checked, key=lambda pair: -pair[0])

    def confirm(self) -> Searched:
        """Run the best patterns again with fresh seeds, and simplify those that remain adversaries."""
        drawn = searched = self.shortlisted(self.drawn)
        both = drawn
        if self.searched:
            searched = self.shortlisted(self.searched, self.means)
            # The draws are paid for, and the optimiser may have missed the worst of them.
            both = sorted(searched + drawn, key=lambda pair: -pair[0])
        best = [pattern for _, pattern in both[:BEST]]
        ends = [searched[0][1], drawn[0][1]]
        *judged, ours, theirs = self.judged([*best, *ends])
        if not any(judged):
            raise engine.SimulationError(
                f"the best scenarios failed with fresh seeds: {next(iter(self.failures))}"
            )
        adversaries: list[Adversary] = []
        for pattern, adversary in zip(best, judged, strict=True):
            if adversary is None or not adversary.is_found:
                continue
            simple = minimise(self.genome, pattern, self.checked)
            again = self.judged([simple])[0]
            least = again if again is not None and again.is_found else adversary
            # Simplifying may have made two the same.
            if all(least.scenario != earlier.scenario for earlier in adversaries):
                adversaries.append(least)
        return Searched(
            objective=self.objective,
            genome=self.genome,
            optimised=bool(self.searched),
            budget=len(self.drawn),
            fresh=_less(ours, self.genome.penalty(ends[0])),
            fresh_at_random=_less(theirs, self.genome.penalty(ends[1])),
            history=np.maximum.accumulate([value for value, _ in self.searched or self.drawn]).tolist(),
            adversaries=adversaries,
            failures=list(self.failures),
            profile=today.profiles(engine.read(self.genome.scenario(ends[0], self.cast))),
        )

    def judged(self, patterns: Sequence[Pattern]) -> list[Adversary | None]:
        """Compare patterns over runs with fresh seeds; None where a run fails.

        A pattern is worse only if it stays so after Holm's correction for the number of these patterns.
        """
        seed = self.seed + FRESH
        scenarios = [self.genome.scenario(pattern, self.cast) for pattern in patterns]
        cells = [self.objective.cell("pattern", scenario) for scenario in scenarios]
        results = self.trials.results(cells, seed=seed, runs=range(FRESH_RUNS))
        compared_ones = [judged.compared for each in results if not problem(each) for judged in each.judged]
        kept = iter(of_criterion(compared_ones)[3] if compared_ones else ())
        adversaries: list[Adversary | None] = []
        for pattern, scenario, result in zip(patterns, scenarios, results, strict=True):
            error = problem(result)
            if error:
                self.failures.setdefault(error)
                adversaries.append(None)
                continue
            (compared,) = result.judged
            adversaries.append(
                Adversary(
                    objective=self.objective,
                    genome=self.genome.name,
                    candidate=self.trials.candidate.name,
                    scenario={**scenario, "run": {**scenario["run"], "seed": seed}},
                    estimates={
                        name: measured.estimate(self.objective.margin.metric)
                        for name, measured in result.measured.items()
                    },
                    baseline=compared.baseline,
                    value=metrics.over_runs(self._by_run(pattern, result, [compared.baseline])),
                    verdict=next(kept),
                    curves={name: measured.curves for name, measured in result.measured.items()},
                )
            )
        return adversaries


def _less(adversary: Adversary | None, penalty: float) -> Estimate:
    if adversary is None:
        return Estimate(np.nan, np.nan, np.nan, 0)
    value = adversary.value
    return replace(value, value=value.value - penalty, low=value.low - penalty, high=value.high - penalty)


def _apart(tried: Tried) -> list[Vector]:
    """Return the best vectors, none nearly equal to another."""
    kept: list[Vector] = []
    for _, vector in sorted(tried, key=lambda pair: -pair[0]):
        if all(np.sqrt(np.mean((vector - better) ** 2)) >= APART for better in kept):
            kept.append(vector)
        if len(kept) == SHORTLIST:
            break
    return kept
