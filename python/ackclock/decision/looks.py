"""The times at which a comparison looks at its runs, and the share of the error that each look may spend.

The looks are fixed before any run is made. Each is a test of its own at a share of the error (alpha spending,
Lan and DeMets, Biometrika 70, 1983), and the shares add up to 1; so by Bonferroni's inequality all looks
together err at most as often as one test of the whole error, however the runs scatter. Half is spent by the
fifth run, the number of a fixed design, so that five runs still decide most questions that a fixed design
would decide; the boundaries of O'Brien and Fleming would spend nothing there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ackclock.decision.best import Place
from ackclock.decision.sequential import LEAST_CHANCE, chance_decided

LOOKS: dict[int, float] = {3: 0.1, 5: 0.4, 9: 0.1, 14: 0.1, 22: 0.1, 34: 0.1, 50: 0.1}
"""The share of the error that `compare` spends when a control has so many runs."""
LATER = 0.1
"""The share of each look after the first, if looks are as far apart as in `evaluate`."""
CLOSE_RUNS = 5
"""Fewer runs do not end a question with controls that are only close: three may
miss a collapse in 63 % of all runs."""


def spent(runs: int) -> float:
    """Return the share of the error of the look after so many runs.

    >>> round(sum(map(spent, LOOKS)), 9)
    1.0
    """
    return LOOKS[runs]


def shares(looks: Sequence[int]) -> dict[int, float]:
    """Return the share of the error of each look: a tenth after the first, which spends the rest.

    >>> shares([10, 15, 20, 25, 30])
    {10: 0.6, 15: 0.1, 20: 0.1, 25: 0.1, 30: 0.1}
    """
    first = round(1 - LATER * (len(looks) - 1), 9)
    return {look: LATER if look != looks[0] else first for look in looks}


def next_look(runs: int) -> int | None:
    """Return after how many runs the next look is; None after the last."""
    return min((look for look in LOOKS if look > runs), default=None)


def is_decided(places: Iterable[Place], runs: int) -> bool:
    """Return whether a question is decided for all of its controls."""
    standings = {place.standing for place in places}
    return "undecided" not in standings and ("close" not in standings or runs >= CLOSE_RUNS)


def is_hopeless(places: Iterable[Place], runs: int) -> bool:
    """Return whether further looks decide nothing about any control that is open, by `LEAST_CHANCE`."""
    most = max(LOOKS)
    if runs >= most:
        return True
    is_early = runs < CLOSE_RUNS
    needed = [
        CLOSE_RUNS if place.standing == "close" else place.runs_needed
        for place in places
        if place.standing == "undecided" or (place.standing == "close" and is_early)
    ]
    known = [number for number in needed if number is not None]
    return not known or all(chance_decided(runs, number, most) < LEAST_CHANCE for number in known)
