"""A control of one's own has a label wherever a control is named: ``Gentle=mine:Gentle``."""

import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import ackclock
from ackclock.engine import controls
from conftest import Finished

OWN = """\
import ackclock

class Gentle(ackclock.Control):
    def on_ack(self, ack):
        self.window += 1.0 / self.window

    def on_loss(self, loss):
        self.window = max(1.0, 0.8 * self.window)
"""
REFERENCE = "Soft=labelled_mine:Gentle"
PATH = ("--rate", "2mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "labelled_mine.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("labelled_mine", None)
    for name in [name for name in controls._registered if "labelled_mine" in name]:
        del controls._registered[name]
    controls._labels.clear()


def scenario_with(control: str) -> str:
    return (
        '[run]\nduration = "1 s"\n[dumbbell]\nrate = "2 Mbit/s"\ndelay = "10 ms"\n'
        f'queue = {{ kind = "droptail", limit = "20 packets" }}\n[[flow]]\ncontroller = "{control}"\n'
    )


def test_a_run_has_the_label_and_the_same_packets(folder: Path) -> None:
    labelled, plain = (ackclock.simulate(scenario_with(name)) for name in (REFERENCE, "labelled_mine:Gentle"))
    assert labelled.flows["controller"].to_list() == ["Soft"]
    assert labelled.flows["name"].to_list() == ["Soft-0"]
    assert plain.flows["controller"].to_list() == ["labelled_mine:Gentle"]
    assert labelled.digest == plain.digest
    # The label alone stands for the control in this process, and the scenario says for which.
    scenario = ackclock.engine.read(scenario_with("Soft"))
    assert scenario.controls == [REFERENCE]
    assert pickle.loads(pickle.dumps(scenario)).controls == [REFERENCE]  # noqa: S301
    assert scenario.with_("run.seed=2").controls == [REFERENCE]
    assert folder / "labelled_mine.py" in controls.files(["Soft"])
    assert controls.fingerprint(["Soft"]) == controls.fingerprint([REFERENCE])


def test_a_comparison_says_the_label_and_its_scenarios_run_elsewhere(
    folder: Path, ackclock_here: Callable[..., Finished]
) -> None:
    done = ackclock_here("compare", *PATH, REFERENCE, "cubic", "-o", "out")
    assert done.returncode == 0, done.stderr
    told = "The numbers depend on labelled_mine.py."
    assert told in done.stdout
    # Only commands, and the files that numbers depend on, say where it comes from.
    assert "labelled_mine" not in done.stdout.replace(told, "")
    answers = pl.read_parquet("out/answers.parquet")
    assert set(answers["control"]) == {"Soft", "cubic"}
    alone = json.loads(Path("out/scenarios/alone-Soft.json").read_text("utf-8"))
    assert alone["flow"][0]["controller"] == REFERENCE
    shutil.move("out", folder / "other machine")
    (folder / "labelled_mine.py").unlink()
    command = [sys.executable, "-m", "ackclock", "simulate", "alone-Soft.json", "--runs", "2", "--json"]
    again = subprocess.run(
        command, cwd=folder / "other machine" / "scenarios", capture_output=True, text=True, check=True
    )
    goodputs = [json.loads(line)["flows"][0]["goodput_mbps"] for line in again.stdout.splitlines()]
    value = answers.filter(pl.col("question") == "goodput", pl.col("control") == "Soft")["value"].item()
    assert value == pytest.approx(sum(goodputs) / 2, rel=1e-12)


@pytest.mark.usefixtures("folder")
def test_a_setting_and_a_sweep_take_a_label(ackclock_here: Callable[..., Finished]) -> None:
    Path("s.toml").write_text(scenario_with("cubic"))
    done = ackclock_here("simulate", "s.toml", "--json", "--set", f"flow.0.controller={REFERENCE}")
    assert json.loads(done.stdout)["flows"][0]["controller"] == "Soft"
    Path("plan.toml").write_text(
        'scenario = "s.toml"\n[parameters]\n'
        f'control = {{ set = "flow.0.controller", to = ["cubic", "{REFERENCE}"] }}\n[runs]\ncount = 1\n'
    )
    done = ackclock_here("sweep", "plan.toml", "-o", "swept", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    (part,) = Path("swept").rglob("*.parquet")
    assert pl.read_parquet(part)["controller"].to_list() == ["cubic", "Soft"]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["reno=labelled_mine:Gentle"], "reno is a built-in control; choose another label"),
        (
            ["S=labelled_mine:Gentle", "S=other_mine:Gentle"],
            "S=labelled_mine:Gentle and S=other_mine:Gentle have one label; choose another for one of them",
        ),
        (["S=labelled_mine:Gentel"], "S=labelled_mine:Gentel: labelled_mine has no class Gentel"),
        (["S=no_such:Gentle"], "S=no_such:Gentle: module not found: no_such"),
        (["S=lib/no.so:x"], "S=lib/no.so:x: file not found: lib/no.so"),
        (["S=cubic"], 'unknown control "S=cubic"'),
    ],
)
def test_a_label_that_cannot_be_is_one_line(
    folder: Path, ackclock_here: Callable[..., Finished], names: list[str], problem: str
) -> None:
    (folder / "other_mine.py").write_text(OWN)
    done = ackclock_here("compare", *PATH, *names, "-o", "out")
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("out").exists()
