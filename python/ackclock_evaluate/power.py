"""The operating characteristics of criteria: how often they find a fault, over its size.

They were measured by ``benches/power.py`` and are shipped as numbers.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock_evaluate.setting import Mode

FILE = Path(__file__).with_name("power.json")
OFTEN = 0.8
"""A fault is found reliably with this probability."""


@dataclass(frozen=True)
class Curve:
    """How often evaluations find a fault, and how often they pass it, by its size."""

    mode: Mode
    criterion: str
    fault: str
    sizes: Sequence[float]
    """Sizes of the fault; the first one is an honest control."""
    caught: Sequence[float]
    """Share of evaluations with a verdict of worse or fails."""
    passed: Sequence[float]
    """Share of evaluations with a verdict of not worse or holds."""

    @property
    def words(self) -> str:
        """The smallest size at and above which the fault is found reliably, in words."""
        often = [all(share >= OFTEN for share in self.caught[index:]) for index in range(len(self.sizes))]
        if not any(often):
            return "not found reliably"
        first = often.index(True)
        return f"{self.sizes[first]:g} is found in {self.caught[first]:.0%}"


@functools.cache
def read() -> tuple[Curve, ...]:
    """Read the shipped curves; there are none when the file is missing."""
    if not FILE.is_file():
        return ()
    return tuple(Curve(**curve) for curve in json.loads(FILE.read_text(encoding="utf-8"))["curves"])


def of(criterion: str, suite: str, mode: Mode) -> list[Curve]:
    """Return the curves of a criterion of a suite in a mode; only those of RFC 9743 have any."""
    wanted = (criterion, suite, mode)
    return [curve for curve in read() if (curve.criterion, "rfc9743", curve.mode) == wanted]
