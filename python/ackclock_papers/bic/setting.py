"""Scenarios of the paper's setting; paper.toml lists every item with the values it may have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import polars as pl

from ackclock.engine import FlowSummary, Run, build
from ackclock.metrics import Estimate, over_batches
from ackclock.reproduction.claims.numbers import Effort
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case

CONTROLS: dict[str, build.Table] = {
    "AIMD": {"controller": "aimd"},
    "BI-TCP": {"controller": "bic"},
    "HSTCP": {"controller": "hstcp"},
    "STCP": {"controller": "scalable"},
}
REPAIRS: dict[str, build.Table] = {
    "all four": {},
    "none: exactly as printed": dict.fromkeys(
        ("least_increase", "kept_maximum", "loss_ends_probing", "new_target"), False
    ),
    "all but a least increase of S_min": {"least_increase": False},
    "all but a maximum of its own for fast convergence": {"kept_maximum": False},
    "all but the end of slow start at a loss": {"loss_ends_probing": False},
    "all but a new target after slow start": {"new_target": False},
}
"""Parameters of BI-TCP by the value of ``repairs``."""
RED_THRESHOLDS: dict[str, build.Table] = {
    "2.5 and 7.5 ms of the link's rate": {},
    "5 and 15 packets": {"min_threshold": 5, "max_threshold": 15},
}
"""Keys of the queue by the value of ``red_thresholds``, as far as they do not depend on the buffer."""
OF_BUFFER = "a quarter and three quarters of the buffer"
"""The other value of ``red_thresholds``."""
GIGABIT_MBPS = 2500.0
QUICK_SEEDS_ABOVE_1_GBPS = 2
SESSION_MBPS = 0.034
"""Offered load of a web session: 4 objects of 12 kB, a second to fetch them and 10 s to read them."""
MOST_SESSIONS_ABOVE_1_GBPS = 400
SMALL_FLOWS, LONG_FLOWS = 25, 2
DIFFERENT_RTTS = 25
"""Most RTTs of a kind of background flows; there are more web sessions, which share them."""
EARLY_S = 10.0
"""Time by which the flows that last for the whole run have begun, seconds."""


class BackgroundGroup(NamedTuple):
    """Background flows of one kind in one direction; their names begin with the group's text."""

    kind: str
    """``web``, ``small`` (window of at most 64 packets) or ``long``."""
    direction: build.Direction
    """``forward`` or ``reverse``."""

    def __str__(self) -> str:
        return f"{self.kind} {self.direction}"


KINDS = ("web", "small", "long")
GROUPS = tuple(BackgroundGroup(kind, direction) for direction in build.DIRECTIONS for kind in KINDS)


def background(
    setting: Setting, rate_mbps: float, length_s: float, kinds: Collection[str] = KINDS
) -> list[build.Table]:
    """Return the background traffic, in the order of `GROUPS`, as entries of ``[[flow]]``."""
    early: build.Table = {"start": {"uniform": ["0 s", build.seconds(EARLY_S)]}}
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
    """Yield numbers of flows with their RTTs, spread evenly over the setting's range, milliseconds."""
    total = {"web": _sessions(setting, rate_mbps), "small": SMALL_FLOWS, "long": LONG_FLOWS}[kind]
    groups = min(total, DIFFERENT_RTTS)
    low, high = setting["background_rtts_ms"]
    for index in range(groups):
        count = total // groups + (index < total % groups)
        yield count, low + (high - low) * (index + 0.5) / groups


def _sessions(setting: Setting, rate_mbps: float) -> int:
    wanted: int = round(setting["web_percent"] / 100 * rate_mbps / SESSION_MBPS)
    return min(wanted, MOST_SESSIONS_ABOVE_1_GBPS) if rate_mbps > 1000 else wanted


def _random_times(setting: Setting, length_s: float) -> build.Table:
    """Return a small flow's random start and stop, which the engine draws in each run."""
    # A flow must begin before the run ends.
    latest_s = min(setting["small_starts_percent"] / 100 * length_s, length_s - 1)
    return {
        "start": {"uniform": ["0 s", build.seconds(latest_s)]},
        "stop": {"uniform": ["0 s", build.seconds(length_s)]},
    }


def background_flows(run: Run) -> dict[BackgroundGroup, list[FlowSummary]]:
    """Return the summaries of the background flows by group."""
    flows = run.summary["flows"]
    return {group: [flow for flow in flows if flow["name"].startswith(f"{group} ")] for group in GROUPS}


