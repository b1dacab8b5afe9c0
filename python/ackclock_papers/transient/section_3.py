"""Sections 1 to 3: what the text says beside figures 5 to 17, mostly of their runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from ackclock.engine import Run
from ackclock.engine.names import slug
from ackclock.metrics import Estimate, over_runs
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Claim, Probe, Simulated, Traces
from ackclock.reproduction.claims import between, mean, near, ordered, ratio, times
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import figures_7_to_11, figures_12_to_17, measure, setting
from ackclock_papers.transient.figures_3_to_6 import LOSSES, alone
from ackclock_papers.transient.measure import extreme
from ackclock_papers.transient.setting import GAIMD, LINK_PACKETS_PER_S, RTT_S, TCP, TEAR, TFRC, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALONE, BESIDE, ALIKE, RED = "alone", "beside seven TCP", "eight alike", "eight alike, RED"
FILLING = LINK_PACKETS_PER_S * RTT_S
"""Window that sends at the link's rate without a queue, packets."""
SILENT = 3
"""Round trips without a packet that are a timeout and no recovery."""


class Under(NamedTuple):
    """A protocol and its conditions.

    Attributes
    ----------
    protocol : Protocol
        Of the first flow.
    words : str
        The conditions.
    timeout : bool
        Whether TEAR has its own.
    """

    protocol: Protocol
    words: str
    timeout: bool = True

    def __str__(self) -> str:
        return f"{self.protocol}{'' if self.timeout else ' without timeout'}, {self.words}"


def _at(protocol: Protocol, loss: float, timeout: bool = True) -> Under:
    return Under(protocol, f"Bernoulli loss of {loss:.1%}", timeout)


LOW, HIGH = 0.01, 0.2


def _cases(effort: Effort) -> Mapping[Under, Case]:
    found: dict[Under, Case] = {}
    figures = (figures_7_to_11.FIGURE_9, figures_12_to_17.FIGURE_13, figures_12_to_17.FIGURE_16)
    some: dict[str, Simulated[Any]] = dict(zip((ALONE, BESIDE, ALIKE), figures, strict=True))
    for words, figure in some.items():
        cases = figure.cases(effort)
        found |= {Under(one, words): cases[one] for one in Protocol}
    for one in Protocol:
        eight = setting.flows(effort, one, count=8)
        found[Under(one, RED)] = setting.steady(effort, eight, queue=setting.RED)
    for one in (TCP, GAIMD):
        found |= {_at(one, p): alone(effort, one, setting.bernoulli(p)) for p in LOSSES}
    bernoulli = setting.bernoulli(LOW)
    found[_at(TEAR, LOW)] = alone(effort, TEAR, bernoulli)
    without = setting.flows(effort, TEAR, params={"timeout": False})
    found |= {
        _at(TEAR, LOW, False): setting.steady(effort, without, loss=bernoulli),
        Under(TEAR, BESIDE, False): setting.steady(effort, without, setting.flows(effort, TCP, count=7)),
        Under(TEAR, ALIKE, False): setting.steady(effort, {**without, "count": 8}),
    }
    return found


class Text(NamedTuple):
    """Numbers of a run that `Steadiness` does not have, after the first 50 s.

    Attributes
    ----------
    silent : float
        Share of round trips of the first flow that are among three or more without a packet.
    window_at_loss : float
        Its mean window at loss events, packets; NaN without any.
    allowed : float
        Share of the time with a window of more than the link sends in a round trip without queue.
    up, down : float
        Round trips in which the queue goes from a tenth to nine tenths of its largest, and back,
        means; NaN if it does not.
    """

    silent: float
    window_at_loss: float
    allowed: float
    up: float
    down: float


