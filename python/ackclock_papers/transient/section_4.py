"""Sections 4 and 5: what the text says beside figures 20 to 33."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from ackclock.engine import Run
from ackclock.engine.names import slug
from ackclock.metrics import Estimate, over_runs
from ackclock.models import transients
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims import mean, near, ordered, ratio, times
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import (
    figures_20_to_23,
    figures_24_to_28,
    figures_29_to_36,
    measure,
    setting,
    steps,
)
from ackclock_papers.transient.measure import extreme
from ackclock_papers.transient.setting import BUFFER_PACKETS, CHANGE_S, GAIMD, TCP, TEAR, TFRC, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOIN, FALL, RISE, SMALL_RISE = "8 to 16 flows", "1 % to 4 %", "4 % to 1 %", "3 % to 2 %"
FULL = 0.9
"""Share of the buffer with which the queue counts as full."""
OTHERS = (GAIMD, TFRC, TEAR)


class Step(NamedTuple):
    """A protocol and the change that it meets.

    Attributes
    ----------
    protocol : Protocol
        What controls the flows.
    words : str
        The change.
    discounting : bool
        Whether TFRC discounts its history.
    """

    protocol: Protocol
    words: str
    discounting: bool = True

    def __str__(self) -> str:
        without = "" if self.discounting else " without discounting"
        return f"{self.protocol}{without}, {self.words}"


WITHOUT = Step(TFRC, SMALL_RISE, discounting=False)


def _cases(effort: Effort) -> Mapping[Step, Case]:
    some = {
        JOIN: figures_24_to_28.FIGURE_26,
        FALL: figures_20_to_23.FIGURE_21,
        RISE: figures_29_to_36.FIGURE_30,
    }
    found = {
        Step(one, words): figure.cases(effort)[one] for words, figure in some.items() for one in Protocol
    }
    found[Step(TFRC, SMALL_RISE)] = figures_29_to_36.FIGURE_31.cases(effort)[TFRC]
    flows = setting.flows(effort, TFRC, count=steps.ALIKE, params={"discounting": False})
    found[WITHOUT] = steps.one_loss_step(effort, "periodic", 0.03, 0.02, flows)
    return found


class Text(NamedTuple):
    """Numbers of a run with a change, besides `Response` of all flows.

    Attributes
    ----------
    peak : float
        Highest mean rate over 5 of the 60 round trips after the change, over the new one.
    settled : float
        Round trips until the mean over 10 stays within a tenth of the new one; infinite if it
        never does.
    full : float
        Share of the 100 round trips after the change with a queue of nine tenths of the buffer.
    loss_before, loss_after : float
        Packets that the link drops over those that are sent, in the last half of the time before
        the change and after it.
    """

    peak: float
    settled: float
    full: float
    loss_before: float
    loss_after: float


def text_of(sent: np.ndarray, queue: np.ndarray, change: int) -> tuple[float, float, float]:
    """Measure a response.

    Parameters
    ----------
    sent : ndarray
        Packets per round trip, shape (round trips, flows).
    queue : ndarray
        Packets, by round trip.
    change : int
        The round trip that begins at the change.

    Returns
    -------
    tuple of float
        ``peak``, ``settled`` and ``full`` of `Text`.
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
    dropped = float(run.queues.filter(inside & (pl.col("link") == 0))["drops"].sum())
    sent = float(run.windows.filter(inside)["sent_bytes"].sum()) / setting.PACKET_BYTES
    return dropped / sent if sent else float("nan")


def _measure(run: Run) -> Row:
    counted = measure.rounds(run)
    own = counted.sent[:, :8] if counted.sent.shape[1] == 16 else counted.sent
    peak, settled, full = text_of(own, counted.queue, counted.change)
    end_s = run.summary["duration_s"]
    text = Text(
        peak=peak,
        settled=settled,
        full=full,
        loss_before=_loss(run, CHANGE_S / 2, CHANGE_S),
        loss_after=_loss(run, CHANGE_S, end_s),
    )
    return {**measure.response_of(own, counted.change)._asdict(), **text._asdict()}


def _draw(numbers: Numbers, _traces: Traces) -> Figure:
    keys = ("half_way", *Text._fields)
    rows = [[str(case), *(f"{numbers.of(case, key).value:.3g}" for key in keys)] for case in numbers.rows]
    return pictures.grid(["", *keys], rows)


def _by_recursion(_numbers: Numbers) -> Estimate:
    """Give the round trips to half of the change of GAIMD by figure 20."""
    step = transients.aimd_step(0.01, 0.04, 0.31, 0.875)
    return over_runs([float(step.time[np.argmax(step.progress >= 0.5)])])


def _median_of_others(numbers: Numbers) -> Estimate:
    return sorted((numbers.of(Step(one, FALL), "settled") for one in OTHERS), key=lambda one: one.value)[1]


def _as_long(numbers: Numbers) -> Estimate:
    others = _median_of_others(numbers).value
    return over_runs([one / others for one in numbers.each(Step(TCP, FALL), "settled")], least=0.0)


SECTION_4 = Simulated(
    name="section-4", caption="what its text adds to the figures of changes",
    about="The runs of figures 21, 26, 30 and 31, the last also with a TFRC without discounting.",
    cases=_cases, probe=Probe((*measure.Response._fields, *Text._fields), _measure),
    draw=_draw, headline=True,
    claims=(
        ordered("tcp-overshoots-with-newly-available-bandwidth",
                "TCP overshoots with newly available bandwidth",
                [(TCP, mean(Step(TCP, RISE), "peak")),
                 ("the most of the others", extreme(max, [Step(one, RISE) for one in OTHERS],
                                                    "peak"))],
                why="highest rate in the next 60 round trips over the new one",
                paper="'again TCP overshoots'"),
        ordered("gaimd-decreases-faster-than-in-figure-20", "GAIMD decreases faster than in figure 20",
                [("by the recursion", _by_recursion),
                 ("in figure 21", mean(Step(GAIMD, FALL), "half_way"))],
                why="round trips to half of the change", unit="RTTs",
                paper="'decreases faster than shown in this figure'"),
        times("tcp-takes-long-others-to-new-stable-state",
              "TCP takes as long as the others to its new stable state", _as_long, 1, factor=2,
              why="round trips until within a tenth of the new mean, over the median of the "
              "others; curves that look alike", paper="'as long'"),
        *(ordered(slug("queue-overloaded-for-longer-with", slow, "than-with-tcp"),
                  f"the queue is overloaded for longer with {slow} than with TCP",
                  [(one, mean(Step(one, JOIN), "full")) for one in (slow, TCP)],
                  unit="of 100 round trips", why="share with nine tenths of the buffer",
                  paper="'for a longer period of time for a less responsive protocol'")
          for slow in (TFRC, TEAR)),
        *(ordered(slug("loss-rate", one, "rises-with-sixteen-flows"),
                  f"the loss rate of {one} rises with sixteen flows",
                  [("16", mean(Step(one, JOIN), "loss_after")),
                   ("8", mean(Step(one, JOIN), "loss_before"))],
                  paper="'a result of increased loss rate'") for one in (TCP, GAIMD)),
        near("figure-31-tfrc-not-discount-history", "figure 31: TFRC does not discount its history",
             ratio((WITHOUT, "half_way"), (Step(TFRC, SMALL_RISE), "half_way")), 1, within=0.05,
             why="round trips to half of the change over those with discounting",
             paper="'not activated'"),
    ),
)  # fmt: skip
