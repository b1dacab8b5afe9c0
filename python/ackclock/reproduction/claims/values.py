"""The numbers that claims compare: means, ratios and differences of numbers of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from ackclock.decision import Estimate, over_runs
from ackclock.reproduction.claims.numbers import Key, Numbers

CaseNumber = tuple[Key, Key]
"""A number: its case and its key, or their labels."""


class Readable(Protocol):
    """An object that declares the numbers it reads."""

    @property
    def reads(self) -> Sequence[tuple[Key, Key | None]]:
        """The numbers that it needs, by case and key; a function's without a key."""

    @property
    def items(self) -> Sequence[str]:
        """The items of the setting that it needs."""


class Number(Readable, Protocol):
    """A number that a claim compares."""

    def __call__(self, numbers: Numbers) -> Estimate:
        """Return the estimate."""


@dataclass(frozen=True)
class Mean:
    """The mean over runs of a number of a case, as `Numbers.of`."""

    case: Key
    key: Key
    items: ClassVar[Sequence[str]] = ()

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
    items: ClassVar[Sequence[str]] = ()

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
    items: ClassVar[Sequence[str]] = ()

    @property
    def reads(self) -> Sequence[CaseNumber]:
        """The numbers that it needs."""
        return [self.more, self.less]

    def __call__(self, numbers: Numbers) -> Estimate:
        """Return the estimate."""
        pairs = zip(numbers.each(*self.more), numbers.each(*self.less), strict=False)
        return over_runs(np.array([more - less for more, less in pairs]))


@dataclass(frozen=True)
class Extreme:
    """The least or the largest of some numbers, by their means.

    `pick` is `min` or `max`.
    """

    pick: Callable[..., Estimate]
    numbers: Sequence[Number]

    @property
    def reads(self) -> Sequence[tuple[Key, Key | None]]:
        """The numbers that it needs."""
        return [needed for number in self.numbers for needed in number.reads]

    @property
    def items(self) -> Sequence[str]:
        """The items of the setting that it needs."""
        return [item for number in self.numbers for item in number.items]

    def __call__(self, numbers: Numbers) -> Estimate:
        """Return the estimate."""
        return self.pick((number(numbers) for number in self.numbers), key=lambda estimate: estimate.value)


@dataclass(frozen=True)
class FunctionValue:
    """The result of a function of numbers, which may read only its declared cases and items of the setting.

    `cases` are labels, in which ``*`` stands for any text, `items` names of items, and `given` further
    arguments. The function is not given any other number.
    """

    function: Callable[..., Any]
    cases: Sequence[str]
    items: Sequence[str] = ()
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reads(self) -> Sequence[tuple[Key, None]]:
        """The cases that it needs; only the function knows which of their numbers it reads."""
        return [(case, None) for case in self.cases]

    def __call__(self, numbers: Numbers) -> Any:
        """Return the result of the function; reading an undeclared number raises a LookupError."""
        return self.function(numbers.declared(self.cases, self.items), **self.given)
