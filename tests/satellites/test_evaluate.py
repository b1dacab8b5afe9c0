"""`ackclock evaluate`: exit status, cached numbers, controls that misbehave, the same bytes again."""

import contextlib
import json
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from ackclock.runs import Store
from ackclock_evaluate import joins
from ackclock_evaluate.evaluate import evaluate
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import STANDARD, Bottleneck, Subject
from ackclock_evaluate.suites import criteria
from conftest import COMMAND

Run = Callable[..., subprocess.CompletedProcess[str]]
CHEAP = "iot,datacentre"
OWN = """
import sys, time
import ackclock

class Gentle(ackclock.Control):
    def on_ack(self, ack):
        if not self.slow_start(ack):
            self.window += ack.growth / self.window
    def on_loss(self, loss):
        self.window = self.ssthresh = max(2.0, self.window / 2)

class Raises(Gentle):
    def on_loss(self, loss):
        raise ValueError("no idea")

class Leaves(Gentle):
    def on_loss(self, loss):
        sys.exit(0)

class NotANumber(Gentle):
    def on_loss(self, loss):
        self.window = float("nan")

class Hangs(Gentle):
    def on_loss(self, loss):
        while True:
            time.sleep(0.01)
"""


def _files(directory: Path) -> dict[str, bytes]:
    """Return everything that an evaluation wrote."""
    return {
        str(file.relative_to(directory)): file.read_bytes()
        for file in sorted(directory.rglob("*"))
        if file.is_file()
    }


