"""Whatever a control does is the same contained failure in every verb that makes many runs."""

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ackclock import SimulationError
from ackclock.draw import plots
from ackclock.predictions import Simulation
from ackclock.reproduction import claims, make
from ackclock.reproduction.artefact import Probe, Simulated
from ackclock.reproduction.numbers import FULL
from ackclock.reproduction.paper import Paper
from ackclock.runs import Case, Limits, places
from ackclock_evaluate import work
from ackclock_evaluate.search import optimise, search
from ackclock_evaluate.search import run as search_run
from ackclock_evaluate.setting import Subject
from conftest import BOTTLENECK, Finished

CONTROL = """
import os, signal, sys, time
import ackclock

class PanicException(BaseException):
    "What PyO3 raises for a panic of a library."

class Hostile(ackclock.Control):
    def on_ack(self, ack):
        if not self.slow_start(ack):
            self.window += ack.growth / self.window
    def on_loss(self, loss):
        self.window = self.ssthresh = max(2.0, self.window / 2)
        {}
"""
HOSTILE = {
    "killer": ("os._exit(7)", "its process ended: exit status 7"),
    "hang": ("while True: time.sleep(1)", "TimeoutError: took longer than 2 s"),
    "exit": ("sys.exit(3)", "SimulationError: a control called sys.exit(3)"),
    "panic": (
        "raise PanicException('a window is finite')",
        "SimulationError: a control panicked: a window is finite",
    ),
    "segfault": ("os.kill(os.getpid(), signal.SIGSEGV)", "its process ended: SIGSEGV"),
    "memory": (
        "hoard = []\n        while True: hoard.append(bytearray(1 << 26))",
        "MemoryError: needs more than 1 GB",
    ),
    "print": ("print('{'); os.write(1, b'{\\n')", ""),
}
PATH = f"""
[run]
duration = "1 s"
{BOTTLENECK}
[[flow]]
controller = "CONTROL"
rtt = "20 ms"
"""

Verb = Callable[[str, Callable[..., Finished]], str]


def simulate(_control: str, run: Callable[..., Finished]) -> str:
    done = run("simulate", "path.toml", "--runs", 2, "--json")
    if done.returncode == 0:
        assert len([json.loads(line) for line in done.stdout.splitlines()]) == 2
        return ""
    assert done.stdout == ""
    return _one_line(done)


def compare(control: str, run: Callable[..., Finished]) -> str:
    path = ("--rate", "5mbit", "--rtt", "20ms", "--duration", "2s", "--runs", 1)
    done = run("compare", control, "reno", *path, "--json", "-o", "out")
    if done.returncode == 0:
        assert {row["control"] for row in json.loads(done.stdout)} == {control, "reno"}
        return ""
    assert done.stdout == ""
    return _one_line(done)


def sweep(control: str, run: Callable[..., Finished]) -> str:
    Path("sweep.toml").write_text(
        'scenario = "path.toml"\n[parameters]\n'
        f'control = {{ set = "flow.0.controller", to = ["{control}", "reno"] }}\n[runs]\ncount = 2\n'
    )
    done = run("sweep", "sweep.toml", "--json")
    assert json.loads(done.stdout)["runs"] == 4
    table = pl.read_parquet("results/experiment=sweep")
    errors = table.filter(control=control)["error"]
    assert table.filter(control="reno")["error"].null_count() == 2
    assert (done.returncode, errors.n_unique()) == (int(errors.null_count() == 0), 1)
    # The first cause reaches the terminal.
    assert f"the first: {errors[0]}" in done.stderr or not done.returncode
    return errors[0] or ""


def predict(_control: str, _run: Callable[..., Finished]) -> str:
    scenario = tomllib.loads(Path("path.toml").read_text())
    try:
        assert Simulation(2).each([scenario], lambda run: run.digest)[0]
    except SimulationError as error:
        return str(error)
    return ""


