"""Whatever a control does is the same contained failure in an evaluation and in a search."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ackclock import SimulationError
from ackclock_evaluate import work
from ackclock_evaluate.setting import Subject
from ackclock_search import optimise, search
from ackclock_search import run as search_run
from conftest import Finished
from contained import HOSTILE, contain, one_line, same_there


def evaluate(control: str, run: Callable[..., Finished]) -> str:
    done = run("evaluate", control, "--only", "iot", "--json", "--jobs", 4)
    verdict = json.loads(done.stdout)["criteria"][0]["verdict"]
    assert (done.returncode, verdict == "failed") in ((0, False), (1, True))
    return one_line(done).partition("the first: ")[2] if done.returncode else ""


def searching(control: str, _run: Callable[..., Finished]) -> str:
    try:
        found = search(Subject(control), "unused", Path("cache"), genomes=["pulses"], jobs=4, shown=False)
    except SimulationError as error:
        return str(error).removeprefix("every run failed: ")
    assert len(found) == 1
    return ""


VERBS = {verb.__name__: verb for verb in (evaluate, searching)}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_control_is_contained(
    kind: str,
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ackclock_here: Callable[..., Finished],
) -> None:
    def once(together: Callable[..., object], size: int, *_: object, **__: object) -> list[object]:
        together([np.zeros(size)])
        return []

    # A search of one pattern, and cells of two runs.
    monkeypatch.setattr(optimise, "maximise", once)
    monkeypatch.setattr(optimise, "at_random", once)
    monkeypatch.setitem(work.FIRST_RUNS, "quick", 2)
    monkeypatch.setitem(search_run.RUNS, "quick", 1)
    monkeypatch.setattr(search_run, "CHECKING_RUNS", 1)
    monkeypatch.setattr(search_run, "FRESH_RUNS", 1)
    contain(kind, VERBS[verb], tmp_path, monkeypatch, ackclock_here)


def test_an_evaluation_is_the_same_on_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ackclock_here: Callable[..., Finished]
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = ("--cluster", cluster.scheduler_address)
        same_there(("evaluate", "bic", "--only", "iot", "--json", "-o"), there, ackclock_here)
