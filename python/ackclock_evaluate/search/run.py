"""A search: many patterns are tried, and the best of them are run again with fresh seeds and simplified."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from ackclock import engine, metrics
from ackclock.decision import paired
from ackclock.engine import controls
from ackclock.engine.names import hint
from ackclock.metrics import Estimate
from ackclock.runs import Limits, Store, places, progress
from ackclock_evaluate.cell import possible
from ackclock_evaluate.search import optimise
from ackclock_evaluate.search.bench import CANDIDATE, Bench, BenchRuns
from ackclock_evaluate.search.genome import Genome, Pattern, Vector
from ackclock_evaluate.search.genomes import GENOMES
from ackclock_evaluate.search.minimise import minimise
from ackclock_evaluate.search.objectives import OBJECTIVES, Objective
from ackclock_evaluate.search.saved import FRESH_RUNS, Adversary
from ackclock_evaluate.setting import BASELINES, Mode, Subject

T = TypeVar("T")

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
    method: str
    """``CMA-ES`` or ``differential evolution``."""
    budget: int
    """Patterns tried by the search, and as many again at random."""
    best: float
    """Largest value during the search, on its own seed: flattered by the choice."""
    best_at_random: float
    fresh: Estimate
    """Value of the best pattern over fresh runs, less the penalty of its genome."""
    fresh_at_random: Estimate
    """The same for the best random pattern."""
    history: list[float]
    """Best value so far, by number of patterns tried."""
    adversaries: list[Adversary]
    """The best patterns that are past the margin with fresh seeds, simplified."""
    tried: list[Adversary]
    """The best patterns as the search left them, past the margin or not."""
    failures: list[str]
    """Errors of runs, each once."""

    @property
    def beyond_random(self) -> Estimate:
        """How much more harm the best pattern does, with fresh seeds, than the best random pattern."""
        return metrics.difference(self.fresh, self.fresh_at_random)

    @property
    def beats_random(self) -> bool:
        """Whether it does more harm than the best random pattern, with 95 % confidence."""
        return self.beyond_random.low > 0


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
    method: str | None = None,
    shown: bool = True,
    tell: Callable[[str], object] | None = None,
) -> list[Searched]:
    """Search for scenarios in which a control does worse than CUBIC and Reno, genome by genome.

    The quick mode makes two runs per pattern and takes the first two genomes of the objective, the
    full mode makes three and takes all of its genomes; `budget`, `genomes` and `method` override
    the defaults. An interrupted search resumes from the numbers in `cache`. `tell` is called with
    lines about the progress; other arguments are those of `evaluate`.
    """
    goal = _named(OBJECTIVES, [objective], "objective")[0]
    usual = goal.genomes if mode == "full" else goal.genomes[:QUICK_GENOMES]
    varied = _named(GENOMES, genomes or usual, "genome")
    count = budget or BUDGET[mode]
    if count < 2 * optimise.POPULATION:
        raise engine.ScenarioError(
            f"a search needs a budget of at least {2 * optimise.POPULATION}, not {count}"
        )
    report = tell or (lambda _: None)
    chosen = method or optimise.method()
    if method is None and chosen != optimise.CMA:
        report(f"using {chosen}, because cma is not installed; for CMA-ES: pip install cma")
    controls.load_missing([candidate.name])
    results = []
    names = [candidate.name, *BASELINES]
    with (
        Store(cache).opened() as kept,
        places.opened(names, jobs=jobs, cluster=cluster, limits=limits) as place,
    ):
        for genome in varied:

            @contextmanager
            def bench(runs: int, genome: Genome = genome) -> Iterator[Bench]:
                unit = f"runs with {genome.name}"
                with progress.Count(runs, unit, shown=shown) as bar:
                    yield Bench(candidate, kept, place, bar)

            attempt = _Search(goal, genome, seed, RUNS[mode])
            parts = 4 if goal.with_victim else 3
            with bench(2 * parts * count * RUNS[mode]) as searching:
                attempt.look(searching, count, chosen)
            checks = parts * (2 * SHORTLIST * CHECKING_RUNS + FRESH_RUNS * (BEST + 1))
            with bench(checks) as checking:
                searched = attempt.confirm(checking, count, chosen)
            report(summed_up(searched))
            results.append(searched)
    return results


def _named(known: Mapping[str, T], names: Sequence[str], kind: str) -> list[T]:
    for name in names:
        if name not in known:
            raise engine.ScenarioError(f'unknown {kind} "{name}": {hint(name, known)}')
    return [known[name] for name in names]


def summed_up(searched: Searched) -> str:
    """Sum a search up in a line, with its value over fresh seeds next to that of random draws."""
    count = len(searched.adversaries)
    outcome = {0: "no adversary", 1: "1 adversary"}.get(count, f"{count} adversaries")
    beaten = "" if searched.beats_random else "; not shown to beat random draws"
    return (
        f"{searched.objective.name}, {searched.genome.name}: {outcome}; "
        f"{searched.fresh} with fresh seeds, random draws {searched.fresh_at_random}{beaten}"
    )


class _Search:
    """The vectors of a genome that have been tried, with their values."""

    def __init__(self, objective: Objective, genome: Genome, seed: int, runs: int) -> None:
        self.objective, self.genome, self.seed, self.runs = objective, genome, seed, runs
        self.searched: list[tuple[float, Vector]] = []
        self.drawn: list[tuple[float, Vector]] = []
        self.means: list[Vector] = []
        self.failures: dict[str, None] = {}

    def look(self, bench: Bench, budget: int, method: str) -> None:
        """Try the patterns that the search chooses, and as many random ones."""
        size, crossover = self.genome.size, self.genome.size > optimise.POPULATION
        for known, how in ((self.searched, method), (self.drawn, None)):
            # Each generation has runs of its own, because CMA-ES uses only the order within a
            # generation: with the same runs throughout it would overfit to their start times.
            runs = itertools.count()

            def together(
                vectors: Sequence[Vector],
                known: list[tuple[float, Vector]] = known,
                runs: Iterator[int] = runs,
            ) -> list[float]:
                patterns = [self.genome.pattern(vector) for vector in vectors]
                first = self.runs * next(runs)
                values = self.values(bench, patterns, self.seed, range(first, first + self.runs))
                known.extend(zip(values, map(np.array, vectors), strict=True))
                return values

            if how is None:
                optimise.at_random(together, size, budget, self.seed)
            else:
                self.means = optimise.maximise(together, size, budget, self.seed, crossover=crossover, by=how)
        if self.failures and all(value == 0 for value, _ in self.searched):
            raise engine.SimulationError(f"every run failed: {next(iter(self.failures))}")

    def values(self, bench: Bench, patterns: Sequence[Pattern], seed: int, runs: range) -> list[float]:
        """Return the values that the search maximises, less penalties; 0 where a run fails."""
        cells = [self.objective.cell("pattern", self.genome, pattern) for pattern in patterns]
        results = []
        together = bench.measure(cells, seed=seed, runs=runs, alone=self.objective.absolute)
        for pattern, measured in zip(patterns, together, strict=True):
            value = float(np.mean(self._by_run(pattern, measured))) if not measured.error else 0.0
            if measured.error:
                self.failures.setdefault(measured.error)
            results.append(value - self.genome.penalty(pattern) if np.isfinite(value) else 0.0)
        return results

    def _by_run(self, pattern: Pattern, measured: BenchRuns) -> list[float]:
        margin = self.objective.margin
        scale = self.objective.scale(self.genome, pattern)
        baselines = [measured.values(name, margin) for name in BASELINES if name in measured.numbers]
        return [
            self.objective.value(mine, [values[run] for values in baselines], scale)
            for run, mine in enumerate(measured.values(CANDIDATE, margin))
        ]

    def checked(self, bench: Bench, patterns: Sequence[Pattern]) -> list[float]:
        """Return values with seeds that the search has not seen."""
        return self.values(bench, patterns, self.seed + CHECKING, range(CHECKING_RUNS))

    def _shortlisted(
        self, bench: Bench, tried: Sequence[tuple[float, Vector]], means: Sequence[Vector] = ()
    ) -> list[Pattern]:
        """Return the best patterns, none nearly equal to another, in the order of their checked values."""
        vectors = [*means, *_apart(tried)][:SHORTLIST]
        patterns = [self.genome.pattern(vector) for vector in vectors]
        values = self.checked(bench, patterns)
        order = sorted(range(len(patterns)), key=lambda index: -values[index])
        return [patterns[index] for index in order]

    def confirm(self, bench: Bench, budget: int, method: str) -> Searched:
        """Run the best again with fresh seeds, and simplify those that are still adversaries."""
        best = self._shortlisted(bench, self.searched, self.means)[:BEST]
        random = self._shortlisted(bench, self.drawn)[0]
        *judged, drawn = self.judged(bench, [*best, random])
        confirmed = [
            (pattern, adversary)
            for pattern, adversary in zip(best, judged, strict=True)
            if adversary is not None
        ]
        if not confirmed:
            raise engine.SimulationError(
                f"the best scenarios failed with fresh seeds: {next(iter(self.failures))}"
            )
        adversaries = []
        for pattern, adversary in confirmed:
            if not adversary.is_found:
                continue
            simple = minimise(self.genome, pattern, lambda patterns: self.checked(bench, patterns))
            again = self.judged(bench, [simple])[0]
            adversaries.append(again if again is not None and again.is_found else adversary)
        return Searched(
            objective=self.objective,
            genome=self.genome,
            method=method,
            budget=budget,
            best=max(value for value, _ in self.searched),
            best_at_random=max(value for value, _ in self.drawn),
            fresh=_less(confirmed[0][1].value, self.genome.penalty(confirmed[0][0])),
            fresh_at_random=_less(
                Estimate(np.nan, np.nan, np.nan, 0) if drawn is None else drawn.value,
                self.genome.penalty(random),
            ),
            history=np.maximum.accumulate([value for value, _ in self.searched]).tolist(),
            adversaries=_different(adversaries),
            tried=[adversary for _, adversary in confirmed],
            failures=list(self.failures),
        )

    def judged(self, bench: Bench, patterns: Sequence[Pattern]) -> list[Adversary | None]:
        """Compare patterns over runs with fresh seeds; None where a run fails."""
        seed = self.seed + FRESH
        cells = [self.objective.cell("pattern", self.genome, pattern) for pattern in patterns]
        measured = bench.measure(cells, seed=seed, runs=range(FRESH_RUNS), drawn=True)
        return [
            self._adversary(bench.candidate, pattern, runs, seed)
            for pattern, runs in zip(patterns, measured, strict=True)
        ]

    def _adversary(
        self, candidate: Subject, pattern: Pattern, measured: BenchRuns, seed: int
    ) -> Adversary | None:
        if measured.error:
            self.failures.setdefault(measured.error)
            return None
        margin = self.objective.margin
        values = {name: measured.values(name, margin) for name in (CANDIDATE, *BASELINES)}
        baseline, compared = paired.most_permissive(
            {name: paired.compare(values[CANDIDATE], values[name], margin) for name in BASELINES}
        )
        least, most = possible(margin.metric)
        scale = self.objective.scale(self.genome, pattern)
        pairs = zip(values[CANDIDATE], values[baseline], strict=True)
        scenario = self.genome.scenario(pattern, self.objective.cast(candidate))
        return Adversary(
            objective=self.objective,
            genome=self.genome.name,
            candidate=candidate.name,
            scenario={**scenario, "run": {**scenario["run"], "seed": seed}},
            capacity=self.genome.capacity_mbps(pattern),
            estimates={
                name: metrics.over_runs(by_run, least=least, most=most) for name, by_run in values.items()
            },
            baseline=baseline,
            value=metrics.over_runs([self.objective.value(mine, [theirs], scale) for mine, theirs in pairs]),
            verdict=compared.verdict,
            curves=measured.curves,
            timeline=self.genome.curve(pattern),
        )


def _less(value: Estimate, penalty: float) -> Estimate:
    return replace(value, value=value.value - penalty, low=value.low - penalty, high=value.high - penalty)


def _apart(tried: Sequence[tuple[float, Vector]]) -> list[Vector]:
    """Return the best vectors, none nearly equal to another."""
    kept: list[Vector] = []
    for _, vector in sorted(tried, key=lambda pair: -pair[0]):
        if all(np.sqrt(np.mean((vector - better) ** 2)) >= APART for better in kept):
            kept.append(vector)
        if len(kept) == SHORTLIST:
            break
    return kept


def _different(adversaries: Sequence[Adversary]) -> list[Adversary]:
    """Leave out adversaries that have become the same by simplifying."""
    kept: list[Adversary] = []
    for adversary in adversaries:
        if all(adversary.scenario != earlier.scenario for earlier in kept):
            kept.append(adversary)
    return kept
