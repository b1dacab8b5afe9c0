"""What is on disk is whole, or somebody is told: changed bits, emptied files, failing disks."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import ackclock_papers
from ackclock import StorageError, comparison, engine, sweep
from ackclock.engine import difference, integrity, storage
from ackclock.evaluation import earlier
from ackclock.reproduction import tried
from ackclock.runs import tasks
from ackclock.sweep import parts, picture
from ackclock.sweep.store import Store
from ackclock.sweep.workers import Done, Job, work
from conftest import BOTTLENECK, Finished
from torture import Failing, torture

PATH = f"""
[run]
duration = "500 ms"
{BOTTLENECK}
[[flow]]
controller = "reno"
rtt = "20 ms"
"""
SWEEP = """
scenario = "path.toml"
[parameters]
p = { set = "dumbbell.loss.rate", to = [0, 0.001, 0.01, 0.05] }
[runs]
count = 3
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a sweep of four points in two parts."""
    monkeypatch.setattr(sweep.store, "RUNS_PER_PART", 6)
    (tmp_path / "path.toml").write_text(PATH)
    (tmp_path / "loss.toml").write_text(SWEEP)
    return tmp_path / "loss.toml"


def _contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def _write(directory: Path, contents: dict[str, bytes]) -> None:
    for path in directory.rglob("*"):
        if path.is_file() and path.relative_to(directory).as_posix() not in contents:
            path.unlink()
    for name, content in contents.items():
        (directory / name).write_bytes(content)


def _flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def test_a_record_is_the_same_in_both_languages() -> None:
    # printf '{"slot": 3, "name": "ä"' | sha256sum begins with these digits.
    line = '{"slot": 3, "name": "ä","checksum":"79075c88eeea19d4"}\n'.encode()
    record = {"slot": 3, "name": "ä"}
    assert integrity.seal(record) == line
    assert integrity.unseal(line[:-1]) == record
    assert json.loads(line)["slot"] == 3
    # And printf '{"slot":3': as the client of campaigns writes it.
    assert integrity.unseal(b'{"slot":3,"checksum":"d92558b7f31d9c77"}') == {"slot": 3}


def test_every_changed_bit_of_a_file_of_records_is_found() -> None:
    records = [{"slot": index, "text": "a\rb\u2028c\nd"} for index in range(4)]
    whole = b"".join(map(integrity.seal, records))
    found = list(integrity.lines(whole))
    assert [line.record for line in found] == records
    assert [line.byte for line in found] == [index * len(whole) // 4 for index in range(4)]
    for bit in range(8 * len(whole)):
        known = [line.record for line in integrity.lines(_flipped(whole, bit))]
        line = bit // 8 // (len(whole) // 4)
        assert known[line] is None
        # A line that loses its line feed takes the next with it.
        taken = 2 if bit // 8 % (len(whole) // 4) == len(whole) // 4 - 1 else 1
        kept = records[:line] + records[line + taken :]
        assert [one for one in known if one is not None] == kept


def test_only_the_beginning_of_a_last_record_is_left_out() -> None:
    records = [{"slot": index} for index in range(3)]
    whole = b"".join(map(integrity.seal, records))
    for length in range(len(whole) + 1):
        known = [line.record for line in integrity.lines(whole[:length])]
        assert known == records[: whole[:length].count(b"\n")]


def _half_done(file: Path, output: Path) -> tuple[list[Done], set[str]]:
    """Leave a sweep with a whole part and a journal of another; give its runs and its files."""
    plan = sweep.read(file)
    store = Store(plan, output)
    with store.opened(force=False):
        for part, points in store.parts():
            jobs = [Job(one.index, run, one.settings) for one in points for run in range(3)]
            done, _ = work(plan.scenario, jobs)
            store.add(part, done)
            if part == 0:
                store.close(part, done)
    return done, {"plan", parts.LIST, "part-00000.parquet", "part-00001.jsonl"}


def test_a_thousand_changed_bits_are_all_found(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    output = tmp_path / "out"
    journal, names = _half_done(file, output)
    whole = {name: one for name, one in _contents(output).items() if not name.endswith(".lock")}
    assert {Path(name).name for name in whole} == names
    places = [(name, bit) for name, one in whole.items() for bit in range(8 * len(one))]
    draw = random.Random(1)  # noqa: S311
    remade = 0
    plan = sweep.read(file)
    for count, (name, bit) in enumerate(draw.choices(places, k=1000)):
        _write(output, whole | {name: _flipped(whole[name], bit)})
        store = Store(plan, output)
        with store.opened(force=False):
            missing = [part for part, _ in store.parts()]
            known = store.finished(1)
        # Said, and named.
        said = capsys.readouterr().err
        assert Path(name).name in said, (name, bit)
        # What is taken for whole is as it was; what is not will be made again.
        if missing == [1]:
            part = output / "experiment=loss/part-00000.parquet"
            assert part.read_bytes() == whole["experiment=loss/part-00000.parquet"]
        else:
            assert missing == [0, 1]
        assert all(one in journal for one in known)
        assert len(known) == 6 or name.endswith("part-00001.jsonl")
        if count % 50 == 0:
            outcome = sweep.run(file, output)
            remade += outcome.made
            assert (outcome.runs, outcome.failed) == (12, 0)
    assert remade > 0
    sweep.run(file, output)
    again = sweep.run(file, output)
    assert again.made == 0
    fresh = sweep.run(file, tmp_path / "fresh").directory
    assert _contents(again.directory) == _contents(fresh)


def test_what_another_version_wrote_is_told_and_made_again(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    _half_done(file, output)
    # With a field that this version does not know, and checksums that are right.
    for other in (output / ".sweeps" / "loss").glob("*.jsonl"):
        first, *more = list(integrity.lines(other.read_bytes()))
        assert first.record is not None
        kept = b"".join(line.content + b"\n" for line in more)
        other.write_bytes(integrity.seal({**first.record, "later": 1}) + kept)
    with pytest.raises(ValueError, match=r"is of another version of ackclock; run the sweep again"):
        picture.refuse_damaged(output)
    assert sweep.run(file, output).runs == 12
    said = capsys.readouterr().err
    assert "parts.jsonl: line 1 (byte 0) is of another version" in said
    assert "part-00001.jsonl: line 1 (byte 0) is not as it was written; its run is made" in said
    whole = sweep.run(file, tmp_path / "whole").directory
    assert _contents(output / "experiment=loss") == _contents(whole)


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


@pytest.mark.parametrize("change", [_cut, Path.unlink])
def test_a_lost_part_is_made_again(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None]
) -> None:
    dataset = sweep.run(file, tmp_path / "out").directory
    whole = _contents(dataset)
    change(dataset / "part-00001.parquet")
    with pytest.raises(ValueError, match=r"part-00001.parquet is .*; run the sweep again"):
        picture.refuse_damaged(tmp_path / "out")
    again = sweep.run(file, tmp_path / "out")
    assert (again.made, again.runs) == (6, 12)
    assert "; its 6 runs are made again" in capsys.readouterr().err
    assert _contents(dataset) == whole


def test_an_emptied_part_is_told_by_both_verbs(
    file: Path, tmp_path: Path, ackclock: Callable[..., Finished]
) -> None:
    assert ackclock("sweep", file).returncode == 0
    part = tmp_path / "results" / "experiment=loss" / "part-00000.parquet"
    whole = part.read_bytes()
    _emptied(part)
    plotted = ackclock("plot", "results", "--x", "p", "--y", "goodput")
    assert (plotted.returncode, len(plotted.stderr.splitlines())) == (2, 1)
    assert "part-00000.parquet is not as it was written; run the sweep again" in plotted.stderr
    again = ackclock("sweep", file)
    assert (again.returncode, len(again.stderr.splitlines())) == (0, 1)
    assert "; its 12 runs are made again" in again.stderr
    assert part.read_bytes() == whole


def test_what_no_sweep_wrote_is_no_result(file: Path, tmp_path: Path) -> None:
    dataset = sweep.run(file, tmp_path / "out").directory
    (dataset / "part-00077.parquet").write_bytes((dataset / "part-00000.parquet").read_bytes())
    with pytest.raises(StorageError, match=r"part-00077.parquet is not part of this sweep"):
        sweep.run(file, tmp_path / "out")


def test_a_dataset_that_is_not_the_plan_fails(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A defect of our own that writes a part without the last of its runs.
    close = Store.close
    monkeypatch.setattr(Store, "close", lambda store, part, done: close(store, part, done[:-1]))
    with pytest.raises(StorageError, match=r"holds 10 runs of 2 whole points, .* has 4 points"):
        sweep.run(file, tmp_path / "out")


def test_a_lost_sign_is_known_by_the_parts_or_refused(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep.run(file, tmp_path / "out")
    sign = tmp_path / "out" / ".sweeps" / "loss" / "plan"
    _emptied(sign)
    assert sweep.run(file, tmp_path / "out").made == 0
    assert "plan is not as it was written; its parts tell" in capsys.readouterr().err
    _emptied(sign)
    (sign.parent / parts.LIST).unlink()
    with pytest.raises(StorageError, match=r"nobody knows whose results .* --force replaces them"):
        sweep.run(file, tmp_path / "out")
    assert sweep.run(file, tmp_path / "out", force=True).made == 12
    # The sign of a version that had no checksums.
    sign.write_text("0" * 64)
    with pytest.raises(StorageError, match=r"another sweep \(other file, scenario or version\)"):
        sweep.run(file, tmp_path / "out")


def test_a_sweep_on_a_failing_disk_is_whole_or_told(
    file: Path, tmp_path: Path, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Journals are synced after every chunk.
    monkeypatch.setattr(sweep.store, "SYNC_S", 0.0)
    whole = _contents(sweep.run(file, tmp_path / "whole").directory)
    output = tmp_path / "out"

    def check() -> None:
        # What is there now is whole, or made again by the same command.
        for part in output.glob("experiment=loss/part-*.parquet"):
            assert part.read_bytes() == whole[part.name]
        outcome = sweep.run(file, output, jobs=1)
        assert _contents(outcome.directory) == whole
        assert sweep.run(file, output, jobs=1).made == 0

    steps = torture(failing, output, lambda: sweep.run(file, output, jobs=1), check)
    # At least: the sign with its two syncs and its name, and the same for both parts, their notes
    # and their journals.
    assert steps > 4 + 2 * (4 + 2 + 3)


def test_a_kept_run_on_a_failing_disk_is_whole_or_told(file: Path, tmp_path: Path, failing: Failing) -> None:
    output = tmp_path / "out"
    (task,) = tasks.Task.all_of(tasks.Case(file.parent / "path.toml"))
    expected = tasks.run(task).summary

    def check() -> None:
        assert tasks.run(task, cache=output).summary == expected

    assert torture(failing, output, lambda: tasks.run(task, cache=output), check) > 7


def _cached(tmp_path: Path) -> tuple[tasks.Task, Path, Path]:
    (tmp_path / "path.toml").write_text(PATH)
    (task,) = tasks.Task.all_of(tasks.Case(tmp_path / "path.toml"))
    cache = tmp_path / "cache"
    tasks.run(task, cache=cache)
    return task, cache, task.place(cache)


def test_a_kept_run_that_was_changed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """ACKCLOCK_FLIPS changed bits, and each file emptied."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    task, cache, place = _cached(tmp_path)
    whole = _contents(place)
    expected = tasks.run(task, cache=cache)
    assert capsys.readouterr().err == ""
    draw = random.Random(2)  # noqa: S311
    places = [(name, bit) for name, one in whole.items() for bit in range(8 * len(one))]
    flips = draw.choices(places, k=int(os.environ.get("ACKCLOCK_FLIPS", "100")))
    changes = [(name, _flipped(whole[name], bit)) for name, bit in flips]
    for name, content in changes + [(name, b"") for name in whole]:
        (place / name).write_bytes(content)
        again = tasks.run(task, cache=cache)
        said = capsys.readouterr().err
        assert "the run is made again" in said, name
        assert len(said.splitlines()) == 1
        assert again.summary == expected.summary
        assert again.windows.equals(expected.windows)
        assert _contents(place) == whole


