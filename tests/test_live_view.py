"""The live view: whole whenever it is read, true about what is done, and quiet when that ends."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ackclock import StorageError, sweep, sweeps
from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.runs import live, progress
from ackclock.runs.live import InterimResults, Live
from ackclock.sweeps import exports, page
from conftest import BOTTLENECK, COMMAND, Finished, wait_until

PATH = f"""
[run]
duration = "2 s"
{BOTTLENECK}
[[flow]]
controller = "reno"
rtt = "20 ms"
"""
SWEEP = """
scenario = "path.toml"
[parameters]
control = { set = "flow.*.controller", to = ["reno", "fit"] }
p = { set = "dumbbell.loss.rate", to = [0.001, 0.01, 0.05] }
buffer = { set = "dumbbell.queue.limit", unit = "packets", to = [10, 40] }
[runs]
count = 4
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "path.toml").write_text(PATH)
    (tmp_path / "loss.toml").write_text(SWEEP)
    return tmp_path / "loss.toml"


def counts(text: str) -> dict[str, str]:
    return dict(re.findall(r'<b data-count="(\w+)">([^<]*)</b>', text))


def state(text: str) -> str:
    (state,) = re.findall(r'<main data-state="(\w+)"', text)
    return str(state)


def table(text: str) -> list[list[str]]:
    """Read the rows written so far."""
    rows = re.findall(r"<tr>(<td.*?)</tr>", text, re.DOTALL)
    return [[unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


def charts_of(text: str) -> Any:
    (content,) = re.findall(r'id="charts-data">(.*?)</script', text, re.DOTALL)
    return json.loads(content)


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "EVERY_S", 0.01)
    monkeypatch.setattr(live, "LARGEST_SHARE", 1e9)


def test_it_counts_what_is_done_failed_and_waiting(tmp_path: Path) -> None:
    place = tmp_path / "work.live.html"
    with Live(place, "some work") as seen:
        # 10 are planned, of which 3 are kept already and one need not be made: 6 are left. 4 of
        # them are made, one in vain.
        with progress.Count(10, "runs", shown=False, live=seen) as bar:
            bar.advance(left_out=4)
            bar.advance(3)
            bar.advance(1, failed=1)
        seen._write("running")
        counted = counts(place.read_text("utf-8"))
        # On a busy machine there is an estimate of the time left, too.
        counted.pop("left", None)
        assert counted == {"done": "4", "failed": "1", "waiting": "2"}
        # Another round: 5 more, after the 4.
        with progress.Count(5, "runs", shown=False, live=seen):
            pass
        seen._write("running")
        assert counts(place.read_text("utf-8"))["waiting"] == "5"


def test_the_time_left_follows_from_the_speed_of_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 1000.0
    monkeypatch.setattr(live.time, "monotonic", lambda: now_s)
    seen = Live(tmp_path / "a.html", "work")
    # 50 of 1000 are kept from before; then 10 a second: after 20 s 250, and 750 are 75 s.
    assert seen._left_s(50.0, 1000.0) is None
    for _ in range(4):
        now_s += 5.0
        left_s = seen._left_s(50.0 + 10.0 * (now_s - 1000.0), 1000.0)
    assert left_s == pytest.approx(75.0)
    # From here on 2 a second: when the first speed is longer ago than a minute it does not count.
    for _ in range(14):
        now_s += 5.0
        left_s = seen._left_s(250.0 + 2.0 * (now_s - 1020.0), 1000.0)
    # 390 are done after 70 s; 610 more take 305 s.
    assert left_s == pytest.approx(305.0)


def test_how_it_ended_is_said_and_then_the_page_rests(tmp_path: Path) -> None:
    place = tmp_path / "a.live.html"
    with Live(place, "work", tmp_path / "experiment=a & b", "ackclock sweep a.toml --live") as seen:
        text = place.read_text("utf-8")
        assert state(text) == "running"
        assert text.count("location.reload()") == 1
        seen.shows(lambda: InterimResults(heads=("error",), rows=[("</script><b>",)]))
    text = place.read_text("utf-8")
    assert state(text) == "finished"
    assert "<script" not in text
    assert "refresh" not in text
    assert 'href="experiment%3Da%20%26%20b"' in text
    assert table(text) == [["</script><b>"]]
    with pytest.raises(KeyboardInterrupt), Live(place, "work", command="ackclock x"):
        raise KeyboardInterrupt
    text = place.read_text("utf-8")
    assert (state(text), "location.reload" in text) == ("interrupted", False)
    assert '<code class="command">ackclock x</code>' in text
    with pytest.raises(ValueError, match="no room"), Live(place, "work"):
        raise ValueError("no room\nat all")
    text = place.read_text("utf-8")
    assert (state(text), "location.reload" in text) == ("failed", False)
    assert "Ended by an error:</b> no room at all" in text


def test_it_is_whole_whenever_somebody_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    place = tmp_path / "a.live.html"
    stamps = set()
    curve = Series("one", 0, range(2000), range(2000))
    chart = Chart("a", "a", Axis("x"), Axis("y"), [curve])
    with Live(place, "work") as seen:
        seen.shows(lambda: InterimResults({"chart": Group([chart])}))
        while len(stamps) < 20:
            text = place.read_text("utf-8")
            assert text.startswith("<!doctype html>")
            assert text.endswith("</html>")
            stamps.update(re.findall(r'data-stamp="([^"]+)"', text))
    assert sorted(path.name for path in tmp_path.iterdir()) == [place.name, f"{place.name}.sha256"]


def becomes_a_directory(place: Path) -> bool:
    """Whether `place` could be replaced before the page was written once more."""
    place.unlink(missing_ok=True)
    with contextlib.suppress(FileExistsError):
        place.mkdir()
    return place.is_dir()


def test_work_goes_on_when_the_page_cannot_be_written_or_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot write"), Live(tmp_path / "file" / "a.html"):
        pass
    quick(monkeypatch)
    asked = threading.Event()

    def wrong() -> InterimResults:
        asked.set()
        raise KeyError("gone")

    place = tmp_path / "home" / "a.html"
    with Live(place, "work") as seen:
        seen.shows(wrong)
        assert asked.wait(60)
        wait_until(lambda: "cannot be shown (KeyError: &#39;gone&#39;)" in place.read_text("utf-8"))
        wait_until(lambda: becomes_a_directory(place))
        seen._write_if_possible("running")
        seen._write_if_possible("running")
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if "no live view" in line] == [
        f"ackclock: no live view: {place} is a directory; choose a file name"
    ]


