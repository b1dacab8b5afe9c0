"""Several controls in one question: the best, those like the best, those behind, and those undecided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ackclock.decision.comparisons import LEVEL, RESOLUTION, InMargins, Margin, Values, known, scales
from ackclock.decision.distributions import chi_squared_above
from ackclock.decision.modes import two_modes
from ackclock.decision.simultaneous import against_one, all_pairs, rounded_down

Standing = Literal["best", "alike", "close", "undecided", "behind"]
ALIKE_RUNS = 14
"""Fewest runs that show controls to be alike: in fewer, a collapse in a fifth of all runs is missed in more
than 5 % of the cases (0.8 to the power of 14 is 0.044)."""
POOLED = 0.25
"""Variances are pooled if chance alone makes variances as unequal as these more often than this. With three
runs a test at 5 % would not see that one control scatters five times as much as another."""
MOST_RUNS = 1000
"""More runs than this are not counted."""
ROUNDS = 4
"""Rounds of the computation of how many runs would decide."""


@dataclass(frozen=True)
class Place:
    """The standing of a control in a question."""

    standing: Standing
    """``best``; ``alike`` when it is at most the margin worse than any other, by enough runs to
    exclude a rare collapse; ``close`` when only the scatter of fewer runs shows it; ``behind`` when it is
    worse than some other by more than the margin; otherwise ``undecided``."""
    runs_needed: int | None = None
    """About how many runs would decide, for a control that is undecided or close."""


def not_excluded(runs: int) -> float:
    """Return the largest share of all runs in which an event may happen that none of `runs` runs shows.

    It is the upper end of the one-sided exact 95 % interval: with this share, no run shows the event with
    probability 0.05.

    >>> round(not_excluded(3), 2), round(not_excluded(14), 2)
    (0.63, 0.19)
    """
    return float(1 - (1 - LEVEL) ** (1 / runs))


def with_the_best(
    samples: Mapping[str, Sequence[float]], margin: Margin, questions: int = 1, share: float = 1.0
) -> dict[str, Place]:
    """Compare each of several controls with the best of them, whichever that is.

    `samples` has the numbers of the runs of each control; NaN does not count. A control is behind when it is
    worse than some other by more than the margin, by the studentized range of all controls; so among equal
    controls somebody is behind in 5 % of the comparisons over all of `questions` questions (Bonferroni). It
    is alike when it is at most the margin worse than every other, by multiple comparisons with the best (Hsu,
    Annals of Statistics 9, 1981), at 5 % for each question. With two controls both tests are the usual
    t-tests. Where there are several looks at growing samples, `share` is the share of these errors that this
    look may spend (`ackclock.decision.looks`).

    The variances of all controls are pooled where they do not differ, and otherwise each pair has Welch's
    (Games and Howell, Journal of Educational Statistics 1, 1976). If the runs of a control have two modes, no
    other control gets a variance below the pooled one: a few runs may all be in one mode by chance.

    >>> goodput = Margin("goodput", "Mbit/s", True, ratio=1.1)
    >>> placed = with_the_best({"a": [10, 10.1, 9.9], "b": [8, 8.1, 7.9], "c": [9.9, 10, 10]}, goodput)
    >>> [place.standing for place in placed.values()]
    ['best', 'behind', 'close']
    """
    runs = {name: known(values) for name, values in samples.items()}
    runs = {name: values for name, values in runs.items() if values.size}
    if not runs:
        return {}
    sign = 1.0 if margin.higher_is_better else -1.0
    leader = max(runs, key=lambda name: sign * float(runs[name].mean()))
    if len(runs) == 1:
        return {leader: Place("best")}
    if min(values.size for values in runs.values()) < 2:
        return {name: Place("undecided") for name in runs}
    levels = (1 - LEVEL) * share / questions, (1 - LEVEL) * share
    tables = [_Pairs(list(runs.values()), scale, levels) for scale in scales(list(runs.values()), margin)]
    placed: dict[str, Place] = {}
    first = list(runs).index(leader)
    for index, (name, values) in enumerate(runs.items()):
        if name == leader:
            continue
        is_worse = np.all([table.worse[index] for table in tables], axis=0).any()
        is_within = any(table.within[index].all() for table in tables)
        if is_worse:
            placed[name] = Place("behind")
        elif is_within and values.size >= ALIKE_RUNS:
            placed[name] = Place("alike")
        elif is_within:
            placed[name] = Place("close", ALIKE_RUNS)
        else:
            placed[name] = Place("undecided", _needed(tables, index, first))
    shown = any(place.standing != "undecided" for place in placed.values())
    least = [place.runs_needed for place in placed.values() if place.runs_needed is not None]
    placed[leader] = Place("best") if shown else Place("undecided", min(least, default=None))
    return {name: placed[name] for name in runs}


class _Pairs:
    """The differences of all pairs on one scale, in margins: a row for the control that may be worse."""

    def __init__(self, runs: Sequence[Values], scale: InMargins, levels: tuple[float, float]) -> None:
        self.counts = np.array([values.size for values in runs])
        self.spreads = np.maximum(RESOLUTION, scale.spreads)
        self.levels = levels
        many = len(runs)
        degrees = self.counts - 1
        variances = self.spreads**2
        pooled = float(degrees @ variances / degrees.sum())
        is_pooled = many > 1 and _are_alike(variances, degrees, pooled)
        if is_pooled:
            self.spreads = np.full(many, pooled**0.5)
        elif any(two_modes(values, least=2) for values in runs):
            self.spreads = np.maximum(self.spreads, pooled**0.5)
        self.harm = scale.means[None, :] - scale.means[:, None]
        shares = self.spreads**2 / self.counts
        variance = shares[:, None] + shares[None, :]
        # As Welch's in `intervals.welch`, for all pairs at once.
        own = shares**2 / degrees
        free = np.full((many, many), float(degrees.sum()))
        if not is_pooled:
            free = variance**2 / (own[:, None] + own[None, :])
        self.degrees_per_run = free / (self.counts.max() - 1)
        # Many pairs have the same degrees of freedom.
        distinct, where = np.unique(np.vectorize(rounded_down)(free), return_inverse=True)
        errors = np.sqrt(variance)
        self.worse = self.harm - _each(self._apart, distinct)[where].reshape(free.shape) * errors > 1
        within = self.harm + _each(self._below, distinct)[where].reshape(free.shape) * errors <= 1
        self.within = within | np.eye(many, dtype=bool)

    def _apart(self, degrees: float) -> float:
        return all_pairs(len(self.counts), degrees, self.levels[0])

    def _below(self, degrees: float) -> float:
        return against_one(len(self.counts), degrees, self.levels[1])

    def runs_needed(self, row: int, other: int) -> int:
        """Return about how many runs of each control would show on which side of the margin `row` is."""
        harm, fewest = float(self.harm[row, other]), int(self.counts[[row, other]].max()) + 1
        variance = float(self.spreads[row] ** 2 + self.spreads[other] ** 2)
        critical = self._below if harm <= 1 else self._apart
        runs = float(fewest)
        # The critical value depends on the runs, less and less: a few rounds are enough for "about".
        for _ in range(ROUNDS):
            times = critical(float(self.degrees_per_run[row, other]) * (min(runs, MOST_RUNS) - 1))
            runs = max(fewest, times**2 * variance / max((harm - 1) ** 2, 1e-12))
        needed = int(np.ceil(min(runs, MOST_RUNS)))
        return max(needed, ALIKE_RUNS) if harm <= 1 else needed


def _each(critical: Callable[[float], float], degrees: Values) -> Values:
    return np.array([critical(float(number)) for number in degrees])


def _needed(tables: Sequence[_Pairs], row: int, other: int) -> int:
    """Return about how many runs would decide: one scale suffices for alike, behind needs all."""
    within = [table.runs_needed(row, other) for table in tables if table.harm[row, other] <= 1]
    return min(within) if within else max(table.runs_needed(row, other) for table in tables)


def _are_alike(variances: Values, degrees: Values, pooled: float) -> bool:
    """Return whether variances are consistent with equality, by Bartlett's test (1937) at `POOLED`."""
    total = float(degrees.sum())
    statistic = total * np.log(pooled) - float(degrees @ np.log(variances))
    correction = 1 + (float((1 / degrees).sum()) - 1 / total) / (3 * (len(variances) - 1))
    return chi_squared_above(len(variances) - 1, statistic / correction) >= POOLED
