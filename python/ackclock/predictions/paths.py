"""The paths on which predictions are simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ackclock.engine import build

ENDLESS = {"kind": "droptail", "limit": "10000000 packets"}
ENDLESS_MBPS = 100_000.0


def dumbbell(
    flows: Sequence[Mapping[str, object]],
    measured_s: float,
    *,
    warmup_s: float,
    rate_mbps: float = ENDLESS_MBPS,
    buffer_packets: int | None = None,
    delay_s: float = 0.001,
    sample_s: float | None = None,
    **link: build.Setting,
) -> build.Table:
    """Describe a dumbbell; by default its bottleneck never fills, so that only its losses matter.

    Parameters
    ----------
    flows : sequence of mapping
        As `build.flow` gives them.
    measured_s, warmup_s : float
        Seconds measured, and left out before.
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    buffer_packets : int, optional
        Packets; by default a buffer that never overflows.
    delay_s : float
        One-way propagation delay of the bottleneck, seconds.
    sample_s : float, optional
        Sampling interval of the trace, seconds.
    **link
        Other keys of `[dumbbell]`, such as loss.

    Returns
    -------
    dict
        The scenario.
    """
    return build.scenario(
        build.dumbbell(
            build.mbps(rate_mbps),
            build.seconds(delay_s),
            ENDLESS if buffer_packets is None else build.packets(buffer_packets),
            reverse={"queue": ENDLESS},
            **link,
        ),
        *flows,
        # Whole microseconds: a length that was computed has no more digits that mean anything.
        duration=build.seconds(round(warmup_s + measured_s, 6)),
        warmup=build.seconds(round(warmup_s, 6)),
        sample=None if sample_s is None else build.seconds(sample_s),
    )


RECOVERY = 1 + 9 / 11
"""Round trips of recovery from ten losses spread over a round trip: the last one is found missing
9/11 of a round trip after the first, averaged over their positions, and then sent again."""


def losing_together(
    flows: Sequence[tuple[Mapping[str, object], float, Sequence[float]]],
    times_s: Sequence[float],
    duration_s: float,
    sample_s: float,
) -> build.Table:
    """Describe flows that all have one loss event at given times.

    Every flow has a link of its own, without limits. For one round trip, in which the whole window
    passes it however bunched, the link loses ten packets on average, or a third of a small window:
    all of one loss event, because the loss of the first one is not known before the last one is
    sent. Windows of 14 packets and more miss it once in 400 times at most.

    Parameters
    ----------
    flows : sequence of (mapping, float, sequence of float)
        As `build.flow` gives them, with the propagation round trip, seconds, and the expected
        window at each loss event, packets.
    times_s : sequence of float
        When the loss events begin, seconds; farther apart than the longest round trip.
    duration_s : float
        Simulated time, seconds.
    sample_s : float
        Sampling interval of the trace, seconds.

    Returns
    -------
    dict
        The scenario.
    """
    names = [f"sender{index}" for index in range(len(flows))]
    path = {
        "rate": build.mbps(ENDLESS_MBPS),
        "delay": "1 ms",
        "queue": ENDLESS,
        "reverse": {"queue": ENDLESS},
        "loss": {"kind": "bernoulli", "rate": 0},
    }
    changes = []
    for name, (_, rtt_s, windows) in zip(names, flows, strict=True):
        for time_s, window in zip(times_s, windows, strict=True):
            for at_s, rate in ((time_s, min(0.35, 10 / window)), (time_s + rtt_s, 0)):
                key = f"link.{name}-path.loss.rate"
                changes.append({"at": build.seconds(at_s), "set": key, "to": rate})
    return build.scenario(
        {
            "node": [{"name": name} for name in [*names, "receiver"]],
            "link": [{"name": f"{name}-path", "from": name, "to": "receiver", **path} for name in names],
        },
        *({**one, "from": name, "to": "receiver"} for name, (one, _, _) in zip(names, flows, strict=True)),
        duration=build.seconds(round(duration_s, 6)),
        sample=build.seconds(sample_s),
        events=tuple(changes),
    )
