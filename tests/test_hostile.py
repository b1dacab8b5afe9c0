"""Names given by users may be hostile: errors are one line without control sequences."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as package
from ackclock import sweeps
from ackclock.engine import scenario as scenarios
from conftest import BOTTLENECK, Finished
from hostile import KINDS, attack

PATH = f"""
[run]
duration = "1 s"
{BOTTLENECK}
[[flow]]
controller = "reno"
rtt = "20 ms"
"""
HUNGRY = """
[run]
duration = "10 s"
[dumbbell]
rate = "100 Gbit/s"
delay = "500 ms"
queue = { kind = "droptail", limit = "10000000 packets" }
[[flow]]
controller = "aimd"
params = { alpha = 1000000 }
rtt = "1000 ms"
"""
"""With ten million packets on their way it needs more than a gigabyte."""
LITTLE_MEMORY = """
import resource, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from ackclock import simulate
hungry, other = (Path(name) for name in sys.argv[1:])
alone = simulate(other, record=False).digest
with ThreadPoolExecutor(2) as threads:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (600 << 20),) * 2)
    runs = [threads.submit(simulate, file, record=False) for file in (hungry, other)]
print(repr(runs[0].exception()), runs[1].result().digest == alone)
"""


def _refused(done: Finished) -> str:
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert all(character.isprintable() for character in done.stderr.rstrip("\n")), done.stderr
    return done.stderr


@pytest.fixture
def kinds(tmp_path: Path) -> dict[str, Path]:
    """Return a path of every kind that used to hang, or to be read until memory ends."""
    os.mkfifo(tmp_path / "pipe.toml")
    with (tmp_path / "large.toml").open("wb") as large:
        large.truncate(10 * 10**9)
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    there = {name: tmp_path / f"{name}.toml" for name in ("pipe", "large", "loop")}
    there |= {"folder": tmp_path, "endless": Path("/dev/zero"), "waits": Path("/proc/kmsg")}
    return {name: path for name, path in there.items() if path.exists() or path.is_symlink()}


def test_a_scenario_of_any_kind_ends_in_one_line(
    ackclock: Callable[..., Finished], kinds: dict[str, Path]
) -> None:
    for path in kinds.values():
        assert str(path) in _refused(ackclock("check", path)) or path.is_char_device()


def test_a_file_that_a_scenario_names_ends_in_one_line(
    ackclock: Callable[..., Finished], kinds: dict[str, Path], tmp_path: Path
) -> None:
    for path in kinds.values():
        text = PATH.replace('rate = "10 Mbit/s"', f'rate_trace = "{path}"')
        (tmp_path / "trace.toml").write_text(text)
        assert "dumbbell.rate_trace: " in _refused(ackclock("check", "trace.toml"))


def test_a_scenario_may_come_through_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "path.toml").write_text(PATH)
    later = f"{sys.executable} -m ackclock check <(sleep 0.3; cat path.toml)"
    done = subprocess.run(
        ["bash", "-c", later], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_a_file_that_says_less_than_it_has_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenarios, "LARGEST_FILE", len(PATH) - 1)
    (tmp_path / "path.toml").write_text(PATH)
    with pytest.raises(package.ScenarioError, match="must be at most"):
        scenarios.read(tmp_path / "path.toml")


def test_what_was_changed_at_random_is_understood_or_refused_in_one_line() -> None:
    refused = attack(KINDS, seed=1, goes_on=lambda number: number < 60)
    # Most changes break something, and not all do.
    assert all(20 < count < 60 for count in refused.values()), refused


def test_a_sweep_with_other_parts_is_one_line(tmp_path: Path) -> None:
    """Found by changes at random: a traceback, and a refusal of two lines."""
    (tmp_path / "path.toml").write_text(PATH)
    for wrong in ("5", "[]", "nan", '"x"', "true"):
        (tmp_path / "loss.toml").write_text(f'scenario = "path.toml"\nparameters = {wrong}\n')
        with pytest.raises(package.ScenarioError, match="parameters: expected a table"):
            sweeps.read(tmp_path / "loss.toml")
    (tmp_path / "loss.toml").write_text('scenario = "path.toml"\n"a\\nb" = 1\n')
    with pytest.raises(package.ScenarioError, match=r"toml: a\\u{a}b: unknown key"):
        sweeps.read(tmp_path / "loss.toml")
    large = 10**400
    for to in (
        f"[1, {2**63}]",
        f"{{ from = 0, through = {large}, count = 2 }}",
        "{ from = 0, through = 1e300, count = 2 }",
    ):
        (tmp_path / "loss.toml").write_text(
            'scenario = "path.toml"\n[parameters]\np = { set = "dumbbell.queue.limit", '
            f'unit = "packets", to = {to} }}\n'
        )
        with pytest.raises(package.ScenarioError, match=r"p\.to.*: a whole number has at most 64"):
            sweeps.read(tmp_path / "loss.toml")
    for hidden in ("\\u0000", "\\n"):
        (tmp_path / "loss.toml").write_text(f'scenario = "a{hidden}b"\n')
        with pytest.raises(package.ScenarioError, match=r"a\\u\{[0a]\}b: cannot be read: \w+"):
            sweeps.read(tmp_path / "loss.toml")


def test_a_tree_without_end_is_one_line(ackclock: Callable[..., Finished], tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text('{"a":' * 100_000)
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    for name in ("deep.json", "deep.toml"):
        assert name in _refused(ackclock("check", name))
    assert "nested too deeply" in _refused(ackclock("sweep", "deep.toml", "--dry-run"))


def test_the_time_of_a_check_grows_with_the_tables_and_not_with_their_square(
    ackclock: Callable[..., Finished], tmp_path: Path
) -> None:
    """By the square, 5.8 s for 4000 tables would be 22 minutes for 60 000: the fixture ends it."""
    head, flow = PATH.split("[[flow]]")
    (tmp_path / "many.toml").write_text(head + f"[[flow]]{flow}" * 60_000)
    done = ackclock("check", "many.toml")
    assert (done.returncode, "60000 flows " in done.stdout) == (0, True), done.stderr


HIDDEN = ["\\u001b[2J", "\\u0007", "\\u009b2J", "\\u202e", "\\u2066", "\\u200b", "\\u2028", "\\u007f"]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_names_give_a_terminal_no_orders(
    ackclock: Callable[..., Finished], tmp_path: Path, hidden: str
) -> None:
    written = {
        "name": PATH + f'name = "a{hidden}b"\n',
        "key": PATH + f'"a{hidden}b" = 1\n',
        "control": PATH.replace("reno", f"a{hidden}b"),
        "trace": PATH.replace('rate = "10 Mbit/s"', f'rate_trace = "a{hidden}b"'),
    }
    for name, text in written.items():
        (tmp_path / "path.toml").write_text(text)
        refused = _refused(ackclock("check", "path.toml"))
        assert name == "key" or "must not contain control characters" in refused
    # The name of a file, and a setting.
    raw = hidden.encode().decode("unicode_escape")
    _refused(ackclock("check", f"a{raw}b.toml"))
    (tmp_path / "path.toml").write_text(PATH)
    _refused(ackclock("check", "path.toml", "--set", f"flow.0.a{raw}b=1"))


INTERRUPTED = """
import os, signal
from ackclock._native import Scenario
def stop(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, stop)
text = open("path.toml").read()
{before}
threads = len(os.listdir("/proc/self/task"))
# Soon, as the shorter of the two takes half a second.
signal.setitimer(signal.ITIMER_REAL, 0.02)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted,", len(os.listdir("/proc/self/task")) - threads, "at work", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize(
    ("count", "tables", "before", "work"),
    [
        (1, 150_000, "pass", "Scenario.read(text, 'x')"),
        (100_000, 1, "read = Scenario.read(text, 'x')", "read.simulate()"),
    ],
)
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_ctrl_c_is_noticed_while_flows_are_read_and_built(
    tmp_path: Path, count: int, tables: int, before: str, work: str
) -> None:
    """What was given up is still at work: nobody has waited for its end."""
    head, flow = PATH.split("[[flow]]")
    text = head + f"[[flow]]\ncount = {count}{flow}" * tables
    (tmp_path / "path.toml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(before=before, work=work)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == "interrupted, 1 at work\n", done.stderr


MEMORY_ENDS = """
import os, resource, sys
from pathlib import Path
import numpy
from ackclock import simulate
small, many = sys.argv[1:]
simulate(small, record=False)
outcomes = {}
for more_mib in range(10, 500, 10):
    child = os.fork()
    if child == 0:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (more_mib << 20),) * 2)
        try:
            simulate(many, record=True)
        except MemoryError:
            os._exit(1)
        os._exit(0)
    outcome = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    outcomes.setdefault(outcome, []).append(more_mib)
print(*sorted(outcomes))
print({outcome: limits for outcome, limits in outcomes.items() if outcome < 0}, file=sys.stderr)
"""
"""Runs with a little more memory each time, so that it ends in every phase of a run."""


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({}, id="as-it-is"),
        # As Dask leaves it: memory is laid out otherwise.
        pytest.param({"MALLOC_TRIM_THRESHOLD_": "65536", "OPENBLAS_NUM_THREADS": "1"}, id="with-dask"),
    ],
)
@pytest.mark.parametrize(("count", "tables"), [(8000, 1), (1, 4000)])
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_memory_that_ends_anywhere_fails_the_run_and_not_the_process(
    tmp_path: Path, count: int, tables: int, environment: dict[str, str]
) -> None:
    head, flow = PATH.split("[[flow]]")
    (tmp_path / "small.toml").write_text(PATH)
    (tmp_path / "many.toml").write_text(head + f"[[flow]]\ncount = {count}{flow}" * tables)
    program = [sys.executable, "-c", MEMORY_ENDS, tmp_path / "small.toml", tmp_path / "many.toml"]
    done = subprocess.run(program, check=True, capture_output=True, text=True, env=os.environ | environment)
    assert done.stdout == "0 1\n", done.stderr


def test_a_run_without_memory_fails_alone(tmp_path: Path) -> None:
    files = {"hungry.toml": HUNGRY, "other.toml": PATH.replace('"1 s"', '"60 s"')}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    program = [sys.executable, "-c", LITTLE_MEMORY, *(tmp_path / name for name in files)]
    done = subprocess.run(program, check=True, capture_output=True, text=True)
    assert done.stdout == "MemoryError('not enough memory for the run') True\n", done.stderr
