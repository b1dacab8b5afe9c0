"""A control that does not follow from its seed is refused by every verb, and nothing of it is kept."""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock import SimulationError, register
from ackclock.engine import controls
from ackclock.predictions import Simulation
from ackclock.runs import Store, places
from ackclock.runs.child import Child, Limits
from ackclock.runs.jobs import Case, Job
from conftest import BOTTLENECK, Finished

CONTROL = """
import os, random, time
import ackclock

class Base(ackclock.Control):
    count = 0
    def __init__(self, start):
        super().__init__(start)
        type(self).count += 1
        self.number = type(self).count
    def on_ack(self, ack):
        if not self.slow_start(ack):
            self.window += ack.growth / self.window
    def on_loss(self, loss):
        self.window = self.ssthresh = max(2.0, self.keep() * self.window)

class Random(Base):
    def keep(self):
        return random.uniform(0.2, 0.9)

class Clock(Base):
    def keep(self):
        return 0.2 + 0.7 * (time.time_ns() % 1_000_003) / 1_000_003

class Process(Base):
    "As one that counts in a file: other numbers in every process."
    def keep(self):
        return 0.2 + 0.7 * (os.getpid() % 101) / 101

class Honest(Base):
    def keep(self):
        return 0.7

class Counted(Base):
    def keep(self):
        return 1 - 1 / (1 + self.number)
"""
UNSEEDED = ("Random", "Clock", "Process")
PATH = f"""
[run]
duration = "2 s"
{BOTTLENECK.replace("0.1 %", "1 %")}
[[flow]]
controller = "CONTROL"
rtt = "20 ms"
"""
COMPARED = ("--rate", "5mbit", "--rtt", "20ms")
WORDS = {
    "simulate": ["simulate", "path.toml", "-o", "out"],
    "runs": ["simulate", "path.toml", "--runs", "2", "-o", "out"],
    "compare": ["compare", "CONTROL", *COMPARED, "--duration", "2s", "--runs", "1", "-o", "out"],
    "sweep": ["sweep", "sweep.toml", "-o", "out"],
}
SENTENCE = "do not follow from the seed: the same run in another process had others; keep state in the object"


def write(place: Path, control: str, module: str = "unseeded") -> str:
    """Write a control and a scenario with it, and return its name."""
    name = f"{module}:{control}"
    (place / f"{module}.py").write_text(CONTROL)
    (place / "path.toml").write_text(PATH.replace("CONTROL", name))
    (place / "sweep.toml").write_text('scenario = "path.toml"\n[runs]\ncount = 3\n')
    return name


def refuses(words: list[str], name: str, place: Path, run: Callable[..., Finished]) -> None:
    """Check that a verb refuses a control in one sentence, every time, and keeps no answer."""
    for _ in range(2):
        done = run(*(word.replace("CONTROL", name) for word in words))
        assert done.returncode == 1, done.stdout
        assert done.stderr.splitlines()[-1].startswith(f"ackclock: the numbers of {name} {SENTENCE}")
        assert not list(place.glob("out/*.json")) + list(place.glob("out/*.html"))
        if (place / "out" / ".cache" / "runs.sqlite").exists():
            with Store(place / "out" / ".cache").read_only() as store:
                assert not store._execute("SELECT name FROM rows WHERE kind = 'answer'")


@pytest.mark.parametrize(
    ("verb", "control"),
    [
        pytest.param(
            verb, control, marks=[] if verb == "simulate" and control == "Process" else pytest.mark.long
        )
        for verb in WORDS
        for control in UNSEEDED
    ],
)
def test_a_control_that_does_not_follow_from_its_seed_is_refused(
    verb: str,
    control: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ackclock_here: Callable[..., Finished],
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = write(tmp_path, control, f"unseeded_{verb}_{control}".lower())
    refuses(WORDS[verb], name, tmp_path, ackclock_here)


@pytest.mark.long
def test_predictions_and_other_places_refuse_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, "Process", "unseeded_elsewhere")
    with pytest.raises(SimulationError, match=SENTENCE):
        Simulation(2).each([tmp_path / "path.toml"], lambda run: run.digest)
    (job,) = Case(tmp_path / "path.toml").jobs()
    # As a machine of a cluster makes it.
    with pytest.raises(SimulationError, match=SENTENCE):
        places._remote([job], Limits(), None, places.engine.ENGINE, [job.code], frozenset())


def test_what_a_control_changes_in_its_class_ends_with_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, "Counted", "counted")
    jobs = Case(tmp_path / "path.toml", 2).jobs()
    child = Child(Limits())
    try:
        digests = [child.answer(job, lambda *_: None).digest for job in (*jobs, *reversed(jobs))]
    finally:
        child.close()
    # The order of the runs in a process changes nothing.
    assert digests == digests[::-1]
    assert digests[0] != digests[1]


def registered(control: str, place: Path, *, is_imported: bool) -> list[Job]:
    """Register a control of a module, or of code that no other process can import, and return two runs."""
    module = f"registered_{control}_{is_imported}".lower()
    write(place, control, module)
    if is_imported:
        names = vars(importlib.import_module(module))
    else:
        names = {"__name__": "__main__"}
        exec(CONTROL, names)  # noqa: S102
    register("mine", names[control])
    (place / "path.toml").write_text(PATH.replace("CONTROL", "mine"))
    return list(Case(place / "path.toml", 2).jobs())


@pytest.mark.parametrize(
    ("control", "is_imported", "where"),
    [
        ("Process", True, "in another process"),
        # Each run has a process of its own, so that a class begins anew.
        ("Counted", True, ""),
        ("Random", False, "again"),
        ("Counted", False, "again"),
        ("Honest", False, ""),
        # What differs only from process to process shows only in another one.
        ("Process", False, ""),
    ],
)
def test_a_registered_control_is_repeated_too(
    control: str, is_imported: bool, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    jobs = registered(control, tmp_path, is_imported=is_imported)
    try:
        with places.opened(["mine"], jobs=1) as runner:
            answers = runner.submit(jobs, lambda job, make: make(job), lambda *_: None)
            if where:
                with pytest.raises(SimulationError, match=f"of mine do not .*: the same run {where} had"):
                    answers.result()
            else:
                assert all(answer.digest for answer in answers.result())
    finally:
        controls._classes.pop("mine")
        controls._registered.pop("mine")