def reproduce(_control: str, _run: Callable[..., Finished]) -> str:
    cases = {"bad": Case(Path("path.toml"), 2), "good": Case(PATH.replace("CONTROL", "reno"), 2)}
    parts = {
        "caption": "what",
        "about": "About.",
        "draw": lambda *_: plots.panels(1)[0],
        "probe": Probe(("rate",), lambda run: {"rate": run.summary["flows"][0]["goodput_mbps"]}),
    }

    def artefact(name: str) -> Simulated:
        claim = claims.between("rate", "rate", claims.mean(name, "rate"), 0.0, 1000.0, why="it sends")
        return Simulated(name=name, cases=lambda _: {name: cases[name]}, claims=(claim,), **parts)

    chosen = [(Paper("tiny", "Tiny", (), ()), artefact(name)) for name in cases]
    bad, good = make.reproduce(chosen, Path("out"), FULL, 2)
    assert good["verdict"] == "reproduced"
    return bad["error"].removeprefix("bad: ")


def evaluate(control: str, run: Callable[..., Finished]) -> str:
    done = run("evaluate", control, "--only", "iot", "--json", "--jobs", 4)
    verdict = json.loads(done.stdout)["criteria"][0]["verdict"]
    assert (done.returncode, verdict == "failed") in ((0, False), (1, True))
    return _one_line(done).partition("the first: ")[2] if done.returncode else ""


def searching(control: str, _run: Callable[..., Finished]) -> str:
    try:
        found = search(Subject(control), "unused", Path("cache"), genomes=["pulses"], jobs=4, shown=False)
    except SimulationError as error:
        return str(error).removeprefix("every run fails: ")
    assert len(found) == 1
    return ""


VERBS = {verb.__name__: verb for verb in (simulate, compare, sweep, predict, reproduce, evaluate, searching)}


def _one_line(done: Finished) -> str:
    """Return what a command says that has failed: at most a traceback of the control, and one line."""
    assert done.returncode == 1
    return done.stderr.splitlines()[-1].removeprefix("ackclock: ")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_control_is_contained(
    kind: str,
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ackclock_here: Callable[..., Finished],
) -> None:
    what, problem = HOSTILE[kind]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    control = f"{kind}_{verb}:Hostile"
    Path(f"{kind}_{verb}.py").write_text(CONTROL.replace("{}", what))
    Path("path.toml").write_text(PATH.replace("CONTROL", control))
    time_s = 2.0 if kind == "hang" else 600.0
    monkeypatch.setattr(places, "Limits", lambda: Limits(time_s, 10**9))

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
    assert VERBS[verb](control, ackclock_here).endswith(problem)


def test_every_verb_is_the_same_on_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ackclock_here: Callable[..., Finished]
) -> None:
    """Numbers of built-in controls, and the failure of a killer in the task's own process."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("path.toml").write_text(PATH.replace("CONTROL", "reno"))
    Path("killer_there.py").write_text(CONTROL.replace("{}", "os._exit(7)"))
    path = ("--rate", "5mbit", "--rtt", "20ms", "--duration", "2s", "--runs", 1, "--json")
    verbs = (
        ("compare", "reno", "bic", *path, "-o"),
        ("evaluate", "bic", "--only", "iot", "--json", "-o"),
        ("reproduce", "transient/figure-3", "--quick", "--json", "-o"),
        ("simulate", "path.toml", "--runs", 2, "--metrics", "--json", "--quiet"),
        ("predict", "share", "--simulate", "--runs", 2, "--json"),
    )
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = ("--cluster", cluster.scheduler_address)
        for verb in verbs:
            # Pages name the folder, so both have the same.
            place = ("out",) if verb[-1] == "-o" else ()
            here = ackclock_here(*verb, *place)
            shutil.rmtree("out", ignore_errors=True)
            done = ackclock_here(*verb, *place, *there)
            assert (done.returncode, here.returncode) == (0, 0), done.stderr
            # The command of a page says where its runs were made.
            text = done.stdout.replace(f" {' '.join(there)}", "")
            assert _timeless(text) == _timeless(here.stdout)
            if place:
                # What is kept is used again without the cluster.
                assert _timeless(ackclock_here(*verb, *place).stdout) == _timeless(here.stdout)
                shutil.rmtree("out")
        done = ackclock_here("compare", "killer_there:Hostile", *path, "-o", "out", *there)
        assert _one_line(done).endswith("its process ended: exit status 7")


def _timeless(text: str) -> object:
    """Return what JSON says but for how long it took and how the command was written."""
    return [
        {key: value for key, value in said.items() if key not in ("wall_s", "command")}
        if isinstance(said, dict)
        else said
        for said in map(json.loads, text.splitlines() if text.count("\n{") else [text])
    ]
