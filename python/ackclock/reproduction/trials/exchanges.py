"""The outcomes of claims with another control in place of the paper's: a table on disk, and words."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict, get_args

from ackclock.reproduction.trials.tried import ClaimKey

EXCHANGE = "exchange.csv"
"""Table of the exchanges, next to a paper's data file."""
HEADS = ("artefact", "claim", "own", "control", "outcome", "measured", "reason", "runs")
Own = Literal["holds", "does not hold", "undecided", ""]
"""The outcome of as many runs with the paper's own control; empty if these were not asked for."""
Outcome = Literal["falls", "stands", "undecided", "cannot be exchanged", "does not hold in these runs"]
"""The outcome of a claim: it decidedly fails, it decidedly holds, it is undecided, nothing can be exchanged,
or it did not decidedly hold before the exchange with as many runs."""
OUTCOMES: Sequence[Outcome] = get_args(Outcome)
FALLS, STANDS, UNDECIDED, CANNOT, NOT_BEFORE = OUTCOMES
NOT_ASKED = "not asked yet"
"""In place of the outcome of a claim without a row."""
MAIN_ORDER = (FALLS, NOT_ASKED, NOT_BEFORE, UNDECIDED, STANDS, CANNOT)
"""The outcome of a main claim is the first of these that one of its parts has: it falls with any of them,
and a part that cannot be exchanged decides nothing."""


class Exchange(NamedTuple):
    """The outcome of a claim with another control in the place of the paper's.

    `own` is the outcome of as many runs with the paper's own control, `control` is its replacement,
    `measured` the result with that control, `reason` the reason for a missing answer, and `runs` the number
    of seeds.
    """

    artefact: str
    claim: str
    own: Own
    control: str
    outcome: Outcome
    measured: str
    reason: str
    runs: int

    @property
    def words(self) -> str:
        """The outcome, with the number or the reason."""
        if self.reason:
            return f"{self.outcome}: {self.reason}"
        return f"{self.outcome} with {self.control}: {self.measured}"


class ExchangeRecord(TypedDict):
    """The exchange of a claim, as data; see `Exchange`."""

    outcome: str
    control: str
    measured: str
    reason: str


Exchanges = Mapping[ClaimKey, Exchange]
"""Exchanges by artefact and claim."""


def write(file: Path, rows: Iterable[Exchange]) -> None:
    """Write exchanges as a table, a row each."""
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(HEADS)
        table.writerows(rows)


def read(file: Traversable) -> dict[ClaimKey, Exchange]:
    """Read the table of `write`; there are no exchanges without one."""
    if not file.is_file():
        return {}
    rows = csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")))
    exchanges = [Exchange(**{**row, "runs": int(row["runs"])}) for row in rows]  # type: ignore[arg-type]
    return {(each.artefact, each.claim): each for each in exchanges}


def merge(known: Exchanges, new: Sequence[Exchange]) -> list[Exchange]:
    """Replace the exchanges of the artefacts that were judged again."""
    judged_anew = {each.artefact for each in new}
    rows = [*(each for each in known.values() if each.artefact not in judged_anew), *new]
    return sorted(rows, key=lambda each: each.artefact)


def record(exchanges: Exchanges, claim_id: str) -> ExchangeRecord:
    """Return the exchange of a claim, named as in its record, as data."""
    _, artefact, claim = claim_id.split("/")
    known = exchanges.get((artefact, claim))
    if known is None:
        return {"outcome": NOT_ASKED, "control": "", "measured": "", "reason": ""}
    return {
        "outcome": known.outcome,
        "control": known.control,
        "measured": known.measured,
        "reason": known.reason,
    }


def of_parts(outcomes: Iterable[str]) -> str:
    """Return the outcome of a main claim from the outcomes of its parts."""
    every = set(outcomes)
    return next((outcome for outcome in MAIN_ORDER if outcome in every), NOT_ASKED)


def counts(outcomes: Iterable[str]) -> str:
    """Return how often each outcome occurs, in words and in the order of `OUTCOMES`."""
    count = Counter(outcomes)
    words = [f"{name} {count[name]}" for name in (*OUTCOMES, NOT_ASKED) if count[name]]
    return ", ".join(words) or "none"
