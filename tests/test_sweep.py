"""Sweeps: the same results wherever runs are made, no loss by a kill, errors in one line."""

import html
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from ackclock import ScenarioError, StorageError, engine, simulate, sweep, sweeps
from ackclock.runs import Store
from ackclock.runs import estimate as trials
from ackclock.sweeps import estimate, page, picture
from conftest import BOTTLENECK, Finished, wait_until

PATH = f"""
[run]
duration = "2 s"
{BOTTLENECK}
[[flow]]
controller = "reno"
rtt = "20 ms"
[[flow]]
controller = "reno"
rtt = "30 ms"
"""
SWEEP = """
scenario = "path.toml"
[parameters]
p = { set = "dumbbell.loss.rate", to = [0.001, 0.01, 0.05] }
control = { set = "flow.*.controller", to = ["reno", "fit"] }
buffer = { set = "dumbbell.queue.limit", unit = "packets", to = [10, 40] }
[runs]
count = 4
"""
COMMAND = [sys.executable, "-m", "ackclock", "sweep"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "path.toml").write_text(PATH)
    (tmp_path / "loss.toml").write_text(SWEEP)
    return tmp_path / "loss.toml"


def _contents(dataset: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(dataset.iterdir())}


def test_rows_are_what_single_runs_give(file: Path, tmp_path: Path) -> None:
    outcome = sweep(file, tmp_path / "out")
    # 3 x 2 x 2 points, 4 runs each, two flows in each.
    assert (outcome.runs, outcome.made, outcome.failed) == (48, 48, 0)
    table = pl.read_parquet(outcome.directory)
    assert table.height == 96
    assert table["buffer"].dtype == pl.Int64
    rows = table.filter(p=0.01, control="fit", buffer=40, run=2)
    changes = ["dumbbell.loss.rate=0.01", "dumbbell.queue.limit=40 packets"]
    changes += ["flow.0.controller=fit", "flow.1.controller=fit"]
    alone = simulate(tmp_path / "path.toml", settings=changes, run=2)
    assert rows["digest"].to_list() == [alone.digest] * 2
    assert rows["goodput_mbps"].to_list() == alone.flows["goodput_mbps"].to_list()
    assert rows["queue_drops"][0] == alone.summary["links"][0]["queue_drops"]


