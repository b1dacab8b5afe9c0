"""A control judged against an earlier version of itself, and the page *In your CI*."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import ackclock
from ackclock.decision.comparisons import Limit, Margin, compare
from ackclock_evaluate import versions
from ackclock_evaluate.cell import Cell
from ackclock_evaluate.results import CANDIDATE, CellResult, Earlier, MarginResult, Measured, judge
from ackclock_evaluate.setting import BASELINES
from ackclock_evaluate.suites import chosen
from conftest import Finished

ROOT = Path(__file__).parents[2]
GOODPUT = Margin("goodput", "Mbit/s", higher_is_better=True, ratio=1.1)
STARVED = Limit("starved", "s", at_most=30)
STEADY = [10.0, 10.1, 9.9, 10.0, 10.05]


def judged(mine: list[float], old: list[float], starved: tuple[float, float] = (0.0, 0.0)) -> str:
    """Return the verdict of five runs against those of an earlier version; the baselines are far behind."""

    def of(values: list[float], starving: float) -> Measured:
        return Measured([{"goodput": value, "starved": starving} for value in values])

    measured = {CANDIDATE: of(mine, starved[0]), **dict.fromkeys(BASELINES, of([1.0] * 5, 0.0))}
    cell = CellResult(
        Cell("alone", lambda _: {}, judged=(GOODPUT,), limits=(STARVED,)),
        measured,
        [MarginResult(GOODPUT, BASELINES[0], compare(mine, [1.0] * 5, GOODPUT))],
        [STARVED.judge([starved[0]] * 5, [[0.0] * 5])],
    )
    (criterion,) = chosen(["rfc9743"], ["wired"])
    result = judge(criterion, [cell])
    kept = {("wired", "alone"): of(old, starved[1]).numbers}
    (against,) = versions.judged([result], Earlier("old", kept))
    return against.verdict


@pytest.mark.parametrize(
    ("mine", "old", "verdict"),
    [
        # The margin is 10 %: 20 % less or more is past it, 1 % is within.
        (STEADY, [1.25 * value for value in STEADY], "worse"),
        (STEADY, [0.8 * value for value in STEADY], "better"),
        (STEADY, [1.01 * value for value in STEADY], "like"),
        # The mean is 25 % less, and the runs scatter by as much as the mean.
        ([2.0, 18.0, 1.0, 14.0, 5.0], STEADY, "undecided"),
        # The same packets, however much they scatter.
        ([2.0, 18.0, 1.0, 14.0, 5.0], [2.0, 18.0, 1.0, 14.0, 5.0], "like"),
    ],
)
def test_a_verdict_is_that_of_the_margin(mine: list[float], old: list[float], verdict: str) -> None:
    assert judged(mine, old) == verdict


def test_a_limit_counts_when_the_earlier_version_kept_it() -> None:
    # All of five runs starve for 45 s, and none of 25 before: by chance one time in C(30, 5) = 142 506.
    assert judged(STEADY, 5 * STEADY, starved=(45.0, 0.0)) == "worse"
    assert judged(STEADY, 5 * STEADY, starved=(45.0, 45.0)) == "like"
    # With five before it is one time in C(10, 5) = 252, which is not sure enough.
    assert judged(STEADY, STEADY, starved=(45.0, 0.0)) == "undecided"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the project of the page, and work in it."""
    shutil.copytree(ROOT / "examples" / "ci", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_the_page_quotes_the_files_and_its_commands_work(project: Path) -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    for name in ("workflow.yml", "test_mine.py"):
        quoted = (project / name).read_text("utf-8").splitlines()
        assert "\n".join(f"    {line}" if line else "" for line in quoted) in page
    for command in re.findall(r"^    ((?:ackclock evaluate|mv) .*)$", page, re.MULTILINE):
        done = run(project, "bash", "-c", command)
        assert done.returncode == 0, done.stderr
    steps = yaml.safe_load((project / "workflow.yml").read_text("utf-8"))["jobs"]["evaluate"]["steps"]
    commands = [step["run"] for step in steps if "run" in step and not step["run"].startswith("pip ")]
    evaluate, summary = commands

    def statuses() -> list[int]:
        shutil.rmtree(project / "results", ignore_errors=True)
        checks = (["bash", "-c", evaluate], [sys.executable, "-m", "pytest", "-q", "test_mine.py"])
        return [run(project, *check).returncode for check in checks]

    # An unchanged control passes, and one that keeps a fifth of its window fails.
    assert statuses() == [0, 0]
    assert run(project, "bash", "-c", summary).returncode == 0
    assert "wired" in (project / "summary.md").read_text("utf-8")
    mine = project / "mine.py"
    mine.write_text(mine.read_text("utf-8").replace("0.8 *", "0.2 *"), "utf-8")
    assert statuses() == [3, 1]
    record = json.loads((project / "results/evaluation=mine-gentle/verdicts.json").read_text("utf-8"))
    verdicts = {entry["id"]: entry["verdict"] for entry in record["earlier"]["criteria"]}
    assert verdicts["wired"] == "worse"
    assert record["earlier"]["name"] == "mine:Gentle in baseline"
    # The page, the text and the record agree.
    html = (project / "results/evaluation=mine-gentle/index.html").read_text("utf-8")
    assert record["earlier"]["sentence"] in html
    assert "Compared with mine:Gentle in baseline" in html
    changed = ackclock.diff(project / "baseline", project / "results/evaluation=mine-gentle")
    assert not changed.same
    assert changed.numbers.filter(changed.numbers["change"] != 0).height > 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--only", "mixed"), "baseline: does not have mixed; evaluate mine:Gentle again"),
        (("--only", "wired", "--full"), "baseline: is a quick evaluation, and this one would be full"),
        (
            ("--only", "tcpeval-load", "--suite", "tcpeval"),
            "baseline: was not made with this version of the suite",
        ),
    ],
)
def test_a_baseline_that_does_not_fit_is_refused(
    project: Path, ackclock_here: Callable[..., Finished], options: tuple[str, ...], problem: str
) -> None:
    kept = ackclock_here("evaluate", "reno", "--only", "wired", "-o", "kept")
    assert kept.returncode == 0, kept.stderr
    (project / "kept/evaluation=reno").rename(project / "baseline")
    done = ackclock_here("evaluate", "reno", "--baseline", "baseline", *options)
    assert done.returncode == 2
    assert problem.replace("mine:Gentle", "reno") in done.stderr
    assert done.stderr.count("\n") == 1
    replaced = ackclock_here("evaluate", "reno", "--only", "wired", "-o", "kept")
    assert replaced.returncode == 0
    same = ackclock_here(
        "evaluate", "reno", "--only", "wired", "--baseline", "kept/evaluation=reno", "-o", "kept"
    )
    assert same.returncode == 2
    assert "this evaluation would replace it" in same.stderr


def test_an_earlier_control_runs_next_to_the_new_one(
    project: Path, ackclock_here: Callable[..., Finished]
) -> None:
    (project / "released.py").write_text((project / "mine.py").read_text("utf-8"))
    mine = project / "mine.py"
    mine.write_text(mine.read_text("utf-8").replace("0.8 *", "0.2 *"), "utf-8")
    words = ("New=mine:Gentle", "--baseline", "Old=released:Gentle", "--only", "wired")
    done = ackclock_here("evaluate", *words, "--fail-on", "worse", "--json")
    assert done.returncode == 3, done.stderr
    record = json.loads(done.stdout)
    assert record["control"]["name"] == "New"
    assert record["earlier"]["name"] == "Old"
    assert [entry["verdict"] for entry in record["earlier"]["criteria"]] == ["worse"]
    worst = record["earlier"]["criteria"][0]["worst"]
    assert worst["value"] < worst["baseline"]["Old"]
