"""Code of others: whatever it does is the failure of its run, recorded, and stops nothing else."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ackclock import ScenarioError, SimulationError, engine, sweep
from ackclock.engine import controls
from ackclock.runs import Answer, Case, each
from ackclock.sweeps import drive as sweep_drive
from conftest import BOTTLENECK, COMMAND, Finished, wait_until

PATH = f"""
[run]
duration = "1 s"
{BOTTLENECK}
[[flow]]
controller = "reno"
rtt = "20 ms"
"""
SWEEP = """
scenario = "path.toml"
[parameters]
control = { set = "flow.0.controller", to = ["reno", "bad:Bad", "cubic"] }
[runs]
count = 2
"""
BAD = """
import os, sys, ackclock
class Bad(ackclock.Control):
    def on_ack(self, ack):
        self.slow_start(ack)
    def on_loss(self, loss):
        {}
"""


HANG = "while True: pass"
# Waits without using the processor, which the other tests need.
DEAF = "import signal, time; signal.signal(signal.SIGALRM, signal.SIG_IGN)"
SLEEP = "while True: time.sleep(1)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, with a sweep in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "bad", raising=False)
    Path("path.toml").write_text(PATH)
    Path("own.toml").write_text(PATH.replace("reno", "bad:Bad"))
    Path("sweep.toml").write_text(SWEEP)
    return tmp_path


def _bad(what: str) -> None:
    Path("bad.py").write_text(BAD.format(what))


def _bad_here(module: str, what: str) -> Path:
    """Write a module for this process, which loads each but once, and give a scenario with it."""
    Path(f"{module}.py").write_text(BAD.format(what))
    scenario = Path(f"{module}.toml")
    scenario.write_text(PATH.replace("reno", f"{module}:Bad"))
    return scenario.absolute()


def _is_recorded(done: Finished, problem: str) -> None:
    """Check that the two runs of the bad control failed, and no other."""
    assert done.returncode == 1
    assert "2 runs failed; see the column error of the results; the first: " in done.stderr
    assert "Traceback" not in done.stderr
    table = pl.read_parquet("results/experiment=sweep")
    whole = table.filter(pl.col("error").is_null())["control"].to_list()
    assert whole == ["reno", "reno", "cubic", "cubic"]
    errors = table.filter(control="bad:Bad")["error"].to_list()
    assert len(errors) == 2
    assert all(problem in error for error in errors), errors


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("where", ["--threads", "--processes"])
@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("sys.exit(0)", "SimulationError: a control called sys.exit(0)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_a_control_that_ends_the_program_ends_its_run(
    ackclock: Callable[..., Finished], where: str, what: str, problem: str
) -> None:
    _bad(what)
    _is_recorded(ackclock("sweep", "sweep.toml", where, "--jobs", "2"), problem)
    # Recorded is done: nothing is made again, and the command still fails.
    again = ackclock("sweep", "sweep.toml", where)
    assert again.returncode == 1
    assert "6 runs, 0 of them made now" in again.stdout


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("os._exit(0)", "its process ended: exit status 0"),
        ("os.abort()", "its process ended: SIGABRT"),
        # As a system that is out of memory does: made again with nothing else at work.
        ("os.kill(os.getpid(), 9)", "its process was killed twice"),
    ],
)
def test_a_control_that_ends_its_process_is_recorded_as_failed(
    ackclock: Callable[..., Finished], what: str, problem: str
) -> None:
    _bad(what)
    _is_recorded(ackclock("sweep", "sweep.toml", "--jobs", "2"), problem)
    again = ackclock("sweep", "sweep.toml")
    assert (again.returncode, "0 of them made now" in again.stdout) == (1, True)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("what", "problem"),
    [
        (HANG, "TimeoutError: took longer than 3 s"),
        # A control that ignores SIGALRM, like code that is not Python.
        (f"{DEAF}\n        {SLEEP}", "TimeoutError: took longer than 3 s"),
    ],
)
def test_a_control_that_hangs_is_ended_after_the_limit(
    ackclock: Callable[..., Finished], what: str, problem: str
) -> None:
    _bad(what)
    _is_recorded(ackclock("sweep", "sweep.toml", "--limit", "3s", "--jobs", "2"), problem)


@pytest.mark.usefixtures("place")
def test_a_failure_by_a_limit_can_be_made_again(ackclock: Callable[..., Finished]) -> None:
    _bad("time.sleep(1); self.window = 2.0")
    text = Path("bad.py").read_text().replace("import os", "import time, os")
    Path("bad.py").write_text(text)
    assert ackclock("sweep", "sweep.toml", "--limit", "0.2s").returncode == 1
    again = ackclock("sweep", "sweep.toml", "--force", "--json")
    said = json.loads(again.stdout)
    assert (again.returncode, said["failed"], said["made"]) == (0, 0, 2)


@pytest.mark.usefixtures("place")
def test_a_control_that_is_edited_while_runs_are_made_is_not_believed() -> None:
    scenario = _bad_here("edited", "os._exit(7)")
    jobs = Case(scenario, 3).jobs()
    errors = []
    for _, answer in each(jobs, lambda *_: None, at_once=1):
        errors.append(answer.error)
        Path("edited.py").write_text(Path("edited.py").read_text() + "# later\n")
    # The first process has begun with the file as it was.
    assert errors[0] == "its process ended: exit status 7"
    assert errors[-1] == "edited:Bad has changed since runs began; run the command again"


@pytest.mark.usefixtures("place")
def test_a_limit_that_cannot_be_kept_is_refused(ackclock: Callable[..., Finished]) -> None:
    _bad("pass")
    for more in (("1s", "--threads"), ("0s",), ("1 B",), ("1s", "--memory", "1kB"), ("1s", "--memory", "1s")):
        done = ackclock("sweep", "sweep.toml", "--limit", *more)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr


def test_ctrl_c_ends_a_control_that_hangs(place: Path) -> None:
    _bad("open('begun', 'w')\n        while True: pass")
    process = subprocess.Popen(
        [*COMMAND, "simulate", "own.toml"], stderr=subprocess.PIPE, text=True, cwd=place
    )
    wait_until((place / "begun").exists)
    process.send_signal(2)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "ackclock: interrupted\n")


@pytest.mark.parametrize("always", [False, True])
def test_a_control_that_ends_its_process_on_a_cluster_costs_its_run(
    place: Path, always: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed once by the system: nothing is lost. Killed by a run each time: that run fails."""
    distributed = pytest.importorskip("distributed")

    # The other case has loaded a module of the same name in this process.
    monkeypatch.delitem(sys.modules, "bad", raising=False)
    monkeypatch.setattr(controls, "_registered", {})
    if always:
        _bad("os._exit(1)")
    else:
        _bad(f"""died = {str(place / "died")!r}
        if not os.path.exists(died):
            open(died, "w").close()
            os.kill(os.getpid(), 9)
        self.window = max(2.0, self.window / 2)""")
    (place / "sweep.toml").write_text(SWEEP.replace("count = 2", "count = 1"))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        outcome = sweep(place / "sweep.toml", place / "dask", cluster=cluster.scheduler_address)
    assert (outcome.runs, outcome.failed) == (3, int(always))
    table = pl.read_parquet(outcome.directory)
    failed = table.filter(pl.col("error").is_not_null())
    assert failed["control"].to_list() == ["bad:Bad"] * always
    assert failed["error"].to_list() == ["its process ended: exit status 1"] * always
    if not always:
        assert (place / "died").exists()
        alone = sweep(place / "sweep.toml", place / "here", jobs=1)
        assert pl.read_parquet(alone.directory).equals(table)


