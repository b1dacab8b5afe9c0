"""The cost of start-up and Python next to the engine's; the tables go to docs/performance.md."""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from shared import ROOT, put

import ackclock
from ackclock import engine
from ackclock.draw import markdown

PAGE = ROOT / "docs" / "performance.md"
COMMANDS = 20
"""How often a command is started."""
RUNS = 5
"""How often a scenario is run."""

UNWRITTEN = "the same with `PYTHONDONTWRITEBYTECODE=1`"
LOADS = ((1, 1), (1, 100), (1, 1000), (100, 100))
"""Flows and simulated seconds."""


def scenario(flows: int, simulated_s: int) -> ackclock.Scenario:
    """Return Reno flows on a link of 100 Mbit/s, RTT 100 ms, with a buffer of one BDP."""
    return ackclock.scenario(
        ackclock.dumbbell("100 Mbit/s", "50 ms", "1250 packets"),
        ackclock.flow("reno", rtt="100 ms", count=flows, overhead="10 us"),
        duration=f"{simulated_s} s",
    )


def processor_ms(command: list[str], *, keeps_bytecode: bool = True) -> float:
    """Run a command that must succeed; return its processor time, milliseconds."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "" if keeps_bytecode else "1"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with status {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e3


def commands(directory: Path) -> list[list[str]]:
    """Time short commands and imports, in turn, so that a busy machine is busy for all."""
    file = str(directory / "short.json")
    Path(file).write_text(json.dumps(scenario(1, 1).written()), encoding="utf-8")
    python, verb = [sys.executable, "-c"], [sys.executable, "-m", "ackclock"]
    output = ["-o", str(directory / "result"), "--force"]
    timed = {
        "`python -S -c pass`": [sys.executable, "-S", "-c", "pass"],
        "`python -c pass`": [*python, "pass"],
        "`import ackclock`": [*python, "import ackclock"],
        "`ackclock --help`": [*verb, "--help"],
        "`ackclock controllers`": [*verb, "controllers"],
        "`ackclock check`": [*verb, "check", file],
        "`ackclock simulate --json`, 1 s": [*verb, "simulate", file, "--json"],
        UNWRITTEN: [*verb, "simulate", file, "--json"],
        "`ackclock simulate`, 1 s: a table, by Rich": [*verb, "simulate", file],
        "`ackclock simulate -o`, 1 s: and frames, by Polars": [*verb, "simulate", file, *output],
        "`import polars`": [*python, "import polars"],
        "`import matplotlib.pyplot`": [*python, "import matplotlib.pyplot"],
    }
    durations: dict[str, list[float]] = {name: [] for name in timed}
    # The first round writes the bytecode that `make setup` does not, and is not counted.
    for turn in range(COMMANDS + 1):
        for name, command in timed.items():
            spent_ms = processor_ms(command, keeps_bytecode=name != UNWRITTEN)
            if turn:
                durations[name].append(spent_ms)
    return [
        [name, f"{min(times):.0f}", f"{statistics.median(times):.0f}"] for name, times in durations.items()
    ]


def stages(flows: int, simulated_s: int, directory: Path) -> list[str]:
    """Time the steps of one run in a process that has loaded everything, milliseconds."""
    durations: dict[str, list[float]] = {}
    given = scenario(flows, simulated_s)

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = work()
        durations.setdefault(name, []).append((time.process_time() - begin) * 1e3)
        return result

    def picture(run: engine.Run) -> None:
        figure = run.plot.window()
        figure.savefig(io.BytesIO(), format="png")
        plt.close(figure)

    for _ in range(RUNS + 1):
        checked = timed("read", lambda: engine.read(given))
        run = timed("engine", lambda: engine.simulate(checked))  # noqa: B023
        timed("frames", lambda: (run.flows, run.windows, run.queues, run.events))  # noqa: B023
        timed("metrics", lambda: run.metrics)  # noqa: B023
        timed("picture", lambda: picture(run))  # noqa: B023
        timed("Parquet", lambda: run.save(directory / "run", force=True))  # noqa: B023
    packets = run.summary["packets_simulated"] / 1e6
    # Without the first, which loads libraries.
    medians = [statistics.median(times[1:]) for times in durations.values()]
    return [str(flows), str(simulated_s), f"{packets:.3f}", *(f"{median:.1f}" for median in medians)]


def main() -> None:
    """Time everything and write the page."""
    with tempfile.TemporaryDirectory() as name:
        started = commands(Path(name))
        head = ["flows", "simulated s", "M packets", "read", "engine", "frames", "metrics"]
        head += ["picture", "Parquet"]
        rows = [stages(*load, Path(name)) for load in LOADS]
    section = [
        f"Processor time of whole processes on the machine above, {COMMANDS} times each in turn.",
        "",
        *markdown.table(["command", "best ms", "median ms"], started),
        "",
        "One recorded run in a process that has loaded everything: processor time in ms, all "
        f"threads together, median of {RUNS}. Reno at 100 Mbit/s, RTT 100 ms, a sample every "
        "100 ms; `read` checks the scenario, `frames` makes the four tables, `metrics` is "
        "`run.metrics`, `picture` is `run.plot.window()` as PNG, `Parquet` is `run.save`.",
        "",
        *markdown.table(head, rows),
    ]
    print("\n".join(section))
    put(PAGE, "startup", "bench", section)
    print(f"written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
