"""The optimiser of a search and random draws.

The optimiser is CMA-ES (Hansen and Ostermeier, Evolutionary Computation 9, 2001) by the package `cma`.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ackclock.runs.imports import import_whole
from ackclock_search.genome import Vector

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


def is_installed() -> bool:
    """Return whether the optimiser is installed: it needs the package cma."""
    return importlib.util.find_spec("cma") is not None


def at_random(together: Together, size: int, budget: int, seed: int) -> None:
    """Try `budget` standard normal vectors, like the first generation of a search."""
    # A stream of its own: the search with the same seed must not draw the same vectors.
    random = np.random.default_rng([seed, 1])
    limited = _Limited(together, budget)
    while limited.left:
        limited(list(random.standard_normal((min(POPULATION, limited.left), size))))


class _Limited:
    """Evaluates no more vectors than the budget allows."""

    def __init__(self, together: Together, budget: int) -> None:
        self._together, self.left = together, budget
        self.best: list[tuple[float, Vector]] = []

    def __call__(self, vectors: Sequence[Vector]) -> list[float]:
        """Return the values of vectors; a vector past the budget has minus infinity."""
        within = list(vectors)[: self.left]
        values = self._together(within)
        self.left -= len(within)
        pairs = zip(values, map(np.array, within), strict=True)
        self.best = sorted([*self.best, *pairs], key=lambda pair: -pair[0])[:2]
        return values + [-np.inf] * (len(vectors) - len(within))


def maximise(together: Together, size: int, budget: int, seed: int, *, crossover: bool) -> list[Vector]:
    """Search for vectors of `size` numbers with large values; `together` records all vectors tried.

    `crossover` exchanges parts of the two best vectors every few generations, which suits vectors
    that are slots of time.

    Return the final means of the distributions, which were not tried themselves: where values are
    noisy, the vector with the largest value is the luckiest, and the mean of the distribution is the
    better guess (Hansen, The CMA Evolution Strategy: A Tutorial, arXiv:1604.00772, on noisy objectives).
    """
    limited = _Limited(together, budget)
    cma: Any = import_whole("cma")
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
            # The optimiser has its own random stream, so that a seed determines the search.
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
