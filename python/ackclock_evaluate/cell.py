"""A cell: one scenario in which the candidate, and each baseline in its place, is measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ackclock.decision.comparisons import Limit, Margin
from ackclock.engine import Run
from ackclock.engine.build import Table
from ackclock.names import slug
from ackclock_evaluate.setting import Mode, Subject

CellNumbers = dict[str, float]
CellCurves = dict[str, list[float]]
CellMeasure = Callable[[Run], CellNumbers]
"""A function of a module, or a `functools.partial` of one, because another machine may call it."""

_WORDS = {
    "audio_loss": "loss of audio",
    "burst_p95": "completion time of the bursts, p95",
    "camp_loss": "slowdown of the other camp",
    "completion": "completion time",
    "cov": "coefficient of variation of the rate",
    "cross_loss": "loss of the cross traffic",
    "cuts": "window cuts",
    "datagram_loss": "loss of datagrams",
    "delay": "RTT minus propagation, mean over the packets",
    "delay_mean": "queueing delay, time average",
    "delay_p50": "queueing delay, median",
    "delay_p95": "queueing delay, p95",
    "delay_p99": "queueing delay, p99",
    "delay_range": "range of its own delay, p5 to p95",
    "epochs": "loss events",
    "exponent": "exponent of the goodput ratio in the RTT ratio",
    "fair_time": "time until shares are fair",
    "falls": "sending rate falls as loss rises",
    "goodput": "goodput",
    "goodput_ratio": "goodput ratio of the flows",
    "harm_goodput": "harm to the victim's goodput",
    "harm_rtt": "harm to the victim's RTT",
    "jain": "Jain's index",
    "jitter": "jitter of the path",
    "jitter_over_range": "jitter relative to its own delay range",
    "kept": "goodput relative to the undisturbed path",
    "late": "share later than 150 ms",
    "loss": "loss",
    "loss_after": "loss in the 10 s after the silence",
    "lost": "share lost without marking",
    "marked": "share of packets marked",
    "marks_per_loss": "marks with the effect of one loss",
    "media_loss": "loss of media packets",
    "passes": "test case passed",
    "queue_mean": "queue, time average",
    "recovery": "time to recover",
    "request_p50": "request time, median",
    "request_p95": "request time, p95",
    "request_p99": "request time, p99",
    "resent_in_vain": "share of packets that arrive again",
    "sent_50": "sent at 50 % loss",
    "sent_90": "sent at 90 % loss",
    "sent_in_silence": "packets sent into the silence",
    "sent_per_delivered": "packets sent per packet delivered",
    "share": "share of the goodput",
    "smallest_share": "smallest share, relative to the fair one",
    "spurious_cuts": "share of window cuts that were undone",
    "starved": "time of starvation",
    "starving": "share of flows that starve",
    "stolen": "bandwidth stolen from the victim",
    "tfrc_ratio": "goodput of TFRC relative to one flow of the control",
    "timeouts": "timeouts",
    "trips": "trips of a circuit breaker",
    "useful": "share of sent packets that are delivered",
    "utilisation": "utilisation of the bottleneck",
    "victim_goodput": "goodput left to the victim",
    "victim_loss": "loss of the victim",
}
_SIGNED = {"exponent": np.inf, "harm_goodput": 1.0, "harm_rtt": 1.0, "stolen": 1.0}
"""Metrics that may be negative, each with its largest possible value."""
_SHARE = re.compile(
    r"jain(_\d+)?|((cross|media|victim)_)?loss|loss_after|late|lost|marked|resent_in_vain|share|smallest_share|spurious_cuts|starving"
    r"|useful|utilisation|worst_fifth"
)
_SCALE = re.compile(r"(jain|ramp)_(\d+)")
_SCALED = {"jain": "Jain's index over {} s", "ramp": "time until 10^{} packets have arrived"}
_GROUP = re.compile(r"fct_(mean|p\d+)_(.+)")


def words(metric: str) -> str:
    """Return the label of a metric from its name in ``cells.parquet``."""
    group = _GROUP.fullmatch(metric)
    if group:
        transfers = "" if group[2] == "c" else f" of {group[2]}"
        return f"completion time{transfers}, {group[1]}"
    scale = _SCALE.fullmatch(metric)
    if scale:
        return _SCALED[scale[1]].format(scale[2])
    return _WORDS.get(metric, metric.replace("_", " "))


def possible(metric: str) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a metric, in its unit."""
    if metric in _SIGNED:
        return -np.inf, _SIGNED[metric]
    return 0.0, 1.0 if _SHARE.fullmatch(metric) else np.inf


