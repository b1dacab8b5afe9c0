"""The summary of a run, typed: written by the engine and read by everything else.

The engine describes it, too (``ackclock._native.summary_schema``); tests compare the two.
"""

# Without annotations from __future__: TypedDict compiles every annotation that is a text, at each start.

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

from ackclock import _native

if TYPE_CHECKING:
    import polars as pl


MOST_AT_ONCE = 20_000
"""At most so many summaries of flows are in memory at once while their table is built."""
FLOWS_AT_ONCE = 100
"""Number of flows in one part of the JSON of a summary."""

Kind = Literal["window", "rate", "datagrams", "media", "web"]
"""Transfers under a window or a rate; datagrams and media without a control; pages and requests."""


class Counters(TypedDict):
    """The counts of a flow."""

    sent_packets: int
    retransmitted_packets: int
    dropped_packets: int
    loss_events: int | None
    timeouts: int
    duplicate_packets: int
    dropped_acks: int


class LimitedBy(TypedDict):
    """Shares of a flow's measured time during which a limit kept it from sending more."""

    window: float
    receiver: float
    application: float
    pacing: float


class Uniform(TypedDict):
    """A time that is drawn in each run, between the first and the second."""

    uniform: list[str]


class Settings(TypedDict):
    """All keys of a flow with their effective values, named as in scenarios; quantities have units."""

    controller: str
    params: dict[str, float | str | bool]
    transport: Literal["tcp", "quic"]
    rtt: str
    access: str
    direction: Literal["forward", "reverse"]
    path: list[int]
    rtt_noise: str
    start: str | Uniform
    stop: str | Uniform | None
    bytes: str | None
    limit: str | None
    profile: str
    packet: str
    ack: str
    initial_window: float
    initial_ssthresh: float | str
    receive_window: int | str
    recovery: str
    min_rto: str
    min_rto_bounds: str
    max_rto: str
    initial_rto: str
    handshake: bool
    clock: str
    rtt_sampling: str
    delayed_ack: int
    delayed_ack_timer: str
    limited_transmit: bool
    max_burst: int
    overhead: str
    growth: str
    pacing: bool
    pacing_gain: float
    slow_start_gain: float
    min_window: int
    slow_start_after_idle: bool
    hystart: bool
    ecn: bool
    ace_bits: int


class FlowSummary(Counters):
    """A flow, measured from the warm-up or its start on, and before its stop or the end."""

    id: int
    name: str
    controller: str
    kind: Kind
    rtt_ms: float
    goodput_mbps: float | None
    in_order_mbps: float | None
    limited_by: LimitedBy | None
    mean_window: float | None
    max_window: float | None
    mean_rtt_ms: float | None
    rtt_p50_ms: float | None
    rtt_p95_ms: float | None
    rtt_p99_ms: float | None
    completion_s: float | None
    requests_completed: int | None
    request_p50_s: float | None
    request_p95_s: float | None
    request_p99_s: float | None
    delay_p50_ms: float | None
    delay_p95_ms: float | None
    delay_p99_ms: float | None
    late: float | None
    start_s: float
    bytes: int | None
    whole_run: Counters
    settings: Settings


class SideSummary(TypedDict):
    """One queue of DualPI2, measured from the warm-up on."""

    packets: int
    queue_delay_p50_ms: float | None
    queue_delay_p95_ms: float | None
    queue_delay_p99_ms: float | None


class DualPi2Summary(TypedDict):
    """The two queues of DualPI2: L and C."""

    low_latency: SideSummary
    classic: SideSummary


class LinkSummary(TypedDict):
    """A link, measured from the warm-up on; ``dualpi2`` exists if its queue is one."""

    id: str
    queue_limit: str
    utilisation: float | None
    queue_drops: int
    marks: int
    random_losses: int
    mean_queue_packets: float | None
    max_queue_packets: int
    queue_delay_p50_ms: float | None
    queue_delay_p95_ms: float | None
    queue_delay_p99_ms: float | None
    dualpi2: NotRequired[DualPi2Summary]


class Summary(TypedDict):
    """A run; values that do not apply are None."""

    version: str
    rules: int
    digest: str
    seed: int
    run: int
    duration_s: float
    measured_from_s: float
    flows: Sequence[FlowSummary]
    links: list[LinkSummary]
    jain: float | None
    packets_simulated: int
    warnings: list[str]
    notes: list[str]


def checked(record: Any) -> Summary:
    """Return a record from a file as a summary; raise ValueError if it cannot be one."""
    flows, links = (record.get(name) if isinstance(record, dict) else None for name in ("flows", "links"))
    for entries in (flows, links):
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError("summary.json lacks flows or links")
    if not all(isinstance(flow.get("name"), str) for flow in flows or ()) or "digest" not in record:
        raise ValueError("summary.json lacks names or the digest")
    return cast("Summary", record)


