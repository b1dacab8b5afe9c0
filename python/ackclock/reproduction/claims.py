"""The usual kinds of claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ackclock.metrics import Estimate
from ackclock.reproduction.artefact import Claim, Judged
from ackclock.reproduction.numbers import Key, Numbers


def text(estimate: Estimate, unit: str = "") -> str:
    """Write an estimate with its interval.

    Parameters
    ----------
    estimate : Estimate
        The number.
    unit : str
        Written after it.

    Returns
    -------
    str
        As in ``1.23 [1.1, 1.4] ms``.
    """
    return f"{estimate} {unit}".strip()


def near(
    sentence: str,
    number: Callable[[Numbers], Estimate],
    expected: float,
    *,
    within: float,
    why: str,
    unit: str = "",
    absolute: bool = False,
    paper: str | None = None,
    reason: str = "",
) -> Claim:
    """Claim that a number is near the paper's.

    Parameters
    ----------
    sentence, paper, reason : str
        As in `Claim`; `paper` is the expected value with its unit unless it is given.
    number : callable
        The estimate.
    expected : float
        The paper's value.
    within : float
        Largest difference, relative unless `absolute`.
    why : str
        Reason of the tolerance.
    unit : str
        Of both.
    absolute : bool
        Whether `within` is in the number's unit.

    Returns
    -------
    Claim
        Holds when the estimate is within the tolerance.
    """
    limit = within if absolute else within * abs(expected)
    words = f"{within:g} {unit}".strip() if absolute else f"{within:.0%}"

    judge = _judge(number, unit, lambda value: abs(value - expected) <= limit)
    return Claim(
        sentence, paper or f"{expected:g} {unit}".strip(), f"{words}: {why}", judge, reason
    )


def _judge(
    number: Callable[[Numbers], Estimate], unit: str, good: Callable[[float], bool]
) -> Callable[[Numbers], Judged]:
    def judge(numbers: Numbers) -> Judged:
        found = number(numbers)
        return Judged(text(found, unit), bool(good(found.value)))

    return judge


def ordered(
    sentence: str,
    numbers: Sequence[tuple[str, Callable[[Numbers], Estimate]]],
    *,
    why: str = "the order of the means",
    unit: str = "",
    paper: str = "in this order, falling",
    margin: float = 0.0,
    reason: str = "",
) -> Claim:
    """Claim that numbers fall from the first to the last.

    Parameters
    ----------
    sentence, paper, reason : str
        As in `Claim`.
    numbers : sequence of (str, callable)
        Their names and estimates.
    why : str
        What counts.
    unit : str
        Of all.
    margin : float
        By what share each must be above the next.

    Returns
    -------
    Claim
        Holds when each is above the next.
    """

    def judge(found: Numbers) -> Judged:
        estimates = [number(found) for _, number in numbers]
        words = ", ".join(
            f"{name} {text(one)}" for (name, _), one in zip(numbers, estimates, strict=True)
        )
        values = [one.value for one in estimates]
        holds = all(more > less * (1 + margin) for more, less in pairwise(values))
        return Judged(f"{words} {unit}".strip(), holds)

    return Claim(sentence, paper, why, judge, reason)


def holds(
    sentence: str,
    paper: str,
    judge: Callable[[Numbers], tuple[str, bool]],
    *,
    why: str,
    reason: str = "",
) -> Claim:
    """Claim anything else.

    Parameters
    ----------
    sentence, paper, reason : str
        As in `Claim`.
    judge : callable
        What was measured, in words, and whether the claim holds.
    why : str
        What counts as seen, and why.

    Returns
    -------
    Claim
        The claim.
    """

    def judged(numbers: Numbers) -> Judged:
        words, good = judge(numbers)
        return Judged(words, bool(good))

    return Claim(sentence, paper, why, judged, reason)


def between(
    sentence: str,
    number: Callable[[Numbers], Estimate],
    low: float,
    high: float,
    *,
    why: str,
    unit: str = "",
    paper: str | None = None,
    reason: str = "",
) -> Claim:
    """Claim that a number lies in a range.

    Parameters
    ----------
    sentence, paper, reason : str
        As in `Claim`; `paper` is the range with its unit unless it is given.
    number : callable
        The estimate.
    low, high : float
        The range, ends included; infinite where it has none.
    why : str
        Reason of the range.
    unit : str
        Of all.

    Returns
    -------
    Claim
        Holds when the estimate is in the range.
    """
    judge = _judge(number, unit, lambda value: low <= value <= high)
    if np.isinf(high):
        said = f"at least {low:g}"
    elif np.isinf(low):
        said = f"at most {high:g}"
    else:
        said = f"{low:g} to {high:g}"
    return Claim(sentence, paper or f"{said} {unit}".strip(), why, judge, reason)


def mean(case: Key, key: Key) -> Callable[[Numbers], Estimate]:
    """Name the number of a case for a claim.

    Parameters
    ----------
    case, key : hashable
        As in `Numbers.of`.

    Returns
    -------
    callable
        From numbers to the estimate.
    """
    return lambda numbers: numbers.of(case, key)


def ratio(first: tuple[Key, Key], second: tuple[Key, Key]) -> Callable[[Numbers], Estimate]:
    """Name the ratio of two numbers for a claim.

    Parameters
    ----------
    first, second : tuple of hashable
        As in `Numbers.ratio`.

    Returns
    -------
    callable
        From numbers to the estimate.
    """
    return lambda numbers: numbers.ratio(first, second)
