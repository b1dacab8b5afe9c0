"""The effort spent on an artefact, and the numbers measured for it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ackclock.decision import Estimate, over_runs, ratio_of_means, within
from ackclock.reproduction.trials.settings import Setting

Key = Hashable
"""The name of a case or a number: a string, or a named tuple of parameters with its label as ``str``."""

Row = Mapping[Any, Any]
"""Numbers of one run by key: a float, or an `Estimate` where one run has its own interval."""

Counts = Mapping[str, tuple[int, int, bool]]
"""Drops and packets of one run by kind of flow, and whether the kind is under a window."""


@dataclass(frozen=True)
class Effort:
    """The number and length of runs.

    `quick` takes the headline artefacts only, with fewer seeds and shorter runs. `runs` are the seeds of each
    scenario, `first_run` is the number of the first, so that a second look has other seeds, and `setting` has
    the values of the named items of the paper's setting.
    """

    quick: bool
    runs: int
    first_run: int = 0
    setting: Setting = field(default_factory=dict)

    def at(self, setting: Setting) -> Effort:
        """Return the same effort at a setting of the paper."""
        return replace(self, setting=setting)

    def pick(self, full: float, quick: float) -> float:
        """Return the length that applies, in any unit."""
        return quick if self.quick else full


FULL = Effort(quick=False, runs=5)
QUICK = Effort(quick=True, runs=3)


Bounds = tuple[float, float]
"""Smallest and largest possible number."""
POSITIVE: Bounds = (0.0, math.inf)
"""Bounds of a number if its paper declares no others: counts, times, rates, lengths."""
SHARE: Bounds = (0.0, 1.0)
SIGNED: Bounds = (-math.inf, math.inf)
EDGE = 1e-3
"""Largest excess of a measured number over a bound: a packet that is in transit when the measurement
begins or ends counts in full."""


class _Declared(dict[Any, Any]):
    """The values that a function may read, by name."""

    def __missing__(self, name: Key) -> Any:
        raise LookupError(f"reads {name}, which its record does not declare")


def _is_like(name: Key, pattern: Key) -> bool:
    """Return whether a key or its label matches a pattern in which ``*`` stands for any text."""
    if name == pattern or str(name) == pattern:
        return True
    return isinstance(pattern, str) and "*" in pattern and bool(text_pattern(pattern).fullmatch(str(name)))


def like(names: Iterable[Key], patterns: Iterable[Key]) -> list[Key]:
    """Return the names that patterns of labels stand for, in the order of the patterns, or raise KeyError."""
    every = list(names)
    chosen: dict[Key, None] = {}
    for pattern in patterns:
        some = [name for name in every if _is_like(name, pattern)]
        if not some:
            raise KeyError(pattern)
        chosen |= dict.fromkeys(some)
    return list(chosen)


def text_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern in which ``*`` stands for any text."""
    return re.compile(".*".join(map(re.escape, pattern.split("*"))))


def _labelled(known: Mapping[Key, object], wanted: Key) -> Key:
    """Return a key, or the key with this label; an unknown one is returned as it is, for a KeyError."""
    return wanted if wanted in known else next((key for key in known if str(key) == wanted), wanted)


@dataclass(frozen=True)
class Numbers:
    """The measured numbers, by case and run.

    `rows` has a row per run of each case, measured at `setting`. `bounds` has the possible range of a number
    by its name, and `POSITIVE` applies to all others. `shared` is the most runs that `each` returns, so that
    cases with different numbers of runs can be compared run by run; by default all. A case or a number is
    named by its key or, in text, by its label. `printed` has the paper's own values, by labels of case and
    number, for pictures that show both. `losses` has the drops and packets of each run of a case, empty where
    no flows of different kinds share a link (`ackclock.reproduction.claims.losses`).
    """

    rows: Mapping[Key, Sequence[Row]]
    setting: Setting = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    shared: int | None = None
    printed: Mapping[tuple[str, str], float] = field(default_factory=dict)
    losses: Mapping[Key, Sequence[Counts]] = field(default_factory=dict)

    def of_paper(self, case: Key, key: Key) -> float:
        """Return the paper's own value of a number; KeyError where no claim has one."""
        return self.printed[str(case), str(key)]

    def check(self) -> None:
        """Raise ValueError for a number outside its bounds; it names the case, the number and its bounds."""
        for case, rows in self.rows.items():
            for row in rows:
                for key, value in row.items():
                    number = value.value if isinstance(value, Estimate) else value
                    least, most = self.bounds.get(str(key), POSITIVE)
                    if number < least - EDGE or number > most + EDGE:
                        raise ValueError(f"{case}: {key} is {number:g}, not from {least:g} to {most:g}")

    def each(self, case: Key, key: Key) -> list[float]:
        """Return a number of every run of a case; the value where it is an estimate."""
        return self._all(case, key)[: self.shared]

    def _all(self, case: Key, key: Key) -> list[float]:
        values = [row[_labelled(row, key)] for row in self.rows[_labelled(self.rows, case)]]
        return [value.value if isinstance(value, Estimate) else float(value) for value in values]

    def of(self, case: Key, key: Key) -> Estimate:
        """Estimate a number over the runs of a case.

        It is the mean with its 95 % interval over runs, or a single run's own estimate; nothing impossible is
        in it.
        """
        rows = self.rows[_labelled(self.rows, case)]
        key = _labelled(rows[0], key)
        alone = len(rows) == 1 and isinstance(rows[0][key], Estimate)
        estimate: Estimate = rows[0][key] if alone else over_runs(self._all(case, key))
        return within(estimate, *self.bounds.get(str(key), POSITIVE))

    def ratio(self, first: tuple[Key, Key], second: tuple[Key, Key]) -> Estimate:
        """Estimate the ratio of two numbers, each named by case and key.

        It is the ratio of the means (`ackclock.decision.ratio_of_means`) over the runs that both cases have:
        a case with runs of minutes has fewer.
        """
        above, below = zip(*zip(self._all(*first), self._all(*second), strict=False), strict=True)
        return ratio_of_means(above, below)

    def declared(self, cases: Iterable[Key], items: Iterable[str]) -> Numbers:
        """Return the numbers of these cases alone, at these items of the setting alone."""
        rows = _Declared((case, self.rows[case]) for case in like(self.rows, cases))
        losses = _Declared((case, self.losses[case]) for case in rows if case in self.losses)
        setting = _Declared((item, self.setting[item]) for item in items)
        return replace(self, rows=rows, setting=setting, losses=losses)

    def runs_of(self, cases: Iterable[Key]) -> int:
        """Return the fewest runs of some cases; 0 where there are none."""
        return min((len(self.rows[case]) for case in cases), default=0)

    def every_second(self, first: int) -> Numbers:
        """Keep every second run of each case from `first` on, 0 or 1; a run that is alone stays."""
        return self._picked(lambda some: some[first::2] or some)

    def only(self, run: int) -> Numbers:
        """Keep one run of each case; a case with fewer runs keeps its last one."""
        return self._picked(lambda some: [some[min(run, len(some) - 1)]])

    def _picked(self, pick: Callable[[Sequence[Any]], Sequence[Any]]) -> Numbers:
        """Keep some of the runs of each case."""
        rows, losses = (
            {case: pick(some) for case, some in of_cases.items()} for of_cases in (self.rows, self.losses)
        )
        return replace(self, rows=rows, losses=losses)
