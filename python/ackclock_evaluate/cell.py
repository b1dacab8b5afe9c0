"""A cell: one situation in which a candidate is measured, and each baseline in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ackclock.decision.paired import Limit, Margin
from ackclock.engine import Run
from ackclock.engine.build import Table
from ackclock.engine.names import slug
from ackclock_evaluate.setting import Mode, Subject

CellNumbers = dict[str, float]
CellCurves = dict[str, list[float]]
CellMeasure = Callable[[Run], CellNumbers]
"""A function of a module, or `functools.partial` of one: it may be sent to another machine."""

GOODPUT = Margin("goodput", "Mbit/s", higher_is_better=True, ratio=1.1, least=1e-3)
DELAY = Margin("delay_p95", "ms", higher_is_better=False, ratio=1.1, difference=1.0, least=1e-3)
LOSS = Margin("loss", "", higher_is_better=False, ratio=1.25, difference=0.001, least=1e-6)
SHARE = Margin("smallest_share", "", higher_is_better=True, difference=0.05)
JAIN = Margin("jain", "", higher_is_better=True, difference=0.05)

_WORDS = {
    "delay_mean": "queueing delay, time average",
    "delay_p50": "queueing delay, median",
    "delay_p95": "queueing delay, p95",
    "delay_p99": "queueing delay, p99",
    "delay_range": "range of its own delay, p5 to p95",
    "exponent": "exponent of the goodputs' ratio over that of the RTTs",
    "epochs": "loss events",
    "fair_time": "time until shares are fair",
    "falls": "sends less the more is lost",
    "harm_goodput": "harm to the other's goodput",
    "harm_rtt": "harm to the other's RTT",
    "kept": "goodput over that without the difficulty",
    "jitter_over_range": "jitter over that range",
    "late": "share later than 150 ms",
    "lost": "share lost where nothing is marked",
    "marked": "share marked",
    "marks_per_loss": "marks that slow it down as much as a loss",
    "media_loss": "loss of the media",
    "recovery": "time to recover",
    "request_p50": "time of a request, median",
    "request_p95": "time of a request, p95",
    "request_p99": "time of a request, p99",
    "resent_in_vain": "share sent again although it had not been lost",
    "sent_50": "sent at 50 % loss",
    "sent_90": "sent at 90 % loss",
    "sent_per_delivered": "sent per packet delivered",
    "spurious_cuts": "share of its cuts that it undid",
    "starved": "longest time starved",
    "starving": "share of flows that starve",
    "stolen": "bandwidth stolen from the other",
    "tfrc_ratio": "goodput of TFRC over that of the control's flows, each",
    "useful": "share of what is sent that is delivered",
    "victim_goodput": "goodput left to the other",
    "victim_loss": "loss of the other",
}
_SIGNED = {"exponent": np.inf, "harm_goodput": 1.0, "harm_rtt": 1.0, "stolen": 1.0}
"""Numbers that may be negative, and the largest that each can be."""
_SHARE = re.compile(
    r"jain(_\d+)?|((cross|media|victim)_)?loss|late|lost|marked|resent_in_vain|share|smallest_share|spurious_cuts|starving"
    r"|useful|utilisation|worst_fifth"
)
_GROUP = re.compile(r"fct_p(\d+)_(.+)")


def words(metric: str) -> str:
    """Say what a number is.

    Parameters
    ----------
    metric : str
        Its name, as in ``cells.parquet``.

    Returns
    -------
    str
        For people.
    """
    group = _GROUP.fullmatch(metric)
    if group:
        of_what = "" if group[2] == "c" else f" of {group[2]}"
        return f"completion time{of_what}, p{group[1]}"
    return _WORDS.get(metric, metric.replace("_", " "))


def possible(metric: str) -> tuple[float, float]:
    """Return the smallest and the largest number that a metric can have.

    Parameters
    ----------
    metric : str
        Its name, as in ``cells.parquet``.

    Returns
    -------
    tuple of two floats
        In the unit of the metric.
    """
    if metric in _SIGNED:
        return -np.inf, _SIGNED[metric]
    return 0.0, 1.0 if _SHARE.fullmatch(metric) else np.inf


def time_margin(metric: str, unit: str = "s", resolution: float | None = None) -> Margin:
    """Give the margin of a time: a completion, a recovery.

    Parameters
    ----------
    metric : str
        Name of the number.
    unit : str
        Its unit.
    resolution : float, optional
        The spacing of the samples that it is found in, in the unit: less is no difference.

    Returns
    -------
    Margin
        A tenth, and at least the resolution.
    """
    return Margin(metric, unit, higher_is_better=False, ratio=1.1, difference=resolution, least=1e-3)


def harm_margin(metric: str) -> Margin:
    """Give the margin of harm done to others, of a share, or of an index.

    Parameters
    ----------
    metric : str
        Name of the number, from 0 to 1, of which less is better.

    Returns
    -------
    Margin
        0.05.
    """
    return Margin(metric, "", higher_is_better=False, difference=0.05)


@dataclass(frozen=True)
class Part:
    """One scenario of a cell.

    Attributes
    ----------
    scenario : dict
        What is run.
    measure : callable
        What is wanted of a run.
    records : bool
        Whether that needs the tables over time.
    """

    scenario: Table
    measure: CellMeasure
    records: bool = False


Parts = Mapping[str, Part]


def _merged(parts: Mapping[str, CellNumbers]) -> CellNumbers:
    return {key: value for part in parts.values() for key, value in part.items()}


@dataclass(frozen=True)
class Cell:
    """One situation.

    Attributes
    ----------
    name : str
        In a few words, with units; unique within its criterion. A label, which may be reworded.
    parts : callable
        The scenarios for a control in the judged place, by name; the first is the one that is
        linked and drawn.
    judged : tuple of Margin
        What is compared with the baselines.
    limits : tuple of Limit
        What is judged by itself.
    parameters : mapping
        What distinguishes this cell from the others of its criterion.
    numbers : callable
        What follows from the numbers of all parts; by default all of them.
    drawn : bool
        Whether rates and queue of the first run's first part are kept as curves.
    shown : tuple of (str, str)
        Further numbers that the page has, each with its unit: they are not judged.
    decisive : bool
        Whether it counts for the verdict of its criterion.
    id : str
        What data and files call it, unique within its criterion; by default what its name gives. A cell
        whose name is reworded says the id that it had.
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
    """What is asked of a control.

    Attributes
    ----------
    id : str
        Its name on the command line.
    section : str
        Of RFC 9743, or of the document whose suite it belongs to.
    level : str
        ``MUST``, ``SHOULD``, or empty.
    title : str
        In a few words.
    about : str
        What is done and why, a paragraph.
    cells : callable, optional
        Its cells in a mode; None when it is not tested.
    beside : callable, optional
        Further cells in a mode, with a further control as the victim; they decide nothing.
    axis : str
        The parameter along which its picture is drawn; empty for a row per cell.
    shown : str
        The metric of its picture.
    not_tested : str
        Why there are no cells.
    suite : str
        That it is of: a name, or a folder.
    """

    id: str
    section: str
    level: str
    title: str
    about: str
    cells: Callable[[Mode], list[Cell]] | None = None
    beside: Callable[[Mode, str], list[Cell]] | None = None
    axis: str = ""
    shown: str = ""
    not_tested: str = ""
    suite: str = "rfc9743"

    @property
    def key(self) -> str:
        """Name among the criteria of all suites."""
        return f"{self.suite}/{self.id}"


def one_part(scenario: Callable[[Subject], Table], measure: CellMeasure, **more: Any) -> Any:
    """Give the parts of a cell that has one scenario.

    Parameters
    ----------
    scenario : callable
        Makes it for a control.
    measure : callable
        What is wanted of a run.
    **more
        Other fields of `Part`.

    Returns
    -------
    callable
        As `Cell.parts`.
    """
    return lambda subject: {"run": Part(scenario(subject), measure, **more)}
