"""What an evaluation asks never changes unnoticed: ids, texts, margins and scenarios are on record."""

import hashlib
import os
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from ackclock import engine
from ackclock.names import NAME
from ackclock_evaluate.cell import Cell, Criterion
from ackclock_evaluate.setting import Subject
from ackclock_evaluate.suites import SUITES

CELLS = Path(__file__).with_name("cells.txt")
MODES = ("quick", "full")
CANDIDATE = Subject("cubic", {"c": 0.5})
"""No flow of a suite is like it, so that its place is known in every scenario."""


def digest(*content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:12]


def asked(criterion: Criterion) -> str:
    texts = (criterion.section, criterion.level, criterion.title, criterion.about, criterion.not_tested)
    return digest(*texts, criterion.axis, criterion.shown)


def judged(cell: Cell) -> str:
    """Return a digest of an evaluation's texts about a cell and of its comparisons there."""
    bounds = [astuple(bound) for bound in (*cell.judged, *cell.limits)]
    return digest(cell.name, bounds, sorted(cell.parameters.items()), cell.shown, cell.drawn, cell.decisive)


def lines(name: str) -> dict[str, str]:
    """Return the record of a suite: digests of each criterion, of each cell, and of its parts."""
    record = {}
    for criterion in SUITES[name]:
        place = f"{name}/{criterion.id}"
        record[place] = asked(criterion)
        for mode in MODES if criterion.cells else ():
            kinds = {mode: criterion.cells(mode)}
            if criterion.further:
                kinds[f"{mode},further"] = criterion.further(mode, "bbr3")
            for kind, cells in kinds.items():
                assert len({cell.id for cell in cells}) == len(cells)
                for index, cell in enumerate(cells):
                    assert NAME.fullmatch(cell.id), cell.id
                    parts = [
                        f"{part} {engine.read(described.scenario).digest[-12:]}{'+' * described.records}"
                        for part, described in cell.parts(CANDIDATE).items()
                    ]
                    texts = (f"{index} {judged(cell)}", *parts)
                    record[f"{place}/{cell.id} {kind}"] = " ".join(texts)
    return record


def known() -> dict[str, str]:
    """Return the record by criterion, or by cell and mode."""
    if not CELLS.exists():
        return {}
    return dict(line.split(": ", 1) for line in CELLS.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_asks_what_it_asked(name: str) -> None:
    # Of each cell: its place in the criterion, a digest of its margins, limits and texts, and one of the
    # canonical text of each part's scenario, with a plus where tables are recorded. UPDATE_CELLS=1 writes
    # them. Ids stay: a cell whose name is reworded states its old id.
    record, now = known(), lines(name)
    before = {place: content for place, content in record.items() if place.startswith(f"{name}/")}
    if os.environ.get("UPDATE_CELLS"):
        kept = record | now
        CELLS.write_text("".join(f"{place}: {kept[place]}\n" for place in sorted(kept)), encoding="utf-8")
        before = before | now
    assert sorted(set(before) - set(now)) == [], "these have another id now"
    assert {place: content for place, content in now.items() if before.get(place) != content} == {}


def test_every_suite_is_on_record() -> None:
    assert {place.partition("/")[0] for place in known()} == set(SUITES)


def test_a_reworded_cell_keeps_its_id():
    cell = Cell("6 flows, buffer 1 BDP", lambda _: {})
    assert cell.id == "6-flows-buffer-1-bdp"
    assert replace(cell, name="six flows").id == cell.id


def test_the_record_notices_another_margin_and_another_place():
    cell = SUITES["rfc9743"][4].cells("quick")[0]
    assert judged(replace(cell, judged=())) != judged(cell)
    assert judged(replace(cell, decisive=False)) != judged(cell)