def test_a_script_needs_no_guard(place: Path) -> None:
    # A process for runs does not begin with the script itself.
    (place / "sweep.toml").write_text(SWEEP.replace("bad:Bad", "fit"))
    (place / "script.py").write_text("from ackclock import sweep\nsweep('sweep.toml', processes=True)\n")
    done = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list((place / "results").glob("*/*.parquet"))


@pytest.mark.usefixtures("place")
def test_simulate_fails_in_one_line(ackclock: Callable[..., Finished]) -> None:
    for what in ("sys.exit(0)", "sys.exit('all is well')", "raise KeyboardInterrupt"):
        _bad(what)
        done = ackclock("simulate", "own.toml")
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.startswith("ackclock: a control ")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", ["import sys\nsys.exit(0)", "class Bad:\n    __getattr__ = 3"])
def test_check_fails_in_one_line_and_says_that_it_runs_code(
    place: Path, ackclock: Callable[..., Finished], text: str
) -> None:
    (place / "bad.py").write_text(text)
    done = ackclock("check", "own.toml")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "bad:Bad: " in done.stderr
    _bad("pass")
    done = ackclock("check", "own.toml")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "these controls were loaded, which ran their code: bad:Bad"
    assert "runs the code" in " ".join(ackclock("check", "--help").stdout.split())


