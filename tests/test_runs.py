"""The driver and the store: order, cancelled runs, and the code that a number depends on."""

import contextlib
import functools
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ackclock import StorageError, engine, metrics
from ackclock.engine import followed
from ackclock.runs import (
    Answer,
    Case,
    Job,
    Store,
    drive,
    each,
    estimate,
    measure_all,
    places,
    progress,
    sources,
)
from ackclock.runs.store import BusyError
from conftest import BOTTLENECK

PATH = f"""
[run]
duration = "200 ms"
{BOTTLENECK}
[[flow]]
controller = "reno"
rtt = "20 ms"
"""


def goodput(run: engine.Run) -> float:
    return run.summary["flows"][0]["goodput_mbps"]


def test_answers_come_in_the_order_of_the_jobs() -> None:
    jobs = Case(PATH, 5).jobs()

    def slow_first(job: Job, _run: engine.Run) -> None:
        time.sleep(0.05 if job.run == 0 else 0)

    assert [job.run for job, _ in each(jobs, slow_first, at_once=2)] == [0, 1, 2, 3, 4]


def test_a_failure_calls_off_the_others() -> None:
    started, called_off = threading.Event(), threading.Event()
    endless = Case(PATH.replace("200 ms", "1000000 s"), 1).jobs()[0]
    first = Case(PATH).jobs()[0]

    def make(job: Job, run: Any) -> Answer:
        if job is first:
            assert started.wait(10)
            return run(job)
        started.set()
        try:
            return run(job)
        finally:
            called_off.set()

    jobs = [first, endless]
    with pytest.raises(LookupError), places.opened(["reno"], jobs=2) as place:
        for _ in drive.drive(lambda _: [jobs.pop(0)] if jobs else [], place, make):
            raise LookupError
    assert called_off.is_set()


def test_runs_of_a_moment_are_handed_over_several_at_once() -> None:
    jobs = Case(PATH, 1000, record=False).jobs()
    asked: list[int] = []

    def source(count: int) -> list[Job]:
        asked.append(count)
        return [jobs.pop() for _ in range(min(count, len(jobs)))]

    with places.opened(["reno"], jobs=1) as place:
        assert sum(1 for _ in drive.drive(source, place)) == 1000
    # One at first, and later as many as take a quarter of a second.
    assert asked[0] == 1
    assert max(asked) > 5


def test_what_is_kept_is_not_made_again(tmp_path: Path) -> None:
    jobs = [Job(engine.read(PATH), run, record=False, measure=goodput) for run in range(4)]
    for finished in (4, 0):
        with (
            Store(tmp_path).opened() as store,
            places.opened(["reno"]) as place,
            progress.Count(4, "runs") as bar,
        ):
            drive.make(jobs, store, place, bar)
            assert bar._done == finished
            values = [answer.value for job in jobs if (answer := store.get(job.key))]
    assert values == [goodput(engine.simulate(PATH, run=run)) for run in range(4)]


def test_a_failure_is_tried_again_by_the_next_process_unless_it_is_kept(tmp_path: Path) -> None:
    with Store(tmp_path).opened() as store:
        store.add("tried", Answer(error="too late"))
        store.add("kept", Answer(error="too late"), failures=True)
        assert store.get("tried") == store.get("kept") == Answer(error="too late")
    with Store(tmp_path).opened() as store:
        assert (store.get("tried"), store.get("kept")) == (None, Answer(error="too late"))


def test_a_store_belongs_to_one_process_and_can_be_read_anywhere(tmp_path: Path) -> None:
    place = tmp_path / "results" / ".cache"
    with Store(place).opened() as store:
        store.add("a", Answer([1.5, None, "ä"], 7))
        store.write_note("n/1", {"x": 1})
        store.write_note("n/2", 2)
        store.write_note("o", 3)
        with pytest.raises(StorageError, match=r"another process is using .*results; wait for it"):
            Store(place).opened().__enter__()
    # One file, which a copy in a folder that cannot be written has, too.
    assert sorted(file.name for file in place.iterdir()) == ["runs.sqlite", "runs.sqlite.sha256"]
    place.chmod(0o500)
    (place / "runs.sqlite").chmod(0o400)
    with Store(place).read_only() as copy:
        assert copy.get("a") == Answer([1.5, None, "ä"], 7)
        assert copy.notes("n/") == {"n/1": {"x": 1}, "n/2": 2}
        assert copy.note("p") is None
    place.chmod(0o700)
    with Store(tmp_path / "none").read_only() as nothing:
        assert nothing.get("a") is None
    assert not (tmp_path / "none").exists()


