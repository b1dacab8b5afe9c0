"""The usual kinds of claims, and how close the measured numbers are to them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ackclock.decision import Estimate, apart, chance_wrong, lies_in
from ackclock.reproduction.claims.artefact import Claim, Judged, Target
from ackclock.reproduction.claims.numbers import Key, Numbers
from ackclock.reproduction.claims.values import CaseNumber, FunctionValue, Mean, Number, Ratio, Readable


def text(estimate: Estimate, unit: str = "") -> str:
    """Return an estimate with its interval and unit, as in ``1.23 [1.1, 1.4] ms``."""
    return f"{estimate} {unit}".strip()


def near(
    name: str,
    sentence: str,
    number: Number,
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
    number : Number
        What is compared with the paper's value.
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
    return _ranged(name, sentence, number, said, f"{words}: {why}", target, unit)


def times(
    name: str,
    sentence: str,
    number: Number,
    expected: float,
    *,
    factor: float,
    why: str,
    unit: str = "",
    paper: str | None = None,
) -> Claim:
    """Claim that a number is the paper's up to a factor either way.

    `factor` is the largest ratio of the two, above 1, and `why` its reason; the other arguments are those of
    `near`.
    """
    target = Target(expected / factor, expected * factor, expected, logarithmic=True)
    said = paper or f"{expected:g} {unit}".strip()
    words = f"a factor of {factor:g} either way: {why}"
    return _ranged(name, sentence, number, said, words, target, unit)


def _ranged(
    name: str, sentence: str, number: Number, paper: str, tolerance: str, target: Target, unit: str
) -> Claim:
    """Return the claim that a number is within its target."""

    def judge(numbers: Numbers) -> Judged:
        estimate = number(numbers)
        relative = target.logarithmic and estimate.value
        return Judged(
            text(estimate, unit),
            target.low <= estimate.value <= target.high,
            estimate.value,
            estimate.error / abs(estimate.value) if relative else estimate.error,
            lies_in(estimate, target.low, target.high) is None,
            chance_wrong(estimate, target.low, target.high),
            apart(estimate, target.low, target.high),
        )

    source = (number.case, number.key) if isinstance(number, Mean) and target.expected is not None else None
    return Claim(
        name,
        sentence,
        paper,
        tolerance,
        judge,
        target,
        number=source,
        reads=read([number]),
        items=items([number]),
    )


def read(numbers: Iterable[Readable]) -> Sequence[tuple[Key, Key | None]]:
    """Return the cases and keys that some numbers read together."""
    return tuple(dict.fromkeys(needed for number in numbers for needed in number.reads))


def items(numbers: Iterable[Readable]) -> Sequence[str]:
    """Return the items of the setting that some numbers need."""
    return tuple(dict.fromkeys(item for number in numbers for item in number.items))


def reaching(claim: Claim, number: Number, low: float, high: float) -> Claim:
    """Return a claim that holds only if the 95 % interval of its number reaches a range, too.

    `low` and `high` are the ends of the range, in the unit of the number.
    """

    def judge(numbers: Numbers) -> Judged:
        estimate, judged = number(numbers), claim.judge(numbers)
        return replace(judged, holds=judged.holds and estimate.low <= high and estimate.high >= low)

    return replace(
        claim, judge=judge, tolerance=f"{claim.tolerance}; the 95 % interval reaches {low:g} to {high:g}"
    )


LEAST_CLOSENESS = 0.01
"""Closeness of a claim that is far from holding: how far off it is says nothing more about a setting."""
BEYOND_ONE_END = 0.25
"""Excess over a range with only one end that is as unlikely as an excess of half the width of a range
with two ends, as a share of that end, which counts as at least 0.4."""


def logarithm(number: float) -> float:
    """Return the logarithm of a number of a logarithmic target; 0 and less count as nearly 0."""
    return math.log(max(number, 1e-9))


def width(target: Target) -> float:
    """Return the tolerance of a target: a difference, or a difference of logarithms if ratios count."""
    low, high = map(logarithm, target[:2]) if target.logarithmic else target[:2]
    if not math.isinf(low) and not math.isinf(high):
        return (high - low) / 2
    end = high if math.isinf(low) else low
    return math.log1p(BEYOND_ONE_END) if target.logarithmic else BEYOND_ONE_END * max(abs(end), 0.4)


def closeness(target: Target | None, judged: Judged) -> float:
    """Return how close the measured numbers are to what a claim says; its logarithm is a score.

    It ranks settings and is not a probability, because its width is a chosen tolerance. It is 1 at the
    paper's value or, where the paper gives none, in the range of the target, and falls to `LEAST_CLOSENESS`
    like a normal curve. The variance of this curve is the variance of the runs plus the square of half the
    width of the range.
    """
    if target is None or math.isnan(judged.value):
        return 1.0 if judged.holds else LEAST_CLOSENESS
    number, low, high = _on_scale(target, judged.value)
    distance = max(low - number, number - high, 0.0)
    if target.expected is not None:
        distance = number - (math.log(target.expected) if target.logarithmic else target.expected)
    sigma = math.hypot(width(target), judged.error)
    density = math.exp(-0.5 * (distance / sigma) ** 2) if sigma else float(judged.holds)
    return max(LEAST_CLOSENESS, density)


def tolerances_missed(target: Target | None, judged: Judged) -> float | None:
    """Return how far the number of a claim is outside its range, in half widths of that range.

    0 is inside. Of a range with one end `BEYOND_ONE_END` is the unit. None where the claim is not about one
    number, the number is not finite, or the range is a single number.
    """
    if target is None or not math.isfinite(judged.value):
        return None
    number, low, high = _on_scale(target, judged.value)
    unit = width(target)
    return max(low - number, number - high, 0.0) / unit if unit else None


def _on_scale(target: Target, number: float) -> tuple[float, float, float]:
    """Return a number and the ends of a range, as logarithms where ratios count."""
    low, high = target.low, target.high
    if target.logarithmic:
        number, low, high = map(logarithm, (number, low, high))
    return number, low, high


def holds(name: str, sentence: str, paper: str, judge: FunctionValue, *, why: str) -> Claim:
    """Claim anything else: `judge` returns the measured result in words, and whether the claim holds.

    `why` says what counts as seen, and why; the other arguments are those of `Claim`.
    """

    def judged(numbers: Numbers) -> Judged:
        words, good = judge(numbers)
        return Judged(words, bool(good))

    return Claim(name, sentence, paper, why, judged, reads=read([judge]), items=items([judge]))


def changed(claim: Claim, former: Claim) -> Claim:
    """Return a claim with the check that it had before it was changed, after it had been run.

    `former` is the same claim as it was.
    """
    return replace(claim, former=former)


def between(
    name: str,
    sentence: str,
    number: Number,
    low: float,
    high: float,
    *,
    why: str,
    unit: str = "",
    paper: str | None = None,
) -> Claim:
    """Claim that a number lies from `low` to `high`, ends included; infinite where the range has no end.

    `paper` is the range with its unit unless it is given, and `why` the reason of the range; the other
    arguments are those of `near`.
    """
    target = Target(low, high)
    if np.isinf(high):
        said = f"at least {low:g}"
    elif np.isinf(low):
        said = f"at most {high:g}"
    else:
        said = f"{low:g} to {high:g}"
    return _ranged(name, sentence, number, paper or f"{said} {unit}".strip(), why, target, unit)


def mean(case: Key, key: Key) -> Mean:
    """Return the mean of a number of a case, as `Numbers.of` estimates it."""
    return Mean(case, key)


def ratio(first: CaseNumber, second: CaseNumber) -> Ratio:
    """Return the ratio of two numbers, as `Numbers.ratio` estimates it."""
    return Ratio(first, second)
