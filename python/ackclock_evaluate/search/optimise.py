"""The optimisers of a search, CMA-ES or differential evolution, and random draws.

CMA-ES (Hansen and Ostermeier, Evolutionary Computation 9, 2001) by the package `cma`; without it
differential evolution of SciPy (Storn and Price, Journal of Global Optimization 11, 1997).
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ackclock_evaluate.search.genome import Vector

Together = Callable[[Sequence[Vector]], list[float]]
"""Returns the values of several vectors; larger values are better."""
POPULATION = 16
SMALLEST_SIGMA = 0.01
"""Below this step size the search stops refining."""
LOOK_AROUND = 0.25
"""Share of the budget spent on random draws before a search of a few numbers refines."""
REFINING_SIGMA = 0.5
"""First step size of that refinement, in standard deviations of the draws."""
CROSSOVER_EVERY = 10
"""Generations from one exchange of parts to the next."""
REACH = 4.0
"""Bounds of differential evolution, in standard deviations of the draws."""
CMA, EVOLUTION = "CMA-ES", "differential evolution"


def method() -> str:
    """Return the better optimiser that is installed: CMA-ES needs the package cma."""
    return CMA if importlib.util.find_spec("cma") else EVOLUTION


def maximise(
    together: Together, size: int, budget: int, seed: int, *, crossover: bool, by: str | None = None
) -> list[Vector]:
    """Search for vectors of `size` numbers with large values; `together` records all vectors tried.

    `crossover` exchanges parts of the two best vectors every few generations, which suits vectors
    that are slots of time. `by` overrides `method`.

    Return the final means of the distributions of CMA-ES, which were not tried themselves: where
    values are noisy, the vector with the largest value is the luckiest, and the mean of the
    distribution is the better guess (Hansen, The CMA Evolution Strategy: A Tutorial,
    arXiv:1604.00772, on noisy objectives). The list is empty for differential evolution.
    """
    chosen = by or method()
    look = _by_cma if chosen == CMA else _by_evolution
    return look(_Limited(together, budget), size, seed, crossover)


def at_random(together: Together, size: int, budget: int, seed: int) -> int:
    """Try `budget` standard normal vectors, like the first generation of a search; return their number."""
    # A stream of its own: the search with the same seed must not draw the same vectors.
    random = np.random.default_rng([seed, 1])
    limited = _Limited(together, budget)
    while limited.left:
        limited(list(random.standard_normal((min(POPULATION, limited.left), size))))
    return limited.tried


class _Limited:
    """Evaluates no more vectors than the budget allows."""

    def __init__(self, together: Together, budget: int) -> None:
        self._together, self.left, self.tried = together, budget, 0
        self.best: list[tuple[float, Vector]] = []

    def __call__(self, vectors: Sequence[Vector]) -> list[float]:
        """Return values; those of vectors past the budget are minus infinity."""
        within = list(vectors)[: self.left]
        values = self._together(within)
        self.left -= len(within)
        self.tried += len(within)
        pairs = zip(values, map(np.array, within), strict=True)
        self.best = sorted([*self.best, *pairs], key=lambda pair: -pair[0])[:2]
        return values + [-np.inf] * (len(vectors) - len(within))


def _by_cma(limited: _Limited, size: int, seed: int, crossover: bool) -> list[Vector]:
    cma: Any = importlib.import_module("cma")
    random = np.random.default_rng([seed, 0])
    population = POPULATION
    centre: Vector = np.zeros(size)
    sigma = 1.0
    means: list[Vector] = []
    while limited.left:
        if not crossover:
            # A few numbers with several basins: start from the best of some random draws.
            centre, sigma = _best_draw(limited, random, size), REFINING_SIGMA
        options: dict[str, Any] = {
            "popsize": population,
            # Its own stream instead of that of the process, so that a seed determines the search.
            "randn": lambda *shape: random.standard_normal(shape),
            "seed": float("nan"),
            "verbose": -9,
            "tolfun": 0,
            "tolfunhist": 0,
            "tolflatfitness": np.inf,
        }
        with warnings.catch_warnings():
            # The package warns that it ignores its own seed, which is intended.
            warnings.simplefilter("ignore")
            strategy = cma.CMAEvolutionStrategy(centre, sigma, options)
            generation = 0
            while limited.left and strategy.sigma >= SMALLEST_SIGMA and not strategy.stop():
                generation += 1
                if crossover and generation % CROSSOVER_EVERY == 0:
                    strategy.inject(_children(limited.best, random), force=True)
                vectors = strategy.ask()
                values = limited(vectors)
                if limited.left:
                    strategy.tell(vectors, [-value for value in values])
        if strategy.countiter:
            means.append(np.array(strategy.mean))
        population *= 2
        centre = random.standard_normal(size)
    return means


def _best_draw(limited: _Limited, random: np.random.Generator, size: int) -> Vector:
    """Spend a share of the remaining budget on random draws and return the best of them."""
    draws: list[tuple[float, Vector]] = []
    count = max(POPULATION, int(LOOK_AROUND * limited.left))
    while limited.left and len(draws) < count:
        vectors = list(random.standard_normal((POPULATION, size)))
        draws += zip(limited(vectors), vectors, strict=True)
    return max(draws, key=lambda pair: pair[0])[1]


def _children(best: Sequence[tuple[float, Vector]], random: np.random.Generator) -> list[Vector]:
    """Exchange the ends of the two best vectors from a random index on."""
    (_, first), (_, second) = best
    cut = int(random.integers(1, first.size))
    return [np.append(first[:cut], second[cut:]), np.append(second[:cut], first[cut:])]


def _by_evolution(limited: _Limited, size: int, seed: int, crossover: bool) -> list[Vector]:
    del crossover
    from scipy.optimize import Bounds, differential_evolution

    random = np.random.default_rng([seed, 0])

    def together(_: object, vectors: Iterable[Vector]) -> list[float]:
        return [-value for value in limited([np.asarray(vector) for vector in vectors])]

    while limited.left:
        first = random.standard_normal((min(POPULATION, max(5, limited.left)), size))
        differential_evolution(
            _together_instead,
            Bounds(np.full(size, -REACH), np.full(size, REACH)),
            init=np.clip(first, -REACH, REACH),
            maxiter=max(0, -(-limited.left // len(first)) - 1),
            updating="deferred",
            workers=together,
            polish=False,
            rng=random,
            tol=0,
        )
    return []


def _together_instead(_: object) -> float:
    """Fill the argument for a function of a single vector; differential evolution never calls it."""
    raise AssertionError
