"""Runs that are written down instead of simulated, so that tests know the values that are measured."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ackclock.engine import Run


def made(
    packets,
    *,
    sample_s: float = 0.1,
    controllers: Sequence[str] = (),
    names: Sequence[str] = (),
    rtt_ms: Sequence[float | None] = (),
    window=None,
    queue=None,
    drops=None,
    utilisation=None,
    columns: Mapping[str, Any] | None = None,
    events: Sequence[tuple[float, int, str] | tuple[float, int, str, float, float]] = (),
    flows: Sequence[dict] = (),
    links: Sequence[dict] = (),
) -> Run:
    """Make a run from the packets that its flows send; all of them arrive.

    Parameters
    ----------
    packets : array_like
        Packets of 1000 bytes in each sample, shape (samples, flows).
    sample_s : float
        Time between samples, seconds.
    controllers, names : sequence of str
        Of each flow; by default Reno and ``flow 0``.
    rtt_ms : sequence of float or None
        Mean round-trip time of each flow, milliseconds; by default 100.
    window : array_like, optional
        Window of the first flow in each sample, packets.
    queue : array_like, optional
        Mean queue of the bottleneck in each sample, packets; by default 0.
    drops : array_like, optional
        Packets that the bottleneck drops in each sample; by default 0.
    utilisation : array_like, optional
        Share of each sample in which the bottleneck sends; by default 1.
    columns : mapping, optional
        More columns of the windows, or others than follow from the rest, shape (samples, flows).
    events : sequence of (float, int, str)
        Time, flow and kind, and the window before and after where it matters.
    flows, links : sequence of dict
        More of their summaries.
    """
    sent = np.asarray(packets, float)
    samples, count = sent.shape
    time_s = sample_s * np.arange(1, samples + 1)
    empty = [{}] * count

    def of(given, default):
        return list(given) or [default] * count

    summaries = [
        {"id": index, "name": name, "controller": controller, "kind": "window", "mean_rtt_ms": rtt}
        | dict(more)
        for index, (name, controller, rtt, more) in enumerate(
            zip(
                names or [f"flow {index}" for index in range(count)],
                of(controllers, "reno"),
                of(rtt_ms, 100.0),
                flows or empty,
                strict=True,
            )
        )
    ]
    windows = np.full((samples, count), np.nan)
    if window is not None:
        windows[:, 0] = window
    sent_bytes = np.round(1000 * sent).astype(np.int64).ravel()
    two_links = np.zeros((samples, 2))
    mean_packets, dropped = two_links.copy(), two_links.copy()
    mean_packets[:, 0] = 0 if queue is None else queue
    dropped[:, 0] = 0 if drops is None else drops
    cuts = {
        key: np.array([event[place] if len(event) > place else np.nan for event in events], float)
        for key, place in (("window_before", 3), ("window_after", 4))
    }
    used = np.ones((samples, 2))
    used[:, 0] = 1 if utilisation is None else utilisation
    given = {key: np.asarray(column, float).ravel() for key, column in (columns or {}).items()}
    tables = {
        "windows": {
            "time_s": np.repeat(time_s, count),
            "flow": np.tile(np.arange(count), samples),
            "window": windows.ravel(),
            "rtt_ms": np.tile([summary["mean_rtt_ms"] or np.nan for summary in summaries], samples),
            "sent_bytes": sent_bytes,
            "arrived_bytes": sent_bytes,
            "delivered_bytes": sent_bytes,
            **given,
        },
        "queues": {
            "time_s": np.repeat(time_s, 2),
            "link": np.tile([0, 1], samples),
            "min_packets": mean_packets.ravel(),
            "mean_packets": mean_packets.ravel(),
            "drops": dropped.ravel(),
            "utilisation": used.ravel(),
        },
        "events": {
            "time_s": np.array([event[0] for event in events], float),
            "flow": np.array([event[1] for event in events], np.int64),
            "kind": np.array([event[2] for event in events], str),
            **cuts,
        },
    }
    summary = {"duration_s": sample_s * samples, "flows": summaries, "links": list(links)}
    return Run(summary, "", tables)