def test_threads_processes_and_dask_write_the_same_bytes(file: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    sweep(file, tmp_path / "one", jobs=1)
    sweep(file, tmp_path / "threads", jobs=4)
    sweep(file, tmp_path / "processes", jobs=2, processes=True)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        sweep(file, tmp_path / "dask", cluster=cluster.scheduler_address)
    first, *rest = (
        _contents(tmp_path / name / "experiment=loss") for name in ("one", "threads", "processes", "dask")
    )
    assert len(first) == 1
    assert all(contents == first for contents in rest)


KILLED = """
import os, signal, sys
from ackclock import sweep, sweeps
from ackclock.runs.store import Store
from ackclock.sweeps.exports import Exports

method, when, left = sys.argv[3], sys.argv[4], int(sys.argv[5])
owner = Exports if method == "write" else Store
original = getattr(owner, method)

def deadly(*arguments, **options):
    global left
    left -= 1
    if left == 0 and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    original(*arguments, **options)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

setattr(owner, method, deadly)
sweep(sys.argv[1], sys.argv[2], shown=False)
"""


def test_nothing_is_lost_or_repeated_by_kills(file: Path, tmp_path: Path) -> None:
    file.write_text(SWEEP.replace("count = 4", "count = 120"))
    whole = sweep(file, tmp_path / "whole").directory
    seed = int(os.environ.get("ACKCLOCK_TEST_SEED", random.randrange(2**32)))  # noqa: S311
    print(f"ACKCLOCK_TEST_SEED={seed}")
    draw = random.Random(seed)  # noqa: S311
    target, kills = tmp_path / "killed" / "experiment=loss", 0
    # 1440 runs make two parts of at most 1000: kills fall before and after each file is written.
    methods = ("add", "commit", "write_note", "write")
    moments = [(method, when) for method in methods for when in ("before", "after")]
    for method, when in moments * 2:
        calls = {"add": draw.randint(1, 1000), "commit": draw.randint(1, 6)}.get(method, 1)
        command = [sys.executable, "-c", KILLED, str(file), str(tmp_path / "killed"), method, when]
        done = subprocess.run([*command, str(calls)], timeout=120, check=False)
        assert done.returncode in (0, -signal.SIGKILL)
        kills += done.returncode != 0
        # What is there is whole at any moment.
        for part in target.glob("part-*.parquet"):
            pl.read_parquet(part)
    assert kills > 0
    sweep(file, tmp_path / "killed")
    assert _contents(target) == _contents(whole)
    keys = pl.read_parquet(target).select("point", "run", "flow")
    assert keys.height == keys.n_unique() == 12 * 120 * 2
    assert sweep(file, tmp_path / "killed").made == 0


def test_a_failing_run_is_recorded_and_stops_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fragile.py").write_text(
        "import ackclock\n"
        "class Fragile(ackclock.Control):\n"
        "    def on_ack(self, ack):\n"
        "        self.slow_start(ack)\n"
        "    def on_loss(self, loss):\n"
        "        raise RuntimeError('too many\\nlosses')\n"
    )
    file.write_text(SWEEP.replace('"fit"', '"fragile:Fragile"'))
    done = subprocess.run([*COMMAND, file.name, "--jobs", "2"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "ackclock: 24 runs failed; see the column error of the results; "
        "the first: RuntimeError: too many losses"
    ]
    table = pl.read_parquet("results/experiment=loss")
    failed = table.filter(control="fragile:Fragile")
    assert failed["error"].to_list() == ["RuntimeError: too many losses"] * 24
    assert table.filter(control="reno")["error"].null_count() == 48
    assert table.filter(control="reno").height == 48


def test_replications_stop_when_the_interval_is_narrow(file: Path, tmp_path: Path) -> None:
    runs = "[runs]\nwithin = 0.03\nleast = 3\nmost = 30\nmetric = 'goodput_mbps'\n"
    file.write_text(SWEEP.split("[runs]")[0] + runs)
    plan = sweeps.read(file)
    assert (plan.least_runs, plan.most_runs) == (36, 360)
    table = pl.read_parquet(sweep(plan, tmp_path / "a", jobs=1).directory)
    counts = []
    for _, point in table.group_by("point", maintain_order=True):
        means = point.group_by("run", maintain_order=True).agg(pl.col("goodput_mbps").mean())
        values = means["goodput_mbps"].to_numpy()
        narrow = [
            count
            for count in range(3, 31, 3)
            # Student's interval over the first runs.
            if stats.t.ppf(0.975, count - 1) * values[:count].std(ddof=1) / np.sqrt(count)
            <= 0.03 * values[:count].mean()
            or count == len(values)
        ]
        assert len(values) == narrow[0]
        counts.append(len(values))
    assert len(set(counts)) > 1
    again = sweep(plan, tmp_path / "b", jobs=4)
    assert _contents(again.directory) == _contents(tmp_path / "a" / "experiment=loss")


def test_another_sweep_of_the_name_is_not_overwritten(file: Path, tmp_path: Path) -> None:
    sweep(file, tmp_path / "out")
    file.write_text(SWEEP.replace("count = 4", "count = 1"))
    with pytest.raises(StorageError, match=r"holds another sweep .*--force"):
        sweep(file, tmp_path / "out")
    assert sweep(file, tmp_path / "out", force=True).runs == 12
    file.write_text('name = "other"\n' + SWEEP)
    assert sweep(file, tmp_path / "out").runs == 48


def test_two_processes_do_not_share_a_sweep(file: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "out" / ".cache").opened(), pytest.raises(StorageError, match="another process"):
        sweep(file, tmp_path / "out")


Change = Callable[[str], str]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: "= 3", "loss.toml: is not TOML"),
        (lambda text: text.replace("path.toml", "none.toml"), "none.toml: cannot be read"),
        (lambda text: "scenario = 3\n" + text.split("\n", 2)[2], "scenario: expected the name"),
        (lambda text: "seeds = 3\n" + text, "seeds: unknown key: "),
        (lambda text: text.replace("[10, 40]", "[]"), "parameters.buffer.to: expected a list"),
        (lambda text: text.replace("[10, 40]", "[10, 10]"), "has the same value twice"),
        (lambda text: text.replace("[10, 40]", '[10, "x"]'), "mixes strings, numbers and booleans"),
        (lambda text: text.replace("[10, 40]", "[10, 0]"), r"point 1 \(p = 0.001, control = reno,"),
        (lambda text: text.replace("fit", "fot"), 'unknown control "fot", did you mean'),
        (lambda text: text.replace("fit", "my_module:My"), "module not found: my_module"),
        (lambda text: text.replace("buffer =", "jain ="), "jain is a column of every result"),
        (lambda text: text.replace("count = 4", "count = 0"), "runs.count: expected a whole"),
        (lambda text: text.replace("count = 4", "within = 2"), "runs.within: expected a share"),
        (lambda text: text.replace("count = 4", "least = 2"), "needs runs.within"),
        (
            lambda text: text.replace("count = 4", "within = 0.1\nmetric = 'name'"),
            "runs.metric: expected one of rtt_ms",
        ),
        (lambda text: text.replace("count = 4", "count = 900000"), "asks for 10800000 runs"),
        (
            lambda text: text.replace("[10, 40]", "{from=0, through=9, count=3, log=true}"),
            "a logarithmic range must lie above 0",
        ),
    ],
)
def test_a_wrong_file_is_one_line(file: Path, tmp_path: Path, change: Change, message: str) -> None:
    file.write_text(change(SWEEP))
    with pytest.raises(ScenarioError, match=message) as caught:
        sweep(file, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_an_unreachable_cluster_is_one_line(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("ackclock.runs.places.CONNECT_S", 0.5)
    with pytest.raises(ScenarioError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"):
        sweep(file, tmp_path / "out", cluster="tcp://127.0.0.1:9")


def test_listed_points_and_ranges(file: Path) -> None:
    listed = """
    scenario = "path.toml"
    parameters = { p = { set = "dumbbell.loss.rate" }, rtt = { set = "flow.0.rtt", unit = "ms" } }
    points = [{ p = 0.001, rtt = 20 }, { p = 0.01, rtt = 40.5 }]
    """
    file.write_text(listed)
    points = sweeps.read(file).points
    assert points[1].settings == ("dumbbell.loss.rate=0.01", "flow.0.rtt=40.5 ms")
    file.write_text(listed.replace(", rtt = 40.5", ""))
    with pytest.raises(ScenarioError, match=r"points.1.rtt: missing"):
        sweeps.read(file)
    spaced = "{ from = 0.0001, through = 0.1, count = 4, log = true }"
    file.write_text(SWEEP.replace("[0.001, 0.01, 0.05]", spaced))
    assert sweeps.read(file).parameters[0].values == (0.0001, 0.001, 0.01, 0.1)


def test_a_dry_run_counts_and_runs_nothing(
    file: Path, tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    done = ackclock_here("sweep", file, "--dry-run", "--json", "-o", tmp_path / "out")
    assert done.returncode == 0
    counted: dict[str, Any] = json.loads(done.stdout)
    assert (counted["points"], counted["least_runs"], counted["most_runs"]) == (12, 48, 48)
    assert counted["estimated_s"] > 0
    assert not (tmp_path / "out").exists()


def test_an_estimate_counts_runs_and_jobs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = sweeps.read(file)
    monkeypatch.setattr(trials, "_trial", lambda _scenario: 0.5)
    # 48 runs of half a second, one or two at once.
    assert estimate.seconds(plan, jobs=1) == 24.0
    assert estimate.seconds(plan, jobs=2) == 12.0


# The looks at a run of two seconds: wall time and simulated time. One look of 0.3 s at 0.5 s leaves 1.5 s
# at 0.6 s per second: 0.3 + 0.9. Of two, the second half simulates a fifth of a second in 0.2 s: 0.4 s, and
# 1.3 s at 1 s per second.
@pytest.mark.parametrize(
    ("looks", "expected_s"), [([(0.3, 0.5)], 1.2), ([(0.2, 0.5), (0.4, 0.7)], 1.7)], ids=["one look", "two"]
)
def test_a_trial_that_is_broken_off_counts_for_the_whole_run(
    looks: list[tuple[float, float]], expected_s: float, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, *(100.0 + wall_s for wall_s, _ in looks)])
    monkeypatch.setattr(trials.time, "monotonic", lambda: next(clock))

    def summary(_scenario: engine.Scenario, progress: engine.Progress) -> None:
        for _, simulated_s in looks:
            progress(simulated_s, 1000)

    monkeypatch.setattr(trials.engine, "summary", summary)
    plan = sweeps.read(file)
    scenario = engine.read(plan.scenario, settings=plan.points[0].settings)
    assert trials._trial(scenario) == pytest.approx(expected_s)


def test_a_scenario_counts_as_often_as_it_is_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine runs of 0.1 s and one of 10 s take 10.9 s, one after the other."""
    plan = sweeps.read(file)
    quick, slow = (engine.read(plan.scenario, settings=point.settings) for point in plan.points[:2])
    monkeypatch.setattr(trials, "_trial", lambda scenario: 10.0 if scenario == slow else 0.1)
    assert trials.seconds([*[quick] * 9, slow], 10, 1) == pytest.approx(10.9)


def test_workers_do_not_outlive_a_killed_sweep(file: Path, tmp_path: Path) -> None:
    long = PATH.replace('duration = "2 s"', 'duration = "100000 s"')
    (tmp_path / "path.toml").write_text(long)
    process = subprocess.Popen(
        [*COMMAND, str(file), "--processes", "--jobs", "2", "-o", str(tmp_path / "out")],
        stderr=subprocess.DEVNULL,
    )

    def children() -> list[int]:
        # A thread that makes runs has started each of them.
        files = Path(f"/proc/{process.pid}/task").glob("*/children")
        return [int(child) for file in files for child in file.read_text().split()]

    wait_until(lambda: len(children()) == 2)
    workers = children()
    process.kill()
    process.wait(timeout=60)
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in workers))


def test_intervals_of_pictures_hold_nothing_impossible():
    # 0.92, 0.96, 1: 0.96 and 4.303 x 0.04/sqrt(3) = 0.0994 to either side, more than 1. Of the
    # angle asin(sqrt(0.96)) = 1.3694 that is 0.0994/(2 sqrt(0.96 x 0.04)) = 0.2536 to either side:
    # sin(1.1158)^2 = 0.807, and beyond a right angle. 0.1 and 5: 2.55 and 12.71 x 2.45 = 31 to
    # either side, less than 0, as is that of timeouts, which are counted. Of x nothing is known.
    few = [0.1, 5.0, None]
    numbers = {"jain": [0.92, 0.96, 1.0], "goodput_mbps": few, "timeouts": few, "x": few}
    table = pl.LazyFrame({"p": [1] * 3, "point": [0] * 3, "run": [0, 1, 2], **numbers})
    jain, goodput, timeouts, difference = (picture.estimates(table, "p", y, None).row(0) for y in numbers)
    assert jain[1] == pytest.approx(0.96)
    assert jain[2:4] == (pytest.approx(0.807, abs=5e-4), 1)
    assert goodput[1:3] == timeouts[1:3] == (2.55, 0)
    assert difference[2] == pytest.approx(2.55 - 12.706 * 2.45, rel=1e-3)


def test_pictures_show_the_means_of_the_runs(
    file: Path, tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    directory = sweep(file, tmp_path / "out").directory
    table = picture.scan(tmp_path / "out")
    assert picture.averaged_over(table, ["p", "control"]) == ["buffer"]
    # The picture says it, too, for those who never saw the command.
    (panel,) = picture.draw(table, "p", "goodput_mbps", "control").axes
    assert panel.get_title(loc="left") == "averaged over buffer"
    chosen = picture.chosen(table, {"buffer": "40"})
    (panel,) = picture.draw(chosen, "p", "goodput_mbps", "control").axes
    assert panel.get_title(loc="left") == ""
    shown = picture.estimates(chosen, "p", "goodput_mbps", "control")
    rows = pl.read_parquet(directory).filter(buffer=40)
    by_hand = rows.group_by("p", "control").agg(value=pl.col("goodput_mbps").mean())
    assert_frame_equal(shown.select("p", "control", "value"), by_hand.sort("p", "control"), check_exact=False)
    assert shown["runs"].to_list() == [4] * 6
    for ending in ("png", "pdf", "svg", "html"):
        axes = ["--x", "p", "--y", "goodput", "--hue", "control"]
        done = ackclock_here("plot", tmp_path / "out", *axes, "-o", tmp_path / f"a.{ending}")
        assert done.returncode == 0
        assert "averaged over buffer" in done.stderr
        assert (tmp_path / f"a.{ending}").stat().st_size > 1000
    # The page has the same numbers, over the buffers that the command did not tell apart.
    text = (tmp_path / "a.html").read_text("utf-8")
    (data,) = re.findall(r'id="charts-data">(.*?)</script', text)
    drawn = json.loads(data)
    (chart, *_) = drawn["groups"]["sweep-0"]["charts"]
    of_page = {
        (series["name"], x): y
        for series in chart["series"]
        for x, y in zip(drawn["columns"][series["x"]], drawn["columns"][series["y"]], strict=True)
    }
    every = pl.read_parquet(directory).group_by("p", "control").agg(pl.col("goodput_mbps").mean())
    assert of_page == {(control, p): pytest.approx(value, rel=5e-6) for p, control, value in every.rows()}
    assert "Averaged over buffer" in text


def test_nothing_is_clipped_and_categories_are_not_joined() -> None:
    rows = [
        {"experiment": "a", "point": 2 * p + c, "run": run, "p": p, "control": name, "y": y}
        for p in (1, 2)
        for c, name in enumerate(("reno", "fit"))
        for run, y in enumerate((9.0, 10.0 * p, 11.0 * p))
    ]
    table = pl.DataFrame(rows).lazy()
    for x, hue, joined in (("p", "control", True), ("control", "p", False)):
        (panel,) = picture.draw(table, x, "y", hue).axes
        assert len(panel.containers) == 2
        low, high = panel.get_ylim()
        for drawn in panel.containers:
            values, _, (bars,) = drawn
            assert (values.get_linestyle() != "None") == joined
            ends = np.concatenate(bars.get_segments())[:, 1]
            # 9, 20 and 22: 17 and Student's 4.3 errors of 4.04 reach 34.4.
            assert low <= ends.min()
            assert ends.max() < high
    assert high > 34.3
    # Side by side, so that both are visible, and closer to their own category than to another.
    first, second = (container[0].get_xdata().astype(float) for container in panel.containers)
    assert np.all(first < second)
    assert np.all(np.round(first) == np.round(second))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--x", "nothing", "--y", "goodput"], "no column is named nothing"),
        (["--x", "p", "--y", "name"], "not a column of numbers: name"),
        (["--x", "p", "--y", "rtt"], "no column is named rtt: may be rtt_ms"),
        (["--x", "p", "--y", "goodput", "--where", "p=3"], "p has no value 3; it has 0.001"),
        (["--x", "p", "--y", "goodput", "-o", "a.gif"], "ends with .pdf, .png, .svg or .html"),
    ],
)
def test_a_wrong_picture_is_one_line(
    file: Path, tmp_path: Path, ackclock_here: Callable[..., Finished], arguments: list[str], message: str
) -> None:
    sweep(file, tmp_path / "out")
    done = ackclock_here("plot", tmp_path / "out", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_interrupted_sweep_says_130(file: Path, tmp_path: Path) -> None:
    (tmp_path / "path.toml").write_text(PATH.replace('"2 s"', '"100000 s"'))
    process = subprocess.Popen(
        [*COMMAND, str(file), "-o", str(tmp_path / "out")], stderr=subprocess.PIPE, text=True
    )
    wait_until((tmp_path / "out" / "experiment=loss").exists)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert process.stderr is not None
    assert process.stderr.read() == "ackclock: interrupted; run the same command to continue\n"


def test_a_constant_has_no_chart_but_a_number(tmp_path: Path) -> None:
    few = [1.0, 2.0, 3.0]
    table = pl.LazyFrame(
        {
            "p": [1, 2, 3],
            "run": [0, 0, 0],
            "goodput_mbps": [5.0, 5.0, 5.0],
            "jain": [1.0, 1.0, 1.0],
            "mean_rtt_ms": few,
            "timeouts": [0.0, 0.0, 1.0],
            "error": pl.Series([None] * 3, dtype=pl.String),
        }
    )
    page.write(tmp_path / "a.html", table, "p", "goodput_mbps", None, "ackclock plot")
    text = (tmp_path / "a.html").read_text("utf-8")
    (data,) = re.findall(r'id="charts-data">(.*?)</script', text)
    titles = [chart["title"] for chart in json.loads(data)["groups"]["sweep-0"]["charts"]]
    # What was requested is drawn, constant or not.
    assert titles == ["goodput (Mbit/s)", "mean RTT (ms)", "timeouts"]
    assert "The same everywhere: Jain's index 1." in html.unescape(text)


def test_a_reader_chooses_which_parameter_has_the_curves(tmp_path: Path) -> None:
    points = [(p, rate, rtt) for p in (1, 2) for rate in (5, 10) for rtt in (20, 40, 80)]
    table = pl.LazyFrame(
        {
            "p": [p for p, *_ in points],
            "rate": [rate for _, rate, _ in points],
            "rtt": [rtt for *_, rtt in points],
            "run": [0] * len(points),
            "goodput_mbps": [float(100 * p + rate + rtt) for p, rate, rtt in points],
            "error": pl.Series([None] * len(points), dtype=pl.String),
        }
    )
    page.write(tmp_path / "a.html", table, "p", "goodput_mbps", "rate", "ackclock plot")
    text = (tmp_path / "a.html").read_text("utf-8")
    chosen = re.findall(r'id="curves-(\d)"( checked)?> (.+?)</label>', text)
    assert chosen == [("0", " checked", "rate"), ("1", "", "rtt"), ("2", "", "nothing: the mean")]
    (data,) = re.findall(r'id="charts-data">(.*?)</script', text)
    drawn = {name: group["charts"][0]["series"] for name, group in json.loads(data)["groups"].items()}
    assert {name: [series["name"] for series in curves] for name, curves in drawn.items()} == {
        "sweep-0": ["5", "10"],
        "sweep-1": ["20", "40", "80"],
        "sweep-2": ["mean"],
    }
    # With an RTT of 40 ms the mean rate of 7.5 Mbit/s gives 100 p + 47.5.
    assert "<td>1</td><td>40</td><td>147.5</td>" in text
    assert "<td>2</td><td>247.5</td>" not in text
    # Over three RTTs, too: the mean of 20, 40 and 80 is 46.67.
    assert "<td>2</td><td>254.2</td>" in text
