"""Two results of every verb are compared: equal ones do not differ, and a change is named with its size."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import ackclock
from conftest import Finished


def sweep_of(delay: str) -> str:
    return (
        f'scenario = "two.toml"\n[parameters]\ndelay = {{ set = "dumbbell.delay", to = ["{delay}"] }}\n'
        'rate = { set = "dumbbell.rate", to = ["5 Mbit/s", "10 Mbit/s"] }\n[runs]\ncount = 2\n'
    )


@pytest.fixture
def results(scenario: Path, tmp_path: Path, ackclock_here: Callable[..., Finished]) -> Path:
    """Make two results of each verb of the core, the second one on a slower path."""
    assert scenario.name == "two.toml"
    path = ("--duration", "2s", "--runs", "2", "--rate", "2mbit", "cubic", "reno")
    commands = [(f"{rtt} compare", "compare", "--rtt", rtt, *path) for rtt in ("20ms", "40ms")] + [
        (f"{rtt} grid", "compare", "--rtt", rtt, "--queue", "droptail,codel", *path)
        for rtt in ("20ms", "40ms")
    ]
    for name, *words in commands:
        done = ackclock_here(*words, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
    for rtt, delay in (("20ms", "5 ms"), ("40ms", "10 ms")):
        (tmp_path / "plan.toml").write_text(sweep_of(delay))
        done = ackclock_here("sweep", tmp_path / "plan.toml", "-o", tmp_path / "sweeps" / rtt)
        assert done.returncode == 0, done.stderr
        (tmp_path / "sweeps" / rtt / "experiment=plan").rename(tmp_path / f"{rtt} sweep")
    for rtt, window in (("20ms", 12), ("40ms", 15)):
        table = f"control,p,predicted\nreno,0.01,{window}\nreno,0.001,40\ncubic,0.01,13\n"
        (tmp_path / f"{rtt} predict.csv").write_text(table)
    return tmp_path


def test_results_of_every_verb_are_compared(results: Path) -> None:
    for verb in ("compare", "grid", "sweep", "predict.csv"):
        first, second = (results / f"{rtt} {verb}" for rtt in ("20ms", "40ms"))
        assert ackclock.diff(first, first).same, verb
        assert ackclock.diff(first, first).numbers.height > 0, verb
        assert set(ackclock.diff(first, first).numbers["change"]) == {0.0}, verb
        assert not ackclock.diff(first, second).same, verb
    changed = ackclock.diff(results / "20ms predict.csv", results / "40ms predict.csv").numbers
    # The names of the controls and the loss rates name the rows; one window of three grows from 12 to 15.
    assert changed.filter(pl.col("change") != 0).rows() == [
        ("reno, p 0.01", "predicted", 12.0, 15.0, 3.0, None, None)
    ]
    assert changed.height == 3


def test_a_number_of_each_row_is_that_of_the_file(results: Path) -> None:
    answers = pl.read_parquet(results / "40ms compare" / "answers.parquet").filter(
        pl.col("question") == "goodput", pl.col("control") == "reno"
    )
    numbers = ackclock.diff(results / "20ms compare", results / "40ms compare").numbers
    row = numbers.filter(pl.col("quantity") == "goodput", pl.col("subject") == "reno")
    assert row["b"].item() == answers["value"].item()
    part = pl.read_parquet(results / "20ms sweep" / "part-00000.parquet")
    goodputs = part.filter(pl.col("rate") == "5 Mbit/s", pl.col("name") == part["name"][0])["goodput_mbps"]
    swept = ackclock.diff(results / "20ms sweep", results / "20ms sweep").numbers
    row = swept.filter(
        pl.col("subject").str.contains("rate 5 Mbit/s") & pl.col("subject").str.ends_with(part["name"][0])
    )
    assert row.filter(pl.col("quantity") == "goodput_mbps")["a"].item() == pytest.approx(goodputs.mean())


def test_results_that_cannot_be_compared_are_refused(results: Path, scenario: Path) -> None:
    with pytest.raises(ackclock.ScenarioError, match="A is a result of compare and B of predict"):
        ackclock.diff(results / "20ms compare", results / "20ms predict.csv")
    with pytest.raises(ackclock.ScenarioError, match="A is a result of compare and B of simulate"):
        ackclock.diff(results / "20ms compare", ackclock.simulate(scenario))
    with pytest.raises(ackclock.ScenarioError, match="holds no result"):
        ackclock.diff(results / "nothing", results / "nothing")
    (results / "words.csv").write_text("")
    with pytest.raises(ackclock.ScenarioError, match=r"words\.csv: is not a table"):
        ackclock.diff(results / "words.csv", results / "words.csv")
    with pytest.raises(ValueError, match="only results of simulate have windows"):
        ackclock.diff(results / "20ms compare", results / "40ms compare").draw()


def test_a_changed_result_is_refused(results: Path) -> None:
    file = results / "20ms compare" / "answers.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(ackclock.StorageError, match=r"answers\.parquet"):
        ackclock.diff(results / "20ms compare", results / "40ms compare")


def test_a_control_that_no_number_of_runs_tells_apart_has_no_warning() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            "from ackclock.decision import unpaired_difference as d\n"
            "print(d([0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]).low, d([0.1 + 0.2, 0.3], [1.0, 2.0]).value)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    # 0.3 - 1.5 = -1.2.
    assert done.stdout.split()[0] == "nan"
    assert float(done.stdout.split()[1]) == pytest.approx(-1.2)
