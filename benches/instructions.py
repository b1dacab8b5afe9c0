"""Instructions per data packet, counted by valgrind, and their comparison with the kept counts.

Time depends on the machine's other work; the number of instructions does not. Each load is run
twice, for a shorter and a longer simulated time, under callgrind, and

    instructions per packet = (instructions, longer - shorter) / (data packets, longer - shorter),

so that the start of the interpreter, the building of the path and its first seconds, and the
summary cancel out. What is run is the extension itself, as users have it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "benches" / "instructions.csv"
HEAD = ["load", "instructions_per_packet"]
TOLERANCE = 0.02
"""Relative change that is not worth a report."""
PYTHON = "3.11"
"""The interpreter with which a control in Python is counted."""
UPDATE = ".venv/bin/python benches/instructions.py --update"

GENTLE = ROOT / "examples" / "rust-control" / "Cargo.toml"
LIBRARY = ROOT / "target" / "examples" / "release" / "libgentle.so"
"""A control of another crate, and its library."""

# The package is not imported, because its imports would be most of the run. A copy of the process that has
# loaded everything simulates each time.
RUN = (
    f"""
LIBRARY = {str(LIBRARY)!r}
"""
    + """
import importlib.machinery, importlib.util, posix, sys

class Reno:
    def __init__(self, start):
        self.window, self.ssthresh = start.window, start.ssthresh

    def on_ack(self, ack):
        growth = ack.growth
        if self.window < self.ssthresh:
            used = min(growth, self.ssthresh - self.window)
            self.window += used
            growth -= used
        if growth > 0:
            self.window += growth / self.window

    def on_loss(self, loss):
        self.window = self.ssthresh = max(2.0, self.window / 2)

    def on_timeout(self, timeout):
        self.ssthresh, self.window = max(2.0, self.window / 2), 1.0

loader = importlib.machinery.ExtensionFileLoader("_native", sys.argv[1])
native = importlib.util.module_from_spec(importlib.util.spec_from_loader("_native", loader))
loader.exec_module(native)
native.register("own", "", Reno, [], [])
for name in sys.argv[2:]:
    if posix.fork() == 0:
        with open(name) as file:
            text = file.read()
        if LIBRARY in text:
            native.load_library(LIBRARY, "")
        scenario = native.Scenario.read(text, name, [], is_json=True)
        print(scenario.simulate(lazy=True)[0]["packets_simulated"])
        break
    if posix.wait()[1] != 0:
        sys.exit(1)
