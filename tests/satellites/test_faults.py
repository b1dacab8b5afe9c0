"""Planted faults that the evaluation must find: the cheap ones of `benches/faults.py`."""

import sys
from pathlib import Path

import pytest

import ackclock
from ackclock_evaluate.evaluate import evaluate
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import Subject
from ackclock_evaluate.suites import chosen

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benches"))

import faulty

CHEAP = {
    "TurnsMuchLater": "late",
    "WildAfterAMinute": "late",
    "LeaksAway": "late",
    "NeverBelowTen": "collapse-silence",
    "ForgetsSsthresh": "collapse-silence",
    "FillsBuffers": "bufferbloat",
    "Unresponsive": "collapse-undelivered",
}


@pytest.mark.parametrize("fault", CHEAP)
def test_a_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    control = getattr(faulty, fault)
    criterion = CHEAP[fault]
    assert criterion in faulty.CAUGHT_BY[control]
    ackclock.register(fault.lower(), control)
    request = Request(Subject(fault.lower()), chosen(["rfc9743"], [criterion]))
    (result,) = evaluate(request, tmp_path, shown=False).results
    assert result.verdict in {"worse", "fails"}


def test_an_honest_control_passes(tmp_path: Path) -> None:
    ackclock.register("honest", faulty.Honest)
    request = Request(Subject("honest"), chosen(["rfc9743"], [*dict.fromkeys(CHEAP.values())]))
    assert {result.verdict for result in evaluate(request, tmp_path, shown=False).results} <= {
        "like",
        "not worse",
        "holds",
    }


def test_a_fault_is_planted_for_every_criterion() -> None:
    asked = {criterion.id for criterion in chosen(["rfc9743"]) if criterion.cells}
    panel = [*faulty.CAUGHT_BY.values(), *faulty.ALSO_CAUGHT_BY.values()]
    assert {name for names in panel for name in names} == asked
