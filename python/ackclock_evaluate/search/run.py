"""A search: many patterns once, the best of them again with fresh seeds, and what remains."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import engine, metrics
from ackclock.decision import paired
from ackclock.engine import controls
from ackclock.metrics import Estimate
from ackclock.runs import Limits, Store, places, progress
from ackclock_evaluate.cell import possible
from ackclock_evaluate.search import optimise
from ackclock_evaluate.search.bench import CANDIDATE, Bench, Measured
from ackclock_evaluate.search.genome import Genome, Pattern, Vector
from ackclock_evaluate.search.genomes import GENOMES
from ackclock_evaluate.search.minimise import minimise
from ackclock_evaluate.search.objectives import OBJECTIVES, Objective
from ackclock_evaluate.search.saved import FRESH_RUNS, Adversary
from ackclock_evaluate.setting import BASELINES, Mode, Subject

BUDGET = {"quick": 480, "full": 4000}
"""Patterns that are tried per genome, and as many at random."""
RUNS = {"quick": 2, "full": 3}
"""Runs of a pattern while it is looked for."""
QUICK_GENOMES = 2
BEST = 5
SHORTLIST = 20
CHECKING_RUNS = 5
"""Runs of those on the shortlist, with other seeds: they say which are the best."""
CHECKING = 500
"""Added to the seed for them."""
APART = 0.3
"""Root mean square of what distinguishes two of the best, in standard deviations of the draws."""
FRESH = 1000
"""Added to the seed for runs that no choice was made by."""


@dataclass(frozen=True)
class Searched:
    """What came of a search with one genome.

    Attributes
    ----------
    objective : Objective
        What was looked for.
    genome : Genome
        What was varied.
    method : str
        ``CMA-ES`` or ``differential evolution``.
    budget : int
        Patterns tried by the search, and as many again at random.
    best, best_at_random : float
        Largest values during the search, on its own seed: flattered by the choice.
    fresh, fresh_at_random : Estimate
        Values of the best pattern of the search, and of the best of the random ones, over fresh
        runs; what the genome takes off for crudeness is off.
    history : list of float
        Best value so far by number of patterns tried.
    adversaries : list of Adversary
        The best patterns that are past the margin with fresh seeds, simplified.
    tried : list of Adversary
        The best patterns, as they were found, past it or not.
    failures : list of str
        What went wrong in runs of patterns, each once.
    """

    objective: Objective
    genome: Genome
    method: str
    budget: int
    best: float
    best_at_random: float
    fresh: Estimate
    fresh_at_random: Estimate
    history: list[float]
    adversaries: list[Adversary]
    tried: list[Adversary]
    failures: list[str]

    @property
    def beyond_random(self) -> Estimate:
        """How much more harm its best pattern does, with fresh seeds, than the best random one."""
        return metrics.difference(self.fresh, self.fresh_at_random)

    @property
    def beats_random(self) -> bool:
        """Whether that is more than 0 with 95 % confidence."""
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
    tell: Callable[[str], Any] | None = None,
) -> list[Searched]:
    """Look for scenarios in which a control does worse than CUBIC and Reno.

    Parameters
    ----------
    candidate : Subject
        The control.
    objective : str
        One of `OBJECTIVES`.
    cache : Path
        Directory in which numbers are kept; an interrupted search goes on from them.
    mode : str
        ``quick``: two runs per pattern, the first two genomes of the objective; ``full``: three
        runs, all its genomes.
    budget : int, optional
        Patterns per genome; by default 480 or 4000.
    genomes : sequence of str
        Which; by default as the mode says.
    seed : int
        Of the choices and of the runs.
    jobs, cluster, limits, shown
        As for `evaluate`.
    method : str, optional
        ``CMA-ES`` or ``differential evolution``; by default CMA-ES if the extra is installed.
    tell : callable, optional
        Called with a line about what is done.

    Returns
    -------
    list of Searched
        By genome.

    Raises
    ------
    ScenarioError
        When there is no such objective or genome, the budget is too small, or the candidate cannot
        be loaded.
    SimulationError
        When every run of the candidate fails.
    StorageError
        When numbers cannot be kept.
    """
    wanted = _named(OBJECTIVES, [objective], "objective")[0]
    usual = wanted.genomes if mode == "full" else wanted.genomes[:QUICK_GENOMES]
    varied = _named(GENOMES, genomes or usual, "genome")
    count = budget or BUDGET[mode]
    if count < 2 * optimise.POPULATION:
        raise engine.ScenarioError(
            f"a search needs a budget of at least {2 * optimise.POPULATION}, not {count}"
        )
    say = tell or (lambda _: None)
    chosen = method or optimise.method()
    if method is None and chosen != optimise.CMA:
        say(f"cma is not installed, {chosen} stands in: pip install 'ackclock[search]' for CMA-ES")
    controls.load_missing([candidate.name])
    found = []
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

            one = _Search(wanted, genome, seed, RUNS[mode])
            parts = 4 if wanted.with_victim else 3
            with bench(2 * parts * count * RUNS[mode]) as made:
                one.look(made, count, chosen)
            checks = parts * (2 * SHORTLIST * CHECKING_RUNS + FRESH_RUNS * (BEST + 1))
            with bench(checks) as made:
                searched = one.confirm(made, count, chosen)
            say(summed_up(searched))
            found.append(searched)
    return found


def _named(known: Any, names: Sequence[str], what: str) -> list[Any]:
    for name in names:
        if name not in known:
            raise engine.ScenarioError(f'no {what} "{name}"; there are {", ".join(known)}')
    return [known[name] for name in names]


def summed_up(searched: Searched) -> str:
    """Say what a search has found.

    Parameters
    ----------
    searched : Searched
        What came of it.

    Returns
    -------
    str
        A line, with the value over fresh seeds beside that of random draws.
    """
    count = len(searched.adversaries)
    outcome = {0: "no adversary found", 1: "adversary found"}.get(count, f"{count} adversaries")
    beaten = "" if searched.beats_random else "; not shown to beat random draws"
    return (
        f"{searched.objective.name}, {searched.genome.name}: {outcome}; "
        f"{searched.fresh} with fresh seeds, at random {searched.fresh_at_random}{beaten}"
    )


class _Search:
    """What has been tried of a genome, and with which value."""

    def __init__(self, objective: Objective, genome: Genome, seed: int, runs: int) -> None:
        self.objective, self.genome, self.seed, self.runs = objective, genome, seed, runs
        self.searched: list[tuple[float, Vector]] = []
        self.drawn: list[tuple[float, Vector]] = []
        self.means: list[Vector] = []
        self.failures: dict[str, None] = {}

    def look(self, bench: Bench, budget: int, method: str) -> None:
        """Try patterns, those that the search wants and as many random ones."""
        size, crossover = self.genome.size, self.genome.size > optimise.POPULATION
        for known, how in ((self.searched, method), (self.drawn, None)):
            # Other runs for each generation, of which CMA-ES uses the order alone: with the same
            # ones throughout it would learn what fits their starts, which helps in no other run.
            runs = itertools.count()

            def together(
                vectors: Sequence[Vector],
                known: list[tuple[float, Vector]] = known,
                runs: Iterator[int] = runs,
            ) -> list[float]:
                patterns = [self.genome.pattern(one) for one in vectors]
                first = self.runs * next(runs)
                values = self.values(bench, patterns, self.seed, range(first, first + self.runs))
                known.extend(zip(values, map(np.array, vectors), strict=True))
                return values

            if how is None:
                optimise.at_random(together, size, budget, self.seed)
            else:
                self.means = optimise.maximise(together, size, budget, self.seed, crossover=crossover, by=how)
        if self.failures and all(value == 0 for value, _ in self.searched):
            raise engine.SimulationError(f"every run fails: {next(iter(self.failures))}")

    def values(self, bench: Bench, patterns: Sequence[Pattern], seed: int, runs: range) -> list[float]:
        """Give what is maximised; 0 where a run fails."""
        cells = [self.objective.cell("pattern", self.genome, one) for one in patterns]
        found = []
        alone = self.objective.absolute
        together = bench.measure(cells, seed=seed, runs=runs, alone=alone)
        for pattern, measured in zip(patterns, together, strict=True):
            value = float(np.mean(self._by_run(pattern, measured))) if not measured.error else 0.0
            if measured.error:
                self.failures.setdefault(measured.error)
            found.append(value - self.genome.penalty(pattern) if np.isfinite(value) else 0.0)
        return found

    def _by_run(self, pattern: Pattern, measured: Measured) -> list[float]:
        margin = self.objective.margin
        scale = self.objective.scale(self.genome, pattern)
        others = [measured.values(name, margin) for name in BASELINES if name in measured.numbers]
        return [
            self.objective.value(one, [other[run] for other in others], scale)
            for run, one in enumerate(measured.values(CANDIDATE, margin))
        ]

    def checked(self, bench: Bench, patterns: Sequence[Pattern]) -> list[float]:
        """Give values with seeds that the search has not seen."""
        return self.values(bench, patterns, self.seed + CHECKING, range(CHECKING_RUNS))

    def _shortlisted(
        self, bench: Bench, tried: Sequence[tuple[float, Vector]], means: Sequence[Vector] = ()
    ) -> list[Pattern]:
        """Give the best that are not nearly the same, by their values with other seeds."""
        vectors = [*means, *_apart(tried)][:SHORTLIST]
        patterns = [self.genome.pattern(one) for one in vectors]
        values = self.checked(bench, patterns)
        order = sorted(range(len(patterns)), key=lambda index: -values[index])
        return [patterns[index] for index in order]

    def confirm(self, bench: Bench, budget: int, method: str) -> Searched:
        """Run the best again with fresh seeds, and simplify those that stay what they were."""
        best = self._shortlisted(bench, self.searched, self.means)[:BEST]
        random = self._shortlisted(bench, self.drawn)[0]
        *judged, drawn = self.judged(bench, [*best, random])
        confirmed = [(pattern, one) for pattern, one in zip(best, judged, strict=True) if one is not None]
        if not confirmed:
            raise engine.SimulationError(
                f"the best scenarios fail with fresh seeds: {next(iter(self.failures))}"
            )
        adversaries = []
        for pattern, one in confirmed:
            if not one.is_found:
                continue
            simple = minimise(self.genome, pattern, lambda some: self.checked(bench, some))
            again = self.judged(bench, [simple])[0]
            adversaries.append(again if again is not None and again.is_found else one)
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
            tried=[one for _, one in confirmed],
            failures=list(self.failures),
        )

    def judged(self, bench: Bench, patterns: Sequence[Pattern]) -> list[Adversary | None]:
        """Run patterns with fresh seeds, and compare; None where a run fails."""
        seed = self.seed + FRESH
        cells = [self.objective.cell("pattern", self.genome, one) for one in patterns]
        measured = bench.measure(cells, seed=seed, runs=range(FRESH_RUNS), drawn=True)
        return [
            self._adversary(bench.candidate, pattern, one, seed)
            for pattern, one in zip(patterns, measured, strict=True)
        ]

    def _adversary(
        self, candidate: Subject, pattern: Pattern, measured: Measured, seed: int
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
        beside = zip(values[CANDIDATE], values[baseline], strict=True)
        scenario = self.genome.scenario(pattern, self.objective.cast(candidate))
        return Adversary(
            objective=self.objective,
            genome=self.genome.name,
            candidate=candidate.name,
            scenario={**scenario, "run": {**scenario["run"], "seed": seed}},
            capacity=self.genome.capacity_mbps(pattern),
            estimates={
                name: metrics.over_runs(found, least=least, most=most) for name, found in values.items()
            },
            baseline=baseline,
            value=metrics.over_runs([self.objective.value(one, [other], scale) for one, other in beside]),
            verdict=compared.verdict,
            curves=measured.curves,
            timeline=self.genome.curve(pattern),
        )


def _less(value: Estimate, penalty: float) -> Estimate:
    return replace(value, value=value.value - penalty, low=value.low - penalty, high=value.high - penalty)


def _apart(tried: Sequence[tuple[float, Vector]]) -> list[Vector]:
    """Give the best vectors that are not nearly the same."""
    found: list[Vector] = []
    for _, vector in sorted(tried, key=lambda pair: -pair[0]):
        if all(np.sqrt(np.mean((vector - other) ** 2)) >= APART for other in found):
            found.append(vector)
        if len(found) == SHORTLIST:
            break
    return found


def _different(adversaries: Sequence[Adversary]) -> list[Adversary]:
    """Leave out what has become the same by simplifying."""
    found: list[Adversary] = []
    for one in adversaries:
        if all(one.scenario != other.scenario for other in found):
            found.append(one)
    return found
