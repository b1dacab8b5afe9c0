"""Cells of an evaluation are named in data: a label can be reworded."""

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ackclock.engine.names import NAME
from ackclock_evaluate import criteria, suites
from ackclock_evaluate.cell import Cell, Criterion

CELLS = Path(__file__).with_name("cell-ids.txt")


def every_criterion():
    for package in (criteria, suites):
        for module in iter_modules(package.__path__):
            for value in vars(import_module(f"{package.__name__}.{module.name}")).values():
                some = value if isinstance(value, list | tuple) else [value]
                yield from (one for one in some if isinstance(one, Criterion))


def test_the_ids_of_cells_never_change():
    # A cell whose name is reworded says its old id; UPDATE_CELLS=1 adds the ids of new ones.
    known = dict.fromkeys(CELLS.read_text(encoding="utf-8").splitlines()) if CELLS.exists() else {}
    ids = {}
    for criterion in {one.id: one for one in every_criterion()}.values():
        for mode in ("quick", "full"):
            cells = list(criterion.cells(mode)) if criterion.cells else []
            names = [f"{criterion.id}/{cell.id}" for cell in cells]
            assert len(set(names)) == len(names)
            assert all(NAME.fullmatch(cell.id) for cell in cells), names
            ids |= dict.fromkeys(names)
    if os.environ.get("UPDATE_CELLS"):
        CELLS.write_text("".join(f"{name}\n" for name in sorted(known | ids)), encoding="utf-8")
        known = known | ids
    assert sorted(set(known) - set(ids)) == [], "these have another id now"
    assert sorted(set(ids) - set(known)) == [], "UPDATE_CELLS=1 adds these"


def test_a_reworded_cell_keeps_its_id():
    cell = Cell("6 flows, buffer 1 BDP", lambda _: {})
    assert cell.id == "6-flows-buffer-1-bdp"
    assert replace(cell, name="six flows").id == cell.id
