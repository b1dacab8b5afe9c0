"""The factors on which a number depends, by permutation tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

PERMUTATIONS = 999
"""Number of permutations: the smallest probability that they can show is 0.001."""
LEVEL = 0.05
"""The probability that some factor is named although none acts."""
SETTINGS_PER_TERM = 1.5
"""Fewest observations for each term of the model; with fewer, the factors cannot be told apart."""

Floats = NDArray[np.float64]


def acting(levels: ArrayLike, first: ArrayLike, second: ArrayLike, seed: int = 1) -> list[int]:
    """Return the columns of the factors that a number depends on, in descending order of F.

    All factors are fitted together, without interactions, to the ranks of the number. A factor acts if its
    partial F for the two measurements together exceeds those of every factor in all but a twentieth of the
    permutations, which limits the probability of naming any factor where none acts, and if each of the two
    measurements alone confirms it: by its own permutations, and with effects in the same direction.

    `levels` has a row per observation and a column per factor, of whole numbers that name levels; `first` and
    `second` are the number at each observation, measured with independent random numbers. The result is empty
    where the observations are too few for the levels, or nothing differs.

    Four factors with two levels in a full factorial; the number is the level of the second, with noise that
    has a quarter of its size.

    >>> levels = np.array(np.meshgrid([0, 1], [0, 1], [0, 1], [0, 1])).reshape(4, -1).T
    >>> noise = np.random.default_rng(1).normal(0, 0.25, (2, 16))
    >>> acting(levels, levels[:, 1] + noise[0], levels[:, 1] + noise[1])
    [1]
    """
    numbers = [_ranks(np.asarray(measured, float)) for measured in (first, second)]
    columns = [_contrasts(column) for column in np.asarray(levels).T]
    terms = 1 + sum(contrast.shape[1] for contrast in columns)
    if len(numbers[0]) < SETTINGS_PER_TERM * terms or not all(np.ptp(number) for number in numbers):
        return []
    random = np.random.default_rng(seed)
    partial = [_partial(columns, factor) for factor in range(len(columns))]
    together, *alone = (
        _against_chance(partial, number, random) for number in (numbers[0] + numbers[1], *numbers)
    )
    limit = np.quantile(together.chance.max(axis=0), 1 - LEVEL)
    named = [
        factor
        for factor in np.argsort(-together.observed)
        if together.observed[factor] > limit
        and all((each.chance[factor] >= each.observed[factor]).mean() <= LEVEL for each in alone)
        and float(np.dot(*(partial[factor].added.T @ number for number in numbers))) > 0
    ]
    return [int(factor) for factor in named]


def _ranks(numbers: Floats) -> Floats:
    """Return centred ranks, so that one large number does not decide; equal numbers share their ranks."""
    _, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    centred: Floats = ranks - ranks.mean()
    return centred


def _contrasts(column: NDArray[np.int64]) -> Floats:
    """Return a column of zeros and ones for each level but the first, centred."""
    levels = np.unique(column)[1:]
    ones = (column[:, None] == levels).astype(float)
    contrasts: Floats = ones - ones.mean(axis=0)
    return contrasts


class _Partial(NamedTuple):
    """The contribution of a factor, a basis of the whole model, and the residual degrees of freedom."""

    added: Floats
    whole: Floats
    degrees: int


class _AgainstChance(NamedTuple):
    """The partial F of every factor, and the same for each permutation, a column each."""

    observed: Floats
    chance: Floats


def _against_chance(
    partial: Sequence[_Partial], number: Floats, random: np.random.Generator
) -> _AgainstChance:
    permuted = random.permuted(np.tile(number, (PERMUTATIONS, 1)), axis=1).T
    return _AgainstChance(_f(partial, number[:, None])[:, 0], _f(partial, permuted))


def _partial(columns: Sequence[Floats], factor: int) -> _Partial:
    others = _basis(np.hstack([column for other, column in enumerate(columns) if other != factor]))
    own = columns[factor]
    added = _basis(own - others @ (others.T @ own))
    return _Partial(added, np.hstack([others, added]), len(own) - 1 - others.shape[1] - added.shape[1])


def _basis(columns: Floats) -> Floats:
    """Return an orthonormal basis of the space that columns span."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    basis: Floats = left[:, sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))]
    return basis


def _f(partial: Sequence[_Partial], numbers: Floats) -> Floats:
    """Return the partial F of every factor, a row each, for numbers in columns."""
    rows = []
    for added, whole, degrees in partial:
        explained = ((added.T @ numbers) ** 2).sum(axis=0) / max(1, added.shape[1])
        left = (numbers**2).sum(axis=0) - ((whole.T @ numbers) ** 2).sum(axis=0)
        rows.append(explained / np.maximum(left / max(1, degrees), 1e-12))
    return np.array(rows)
