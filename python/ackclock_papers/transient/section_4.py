"""Sections 4 and 5: statements of the text about figures 20 to 33."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock.draw.figure import Table
from ackclock.engine import Run
from ackclock.metrics import Estimate, FloatArray, over_runs
from ackclock.models import transients
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import (
    figures_20_to_23,
    figures_24_to_28,
    figures_29_to_36,
    measure,
    setting,
    steps,
)
from ackclock_papers.transient.setting import BUFFER_PACKETS, CHANGE_S, GAIMD, TCP, TEAR, TFRC, Protocol

JOIN, FALL, RISE, SMALL_RISE = "8 to 16 flows", "1 % to 4 %", "4 % to 1 %", "3 % to 2 %"
FULL = 0.9
"""Share of the buffer from which the queue counts as full."""
ALL_BUT_TCP = (GAIMD, TFRC, TEAR)


class Step(NamedTuple):
    """A protocol and the change that it meets."""

    protocol: Protocol
    change: str
    discounting: bool = True
    """Whether TFRC discounts its history."""

    def __str__(self) -> str:
        without = "" if self.discounting else " without discounting"
        return f"{self.protocol}{without}, {self.change}"


WITHOUT = Step(TFRC, SMALL_RISE, discounting=False)


def _cases(effort: Effort) -> Mapping[Step, Case]:
    figures = {
        JOIN: figures_24_to_28.FIGURE_26,
        FALL: figures_20_to_23.FIGURE_21,
        RISE: figures_29_to_36.FIGURE_30,
    }
    cases = {
        Step(protocol, change): figure.cases(effort)[protocol]
        for change, figure in figures.items()
        for protocol in Protocol
    }
    cases[Step(TFRC, SMALL_RISE)] = figures_29_to_36.FIGURE_31.cases(effort)[TFRC]
    flows = setting.flows(effort, TFRC, count=steps.ALIKE, params={"discounting": False})
    cases[WITHOUT] = steps.one_loss_step(effort, "periodic", 0.03, 0.02, flows)
    return cases


class StepDetails(NamedTuple):
    """Numbers of a run with a change, in addition to the `Response` of all flows."""

    # Highest mean rate over 5 of the 60 round trips after the change, over the new rate.
    peak: float
    # Round trips until the mean rate over 10 stays within a tenth of the new one; infinite if it
    # never does.
    settled: float
    # Share of the 100 round trips after the change with a queue of nine tenths of the buffer.
    full: float
    # Packets that the link drops over those that are sent, in the last half of the time before the
    # change and in the time after it.
    loss_before: float
    loss_after: float


def step_details(sent: FloatArray, queue: FloatArray, change: int) -> tuple[float, float, float]:
    """Return ``peak``, ``settled`` and ``full`` of `StepDetails`.

    `sent` has packets per round trip, shape (round trips, flows); `queue` has packets.
    """
    total = sent.mean(axis=1)[change:]
    after = float(total[len(total) // 2 :].mean())
    peak = float(np.convolve(total[:60], np.ones(5) / 5, "valid").max()) / after
    smooth = np.convolve(total, np.ones(10) / 10, "valid")
    far = np.flatnonzero(np.abs(smooth / after - 1) > 0.1)
    settled = 0.0 if not len(far) else float(far[-1] + 1)
    if settled >= len(smooth):
        settled = float("inf")
    full = float((queue[change : change + 100] >= FULL * BUFFER_PACKETS).mean())
    return peak, settled, full


def _loss(run: Run, begin_s: float, end_s: float) -> float:
    inside = (pl.col("time_s") > begin_s) & (pl.col("time_s") <= end_s)
    dropped = float(run.queues_of(0).filter(inside)["drops"].sum())
    sent = float(run.windows.filter(inside)["sent_bytes"].sum()) / setting.PACKET_BYTES
    return dropped / sent if sent else float("nan")


def _measure(run: Run) -> Row:
    counted = measure.rounds(run)
    own = counted.sent[:, :8] if counted.sent.shape[1] == 16 else counted.sent
    peak, settled, full = step_details(own, counted.queue, counted.change)
    end_s = run.summary["duration_s"]
    details = StepDetails(
        peak=peak,
        settled=settled,
        full=full,
        loss_before=_loss(run, CHANGE_S / 2, CHANGE_S),
        loss_after=_loss(run, CHANGE_S, end_s),
    )
    return {**measure.response_of(own, counted.change)._asdict(), **details._asdict()}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    keys = ("half_way", *StepDetails._fields)
    rows = [[str(case), *(f"{numbers.of(case, key).value:.3g}" for key in keys)] for case in numbers.rows]
    return Table(["", *keys], rows)


def half_way_by_recursion(numbers: Numbers) -> Estimate:  # noqa: ARG001
    """Return GAIMD's round trips to half of the change by the recursion of figure 20."""
    response = transients.aimd_step(0.01, 0.04, 0.31, 0.875)
    return over_runs([float(response.time[np.argmax(response.progress >= 0.5)])])


def settled_over_median(numbers: Numbers) -> Estimate:
    """Return TCP's round trips to its new state over the median of the other three protocols."""
    median = sorted(numbers.of(Step(protocol, FALL), "settled").value for protocol in ALL_BUT_TCP)[1]
    return over_runs([settled / median for settled in numbers.each(Step(TCP, FALL), "settled")], least=0.0)


SECTION_4 = Simulated(
    name="section-4",
    caption="statements of the text about changing conditions",
    about="The runs of figures 21, 26, 30 and 31, the last also with TFRC without discounting.",
    cases=_cases,
    probe=Probe((*measure.Response._fields, *StepDetails._fields), _measure),
    draw=_draw,
    headline=True,
)
