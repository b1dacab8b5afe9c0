"""An evaluation and a search follow from every file of the control that they judge."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import test_repeats
from conftest import Finished
from test_followed import HELPER, Installed, write, write_package


def test_verdicts_name_the_files(tmp_path: Path, ackclock: Callable[..., Finished]) -> None:
    file = write(tmp_path, "a module")
    evaluate = ["evaluate", "mine:Mine", "--only", "iot", "--against", "reno", "-o", "out", "--json"]
    first = json.loads(ackclock(*evaluate).stdout)["control"]
    assert first["files"] == ["base.py", "helper.py", "mine.py"]
    file.write_text(HELPER.replace("0.5", "0.05"))
    assert json.loads(ackclock(*evaluate).stdout)["control"]["digest"] != first["digest"]


EVALUATE = ("evaluate", "CONTROL", "--only", "iot", "--against", "reno", "-o", "out")
SEARCH = ("search", "CONTROL", "unused", "--genome", "pulses", "--budget", "32", "-o", "out")


@pytest.mark.parametrize("words", [EVALUATE, SEARCH], ids=["evaluate", "search"])
def test_a_control_that_does_not_follow_from_its_seed_is_refused(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ackclock_here: Callable[..., Finished],
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = test_repeats.write(tmp_path, "Process", f"unseeded_{words[0]}")
    test_repeats.refuses([*words], name, tmp_path, ackclock_here)


@pytest.mark.parametrize(
    ("words", "numbers"),
    [(EVALUATE, "out/evaluation=*/numbers.parquet"), (SEARCH, "out/search=*/search.json")],
    ids=["evaluate", "search"],
)
def test_an_installed_control_that_was_upgraded_is_judged_again(
    words: tuple[str, ...],
    numbers: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ackclock: Callable[..., Finished],
) -> None:
    place = Installed(tmp_path)
    files = write_package(place)
    monkeypatch.setenv("PYTHONPATH", place.path)
    command = [word.replace("CONTROL", "minepkg.control:Gentle") for word in words]

    def measured() -> bytes:
        done = ackclock(*command)
        assert done.returncode in (0, 1), done.stderr
        assert "The numbers depend on lib/site-packages/minepkg/, helper 1." in done.stdout
        (file,) = tmp_path.glob(numbers)
        return file.read_bytes()

    first = measured()
    place.change(files["the control"], files["the control"].read_text().replace("* helper", "* 0.1 * helper"))
    assert measured() != first
