"""The questions of a comparison: the metrics of the suite *everyday* that it shows, and their scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ackclock import engine, metrics
from ackclock.comparison.measures import MEASURES, RECOVERED, SMOOTHNESS_RTTS, RunMeasure
from ackclock.comparison.path import PathSetup
from ackclock.decision import Margin
from ackclock.engine import Scenario
from ackclock.engine.build import Table
from ackclock.metrics import Estimate
from ackclock.suites import reader
from ackclock.suites.formulas import Names, fill

SUITE = reader.document((reader.HOME / "everyday.toml").read_text("utf-8"), "everyday.toml")
STEP: tuple[float, float] = (SUITE["every"]["let"]["taken"], SUITE["every"]["let"]["freed"])
"""Start and end of the datagram flow that takes half of the link, as shares of the run."""
CellKeys = tuple[reader.Keys, Names, str]
"""The keys of a cell of the suite, the names for its formulas, and its place in the file."""


def _cells(**given: float) -> Iterator[CellKeys]:
    for index in range(len(SUITE["criterion"])):
        for keys, point, where in reader.cells(SUITE, index, "full", given=given):
            yield keys, Names(point, keys.get("let")), where


MARGINS = {
    (keys["name"], margin.metric): margin
    for keys, _, where in _cells()
    for margin in (reader.margin(entry, where) for entry in keys["judge"])
}
"""The differences that matter, by the names of the scenario and of the metric."""


@dataclass(frozen=True)
class Question:
    """A question, with one number per run as the answer.

    Attributes
    ----------
    key : str
        Name of its number.
    title : str
        Short title with the unit.
    about : str
        An exact description of the number.
    scenario, metric : str
        Names of the scenario and of the metric in the suite.
    scale : float
        The factor of the metric; not 1 if the answer is in per cent.
    least, most : float
        Smallest and largest possible number.
    is_ratio : bool
        Whether the number is a ratio, so that runs differ by factors.
    """

    key: str
    title: str
    about: str
    scenario: str
    metric: str
    scale: float = 1.0
    least: float = 0.0
    most: float = float("inf")
    is_ratio: bool = False

    @cached_property
    def margin(self) -> Margin | None:
        """The difference that matters, as in an evaluation; a question without one has no better answer."""
        margin = MARGINS.get((self.scenario, self.metric))
        if margin is None or self.scale == 1.0:
            return margin
        return replace(margin, unit="%", difference=self.scale * (margin.difference or 0.0))

    def estimate(self, values: Sequence[float]) -> Estimate:
        """Return the mean over runs (the geometric mean of ratios) with an interval of possible values."""
        estimate = metrics.of_ratios(values) if self.is_ratio else metrics.over_runs(values)
        return metrics.within(estimate, self.least, self.most)


def _beside(other: str, name: str, note: str = "") -> tuple[Question, Question]:
    where, share = f"next to {name}", "share of the total goodput"
    lost = f"goodput that {name} loses compared with sharing with another {name} flow{note}"
    least, most = -float("inf"), 100.0
    return (
        Question(f"beside_{other}", f"share next to {name} (%)", share, where, "share", 100.0, 0.0, most),
        Question(
            f"stolen_{other}", f"stolen from {name}, BSR (%)", lost, where, "stolen", 100.0, least, most
        ),
    )


LOST = "one flow; packets dropped per packet sent, including random losses"
TIME = "two flows of the same control, over the whole time"
HALF = "two flows of the same control; 50 % is an equal share"
QUESTIONS = (
    Question("goodput", "goodput alone (Mbit/s)", "one flow", "alone", "goodput"),
    Question(
        "delay", "queueing delay alone, mean (ms)", "one flow; mean RTT minus propagation", "alone", "delay"
    ),
    Question(
        "delay_p95", "queueing delay alone, p95 (ms)", "one flow; 95th percentile", "alone", "delay_p95"
    ),
    Question("loss", "packets lost alone (%)", LOST, "alone", "loss", 100.0, most=100.0),
    Question(
        "cov",
        f"CoV of the rate over {SMOOTHNESS_RTTS} RTTs, alone",
        "one flow; standard deviation of the arrival rate divided by its mean",
        "alone",
        "cov",
    ),
    Question("itself", "Jain's index against itself", TIME, "against itself", "jain", most=1.0),
    Question(
        "worse", "smaller share against itself (%)", HALF, "against itself", "smallest_share", 50.0, most=50.0
    ),
    *_beside("reno", "Reno", " (TCP-FIT, eq. 22)"),
    *_beside("cubic-linux", "cubic-linux"),
    Question(
        "rtt_ratio",
        "goodput ratio, RTT against twice the RTT",
        "two flows that differ only in RTT; 1 is fair, 4 is Reno's in theory; geometric mean",
        "two RTTs",
        "goodput_ratio",
        is_ratio=True,
    ),
    Question(
        "recovery",
        "recovery after a step (s)",
        f"datagrams take half of the link from {STEP[0]:.0%} to {STEP[1]:.0%} of the run; time from "
        f"their end until the goodput is {RECOVERED:.0%} of its former value",
        "after a step",
        "recovery",
    ),
)
BY_KEY = {question.key: question for question in QUESTIONS}
FIRST_SCREEN = ("goodput", "delay", "loss", "stolen_reno", "recovery")
"""Questions that have a sentence: over all of them somebody is behind by chance in 5 % of the comparisons."""
LOOKED_AT = tuple(dict.fromkeys(BY_KEY[key].scenario for key in FIRST_SCREEN))
"""Their scenarios, which get further runs where these may decide something."""


def _on(setting: PathSetup) -> Iterator[CellKeys]:
    path = setting.path
    return _cells(rate_mbps=path.rate_mbps, rtt_ms=path.rtt_ms, length_s=setting.run_s, count=setting.flows)


def scenarios(
    setting: PathSetup, control: str, read: Callable[[Table], Scenario] = engine.read, only: str | None = None
) -> dict[str, Scenario]:
    """Return the scenarios for one control by name, or only the one of this name, as `read` reads them."""
    subject, rtt_ms = reader.Subject(control), setting.path.rtt_ms
    # Reno against itself is Reno next to Reno: the same names make it the same scenario.
    return {
        keys["name"]: setting.scenario(*reader.flows(keys, names, where, subject, rtt_ms)[0], read=read)
        for keys, names, where in _on(setting)
        if only in (None, keys["name"])
    }


def measures(setting: PathSetup) -> dict[str, RunMeasure]:
    """Return the function of a run that measures each scenario, by name."""
    functions: dict[str, RunMeasure] = {}
    for keys, names, where in _on(setting):
        wanted = fill(keys["measure"], names, where)
        arguments = {"name": wanted} if isinstance(wanted, str) else dict(wanted)
        functions[keys["name"]] = partial(MEASURES[arguments.pop("name")], **arguments)
    return functions
