"""The one setting of the study's simulations, with every value that the text leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ackclock.api import Run
from ackclock.models.laws import Array
from ackclock.papers.artefact import Effort
from ackclock.sweep import Case

RTT_S = 0.1
CHANGE_S = 100.0
"""Round trip 1000."""

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
    ("rates", "bytes sent in each 100 ms", "the round trip without queueing"),
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
    runs: int | None = None,
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
    runs : int, optional
        In place of the effort's.

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
        "run": {"duration": f"{duration_s:g} s", "warmup": "50 s", "sample": "100 ms"},
        "tcp": {"min_rto": "400 ms", "clock": "100 ms", "recovery": recovery},
        "dumbbell": link,
        "flow": [dict(one) for one in some],
    }
    if events:
        scenario["event"] = [dict(one) for one in events]
    return Case(scenario, effort.runs if runs is None else runs)


def rates(run: Run, names: Sequence[int] | None = None) -> Array:
    """Give what flows sent in every round trip.

    Parameters
    ----------
    run : Run
        A recorded run.
    names : sequence of int, optional
        Numbers of the flows; by default all with a control.

    Returns
    -------
    ndarray
        Packets, shape (round trips, flows).
    """
    wanted = names
    if wanted is None:
        wanted = [flow["id"] for flow in run.summary["flows"] if flow["controller"] is not None]
    return np.stack(
        [
            run.windows.filter(pl.col("flow") == one)["sent_bytes"].to_numpy() / 1000.0
            for one in wanted
        ],
        axis=1,
    )


def queue(run: Run) -> Array:
    """Give the bottleneck's queue at the end of every round trip.

    Parameters
    ----------
    run : Run
        A recorded run.

    Returns
    -------
    ndarray
        Packets.
    """
    return np.asarray(run.queues.filter(pl.col("link") == 0)["queue_packets"].to_numpy(), float)


def trace(run: Run, start: int, end: int, *, shown: int = 1) -> pl.DataFrame:
    """Give what the pictures show of a run.

    Parameters
    ----------
    run : Run
        A recorded run.
    start, end : int
        Round trips.
    shown : int
        Flows shown.

    Returns
    -------
    polars.DataFrame
        Columns round_trip, rate of the first flow (packets per round trip), window, queue and
        Jain's index of all flows.
    """
    sent = rates(run)
    square = (sent**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        fairness = sent.sum(axis=1) ** 2 / (sent.shape[1] * square)
    first = run.windows.filter(pl.col("flow") == 0)
    frame = pl.DataFrame(
        {
            "round_trip": np.arange(1, len(sent) + 1),
            "rate": sent[:, :shown].mean(axis=1),
            "window": first["window"],
            "queue": queue(run)[: len(sent)],
            "fairness": fairness,
        }
    )
    return frame.filter(pl.col("round_trip").is_between(start, end)).fill_nan(None)