def test_what_is_being_written_is_not_read(tmp_path: Path) -> None:
    with Store(tmp_path).opened() as store:
        store.add("a", Answer(1))
        with pytest.raises(BusyError, match="another process is using"), Store(tmp_path).read_only():
            pass
    with Store(tmp_path).read_only() as store:
        assert store.get("a") == Answer(1)
    # What another process has only just made.
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "runs.sqlite").touch()
    with Store(tmp_path / "new").read_only() as store:
        assert store.get("a") is None


def test_nothing_of_another_format_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path).opened() as store:
        store.add("a", Answer(1))
    monkeypatch.setattr("ackclock.runs.database.VERSION", 2)
    with Store(tmp_path).opened() as store:
        assert store.get("a") is None
    assert "0 rows are kept" in capsys.readouterr().err
    with contextlib.closing(sqlite3.connect(tmp_path / "runs.sqlite")) as connection:
        connection.execute("DROP TABLE rows")
        connection.execute("CREATE TABLE rows (a)")
        connection.commit()
    with Store(tmp_path).opened() as store:
        store.add("a", Answer(2))
    # Nothing that was set aside is lost.
    assert (tmp_path / "runs.damaged").exists()
    assert (tmp_path / "runs.damaged-2").exists()


def test_notes_are_dropped_with_all_that_they_begin(tmp_path: Path) -> None:
    with Store(tmp_path).opened() as store:
        for name in ("sweep/a", "sweep/a/1", "sweep/ab", "sweep/ab/1"):
            store.write_note(name, 1)
        store.drop_notes("sweep/a/")
        assert list(store.notes("sweep/")) == ["sweep/a", "sweep/ab", "sweep/ab/1"]


def test_what_took_longer_than_was_thought_is_given_back() -> None:
    # One thread, and chunks of 200 by the speed of the first jobs: slow ones do not wait for each other.
    jobs = Case(PATH, 600, record=False).jobs()
    queue = list(jobs)
    sizes: list[int] = []

    def work(job: Job, _: Any) -> Answer:
        if job.run >= 500:
            time.sleep(0.02)
        return Answer(job.run)

    def source(count: int) -> list[Job]:
        return [queue.pop(0) for _ in range(min(count, len(queue)))]

    with places.opened(["reno"], jobs=1) as place:
        answers = place.answers

        def noted(*given: Any) -> list[Answer]:
            chunk = answers(*given)
            sizes.append(len(chunk))
            return chunk

        place.answers = noted
        order = [answer.value for _, answer in drive.drive(source, place, work)]
    # None is lost or made twice, and of the slow ones at most a quarter of a second's worth comes at once:
    # 0.25/0.02, and the one that is at work.
    assert sorted(order) == list(range(600))
    assert max(sizes) > 13
    assert all(size <= 14 for size in sizes[-7:])