def rates_mbps(run: Run) -> dict[int, float]:
    """Return what each flow delivers, averaged over all of the measured time even if it ends earlier.

    In Mbit/s by index of the flow.
    """
    start_s, end_s = run.summary["measured_from_s"], run.summary["duration_s"]
    own = run.windows.filter(pl.col("time_s") > start_s)
    sums = own.group_by("flow").agg(pl.col("arrived_bytes").sum())
    factor = 8e-6 / (end_s - start_s)
    return {flow: size * factor for flow, size in sums.iter_rows()}


def background_mbps(run: Run) -> dict[BackgroundGroup, float]:
    """Return the goodput of the background by group, Mbit/s."""
    rates = rates_mbps(run)
    return {
        group: sum(rates.get(flow["id"], 0.0) for flow in flows)
        for group, flows in background_flows(run).items()
    }


def case(
    effort: Effort,
    flows: Sequence[build.Table],
    rate_mbps: float,
    *,
    duration_s: float = 300.0,
    quick_s: float | None = None,
    measured_s: float | None = None,
    red: bool = False,
    kinds: Collection[str] = KINDS,
    sample_s: float = 1.0,
) -> Case:
    """Make a case of the paper; a quick one has two runs above 1 Gbit/s.

    `quick_s` is the length of a quick run, by default a third of `duration_s`; `measured_s` is the time
    that is measured at the end, by default the second half. `red` replaces droptail by adaptive RED, and
    `kinds` are the `KINDS` of background.
    """
    setting = effort.setting
    length_s = effort.pick(duration_s, duration_s / 3 if quick_s is None else quick_s)
    packets = round(rate_mbps * 1e3 * setting["buffer_ms"] / (8 * setting["packet_bytes"]))
    queue: build.Table = {"kind": "droptail", "limit": build.packets(packets)}
    if red:
        queue |= adaptive_red(setting, packets)
    fast = {
        "pacing": setting["pacing"],
        "initial_ssthresh": _initial_ssthresh(setting["limited_slow_start"] != "no flow"),
        "start": {"uniform": ["0 s", build.seconds(EARLY_S)]},
    }
    alike = setting["reverse_queue"] == "the same as forward"
    reverse: build.Table = queue if alike else {"kind": "droptail", "limit": setting["reverse_queue"]}
    scenario = build.scenario(
        build.dumbbell(build.mbps(rate_mbps), "10 ms", queue, reverse={"queue": reverse}),
        *({**fast, **as_read(setting, flow)} for flow in flows),
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
            **({} if setting["delayed_ack"] == 1 else {"delayed_ack": setting["delayed_ack"]}),
            "clock": "10 ms",
        },
    )
    costly = effort.quick and rate_mbps > 1000
    return Case(scenario, min(effort.runs, QUICK_SEEDS_ABOVE_1_GBPS) if costly else effort.runs)


def adaptive_red(setting: Setting, buffer: int) -> build.Table:
    """Return the keys of the adaptive RED of a queue of `buffer` packets."""
    queue: build.Table = {"kind": "ared", "least_max_p": 0.001}
    if setting["red_thresholds"] == OF_BUFFER:
        queue |= {"min_threshold": buffer / 4, "max_threshold": 3 * buffer / 4}
    else:
        queue |= RED_THRESHOLDS[setting["red_thresholds"]]
    if setting["red_weight"] != "by the link's rate":
        queue["weight"] = setting["red_weight"]
    if not setting["red_gentle"]:
        queue["gentle"] = False
    if setting["red_mean_packet"] != "1000 B":
        queue["mean_packet"] = setting["red_mean_packet"]
    return queue


def as_read(setting: Setting, flow: build.Table) -> build.Table:
    """Return a flow with the parameters that the setting's readings of BI-TCP ask for."""
    if flow.get("controller") != "bic":
        return flow
    params = dict(REPAIRS[setting["repairs"]])
    if setting["search"] != "per ACK":
        params["search"] = "per_rtt"
    return {**flow, "params": params | flow.get("params", {})} if params else flow


def _initial_ssthresh(limited: bool) -> int | str:
    return 100 if limited else "unlimited"


def rate_over_batches(run: Run, index: int) -> Estimate:
    """Estimate a flow's goodput, Mbit/s, from batches of the measured time."""
    start_s = run.summary["measured_from_s"]
    own = run.windows.filter((run.windows["flow"] == index) & (run.windows["time_s"] > start_s))
    length_s = float(own["time_s"][1] - own["time_s"][0])
    return over_batches(own["arrived_bytes"].to_numpy() * 8e-6 / length_s)
