"""The numbers that claims compare: means, ratios and differences of numbers of cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ackclock.decision import Estimate, over_runs
from ackclock.reproduction.claims.numbers import Key, Numbers

CaseNumber = tuple[Key, Key]
"""A number: its case and its key, or their labels."""


@dataclass(frozen=True)
class Mean:
    """The mean over runs of a number of a case, as `Numbers.of`."""

    case: Key
    key: Key

    @property
    def reads(self) -> Sequence[CaseNumber]:
        """The numbers that it needs."""
        return [(self.case, self.key)]

    def __call__(self, numbers: Numbers) -> Estimate:
        """Return the estimate."""
        return numbers.of(self.case, self.key)


@dataclass(frozen=True)
class Ratio:
    """The ratio of two numbers, as `Numbers.ratio`."""

    above: CaseNumber
    below: CaseNumber

    @property
    def reads(self) -> Sequence[CaseNumber]:
        """The numbers that it needs."""
        return [self.above, self.below]

    def __call__(self, numbers: Numbers) -> Estimate:
        """Return the estimate."""
        return numbers.ratio(self.above, self.below)


@dataclass(frozen=True)
class MeanDifference:
    """The mean over runs of the difference of two numbers, of those runs that both cases have."""

    more: CaseNumber
    less: CaseNumber

    @property
    def reads(self) -> Sequence[CaseNumber]:
        """The numbers that it needs."""
        return [self.more, self.less]

    def __call__(self, numbers: Numbers) -> Estimate:
        """Return the estimate."""
        pairs = zip(numbers.each(*self.more), numbers.each(*self.less), strict=False)
        return over_runs(np.array([more - less for more, less in pairs]))