"""
)

# 8 or 4 opportunities of 1500 bytes per millisecond: 96 or 48 Mbit/s.
TRACE = "".join(f"{ms}\n" * (8 if ms % 1000 < 800 else 4) for ms in range(1, 2001))


@dataclass(frozen=True)
class Load:
    """A load: a bottleneck with an RTT of 100 ms, by default one Reno flow with SACK."""

    meaning: str
    flow: Mapping[str, Any] = field(default_factory=dict)
    """Settings of all flows."""
    link: Mapping[str, Any] = field(default_factory=dict)
    rate_mbps: int = 100
    from_s: float = 4
    to_s: float = 10
    """The shorter and the longer simulated time; slow start is over by the shorter one."""
    hops: int = 1
    """Bottlenecks in a row, which share the delay."""
    flows: Sequence[Mapping[str, Any]] = ({},)
    """Settings of each flow."""

    def scenario(self) -> dict[str, Any]:
        """Return the tables of the scenario, without a duration."""
        flows = [{"controller": "reno", "rtt": "100 ms", **self.flow, **flow} for flow in self.flows]
        flows = [flow if "transport" in flow else {"recovery": "sack"} | flow for flow in flows]
        # Packets of 8000 bits: rate * 0.1 s / 8000 bits fill the path.
        limit = f"{self.rate_mbps * 1_000_000 // 80_000} packets"
        link = {
            "rate": f"{self.rate_mbps} Mbit/s",
            "delay": f"{50 / self.hops} ms",
            "queue": {"kind": "droptail", "limit": limit},
            "reverse": {"queue": {"kind": "droptail", "limit": limit}},
            **self.link,
        }
        if "rate_trace" in link:
            link["reverse"] = {"rate": link.pop("rate")}
        if self.hops > 1:
            nodes = [f"node-{number}" for number in range(self.hops + 1)]
            ends = [{"name": f"to-{far}", "from": near, "to": far} for near, far in pairwise(nodes)]
            flows = [flow | {"from": nodes[0], "to": nodes[-1]} for flow in flows]
            return {"link": [end | link for end in ends], "flow": flows}
        return {"dumbbell": link, "flow": flows}


def queue(kind: str, **settings: Any) -> dict[str, Any]:
    """Return the settings of a queue of some kind with 1250 packets (one BDP)."""
    return {"queue": {"kind": kind, "limit": "1250 packets", **settings}}


# Below the window at which the path is full, so that a thousand flows need no seconds to recover.
MANY = {"count": 1000, "overhead": "10 us", "initial_ssthresh": 24, "start": {"uniform": ["0 s", "0.3 s"]}}
MANY_AT = {**MANY, "count": 10}
# An access delay is the RTT less twice the delay of the links; it has its own wires.
NEAR = {"delay": "10 ms"}
LOADS = {
    "reno": Load("one Reno flow with SACK"),
    "overhead": Load("the same with a random delay per send", {"overhead": "10 us"}),
    "access": Load("the same with an access delay", link=NEAR),
    "two-rtts": Load(
        "two flows with RTTs of 40 and 80 ms, overhead 10 us",
        {"overhead": "10 us"},
        NEAR,
        flows=({"rtt": "40 ms"}, {"rtt": "80 ms"}),
    ),
    "compare": Load(
        "two CUBIC flows of today, as compare has them",
        {"controller": "cubic", "profile": "linux", "overhead": "0.0004 s", "packet": "1500 B"},
        {"delay": "5 ms", "queue": {"kind": "droptail", "limit": "83 packets"}},
        20,
        10,
        40,
        flows=({"rtt": "50 ms"}, {"rtt": "50 ms"}),
    ),
    "web": Load(
        "two CUBIC flows, and web traffic in both directions",
        {"overhead": "10 us"},
        NEAR,
        flows=(
            {"controller": "cubic", "count": 2},
            *(
                {"source": "web", "count": 20, "think": "300 ms", "direction": direction, "rtt": f"{rtt} ms"}
                for direction in ("forward", "reverse")
                for rtt in (30, 60, 110)
            ),
        ),
    ),
    "arrivals": Load(
        "short transfers that arrive at random",
        {"arrivals": {"load": "60 %", "sizes": [["10 kB", "100 %"]]}},
        NEAR,
        1000,
        0.5,
        1.5,
    ),
    "1000-access": Load("1000 flows with one access delay", MANY, NEAR, 2500, 0.9, 1.3),
    "1000-rtts": Load(
        "1000 flows with 100 access delays",
        MANY_AT,
        NEAR,
        2500,
        0.9,
        1.3,
        flows=tuple({"rtt": f"{60 + 0.8 * step:g} ms"} for step in range(100)),
    ),
    "1000-flows": Load("1000 Reno flows at 2.5 Gbit/s, overhead 10 us", MANY, {}, 2500, 0.9, 1.3),
    "1000-paced": Load("1000 paced Reno flows, likewise", MANY | {"pacing": True}, {}, 2500, 0.9, 1.3),
    "1000-bbr3": Load(
        "1000 BBRv3 flows with RACK, likewise",
        MANY | {"controller": "bbr3", "recovery": "rack"},
        {},
        2500,
        0.9,
        1.3,
    ),
    "rack": Load("RACK", {"recovery": "rack"}),
    "newreno": Load("NewReno", {"recovery": "newreno"}),
    "delayed-ack": Load("delayed ACKs, one per two packets", {"delayed_ack": 2}),
    "cubic": Load("CUBIC", {"controller": "cubic"}),
    "illinois": Load("Illinois", {"controller": "illinois"}),
    "bbr": Load("BBR", {"controller": "bbr"}),
    "own-python": Load("Reno in Python", {"controller": "own"}),
    "own-rust": Load("Gentle, an example in a Rust library", {"controller": f"{LIBRARY}:gentle"}),
    "red": Load("RED", {}, queue("red", min_threshold=100, max_threshold=300)),
    "codel": Load("CoDel", {}, queue("codel")),
    "fq-codel": Load("FQ-CoDel", {}, queue("fq_codel")),
    "pie": Load("PIE", {}, queue("pie")),
    "noise": Load("delay noise of up to 2 ms", {}, {"delay_noise": {"kind": "uniform", "range": "2 ms"}}),
    "rate-trace": Load("a rate from a trace, 96 and 48 Mbit/s", {}, {"rate_trace": "load.trace"}, 100, 4, 5),
    "two-hops": Load("two bottlenecks in a row", hops=2),
    "quic": Load("QUIC in virtual time", {"transport": "quic", "packet": "1500 B"}, {}, 20, 4, 7),
}


def write(load: Load, seconds: float, folder: Path) -> Path:
    """Write the scenario of a load that lasts some simulated seconds, and return its file."""
    file = folder / f"{seconds}-s.json"
    tables = load.scenario() | {"run": {"duration": f"{seconds} s"}}
    file.write_text(json.dumps(tables), encoding="utf-8")
    (folder / "load.trace").write_text(TRACE, encoding="utf-8")
    return file


def count(load: Load, extension: Path, profile: Path | None) -> int:
    """Run a load for its two simulated times, and count.

    Parameters
    ----------
    load
        The load to simulate.
    extension
        The extension that simulates.
    profile
        A file to keep callgrind's profile of the longer run in, for callgrind_annotate.

    Returns
    -------
    int
        Instructions per data packet, retransmissions included.
    """
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        files = [str(write(load, seconds, folder)) for seconds in (load.from_s, load.to_s)]
        # No site-packages and no random hashes: the interpreter does the same each time.
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/profile.%p",
            sys.executable,
            "-S",
            "-c",
            RUN,
            str(extension),
            *files,
        ]
        environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        # The counts of the two copies in turn, and then of the process that has waited for them.
        collected = re.findall(r"^==(\d+)== Collected : (\d+)$", done.stderr, re.MULTILINE)
        if done.returncode != 0 or len(collected) != len(files) + 1:
            sys.exit(f"{load.meaning}: {done.stderr.strip()}")
        (_, shorter), (longer_process, longer), _ = collected
        if profile is not None:
            shutil.copy(folder / f"profile.{longer_process}", profile)
    few, many = map(int, done.stdout.split())
    return round((int(longer) - int(shorter)) / (many - few))


def measure(names: list[str], extension: Path, profiles: Path | None) -> dict[str, int]:
    """Count the instructions per data packet of loads, as many at once as there are cores."""
    if any(str(LIBRARY) in str(LOADS[name].flow) for name in names):
        build = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", GENTLE]
        subprocess.run([*build, "--target-dir", LIBRARY.parents[1]], cwd=ROOT, check=True)

    def turn(name: str) -> int:
        return count(LOADS[name], extension, profiles and profiles / f"{name}.callgrind")

    counts = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, instructions in zip(names, pool.map(turn, names), strict=True):
            counts[name] = instructions
            print(f"{name:12} {instructions:6} instructions per data packet", flush=True)
    return counts


def compare(counts: Mapping[str, int], kept: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """Compare counts with the kept ones.

    Parameters
    ----------
    counts, kept
        Instructions per data packet, by load.

    Returns
    -------
    tuple
        A line for each load that got worse, or of which nothing is kept, and a line for each that
        got better, by more than the tolerance.
    """
    worse, better = [], []
    for name, now in counts.items():
        if name not in kept:
            worse.append(f"{name}: {now} instructions per data packet, and nothing to compare with")
            continue
        change = now / kept[name] - 1
        line = f"{name}: {now} instructions per data packet, {kept[name]} before ({change:+.1%})"
        if change > TOLERANCE:
            worse.append(line)
        elif change < -TOLERANCE:
            better.append(line)
    return worse, better


def read() -> dict[str, int]:
    """Read the kept counts."""
    if not KEPT.exists():
        return {}
    with KEPT.open(encoding="utf-8", newline="") as file:
        return {row[HEAD[0]]: int(row[HEAD[1]]) for row in csv.DictReader(file)}


def update(counts: Mapping[str, int]) -> None:
    """Keep counts, and put the whole table into docs/performance.md."""
    # Imported only here, because it needs the package.
    from shared import put

    from ackclock.draw import markdown

    kept = read() | dict(counts)
    with KEPT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        writer.writerows((name, kept[name]) for name in LOADS if name in kept)
    rows = [[name, LOADS[name].meaning, str(kept[name])] for name in LOADS if name in kept]
    head = ["load", "what it is", "instructions per data packet"]
    put(ROOT / "docs" / "performance.md", "instructions", "bench", markdown.table(head, rows))


def main() -> None:
    """Count, and compare or keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("loads", nargs="*", metavar="LOAD", help="default: all")
    parser.add_argument("--update", action="store_true", help="keep the counts")
    parser.add_argument("--extension", type=Path, help="default: that of this checkout")
    keep = "keep the profiles of the longer runs, for callgrind_annotate"
    parser.add_argument("--profiles", type=Path, metavar="FOLDER", help=keep)
    arguments = parser.parse_args()
    if unknown := set(arguments.loads) - set(LOADS):
        sys.exit(f"no load {', '.join(sorted(unknown))}; there are {', '.join(LOADS)}")
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is missing: apt-get install valgrind")
    if platform.machine() != "x86_64":
        sys.exit(f"the counts kept are of x86_64, this is {platform.machine()}")
    extension = arguments.extension
    if extension is None:
        extension = next((ROOT / "python" / "ackclock").glob("_native*.so"), None)
        if extension is None:
            sys.exit("the extension is missing: make setup")
    if arguments.profiles:
        arguments.profiles.mkdir(parents=True, exist_ok=True)
    names = arguments.loads or list(LOADS)
    if not platform.python_version().startswith(f"{PYTHON}."):
        print(f"own-python is left out: its count is of Python {PYTHON}, this is {platform.python_version()}")
        names = [name for name in names if name != "own-python"]
    counts = measure(names, extension, arguments.profiles)
    if arguments.update:
        update(counts)
        return
    worse, better = compare(counts, read())
    if better:
        print("\n".join(["Better, to be kept:", *better, f"  {UPDATE} {' '.join(counts)}"]))
    if worse:
        sys.exit("\n".join(["Worse:", *worse, f"If it must be, and the commit says why: {UPDATE}"]))


if __name__ == "__main__":
    main()
