"""The summary of a run, typed: what the engine writes and everything else reads.

The engine describes it, too (``ackclock._native.summary_schema``); a test holds both together.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Counters(TypedDict):
    """What is counted of a flow."""

    sent_packets: int
    retransmitted_packets: int
    dropped_packets: int
    loss_events: int
    timeouts: int


class FlowSummary(Counters):
    """A flow, measured from the warm-up or its start to its stop or the end."""

    id: int
    name: str
    controller: str
    rtt_ms: float
    goodput_mbps: float | None
    mean_window: float | None
    mean_rtt_ms: float | None
    rtt_p50_ms: float | None
    rtt_p95_ms: float | None
    rtt_p99_ms: float | None
    completion_s: float | None
    whole_run: Counters
    settings: dict[str, Any]


class LinkSummary(TypedDict):
    """A link, measured from the warm-up on."""

    id: str
    utilisation: float | None
    queue_drops: int
    marks: int
    random_losses: int
    mean_queue_packets: float | None
    max_queue_packets: int
    queue_delay_p50_ms: float | None
    queue_delay_p95_ms: float | None
    queue_delay_p99_ms: float | None


class Summary(TypedDict):
    """A run. What does not apply is None."""

    version: str
    digest: str
    seed: int
    run: int
    duration_s: float
    measured_from_s: float
    flows: list[FlowSummary]
    links: list[LinkSummary]
    jain: float | None
    packets_simulated: int


def number(value: float | None) -> float:
    """Give a number of a summary that need not apply, for calculations.

    Parameters
    ----------
    value : float, optional
        As the summary has it.

    Returns
    -------
    float
        The same; NaN in place of None.
    """
    return float("nan") if value is None else value
