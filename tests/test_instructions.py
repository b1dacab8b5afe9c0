"""The check of instruction counts: its comparison and its messages."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ackclock import engine

ROOT = Path(__file__).parents[1]


@pytest.fixture
def instructions(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benches")
    monkeypatch.delitem(sys.modules, "instructions", raising=False)
    return importlib.import_module("instructions")


def test_every_load_has_a_count_and_every_count_a_load(instructions: ModuleType) -> None:
    assert list(instructions.read()) == list(instructions.LOADS)


def test_every_load_is_a_scenario(instructions: ModuleType, tmp_path: Path) -> None:
    for load in instructions.LOADS.values():
        assert load.from_s < load.to_s
        scenario = engine.read(instructions.write(load, load.to_s, tmp_path))
        assert scenario.duration_s == load.to_s


def test_more_than_two_per_cent_are_worth_a_word(instructions: ModuleType) -> None:
    kept = {"same": 2000, "worse": 2000, "better": 2000}
    # 2 % of 2000 are 40.
    assert instructions.compare({"same": 2030, "worse": 1970, "better": 2000}, kept) == ([], [])
    worse, better = instructions.compare({"same": 2000, "worse": 2050, "better": 1950}, kept)
    assert worse == ["worse: 2050 instructions per data packet, 2000 before (+2.5%)"]
    assert better == ["better: 1950 instructions per data packet, 2000 before (-2.5%)"]


def test_a_load_without_a_count_fails(instructions: ModuleType) -> None:
    worse, better = instructions.compare({"new": 2000}, {"other": 2000})
    assert worse == ["new: 2000 instructions per data packet, and nothing to compare with"]
    assert better == []
