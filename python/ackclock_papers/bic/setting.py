"""Scenarios of the paper's setting; paper.toml lists every item with the values it may have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from ackclock.engine import FlowSummary, Run, build
from ackclock.metrics import Estimate, over_batches
from ackclock.reproduction.numbers import Effort
from ackclock.reproduction.settings import Setting
from ackclock.runs import Case

CONTROLS: dict[str, dict[str, Any]] = {
    "AIMD": {"controller": "aimd"},
    "BI-TCP": {"controller": "bic"},
    "HSTCP": {"controller": "hstcp"},
    "STCP": {"controller": "scalable"},
}
GIGABIT_MBPS = 2500.0
SEEDS_ABOVE_1_GBPS, QUICK_SEEDS_ABOVE_1_GBPS = 3, 2
SESSION_MBPS = 0.034
"""What a web session offers: 4 objects of 12 kB, a second to fetch them and 10 s to read them."""
MOST_SESSIONS_ABOVE_1_GBPS = 400
SMALL_FLOWS, LONG_FLOWS = 25, 2
DIFFERENT_RTTS = 25
"""Of a kind of background flows at most; web sessions are more than that and share them."""
EARLY_S = 10.0
"""Until then the flows that last for the whole run have begun, seconds."""


class Group(NamedTuple):
    """Background flows of one kind in one direction; their names begin with its text.

    Attributes
    ----------
    kind : str
        ``web``, ``small`` (window of at most 64 packets) or ``long``.
    direction : str
        ``forward`` or ``reverse``.
    """

    kind: str
    direction: str

    def __str__(self) -> str:
        return f"{self.kind} {self.direction}"


KINDS = ("web", "small", "long")
GROUPS = tuple(Group(kind, direction) for direction in ("forward", "reverse") for kind in KINDS)


def background(
    setting: Setting, rate_mbps: float, length_s: float, kinds: Collection[str] = KINDS
) -> list[dict[str, Any]]:
    """Describe the background traffic.

    Parameters
    ----------
    setting : mapping
        Values of the named items.
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    length_s : float
        Length of the run, seconds.
    kinds : collection of str
        Which of `KINDS` there are.

    Returns
    -------
    list of dict
        Entries of ``[[flow]]``, both ways, in the order of `GROUPS`.
    """
    early: dict[str, Any] = {"start": {"uniform": ["0 s", build.seconds(EARLY_S)]}}
    of_kind = {
        "web": {**early, "source": "web", "think": "10 s"},
        "small": {"receive_window": 64, **_random_times(setting, length_s)},
        "long": early,
    }
    return [
        build.flow(
            "reno",
            rtt=build.milliseconds(rtt_ms),
            count=count,
            direction=group.direction,
            name=f"{group} {number}",
            **of_kind[group.kind],
        )
        for group in GROUPS
        if group.kind in kinds
        for number, (count, rtt_ms) in enumerate(_spread(group.kind, setting, rate_mbps))
    ]


def _spread(kind: str, setting: Setting, rate_mbps: float) -> Iterator[tuple[int, float]]:
    """Give numbers of flows and their RTTs, evenly over the range of the setting, milliseconds."""
    flows = {"web": _sessions(setting, rate_mbps), "small": SMALL_FLOWS, "long": LONG_FLOWS}[kind]
    groups = min(flows, DIFFERENT_RTTS)
    low, high = setting["background_rtts_ms"]
    for index in range(groups):
        count = flows // groups + (index < flows % groups)
        yield count, low + (high - low) * (index + 0.5) / groups


def _sessions(setting: Setting, rate_mbps: float) -> int:
    wanted: int = round(setting["web_percent"] / 100 * rate_mbps / SESSION_MBPS)
    return min(wanted, MOST_SESSIONS_ABOVE_1_GBPS) if rate_mbps > 1000 else wanted


def _random_times(setting: Setting, length_s: float) -> dict[str, Any]:
    """Say when a small flow begins and ends, both of which are drawn in each run."""
    # A flow must begin before the run ends.
    latest_s = min(setting["small_starts_percent"] / 100 * length_s, length_s - 1)
    return {
        "start": {"uniform": ["0 s", build.seconds(latest_s)]},
        "stop": {"uniform": ["0 s", build.seconds(length_s)]},
    }


def background_flows(run: Run) -> dict[Group, list[FlowSummary]]:
    """Find the background flows of a run.

    Parameters
    ----------
    run : Run
        A run of a case with background.

    Returns
    -------
    dict
        What the summary says of each flow, by group.
    """
    flows = run.summary["flows"]
    return {group: [one for one in flows if one["name"].startswith(f"{group} ")] for group in GROUPS}


def rates_mbps(run: Run) -> dict[int, float]:
    """Average what each flow delivers over all of the measured time, also if it ends before.

    Parameters
    ----------
    run : Run
        A recorded run.

    Returns
    -------
    dict
        Mbit/s by index of the flow.
    """
    start_s, end_s = run.summary["measured_from_s"], run.summary["duration_s"]
    own = run.windows.filter(pl.col("time_s") > start_s)
    sums = own.group_by("flow").agg(pl.col("delivered_bytes").sum())
    factor = 8e-6 / (end_s - start_s)
    return {flow: size * factor for flow, size in sums.iter_rows()}


def background_mbps(run: Run) -> dict[Group, float]:
    """Add up what the background delivers.

    Parameters
    ----------
    run : Run
        A recorded run of a case with background.

    Returns
    -------
    dict
        Mbit/s by group.
    """
    rates = rates_mbps(run)
    return {
        group: sum(rates.get(one["id"], 0.0) for one in flows)
        for group, flows in background_flows(run).items()
    }


def case(
    effort: Effort,
    flows: Sequence[Mapping[str, Any]],
    rate_mbps: float,
    *,
    duration_s: float = 300.0,
    quick_s: float | None = None,
    measured_s: float | None = None,
    red: bool = False,
    kinds: Collection[str] = KINDS,
    sample_s: float = 1.0,
    most_runs: int = SEEDS_ABOVE_1_GBPS,
) -> Case:
    """Make a case of the paper, with fewer runs above 1 Gbit/s.

    Parameters
    ----------
    effort : Effort
        How many runs, how long, and at which setting.
    flows : sequence of mapping
        The high-speed flows.
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    duration_s : float
        Length of a run, seconds.
    quick_s : float, optional
        The same of a quick run, in place of a third.
    measured_s : float, optional
        How long it is measured, at its end, seconds; by default its second half.
    red : bool
        Adaptive RED in place of droptail.
    kinds : collection of str
        Which of `KINDS` the background has.
    sample_s : float
        Sampling interval of the trace, seconds.
    most_runs : int
        Above 1 Gbit/s, unless it is quick.

    Returns
    -------
    Case
        The scenario and its runs.
    """
    setting = effort.setting
    length_s = effort.pick(duration_s, duration_s / 3 if quick_s is None else quick_s)
    packets = round(rate_mbps * 1e3 * setting["buffer_ms"] / (8 * setting["packet_bytes"]))
    queue: dict[str, Any] = {"kind": "droptail", "limit": build.packets(packets)}
    if red:
        queue |= {"kind": "ared", "least_max_p": 0.001}
    fast = {
        "pacing": setting["pacing"],
        "initial_ssthresh": _initial_ssthresh(setting["limited_slow_start"] != "no flow"),
        "start": {"uniform": ["0 s", build.seconds(EARLY_S)]},
    }
    scenario = build.scenario(
        build.dumbbell(build.mbps(rate_mbps), "10 ms", queue, reverse={"queue": queue}),
        *({**fast, **one} for one in flows),
        *background(setting, rate_mbps, length_s, kinds),
        duration=build.seconds(length_s),
        warmup=build.seconds(length_s - (length_s / 2 if measured_s is None else measured_s)),
        sample=build.seconds(sample_s),
        tcp={
            "packet": f"{setting['packet_bytes']} B",
            "recovery": "sack",
            "max_burst": 2,
            "overhead": "8 us",
            "initial_ssthresh": _initial_ssthresh(setting["limited_slow_start"] == "all flows"),
            "min_rto": setting["min_rto"],
            "clock": "10 ms",
        },
    )
    most = QUICK_SEEDS_ABOVE_1_GBPS if effort.quick else most_runs
    runs = min(effort.runs, most) if rate_mbps > 1000 else effort.runs
    return Case(scenario, runs)


def _initial_ssthresh(limited: bool) -> int | str:
    return 100 if limited else "unlimited"


def rate_over_batches(run: Run, index: int) -> Estimate:
    """Estimate a flow's goodput from batches of the measured time.

    Parameters
    ----------
    run : Run
        A recorded run.
    index : int
        Index of the flow.

    Returns
    -------
    Estimate
        Mean and 95 % interval, Mbit/s.
    """
    start_s = run.summary["measured_from_s"]
    own = run.windows.filter((run.windows["flow"] == index) & (run.windows["time_s"] > start_s))
    length_s = float(own["time_s"][1] - own["time_s"][0])
    return over_batches(own["delivered_bytes"].to_numpy() * 8e-6 / length_s)
