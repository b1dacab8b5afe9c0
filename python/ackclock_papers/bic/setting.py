"""Scenarios of the paper's one setting; paper.toml lists every value and its basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ackclock.engine import FlowSummary, Run
from ackclock.metrics import Estimate, over_batches
from ackclock.reproduction.numbers import Effort
from ackclock.runs import Case

CONTROLS: dict[str, dict[str, Any]] = {
    "AIMD": {"controller": "aimd"},
    "BI-TCP": {"controller": "bic"},
    "HSTCP": {"controller": "hstcp"},
    "STCP": {"controller": "scalable"},
}
PACKET_BITS = 8000
GIGABIT_MBPS = 2500.0


class Group(NamedTuple):
    """Background flows of one kind in one direction; its text is their name.

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


def background(rate_mbps: float) -> dict[Group, dict[str, Any]]:
    """Describe the background traffic.

    Parameters
    ----------
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.

    Returns
    -------
    dict
        Entries of ``[[flow]]`` by group: web sessions, small and long-lived flows, both ways.
    """
    # A session has a page of 4 objects of 12 kB every 10 s or so: 40 kbit/s. A fifth of the link at
    # 20 Mbit/s, less at the higher rates, where the paper has 7 % and more sessions would cost more
    # than they change.
    sessions = round(min(0.2 * rate_mbps / 0.04, 400))
    early, later = ({"uniform": ["0 s", end]} for end in ("10 s", "30 s"))
    kinds: dict[str, dict[str, Any]] = {
        "web": {
            "source": "web", "count": sessions, "rtt": "80 ms", "think": "10 s", "start": early,
        },
        "small": {"count": 25, "rtt": "100 ms", "receive_window": 64, "start": later},
        "long": {"count": 2, "rtt": "120 ms", "start": early},
    }  # fmt: skip
    groups = [Group(kind, direction) for direction in ("forward", "reverse") for kind in kinds]
    return {
        one: {
            **kinds[one.kind], "controller": "reno", "direction": one.direction, "name": str(one),
        }
        for one in groups
    }  # fmt: skip


def background_flows(run: Run, fast: int, rate_mbps: float) -> dict[Group, list[FlowSummary]]:
    """Find the background flows of a run.

    Parameters
    ----------
    run : Run
        A run of a case with background.
    fast : int
        Number of its high-speed flows, which come first.
    rate_mbps : float
        Rate of its bottleneck, Mbit/s.

    Returns
    -------
    dict
        What the summary says of each flow, by group.

    Raises
    ------
    ValueError
        When the run has another number of flows.
    """
    sizes = {group: int(one["count"]) for group, one in background(rate_mbps).items()}
    flows = run.summary["flows"]
    if len(flows) != fast + sum(sizes.values()):
        raise ValueError(f"{len(flows)} flows, expected {fast + sum(sizes.values())}")
    others = iter(flows[fast:])
    return {group: list(islice(others, size)) for group, size in sizes.items()}


def case(
    effort: Effort,
    flows: Sequence[Mapping[str, Any]],
    rate_mbps: float,
    *,
    duration_s: float = 300.0,
    quick_s: float | None = None,
    red: bool = False,
    with_background: bool = True,
    sample_s: float = 1.0,
) -> Case:
    """Make a case of the paper, with one run above 1 Gbit/s.

    Parameters
    ----------
    effort : Effort
        How many runs, and how long.
    flows : sequence of mapping
        The high-speed flows.
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    duration_s : float
        Length of a run, which is measured in its second half, seconds.
    quick_s : float, optional
        The same of a quick run, in place of a third.
    red : bool
        Adaptive RED in place of droptail.
    with_background : bool
        Whether there is background traffic.
    sample_s : float
        Sampling interval of the trace, seconds.

    Returns
    -------
    Case
        The scenario and its runs.
    """
    product = round(rate_mbps * 1e6 / PACKET_BITS * 0.1)
    queue: dict[str, Any] = {"kind": "droptail", "limit": f"{product} packets"}
    if red:
        queue |= {
            "kind": "ared", "min_threshold": product / 4, "max_threshold": 3 * product / 4,
            "least_max_p": 0.001,
        }  # fmt: skip
    length = effort.pick(duration_s, duration_s / 3 if quick_s is None else quick_s)
    fast = {"pacing": True, "max_burst": 2, "overhead": "8 us", "recovery": "sack"}
    scenario = {
        "run": {
            "duration": f"{length:g} s", "warmup": f"{length / 2:g} s", "sample": f"{sample_s:g} s",
        },
        "tcp": {"overhead": "8 us"},
        "dumbbell": {"rate": f"{rate_mbps:g} Mbit/s", "delay": "10 ms", "queue": queue},
        "flow": [
            *({**fast, "start": {"uniform": ["0 s", "10 s"]}, **one} for one in flows),
            *(background(rate_mbps).values() if with_background else ()),
        ],
    }  # fmt: skip
    return Case(scenario, 1 if rate_mbps > 1000 else effort.runs)


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
