"""Four flows on one link: cases of figures 9 and 11 to 13, and what they measure in a run."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run, number
from ackclock.reproduction.numbers import Effort, Key, Row
from ackclock.runs import Case
from ackclock_papers.illinois.setting import OVERHEAD, flow, scenario

EQUAL_MS = (100, 100, 100, 100)
RTTS_MS = (60, 80, 100, 120)


class Four(NamedTuple):
    """Four flows on one link, figures 11 to 13.

    Attributes
    ----------
    control : str
        Congestion control of the flows that are not Reno's, by the paper's name.
    reno_flows : int
        How many of the four are Reno; they come first.
    rtts_ms : tuple of int
        Propagation round trip of each flow, ms.
    """

    control: str
    reno_flows: int = 0
    rtts_ms: tuple[int, ...] = EQUAL_MS

    @property
    def mixed(self) -> bool:
        """Whether the round trips differ."""
        return len(set(self.rtts_ms)) > 1

    def __str__(self) -> str:
        """Label of the case."""
        if self.mixed:
            return f"{min(self.rtts_ms)} to {max(self.rtts_ms)} ms: {self.control}"
        others = f"{4 - self.reno_flows} {self.control}"
        return f"{self.reno_flows} Reno + {others}" if self.reno_flows else others

    @property
    def flows(self) -> list[dict[str, Any]]:
        """Entries of ``[[flow]]``."""
        if self.mixed:
            return [{"rtt": f"{rtt_ms} ms"} | flow(self.control) for rtt_ms in self.rtts_ms]
        counts = {"Reno": self.reno_flows, self.control: 4 - self.reno_flows}
        return [flow(control) | {"count": count} for control, count in counts.items() if count]


class OfFlow(NamedTuple):
    """A number of one of the flows.

    Attributes
    ----------
    quantity : str
        What is measured.
    flow : int
        Index of the flow, from 0.
    """

    quantity: str
    flow: int

    def __str__(self) -> str:
        """Label of the number."""
        return f"{self.quantity}_{self.flow}"


beside_reno = partial(Four, reno_flows=2)
"""Two flows of a control, by the paper's name, beside two of Reno."""
mixed_rtts = partial(Four, rtts_ms=RTTS_MS)
"""Four flows of a control, by the paper's name, with round trips of 60 to 120 ms."""


def together(case: Four, effort: Effort) -> Case:
    """Declare the runs of four flows on the paper's link.

    Parameters
    ----------
    case : Four
        The flows.
    effort : Effort
        A quick run is half as long.

    Returns
    -------
    Case
        Scenario and number of runs.
    """
    settings = {"overhead": OVERHEAD, "start": {"uniform": ["0 s", "10 s"]}}
    # The link has the delay of the shortest round trip; access links make up the others.
    made = scenario(
        [one | settings for one in case.flows], rtt_ms=min(case.rtts_ms),
        duration_s=effort.pick(600, 300), warmup_s=100, sample_s=0.1,
    )  # fmt: skip
    return Case(made, runs=effort.runs)


SUMS = ("goodput_mbps", "timeouts", "events", "losing_flows", "all_lose")


def numbers_of(case: Four, _effort: Effort) -> list[Key]:
    """List the keys of what `measure` gives.

    Parameters
    ----------
    case : Four
        The flows.
    _effort : Effort
        Makes no difference.

    Returns
    -------
    list
        Sums, goodput and window of each flow, the exponent of mixed round trips, Reno's share.
    """
    of_flows = [OfFlow(what, index) for index in range(4) for what in ("goodput", "window")]
    return [
        *SUMS, *of_flows,
        *(["mu"] if case.mixed else []), *(["reno_share"] if case.reno_flows else []),
    ]  # fmt: skip


def measure(case: Four, run: Run) -> Row:
    """Sum goodputs, and measure who loses together.

    Parameters
    ----------
    case : Four
        The flows.
    run : Run
        A recorded run of them.

    Returns
    -------
    mapping
        By the keys of `numbers_of`.
    """
    flows = run.summary["flows"]
    losses = run.events.filter(
        pl.col("kind").is_in(["loss", "timeout"])
        & (pl.col("time_s") > run.summary["measured_from_s"])
    )
    events = metrics.congestion_events(
        losses["time_s"].to_numpy(), losses["flow"].to_numpy(), 2 * max(case.rtts_ms) / 1000
    )
    losing = [len(who) for _, who in events]
    goodputs = [number(one["goodput_mbps"]) for one in flows]
    windows = [number(one["mean_window"]) for one in flows]
    row: dict[Key, Any] = {
        "goodput_mbps": sum(goodputs),
        "timeouts": sum(one["timeouts"] for one in flows),
        "events": len(events),
        "losing_flows": float(np.mean(losing)) if losing else float("nan"),
        "all_lose": float(metrics.synchronisation(losing, len(flows))),
    }
    for index, (goodput, window) in enumerate(zip(goodputs, windows, strict=True)):
        row |= {OfFlow("goodput", index): goodput, OfFlow("window", index): window}
    if case.mixed:
        row["mu"] = metrics.rtt_unfairness_exponent(windows, case.rtts_ms)
    if case.reno_flows:
        row["reno_share"] = sum(goodputs[: case.reno_flows]) / sum(goodputs)
    return row
