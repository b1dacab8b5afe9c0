"""The check of instruction counts: its comparison and its messages, and the budget of a packet."""

import dataclasses
import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ackclock import engine

ROOT = Path(__file__).parents[1]


OWN = ("Reno in Python", "Gentle, an example in a Rust library")


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
        if load.meaning in OWN:
            # The process that is counted registers it.
            load = dataclasses.replace(load, flow={})
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


def test_the_budget_adds_up_to_the_count(instructions: ModuleType) -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    table = page.split("<!-- budget")[1].split("<!-- end")[0]
    *parts, total = [int(now) for now in re.findall(r"\| (\d+) \|$", table, re.MULTILINE)]
    assert sum(parts) == total
    assert total == pytest.approx(instructions.read()["reno"], rel=instructions.TOLERANCE)


@pytest.mark.usefixtures("instructions")
def test_instructions_are_counted_by_address(tmp_path: Path) -> None:
    budget = importlib.import_module("budget")
    profile = tmp_path / "profile"
    # The extension has 5 at 0x10, 7 at 0x14, and 3 there again, behind a call whose 90 are not its own.
    profile.write_text(
        "positions: instr line\nevents: Ir\n"
        "ob=(1) /lib/libc.so\nfn=(1) other\n0x8 1 100\n"
        "ob=(2) /engine.so\nfn=(2) act\n0x10 20 5\n+4 +1 7\n"
        "cob=(1)\ncfn=(1)\ncalls=1 0x8 1\n* * 90\n* * 3\n"
        "ob=(1)\nfn=(1)\n-4 1 11\n",
        encoding="utf-8",
    )
    assert budget.by_address(profile, Path("/engine.so")) == {0x10: 5, 0x14: 10}
