"""One rule for results that exist already.

The same inputs replace a result; another result is set aside as DIR.1, with a line; --force replaces any.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock
from conftest import Finished

Command = Callable[..., Finished]
PATH = ("--rate", "2mbit", "--duration", "2s", "--runs", "2")


def simulated(command: Command, *words: object) -> Finished:
    return command("simulate", "two.toml", "--quiet", "-o", "out", *words)


def several(command: Command, *words: object) -> Finished:
    return command("simulate", "two.toml", "--quiet", "-o", "out", "--runs", "2", *words)


def compared(command: Command, *words: object) -> Finished:
    return command("compare", *PATH, "cubic", "-o", "out", *words)


def gridded(command: Command, *words: object) -> Finished:
    return command("compare", *PATH, "cubic", "--queue", "droptail,codel", "-o", "out", *words)


VERBS = {
    "simulate": (simulated, ("--seed", "8"), "scenario.toml"),
    "simulate, other number of runs": (simulated, ("--runs", "2"), "scenario.toml"),
    "simulate --runs": (several, ("--seed", "8"), "run-0001/scenario.toml"),
    "compare": (compared, ("reno",), "answers.parquet"),
    "compare, another path": (compared, ("--rtt", "20ms"), "answers.parquet"),
    "compare in a grid": (gridded, ("--rtt", "20ms"), "answers.parquet"),
}


@pytest.mark.usefixtures("scenario")
@pytest.mark.parametrize("verb", VERBS)
def test_a_result_is_made_again_set_aside_or_replaced(
    tmp_path: Path, ackclock_here: Command, verb: str
) -> None:
    run, other, file = VERBS[verb]
    out, aside = tmp_path / "out", tmp_path / "out.1"
    assert run(ackclock_here).returncode == 0
    before = (out / file).read_bytes()
    again = run(ackclock_here)
    assert (again.returncode, again.stderr) == (0, "")
    assert (out / file).read_bytes() == before
    assert not aside.exists()
    changed = run(ackclock_here, *other)
    assert changed.returncode == 0
    assert "ackclock: out held another result, which is now out.1\n" in changed.stderr
    assert (aside / file).read_bytes() == before
    for folder in (out, aside):
        assert ackclock_here("verify", folder).returncode == 0
    forced = run(ackclock_here, "--force")
    assert (forced.returncode, forced.stderr) == (0, "")
    assert (out / file).read_bytes() == before
    assert not (tmp_path / "out.2").exists()


@pytest.mark.usefixtures("scenario")
def test_what_is_not_a_result_is_never_touched(tmp_path: Path, ackclock_here: Command) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    for words in ((), ("--force",)):
        refused = simulated(ackclock_here, *words)
        assert refused.returncode == 1
        assert "did not write" in refused.stderr
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_a_damaged_result_is_set_aside_and_not_lost(
    scenario: Path, tmp_path: Path, ackclock_here: Command
) -> None:
    assert simulated(ackclock_here).returncode == 0
    (tmp_path / "out" / "scenario.toml").write_text("damaged")
    assert "which is now out.1" in simulated(ackclock_here).stderr
    assert (tmp_path / "out.1" / "scenario.toml").read_text() == "damaged"
    assert ackclock.Run.read(tmp_path / "out").digest == ackclock.simulate(scenario).digest