def test_rows_of_a_damaged_store_are_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path).opened() as store:
        for number in range(1000):
            store.add(f"{number:04}", Answer("x" * 100, number))
    database = tmp_path / "runs.sqlite"
    content = bytearray(database.read_bytes())
    # A page in the middle is lost: what is before it and what is behind it is read from both ends.
    page = 4096 * (len(content) // 8192)
    content[page : page + 4096] = bytes(4096)
    database.write_bytes(content)
    with Store(tmp_path).opened() as store:
        kept = [number for number in range(1000) if store.get(f"{number:04}") is not None]
        assert all(store.get(f"{number:04}") == Answer("x" * 100, number) for number in kept)
    assert 900 < len(kept) < 1000
    # And the note of the rules by which they were measured.
    assert f"{len(kept) + 1} rows are kept" in capsys.readouterr().err
    assert (tmp_path / "runs.damaged").read_bytes() == content
    with Store(tmp_path).opened():
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize("rules", [None, engine.RULES - 1, engine.RULES, engine.RULES + 1])
def test_answers_of_other_rules_are_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rules: int | None
) -> None:
    with Store(tmp_path).opened() as store:
        store.add("a", Answer(1, 1))
        # A store from before there were rules has no note of them.
        store.drop_notes("rules") if rules is None else store.write_note("rules", rules)
    said = []
    for _ in range(2):
        with Store(tmp_path).opened():
            said.append(capsys.readouterr().err.splitlines())
    is_other = rules != engine.RULES
    assert ([len(lines) for lines in said], "by other rules" in str(said)) == ([int(is_other), 0], is_other)


def test_a_row_under_another_name_is_not_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path).opened() as store:
        store.add("a", Answer(1))
        store.add("b", Answer(2))
    with contextlib.closing(sqlite3.connect(tmp_path / "runs.sqlite")) as connection:
        connection.execute("UPDATE rows SET name = 'c' WHERE name = 'a'")
        connection.commit()
    with Store(tmp_path).opened() as store:
        assert [store.get(name) for name in "abc"] == [None, Answer(2), None]
    assert "the answer 'c' was changed or damaged; its run is repeated" in capsys.readouterr().err


def test_equal_names_are_equal_answers_and_else_not() -> None:
    scenario = engine.read(PATH)
    job = Job(scenario, 0, record=False, measure=goodput)
    others = [
        Job(engine.read(PATH.replace("20 ms", "21 ms")), 0, record=False, measure=goodput),
        Job(scenario, 1, record=False, measure=goodput),
        Job(scenario, 0, record=True, measure=goodput),
        Job(scenario, 0, record=False),
        Job(scenario, 0, record=False, measure=functools.partial(metrics.overview)),
        Job(scenario, 0, record=False, measure=goodput, settings=("flow.0.rtt=22ms",)),
    ]
    assert len({job.key, *(other.key for other in others)}) == 7
    assert Job(engine.read(PATH), 0, record=False, measure=goodput).key == job.key


PROJECT = {
    "ackclock/__init__.py": "",
    "ackclock/measure.py": "from ackclock import part\nfrom ackclock.lazy import deep\ndef f(): pass\n",
    "ackclock/part.py": 'X = 1\n"""What it is."""\ndef g():\n    """Return."""\n    import ackclock.late\n',
    "ackclock/late.py": "Y = 1\n",
    "ackclock/other.py": "Z = 1\n",
    "ackclock/draw/__init__.py": "",
    "ackclock/draw/chart.py": "",
    "ackclock/lazy/__init__.py": "import lazy_loader\n",
    "ackclock/lazy/__init__.pyi": "from .one import deep as deep\nfrom .two import flat as flat\n",
    "ackclock/lazy/one.py": "from ackclock.draw import chart\ndeep = 1\n",
    "ackclock/lazy/two.py": "flat = 1\n",
}


@pytest.mark.parametrize(
    ("file", "change", "stale"),
    [
        ("measure.py", ("pass", "return 1"), True),
        ("part.py", ("X = 1", "X = 2"), True),
        ("part.py", ("What it is.", "What it was."), False),
        ("part.py", ("Return.", "Return\\nit."), False),
        ("part.py", ("X = 1", "# A constant.\nX = (1)"), False),
        # Imported in a function, and by name through a package that imports when it is used.
        ("late.py", ("Y = 1", "Y = 2"), True),
        ("lazy/one.py", ("deep = 1", "deep = 2"), True),
        ("lazy/two.py", ("flat = 1", "flat = 2"), False),
        ("other.py", ("Z = 1", "Z = 2"), False),
        # What draws changes no number.
        ("draw/chart.py", ("", "a = 1"), False),
    ],
)
def test_the_code_of_a_number_is_all_that_its_measure_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, change: tuple[str, str], stale: bool
) -> None:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def file_of(name: str) -> Path | None:
        place = tmp_path.joinpath(*name.split("."))
        return next(
            (path for path in (place.with_suffix(".py"), place / "__init__.py") if path.exists()), None
        )

    monkeypatch.setattr(followed, "file_of", file_of)

    def digest() -> str:
        for cached in (sources._of_modules, sources.of_file, sources._imports, sources._on_demand):
            cached.cache_clear()
        return sources.of_modules(["ackclock.measure"])

    before = digest()
    changed = tmp_path / "ackclock" / file
    text = changed.read_text()
    changed.write_text(text.replace(*change) if change[0] else change[1])
    assert changed.read_text() != text
    assert (digest() != before) == stale
    changed.write_text(text)
    assert digest() == before