def test_a_control_is_evaluated_and_the_page_links_its_scenarios(ackclock: Run, tmp_path: Path) -> None:
    done = ackclock("evaluate", "htcp", "--only", CHEAP, "--against", "bic", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "iot" in done.stdout
    place = tmp_path / "out" / "evaluation=htcp"
    record = json.loads((place / "verdicts.json").read_text())
    jsonschema.validate(record, json.loads(ackclock("evaluate", "--schema").stdout))
    assert [criterion["id"] for criterion in record["criteria"]] == ["iot", "datacentre"]
    assert set(record["others"]) == {"cubic-linux", "reno", "bic"}
    # A number on the page comes from the scenario that it links to: the mean over runs 0 to 4 of the
    # goodput when the scenario runs by itself.
    worst = next(criterion["worst"] for criterion in record["criteria"] if criterion["id"] == "iot")
    table = pl.read_parquet(place / "cells.parquet")
    row = table.filter(criterion="iot", role="candidate", metric=worst["metric"], cell=worst["cell"]).row(
        0, named=True
    )
    assert row["scenario"] == worst["scenario"]
    goodput = table.filter(criterion="iot", role="candidate", metric="goodput", cell=worst["cell"]).row(
        0, named=True
    )
    again = ackclock(
        "simulate", place / worst["scenario"], "--runs", goodput["runs"], "--json"
    ).stdout.splitlines()
    rates = [json.loads(line)["flows"][0]["goodput_mbps"] for line in again]
    assert goodput["value"] == pytest.approx(sum(rates) / len(rates), rel=1e-12)
    # So does every row per run and flow: equal digests, so the same packets.
    flows = pl.read_parquet(place / "runs.parquet").filter(
        criterion="iot", role="candidate", cell=worst["cell"], flow=0
    )
    assert flows["digest"].to_list() == [json.loads(line)["digest"] for line in again]
    assert flows["goodput_mbps"].to_list() == rates
    for link in (worst["scenario"], "runs.parquet"):
        assert link in (place / "index.html").read_text()
        assert (place / link).exists()


def test_a_control_is_like_itself(tmp_path: Path) -> None:
    request = Request(Subject("reno"), criteria("rfc9743")[2:3])
    evaluation = evaluate(request, tmp_path, shown=False)
    assert [result.verdict for result in evaluation.results] == ["like"]


def test_a_control_that_cannot_back_off_is_worse(ackclock_here: Run) -> None:
    """A window of 20 packets in 60 flows on 1 Mbit/s: nine of ten packets are lost."""
    done = ackclock_here(
        "evaluate",
        "constant",
        "--set",
        "window=20",
        "--only",
        "collapse-overload",
        "--json",
        "--fail-on",
        "worse",
    )
    assert done.returncode == 3, done.stderr
    (criterion,) = json.loads(done.stdout)["criteria"]
    assert criterion["verdict"] == "worse"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-control"], "no-such-control"),
        (
            ["cubic", "--only", "nothing"],
            "unknown criterion nothing: docs/evaluation.md in the repository lists all 3",
        ),
        (["cubic", "--suite", "nothing"], "choose from rfc9743"),
        (["cubic", "--suite", "nothing.toml"], "nothing.toml: cannot be read"),
        (["cubic", "--set", "c"], "KEY=VALUE"),
        (["cubic", "--set", "c=much", "--only", "iot"], "c"),
        (["cubic", "--limit", "soon"], "--limit"),
        (["cubic", "--limit", "0 s"], "--limit"),
        (["cubic", "--memory", "3 packets"], "--memory"),
    ],
)
def test_bad_input_is_one_line(ackclock_here: Run, tmp_path: Path, arguments: list[str], words: str) -> None:
    done = ackclock_here("evaluate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert words in done.stderr
    assert not list((tmp_path / "results").glob("evaluation=*"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Raises", "ValueError: no idea"),
        ("Leaves", "sys.exit(0)"),
        ("NotANumber", "window"),
        ("Hangs", "longer than 1 s"),
    ],
)
def test_a_control_that_misbehaves_is_reported_and_the_rest_continues(
    ackclock: Run, tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    limit = ["--limit", "1 s"] if name == "Hangs" else []
    done = ackclock("evaluate", f"mine:{name}", "--only", CHEAP, "--json", "--jobs", 2, *limit)
    assert done.returncode == 1, done.stderr
    # On a slow machine there are also lines of progress.
    errors = [
        line
        for line in done.stderr.splitlines()
        if not re.fullmatch(r"\d+ of \d+ runs.*|ackclock: this takes about .*", line)
    ]
    assert len(errors) == 1, errors
    results = {criterion["id"]: criterion for criterion in json.loads(done.stdout)["criteria"]}
    assert results["iot"]["verdict"] == "failed"
    assert any(words in error for error in results["iot"]["errors"]), results["iot"]["errors"]
    # Eight senders lose no packets, so the control never misbehaves there.
    cells = pl.read_parquet(tmp_path / "results" / f"evaluation=mine-{name.lower()}/cells.parquet")
    unaffected = cells.filter(criterion="datacentre", role="candidate", cell="8 senders")
    assert unaffected.height > 0


def test_an_own_control_that_is_reno_is_like_reno(ackclock: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    done = ackclock("evaluate", "mine:Gentle", "--only", "iot", "--json")
    assert done.returncode == 0, done.stderr
    (criterion,) = json.loads(done.stdout)["criteria"]
    assert criterion["verdict"] == "like"


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_stopped_at_any_moment_it_ends_with_the_bytes_of_one_worker(
    tmp_path: Path, stop: signal.Signals
) -> None:
    def start(place: Path, jobs: int) -> subprocess.Popen[bytes]:
        place.mkdir(exist_ok=True)
        command = [*COMMAND, "evaluate", "bic", "--only", f"{CHEAP},collapse-overload", "--jobs", str(jobs)]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, cwd=place, stdout=quiet, stderr=quiet)

    assert start(tmp_path / "whole", 1).wait() == 0
    stopped = 0
    for seconds in (0.4, 0.9, 1.4, 2.0):
        process = start(tmp_path / "stopped", 2)
        time.sleep(seconds)
        process.send_signal(stop)
        stopped += process.wait() != 0
    assert start(tmp_path / "stopped", 2).wait() == 0
    place = Path("results") / "evaluation=bic"
    assert _files(tmp_path / "stopped" / place) == _files(tmp_path / "whole" / place)
    assert stopped > 0


def test_numbers_are_kept_and_damaged_ones_are_made_again(ackclock_here: Run, tmp_path: Path) -> None:
    first = ackclock_here("evaluate", "bic", "--only", "iot", "--own-baselines", "-o", "out")
    assert first.returncode == 0
    database = tmp_path / "out" / ".cache" / "runs.sqlite"
    rows = _rows(database)
    # 2 cells, 5 runs, 3 controls; more runs where they were undecided.
    assert len(rows) >= 30
    before = _files(tmp_path / "out" / "evaluation=bic")
    content = database.read_bytes()
    database.write_bytes(content.replace(b'"numbers"', b'"nunbers"', 1))
    words = ("evaluate", "bic", "--only", "iot", "--own-baselines", "-o", "out")
    dry = json.loads(ackclock_here(*words, "--dry-run", "--json").stdout)
    assert dry["runs"] - dry["kept"] == 1
    again = ackclock_here("evaluate", "bic", "--only", "iot", "--own-baselines", "-o", "out")
    assert again.returncode == 0
    assert "was changed or damaged; its run is repeated" in again.stderr
    assert _files(tmp_path / "out" / "evaluation=bic") == before
    assert _rows(database) == rows


def _rows(database: Path) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT * FROM rows ORDER BY kind, name").fetchall()


def test_a_second_evaluation_in_the_same_place_is_refused(ackclock_here: Run, tmp_path: Path) -> None:
    with Store(tmp_path / "out" / ".cache").opened():
        done = ackclock_here("evaluate", "bic", "--only", "iot", "-o", "out")
    assert done.returncode == 1
    assert "another process is using out; wait for it" in done.stderr


def test_a_folder_with_other_content_is_not_replaced(ackclock_here: Run, tmp_path: Path) -> None:
    place = tmp_path / "results" / "evaluation=bic"
    place.mkdir(parents=True)
    (place / "thesis.tex").write_text("all of it")
    done = ackclock_here("evaluate", "bic", "--only", "iot")
    assert done.returncode == 1
    assert (place / "thesis.tex").read_text() == "all of it"


def test_the_ideal_of_slow_start_is_that_of_the_simulator() -> None:
    """Send 30 packets of 1500 B with IW 10 on 50 Mbit/s, 40 ms: a handshake, and two rounds.

    10 packets in the first round, 20 in the second, one way: 40 ms + 40 ms + 20 ms + 20 x 0.24 ms = 104.8 ms.
    """
    from ackclock import engine

    assert joins.ideal_s(STANDARD, 45_000) == pytest.approx(0.1048)
    flow = Subject("reno").flow("c", 40, bytes="45 kB", start="0 s")
    summary = engine.summary(engine.read(STANDARD.scenario(flow, duration_s=2, tcp={"overhead": "0 s"})))
    assert summary["flows"][0]["completion_s"] == pytest.approx(0.1048, rel=0.02)
    # 1000 packets at 8 Mbit/s need 1.5 s whatever the rounds.
    thin = Bottleneck(8, 40)
    assert joins.ideal_s(thin, 1_500_000) >= 1.5


def _criteria(place: Path) -> dict[str, str]:
    record = json.loads((place / "verdicts.json").read_text())
    return {criterion["id"]: criterion["command"] for criterion in record["criteria"]}


def test_a_page_is_not_replaced_by_a_poorer_one(ackclock_here: Run, tmp_path: Path) -> None:
    place = tmp_path / "out" / "evaluation=bic"
    first = ["evaluate", "bic", "--only", "iot", "-o", "out"]
    assert ackclock_here(*first).returncode == 0
    whole = ["evaluate", "bic", "--only", "datacentre", "-o", "out"]
    assert ackclock_here(*whole).returncode == 0
    # Both are on the page, each with its command, in the order of the suite.
    commands = _criteria(place)
    assert list(commands) == ["iot", "datacentre"]
    assert "--only iot" in commands["iot"]
    assert "--only datacentre" in commands["datacentre"]
    page = (place / "index.html").read_text()
    assert "Made by an earlier command" in page
    assert "--only iot" in page
    # The first command again: nothing is lost, and nothing is set aside.
    assert ackclock_here(*first).returncode == 0
    assert list(_criteria(place)) == ["iot", "datacentre"]
    assert sorted(folder.name for folder in (tmp_path / "out").glob("evaluation=*")) == ["evaluation=bic"]
    # Results with another seed need another page: the old one is kept under another name.
    before = _files(place)
    other = ackclock_here("evaluate", "bic", "--only", "iot", "--seed", 2, "-o", "out")
    assert other.returncode == 0
    assert "evaluation=bic.1" in other.stderr
    assert _files(tmp_path / "out" / "evaluation=bic.1") == before
    assert list(_criteria(place)) == ["iot"]


def test_criteria_that_are_no_longer_cached_are_not_run_again_for_others(
    ackclock_here: Run, tmp_path: Path
) -> None:
    assert ackclock_here("evaluate", "bic", "--only", "iot", "-o", "out").returncode == 0
    (tmp_path / "out" / ".cache" / "runs.sqlite").unlink()
    done = ackclock_here("evaluate", "bic", "--only", "datacentre", "-o", "out")
    assert done.returncode == 0
    assert list(_criteria(tmp_path / "out" / "evaluation=bic")) == ["datacentre"]
    assert list(_criteria(tmp_path / "out" / "evaluation=bic.1")) == ["iot"]