class _Annotated(type):
    @property
    def __signature__(cls) -> Any:
        raise SystemExit(0)


def test_a_class_that_runs_code_when_it_is_read_is_refused(place: Path) -> None:
    scenario = _bad_here("annotated", "pass")
    (place / "annotated.py").write_text(
        "import test_foreign\n"
        "class Bad(metaclass=test_foreign._Annotated):\n"
        "    on_ack = on_loss = on_timeout = print\n"
    )
    with pytest.raises(ScenarioError, match=r":Bad: cannot be read: SystemExit: sys.exit\(0\)"):
        engine.check(scenario)


class PanicException(BaseException):
    """The exception of PyO3 for a panic, which is not an Exception, either."""


class _Panics:
    def simulate(self, **_: Any) -> Any:
        raise PanicException("a window is\nfinite")


def test_a_panic_is_the_failure_of_its_run() -> None:
    scenario: Any = _Panics()
    with pytest.raises(SimulationError, match="a control panicked: a window is finite"):
        engine.summary(scenario)


def test_a_run_that_fails_stops_no_other(place: Path) -> None:
    cases = [Case(_bad_here("exits", "sys.exit(0)")), Case(place / "path.toml")]
    jobs = [job for case in cases for job in case.jobs()]
    errors = [answer.error for _, answer in each(jobs, lambda _job, _run: None)]
    assert errors == ["SimulationError: a control called sys.exit(0)", ""]


def test_ctrl_c_in_a_control_of_ones_own_is_an_interrupt(place: Path) -> None:
    _bad("pass")
    Path("bad.py").write_text(
        Path("bad.py").read_text() + "    def on_ack(self, ack):\n        open('begun', 'w')\n"
        "        import time\n        time.sleep(60)\n"
    )
    program = "import ackclock; ackclock.simulate('own.toml')"
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, cwd=place)
    wait_until((place / "begun").exists)
    process.send_signal(2)
    _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said.splitlines()[-1]


FORGED = """
import os, ackclock
ANSWER = b'{"value": "x", "files": false, "packets": 1, "error": "", "trace": "", "passing": false}\\n'
class Bad(ackclock.Control):
    def on_ack(self, ack):
        for number in range(3, 30):
            try:
                os.write(number, ANSWER)
            except OSError:
                pass
"""


@pytest.mark.usefixtures("place")
def test_an_answer_that_a_control_writes_itself_is_the_failure_of_its_run(
    ackclock: Callable[..., Finished],
) -> None:
    Path("bad.py").write_text(FORGED)
    done = ackclock("sweep", "sweep.toml", "--jobs", "1")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "its process sent an invalid answer" in done.stderr
    table = pl.read_parquet("results/experiment=sweep/part-00000.parquet")
    assert table.filter(pl.col("error").is_null())["control"].unique().sort().to_list() == ["cubic", "reno"]


def test_rows_that_no_measure_returns_are_the_failure_of_their_run() -> None:
    # Whoever knows the token of a process can send them.
    for value in ("x", {"a": 1}, ["x"], [{"unknown": 1}], 7):
        done = sweep_drive._done(0, 0, Answer(value, 1))
        assert (done.rows, done.error) == ([], "its process sent an invalid answer")


@pytest.mark.usefixtures("place")
def test_what_a_control_says_cannot_command_the_terminal(ackclock: Callable[..., Finished]) -> None:
    Path("bad.py").write_text(BAD.format("raise ValueError('\\x1b[2J\\u202e')"))
    for words in (("sweep", "sweep.toml"), ("simulate", "own.toml"), ("simulate", "own.toml", "--runs", "2")):
        done = ackclock(*words)
        assert done.returncode == 1
        assert "\\u{1b}[2J\\u{202e}" in done.stderr
        assert all(line.isprintable() for line in done.stderr.splitlines()), done.stderr
