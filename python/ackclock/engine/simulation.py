"""One run of a scenario."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ackclock.engine import carried
from ackclock.engine.run import Run
from ackclock.engine.scenario import Given, Scenario, read
from ackclock.errors import SimulationError
from ackclock.summary import Summary

Progress = Callable[[float, int], None]
"""Called with simulated seconds and packets about every 50 ms; an exception ends the run."""


def simulate(
    scenario: Given,
    *,
    settings: Sequence[str] = (),
    run: int = 0,
    record: bool = True,
    progress: Progress | None = None,
    pcap: Path | str | None = None,
    qlog: Path | str | None = None,
    lazy: bool = False,
) -> Run:
    """Simulate a scenario packet by packet.

    Parameters
    ----------
    scenario : Path, str, mapping or Scenario
        A path, TOML text (it contains a line break), nested mappings, or a scenario read
        before.
    settings : sequence of str
        Changes such as ``"flow.0.rtt=80ms"``.
    run : int
        Number of the run: other random streams of the same seed.
    record : bool
        Also record windows, queues and events over time.
    progress : callable, optional
        Called with simulated seconds and packets about every 50 ms.
    pcap : Path or str, optional
        File for the packets, readable by tshark.
    qlog : Path or str, optional
        Existing directory for a file ``NAME.sqlog`` of every QUIC flow, readable by qvis.
    lazy : bool
        Summarise each flow when it is read: ``summary["flows"]`` is then a read-only sequence instead
        of a list, and takes little memory for many flows.

    Returns
    -------
    Run
        Summary, tables and the scenario as run.

    Raises
    ------
    ScenarioError
        If the scenario is refused: file, line, key and the allowed values.
    SimulationError
        If the simulation itself fails, or a control panics or calls `sys.exit`. Other
        exceptions of a control written in Python are raised unchanged, with their tracebacks.

    Examples
    --------
    >>> import ackclock
    >>> path = ackclock.dumbbell("10 Mbit/s", "20 ms", queue="50 packets")
    >>> run = ackclock.simulate(ackclock.scenario(path, ackclock.flow("reno", rtt="50 ms"), duration="5 s"))
    >>> run.flows["controller"].to_list()
    ['reno']
    """
    checked = read(scenario, settings=settings)
    whole = carried.of(checked)
    with _ends_alone():
        summary, tables = checked.simulate(
            run=run,
            record=record,
            progress=progress,
            pcap=None if pcap is None else str(pcap),
            qlog=None if qlog is None else str(qlog),
            lazy=lazy,
        )
    return Run(summary, whole.scenario.toml(), dict(tables), whole.files)


def summary(scenario: Scenario, *, run: int = 0, progress: Progress | None = None) -> Summary:
    """Simulate a scenario and return only its summary, as many short runs need.

    Parameters
    ----------
    scenario : Scenario
        The scenario to run.
    run, progress
        Arguments as for `simulate`.

    Returns
    -------
    dict
        The same as `Run.summary`.

    Raises
    ------
    SimulationError
        For the same reasons as `simulate`.
    """
    with _ends_alone():
        summary, _ = scenario.simulate(run=run, progress=progress)
    return summary


@contextmanager
def _ends_alone() -> Iterator[None]:
    """Turn an exit in the block that would end more than the run into a failure of that run.

    `SystemExit` and the exception of a panic do not derive from `Exception`: code that handles failing
    runs would let them pass. Ctrl-C reaches only the main thread; elsewhere a control raised it.
    """
    try:
        yield
    except BaseException as error:
        interrupts = threading.current_thread() is threading.main_thread()
        if isinstance(error, Exception) or (isinstance(error, KeyboardInterrupt) and interrupts):
            raise
        text = " ".join(str(error).split())
        what = {SystemExit: f"called sys.exit({text})", KeyboardInterrupt: "raised KeyboardInterrupt"}.get(
            type(error), f"panicked: {text}"
        )
        raise SimulationError(f"a control {what}") from error
