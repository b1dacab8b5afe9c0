"""Data on disk is complete or reported as damaged: changed bits, emptied files, failing disks."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import ackclock_papers
from ackclock import StorageError, comparison, differences, engine, sweep, sweeps
from ackclock.engine import build, disk, integrity, storage
from ackclock.reproduction.trials import tried
from ackclock.runs import Case, Job, Store, each, recorded
from ackclock.sweeps import exports, picture
from ackclock.sweeps.exports import Exports
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
    """Return a sweep of four points in two parts."""
    monkeypatch.setattr(exports, "RUNS_PER_PART", 6)
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
    lines = list(integrity.lines(whole))
    assert [line.record for line in lines] == records
    assert [line.byte for line in lines] == [index * len(whole) // 4 for index in range(4)]
    for bit in range(8 * len(whole)):
        known = [line.record for line in integrity.lines(_flipped(whole, bit))]
        line = bit // 8 // (len(whole) // 4)
        assert known[line] is None
        # A line that loses its line feed takes the next with it.
        taken = 2 if bit // 8 % (len(whole) // 4) == len(whole) // 4 - 1 else 1
        kept = records[:line] + records[line + taken :]
        assert [record for record in known if record is not None] == kept


def test_only_the_beginning_of_a_last_record_is_left_out() -> None:
    records = [{"slot": index} for index in range(3)]
    whole = b"".join(map(integrity.seal, records))
    for length in range(len(whole) + 1):
        known = [line.record for line in integrity.lines(whole[:length])]
        assert known == records[: whole[:length].count(b"\n")]


def test_a_thousand_changed_bits_of_a_sweep_are_harmless_or_told(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers that are accepted are unchanged; all others are reported and computed again."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    output = tmp_path / "out"
    outcome = sweep(file, output)
    with Store(output / ".cache").opened() as store:
        answers = _rows(store)
    # The plan, which has checksums of its own, is written again by every run.
    whole = {name: content for name, content in _contents(output).items() if not name.startswith("_plan-")}
    parts = {f"experiment=loss/part-0000{number}.parquet" for number in range(2)}
    assert set(whole) == parts | {".cache/runs.sqlite", ".cache/runs.sqlite.sha256"}
    places = [(name, bit) for name, content in whole.items() for bit in range(8 * len(content))]
    draw = random.Random(1)  # noqa: S311
    plan = sweeps.read(file)
    silent = 0
    for count, (name, bit) in enumerate(draw.choices(places, k=1000)):
        _write(output, whole | {name: _flipped(whole[name], bit)})
        with Store(output / ".cache").opened() as store:
            kept = _rows(store)
            claimed = Exports(plan, output, store)
            claimed.claim(force=False)
            missing = [part for part, _ in claimed.parts()]
        said = capsys.readouterr().err
        # No row is believed that was changed.
        assert kept.items() <= answers.items()
        if name.endswith(".parquet"):
            assert missing == [int(name[-9])], (name, bit)
            assert Path(name).name in said
        elif kept == answers and missing == []:
            # A bit that no row has, such as of free space in a page.
            silent += not said
        else:
            assert "runs.sqlite" in said, (name, bit)
        if count % 50 == 0:
            again = sweep(file, output)
            assert (again.runs, again.failed) == (12, 0)
            assert again.made <= 12 - len(kept)
            assert {name: (output / name).read_bytes() for name in parts} == {
                name: whole[name] for name in parts
            }
            capsys.readouterr()
    assert 0 < silent < 1000
    _write(output, whole)
    fresh = sweep(file, tmp_path / "fresh").directory
    assert _contents(outcome.directory) == _contents(fresh)


def _rows(store: Store) -> dict[object, object]:
    """Return the answers in a store by their keys."""
    return dict(store._execute("SELECT name, content FROM rows WHERE kind = 'answer'"))


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


@pytest.mark.parametrize("change", [_cut, Path.unlink])
def test_a_lost_part_is_written_again(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None]
) -> None:
    dataset = sweep(file, tmp_path / "out").directory
    whole = _contents(dataset)
    change(dataset / "part-00001.parquet")
    with pytest.raises(ValueError, match=r"part-00001.parquet (was|is) .*; run the sweep again"):
        picture.refuse_damaged(tmp_path / "out")
    # The store has its runs: nothing is simulated again.
    again = sweep(file, tmp_path / "out")
    assert (again.made, again.runs) == (0, 12)
    assert "part-00001.parquet" in (said := capsys.readouterr().err)
    assert "; it is written again" in said
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
    assert "part-00000.parquet was changed or damaged; run the sweep again" in plotted.stderr
    again = ackclock("sweep", file)
    assert (again.returncode, len(again.stderr.splitlines())) == (0, 1)
    assert "; it is written again" in again.stderr
    assert part.read_bytes() == whole


def test_what_no_sweep_wrote_is_no_result(file: Path, tmp_path: Path) -> None:
    dataset = sweep(file, tmp_path / "out").directory
    (dataset / "part-00077.parquet").write_bytes((dataset / "part-00000.parquet").read_bytes())
    with pytest.raises(StorageError, match=r"part-00077.parquet is not part of this sweep"):
        sweep(file, tmp_path / "out")


def test_a_dataset_that_is_not_the_plan_fails(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A defect of our own that writes a part without the last of its runs.
    write = Exports.write
    monkeypatch.setattr(Exports, "write", lambda exports, part, done: write(exports, part, done[:-1]))
    with pytest.raises(StorageError, match=r"holds 10 runs of 2 complete points, .* has 4 points"):
        sweep(file, tmp_path / "out")


def test_a_lost_store_is_told_and_its_files_are_nobodys(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(file, tmp_path / "out")
    database = tmp_path / "out" / ".cache" / "runs.sqlite"
    with Store(database.parent).opened() as store:
        store._execute("DELETE FROM rows WHERE name = 'sweep/loss'")
    # The parts tell that they are of this sweep.
    assert sweep(file, tmp_path / "out").made == 0
    database.write_bytes(b"")
    with pytest.raises(StorageError, match=r"holds another sweep .* --force replaces it"):
        sweep(file, tmp_path / "out")
    database.write_bytes(b"SQLite it is not" * 1000)
    with pytest.raises(StorageError, match=r"holds another sweep .* --force replaces it"):
        sweep(file, tmp_path / "out")
    assert "0 rows are kept" in capsys.readouterr().err
    assert sweep(file, tmp_path / "out", force=True).made == 12


def test_a_sweep_on_a_failing_disk_is_whole_or_told(
    file: Path, tmp_path: Path, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every answer is a transaction, and every statement of SQLite fails once, too.
    monkeypatch.setattr("ackclock.runs.store.COMMIT_S", 0.0)
    failing.databases(monkeypatch)
    whole = _contents(sweep(file, tmp_path / "whole").directory)
    output = tmp_path / "out"

    def check() -> None:
        # Every part on disk is whole, or the same command makes it again.
        for part in output.glob("experiment=loss/part-*.parquet"):
            assert part.read_bytes() == whole[part.name]
        outcome = sweep(file, output, jobs=1)
        assert _contents(outcome.directory) == whole
        assert sweep(file, output, jobs=1).made == 0

    steps = torture(failing, output, lambda: sweep(file, output, jobs=1), check)
    # At least: the files of each part with their syncs and names, and twelve answers, each with the
    # beginning, the row and the end of a transaction.
    assert steps > 2 * 4 + 12 * 3


def test_a_full_disk_is_one_line_and_loses_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    file.write_text(SWEEP.replace("count = 3", "count = 600"))
    program = (
        "import resource, sys; from ackclock.cli import main; from ackclock.runs import progress, store; "
        # Every answer is a transaction, however fast they arrive, and no line says how long it takes, as on a
        # busy machine.
        "store.COMMIT_S = 0.0; progress.LINE_EVERY_S = progress.LONG_S = float('inf'); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop()),) * 2); main.main()"
    )
    command = [sys.executable, "-c", program, "sweep", str(file), "-o", str(tmp_path / "out")]
    done = subprocess.run([*command, "200000"], capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert "cannot write" in done.stderr
    with Store(tmp_path / "out" / ".cache").read_only() as store:
        kept = len(_rows(store))
    again = sweep(file, tmp_path / "out")
    assert 0 < kept < 2400
    assert (again.runs, again.made) == (2400, 2400 - kept)
    whole = sweep(file, tmp_path / "whole").directory
    assert _contents(again.directory) == _contents(whole)


def _run(job: Job, cache: Path) -> engine.Run:
    """Make a run, or read the stored run."""
    runs: list[engine.Run] = []
    with Store(cache).opened() as store:
        for _, answer in each([job], lambda _, run: runs.append(run), store=store):
            if answer.error:
                raise answer.failure()
    return runs[0]


def test_a_kept_run_on_a_failing_disk_is_whole_or_told(
    file: Path, tmp_path: Path, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing.databases(monkeypatch)
    output = tmp_path / "out"
    (job,) = Case(file.parent / "path.toml").jobs()
    expected = engine.simulate(job.scenario).summary

    def check() -> None:
        assert _run(job, output).summary == expected

    assert torture(failing, output, lambda: _run(job, output), check) > 7


def _cached(tmp_path: Path) -> tuple[Job, Path, Path]:
    (tmp_path / "path.toml").write_text(PATH)
    (job,) = Case(tmp_path / "path.toml").jobs()
    cache = tmp_path / "cache"
    _run(job, cache)
    return job, cache, recorded.directory_of(cache, job)


def test_a_kept_run_that_was_changed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """ACKCLOCK_FLIPS changed bits, and each file emptied."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    job, cache, place = _cached(tmp_path)
    whole = _contents(place)
    expected = _run(job, cache)
    assert capsys.readouterr().err == ""
    draw = random.Random(2)  # noqa: S311
    places = [(name, bit) for name, content in whole.items() for bit in range(8 * len(content))]
    flips = draw.choices(places, k=int(os.environ.get("ACKCLOCK_FLIPS", "100")))
    changes = [(name, _flipped(whole[name], bit)) for name, bit in flips]
    for name, content in changes + [(name, b"") for name in whole]:
        (place / name).write_bytes(content)
        again = _run(job, cache)
        said = capsys.readouterr().err
        assert "the run is repeated" in said, name
        assert len(said.splitlines()) == 1
        assert again.summary == expected.summary
        assert again.windows.equals(expected.windows)
        assert _contents(place) == whole


