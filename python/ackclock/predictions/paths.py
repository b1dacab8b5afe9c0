"""The paths on which predictions are simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ENDLESS = {"kind": "droptail", "limit": "10000000 packets"}
PACKET_BITS = 8000
"""Data packets of 1000 bytes, the default of scenarios."""


def flow(controller: str, rtt_s: float, **settings: Any) -> dict[str, Any]:
    """Describe a flow.

    Parameters
    ----------
    controller : str
        Its control.
    rtt_s : float
        Propagation round trip, seconds.
    **settings
        Other keys of a flow.

    Returns
    -------
    dict
        An entry of `[[flow]]`.
    """
    return {"controller": controller, "rtt": f"{rtt_s * 1000:.6g} ms", **settings}


def dumbbell(
    flows: Sequence[dict[str, Any]],
    measured_s: float,
    *,
    warmup_s: float,
    rate: str = "100 Gbit/s",
    buffer: int | None = None,
    delay_s: float = 0.001,
    sample_s: float | None = None,
    **link: Any,
) -> dict[str, Any]:
    """Describe a dumbbell; by default its bottleneck is none: only its losses matter.

    Parameters
    ----------
    flows : sequence of dict
        As `flow` gives them.
    measured_s, warmup_s : float
        Seconds measured, and left out before.
    rate : str
        Of the bottleneck.
    buffer : int, optional
        Packets; by default no limit that would matter.
    delay_s : float
        One-way propagation delay of the bottleneck, seconds.
    sample_s : float, optional
        Sampling interval of the trace.
    **link
        Other keys of `[dumbbell]`, such as loss.

    Returns
    -------
    dict
        The scenario.
    """
    queue = ENDLESS if buffer is None else {"kind": "droptail", "limit": f"{buffer} packets"}
    run = {"duration": f"{warmup_s + measured_s:.6f} s", "warmup": f"{warmup_s:.6f} s"}
    if sample_s is not None:
        run["sample"] = f"{sample_s:.9f} s"
    return {
        "run": run,
        "dumbbell": {
            "rate": rate,
            "delay": f"{delay_s * 1000:.6g} ms",
            "queue": queue,
            "reverse": {"queue": ENDLESS},
            **link,
        },
        "flow": list(flows),
    }


RECOVERY = 1 + 9 / 11
"""Round trips of recovery from ten losses spread over a round trip: the last one is found missing
9/11 of a round trip after the first, in the mean of their positions, and then sent again."""


def losing_together(
    flows: Sequence[tuple[dict[str, Any], float, Sequence[float]]],
    times_s: Sequence[float],
    duration_s: float,
    sample_s: float,
) -> dict[str, Any]:
    """Describe flows that all have one loss event at given times.

    Every flow has a link of its own, without limits. For one round trip, in which the whole window
    passes it however bunched, the link loses ten packets on average, or a third of a small window:
    all of one loss event, because the loss of the first one is not known before the last one is
    sent. Windows of 14 packets and more miss it once in 400 times at most.

    Parameters
    ----------
    flows : sequence of (dict, float, sequence of float)
        As `flow` gives them, with the propagation round trip, seconds, and the expected window at
        each loss event, packets.
    times_s : sequence of float
        When the loss events begin, seconds; farther apart than the longest round trip.
    duration_s, sample_s : float
        Of the run, seconds.

    Returns
    -------
    dict
        The scenario.
    """
    names = [f"sender{index}" for index in range(len(flows))]
    queue = {"queue": ENDLESS, "rate": "100 Gbit/s", "delay": "1 ms", "reverse": {"queue": ENDLESS}}
    links = [
        {"name": f"{name}-path", "from": name, "to": "receiver", **queue,
         "loss": {"kind": "bernoulli", "rate": 0}}
        for name in names
    ]  # fmt: skip
    changes = []
    for name, (_, rtt_s, windows) in zip(names, flows, strict=True):
        for time, window in zip(times_s, windows, strict=True):
            for at, rate in ((time, min(0.35, 10 / window)), (time + rtt_s, 0)):
                key = f"link.{name}-path.loss.rate"
                changes.append({"at": f"{at:.9f} s", "set": key, "to": rate})
    return {
        "run": {"duration": f"{duration_s:.6f} s", "sample": f"{sample_s:.9f} s"},
        "node": [{"name": name} for name in [*names, "receiver"]],
        "link": links,
        "event": changes,
        "flow": [
            {**one, "from": name, "to": "receiver"}
            for name, (one, _, _) in zip(names, flows, strict=True)
        ],
    }