def flow_row(flow: FlowSummary) -> dict[str, object]:
    """Return a flow as a row of ``flows``; shares of time and counters of the whole run have prefixes."""
    row: dict[str, object] = {
        key: value for key, value in flow.items() if key not in ("settings", "whole_run", "limited_by")
    }
    limited_by = flow["limited_by"] or dict.fromkeys(LimitedBy.__annotations__)
    row |= {f"limited_by_{key}": value for key, value in limited_by.items()}
    return row | {f"whole_run_{key}": value for key, value in flow["whole_run"].items()}


def flows_table(flows: Sequence[FlowSummary]) -> "pl.DataFrame":
    """Return the table ``flows``; flows that are summarised when they are read never become dictionaries."""
    import polars as pl

    kinds = {float: pl.Float64, int: pl.Int64, str: pl.String}
    schema = {name: kinds[kind] for name, kind in columns("flows").items()}
    parts = []
    for first in range(0, max(1, len(flows)), MOST_AT_ONCE):
        end = first + MOST_AT_ONCE
        if isinstance(flows, _native.Flows):
            part = pl.DataFrame(
                [
                    pl.Series(name, values).cast(schema[name])
                    for name, values in flows.columns(first, end).items()
                ]
            )
        else:
            rows = [flow_row(flow) for flow in flows[first:end]]
            # Not every flow that was measured on a real path has all of them.
            known = {name: schema[name] for name in dict.fromkeys(key for row in rows for key in row)}
            part = pl.DataFrame(rows, schema=known)
        parts.append(part)
    return pl.concat(parts, rechunk=True)


def as_json(summary: Summary, *, indent: int | None = None) -> Iterator[str]:
    """Yield a summary as JSON, flow by flow: all at once would need as much memory as the run.

    Parameters
    ----------
    summary : dict
        Summary of a run.
    indent : int, optional
        Spaces for each level; None writes one line.

    Yields
    ------
    str
        The next part of the text that ``json.dumps`` returns with the same indentation.
    """

    def line(depth: int) -> str:
        return "" if indent is None else "\n" + " " * (indent * depth)

    def text(value: object, depth: int) -> str:
        # Line breaks within texts are escaped.
        return json.dumps(value, indent=indent).replace("\n", line(depth))

    comma = ", " if indent is None else ","
    before = "{"
    for key, value in summary.items():
        yield f"{before}{line(1)}{json.dumps(key)}: "
        if key == "flows" and summary["flows"]:
            flows = summary["flows"]
            opening = "["
            for first in range(0, len(flows), FLOWS_AT_ONCE):
                end = first + FLOWS_AT_ONCE
                if isinstance(flows, _native.Flows):
                    part = flows.json(first, end, indent, 2)
                else:
                    part = (comma + line(2)).join(text(flow, 2) for flow in flows[first:end])
                yield opening + line(2) + part
                opening = comma
            yield line(1) + "]"
        else:
            yield text([] if key == "flows" else value, 1)
        before = comma
    yield line(0) + "}"


def is_controlled(flow: FlowSummary) -> bool:
    """Return whether a flow has a congestion control: others are not compared with it."""
    return flow["kind"] not in ("datagrams", "media")


def number(value: float | None) -> float:
    """Return an optional number of a summary for calculations.

    Parameters
    ----------
    value : float, optional
        Number from the summary.

    Returns
    -------
    float
        The same number; NaN instead of None.
    """
    return float("nan") if value is None else value


_KINDS: dict[str, type] = {"float64": float, "uint64": int, "uint32": int, "string": str}


def columns(table: str) -> dict[str, type]:
    """Return the columns of a table, as the engine describes them.

    Parameters
    ----------
    table : str
        Name of the table: ``flows``, ``links``, ``windows``, ``queues``, ``events`` or
        ``requests``.

    Returns
    -------
    dict
        Type by name: float, int or str. Controls add columns of their own to ``windows``.
    """
    return {name: _KINDS[kind] for name, kind, _ in _native.columns()[table]}


def empty_table(table: str) -> "pl.DataFrame":
    """Return a table without rows, for quantities that a measured run cannot have.

    Parameters
    ----------
    table : str
        Name of the table, as for `columns`.

    Returns
    -------
    polars.DataFrame
        The columns of a simulated run.
    """
    import polars as pl

    kinds = {"float64": pl.Float64, "uint64": pl.UInt64, "uint32": pl.UInt32, "string": pl.String}
    return pl.DataFrame(schema={name: kinds[kind] for name, kind, _ in _native.columns()[table]})


def profiles(flows: Sequence[FlowSummary]) -> str:
    """Return the profiles of the senders of flows in words, such as ``linux and ns2``; ``-`` without any."""
    flows = flows.firsts() if isinstance(flows, _native.Flows) else flows
    # A flow that was recorded on a real path has no settings.
    settings = (flow.get("settings") for flow in flows)
    return " and ".join(dict.fromkeys(each["profile"] for each in settings if each)) or "-"
