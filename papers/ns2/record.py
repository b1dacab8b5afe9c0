"""The tables and the summary of a run of ns-2, by the definitions of the engine's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from ackclock import engine
from ackclock.engine import Run, Summary, quantity

KINDS = {"web": "web", "poisson": "datagrams"}
"""Kinds of flows by their source."""
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Flow:
    """A flow with its own settings and the settings of ``[tcp]``, and the words for its agent in ns-2."""

    table: Mapping[str, Any]
    keys: Mapping[str, Any]
    ran: str


@dataclass(frozen=True)
class Polls:
    """The request of a run of ns-2, and its answers.

    `link` has a row per poll: time, waiting packets, drops and departed bytes of the bottleneck.
    `of_flows` has window, ssthresh, packets acknowledged in order, packets sent, window cuts and timeouts,
    by poll and flow, `dropped` the packets of each flow that the bottleneck's queue drops after the warm-up.
    """

    link: Array
    of_flows: Array
    dropped: Array
    scenario: Mapping[str, Any]
    flows: Sequence[Flow]

    @cached_property
    def every(self) -> int:
        """Polls per sample."""
        sample_s = quantity(self.scenario["run"]["sample"], "time_s")
        return round(sample_s / self.link[0, 0])

    @cached_property
    def samples(self) -> int:
        """Number of complete samples."""
        return len(self.link) // self.every

    @cached_property
    def time_s(self) -> Array:
        """Times of the samples."""
        return self._last(self.link[:, 0])

    @cached_property
    def warmup_s(self) -> float:
        """Time from which the summary measures."""
        return quantity(self.scenario["run"]["warmup"], "time_s")

    @cached_property
    def packet_s(self) -> float:
        """Time of a data packet on the bottleneck, for the largest packet of the scenario."""
        rate = quantity(self.scenario["dumbbell"]["rate"], "rate_bps")
        return 8 * max(map(packet_bytes, self.flows)) / rate

    def _last(self, column: Array) -> Array:
        """Return a column at the samples."""
        return column[self.every - 1 : self.samples * self.every : self.every]

    def _parts(self, column: Array) -> Array:
        """Return a column by sample and poll."""
        return column[: self.samples * self.every].reshape(self.samples, self.every, *column.shape[1:])

    def _differences(self, column: Array) -> Array:
        """Return how much a counter has grown in each sample."""
        return np.diff(self._last(column), axis=0, prepend=np.zeros((1, *column.shape[1:])))

    @cached_property
    def queue(self) -> Array:
        """Mean queue of each sample with the packet in transmission, packets."""
        waiting = self._parts(self.link[:, 1]).mean(axis=1)
        return waiting + np.minimum(self._busy, 1)

    @cached_property
    def _busy(self) -> Array:
        """Share of each sample in which the link is busy."""
        # In bytes, because ACKs of flows in the other direction depart, too.
        rate = quantity(self.scenario["dumbbell"]["rate"], "rate_bps")
        return self._differences(self.link[:, 3]) * 8 / (rate * self.every * self.link[0, 0])

    @cached_property
    def rtt_s(self) -> Array:
        """Round trips by sample and flow: propagation and the queue, which ACKs do not meet."""
        base = np.array([quantity(flow.table["rtt"], "time_s") for flow in self.flows])
        return base[None, :] + np.maximum(self.queue, 1)[:, None] * self.packet_s

    def run(self) -> Run:
        """Build the run."""
        tables = {"windows": self._windows(), "queues": self._queues(), "events": self._events()}
        summary = {
            "version": engine.__version__,
            "digest": None,
            "duration_s": quantity(self.scenario["run"]["duration"], "time_s"),
            "measured_from_s": self.warmup_s,
            "flows": [self._summary(index) for index in range(len(self.flows))],
            "links": [self._link()],
        }
        # Values that the engine always has and ns-2 is not asked for are missing or None.
        return Run(cast(Summary, summary), "# Run by ns-2.\n", tables)

    def _windows(self) -> pl.DataFrame:
        window = self._last(self.of_flows[:, :, 0])
        grown = np.maximum(np.diff(self.of_flows[:, :, 0], axis=0, prepend=self.of_flows[:1, :, 0]), 0)
        per_trip = self._parts(grown).sum(axis=1) * self.rtt_s / (self.every * self.link[0, 0])
        sizes = np.array([packet_bytes(flow) for flow in self.flows])
        acked, sent = (self._differences(self.of_flows[:, :, column]) * sizes for column in (2, 3))
        number = len(self.flows)
        return pl.DataFrame(
            {
                "time_s": np.repeat(self.time_s, number),
                "flow": np.tile(np.arange(number, dtype=np.uint32), self.samples),
                "window": window.ravel(),
                "ssthresh": self._last(self.of_flows[:, :, 1]).ravel(),
                "rtt_ms": 1e3 * self.rtt_s.ravel(),
                "sent_bytes": sent.ravel(),
                "arrived_bytes": acked.ravel(),
                "delivered_bytes": acked.ravel(),
                # ns-2 does not show Illinois' own: this is by how much the window has grown.
                "alpha": per_trip.ravel(),
            }
        ).with_columns(pl.col("window", "ssthresh", "alpha").fill_nan(None))

    def _queues(self) -> pl.DataFrame:
        waiting = self._parts(self.link[:, 1])
        # A packet is in transmission whenever another one waits.
        inside = waiting + (waiting > 0)
        return pl.DataFrame(
            {
                "time_s": self.time_s,
                "link": np.zeros(self.samples, dtype=np.uint32),
                "queue_packets": inside[:, -1],
                "min_packets": inside.min(axis=1),
                "max_packets": inside.max(axis=1),
                "mean_packets": self.queue,
                "drops": self._differences(self.link[:, 2]),
                "marks": np.zeros(self.samples),
                "utilisation": self._busy,
            }
        )

    def _events(self) -> pl.DataFrame:
        """Return starts, stops, loss events and timeouts, which a poll finds in the counters."""
        rows: list[tuple[float, int, str, float | None, float | None]] = []
        time_s = self.link[:, 0]
        for index, flow in enumerate(self.flows):
            for kind in ("start", "stop"):
                if flow.keys[kind] != "":
                    rows.append((flow.keys[kind], index, kind, None, None))
            window, counts = self.of_flows[:, index, 0], self.of_flows[:, index, 4:6]
            new = np.diff(counts, axis=0, prepend=np.zeros((1, 2)))
            for at in np.flatnonzero(new.any(axis=1)):
                before = window[max(at - 1, 0)]
                timeouts = int(new[at, 1])
                # A timeout counts as a cut, too, unless the window is at its least.
                losses = max(int(new[at, 0]) - timeouts, 0)
                kinds = ["loss"] * losses + ["timeout"] * timeouts
                rows += [(time_s[at], index, kind, before, window[at]) for kind in kinds]
        schema = {
            "time_s": pl.Float64,
            "flow": pl.UInt32,
            "kind": pl.String,
            "window_before": pl.Float64,
            "window_after": pl.Float64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row").sort("time_s", maintain_order=True)

    @cached_property
    def _measured(self) -> slice:
        """Samples after the warm-up."""
        return slice(int(np.searchsorted(self.time_s, self.warmup_s + 1e-9)), None)

    def _summary(self, index: int) -> dict[str, Any]:
        flow = self.flows[index]
        begin_s = max(self.warmup_s, flow.keys["start"])
        end_s = float(self.time_s[-1]) if flow.keys["stop"] == "" else float(flow.keys["stop"])
        inside = (self.time_s > begin_s + 1e-9) & (self.time_s <= end_s + 1e-9)
        of_polls = (self.link[:, 0] > begin_s) & (self.link[:, 0] <= end_s)
        grown = {
            key: float(self._differences(self.of_flows[:, index, column])[inside].sum())
            for column, key in enumerate(("acked", "sent", "cuts", "timeouts"), start=2)
        }
        span_s = end_s - begin_s
        bits = grown["acked"] * packet_bytes(flow) * 8
        window = self.of_flows[of_polls, index, 0]
        known = window.size > 0 and not np.isnan(window).any()
        controlled = flow.keys["agent"].startswith("Agent/TCP/")
        return {
            "id": index,
            "name": name_of(self.flows, index),
            "controller": controller_of(flow),
            "kind": KINDS.get(flow.table.get("source"), "window" if controlled else "rate"),
            "rtt_ms": 1e3 * quantity(flow.table["rtt"], "time_s"),
            "goodput_mbps": bits / span_s * 1e-6 if span_s > 0 else None,
            "in_order_mbps": bits / span_s * 1e-6 if span_s > 0 else None,
            "mean_window": float(window.mean()) if known else None,
            "max_window": float(window.max()) if known else None,
            "mean_rtt_ms": 1e3 * float(self.rtt_s[inside, index].mean()) if inside.any() else None,
            "sent_packets": grown["sent"],
            "dropped_packets": float(self.dropped[index]),
            "loss_events": max(grown["cuts"] - grown["timeouts"], 0) if controlled else None,
            "timeouts": grown["timeouts"],
            "start_s": flow.keys["start"],
            "settings": {"packet": flow.table["packet"]},
        }

    def _link(self) -> dict[str, Any]:
        measured = self._measured
        return {
            "id": "bottleneck",
            "utilisation": float(self._busy[measured].mean()),
            "queue_drops": int(self._differences(self.link[:, 2])[measured].sum()),
            "mean_queue_packets": float(self.queue[measured].mean()),
        }


def packet_bytes(flow: Flow) -> float:
    """Return the size of a flow's packets on the wire."""
    return quantity(flow.table["packet"], "size_bytes")


def controller_of(flow: Flow) -> str:
    """Return the engine's name of a flow's control, or the name of its source."""
    return str(flow.table.get("controller", flow.table.get("source")))


def name_of(flows: Sequence[Flow], index: int) -> str:
    """Return the name of a flow as the engine forms it."""
    table = flows[index].table
    first = next(number for number, flow in enumerate(flows) if flow.table is table)
    if "name" not in table:
        return f"{controller_of(flows[index])}-{index}"
    return f"{table['name']}-{index - first}" if table.get("count", 1) > 1 else str(table["name"])
