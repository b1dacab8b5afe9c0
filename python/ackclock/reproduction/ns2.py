"""What ns-2 gives for claims: a table next to a paper's data file, which papers/ns2 makes."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from ackclock.reproduction.record import Ns2Record

NAME = "ns2.csv"
COLUMNS = (
    "artefact", "claim", "change", "measured", "holds", "seeds", "by_seed", "seconds", "ran", "ns2", "why",
)  # fmt: skip
"""Columns of the table: `change` is what differs from the paper's setting, `by_seed` what the claim says of
each run, `ran` names the agents, `ns2` is the version, and `why` tells why there is no number."""


class InNs2(NamedTuple):
    """What ns-2 measures for a claim, in words, and whether the claim holds there."""

    measured: str
    holds: bool | None
    """None where ns-2 does not decide, or says different things with and without a change of the setting."""

    def record(self) -> Ns2Record:
        """Return it as the record of a claim has it."""
        return {"measured": self.measured, "holds": self.holds}


def read(directory: Traversable) -> Mapping[tuple[str, str], InNs2]:
    """Return what ns-2 measures, by artefact and claim; nothing where there is no table."""
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in _rows(directory):
        if row["measured"]:
            rows.setdefault((row["artefact"], row["claim"]), []).append(row)
    return {claim: _of_rows(of_claim) for claim, of_claim in rows.items()}


class Measured(NamedTuple):
    """What ns-2 measures for a claim about one quantity: the mean over the runs, and each of them."""

    mean: float
    runs: Sequence[float]


def measured(package: str, artefact: str, claim: str, change: str = "") -> Measured:
    """Return ns-2's number for a claim of a package such as ``ackclock_papers.bic``.

    A KeyError names a claim without a number.
    """
    for row in _rows(resources.files(package)):
        if (row["artefact"], row["claim"], row["change"]) == (artefact, claim, change) and row["measured"]:
            runs = [_first_number(text) for text in row["by_seed"].split("; ")]
            return Measured(_first_number(row["measured"]), runs)
    raise KeyError(f"{package}: {artefact}/{claim} {change}".strip())


def _first_number(text: str) -> float:
    number = re.match(r"[-+.\deE]+", text)
    if number is None:
        raise ValueError(f"names more than one quantity: {text}")
    return float(number[0])


def _rows(directory: Traversable) -> Sequence[dict[str, str]]:
    file = directory / NAME
    if not file.is_file():
        return []
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def _of_rows(rows: Sequence[Mapping[str, str]]) -> InNs2:
    said = (f"{row['measured']} ({row['change']})" if row["change"] else row["measured"] for row in rows)
    answers = {row["holds"] for row in rows}
    return InNs2(
        "; ".join(said), {"yes": True, "no": False}.get(answers.pop()) if len(answers) == 1 else None
    )