def test_a_sweep_shows_the_means_of_what_there_is(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(monkeypatch)
    # Three parts of four points, each of which becomes a file while the page is made.
    monkeypatch.setattr(exports, "RUNS_PER_PART", 16)
    place = tmp_path / "out" / "experiment=loss.live.html"
    ask, notes = Live._ask, []

    def noted(seen: Live) -> InterimResults:
        shown = ask(seen)
        notes.append(shown.note)
        return shown

    monkeypatch.setattr(Live, "_ask", noted)
    with Live(place, "sweep loss") as seen:
        outcome = sweep(file, tmp_path / "out", live=seen)
    assert not [note for note in notes if "cannot be shown" in note]
    text = place.read_text("utf-8")
    # 2 x 3 x 2 points with 4 runs each.
    assert counts(text) == {"done": "48", "failed": "0", "waiting": "0"}
    assert "averaged over buffer." in text
    document = charts_of(text)
    ((chart,),) = [group["charts"] for group in document["groups"].values()]
    drawn = {
        (record["name"], x): y
        for record in chart["series"]
        for x, y in zip(document["columns"][record["x"]], document["columns"][record["y"]], strict=True)
    }
    # One flow per run, and the same number of runs of each buffer: the mean of the rows.
    rows = pl.read_parquet(outcome.directory / "*.parquet")
    by_hand = rows.group_by("control", "p").agg(pl.col("goodput_mbps").mean())
    assert drawn == {(control, p): pytest.approx(value, rel=5e-6) for control, p, value in by_hand.rows()}


def test_half_a_sweep_has_the_chart_of_its_half(file: Path, tmp_path: Path) -> None:
    plan = sweeps.read(file)
    rows = pl.read_parquet(sweep(plan, tmp_path / "out").directory / "*.parquet")
    # The rows after the first two runs of the first half of the points.
    some = rows.filter(pl.col("point") < 6, pl.col("run") < 2)
    shown = page.so_far(plan, some.lazy())
    ((chart,),) = [group.charts for group in shown.charts.values()]
    assert [series.name for series in chart.series] == ["reno"]
    by_hand = some.group_by("p").agg(pl.col("goodput_mbps").mean()).sort("p")
    assert list(chart.series[0].y) == pytest.approx(by_hand["goodput_mbps"].to_list())
    # Of nothing there is a chart without a curve.
    (nothing,) = page.so_far(plan, some.filter(point=99).lazy()).charts.values()
    assert not nothing.charts[0].series


def test_the_usual_page_shows_numbers_along_and_names_as_curves(file: Path) -> None:
    assert page.usual(sweeps.read(file)) == ("p", "goodput_mbps", "control")
    text = SWEEP.replace("count = 4", 'within = 0.1\nmetric = "mean_window"')
    file.write_text(re.sub("(?m)^(p|control) = .*\n", "", text))
    assert page.usual(sweeps.read(file)) == ("buffer", "mean_window", None)
    file.write_text('scenario = "path.toml"\n')
    assert page.usual(sweeps.read(file)) == ("point", "goodput_mbps", None)


def test_a_killed_sweep_leaves_a_page_that_is_old(file: Path, tmp_path: Path) -> None:
    endless = '[runs]\ncount = 100000\n[parameters]\np = { set = "flow.0.rtt", to = ["20 ms"] }'
    file.write_text(f'scenario = "path.toml"\n{endless}')
    place = tmp_path / "out" / "experiment=loss.live.html"
    process = subprocess.Popen(
        [*COMMAND, "sweep", str(file), "--live", "-o", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: place.exists() and int(counts(place.read_text("utf-8"))["done"]) > 0)
    process.send_signal(signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert f"ackclock: live view: {place}" in said
    text = place.read_text("utf-8")
    # Nobody could say that it has ended: a browser tells it by this stamp.
    assert state(text) == "running"
    (stamp,) = re.findall(r'data-stamp="([^"]+)"', text)
    assert float(stamp) <= os.stat(place).st_mtime + 1  # noqa: PTH116
    assert '<p class="failed note" id="silent" hidden>' in text
    command = f"ackclock sweep {file} --live -o {tmp_path / 'out'}"
    assert f'<code class="command">{command}</code>' in text


def test_one_step_from_the_sweep_to_its_page(file: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "sweep", str(file), "--page", "--live", "--json", "-o", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    whole = tmp_path / "experiment=loss.html"
    assert json.loads(done.stdout)["page"] == str(whole)
    document = charts_of(whole.read_text("utf-8"))
    assert document["groups"]["sweep-0"]["charts"][0]["key"] == "goodput_mbps"
    assert len(whole.read_bytes()) < 1_500_000
    seen = (tmp_path / "experiment=loss.live.html").read_text("utf-8")
    assert (state(seen), 'href="experiment%3Dloss.html"' in seen) == ("finished", True)
    # The page is not part of the dataset.
    assert pl.read_parquet(tmp_path / "*/*.parquet").height == 48


def test_a_reproduction_shows_its_newest_figures(
    ackclock_here: Callable[..., Finished], tmp_path: Path
) -> None:
    done = ackclock_here("reproduce", "fit/figure-2", "fit/figure-3", "--quick", "--live", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "reproduction.live.html").read_text("utf-8")
    assert state(text) == "finished"
    assert 'href="index.html"' in text
    rows = {row[0]: row[2] for row in table(text)}
    assert set(rows) == {"fit/figure-2", "fit/figure-3"}
    for name, held in rows.items():
        record = json.loads((tmp_path / name / "artefact.json").read_text("utf-8"))
        claims = record["claims"]
        assert held == f"{sum(claim['holds'] for claim in claims)} of {len(claims)}"
    refused = ackclock_here("reproduce", "fit", "--infer", "--live")
    assert refused.returncode == 2
    assert "--live cannot be combined with --infer" in refused.stderr
