"""Jobs: one run of one scenario, the measure of it, and the answer."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.engine import controls
from ackclock.runs import sources
from ackclock.runs.alone import StoppedError

Measure = Callable[[engine.Run], object]
"""A function whose result survives a round trip through JSON: lists in place of tuples, texts as keys. It can
be pickled: a function of a module, a `functools.partial` of one, or an object whose class has `__call__`."""


@dataclass(frozen=True)
class Case:
    """A scenario and how often it is run.

    Attributes
    ----------
    scenario : Path, str, mapping or Scenario
        A scenario as for `engine.read`.
    runs : int
        Number of runs, each with other random streams.
    record : bool
        Whether tables over time are needed, or only the summary.
    """

    scenario: engine.Given
    runs: int = 1
    record: bool = True

    def jobs(self, first: int = 0) -> list[Job]:
        """Return a job per run, which asks for the run itself.

        Parameters
        ----------
        first : int
            Number of the first run.

        Returns
        -------
        list of Job
            In the order of the runs.

        Raises
        ------
        ScenarioError
            If the scenario is refused.
        """
        scenario = engine.read(self.scenario)
        return [Job(scenario, run, self.record) for run in range(first, first + self.runs)]


PYTHON_COST = 5.0
"""Processor time per ACK of a control in Python, relative to a built-in control."""


@dataclass(frozen=True)
class Job:
    """One run of one scenario; jobs with the same key have the same answer.

    Attributes
    ----------
    scenario : Scenario
        The scenario to run.
    run : int
        Number of the run.
    record : bool
        Whether tables over time are needed.
    measure : callable, optional
        Function that computes the answer from the run. None asks for the run itself.
    settings : tuple of str
        Changes of the scenario, applied where the run is made.
    controls : tuple of str
        Controls that `settings` may name; by default those of the scenario.
    pcap, qlog : Path, optional
        Further output of the run, as for `engine.simulate`; the answer does not depend on it.
    """

    scenario: engine.Scenario
    run: int = 0
    record: bool = True
    measure: Measure | None = None
    settings: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    pcap: Path | None = None
    qlog: Path | None = None

    @property
    def names(self) -> Sequence[str]:
        """The controls that may take part."""
        return self.controls or self.scenario.controls

    @functools.cached_property
    def code(self) -> str:
        """Fingerprint of the code that measures the run; empty without a measure."""
        return "" if self.measure is None else sources.fingerprint(self.measure)

    @property
    def is_foreign(self) -> bool:
        """Whether a control takes part that is not built in, and that another process can load."""
        return any(map(controls.is_own, self.names)) and controls.registrations(self.names) is not None

    @functools.cached_property
    def expected_packets(self) -> float:
        """About how many packets the run costs: the packets that its bottleneck carries.

        An acknowledgement of a control in Python takes as long as five of a built-in control
        (docs/performance.md in the repository).
        """
        rate_mbps = self.scenario.mean_rate_mbps(from_s=0.0, to_s=self.scenario.duration_s)
        packet_bytes = min(self.scenario.packet_bytes, default=1000)
        # The rate is unknown if flows decide when it changes; then 10 Mbit/s is assumed.
        packets = (rate_mbps or 10.0) * 1e6 / 8 / packet_bytes * self.scenario.duration_s
        return packets * self.cost_of_packet

    @property
    def cost_of_packet(self) -> float:
        """Processor time per packet, relative to built-in controls."""
        return PYTHON_COST if controls.are_python(self.names) else 1.0

    @functools.cached_property
    def key(self) -> str:
        """Name of the answer: 32 hexadecimal digits of everything that it depends on."""
        own = controls.fingerprint(self.names)
        words = [engine.ENGINE, self.scenario.digest, self.settings, self.run, self.record, self.code, own]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Answer:
    """The result of a job.

    Attributes
    ----------
    value : object
        Result of the measure, as JSON has it; the `Run` of a job without a measure. None if the
        job failed.
    packets : int
        Number of packets simulated.
    error : str
        One line about the failure; empty if the job succeeded.
    trace : str
        Traceback of an exception within the code of a control; empty if it was not raised
        there.
    cause : BaseException, optional
        The exception, if it occurred in this process.
    died : bool
        Whether the process was killed from outside, so that the run may not be to blame.
    passing : bool
        Whether the failure depends on a limit or the machine, so that another attempt may
        succeed.
    digest : str
        Digest of the run; empty if it was not made by this call.
    foreign : tuple of str
        Controls of the run that are named by their module or library, or registered.
    """

    value: Any = None
    packets: int = 0
    error: str = ""
    trace: str = field(default="", compare=False)
    cause: BaseException | None = field(default=None, compare=False)
    died: bool = field(default=False, compare=False)
    passing: bool = field(default=False, compare=False)
    digest: str = field(default="", compare=False)
    foreign: tuple[str, ...] = field(default=(), compare=False)

    def failure(self) -> BaseException:
        """Return the exception to raise for a job that failed."""
        if self.cause is not None:
            return self.cause
        failure = engine.SimulationError(self.error)
        if self.trace:
            failure.add_note(self.trace)
        return failure


def failed(error: BaseException) -> Answer:
    """Return the answer of a job that raised an exception."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    passing = isinstance(error, MemoryError | OSError)
    return Answer(error=line, trace=controls.trace(error), cause=error, passing=passing)


def perform(job: Job, progress: engine.Progress | None = None) -> Answer:
    """Make the run of a job and measure it, in this thread.

    A `StoppedError` that `progress` raises passes; other errors, such as those of a control, become the
    answer.
    """
    try:
        own = controls.fingerprint(job.names)
        scenario = _changed(job.scenario, job.settings, own)
        run = engine.simulate(
            scenario,
            run=job.run,
            record=job.record,
            progress=progress,
            pcap=job.pcap,
            qlog=job.qlog,
            # A measure reads only the flows that it needs. A lazy run would keep the engine's memory.
            lazy=job.measure is not None,
        )
        value = run if job.measure is None else job.measure(run)
        foreign = tuple(name for name in scenario.controls if controls.is_own(name))
        packets, digest = run.summary["packets_simulated"], run.summary["digest"] or ""
        return Answer(value, packets, digest=digest, foreign=foreign)
    except StoppedError:
        raise
    # Children ignore Ctrl-C and threads never receive it, so a control raised it.
    except (Exception, KeyboardInterrupt) as error:
        return failed(error)


@functools.lru_cache(maxsize=64)
def _changed(scenario: engine.Scenario, settings: tuple[str, ...], _own: str) -> engine.Scenario:
    """Read a scenario with changes, once for the runs of a point unless a control was registered anew."""
    return engine.read(scenario, settings=settings)
