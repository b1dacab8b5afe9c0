"""The one setting of the study's simulations, with every value that the text leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run
from ackclock.models.laws import Array
from ackclock.reproduction.numbers import Effort
from ackclock.runs import Case

RTT_S = 0.1
MEASURED_FROM_S = 50.0
CHANGE_S = 100.0
"""What the study has at round trip 1000."""

PROTOCOLS: dict[str, dict[str, Any]] = {
    "TCP": {"controller": "reno"},
    "GAIMD": {"controller": "gaimd"},
    "TFRC": {"controller": "tfrc"},
    "TEAR": {"controller": "tear"},
}

SETTING = (
    ("bottleneck", "2.5 Mbit/s, 30 ms, droptail 50 packets", "section 2.2"),
    ("access links", "10 ms each, unlimited: RTT 100 ms", "section 2.2: never the bottleneck"),
    ("packets", "1000 bytes; ACKs of 40 bytes, none delayed", "section 2.2; ns-2's defaults"),
    ("recovery of TCP and GAIMD", "Reno; SACK in figures 18 and 19", "section 2.2; figure 18"),
    (
        "retransmission timeout",
        "at least 400 ms, clock 100 ms",
        "left open; the study's own analysis has a timeout of four round trips (equation 7)",
    ),
    ("initial window and ssthresh", "2 packets, unlimited", "left open: ns-2's defaults"),
    ("GAIMD", "alpha 0.31, beta 7/8", "section 1"),
    (
        "TFRC",
        "RFC 5348, with history discounting (floor 0.5)",
        "the study ran a snapshot of ns-2 of June 2000; discounting is on where it does not say",
    ),
    ("TEAR", "with its timeout; figure 22 also without", "section 2.2"),
    ("overhead", "up to 1 ms; TEAR none", "section 2.2: small, for TCP, GAIMD and TFRC"),
    ("starts", "uniform over 10 s", "left open"),
    ("rates", "bytes sent in each round trip, the mean of the run", "section 3: per round trip"),
    (
        "controlled loss",
        "flows that do not meet: 100 Mbit/s for up to 32 of them, with the loss at the link",
        "left open; one flow alone never fills 2.5 Mbit/s at the loss rates of most figures",
    ),
    ("RED", "not run", "the text says that it is like droptail; its parameters are left open"),
)


def flows(protocol: str, **settings: Any) -> dict[str, Any]:
    """Describe flows of a protocol.

    Parameters
    ----------
    protocol : str
        A key of `PROTOCOLS`.
    **settings
        Other keys of a flow.

    Returns
    -------
    dict
        An entry of `[[flow]]`.
    """
    one = {"rtt": "100 ms", "start": {"uniform": ["0 s", "10 s"]}, **PROTOCOLS[protocol]}
    if protocol != "TEAR":
        one["overhead"] = "1 ms"
    return one | settings


def case(
    effort: Effort,
    some: Sequence[Mapping[str, Any]],
    duration_s: float,
    *,
    loss: Mapping[str, Any] | None = None,
    events: Sequence[Mapping[str, Any]] = (),
    recovery: str = "reno",
) -> Case:
    """Make a case of the study.

    Parameters
    ----------
    effort : Effort
        How many runs.
    some : sequence of mapping
        As `flows` gives them.
    duration_s : float
        Of the run; the first 50 s are not measured.
    loss : mapping, optional
        A controlled loss; the link then has 100 Mbit/s.
    events : sequence of mapping
        Changes during the run.
    recovery : str
        Of TCP and GAIMD.

    Returns
    -------
    Case
        The scenario and its runs.
    """
    link: dict[str, Any] = {
        "rate": "2.5 Mbit/s" if loss is None else "100 Mbit/s",
        "delay": "30 ms",
        "queue": {"kind": "droptail", "limit": "50 packets" if loss is None else "10000 packets"},
    }
    if loss is not None:
        link["loss"] = dict(loss)
    scenario = {
        "run": {
            "duration": f"{duration_s:g} s", "warmup": f"{MEASURED_FROM_S:g} s",
            "sample": "20 ms" if loss is None else "100 ms",
        },
        "tcp": {"min_rto": "400 ms", "clock": "100 ms", "recovery": recovery},
        "dumbbell": link,
        "flow": [dict(one) for one in some],
    }  # fmt: skip
    if events:
        scenario["event"] = [dict(one) for one in events]
    return Case(scenario, effort.runs)


@dataclass(frozen=True)
class Rounds:
    """A run, counted in round trips.

    Attributes
    ----------
    width_s : float
        A round trip: the mean of the run, seconds.
    sent : ndarray
        Packets sent by each flow, shape (round trips, flows).
    queue : ndarray
        The bottleneck's mean queue, packets.
    first : int
        The first round trip that is measured.
    change : int
        The round trip that begins at the change.
    """

    width_s: float
    sent: Array
    queue: Array
    first: int
    change: int


def rounds(run: Run) -> Rounds:
    """Count a run in round trips, one of which begins at the change.

    Parameters
    ----------
    run : Run
        A recorded run.

    Returns
    -------
    Rounds
        Of all flows with a control.
    """
    flows = [flow for flow in run.summary["flows"] if flow["controller"] is not None]
    width_s = float(np.mean([flow["mean_rtt_ms"] or 100.0 for flow in flows])) / 1000
    sample_s = float(run.queues["time_s"][0])
    # Without a queue a round trip is a sample, exactly.
    width_s = sample_s * max(1, round(width_s / sample_s))
    change = int(CHANGE_S / width_s)
    start_s = CHANGE_S - change * width_s
    end_s = run.summary["duration_s"]
    samples = [run.windows.filter(pl.col("flow") == flow["id"]) for flow in flows]
    amounts = np.stack([one["sent_bytes"].to_numpy() for one in samples], axis=1) / 1000.0
    time = samples[0]["time_s"].to_numpy()
    _, per_s = metrics.over_intervals(time, amounts, width_s, start_s, end_s)
    waiting = run.queues.filter(pl.col("link") == 0)
    _, queued = metrics.over_intervals(
        waiting["time_s"].to_numpy(), waiting["mean_packets"].to_numpy() * sample_s, width_s,
        start_s, end_s,
    )  # fmt: skip
    first = int(np.ceil((MEASURED_FROM_S - start_s) / width_s))
    return Rounds(width_s, per_s * width_s, queued, first, change)


def trace(run: Run, start: int, end: int) -> pl.DataFrame:
    """Give what the pictures show of a run.

    Parameters
    ----------
    run : Run
        A recorded run.
    start, end : int
        Round trips; the change is at 1000.

    Returns
    -------
    polars.DataFrame
        Columns round_trip, rate of the first flow (packets per round trip), window, queue and
        Jain's index of all flows.
    """
    counted = rounds(run)
    sent = counted.sent
    square = (sent**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        fairness = sent.sum(axis=1) ** 2 / (sent.shape[1] * square)
    first = run.windows.filter((pl.col("flow") == 0) & pl.col("window").is_not_null())
    ends_s = CHANGE_S + counted.width_s * (np.arange(len(sent)) - counted.change + 1)
    window = np.full(len(sent), np.nan)
    if first.height:
        window = np.interp(ends_s, first["time_s"].to_numpy(), first["window"].to_numpy())
    frame = pl.DataFrame(
        {
            "round_trip": 1000 + np.arange(len(sent)) - counted.change,
            "rate": sent[:, 0],
            "window": window,
            "queue": counted.queue,
            "fairness": fairness,
        }
    )
    return frame.filter(pl.col("round_trip").is_between(start, end)).fill_nan(None)


CHANGES = (
    "Rates and fairness are counted per mean round trip of the run (per 100 ms before): with a "
    "queue the round trip is a quarter of a second, and a window that is sent as one train looked "
    "like a fluctuation.",
    "Table 1: I is measured with 5 flows (20 before), which do not fill the link while they grow.",
    "Figure 1: the shortest sample of the trace is that of the first window's last packet.",
)
"""Changed after the first data were seen."""
