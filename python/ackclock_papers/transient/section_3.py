"""Sections 1 to 3: statements of the text about figures 5 to 17, mostly tested in their runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ackclock.draw.figure import Table
from ackclock.engine import Run
from ackclock.metrics import Estimate, FloatArray, over_runs
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import figures_7_to_11, figures_12_to_17, measure, setting
from ackclock_papers.transient.figures_3_to_6 import LOSSES, alone
from ackclock_papers.transient.setting import GAIMD, LINK_PACKETS_PER_S, RTT_S, TCP, TEAR, Protocol

ALONE, NEXT_TO_TCP, ALIKE, RED = "alone", "next to seven TCP flows", "eight alike", "eight alike, RED"
FILLING = LINK_PACKETS_PER_S * RTT_S
"""Window that sends at the link's rate without a queue, packets."""
SILENT = 3
"""Round trips without a packet that mean a timeout and not a recovery."""


class Under(NamedTuple):
    """The protocol of the first flow and its conditions."""

    protocol: Protocol
    conditions: str
    timeout: bool = True
    """Whether TEAR has its timeout."""

    def __str__(self) -> str:
        return f"{self.protocol}{'' if self.timeout else ' without timeout'}, {self.conditions}"


def _at(protocol: Protocol, loss: float, timeout: bool = True) -> Under:
    return Under(protocol, f"Bernoulli loss of {loss:.1%}", timeout)


LOW = 0.01


def _cases(effort: Effort) -> Mapping[Under, Case]:
    figures: dict[str, Simulated[Any]] = {
        ALONE: figures_7_to_11.FIGURE_9,
        NEXT_TO_TCP: figures_12_to_17.FIGURE_13,
        ALIKE: figures_12_to_17.FIGURE_16,
    }
    cases: dict[Under, Case] = {}
    for conditions, figure in figures.items():
        shown = figure.cases(effort)
        cases |= {Under(protocol, conditions): shown[protocol] for protocol in Protocol}
    for protocol in Protocol:
        eight = setting.flows(effort, protocol, count=8)
        cases[Under(protocol, RED)] = setting.steady(effort, eight, queue=setting.RED)
    for protocol in (TCP, GAIMD):
        cases |= {_at(protocol, p): alone(effort, protocol, setting.bernoulli(p)) for p in LOSSES}
    bernoulli = setting.bernoulli(LOW)
    cases[_at(TEAR, LOW)] = alone(effort, TEAR, bernoulli)
    without = setting.flows(effort, TEAR, params={"timeout": False})
    seven_tcp = setting.flows(effort, TCP, count=7)
    cases |= {
        _at(TEAR, LOW, False): setting.steady(effort, without, loss=bernoulli),
        Under(TEAR, NEXT_TO_TCP, False): setting.steady(effort, without, seven_tcp),
        Under(TEAR, ALIKE, False): setting.steady(effort, {**without, "count": 8}),
    }
    return cases


class SteadyDetails(NamedTuple):
    """Numbers of a run that `Steadiness` does not have, after the first 50 s."""

    # Share of round trips of the first flow that are among three or more without a packet.
    silent: float
    # Its mean window at loss events, packets; NaN without loss events.
    window_at_loss: float
    # Share of the time with a window above what the link sends in a round trip without a queue.
    allowed: float
    # Mean round trips in which the queue goes from a tenth to nine tenths of its largest, and back;
    # NaN if it does not.
    up: float
    down: float


def silent_share(sent: FloatArray) -> float:
    """Return the share of round trips that are among three or more without a packet."""
    edges = np.flatnonzero(np.diff(np.concatenate(([True], sent > 0, [True])).astype(int)))
    # Edges come in pairs: the beginning and the end of a silence.
    lengths = edges[1::2] - edges[::2]
    return float(lengths[lengths >= SILENT].sum() / len(sent))


def ramps(queue: FloatArray, low: float, high: float) -> tuple[float, float]:
    """Return the mean round trips that a queue takes from `low` to `high` packets, and back.

    NaN if it never does.
    """
    # Queues between the two belong to neither side; a passage is a change of sides.
    side = np.where(queue <= low, -1, np.where(queue >= high, 1, 0))
    at_side = np.flatnonzero(side)
    passages = [(begin, end) for begin, end in pairwise(at_side) if side[begin] != side[end]]

    def mean_length(arrived: int) -> float:
        lengths = [end - begin for begin, end in passages if side[end] == arrived]
        return float(np.mean(lengths)) if lengths else float("nan")

    return mean_length(1), mean_length(-1)


def _measure(run: Run) -> Row:
    counted = measure.rounds(run)
    queue = counted.queue[counted.first :]
    later = pl.col("time_s") > setting.MEASURED_FROM_S
    losses = run.events.filter(later & (pl.col("flow") == 0) & (pl.col("kind") == "loss"))
    at_loss = losses["window_before"].to_numpy()
    window = run.windows_of(0).filter(later)["window"].drop_nulls().to_numpy()
    up, down = ramps(queue, 0.1 * queue.max(), 0.9 * queue.max())
    details = SteadyDetails(
        silent=silent_share(counted.sent[counted.first :, 0]),
        window_at_loss=float(np.mean(at_loss)) if len(at_loss) else float("nan"),
        allowed=float((window > FILLING).mean()) if window.size else float("nan"),
        up=up,
        down=down,
    )
    return {**measure.steadiness(run), **details._asdict()}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    keys = ("cov", "fairness", *SteadyDetails._fields)
    rows = [[str(case), *(f"{numbers.of(case, key).value:.2f}" for key in keys)] for case in numbers.rows]
    return Table(["", *keys], rows)


def rate_over_tcp_farthest_from_1(numbers: Numbers) -> Estimate:
    """Return GAIMD's mean rate over TCP's at the loss rate where it is farthest from 1."""
    ratios = [numbers.ratio((_at(GAIMD, p), "rate"), (_at(TCP, p), "rate")) for p in LOSSES]
    return max(ratios, key=lambda estimate: abs(np.log(estimate.value)))


def correlation_of_smoothness_and_fairness(numbers: Numbers) -> Estimate:
    """Correlate smoothness, the negative CoV, with F over protocols, where all flows have the same one."""
    cases = [Under(protocol, conditions) for conditions in (ALIKE, RED) for protocol in Protocol]
    smoothness, fairness = (
        sign * np.array([numbers.each(case, key) for case in cases])
        for sign, key in ((-1, "mean_cov"), (1, "fairness"))
    )
    correlations = [
        float(np.corrcoef(smooth, fair)[0, 1]) for smooth, fair in zip(smoothness.T, fairness.T, strict=True)
    ]
    return over_runs(correlations, least=-1.0, most=1.0)


def third_change_of_fairness(numbers: Numbers) -> Estimate:
    """Return the third smallest of the four changes of F that RED makes."""
    changes = [
        abs(
            np.array(numbers.each(Under(protocol, RED), "fairness"))
            - np.array(numbers.each(Under(protocol, ALIKE), "fairness"))
        )
        for protocol in Protocol
    ]
    estimates = [over_runs(change, least=0.0, most=1.0) for change in changes]
    return sorted(estimates, key=lambda estimate: estimate.value)[2]


SECTION_3 = Simulated(
    name="section-3",
    caption="statements of the text about steady conditions",
    about=(
        "The runs of figures 6, 9, 13 and 16, the last also with RED; three of them also with TEAR "
        "without its timeout."
    ),
    cases=_cases,
    probe=Probe((*measure.STEADINESS.keys, *SteadyDetails._fields), _measure),
    draw=_draw,
    headline=True,
)