def test_a_kept_run_that_another_wrote_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once without checksums, and once with checksums that match their files but not the store."""
    job, cache, place = _cached(tmp_path)
    whole = _contents(place)
    expected = engine.simulate(job.scenario).summary["flows"][0]["goodput_mbps"]
    summary = place / "summary.json"
    changed = summary.read_text().replace('"jain": ', '"jain": 1')
    for text, seal, problem in (
        (changed, False, "checksums.json is missing"),
        ("", False, "checksums.json is missing"),
        (changed, True, "checksums.json was changed or damaged"),
    ):
        (place / integrity.CHECKSUMS).unlink()
        summary.write_text(text)
        if seal:
            integrity.seal_directory(place)
        again = _run(job, cache)
        assert again.summary["flows"][0]["goodput_mbps"] == expected
        assert problem in capsys.readouterr().err
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
    """Read a result as its users do."""
    if kind in ("simulate", "compare"):
        differences.diff(place, place)
    elif kind == "runs":
        differences.diff(place, place)
        engine.Run.read(max(place.glob("run-*")))
    elif kind == "inferred":
        tried.setting_of(place)
        tried.read(place)


def every_change_is_told(place: Path, run: Callable[..., Finished], use: Callable[[], object] | None) -> None:
    """Change ACKCLOCK_FLIPS bits of a result, and empty, cut and remove each file: every change is reported.

    `use` reads the result as those do who use it.
    """
    assert run("verify", place).returncode == 0
    # Kept runs have a test of their own.
    whole = {
        name: content for name, content in _contents(place).items() if not name.startswith((".", "lab."))
    }
    draw = random.Random(4)  # noqa: S311
    places = [(name, bit) for name, content in whole.items() for bit in range(8 * len(content))]
    flips = draw.choices(places, k=int(os.environ.get("ACKCLOCK_FLIPS", "40")))
    changes: list[tuple[str, bytes | None]] = [(name, _flipped(whole[name], bit)) for name, bit in flips]
    for name, content in whole.items():
        changes += [(name, content[: len(content) // 2]), (name, b""), (name, None)]
    for name, content in changes:
        if content is None:
            (place / name).unlink()
        else:
            (place / name).write_bytes(content)
        # Each of several runs has checksums of its own, which are enough to read it.
        if use is not None and (content is not None or name != integrity.CHECKSUMS):
            with pytest.raises(integrity.DamagedError) as damaged:
                use()
            assert "\n" not in str(damaged.value)
        verified = run("verify", place)
        assert verified.returncode == 1, name
        assert name in verified.stdout
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(whole[name])
    if use is not None:
        use()
    assert run("verify", place).returncode == 0


@pytest.mark.parametrize("kind", ["simulate", "runs", "inferred", "compare"])
def test_a_changed_result_of_any_verb_is_told_in_one_line(
    kind: str, tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    place = _made(kind, tmp_path, ackclock_here)
    every_change_is_told(place, ackclock_here, lambda: _used(kind, place))


def test_verify_knows_records_sweeps_and_what_is_nobodys(
    tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    (tmp_path / "path.toml").write_text(SCENARIO)
    (tmp_path / "s.toml").write_text('scenario = "path.toml"\n[runs]\ncount = 3\n')
    ackclock_here("sweep", "s.toml", "-o", "out")
    ackclock_here("simulate", "path.toml", "-o", "out/run", "--quiet")
    (tmp_path / "out" / "run" / "notes.txt").write_text("mine")
    verified = ackclock_here("verify", "out")
    assert verified.returncode == 0
    assert "out/run: notes.txt: not part of the result" in verified.stdout
    part = next((tmp_path / "out").glob("experiment=s/part-*.parquet"))
    content = part.read_bytes()
    part.write_bytes(_flipped(content, 1000))
    verified = ackclock_here("verify", "out")
    assert (verified.returncode, part.name in verified.stdout) == (1, True)
    part.write_bytes(content)
    # A copy without the notes of its sweep: each part has its own checksum.
    shutil.copytree(tmp_path / "out" / "experiment=s", tmp_path / "copy" / "experiment=s")
    assert ackclock_here("verify", "copy").returncode == 0
    copied = tmp_path / "copy" / "experiment=s" / part.name
    draw = random.Random(5)  # noqa: S311
    for bit in [draw.randrange(8 * len(content)) for _ in range(50)]:
        copied.write_bytes(_flipped(content, bit))
        assert ackclock_here("verify", "copy").returncode == 1
        plotted = ackclock_here("plot", "copy", "--x", "run", "--y", "goodput", "-o", "a.png")
        # A changed key of the checksum is one that another program may have left out.
        assert plotted.returncode == 2 or "has no checksum, or was changed" in plotted.stderr
    pl.read_parquet(part).write_parquet(copied)
    verified = ackclock_here("verify", "copy")
    assert (verified.returncode, "has no checksum" in verified.stdout) == (1, True)
    records = json.loads(ackclock_here("verify", "copy", "--json").stdout)
    assert [record["kind"] for record in records] == ["sweep"]
    (tmp_path / "empty").mkdir()
    verified = ackclock_here("verify", "empty")
    assert (verified.returncode, "holds no result" in verified.stderr) == (2, True)


def test_a_comparison_uses_no_run_that_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.Path(5.0, 20.0, queue_packets=20, link={"loss": {"kind": "bernoulli", "rate": 0.001}})
    setting = comparison.PathSetup(path, duration_s=2.0, runs=1)
    first = comparison.compare(setting, ["reno"], cache=tmp_path)
    for file in tmp_path.rglob("summary.json"):
        file.write_text(file.read_text().replace('"jain": ', '"jain": 1'))
    second = comparison.compare(setting, ["reno"], cache=tmp_path)
    assert second.table.equals(first.table)
    assert "summary.json was changed or damaged" in capsys.readouterr().err


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


def test_a_kept_run_is_not_synced_because_its_seal_tells_whether_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(disk, "sync", lambda place: synced.append(place.name))
    monkeypatch.setattr(storage, "sync", lambda place: synced.append(place.name))
    path = build.Path(5.0, 20.0, queue_packets=20, link={"loss": {"kind": "bernoulli", "rate": 0.001}})
    setting = comparison.PathSetup(path, duration_s=2.0, runs=1)
    first = comparison.compare(setting, ["reno"], cache=tmp_path)
    tables = list(tmp_path.rglob("windows.parquet"))
    assert tables
    assert not {file.parent.name for file in tables} & set(synced)
    assert "windows.parquet" not in synced
    # A power cut leaves only the names of files that were not yet on disk, without content.
    for file in tables:
        file.write_bytes(b"")
    second = comparison.compare(setting, ["reno"], cache=tmp_path)
    assert second.table.equals(first.table)
    assert "windows.parquet was changed or damaged" in capsys.readouterr().err


def test_a_file_that_is_no_parquet_is_one_line(tmp_path: Path) -> None:
    home = tmp_path / "experiment=x"
    home.mkdir()
    (home / "part-00000.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"part-00000.parquet is not a Parquet file") as caught:
        picture.refuse_damaged(tmp_path)
    assert "\n" not in str(caught.value)
    pl.DataFrame({"p": [1.0]}).write_parquet(home / "part-00000.parquet")
    picture.refuse_damaged(tmp_path)