def silent_share(sent: Any) -> float:
    """Give the share of round trips that are among three or more without a packet.

    Parameters
    ----------
    sent : ndarray
        Packets sent, by round trip.

    Returns
    -------
    float
        From 0 to 1.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([True], sent > 0, [True])).astype(int)))
    # Edges come in pairs: where silence begins and where it ends.
    lengths = edges[1::2] - edges[::2]
    return float(lengths[lengths >= SILENT].sum() / len(sent))


def ramps(queue: Any, low: float, high: float) -> tuple[float, float]:
    """Measure how long a queue takes from low to high and back.

    Parameters
    ----------
    queue : ndarray
        Packets, by round trip.
    low, high : float
        Packets.

    Returns
    -------
    tuple of float
        Mean round trips upwards and downwards; NaN without any.
    """
    # What is between belongs to no side; a passage is a change of sides.
    side = np.where(queue <= low, -1, np.where(queue >= high, 1, 0))
    at = np.flatnonzero(side)
    passages = [(one, two) for one, two in pairwise(at) if side[one] != side[two]]
    lengths = {way: [two - one for one, two in passages if side[two] == way] for way in (1, -1)}
    up, down = (float(np.mean(some)) if some else float("nan") for some in (lengths[1], lengths[-1]))
    return up, down


def _measure(run: Run) -> Row:
    counted = measure.rounds(run)
    queue = counted.queue[counted.first :]
    later = (pl.col("flow") == 0) & (pl.col("time_s") > setting.MEASURED_FROM_S)
    losses = run.events.filter(later & (pl.col("kind") == "loss"))["window_before"].to_numpy()
    window = run.windows.filter(later)["window"].drop_nulls().to_numpy()
    up, down = ramps(queue, 0.1 * queue.max(), 0.9 * queue.max())
    text = Text(
        silent=silent_share(counted.sent[counted.first :, 0]),
        window_at_loss=float(np.mean(losses)) if len(losses) else float("nan"),
        allowed=float((window > FILLING).mean()) if window.size else float("nan"),
        up=up,
        down=down,
    )
    return {**measure.steadiness(run), **text._asdict()}


def _draw(numbers: Numbers, _traces: Traces) -> Figure:
    keys = ("cov", "fairness", *Text._fields)
    rows = [[str(case), *(f"{numbers.of(case, key).value:.2f}" for key in keys)] for case in numbers.rows]
    return pictures.grid(["", *keys], rows)


def _farthest_from_tcp(numbers: Numbers) -> Estimate:
    """Give GAIMD's mean rate over TCP's at the loss rate where it is farthest from 1."""
    ratios = [numbers.ratio((_at(GAIMD, p), "rate"), (_at(TCP, p), "rate")) for p in LOSSES]
    return max(ratios, key=lambda one: abs(np.log(one.value)))


def _third_change(numbers: Numbers) -> Estimate:
    """Give the third of the four differences of F that RED makes."""
    changes = [
        abs(
            np.array(numbers.each(Under(one, RED), "fairness"))
            - np.array(numbers.each(Under(one, ALIKE), "fairness"))
        )
        for one in Protocol
    ]
    return sorted((over_runs(one, least=0.0, most=1.0) for one in changes), key=lambda one: one.value)[2]


def _without_timeout(words: str, case: Callable[[bool], Under], key: str) -> Claim:
    return near(
        slug("tear-without-timeout-differs-little", words),
        f"TEAR without its timeout differs little: {words}",
        ratio((case(False), key), (case(True), key)),
        1,
        within=0.1,
        why="a tenth; seeds make as much",
        paper="little difference in most experiments",
    )


def _like_tcp(key: str, words: str) -> Claim:
    return times(
        slug("tear-queue", words, "tcp"),
        f"TEAR's queue {words} as TCP's",
        ratio((Under(TEAR, ALONE), key), (Under(TCP, ALONE), key)),
        1,
        factor=2,
        why="round trips between a tenth and nine tenths of the largest, over TCP's; curves that look alike",
        paper="'similar to TCP — fast ramp up to the peak and quickly drain out'",
    )


SECTION_3 = Simulated(
    name="section-3", caption="what its text adds to the figures of steady conditions",
    about=(
        "The runs of figures 6, 9, 13 and 16, the latter also with RED, and three of them with a "
        "TEAR without timeout."
    ),
    cases=_cases, probe=Probe((*measure.Steadiness._fields, *Text._fields), _measure),
    draw=_draw, headline=True,
    claims=(
        times("gaimd-tcp-friendly-at-every-loss-rate-figure-6",
              "GAIMD is TCP-friendly at every loss rate of figure 6", _farthest_from_tcp, 1,
              factor=2, why="its rate over TCP's where it is farthest; RFC 5348 calls a factor of "
              "two reasonably fair", paper="'TCP-friendly'"),
        between("results-with-red-mostly-similar-f-eight-flows",
                "results with RED are mostly similar: F of eight flows", _third_change, 0, 0.1,
                why="the third of the four changes of F, a tenth as in figure 13",
                paper="'for most cases ... similar'"),
        _without_timeout("CoV at 1 %", lambda timeout: _at(TEAR, LOW, timeout), "cov"),
        _without_timeout("CoV beside TCP", lambda timeout: Under(TEAR, BESIDE, timeout), "cov"),
        _without_timeout("F of eight flows", lambda timeout: Under(TEAR, ALIKE, timeout),
                         "fairness"),
        *(between(slug(one, "in-timeout-most-time-at-20"),
                  f"{one} is in timeout most of the time at 20 %", mean(_at(one, HIGH), "silent"),
                  0.5, 1, why="share of round trips among three or more without a packet",
                  paper="'in timeout states most of the time'") for one in (TCP, GAIMD)),
        *(near(slug(one, "loses-where-window-exceeds-80-packets"),
               f"{one} loses where its window exceeds 80 packets",
               mean(Under(one, ALONE), "window_at_loss"), 80, within=0.05, unit="packets",
               why="31 on the path, 50 in the buffer, and one in transmission",
               paper="'exceeds 80 packets'") for one in (TCP, GAIMD)),
        *(between(slug(one, "window-allows-more-than-link-rate"),
                  f"{one}'s window allows more than the link's rate most of the time",
                  mean(Under(one, ALONE), "allowed"), 0.5, 1,
                  why=f"share of the time with more than {FILLING:.0f} packets",
                  paper="'most of the time'") for one in (TCP, GAIMD)),
        _like_tcp("up", "fills as fast"), _like_tcp("down", "drains as quickly"),
        ordered("tear-cycle-much-longer-than-gaimd", "TEAR's cycle is much longer than GAIMD's",
                [(one, mean(Under(one, ALONE), "queue_period")) for one in (TEAR, GAIMD)],
                unit="round trips", paper="'much longer than those of TCP and GAIMD'"),
        times("figure-14-queue-swings-single-tcp", "figure 14: the queue swings as that of a single TCP",
              ratio((Under(TCP, BESIDE), "queue_std"), (Under(TCP, ALONE), "queue_std")), 1,
              factor=2, why="standard deviations; curves that look alike", paper="'similar'"),
        *(ordered(slug(one, "fluctuates-more-beside-seven-tcp-flows"),
                  f"{one} fluctuates more beside seven TCP flows than alone",
                  [(words, mean(Under(one, words), "cov")) for words in (BESIDE, ALONE)],
                  unit="(CoV)", paper="'higher fluctuations in sending rates'")
          for one in Protocol),
        *(ordered(slug("eight-flows", one, "smoother-than-tcp"), f"eight flows: {one} is smoother than TCP",
                  [(each, mean(Under(each, ALIKE), "cov")) for each in (TCP, one)],
                  unit="(CoV)", paper="'smoother sending rates than those of TCP'")
          for one in (GAIMD, TFRC, TEAR)),
        ordered("f-tcp-and-gaimd-fluctuates-more-than-tfrc",
                "F of TCP and GAIMD fluctuates more than that of TFRC and TEAR",
                [(words, extreme(pick, [Under(one, ALIKE) for one in some], "fairness_std"))
                 for words, pick, some in (("the steadier of TCP and GAIMD", min, (TCP, GAIMD)),
                                           ("the less steady of TFRC and TEAR", max,
                                            (TFRC, TEAR)))],
                unit="(standard deviation)", paper="'fluctuate for both TCP and GAIMD'"),
    ),
)  # fmt: skip
