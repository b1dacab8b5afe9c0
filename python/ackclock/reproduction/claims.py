"""The usual kinds of claims, and how close the measured numbers are to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ackclock.decision import Estimate, apart, chance_wrong, lies_in
from ackclock.reproduction.artefact import Claim, Former, Judged, Target
from ackclock.reproduction.numbers import Key, Numbers


def text(estimate: Estimate, unit: str = "") -> str:
    """Write an estimate with its interval.

    Parameters
    ----------
    estimate : Estimate
        The number with its interval.
    unit : str
        Written after it.

    Returns
    -------
    str
        As in ``1.23 [1.1, 1.4] ms``.
    """
    return f"{estimate} {unit}".strip()


def near(
    name: str,
    sentence: str,
    number: Callable[[Numbers], Estimate],
    expected: float,
    *,
    within: float,
    why: str,
    unit: str = "",
    absolute: bool = False,
    paper: str | None = None,
) -> Claim:
    """Claim that a number is near the paper's.

    Parameters
    ----------
    name, sentence, paper : str
        As in `Claim`; `paper` is the expected value with its unit unless it is given.
    number : callable
        A function of the numbers that returns the estimate.
    expected : float
        The paper's value.
    within : float
        Largest difference, relative unless `absolute`.
    why : str
        Reason of the tolerance.
    unit : str
        Unit of the number and of the paper's value.
    absolute : bool
        Whether `within` is in the number's unit.

    Returns
    -------
    Claim
        Holds when the estimate is within the tolerance.
    """
    limit = within if absolute else within * abs(expected)
    words = f"{within:g} {unit}".strip() if absolute else f"{within:.0%}"

    target = Target(expected - limit, expected + limit, expected)
    said = paper or f"{expected:g} {unit}".strip()
    judge = _judge(number, unit, target)
    return Claim(name, sentence, said, f"{words}: {why}", judge, target, number=_named(number))


def times(
    name: str,
    sentence: str,
    number: Callable[[Numbers], Estimate],
    expected: float,
    *,
    factor: float,
    why: str,
    unit: str = "",
    paper: str | None = None,
) -> Claim:
    """Claim that a number is the paper's up to a factor either way.

    Parameters
    ----------
    name, sentence, paper : str
        As in `Claim`; `paper` is the expected value with its unit unless it is given.
    number : callable
        A function of the numbers that returns the estimate.
    expected : float
        The paper's value.
    factor : float
        Largest ratio of the two, above 1.
    why : str
        Reason of the factor.
    unit : str
        Unit of the number and of the paper's value.

    Returns
    -------
    Claim
        Holds when the estimate is within the factor.
    """
    target = Target(expected / factor, expected * factor, expected, logarithmic=True)
    said = paper or f"{expected:g} {unit}".strip()
    words = f"a factor of {factor:g} either way: {why}"
    judge = _judge(number, unit, target)
    return Claim(name, sentence, said, words, judge, target, number=_named(number))


def _named(number: Callable[[Numbers], Estimate]) -> tuple[Key, Key] | None:
    return (number.case, number.key) if isinstance(number, Mean) else None


def _judge(number: Callable[[Numbers], Estimate], unit: str, target: Target) -> Callable[[Numbers], Judged]:
    def judge(numbers: Numbers) -> Judged:
        estimate = number(numbers)
        return Judged(
            text(estimate, unit),
            target.low <= estimate.value <= target.high,
            estimate.value,
            _error(estimate, target.logarithmic),
            lies_in(estimate, target.low, target.high) is None,
            chance_wrong(estimate, target.low, target.high),
            apart(estimate, target.low, target.high),
        )

    return judge


def _error(estimate: Estimate, relative: bool) -> float:
    """Return the standard error of an estimate, 0 where it has no interval."""
    return estimate.error / abs(estimate.value) if relative and estimate.value else estimate.error


LEAST_CLOSENESS = 0.01
"""Closeness of a claim that is far from holding: how far off it is says nothing more about a setting."""
BEYOND_ONE_END = 0.25
"""Excess over a range with only one end that is as unlikely as an excess of half the width of a range
with two ends, as a share of that end, which counts as at least 0.4."""


def closeness(target: Target | None, judged: Judged) -> float:
    """Return how close the measured numbers are to what a claim says; its logarithm is a score.

    It orders settings and is not a probability: its width is a tolerance, which is a judgement.

    Parameters
    ----------
    target : Target or None
        The range of the claim's number; none when it is not about one number.
    judged : Judged
        What was measured.

    Returns
    -------
    float
        From `LEAST_CLOSENESS` to 1, at the paper's value or, where the paper gives none, in the range.
        It falls like a normal curve whose variance is that of the runs and half the width of the range,
        squared, together.
    """
    if target is None or math.isnan(judged.value):
        return 1.0 if judged.holds else LEAST_CLOSENESS
    number, low, high = judged.value, target.low, target.high
    expected = target.expected
    if target.logarithmic:
        number, low, high = (math.log(max(bound, 1e-9)) for bound in (number, low, high))
        expected = None if expected is None else math.log(expected)
    if math.isinf(low) or math.isinf(high):
        end = high if math.isinf(low) else low
        width = math.log1p(BEYOND_ONE_END) if target.logarithmic else BEYOND_ONE_END * max(abs(end), 0.4)
    else:
        width = (high - low) / 2
    distance = max(low - number, number - high, 0.0) if expected is None else number - expected
    sigma = math.hypot(width, judged.error)
    density = math.exp(-0.5 * (distance / sigma) ** 2) if sigma else float(judged.holds)
    return max(LEAST_CLOSENESS, density)


def holds(
    name: str, sentence: str, paper: str, judge: Callable[[Numbers], tuple[str, bool]], *, why: str
) -> Claim:
    """Claim anything else.

    Parameters
    ----------
    name, sentence, paper : str
        As in `Claim`.
    judge : callable
        What was measured, in words, and whether the claim holds.
    why : str
        What counts as seen, and why.

    Returns
    -------
    Claim
        A claim without a target.
    """

    def judged(numbers: Numbers) -> Judged:
        words, good = judge(numbers)
        return Judged(words, bool(good))

    return Claim(name, sentence, paper, why, judged)


def changed(claim: Claim, former: Claim) -> Claim:
    """Keep the check that a claim had before it was changed, after it had been run.

    Parameters
    ----------
    claim : Claim
        The claim as it is judged.
    former : Claim
        The same with its former check, of which tolerance and judge count.

    Returns
    -------
    Claim
        The claim, with the former check.
    """
    return replace(claim, former=Former(former.tolerance, former.judge))


def between(
    name: str,
    sentence: str,
    number: Callable[[Numbers], Estimate],
    low: float,
    high: float,
    *,
    why: str,
    unit: str = "",
    paper: str | None = None,
) -> Claim:
    """Claim that a number lies in a range.

    Parameters
    ----------
    name, sentence, paper : str
        As in `Claim`; `paper` is the range with its unit unless it is given.
    number : callable
        A function of the numbers that returns the estimate.
    low, high : float
        The range, ends included; infinite where it has none.
    why : str
        Reason of the range.
    unit : str
        Unit of all numbers.

    Returns
    -------
    Claim
        Holds when the estimate is in the range.
    """
    target = Target(low, high)
    if np.isinf(high):
        said = f"at least {low:g}"
    elif np.isinf(low):
        said = f"at most {high:g}"
    else:
        said = f"{low:g} to {high:g}"
    words = paper or f"{said} {unit}".strip()
    return Claim(name, sentence, words, why, _judge(number, unit, target), target)


@dataclass(frozen=True)
class Mean:
    """The mean over runs of a number of a case."""

    case: Key
    key: Key

    def __call__(self, numbers: Numbers) -> Estimate:
        """Return the estimate."""
        return numbers.of(self.case, self.key)


def mean(case: Key, key: Key) -> Mean:
    """Name the number of a case for a claim.

    Parameters
    ----------
    case, key : hashable
        As in `Numbers.of`.

    Returns
    -------
    Mean
        From numbers to the estimate.
    """
    return Mean(case, key)


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
