"""The cost of a sweep in addition to its runs: throughput against copies by hand, overhead, memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shared import ROOT, put

from ackclock.draw import markdown

PAGE = ROOT / "docs" / "performance.md"
REPETITIONS = 3
WORKERS = 2

PATH = """\
[run]
duration = "{duration} s"
[dumbbell]
rate = "{rate} Mbit/s"
delay = "10 ms"
queue = {{ kind = "droptail", limit = "200 packets" }}
loss = {{ kind = "bernoulli", rate = "0.01 %" }}
[[flow]]
controller = "reno"
rtt = "40 ms"
"""
SWEEP = """\
scenario = "path.toml"
[runs]
count = {count}
"""
# Half a minute of work, so that starting processes weighs little.
RUNS, LONG = 240, PATH.format(duration=200, rate=100)
SHORT = PATH.format(duration=1, rate=1)

BY_HAND = """
import sys
from ackclock import engine
scenario = engine.read("path.toml")
for run in range(int(sys.argv[1]), {runs}, {workers}):
    engine.summary(scenario, run=run)
"""
SWEEP_BY = """
import sys, time, contextlib
from ackclock import sweep
with contextlib.ExitStack() as stack:
    cluster = None
    if sys.argv[1] == "dask":
        import distributed
        cluster = stack.enter_context(distributed.LocalCluster(
            n_workers={workers}, threads_per_worker=1, dashboard_address=None)).scheduler_address
    begin = time.monotonic()
    sweep("sweep.toml", jobs={workers}, cluster=cluster, processes=sys.argv[1] == "processes")
    print(time.monotonic() - begin)
"""


def _start(code: str, *arguments: str) -> subprocess.Popen[str]:
    code = code.format(runs=RUNS, workers=WORKERS)
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)


def _by_hand() -> float:
    begin = time.monotonic()
    for process in [_start(BY_HAND, str(first)) for first in range(WORKERS)]:
        assert process.wait() == 0  # noqa: S101
    return time.monotonic() - begin


def _by_sweep(kind: str) -> float:
    """Time the sweep itself; a cluster is started before its sweeps."""
    with tempfile.TemporaryDirectory(dir=".") as output:
        code = SWEEP_BY.replace('"sweep.toml",', f'"sweep.toml", {output!r},')
        out, _ = _start(code, kind).communicate()
    return float(out)


def _measure() -> list[str]:
    Path("path.toml").write_text(LONG)
    Path("sweep.toml").write_text(SWEEP.format(count=RUNS))
    times: dict[str, list[float]] = {"two copies by hand": []}
    kinds = ("threads", "processes", "dask")
    for _ in range(REPETITIONS):
        times["two copies by hand"].append(_by_hand())
        for kind in kinds:
            times.setdefault(kind, []).append(_by_sweep(kind))
    base = statistics.median(times["two copies by hand"])
    middles = {name: statistics.median(taken) for name, taken in times.items()}
    long = [[name, f"{middle:.1f} s", f"{base / middle:.3f}"] for name, middle in middles.items()]
    short = []
    Path("path.toml").write_text(SHORT)
    for count in (1000, 10_000, 50_000):
        Path("sweep.toml").write_text(
            SWEEP.format(count=10)
            + '[parameters]\nseed = { set = "run.seed", to = { from = 1, through = '
            + f"{count // 10}, count = {count // 10}"
            + " } }\n"
        )
        taken, peak = _short()
        short.append([count, f"{1000 * taken / count:.2f} ms", f"{peak:.0f} MB"])
    heads = ["240 runs of 2.4 M packets, two at once", "time", "throughput, two copies = 1"]
    short_heads = ["short runs (a hundred packets)", "per run, one thread", "peak memory"]
    return [*markdown.table(heads, long), "", *markdown.table(short_heads, short)]


def _short() -> tuple[float, float]:
    code = (
        "import resource, time\nfrom ackclock import sweep\nbegin = time.monotonic()\n"
        "sweep('sweep.toml', OUTPUT, jobs=1)\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(time.monotonic() - begin, peak / 1024)"
    )
    with tempfile.TemporaryDirectory(dir=".") as output:
        out, _ = _start(code.replace("OUTPUT", repr(output))).communicate()
    taken, peak = out.split()
    return float(taken), float(peak)


def main() -> None:
    """Measure, and put the tables into docs/performance.md."""
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        lines = _measure()
        os.chdir(ROOT)
    put(PAGE, "sweeps", "bench", lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
