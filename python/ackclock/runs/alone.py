"""One run, in a thread, without the pool, the processes and the store of many, which take time to load."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

from ackclock import engine
from ackclock.runs import progress

LOOK_S = 0.2
"""Longest wait; an interrupt that another thread receives is noticed only between waits."""
PATIENCE_S = 2.0
"""Threads must stop within this time after an interrupt."""


class StoppedError(Exception):
    """The work was cancelled from outside."""


def run(
    scenario: engine.Scenario,
    *,
    record: bool = True,
    pcap: Path | None = None,
    qlog: Path | None = None,
    shown: bool = True,
) -> engine.Run:
    """Make one run without limits of time and memory; raise what `engine.simulate` raises.

    The run has a thread, so that Ctrl-C ends even a control that hangs. Its flows are summarised when
    they are read.
    """
    stop = threading.Event()
    runs: list[engine.Run] = []
    errors: list[BaseException] = []

    with progress.Bar(scenario.duration_s, shown=shown) as bar:

        def look(simulated_s: float, packets: int) -> None:
            if stop.is_set():
                raise StoppedError
            bar.update(0, simulated_s, packets)

        def make() -> None:
            try:
                result = engine.simulate(
                    scenario, record=record, progress=look, pcap=pcap, qlog=qlog, lazy=True
                )
                runs.append(result)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=make)
        try:
            # A signal may arrive before the next line of this function.
            thread.start()
            while thread.is_alive():
                thread.join(LOOK_S)
        except BaseException:
            stop.set()
            # A control that hangs in the thread never notices; Ctrl-C must not wait for it.
            with contextlib.suppress(RuntimeError):  # It has not started.
                thread.join(PATIENCE_S)
            raise
    if errors:
        raise errors[0]
    return runs[0]