@dataclass(frozen=True)
class Part:
    """One scenario of a cell.

    Attributes
    ----------
    scenario : dict
        The scenario to run.
    measure : callable
        Function from a run to its metrics.
    records : bool
        Whether `measure` reads the tables over time.
    """

    scenario: Table
    measure: CellMeasure
    records: bool = False


Parts = Mapping[str, Part]


def _merged(parts: Mapping[str, CellNumbers]) -> CellNumbers:
    return {key: value for part in parts.values() for key, value in part.items()}


@dataclass(frozen=True)
class Cell:
    """One scenario in which every control is measured and compared.

    Attributes
    ----------
    name : str
        A short label with units, unique within its criterion. It may be reworded.
    parts : callable
        Function from the control under test to its scenarios by name; the page links and draws the
        first.
    judged : tuple of Margin
        Metrics that are compared with the baselines.
    limits : tuple of Limit
        Metrics that are judged by themselves.
    parameters : mapping
        Values that distinguish this cell from the others of its criterion.
    numbers : callable
        Function from the metrics of all parts to the metrics of the cell; by default it merges them.
    drawn : bool
        Whether rates and queue of the first run's first part are kept as curves.
    shown : tuple of (str, str)
        Further metrics that the page shows, each with its unit: they are not judged.
    decisive : bool
        Whether it counts towards the verdict of its criterion.
    id : str
        Its name in data and files, unique within its criterion; by default it follows from the label. A
        relabelled cell states its former id.
    """

    name: str
    parts: Callable[[Subject], Parts]
    judged: tuple[Margin, ...] = ()
    limits: tuple[Limit, ...] = ()
    parameters: Mapping[str, float | str] = field(default_factory=dict)
    numbers: Callable[[Mapping[str, CellNumbers]], CellNumbers] = _merged
    drawn: bool = False
    shown: tuple[tuple[str, str], ...] = ()
    decisive: bool = True
    id: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", self.id or slug(self.name))


@dataclass(frozen=True)
class Criterion:
    """One requirement on a control, and the cells that test it.

    Attributes
    ----------
    id : str
        Its name on the command line.
    section : str
        The section of RFC 9743, or of the document that its suite follows.
    level : str
        ``MUST``, ``SHOULD``, or empty.
    title : str
        A heading of a few words.
    about : str
        A paragraph on the method and its reason.
    cells : callable, optional
        Function from a mode to its cells; None when it is not tested.
    further : callable, optional
        Function from a mode and a further control, the victim, to cells that decide nothing.
    axis : str
        The parameter along which its picture is drawn; empty for a row per cell.
    shown : str
        The metric of its picture.
    not_tested : str
        The reason why there are no cells.
    suite : str
        The name, file or directory of its suite.
    digest : str
        The digest of its suite, by which a draft can cite it.
    """

    id: str
    section: str
    level: str
    title: str
    about: str
    cells: Callable[[Mode], list[Cell]] | None = None
    further: Callable[[Mode, str], list[Cell]] | None = None
    axis: str = ""
    shown: str = ""
    not_tested: str = ""
    suite: str = "rfc9743"
    digest: str = ""

    @property
    def key(self) -> str:
        """Name among the criteria of all suites."""
        return f"{self.suite}/{self.id}"
