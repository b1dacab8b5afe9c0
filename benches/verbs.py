"""What whole verbs spend processor time on, by samples of their threads, for docs/performance.md."""

from __future__ import annotations

import collections
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
EVERY_S = 0.002
"""Time between samples."""
COMPARE = "compare reno cubic --rate 20mbit --rtt 40ms --duration 30s --runs 3"
VERBS = {
    f"`{COMPARE}`": [*COMPARE.split(), "--jobs", "1", "-o", "{}/compare"],
    "`evaluate reno --quick`": ["evaluate", "reno", "--quick", "--jobs", "1", "-o", "{}/evaluate"],
    "`reproduce --quick`": ["reproduce", "--quick", "--jobs", "1", "-o", "{}/reproduce"],
}
PARTS = {
    "engine": ("ackclock/engine/simulation.py",),
    "PDF": ("matplotlib/backends/backend_pdf.py",),
    "PNG": ("matplotlib/backends/backend_agg.py",),
    "layout and drawing": ("/matplotlib/",),
    "imports": ("<frozen importlib._bootstrap",),
    "tables and files": ("/polars/", "ackclock/engine/storage.py"),
}
"""Parts of the time by the files of their functions; a sample belongs to the first one in its stack."""


def stack(frame: FrameType | None) -> Iterator[str]:
    """Return the files of a stack."""
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back


def part(files: list[str]) -> str:
    """Return the part that a stack belongs to."""
    return next((name for name, marks in PARTS.items() if any(m in f for f in files for m in marks)), "rest")


def sample(spent_s: dict[str, float], main: int, ended: threading.Event) -> None:
    """Book the time between samples to the engine, if a thread is in it, else to the main thread's part."""
    before_s = time.process_time()
    while not ended.wait(EVERY_S):
        frames = sys._current_frames()
        frames.pop(threading.get_ident(), None)
        parts = {ident: part(list(stack(frame))) for ident, frame in frames.items()}
        now_s = time.process_time()
        spent_s["engine" if "engine" in parts.values() else parts.get(main, "rest")] += now_s - before_s
        before_s = now_s


def run(arguments: list[str]) -> None:
    """Run a verb in this process, and print its processor time and the shares of its parts."""
    spent_s: dict[str, float] = collections.defaultdict(float)
    ended = threading.Event()
    sampler = threading.Thread(target=sample, args=(spent_s, threading.get_ident(), ended), daemon=True)
    begin_s = time.process_time()
    sampler.start()
    # Imported here, so that it is counted.
    from ackclock.cli.main import main as verb

    sys.argv = ["ackclock", *arguments]
    try:
        verb()
    except SystemExit as exit_:
        if exit_.code not in (0, None):
            raise
    finally:
        ended.set()
    total = sum(spent_s.values())
    shares = [spent_s[name] / total for name in [*PARTS, "rest"]]
    print("\n" + " ".join(f"{value:.4f}" for value in (time.process_time() - begin_s, *shares)))


def main() -> None:
    """Run each verb in a process of its own, on one core, and put the shares into docs/performance.md."""
    # Not in the processes that are sampled.
    from shared import put
    from speed import machine

    from ackclock.draw import markdown

    rows = []
    for name, arguments in VERBS.items():
        with tempfile.TemporaryDirectory() as directory:
            command = [sys.executable, __file__, *(each.format(directory) for each in arguments)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, *shares = map(float, done.stdout.split("\n")[-2].split())
        rows.append([name, f"{seconds:.1f}", *(f"{share:.0%}" for share in shares)])
        print(markdown.row(rows[-1]), flush=True)
    head = ["verb, one core", "CPU s", *PARTS, "rest"]
    put(PAGE, "verbs", "bench", [*machine(), "", *markdown.table(head, rows)])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1:])
    else:
        main()