def test_a_kept_run_without_checksums_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task, cache, place = _cached(tmp_path)
    whole = _contents(place)
    expected = tasks.run(task).summary["flows"][0]["goodput_mbps"]
    summary = place / "summary.json"
    for text in (summary.read_text().replace('"jain": ', '"jain": 1'), ""):
        (place / integrity.CHECKSUMS).unlink()
        summary.write_text(text)
        again = tasks.run(task, cache=cache)
        assert again.summary["flows"][0]["goodput_mbps"] == expected
        assert "checksums.json is missing" in capsys.readouterr().err
        assert _contents(place) == whole


SCENARIO = """
[run]
duration = "2 s"
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "20 packets" }
[[flow]]
controller = "reno"
rtt = "40 ms"
"""


def _made(kind: str, folder: Path, run: Callable[..., Finished]) -> Path:
    """Make a result of a kind, and return its directory."""
    (folder / "path.toml").write_text(SCENARIO)
    if kind == "simulate":
        run("simulate", "path.toml", "-o", "out", "--quiet")
    elif kind == "runs":
        run("simulate", "path.toml", "--runs", 2, "-o", "out", "--quiet", "--csv")
    elif kind == "evaluate":
        run("evaluate", "reno", "--only", "iot", "-o", ".")
        return folder / "evaluation=reno"
    elif kind == "inferred":
        shutil.copytree(Path(ackclock_papers.__file__).parent / "fit" / "inferred", folder / "out")
    else:
        run(
            "compare",
            "reno",
            "--rate",
            "5mbit",
            "--rtt",
            "20ms",
            "--duration",
            "2s",
            "--runs",
            1,
            "-o",
            "out",
        )
    return folder / "out"


