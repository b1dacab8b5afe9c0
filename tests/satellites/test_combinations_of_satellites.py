"""Every way in times every way out, for controls from elsewhere and for the verbs of the satellites."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import test_combinations
import test_foreign_rust
from ackclock.engine import controls
from conftest import Finished
from test_combinations import PATHS, WAYS, drawn

LEARNED = "import ackclock_gym as gym\nLearned = gym.control(gym.Linear([0, 0, 0, 1]))\n"
ELSEWHERE = (
    "libfaulty.so:faulty",
    "Rust=libfaulty.so:faulty",
    "learned_mine:Learned",
    "Agent=learned_mine:Learned",
)
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="a library is built"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("library")
    with pytest.MonkeyPatch.context() as patch:
        # A loss event leaves three packets, instead of a panic.
        kept = test_foreign_rust.CODE.replace("window: f64 = 0.0", "window: f64 = 3.0")
        patch.setattr(test_foreign_rust, "CODE", kept)
        return test_foreign_rust.build(place, test_foreign_rust.CRATES, place / "target")


@pytest.fixture
def own(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a library and a learned control into the working directory."""
    shutil.copy(library, tmp_path)
    (tmp_path / "learned_mine.py").write_text(LEARNED)
    monkeypatch.setattr(test_combinations, "CONTROLS", ELSEWHERE)
    yield tmp_path
    sys.modules.pop("learned_mine", None)
    for name in ELSEWHERE:
        controls._registered.pop(name, None)
    controls._labels.clear()


@pytest.mark.parametrize("control", ELSEWHERE)
@pytest.mark.parametrize("kind", range(len(PATHS) + 1))
def test_a_control_from_elsewhere_is_the_same_in_every_way(
    own: Path, ackclock_here: Callable[..., Finished], control: str, kind: int
) -> None:
    case = drawn(kind * len(ELSEWHERE) + ELSEWHERE.index(control), own / "case", ackclock_here)
    for way in WAYS:
        way(case)


@pytest.mark.parametrize("control", ["cubic", *ELSEWHERE])
def test_an_evaluation_and_its_scenarios_agree(
    own: Path, ackclock_here: Callable[..., Finished], control: str
) -> None:
    done = ackclock_here("evaluate", control, "--only", "wired", "-o", own / "out", "--json")
    assert done.returncode == 0, done.stderr
    (folder,) = (own / "out").glob("evaluation=*")
    name = control.partition("=")[0] if "=" in control else control
    assert json.loads(done.stdout)["control"]["name"] == name
    runs = pl.read_parquet(folder / "runs.parquet").filter(
        pl.col("role") == "candidate", pl.col("run") == 0, pl.col("cell") == "alone, 5 Mbit/s"
    )
    again = ackclock_here("simulate", folder / "scenarios/wired-alone-5-mbit-s.toml", "--json")
    assert again.returncode == 0, again.stderr
    goodputs = [flow["goodput_mbps"] for flow in json.loads(again.stdout)["flows"]]
    assert runs["goodput_mbps"].to_list() == goodputs
    assert runs["controller"][0] == name
    moved = own / "elsewhere" / "result"
    shutil.move(folder, moved)
    assert ackclock_here("verify", moved).returncode == 0
    assert ackclock_here("diff", moved, moved).stdout == "different: nothing: the same, number by number\n"


@pytest.mark.parametrize("control", ["cubic", "Agent=learned_mine:Learned"])
def test_a_search_saves_scenarios_that_run_again(
    own: Path, ackclock_here: Callable[..., Finished], control: str
) -> None:
    words = ("--genome", "capacity", "--budget", "32", "-o", own / "out", "--json")
    done = ackclock_here("search", control, "utilisation", *words)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    (folder,) = (own / "out").glob("search=*")
    assert ackclock_here("verify", folder).returncode == 0
    assert ackclock_here("diff", folder, folder).returncode == 0
    adversaries = own / "out" / "found"
    if adversaries.exists():
        checked = ackclock_here("evaluate", "reno", "--suite", adversaries, "--dry-run")
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("control", ["reno", "cubic", "bic", "hstcp"])
def test_a_prediction_with_runs_is_the_same_as_text_and_as_files(
    own: Path, ackclock_here: Callable[..., Finished], control: str
) -> None:
    words = ("predict", "response", control, "--loss", "1%", "--simulate")
    as_json = ackclock_here(*words, "--json")
    assert as_json.returncode == 0, as_json.stderr
    for name in ("a.csv", "a.parquet"):
        assert ackclock_here(*words, "-o", own / name).returncode == 0
    rows = json.loads(as_json.stdout)
    table = pl.read_parquet(own / "a.parquet")
    assert pl.read_csv(own / "a.csv").equals(table)
    assert [row["predicted"] for row in rows["points"]] == table["predicted"].to_list()
