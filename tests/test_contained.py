"""Whatever a control does is the same contained failure in every verb that makes many runs."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ackclock import SimulationError
from ackclock.draw.figure import Table
from ackclock.predictions import Simulation
from ackclock.reproduction import make
from ackclock.reproduction.claims import usual as claims
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.numbers import FULL
from ackclock.reproduction.paper import Paper
from ackclock.runs import Case
from conftest import Finished
from contained import CONTROL, HOSTILE, PATH, contain, one_line, same_there


def simulate(_control: str, run: Callable[..., Finished]) -> str:
    done = run("simulate", "path.toml", "--runs", 2, "--json")
    if done.returncode == 0:
        assert len([json.loads(line) for line in done.stdout.splitlines()]) == 2
        return ""
    assert done.stdout == ""
    return one_line(done)


def compare(control: str, run: Callable[..., Finished]) -> str:
    path = ("--rate", "5mbit", "--rtt", "20ms", "--duration", "2s", "--runs", 1)
    done = run("compare", control, "reno", *path, "--json", "-o", "out")
    if done.returncode == 0:
        assert {row["control"] for row in json.loads(done.stdout)} == {control, "reno"}
        return ""
    assert done.stdout == ""
    return one_line(done)


def sweep(control: str, run: Callable[..., Finished]) -> str:
    Path("sweep.toml").write_text(
        'scenario = "path.toml"\n[parameters]\n'
        f'control = {{ set = "flow.0.controller", to = ["{control}", "reno"] }}\n[runs]\ncount = 2\n'
    )
    done = run("sweep", "sweep.toml", "--json")
    assert json.loads(done.stdout)["runs"] == 4
    table = pl.read_parquet("results/experiment=sweep/*.parquet")
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
        "draw": lambda *_: Table(["rate"], [["any"]]),
        "probe": Probe(("rate",), lambda run: {"rate": run.summary["flows"][0]["goodput_mbps"]}),
    }

    def artefact(name: str) -> Simulated:
        claim = claims.between("rate", "rate", claims.mean(name, "rate"), 0.0, 1000.0, why="it sends")
        return Simulated(name=name, cases=lambda _: {name: cases[name]}, claims=(claim,), **parts)

    chosen = [(Paper("tiny", "Tiny", (), ()), artefact(name)) for name in cases]
    bad, good = make.reproduce(chosen, Path("out"), FULL, 2)
    assert good["error"] == "" and good["claims"][0]["holds"]
    return bad["error"].removeprefix("bad: ")


VERBS = {verb.__name__: verb for verb in (simulate, compare, sweep, predict, reproduce)}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_control_is_contained(
    kind: str,
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ackclock_here: Callable[..., Finished],
) -> None:
    contain(kind, VERBS[verb], tmp_path, monkeypatch, ackclock_here)


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
        ("reproduce", "transient/figure-3", "--quick", "--json", "-o"),
        ("simulate", "path.toml", "--runs", 2, "--metrics", "--json", "--quiet"),
        ("predict", "share", "--simulate", "--runs", 2, "--json"),
    )
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = ("--cluster", cluster.scheduler_address)
        for verb in verbs:
            same_there(verb, there, ackclock_here)
        done = ackclock_here("compare", "killer_there:Hostile", *path, "-o", "out", *there)
        assert one_line(done).endswith("its process ended: exit status 7")