def test_cases_are_measured_where_they_are_made() -> None:
    cases = [Case(PATH, 2), Case(PATH.replace("reno", "cubic"), 1)]
    measured = measure_all(cases, goodput)
    assert [len(runs) for runs in measured] == [2, 1]
    with pytest.raises(ZeroDivisionError):
        measure_all(cases, lambda _: 1 / 0)


def test_work_that_takes_longer_than_a_minute_is_announced(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Count(40, "runs") as long, progress.Count(20, "runs") as short:
        for _ in range(3):
            now[0] += 2
            long.advance(1)
            short.advance(1)
    # 40 runs of 2 s are more than a minute, known after 4 s; 20 are not.
    assert capsys.readouterr().err == "ackclock: this takes about 80 s\n"
    with progress.Bar(600.0) as bar, progress.Bar(600.0, shown=False) as silent:
        for each in (bar, silent):
            each.update(0, 0.0, 0)
        now[0] += 12
        for each in (bar, silent):
            each.update(0, 60.0, 1000)
    # A tenth took 12 s: nine tenths take 108 s, all of it two minutes.
    assert capsys.readouterr().err == (
        "ackclock: this takes about 2 min\n60 of 600 s simulated, about 2 min left\n"
    )


def test_the_first_of_many_runs_does_not_announce_hours(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Count(6000, "runs") as bar:
        # It waited 8 s for its process; the next 300 take 10 ms each.
        now[0] += 8
        bar.advance(1)
        for _ in range(300):
            now[0] += 0.01
            bar.advance(1)
    # A fiftieth is done at the run 120, after 9.19 s: 50 times that are 460 s.
    assert capsys.readouterr().err.splitlines()[0] == "ackclock: this takes about 8 min"
    with progress.Count(6000, "runs") as slow:
        now[0] += 16
        slow.advance(1)
    # However little is done after 15 s: 6000 times 16 s.
    assert capsys.readouterr().err.splitlines()[0] == "ackclock: this takes about 26.7 h"


def test_the_end_of_a_run_counts_where_nothing_is_known_of_its_course(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Bar(40.0) as bar:
        now[0] += 10
        bar.finish(0, 10.0)
    # A quarter took 10 s.
    assert capsys.readouterr().err == "10 of 40 s simulated, about 30 s left\n"


@pytest.mark.parametrize("kept", [0, 5])
def test_the_time_left_follows_from_packets_and_not_from_runs(capsys, monkeypatch, kept):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    # Ten runs of a slow path, of which some are kept, and ten of a path a hundred times as fast.
    with progress.Count(20, "runs", packets=10 * 1000.0 + 10 * 100_000.0) as bar:
        bar.advance(left_out=kept, packets=kept * 1000.0)
        for _ in range(10 - kept):
            now[0] += 2 / (10 - kept)
            bar.advance(1, packets=1000.0)
        now[0] += 20
        bar.advance(1, packets=100_000.0)
    # 110 000 or 105 000 packets took 22 s, so 900 000 take 180 to 189 s; half of the runs took as long.
    assert capsys.readouterr().err.splitlines()[-1] == f"{11 - kept} of {20 - kept} runs, about 3 min left"
    with progress.Bar(20.0, packets_per_s={0: 10.0, 1: 990.0}, expected_packets=10_000.0) as each:
        each.update(0, 0.0, 0)
        now[0] += 10
        each.update(1, 1.0, 990)
    # 990 of 10 000 packets took 10 s: the other 9010 take 91 s, and a run of a twentieth of the time.
    assert capsys.readouterr().err.splitlines()[-1] == "1 of 20 s simulated, about 91 s left"


def test_a_run_is_expected_to_cost_what_its_path_carries():
    # 2 Mbit/s for 10 s are 2500 packets of 1000 bytes.
    scenario = engine.read(
        '[run]\nduration = "10 s"\n[dumbbell]\nrate = "2 Mbit/s"\ndelay = "10 ms"\n'
        'queue = { kind = "droptail", limit = "20 packets" }\n[[flow]]\ncontroller = "reno"\n'
    )
    assert Job(scenario).expected_packets == pytest.approx(2500)
    run = engine.simulate(scenario)
    assert 0.5 < run.summary["packets_simulated"] / Job(scenario).expected_packets < 2


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "less than 1 s"), (59.6, "60 s"), (150, "2 min"), (5990, "100 min"), (7200, "2.0 h")],
)
def test_a_duration_in_words(seconds, words):
    assert progress.duration(seconds) == words


