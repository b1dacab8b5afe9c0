"""Results of ns-2 for claims: a table next to a paper's data file, made by papers/ns2."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import pairwise
from typing import NamedTuple

from ackclock.reproduction.claims.artefact import Target
from ackclock.reproduction.claims.orders import GAP
from ackclock.reproduction.claims.usual import logarithm, width
from ackclock.reproduction.record import Ns2Record
from ackclock.reproduction.trials.settings import Setting

NAME = "ns2.csv"
COLUMNS = (
    "artefact", "claim", "change", "measured", "holds", "seeds", "by_seed", "seconds", "ran", "ns2", "why",
)  # fmt: skip
"""Columns of the table: `change` is the difference from the paper's setting, `by_seed` has the claim's
outcome in each run, `ran` names the agents, with differences from the scenario's control in brackets, `ns2`
is the version, and `why` is the reason for a missing number."""


class InNs2(NamedTuple):
    """The result of ns-2 for a claim, in words, and whether the claim holds there."""

    measured: str
    holds: bool | None
    """None where ns-2 does not decide, or says different things with and without a change of the setting."""
    changes: Mapping[str, str] = {}
    """The results, by the difference from the paper's setting."""
    approximate: Sequence[str] = ()
    """Agents that are another control than the scenario's, each with the difference in brackets."""

    def record(self, target: Target | None, ours: Mapping[str, str | None]) -> Ns2Record:
        """Return it in the form of a claim's record, compared with our measurements.

        `ours` has our measurements by the difference from the paper's setting, None if it was not judged: the
        setting and, where the claim's artefact is not the same there, the other setting.
        """
        both = [(said, self.changes[change]) for change, said in ours.items() if change in self.changes]
        answers = {near(target, said, theirs) if said else None for said, theirs in both} or {None}
        return {
            "measured": self.measured,
            "holds": self.holds,
            "near": False if False in answers else None if None in answers else True,
            "approximate": list(self.approximate),
            "missing": [change for change in ours if change not in self.changes],
        }


class _Interval(NamedTuple):
    value: float
    low: float
    high: float


_NUMBER = r"-?(?:[\d.]+(?:e[-+]?\d+)?|inf)"
_ESTIMATE = re.compile(rf"({_NUMBER}) \[({_NUMBER}), ({_NUMBER})\]")


def near(target: Target | None, ours: str, theirs: str) -> bool | None:
    """Return whether the numbers of two simulators differ by no more than the tolerance of their claim.

    In an order the differences of neighbours count, as shares of the larger one. None where the means differ
    by more and their intervals need not, or where the texts have no numbers that can be compared.
    """
    first, second = _intervals(target, ours), _intervals(target, theirs)
    if target is None or not first or len(first) != len(second):
        return None
    pairs, most = list(zip(first, second, strict=True)), width(target)
    if all(abs(us.value - them.value) <= most for us, them in pairs):
        return True
    if any(max(us.low - them.high, them.low - us.high) > most for us, them in pairs):
        return False
    return None


def _intervals(target: Target | None, measured: str) -> list[_Interval]:
    """Return the numbers of a text that a target is about; none where it names several without one."""
    some = [_Interval(*map(float, numbers)) for numbers in _ESTIMATE.findall(measured)]
    if not some and (alone := re.match(_NUMBER, measured)):
        some = [_Interval(*[float(alone[0])] * 3)]
    if target == GAP:
        return [_gap(more, less) for more, less in pairwise(some)]
    if target and target.logarithmic:
        some = [_Interval(*map(logarithm, ends)) for ends in some]
    return some if len(some) == 1 else []


def _gap(more: _Interval, less: _Interval) -> _Interval:
    size = max(abs(more.value), abs(less.value)) or 1.0
    ends = more.low - less.high, more.high - less.low
    return _Interval((more.value - less.value) / size, ends[0] / size, ends[1] / size)


def words(change: Setting) -> str:
    """Return the difference from the paper's setting, as in the table."""
    return ", ".join(f"{key} {value}" for key, value in change.items())


def read(directory: Traversable) -> Mapping[tuple[str, str], InNs2]:
    """Return the results of ns-2, by artefact and claim; none without a table."""
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in _rows(directory):
        if row["measured"]:
            rows.setdefault((row["artefact"], row["claim"]), []).append(row)
    return {claim: _of_rows(of_claim) for claim, of_claim in rows.items()}


class Measured(NamedTuple):
    """The result of ns-2 for a claim about one quantity: the mean over the runs, and each run."""

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
    agents = dict.fromkeys(agent for row in rows for agent in re.split(r"; | \+ ", row["ran"]))
    return InNs2(
        "; ".join(said),
        {"yes": True, "no": False}.get(answers.pop()) if len(answers) == 1 else None,
        {row["change"]: row["measured"] for row in rows},
        [agent for agent in agents if agent.endswith(")")],
    )
