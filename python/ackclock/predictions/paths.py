"""The paths on which predictions are simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ackclock.engine import build

ENDLESS = {"kind": "droptail", "limit": "10000000 packets"}
UNLIMITED = build.Path(100_000.0, 4.0, queue_packets=10_000_000, link={"reverse": {"queue": ENDLESS}})
"""A path that never fills in either direction, so that only its losses matter."""


def limited(rate_mbps: float, buffer_packets: int, **link: build.Setting) -> build.Path:
    """Return a path with a bottleneck that fills; `link` has other keys of ``[dumbbell]``, such as loss."""
    return replace(UNLIMITED, rate_mbps=rate_mbps, queue_packets=buffer_packets).with_link(**link)


def rounded(value: float) -> float:
    """Round a computed number to twelve digits: more differ between processors, and a scenario may not."""
    return float(f"{value:.12g}")


RECOVERY = 1 + 9 / 11
"""Round trips of recovery from ten losses spread over a round trip: on average over their positions,
the last one is detected 9/11 of a round trip after the first, and then retransmitted."""


def losing_together(
    flows: Sequence[tuple[Mapping[str, object], float, Sequence[float]]],
    times_s: Sequence[float],
    duration_s: float,
    sample_s: float,
) -> build.Table:
    """Return a scenario of flows that all have one loss event at each of the given times.

    Every flow has a link of its own without limits. For one round trip, in which the whole window passes it
    however bunched, the link loses ten packets on average, or a third of a small window. They belong to one
    loss event, because the last packet is sent before the loss of the first is known. Windows of 14 packets
    and more miss the event at most once in 400 times.

    Each flow is a triple: the flow of `build.flow`, its propagation round trip in seconds, and its expected
    window at each loss event in packets. The times must be farther apart than the longest round trip.
    """
    names = [f"sender{index}" for index in range(len(flows))]
    path = UNLIMITED.with_link(loss={"kind": "bernoulli", "rate": 0}).topology()["dumbbell"]
    changes = []
    for name, (_, rtt_s, windows) in zip(names, flows, strict=True):
        for time_s, window in zip(times_s, windows, strict=True):
            for at_s, rate in ((time_s, rounded(min(0.35, 10 / window))), (time_s + rtt_s, 0)):
                key = f"link.{name}-path.loss.rate"
                changes.append({"at": build.seconds(at_s), "set": key, "to": rate})
    return build.scenario(
        {
            "node": [{"name": name} for name in [*names, "receiver"]],
            "link": [{"name": f"{name}-path", "from": name, "to": "receiver", **path} for name in names],
        },
        *({**flow, "from": name, "to": "receiver"} for name, (flow, _, _) in zip(names, flows, strict=True)),
        duration=build.seconds(round(duration_s, 6)),
        sample=build.seconds(sample_s),
        events=tuple(changes),
    )
