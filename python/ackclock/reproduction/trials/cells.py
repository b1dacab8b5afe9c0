"""The cells of the matrix of readings: a table on disk, and the trials of an inference."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from ackclock.reproduction.trials.settings import Setting
from ackclock.reproduction.trials.tried import MATRIX, SEARCHED, ClaimKey, Outcome, Trial

HEADS = ("artefact", "claim", "item", "value", "runs", "possible", "holds", "undecided", "measured")
CHOSEN = ""
"""In place of an item: the row is of the chosen setting."""
SEVERAL = "several"
"""In place of an item: several of them have other values, which the value of the row has by item."""
THE_SETTING = ""
"""In place of a claim: the value of the row is the chosen setting."""


class Cell(NamedTuple):
    """The outcome of a claim at a value of one item, with the other items at their chosen values.

    At the chosen setting `item` is `CHOSEN` and `value` None. Each artefact has one more cell with the claim
    `THE_SETTING`, and its value is the setting. `measured` is NaN if the claim has no number.
    """

    artefact: str
    claim: str
    item: str
    value: object
    runs: int
    possible: bool
    holds: bool
    undecided: bool
    measured: float

    @property
    def changes(self) -> Mapping[str, object]:
        """The items that differ from their chosen value, with their values."""
        if self.item == SEVERAL:
            assert isinstance(self.value, Mapping)  # noqa: S101
            return self.value
        return {} if self.item == CHOSEN else {self.item: self.value}

    @property
    def word(self) -> str:
        """The outcome in a word."""
        return "undecided" if self.undecided else "yes" if self.holds else "no"


def merge(known: Iterable[Cell], new: Sequence[Cell]) -> list[Cell]:
    """Replace the cells of the artefacts that were judged again."""
    judged_anew = {cell.artefact for cell in new}
    cells = [*(cell for cell in known if cell.artefact not in judged_anew), *new]
    return sorted(cells, key=lambda cell: cell.artefact)


def write(file: Path, cells: Iterable[Cell]) -> None:
    """Write cells as a table, a row each."""
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(HEADS)
        for cell in cells:
            number = "" if math.isnan(cell.measured) else f"{cell.measured:.4g}"
            words = [("no", "yes")[flag] for flag in (cell.possible, cell.holds, cell.undecided)]
            table.writerow([*cell[:3], json.dumps(cell.value), cell.runs, *words, number])


def read(file: Traversable) -> list[Cell]:
    """Read the table of `write`; there are no cells without one."""
    if not file.is_file():
        return []
    _, *rows = csv.reader(io.StringIO(file.read_text(encoding="utf-8")))
    cells = []
    for artefact, claim, item, value, runs, possible, holds, undecided, measured in rows:
        flags = possible == "yes", holds == "yes", undecided == "yes"
        number = float(measured or math.nan)
        cells.append(Cell(artefact, claim, item, json.loads(value), int(runs), *flags, number))
    return cells


def trials(declared: Setting, cells: Sequence[Cell]) -> list[Trial]:
    """Return the matrix as trials, one for each value that differs from the setting that was chosen.

    `declared` has the first value of every item.
    """
    chosen = {cell.artefact: cell.value for cell in cells if cell.claim == THE_SETTING}
    outcomes: dict[tuple[str, str, int, bool], dict[ClaimKey, Outcome]] = defaultdict(dict)
    for cell in cells:
        around = chosen.get(cell.artefact)
        if cell.item != CHOSEN and isinstance(around, Mapping):
            setting = json.dumps({**declared, **around, **cell.changes})
            stage = SEARCHED if cell.item == SEVERAL else MATRIX
            outcome = Outcome(cell.holds, cell.measured, cell.undecided)
            outcomes[setting, stage, cell.runs, cell.possible][cell.artefact, cell.claim] = outcome
    return [
        Trial(json.loads(setting), stage, runs, 0, possible, outcomes=of_value)
        for (setting, stage, runs, possible), of_value in outcomes.items()
    ]


def apart(cells: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Return claims that need several items together, each with another artefact's claim that these break.

    The second claim holds at some value that was tried, but at none of the settings at which the first one
    holds. Both cells are taken at the first of these settings.
    """
    holding: dict[ClaimKey, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.claim != THE_SETTING and cell.possible and cell.word == "yes":
            holding[cell.artefact, cell.claim].append(cell)
    pairs = []
    for (artefact, _), some in holding.items():
        if all(cell.item == SEVERAL for cell in some):
            together = {repr(cell.value): cell for cell in some}
            broken: dict[ClaimKey, list[Cell]] = defaultdict(list)
            for cell in cells:
                if cell.artefact != artefact and cell.item == SEVERAL and repr(cell.value) in together:
                    broken[cell.artefact, cell.claim].append(cell)
            pairs += [
                (together[repr(others[0].value)], others[0])
                for key, others in broken.items()
                if key in holding and all(cell.word == "no" for cell in others)
            ]
    return pairs
