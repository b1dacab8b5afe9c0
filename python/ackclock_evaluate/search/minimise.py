"""What is left of an adversary when everything that does not matter is taken out.

Delta debugging (Zeller and Hildebrandt, IEEE Transactions on Software Engineering 28, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from ackclock_evaluate.search.genome import Genome, Pattern

STAYS = 0.8
"""Share of what was found that must be left."""
Holds = Callable[[Sequence[frozenset[int]]], Sequence[bool]]
"""Says of several sets whether each alone still does it."""
Values = Callable[[Sequence[Pattern]], Sequence[float]]


def smallest(items: Sequence[int], holds: Holds) -> frozenset[int]:
    """Find a set of which nothing can be left out.

    Parameters
    ----------
    items : sequence of int
        Of which all together do it.
    holds : callable
        Asked for all sets of one fineness at once.

    Returns
    -------
    frozenset of int
        One that does it, and no longer does when any one item is left out.

    Examples
    --------
    >>> sorted(smallest(range(24), lambda sets: [{3, 17} <= kept for kept in sets]))
    [3, 17]
    """
    kept, parts = list(items), 2
    while kept:
        parts = min(parts, len(kept))
        cuts = [len(kept) * index // parts for index in range(parts + 1)]
        rests = [frozenset(kept[:first] + kept[last:]) for first, last in pairwise(cuts)]
        found = next((rest for rest, good in zip(rests, holds(rests), strict=True) if good), None)
        if found is not None:
            kept = [item for item in kept if item in found]
            parts = max(2, parts - 1)
        elif parts == len(kept):
            break
        else:
            parts *= 2
    return frozenset(kept)


def minimise(genome: Genome, pattern: Pattern, values: Values) -> Pattern:
    """Simplify a pattern as long as most of its value stays.

    Parameters
    ----------
    genome : Genome
        What varies.
    pattern : Pattern
        The pattern.
    values : callable
        Gives the values of several patterns.

    Returns
    -------
    Pattern
        Values that do not matter are neutral; then a shorter run, fewer flows and fewer digits,
        each if it does. The pattern itself if it has no value.
    """
    least = STAYS * values([pattern])[0]
    if least <= 0:
        return pattern
    places = range(len(pattern.values))

    def reduced(kept: frozenset[int]) -> Pattern:
        return genome.without(pattern, frozenset(places) - kept)

    def holds(sets: Sequence[frozenset[int]]) -> list[bool]:
        return [value >= least for value in values([reduced(kept) for kept in sets])]

    # What has no neutral value cannot be left out.
    movable = [index for index in places if genome.without(pattern, frozenset([index])) != pattern]
    always = frozenset(places) - frozenset(movable)
    needed = smallest(movable, lambda sets: holds([kept | always for kept in sets]))
    found = reduced(needed | always)
    for candidates in (_shorter, _fewer, _rounder):
        tried = candidates(genome, found)
        good = [value >= least for value in values(tried)] if tried else []
        found = next((one for one, fits in zip(tried, good, strict=True) if fits), found)
    return found


def _shorter(genome: Genome, pattern: Pattern) -> list[Pattern]:
    lengths = [one for one in genome.lengths_s if one < pattern.length_s]
    return [replace(pattern, length_s=one) for one in lengths]


def _fewer(genome: Genome, pattern: Pattern) -> list[Pattern]:
    if genome.flows_at is None:
        return []
    found, count = [], pattern.values[genome.flows_at]
    for divided in (8, 4, 2):
        if count >= divided:
            values = list(pattern.values)
            values[genome.flows_at] = float(round(count / divided))
            found.append(replace(pattern, values=tuple(values)))
    return found


def _rounder(genome: Genome, pattern: Pattern) -> list[Pattern]:
    return [genome.rounded(pattern)]
