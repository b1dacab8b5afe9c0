"""Every way in times every way out: drawn combinations give the same digest and the same numbers.

A case is a control on a path; it enters as a file and leaves in every way. `COMBINATIONS_SEED` draws others,
and the seed is part of each name.
"""

import base64
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from rich.console import Console

from ackclock import engine
from ackclock.cli import completion, tables
from ackclock.engine import controls, lab
from conftest import Finished

SEED = int(os.environ.get("COMBINATIONS_SEED", "1"))
Tables = dict[str, Any]

OWN = """\
import ackclock
from combined_helper import GAIN

class Mine(ackclock.Control):
    def on_ack(self, ack):
        self.window += GAIN / self.window

    def on_loss(self, loss):
        self.window = max(1.0, self.window / 2)
"""
CONTROLS = ("cubic", "bbr", "prague", "illinois@kernel", "combined_mine:Mine", "Own=combined_mine:Mine")
QUEUE = {"kind": "droptail", "limit": "20 packets"}
PATHS: dict[str, Tables] = {
    "numbers": {"dumbbell": {"rate": "2 Mbit/s", "delay": "10 ms", "queue": QUEUE}},
    "large packets": {
        "tcp": {"profile": "linux", "packet": "1500 B"},
        "dumbbell": {"rate": "3 Mbit/s", "delay": "10 ms", "queue": QUEUE},
    },
    "rate trace": {
        "dumbbell": {
            "rate_trace": "given/up.trace",
            "delay": "10 ms",
            "queue": QUEUE,
            "loss": {"kind": "trace", "file": "given/lost.trace"},
        }
    },
    "parking lot": {"parking_lot": {"hops": 2, "rate": "2 Mbit/s", "delay": "5 ms", "queue": QUEUE}},
    "marks": {
        "tcp": {"profile": "linux", "ecn": True},
        "dumbbell": {
            "rate": "4 Mbit/s",
            "delay": "5 ms",
            "queue": {"kind": "dualpi2", "limit": "100 packets"},
        },
    },
    "events": {
        "dumbbell": {"rate": "2 Mbit/s", "delay": "10 ms", "queue": QUEUE},
        "event": [
            {"at": "300 ms", "set": "dumbbell.rate", "to": "1 Mbit/s"},
            {"at": "600 ms", "set": "dumbbell.loss", "to": {"kind": "trace", "file": "given/lost.trace"}},
        ],
    },
}


class Combination(NamedTuple):
    """A scenario file, its directory, the command line, and what a plain run of it says."""

    file: Path
    command: Callable[..., Finished]
    summary: Tables
    draw: random.Random

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def control(self) -> str:
        return str(json.loads(self.file.read_text("utf-8"))["flow"][0]["controller"])

    def simulated(self, file: Path, *options: str) -> Tables:
        done = self.command("simulate", file, "--json", *options)
        assert done.returncode == 0, done.stderr
        summary: Tables = json.loads(done.stdout)
        return summary

    def assert_same(self, file: Path) -> None:
        assert self.simulated(file)["digest"] == self.summary["digest"]


def checked(case: Combination) -> None:
    """Read the scenario with every default again, as TOML and as JSON."""
    done = case.command("check", case.file, "--json")
    assert done.returncode == 0, done.stderr
    (case.folder / "checked.json").write_text(done.stdout, "utf-8")
    (case.folder / "checked.toml").write_text(engine.check(case.file), "utf-8")
    for name in ("checked.json", "checked.toml"):
        case.assert_same(case.folder / name)


def pickled(case: Combination) -> None:
    """Send the scenario to another process."""
    scenario = engine.read(case.file)
    again = pickle.loads(pickle.dumps(scenario))  # noqa: S301
    assert (again.digest, again.controls) == (scenario.digest, scenario.controls)
    assert engine.simulate(again).digest == case.summary["digest"]


def kept(case: Combination) -> None:
    """Run a result again after it was moved, and compare its tables with the summary."""
    csv = case.draw.random() < 0.5
    done = case.command("simulate", case.file, "-o", case.folder / "result", *(["--csv"] if csv else []))
    assert done.returncode == 0, done.stderr
    moved = case.folder / "elsewhere" / "deep" / "result"
    shutil.move(case.folder / "result", moved)
    for given in case.folder.glob("given*"):
        shutil.rmtree(given)
    assert case.command("verify", moved).returncode == 0
    case.assert_same(moved / "scenario.toml")
    read = engine.Run.read(moved)
    assert read.summary == {key: value for key, value in case.summary.items() if key != "wall_s"}
    file = moved / f"flows.{'csv' if csv else 'parquet'}"
    goodputs = (pl.read_csv(file) if csv else pl.read_parquet(file))["goodput_mbps"].to_list()
    assert goodputs == [flow["goodput_mbps"] for flow in case.summary["flows"]]


