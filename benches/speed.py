"""Speed of whole processes, timed from outside; the table goes to docs/performance.md."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared import COMMAND, ROOT, put

from ackclock.draw import markdown
from ackclock.engine import build

PAGE = ROOT / "docs" / "performance.md"
REPETITIONS = 3


@dataclass(frozen=True)
class Load:
    """A scenario to be timed: one bottleneck of `rate`, RTT 100 ms, a buffer of one BDP."""

    name: str
    flow: Mapping[str, Any]
    rate_mbps: int
    simulated_s: float

    def scenario(self) -> dict[str, Any]:
        """Return the tables of the scenario."""
        # Packets of 8000 bits: rate * 0.1 s / 8000 bits fill the path.
        product = build.packets(self.rate_mbps * 1_000_000 // 80_000)
        path = build.dumbbell(build.mbps(self.rate_mbps), "50 ms", product)
        path["dumbbell"]["reverse"] = {"queue": path["dumbbell"]["queue"]}
        flow = build.flow(rtt="100 ms", recovery="sack", **self.flow)
        return build.scenario(path, flow, duration=build.seconds(self.simulated_s))


MANY = {"controller": "reno", "count": 1000, "overhead": "10 us", "start": {"uniform": ["0 s", "1 s"]}}
HUNDRED_THOUSAND = MANY | {"count": 100_000}
# About 10 s of wall time at 5 million packets per second: 50 million packets.
LOADS = (
    Load("one Reno flow, 2.5 Gbit/s", {"controller": "reno"}, 2500, 160),
    Load("one Illinois flow, 2.5 Gbit/s", {"controller": "illinois"}, 2500, 160),
    Load("1000 Reno flows, 2.5 Gbit/s", MANY, 2500, 80),
    Load("one Reno flow, 100 Mbit/s", {"controller": "reno"}, 100, 4000),
    Load("one Reno flow, 1 Gbit/s", {"controller": "reno"}, 1000, 400),
    Load("one Reno flow, 10 Gbit/s", {"controller": "reno"}, 10000, 40),
    Load("100 000 Reno flows, 100 Gbit/s", HUNDRED_THOUSAND, 100_000, 10),
)


@dataclass(frozen=True)
class Timing:
    """The time and memory of one process."""

    wall_s: float
    peak_mb: float
    packets: int


# A process inherits the peak memory of its parent, so a small parent starts the measured process.
STARTER = """
import os, resource, sys
status = os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


def measure(file: Path) -> Timing:
    """Run a scenario in a process of its own."""
    command = [sys.executable, "-S", "-c", STARTER, COMMAND, "simulate", str(file), "--json"]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - begin
    packets = re.search(r'"packets_simulated": (\d+)', done.stdout)
    if done.returncode != 0 or packets is None:
        sys.exit(f"{' '.join(command[4:])} failed: {done.stderr}")
    return Timing(wall_s, int(done.stderr.splitlines()[-1]) / 1024, int(packets[1]))


def machine() -> list[str]:
    """Describe where this runs."""

    def first(file: str, key: str) -> str:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "?")

    memory_gib = int(first("/proc/meminfo", "MemTotal").split()[0]) / 1024**2
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    return [
        f"- processor: {first('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores",
        f"- memory: {memory_gib:.0f} GiB",
        f"- {rust.stdout.split(' (')[0].strip()}, Python {platform.python_version()}",
    ]


def main() -> None:
    """Time every load and write the page."""
    head = ["load", "simulated s", "M packets", "wall s", "M packets/s", "ns per packet", "peak MB"]
    rows: list[list[str]] = []
    print(markdown.row(head))
    with tempfile.TemporaryDirectory() as directory:
        for load in LOADS:
            file = Path(directory) / "load.json"
            file.write_text(json.dumps(load.scenario()), encoding="utf-8")
            timings = [measure(file) for _ in range(REPETITIONS)]
            wall_s = statistics.median(timing.wall_s for timing in timings)
            peak_mb = max(timing.peak_mb for timing in timings)
            packets = timings[0].packets
            cells = [load.name, f"{load.simulated_s:g}", f"{packets / 1e6:.1f}", f"{wall_s:.2f}"]
            cells += [f"{packets / wall_s / 1e6:.2f}", f"{wall_s / packets * 1e9:.0f}"]
            cells += [f"{peak_mb:.0f}"]
            rows.append(cells)
            print(markdown.row(cells), flush=True)
    costs = subprocess.run(
        ["cargo", "bench", "--quiet", "-p", "ackclock-cc", "--bench", "cost"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    print(costs.stdout, end="")
    cost_rows = [line.split(",") for line in costs.stdout.splitlines()]
    section = [
        f"Whole processes (`ackclock simulate FILE --json`), timed from outside, median of "
        f"{REPETITIONS}; packets are data packets, retransmissions included; peak is the largest.",
        "",
        *machine(),
        "",
        *markdown.table(head, rows),
        "",
        "What one acknowledgement costs each control, the call through its box included: "
        "mean over 20 million acknowledgements of congestion avoidance, median of 3.",
        "",
        *markdown.table(["control", "ns per ACK"], cost_rows),
    ]
    put(PAGE, "speed", "bench", section)
    print(f"written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