def test_a_dry_run_counts_and_makes_nothing():
    cases = [Case(PATH, 2), Case(PATH.replace("reno", "cubic"), 1)]
    with estimate.dry(), pytest.raises(estimate.DryRunError) as stopped:
        measure_all(cases, lambda _: pytest.fail("a run was made"))
    cost = stopped.value.cost
    assert (cost.runs, cost.kept) == (3, 0)
    # As long as all three runs together.
    assert cost.simulated_s == sum(case.jobs()[0].scenario.duration_s * len(case.jobs()) for case in cases)
    assert cost.estimated_s > 0
    assert [len(runs) for runs in measure_all(cases, goodput)] == [2, 1]


def test_trials_are_spread_over_all_runs():
    # Eight of 15: every second, with the first and the last.
    assert estimate.spread(range(15)) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert estimate.spread([7]) == [7]
    assert estimate.spread([]) == []


def test_a_count_that_nobody_sees_says_a_line_now_and_then(capsys, monkeypatch):
    # Standard error is not a terminal here.
    now = [100]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Count(3, "runs") as shown, progress.Count(3, "runs", shown=False) as silent:
        for later_s in (9, 1, 9):
            now[0] += later_s
            shown.advance(1)
            silent.advance(1)
    # After 9 s not yet, after 10 s, and not again 9 s later. The third run takes half of the 10 s of two.
    assert capsys.readouterr().err == "2 of 3 runs, about 5 s left\n"
    line = progress.Lines()
    for later_s in (9, 1, 9):
        now[0] += later_s
        line(f"{now[0]}")
    assert capsys.readouterr().err == "129\n"


def _removed(place: Path) -> None:
    shutil.rmtree(place)


def _renamed(place: Path) -> None:
    place.rename(place.with_name("renamed"))


def _replaced(place: Path) -> None:
    place.rename(place.with_name("renamed"))
    place.mkdir()
    with Store(place).opened() as other:
        other.write_note("of", "another")


def _replaced_file(place: Path) -> None:
    (place / "runs.sqlite").unlink()
    (place / "runs.sqlite").write_bytes(b"")


LOSSES = (_removed, _renamed, _replaced, _replaced_file)


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("adds", [True, False])
def test_a_store_that_is_gone_is_reported_at_the_next_commit(
    adds: bool, lose: Callable[[Path], None], tmp_path: Path
) -> None:
    place = tmp_path / "cache"
    with pytest.raises(StorageError, match="was removed or replaced") as lost, Store(place).opened() as store:
        store.add("first", Answer(1))
        store.commit()
        lose(place)
        if adds:
            store.add("second", Answer(2))
    assert "\n" not in str(lost.value)
    if lose is _replaced:
        # The other one has lost nothing.
        with Store(place).opened() as other:
            assert (other.note("of"), other.get("first")) == ("another", None)