def in_lab(case: Combination) -> None:
    """Run in an empty folder what a link into the laboratory carries."""
    text = lab.fragment(engine.read(case.file)).removeprefix("#s=")
    packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    carried = json.loads(zlib.decompress(packed, -15))
    folder = case.folder / "from a link"
    for name, content in carried.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    folder.mkdir(exist_ok=True)
    (folder / "link.json").write_text(json.dumps(carried["scenario"]), "utf-8")
    case.assert_same(folder / "link.json")


def changed(case: Combination) -> None:
    """Change the scenario by --set, by settings and by `with_`, also after it was pickled."""
    by_option = case.simulated(case.file, "--set", "run.seed=9")["digest"]
    scenario = pickle.loads(pickle.dumps(engine.read(case.file)))  # noqa: S301
    assert by_option == engine.simulate(scenario.with_("run.seed=9")).digest
    assert by_option == engine.simulate(case.file, settings=["run.seed=9"]).digest


def several(case: Combination) -> None:
    """Compare the first of several runs, which are made elsewhere, with the single run."""
    done = case.command("simulate", case.file, "--runs", "2", "--json")
    assert done.returncode == 0, done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["digest"], first["run"], second["run"]) == (case.summary["digest"], 0, 1)


FLOW_COLUMNS: dict[str, Callable[[Tables], str]] = {
    "RTT ms": lambda flow: f"{flow['rtt_ms']:g}",
    "goodput Mbit/s": lambda flow: f"{flow['goodput_mbps']:.2f}",
    "mean window": lambda flow: "-" if flow["mean_window"] is None else f"{flow['mean_window']:.1f}",
    "resent": lambda flow: str(flow["retransmitted_packets"]),
    "dropped": lambda flow: str(flow["dropped_packets"]),
    "timeouts": lambda flow: str(flow["timeouts"]),
}


def printed(case: Combination) -> None:
    """Look for each number in terminals of several widths, or for the name of its omitted column."""
    for width in (60, 80, 100, 200):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                tables, "Console", lambda columns=width, **more: Console(**more | {"width": columns})
            )
            text = case.command("simulate", case.file).stdout
        assert all(len(line) <= width for line in text.split("\n\n")[0].splitlines()[1:4])
        left_out = [line for line in text.splitlines() if line.startswith("Left out")]
        for heading, number in FLOW_COLUMNS.items():
            for flow in case.summary["flows"]:
                assert number(flow) in text.split() or any(heading in line for line in left_out), (
                    width,
                    heading,
                )
        link = case.summary["links"][0]
        delay = link["queue_delay_p95_ms"]
        wanted = "-" if delay is None else f"{delay:.2f}"
        assert wanted in text.split() or any("p95 delay ms" in line for line in left_out), width


def elsewhere(_case: Combination) -> list[str]:
    """Return the options that say where the runs of a sweep are made."""
    return ["--threads"]


def swept(case: Combination) -> None:
    """Compare a sweep of one point with the run."""
    plan = case.folder / "plan.toml"
    plan.write_text(
        f'scenario = "{case.file.name}"\n[parameters]\nseed = {{ set = "run.seed", to = [1] }}\n'
        "[runs]\ncount = 1\n"
    )
    done = case.command("sweep", plan, "-o", case.folder / "swept", "--json", *elsewhere(case))
    assert done.returncode == 0, done.stderr
    (part,) = (case.folder / "swept").rglob("*.parquet")
    goodputs = pl.read_parquet(part)["goodput_mbps"].to_list()
    assert goodputs == [flow["goodput_mbps"] for flow in case.summary["flows"]]


def compared(case: Combination) -> None:
    """Compare the control on the path of the scenario, and run the scenario of the page again."""
    if "dumbbell" not in engine.read(case.file).tables():
        return
    output = case.folder / "compared"
    words = ("--scenario", case.file, "--duration", "2s", "--runs", "2", "-o", output, case.control)
    done = case.command("compare", *words, "--json")
    assert done.returncode == 0, done.stderr
    answers = {row["question"]: row["value"] for row in json.loads(done.stdout)}
    for given in case.folder.glob("given*"):
        given.rename(case.folder / f"no {given.name}")
    (file,) = (output / "scenarios").glob("alone-*.json")
    again = case.command("simulate", file, "--runs", "2", "--json")
    assert again.returncode == 0, again.stderr
    for hidden in case.folder.glob("no given*"):
        hidden.rename(case.folder / hidden.name.removeprefix("no "))
    goodputs = [json.loads(line)["flows"][0]["goodput_mbps"] for line in again.stdout.splitlines()]
    assert answers["goodput"] == pytest.approx(sum(goodputs) / 2, rel=1e-12)
    packets = engine.read(file).packet_bytes[0]
    assert f"packets of {packets} bytes" in (output / "index.html").read_text("utf-8")
    shown = engine.read(file).mean_rate_mbps()
    # Of 2 s the last 1.6 are measured, into which one packet may reach that began before.
    assert shown is None or answers["goodput"] <= shown + packets * 8e-6 / 1.6


WAYS = (checked, pickled, in_lab, changed, several, printed, swept, compared, kept)


