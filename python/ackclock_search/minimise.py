"""The smallest pattern that is still an adversary.

Delta debugging (Zeller and Hildebrandt, IEEE Transactions on Software Engineering 28, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from ackclock_search.genome import Genome, Pattern

STAYS = 0.8
"""Share of its value that a simplified pattern must keep."""
Holds = Callable[[Sequence[frozenset[int]]], Sequence[bool]]
"""Returns, for several sets, whether each alone suffices."""
PatternValues = Callable[[Sequence[Pattern]], Sequence[float]]
"""Returns the values of several patterns."""


def smallest(items: Sequence[int], holds: Holds) -> frozenset[int]:
    """Return a sufficient subset from which no single item can be left out.

    All items together must suffice; `holds` is called once for all sets of one fineness.

    >>> sorted(smallest(range(24), lambda sets: [{3, 17} <= kept for kept in sets]))
    [3, 17]
    """
    kept, parts = list(items), 2
    while kept:
        parts = min(parts, len(kept))
        cuts = [len(kept) * index // parts for index in range(parts + 1)]
        rests = [frozenset(kept[:first] + kept[last:]) for first, last in pairwise(cuts)]
        sufficient = next((rest for rest, good in zip(rests, holds(rests), strict=True) if good), None)
        if sufficient is not None:
            kept = [item for item in kept if item in sufficient]
            parts = max(2, parts - 1)
        elif parts == len(kept):
            break
        else:
            parts *= 2
    return frozenset(kept)


def minimise(genome: Genome, pattern: Pattern, values: PatternValues) -> Pattern:
    """Simplify a pattern as long as most of its value stays.

    Values that do not matter become neutral; then come a shorter run, fewer flows and fewer digits,
    each if enough value stays. A pattern without any value is returned as it is.
    """
    least = STAYS * values([pattern])[0]
    if least <= 0:
        return pattern
    indices = range(len(pattern.values))

    def reduced(kept: frozenset[int]) -> Pattern:
        return genome.without(pattern, frozenset(indices) - kept)

    def holds(sets: Sequence[frozenset[int]]) -> list[bool]:
        return [value >= least for value in values([reduced(kept) for kept in sets])]

    # A value without a neutral one cannot be left out.
    movable = [index for index in indices if genome.without(pattern, frozenset([index])) != pattern]
    always = frozenset(indices) - frozenset(movable)
    needed = smallest(movable, lambda sets: holds([kept | always for kept in sets]))
    simplest = reduced(needed | always)
    for candidates in (_shorter, _fewer, lambda _, pattern: [rounded(pattern)]):
        tried = candidates(genome, simplest)
        good = [value >= least for value in values(tried)] if tried else []
        simplest = next((candidate for candidate, fits in zip(tried, good, strict=True) if fits), simplest)
    return simplest


def _shorter(genome: Genome, pattern: Pattern) -> list[Pattern]:
    lengths_s = [length_s for length_s in genome.lengths_s if length_s < pattern.length_s]
    return [replace(pattern, length_s=length_s) for length_s in lengths_s]


def _fewer(genome: Genome, pattern: Pattern) -> list[Pattern]:
    if genome.flows_at is None:
        return []
    patterns, count = [], pattern.values[genome.flows_at]
    for divided in (8, 4, 2):
        if count >= divided:
            values = list(pattern.values)
            values[genome.flows_at] = float(round(count / divided))
            patterns.append(replace(pattern, values=tuple(values)))
    return patterns


def rounded(pattern: Pattern) -> Pattern:
    """Round the values of a pattern to two digits."""
    return replace(pattern, values=tuple(float(f"{value:.2g}") for value in pattern.values))
