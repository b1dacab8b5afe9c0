"""How a search chooses the next vectors: CMA-ES, or what stands in for it, and random draws.

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
"""Gives the values of several vectors, of which larger ones are wanted."""
POPULATION = 16
SMALLEST_SIGMA = 0.01
"""Below this step size everything in reach has been seen."""
LOOK_AROUND = 0.25
"""Share of the budget that goes into random draws before a search of a few numbers refines."""
REFINING_SIGMA = 0.5
"""Its first step size then, in standard deviations of the draws."""
CROSSOVER_EVERY = 10
"""Generations."""
REACH = 4.0
"""How far differential evolution goes from the middle, in standard deviations of the draws."""
CMA, EVOLUTION = "CMA-ES", "differential evolution"


def method() -> str:
    """Say which optimiser there is.

    Returns
    -------
    str
        ``CMA-ES`` with the extra ``ackclock[search]``, else ``differential evolution``.
    """
    return CMA if importlib.util.find_spec("cma") else EVOLUTION


def maximise(
    together: Together, size: int, budget: int, seed: int, *, crossover: bool, by: str | None = None
) -> list[Vector]:
    """Look for vectors with large values.

    Parameters
    ----------
    together : callable
        Gives the values of the vectors of a generation, and remembers them.
    size : int
        Numbers in a vector.
    budget : int
        How many vectors may be tried.
    seed : int
        Of the random choices.
    crossover : bool
        Whether parts of the two best vectors are exchanged now and then: for vectors that are slots
        of time.
    by : str, optional
        ``CMA-ES`` or ``differential evolution``; by default as `method` says.

    Returns
    -------
    list of ndarray
        Where the distributions of CMA-ES stood in the end, which were not tried themselves: where
        chance has a part in the values, the vector with the largest is the luckiest, and the mean
        of those that it chose from is the better guess (Hansen, The CMA Evolution Strategy: A
        Tutorial, arXiv:1604.00772, on noisy objectives). Empty for differential evolution.
    """
    chosen = by or method()
    look = _by_cma if chosen == CMA else _by_evolution
    return look(_Limited(together, budget), size, seed, crossover)


def at_random(together: Together, size: int, budget: int, seed: int) -> int:
    """Try standard normal vectors, as the first generation of a search is.

    Parameters
    ----------
    together, size, budget, seed
        As for `maximise`.

    Returns
    -------
    int
        How many vectors were tried: `budget`.
    """
    # Another stream than that of the search with the same seed.
    random = np.random.default_rng([seed, 1])
    limited = _Limited(together, budget)
    while limited.left:
        limited(list(random.standard_normal((min(POPULATION, limited.left), size))))
    return limited.tried


class _Limited:
    """Tries no more vectors than the budget allows."""

    def __init__(self, together: Together, budget: int) -> None:
        self._together, self.left, self.tried = together, budget, 0
        self.best: list[tuple[float, Vector]] = []

    def __call__(self, vectors: Sequence[Vector]) -> list[float]:
        """Give values; those past the budget are as bad as can be."""
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
            # A few numbers with several basins: it starts in the best that a look around has found.
            centre, sigma = _looked_around(limited, random, size), REFINING_SIGMA
        options: dict[str, Any] = {
            "popsize": population,
            # Its own stream, not that of the whole process, so that the same seed does the same.
            "randn": lambda *shape: random.standard_normal(shape),
            "seed": float("nan"),
            "verbose": -9,
            "tolfun": 0,
            "tolfunhist": 0,
            "tolflatfitness": np.inf,
        }
        with warnings.catch_warnings():
            # It says that it will not use a seed, which is what was asked for.
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


def _looked_around(limited: _Limited, random: np.random.Generator, size: int) -> Vector:
    """Spend a part of what is left on random draws; give the best of them."""
    found: list[tuple[float, Vector]] = []
    count = max(POPULATION, int(LOOK_AROUND * limited.left))
    while limited.left and len(found) < count:
        vectors = list(random.standard_normal((POPULATION, size)))
        found += zip(limited(vectors), vectors, strict=True)
    return max(found, key=lambda pair: pair[0])[1]


def _children(best: Sequence[tuple[float, Vector]], random: np.random.Generator) -> list[Vector]:
    """Exchange the ends of the two best vectors at a random place."""
    (_, one), (_, other) = best
    cut = int(random.integers(1, one.size))
    return [np.append(one[:cut], other[cut:]), np.append(other[:cut], one[cut:])]


def _by_evolution(limited: _Limited, size: int, seed: int, crossover: bool) -> list[Vector]:
    del crossover
    from scipy.optimize import Bounds, differential_evolution

    random = np.random.default_rng([seed, 0])

    def together(_: object, vectors: Iterable[Vector]) -> list[float]:
        return [-value for value in limited([np.asarray(one) for one in vectors])]

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
    """Stand where differential evolution asks for a function of one vector; it is not called."""
    raise AssertionError