def drawn(index: int, folder: Path, command: Callable[..., Finished]) -> Combination:
    """Return a combination: each control on each path in turn, with a random named path and RTT."""
    draw = random.Random(f"{SEED} {index}")  # noqa: S311
    names = [*PATHS, "named"]
    control, kind = CONTROLS[index % len(CONTROLS)], names[index // len(CONTROLS) % len(names)]
    described = {"path": draw.choice(list(completion.paths()))} if kind == "named" else PATHS[kind]
    flow = {"controller": control, "rtt": f"{draw.choice([600, 800])} ms" if kind == "named" else "40 ms"}
    run = {"duration": "1 s", "warmup": "200 ms", "seed": 1}
    folder.mkdir(parents=True)
    (folder / "given").mkdir()
    (folder / "given/up.trace").write_text("4\n9\n15\n20\n")
    (folder / "given/lost.trace").write_text("0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1\n" * 3)
    file = folder / "case.json"
    file.write_text(
        json.dumps({**described, "run": run, "flow": [flow, {"controller": "reno", "rtt": flow["rtt"]}]})
    )
    done = command("simulate", file, "--json")
    assert done.returncode == 0, done.stderr
    return Combination(file, command, json.loads(done.stdout), draw)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "combined_mine.py").write_text(OWN)
    (tmp_path / "combined_helper.py").write_text("GAIN = 1.0\n")
    for name in ("combined_mine", "combined_helper"):
        sys.modules.pop(name, None)
    for name in CONTROLS:
        controls._registered.pop(name, None)
    return tmp_path


EVERY = len(CONTROLS) * (len(PATHS) + 1)


@pytest.mark.parametrize("index", range(EVERY), ids=lambda index: f"seed {SEED}, {index}")
def test_a_combination_is_the_same_in_every_way(
    index: int, own: Path, ackclock_here: Callable[..., Finished]
) -> None:
    case = drawn(index, own / "case", ackclock_here)
    ways = case.draw.sample(WAYS[:-1], 3)
    if "combined_mine" in case.control:
        # It takes five seconds: on a named path always, and on the others among all ways of all cases.
        ways = [way for way in ways if way is not compared]
        ways += [compared] if index == EVERY - 1 else []
    for way in ways:
        way(case)
    kept(case)


@pytest.mark.long
@pytest.mark.parametrize("index", range(EVERY), ids=lambda index: f"seed {SEED}, {index}")
def test_every_combination_is_the_same_in_every_way(
    index: int, own: Path, ackclock_here: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = drawn(index, own / "case", ackclock_here)
    where = case.draw.choice(["--threads", "--processes"])
    monkeypatch.setattr(sys.modules[__name__], "elsewhere", lambda _: [where])
    for way in WAYS:
        way(case)


CHEAP = (checked, pickled, in_lab, changed, several, printed)
"""Ways that take a tenth of a second each."""
DRAWS = 300


@pytest.mark.long
@pytest.mark.parametrize("index", range(DRAWS), ids=lambda index: f"seed {SEED}, {index}")
def test_every_control_on_drawn_paths_is_the_same_in_cheap_ways(
    index: int, own: Path, ackclock_here: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = [entry["name"] for entry in engine.controllers() if entry["kind"] == "window"]
    names = random.Random(f"{SEED} controls").sample([name for name in windows if ":" not in name], 40)  # noqa: S311
    monkeypatch.setattr(sys.modules[__name__], "CONTROLS", tuple(names))
    case = drawn(index, own / "case", ackclock_here)
    for way in CHEAP:
        way(case)


def test_a_cluster_and_processes_make_the_runs_of_ones_own_control(
    own: Path, ackclock_here: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        for index in range(len(CONTROLS) - 2, len(CONTROLS)):
            # One's own control by its name and by its label, with traces and with events.
            case = drawn(2 * index * len(CONTROLS) % EVERY + index, own / f"case {index}", ackclock_here)
            for choice in (["--processes"], ["--cluster", cluster.scheduler_address]):
                monkeypatch.setattr(sys.modules[__name__], "elsewhere", lambda _, chosen=choice: chosen)
                swept(case)
                shutil.rmtree(case.folder / "swept")


def test_a_moved_result_with_a_control_of_ones_own_runs_in_a_fresh_process(
    own: Path, ackclock_here: Callable[..., Finished]
) -> None:
    index = CONTROLS.index("combined_mine:Mine") + 2 * len(CONTROLS)
    case = drawn(index, own / "case", ackclock_here)
    assert ackclock_here("simulate", case.file, "-o", own / "result").returncode == 0
    moved = own / "other machine" / "result"
    shutil.move(own / "result", moved)
    shutil.rmtree(case.folder)
    (own / "combined_mine.py").unlink()
    command = [sys.executable, "-m", "ackclock", "simulate", "scenario.toml", "--json"]
    done = subprocess.run(command, cwd=moved, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["digest"] == case.summary["digest"]
