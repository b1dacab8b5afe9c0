"""Numbers of other programs that the findings of a paper quote: `quoted.csv` of its package.

A row has the ``case``, the ``flow``, the ``quantity`` and its ``value``, and the ``source``: a table of
``tests/data``, of which the value is the mean over all seeds, or words, such as those of the paper.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple

FILE = "quoted.csv"


class Row(NamedTuple):
    """A number that another program gave."""

    case: str
    flow: str
    quantity: str
    value: float
    source: str


@dataclass(frozen=True)
class Quoted:
    """All that a paper's findings quote."""

    rows: Sequence[Row]

    def each(self, case: str, quantity: str) -> list[float]:
        """Return a number of every flow; a KeyError names the missing row."""
        values = [row.value for row in self.rows if (row.case, row.quantity) == (case, quantity)]
        if not values:
            raise KeyError(f"{case}: {quantity}")
        return values

    def of(self, case: str, quantity: str) -> float:
        """Return a number of a run as a whole, or of its only flow."""
        (value,) = self.each(case, quantity)
        return value


def load(package: str) -> Quoted:
    """Read the numbers that the findings of a package such as ``ackclock_papers.bic`` quote."""
    text = (resources.files(package) / FILE).read_text(encoding="utf-8")
    _, *rows = csv.reader(io.StringIO(text))
    return Quoted(
        [Row(case, flow, quantity, float(value), source) for case, flow, quantity, value, source in rows]
    )
