"""Four flows on one link: cases of figures 9 and 11 to 13, and their measurements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run, build, number
from ackclock.reproduction.claims.artefact import Probe
from ackclock.reproduction.claims.numbers import Effort, Key, Row
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case
from ackclock_papers.illinois.setting import flow, random_start, scenario, vegas

EQUAL_MS = (100, 100, 100, 100)
RTTS_MS = (60, 80, 100, 120)
RATE_MBPS = 100


class Four(NamedTuple):
    """Four flows on one link, figures 11 to 13."""

    control: str
    """Congestion control of the flows that are not Reno, by the paper's name."""
    reno_flows: int = 0
    """Number of Reno flows among the four; they come first."""
    rtts_ms: tuple[int, ...] = EQUAL_MS
    """Propagation round trip of each flow."""

    @property
    def mixed(self) -> bool:
        """Whether the round trips differ."""
        return len(set(self.rtts_ms)) > 1

    def __str__(self) -> str:
        if self.mixed:
            return f"{min(self.rtts_ms)} to {max(self.rtts_ms)} ms: {self.control}"
        rest = f"{4 - self.reno_flows} {self.control}"
        return f"{self.reno_flows} Reno + {rest}" if self.reno_flows else rest

    def flows(self, setting: Setting) -> list[build.Table]:
        """Make the entries of ``[[flow]]``, Reno's first."""
        start = random_start(setting)
        if self.control == "Vegas":
            own = vegas(setting["vegas_packets"], setting) | start
        else:
            own = flow(self.control, setting) | start
        if self.mixed:
            return [own | {"rtt": build.milliseconds(rtt_ms)} for rtt_ms in self.rtts_ms]
        entries = [own | {"count": 4 - self.reno_flows}]
        if self.reno_flows:
            entries.insert(0, flow("Reno", setting) | start | {"count": self.reno_flows})
        return entries


class OfFlow(NamedTuple):
    """A quantity of the flow with this index, from 0."""

    quantity: str
    flow: int

    def __str__(self) -> str:
        return f"{self.quantity}_{self.flow}"


next_to_reno = partial(Four, reno_flows=2)
"""Two flows of a control, by the paper's name, next to two of Reno."""
mixed_rtts = partial(Four, rtts_ms=RTTS_MS)
"""Four flows of a control, by the paper's name, with round trips of 60 to 120 ms."""


def together(case: Four, effort: Effort) -> Case:
    """Declare the runs of four flows on the paper's link; a quick run is half as long."""
    # The link has the delay of the shortest round trip; access links make up the others.
    description = scenario(
        case.flows(effort.setting),
        effort.setting,
        rate_mbps=RATE_MBPS,
        rtt_ms=min(case.rtts_ms),
        duration_s=effort.pick(600, 300),
        warmup_s=100,
        sample_s=0.1,
    )
    return Case(description, runs=effort.runs)


SUMS = ("goodput_mbps", "unused_mbps", "timeouts", "events", "losing_flows", "all_lose")
SHARING = ("reno_share", "window_ratio")
"""Keys of flows next to Reno: Reno's share of the goodput, and their mean window over Reno's."""
ALPHA = "alpha"
"""Key of Illinois next to Reno: mean increase, packets per round trip, by equation 28."""


def probe(case: Four, _effort: Effort) -> Probe:
    """Sum goodputs, and measure which flows lose together.

    The keys are sums, goodput and window of each flow, ``mu`` for mixed round trips, and `SHARING` and
    `ALPHA` next to Reno.
    """
    keys: list[Key] = [
        *SUMS,
        *(OfFlow(quantity, index) for index in range(4) for quantity in ("goodput", "window")),
    ]
    parts: list[Callable[[Run], Row]] = [partial(_sums, 2 * max(case.rtts_ms) / 1000), _of_flows]
    if case.mixed:
        keys.append("mu")
        parts.append(lambda run: {"mu": metrics.rtt_unfairness_exponent(_windows(run), case.rtts_ms)})
    if case.reno_flows:
        keys.extend(SHARING)
        parts.append(partial(_sharing, case.reno_flows))
    if case.control == "Illinois" and case.reno_flows:
        keys.append(ALPHA)
        parts.append(lambda run: {ALPHA: _mean_alpha(run, case.reno_flows)})
    return Probe(keys, lambda run: {key: value for part in parts for key, value in part(run).items()})


def _goodputs(run: Run) -> list[float]:
    return [number(sender["goodput_mbps"]) for sender in run.summary["flows"]]


def _windows(run: Run) -> list[float]:
    return [number(sender["mean_window"]) for sender in run.summary["flows"]]


def _sums(merge_s: float, run: Run) -> Row:
    losses = run.events.filter(
        pl.col("kind").is_in(["loss", "timeout"]) & (pl.col("time_s") >= run.summary["measured_from_s"])
    )
    events = metrics.congestion_events(losses["time_s"].to_numpy(), losses["flow"].to_numpy(), merge_s)
    losing = [len(flows) for _, flows in events]
    goodput_mbps = sum(_goodputs(run))
    return {
        "goodput_mbps": goodput_mbps,
        "unused_mbps": RATE_MBPS - goodput_mbps,
        "timeouts": sum(sender["timeouts"] for sender in run.summary["flows"]),
        "events": len(events),
        "losing_flows": float(np.mean(losing)) if losing else float("nan"),
        "all_lose": float(metrics.synchronisation(losing, len(run.summary["flows"]))),
    }


def _of_flows(run: Run) -> Row:
    row: dict[Key, float] = {}
    for index, (goodput, window) in enumerate(zip(_goodputs(run), _windows(run), strict=True)):
        row |= {OfFlow("goodput", index): goodput, OfFlow("window", index): window}
    return row


def _sharing(reno_flows: int, run: Run) -> Row:
    goodputs, windows = _goodputs(run), _windows(run)
    return {
        "reno_share": sum(goodputs[:reno_flows]) / sum(goodputs),
        "window_ratio": float(np.mean(windows[reno_flows:]) / np.mean(windows[:reno_flows])),
    }


def _mean_alpha(run: Run, reno_flows: int) -> float:
    # Samples are evenly spaced, so their sums are integrals over time.
    own = run.windows.filter(
        (pl.col("flow") >= reno_flows)
        & (pl.col("time_s") > run.summary["measured_from_s"])
        & pl.col("alpha").is_not_null()
        & pl.col("rtt_ms").is_not_null()
    )
    return float(np.average(own["alpha"].to_numpy(), weights=1 / own["rtt_ms"].to_numpy()))