def _used(kind: str, place: Path) -> None:
    """Read a result as those do who use it."""
    if kind == "simulate":
        difference.diff(place, place)
    elif kind == "runs":
        difference.diff(place, place)
        engine.Run.read(max(place.glob("run-*")))
    elif kind == "inferred":
        tried.setting_of(place)
        tried.read(place)
    elif kind == "evaluate" and earlier.read(place) is None:
        raise integrity.DamagedError("it is told, and not used")


@pytest.mark.parametrize("kind", ["simulate", "runs", "evaluate", "inferred", "compare"])
def test_a_changed_result_of_any_verb_is_told_in_one_line(
    kind: str, tmp_path: Path, ackclock_here: Callable[..., Finished], capsys: pytest.CaptureFixture[str]
) -> None:
    """ACKCLOCK_FLIPS changed bits, each file emptied, cut, and gone."""
    place = _made(kind, tmp_path, ackclock_here)
    assert ackclock_here("verify", place).returncode == 0
    # Kept runs have a test of their own.
    whole = {name: one for name, one in _contents(place).items() if not name.startswith((".", "lab."))}
    draw = random.Random(4)  # noqa: S311
    places = [(name, bit) for name, one in whole.items() for bit in range(8 * len(one))]
    flips = draw.choices(places, k=int(os.environ.get("ACKCLOCK_FLIPS", "40")))
    changes: list[tuple[str, bytes | None]] = [(name, _flipped(whole[name], bit)) for name, bit in flips]
    for name, content in whole.items():
        changes += [(name, content[: len(content) // 2]), (name, b""), (name, None)]
    for name, content in changes:
        if content is None:
            (place / name).unlink()
        else:
            (place / name).write_bytes(content)
        if kind != "compare":
            capsys.readouterr()
            with pytest.raises(integrity.DamagedError) as damaged:
                _used(kind, place)
            assert "\n" not in str(damaged.value)
        told = ackclock_here("verify", place)
        if kind == "runs" and name == integrity.CHECKSUMS and content is None:
            # Each run has its own.
            assert told.returncode == 0
        else:
            assert told.returncode == 1, name
            assert name in told.stdout
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(whole[name])
    _used(kind, place)
    assert ackclock_here("verify", place).returncode == 0


def test_verify_knows_records_sweeps_and_what_is_nobodys(
    tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    (tmp_path / "path.toml").write_text(SCENARIO)
    (tmp_path / "s.toml").write_text('scenario = "path.toml"\n[runs]\ncount = 3\n')
    ackclock_here("sweep", "s.toml", "-o", "out")
    ackclock_here("simulate", "path.toml", "-o", "out/run", "--quiet")
    (tmp_path / "out" / "run" / "notes.txt").write_text("mine")
    told = ackclock_here("verify", "out")
    assert told.returncode == 0
    assert "out/run: notes.txt: not part of the result" in told.stdout
    part = next((tmp_path / "out").glob("experiment=s/part-*.parquet"))
    content = part.read_bytes()
    part.write_bytes(_flipped(content, 1000))
    told = ackclock_here("verify", "out")
    assert (told.returncode, part.name in told.stdout) == (1, True)
    part.write_bytes(content)
    # A copy without what its sweep noted: nobody can tell.
    shutil.copytree(tmp_path / "out" / "experiment=s", tmp_path / "copy" / "experiment=s")
    told = ackclock_here("verify", "copy")
    assert (told.returncode, "nobody can tell" in told.stdout) == (1, True)
    records = json.loads(ackclock_here("verify", "copy", "--json").stdout)
    assert [one["kind"] for one in records] == ["sweep"]
    (tmp_path / "empty").mkdir()
    told = ackclock_here("verify", "empty")
    assert (told.returncode, "holds no result" in told.stderr) == (2, True)


def test_a_comparison_uses_no_run_that_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = comparison.Setting(5.0, 20.0, 20, 0.001, 2.0, 1)
    first = comparison.compare(setting, ["reno"], cache=tmp_path)
    for file in tmp_path.rglob("summary.json"):
        file.write_text(file.read_text().replace('"jain": ', '"jain": 1'))
    second = comparison.compare(setting, ["reno"], cache=tmp_path)
    assert second.table.equals(first.table)
    assert "summary.json is not as it was written" in capsys.readouterr().err


def test_results_are_synced_before_and_after_they_get_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[tuple[str, str]] = []
    fsync, replace, rename = os.fsync, os.replace, os.rename

    def synced(opened: int) -> None:
        log.append(("sync", Path(f"/proc/self/fd/{opened}").readlink().name))
        fsync(opened)

    def named(real: Callable[..., None]) -> Callable[..., None]:
        def call(source: Path, goal: Path) -> None:
            log.append(("name", Path(goal).name))
            real(source, goal)

        return call

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", named(replace))
    monkeypatch.setattr(os, "rename", named(rename))
    with storage.new_file(tmp_path / "table") as path:
        path.write_text("whole")
    # A draft gets its own name when it is locked.
    assert [kind for kind, _ in log] == ["name", "sync", "name", "sync"]
    assert all(name.startswith(".table.") for _, name in log[:2])
    assert log[2:] == [("name", "table"), ("sync", tmp_path.name)]
    log.clear()
    with storage.new_directory(tmp_path / "result", force=False, is_result=lambda _: True) as directory:
        (directory / "inner").mkdir()
        (directory / "inner" / "table").write_text("whole")
    assert sorted(name.split(".")[0] or "itself" for _, name in log[1:5]) == [
        "checksums",
        "inner",
        "itself",
        "table",
    ]
    assert log[5:] == [("name", "result"), ("sync", tmp_path.name)]


def test_a_file_that_is_no_parquet_is_one_line(tmp_path: Path) -> None:
    home = tmp_path / "experiment=x"
    home.mkdir()
    (home / "part-00000.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"part-00000.parquet is no Parquet file") as caught:
        picture.refuse_damaged(tmp_path)
    assert "\n" not in str(caught.value)
    pl.DataFrame({"p": [1.0]}).write_parquet(home / "part-00000.parquet")
    picture.refuse_damaged(tmp_path)
