"""Claims of an order, each with the least difference that counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ackclock.decision import Estimate, difference, sign, standard_error, tail
from ackclock.decision.comparisons import LEVEL
from ackclock.reproduction.claims import usual
from ackclock.reproduction.claims.artefact import Claim, Judged, Target
from ackclock.reproduction.claims.numbers import Numbers
from ackclock.reproduction.claims.usual import text
from ackclock.reproduction.claims.values import Number

GAP = Target(0.0, math.inf)
"""Target of an order: the least difference of neighbours, beyond the margin, as a share of the larger one."""

Named = Sequence[tuple[str, Number]]
"""Numbers with their names."""


def ordered(
    name: str,
    sentence: str,
    numbers: Named,
    *,
    margin: float,
    why: str,
    absolute: bool = False,
    unit: str = "",
    paper: str = "in this order, falling",
) -> Claim:
    """Claim that numbers, each with its name, fall from the first to the last.

    Each must be above the next by `margin`, as a share of that one unless it is `absolute`, in the unit of
    the numbers, because they may be 0 or negative; below 0 it may also be so much lower. `why` is the reason
    of the margin.
    """

    def judge(measured: Numbers) -> Judged:
        estimates = [number(measured) for _, number in numbers]
        words = ", ".join(
            f"{name} {text(estimate)}" for (name, _), estimate in zip(numbers, estimates, strict=True)
        )
        gaps = [_gap(more, less, margin, absolute) for more, less in pairwise(estimates)]
        closest = gaps[int(np.argmin([gap.relative for gap in gaps]))]
        # One number that is certainly not above its neighbour decides the order, whatever the others are.
        random = [gap for gap in gaps if gap.is_random]
        undecided = any(gap.sign != 1 for gap in random) and not any(
            _is_against(gap, random) for gap in random
        )
        good = all(gap.value > 0 for gap in gaps)
        return Judged(
            f"{words} {unit}".strip(),
            good,
            closest.relative,
            closest.error / (closest.size or 1.0),
            undecided,
            0.0 if undecided else _order_wrong(gaps, good),
            _apart(gaps, good),
        )

    bar = f"{abs(margin):g} {unit}".strip() if absolute else f"{abs(margin):.3g} of the lower"
    words = f"at most {bar} the other way round" if margin < 0 else f"at least {bar}"
    tolerance = f"{words}: {why}" if margin else why
    named = [number for _, number in numbers]
    return Claim(
        name, sentence, paper, tolerance, judge, GAP, reads=usual.read(named), items=usual.items(named)
    )


class _Gap(NamedTuple):
    """How far a number is above the next one, beyond the margin."""

    value: float
    error: float
    samples: int
    size: float
    sign: int | None
    is_random: bool

    @property
    def relative(self) -> float:
        """The gap as a share of the larger number, because some numbers are negative, or zero."""
        return self.value / self.size if self.size else 0.0

    @property
    def apart(self) -> float:
        """The distance from no gap, in standard errors."""
        return abs(self.value) / self.error if self.error else math.inf


def _gap(more: Estimate, less: Estimate, margin: float, absolute: bool) -> _Gap:
    if absolute:
        bar = replace(less, value=less.value + margin, low=less.low + margin, high=less.high + margin)
    else:
        factor = 1 + math.copysign(margin, less.value * margin)
        ends = (less.low * factor, less.high * factor)
        bar = replace(less, value=less.value * factor, low=ends[0], high=ends[1], error=less.error * factor)
    is_random = not (math.isnan(more.low) or math.isnan(less.low))
    return _Gap(
        more.value - bar.value,
        math.hypot(standard_error(more), standard_error(bar)),
        min(more.samples, less.samples),
        max(abs(more.value), abs(less.value)),
        sign(difference(more, bar)),
        is_random,
    )


def _is_against(gap: _Gap, gaps: Sequence[_Gap]) -> bool:
    """Return whether a gap is none with the certainty of a 95 % interval, though one of several may seem so.

    An order holds only where all of its gaps are decided, which needs no such correction.
    """
    if gap.sign is None or gap.sign > 0:
        return False
    return len(gaps) == 1 or len(gaps) * _chance(gap) <= (1 - LEVEL) / 2


def _chance(gap: _Gap) -> float:
    """Return the probability that a gap is at least as far from none by chance, on one side."""
    return tail(gap.apart, gap.samples - 1) if gap.error and gap.samples > 1 else 0.0


def _order_wrong(gaps: Sequence[_Gap], holds: bool) -> float:
    """Return the probability that an order of neighbours is decided wrongly."""
    chances = [_chance(gap) for gap in gaps]
    if holds:
        # Each of the gaps may be none.
        return min(1.0, math.fsum(chances))
    # The surest of the reversed gaps is one of several gaps that might look reversed by chance.
    wrong = [chance for chance, gap in zip(chances, gaps, strict=True) if not gap.value > 0]
    return min(1.0, len(gaps) * min(wrong))


def _apart(gaps: Sequence[_Gap], holds: bool) -> float:
    """Return how far the gap that decides is from none: the nearest, or the surest that is the wrong way."""
    if holds:
        return min(gap.apart for gap in gaps)
    return max(gap.apart for gap in gaps if not gap.value > 0)
