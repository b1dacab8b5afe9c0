"""The gain of a profile: digests, instructions and processor time with and without it.

The profile is kept for wheels if it makes the engine at least 5 % faster, and removed otherwise.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from instructions import LOADS, ROOT, RUN, measure, write
from shared import put

from ackclock.draw import markdown
from ackclock.metrics import over_runs

TIMED = ("reno", "1000-flows", "rack", "cubic", "bbr", "red", "codel", "delayed-ack", "quic")
LONGER = 10
"""Factor of the simulated times, so that starting weighs little."""
LEAST = 1.05
"""The speed-up that is worth a second build."""


def digests(extension: Path) -> str:
    """Return the digests of all runs that the profile is learnt from."""
    command = [sys.executable, str(ROOT / "benches" / "train.py"), str(extension)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def seconds(extension: Path, file: Path) -> float:
    """Return the processor time of a process that simulates, user and system."""
    command = [sys.executable, "-S", "-c", RUN, str(extension), str(file)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def times(without: Path, profiled: Path, pairs: int) -> dict[str, tuple[float, str]]:
    """Return the ratio of processor times, without over with, and its text; pairs in turn."""
    ratios = {}
    for name in TIMED:
        with tempfile.TemporaryDirectory() as folder:
            load = LOADS[name]
            file = write(load, LONGER * load.to_s, Path(folder))
            logarithms = [
                float(np.log(seconds(without, file) / seconds(profiled, file))) for _ in range(pairs)
            ]
        of_all = over_runs(logarithms)
        middle, low, high = (float(np.exp(bound)) for bound in (of_all.value, of_all.low, of_all.high))
        ratios[name] = middle, f"{middle:.2f} ({low:.2f} to {high:.2f})"
    return ratios


def main() -> None:
    """Compare, print, and keep the profile or not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("profiled", type=Path, help="the extension that was built with a profile")
    parser.add_argument("profile", type=Path, help="is removed if it gains less than 5 %%")
    parser.add_argument("--pairs", type=int, default=5, help="of processes, per load")
    parser.add_argument("--update", action="store_true", help="put it into docs/performance.md")
    arguments = parser.parse_args()
    without = next((ROOT / "python" / "ackclock").glob("_native*.so"))
    if digests(without) != digests(arguments.profiled):
        sys.exit("the extension with a profile gives other digests")
    before, after = (measure(list(LOADS), extension, None) for extension in (without, arguments.profiled))
    ratios = times(without, arguments.profiled, arguments.pairs)
    rows = [
        [
            name,
            str(before[name]),
            str(after[name]),
            f"{after[name] / before[name] - 1:+.0%}",
            ratios[name][1] if name in ratios else "",
        ]
        for name in LOADS
    ]
    head = [
        "load",
        "instructions per data packet",
        "with a profile",
        "change",
        "processor time, without / with",
    ]
    gain = statistics.geometric_mean(middle for middle, _ in ratios.values())
    words = f"Over these loads it is {gain:.2f} times as fast (geometric mean)"
    if gain < LEAST:
        arguments.profile.unlink()
    verdict = "wheels are built with it" if gain >= LEAST else "too little: wheels do without"
    lines = [*markdown.table(head, rows), "", f"{words}: {verdict}."]
    print("\n".join(lines))
    if arguments.update:
        put(ROOT / "docs" / "performance.md", "pgo", "pgo", lines)


if __name__ == "__main__":
    main()
