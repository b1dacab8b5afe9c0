"""One path in ns-2 and in ackclock: processor times of whole processes, and instructions per data packet."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from instructions import LOADS, count
from scipy import stats
from shared import COMMAND, ROOT, put
from speed import machine

from ackclock.draw import markdown
from ackclock.engine import build

PAGE = ROOT / "docs" / "performance.md"
RATE_MBPS, DELAY_MS, QUEUE_PACKETS = 100, 50, 1250
"""One flow of Reno with SACK; the queue is one bandwidth-delay product of packets of 1000 bytes."""
ROUNDS = {300: 5, 3000: 2}
"""How often each program runs, by simulated seconds; each takes its turn in every round."""
COUNTED = (4, 10)
"""Simulated seconds of the two runs whose difference is counted, as in `instructions.py`."""
LARGEST_DIFFERENCE = 0.02
"""Largest relative difference of packets sent: beyond it the programs do not do the same work."""


def scripts(seconds: int, folder: Path) -> dict[str, list[str]]:
    """Return the commands that run ns-2, by their description.

    Parameters
    ----------
    seconds
        Simulated time.
    folder
        Where files go.
    """
    least = ROOT / "benches" / "ns2.tcl"
    path = [str(RATE_MBPS), str(DELAY_MS), str(QUEUE_PACKETS), str(seconds)]
    dumbbell = ROOT / "tests" / "data" / "ns2" / "dumbbell.tcl"
    keys = {
        "rate": RATE_MBPS,
        "delay": DELAY_MS,
        "buf": QUEUE_PACKETS,
        "flows": "sack1:0:0",
        "T": seconds,
        "warm": 1,
        "out": folder / "ns2",
    }
    plain = ["ns", str(least), *path]
    return {
        "two nodes, no headers but IP, TCP and Flags": [*plain, "IP", "TCP", "Flags"],
        "two nodes": plain,
        "two nodes with access links, sampled every 10 ms": [
            *("ns", str(dumbbell)),
            *(f"{key}={value}" for key, value in keys.items()),
        ],
    }


def scenario(seconds: int) -> dict[str, object]:
    """Return the same path as a scenario of ackclock."""
    queue = build.packets(QUEUE_PACKETS)
    path = build.dumbbell(build.mbps(RATE_MBPS), build.milliseconds(DELAY_MS), queue)
    path["dumbbell"]["reverse"] = {"queue": path["dumbbell"]["queue"]}
    flow = build.flow("reno", rtt=build.milliseconds(2 * DELAY_MS), recovery="sack")
    return build.scenario(path, flow, duration=build.seconds(seconds))


def time_of(command: Sequence[str]) -> tuple[float, str]:
    """Run a command; return its processor time in seconds, user and system, and its output."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)} failed with status {process.returncode}")
        output.seek(0)
        return usage.ru_utime + usage.ru_stime, output.read()


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> str:
    """Return the geometric mean of the ratios of pairs, with its interval (95 %, t of the logs)."""
    logs = np.log(numerators) - np.log(denominators)
    middle = math.exp(logs.mean())
    half = stats.t.ppf(0.975, len(logs) - 1) * stats.sem(logs) if len(logs) > 1 else math.nan
    if not math.isfinite(half):
        return f"{middle:.1f}"
    return f"{middle:.1f} ({middle * math.exp(-half):.1f} to {middle * math.exp(half):.1f})"


def compare(seconds: int, rounds: int) -> list[list[str]]:
    """Let the programs take turns; return a row of the table for each way to run ns-2."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        file = folder / "path.json"
        file.write_text(json.dumps(scenario(seconds)), encoding="utf-8")
        commands = scripts(seconds, folder)
        own: list[float] = []
        theirs: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            time_s, output = time_of([COMMAND, "simulate", str(file), "--json"])
            own.append(time_s)
            packets = json.loads(output)["packets_simulated"]
            for name, command in commands.items():
                time_s, output = time_of(command)
                theirs[name].append(time_s)
                if (sent := re.match(r"\d+", output)) and not math.isclose(
                    int(sent[0]), packets, rel_tol=LARGEST_DIFFERENCE
                ):
                    sys.exit(f"ns-2 sent {sent[0]} packets, ackclock {packets}")
    rows = []
    for name, times in theirs.items():
        middles = [f"{np.median(times):.2f}", f"{np.median(own):.2f}"]
        row = [f"{seconds}", f"{rounds}", name, f"{packets / 1e6:.2f}", *middles]
        rows.append([*row, ratio(times, own)])
        print(markdown.row(rows[-1]), flush=True)
    return rows


def collected(command: Sequence[str]) -> int:
    """Return the instructions of a command, counted by callgrind."""
    count_it = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*count_it, *command], capture_output=True, text=True, check=True)
    total = re.search(r"Collected : (\d+)", done.stderr)
    if total is None:
        sys.exit(done.stderr)
    return int(total[1])


def instructions() -> dict[str, int]:
    """Return the instructions per data packet of each way to run ns-2, after slow start."""
    with tempfile.TemporaryDirectory() as directory:
        few, many = (scripts(seconds, Path(directory)) for seconds in COUNTED)
        plain = "two nodes"
        sent = [int(time_of(commands[plain])[1].split()[0]) for commands in (few, many)]
        packets = sent[1] - sent[0]
        return {name: round((collected(many[name]) - collected(few[name])) / packets) for name in few}


def main() -> None:
    """Compare, and put the tables into docs/performance.md."""
    for program, package in (("ns", "ns2"), ("valgrind", "valgrind")):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing: apt-get install {package}")
    extension = next((ROOT / "python" / "ackclock").glob("_native*.so"), None)
    if extension is None:
        sys.exit("the extension is missing: make setup")
    own = count(LOADS["reno"], extension, None)
    counts = [[name, f"{theirs}", f"{own}", f"{theirs / own:.1f}"] for name, theirs in instructions().items()]
    rows = [row for seconds, rounds in ROUNDS.items() for row in compare(seconds, rounds)]
    head = ["simulated s", "rounds", "ns-2", "M packets", "ns-2, CPU s", "ackclock, CPU s", "ratio"]
    head_of_counts = ["ns-2", "instructions per data packet", "ackclock", "ratio"]
    tables = [*markdown.table(head, rows), "", *markdown.table(head_of_counts, counts)]
    put(PAGE, "ns-2", "bench", [*machine(), "", *tables])


if __name__ == "__main__":
    main()
