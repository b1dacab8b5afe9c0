"""Results of a measuring campaign: table V and figure 8 of the TCP-FIT paper for your own paths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.decision.intervals import over_runs, within
from ackclock.engine import elsewhere, integrity
from ackclock.metrics import bandwidth_stolen_rate, throughput_ratio

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

REFERENCE = "reno"
"""The control that stolen bandwidth is compared with."""
SAMPLES = (
    "slot",
    "try",
    "control",
    "side",
    "second",
    "flow",
    "acked_bytes",
    "received_bytes",
    "sent_packets",
    "retransmitted_packets",
    "rtt_ms",
    "least_rtt_ms",
    "window",
    "ssthresh",
    "delivery_rate_mbps",
)
"""The columns of the samples that both sides log every second."""
SENDERS = {"tcp": "TCP of the server's kernel", "quic": "QUIC in user space"}
"""Senders of a campaign by the transport in its plan. They are real, so they have no profile of scenarios."""
TEXT_COLUMNS = ("control", "side")
"""The columns of `SAMPLES` that are not numbers."""


@dataclass(frozen=True)
class Campaign:
    """A campaign, finished or not."""

    name: str
    """The name of its directory."""
    plan: dict[str, Any]
    """Server, controls in the order of their turns, `period_s`, `slots`, `references`."""
    slots: pl.DataFrame
    """A row per complete slot, of its first complete attempt: slot, control, hours since the first slot
    began, goodput_mbps of its own flow, and reference_mbps, the mean of the Reno flows next to it (null
    without)."""
    samples: pl.DataFrame
    """The log of client and server, a row per second, with the columns `SAMPLES`."""


def read(directory: Path, *, leave_out: bool = False) -> Campaign:
    """Read the directory that ``ackclock measure run -o`` writes, even while the campaign is running.

    With `leave_out` changed lines are left out. Otherwise they raise a ValueError, like a directory
    without a campaign or without a complete slot.
    """
    import polars as pl

    log = directory / "log.jsonl"
    try:
        is_old, plan = _plan(elsewhere.read(directory / "campaign.json"))
        content = elsewhere.read(log)
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{directory} does not hold a campaign: {error}") from error
    contents = _LogContents()
    for line in integrity.lines(content):
        record = line.record
        if record is None and is_old:
            record = _old(line.content)
        try:
            if record is None:
                raise ValueError
            contents.take(record)
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            if not leave_out:
                raise ValueError(
                    f"{log}: line {line.number} (byte {line.byte}) {integrity.CHANGED}; "
                    "run --set-aside measures its slot again, report --leave-out leaves it out"
                ) from error
    if not contents.slots:
        raise ValueError(f"{directory}: no slot is complete")
    try:
        slots, samples = (
            pl.DataFrame(rows, infer_schema_length=None)
            for rows in (list(contents.slots.values()), contents.samples)
        )
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        text = " ".join(str(error).split())
        raise ValueError(f"{log}: contains numbers that do not fit their column: {text}") from error
    return Campaign(directory.resolve().name, plan, slots, samples)


def _plan(text: bytes) -> tuple[bool, dict[str, Any]]:
    """Return whether the plan predates checksums, when it was written in several lines, and the plan."""
    is_old = text.startswith(b"{\n")
    plan = json.loads(text) if is_old else integrity.unseal(text.removesuffix(b"\n"))
    if plan is None:
        raise ValueError(f"campaign.json {integrity.CHANGED}; run --set-aside rewrites it")
    if not isinstance(plan, dict) or not isinstance(plan.get("controls"), list):
        raise ValueError("campaign.json names no controls")
    return is_old, plan


def _old(line: bytes) -> dict[str, Any] | None:
    """Read a line that predates checksums; None if it is not such a line."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and "checksum" not in record else None


class _LogContents:
    """The slots and samples in the lines of a log."""

    def __init__(self) -> None:
        self.slots: dict[int, dict[str, Any]] = {}
        self.samples: list[dict[str, Any]] = []
        self._begun_s: dict[tuple[int, int], float] = {}
        self._first_unix_s: float | None = None

    def take(self, record: dict[str, Any]) -> None:
        slot, event = _whole(record["slot"]), record["event"]
        attempt = slot, _whole(record["try"])
        if event == "begin":
            unix_s = _number(record["unix_s"])
            if self._first_unix_s is None:
                self._first_unix_s = unix_s
            # The wall clock may be set; older logs have no other clock.
            since_first_s = unix_s - self._first_unix_s
            self._begun_s[attempt] = _number(record.get("elapsed_s", since_first_s))
        elif event == "sample":
            self.samples.append({name: _sample_value(name, record.get(name)) for name in SAMPLES})
        elif event != "end":
            raise ValueError
        elif record["complete"] and slot not in self.slots and attempt in self._begun_s:
            # The first complete attempt counts. An attempt without its beginning has no time.
            seconds = _number(record["seconds"])
            own, *references = (8e-6 * _number(size) / seconds for size in record["received_bytes"])
            self.slots[slot] = {
                "slot": slot,
                "control": _text(record["control"]),
                "hours": (self._begun_s[attempt] - min(self._begun_s.values())) / 3600,
                "goodput_mbps": own,
                "reference_mbps": float(np.mean(references)) if references else None,
            }


def _sample_value(name: str, value: object) -> str | float | None:
    return None if value is None else (_text if name in TEXT_COLUMNS else _number)(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


def table(campaigns: Sequence[Campaign], control: str | None = None) -> pl.DataFrame:
    """Compare the controls of campaigns, one per path, like table V of the TCP-FIT paper.

    A row per path and control: path, control, goodput_mbps with its 95 % interval over slots (low,
    high), slots, speed_up, stolen, senders. The speed-up is the mean of `control`, by default the best one of
    each path, over the mean of all others; it is null for these. The stolen bandwidth needs Reno among
    the controls and reference flows. A path without a slot of `control` is a ValueError.
    """
    import polars as pl

    rows = []
    for campaign in campaigns:
        groups = {
            name: campaign.slots.filter(pl.col("control") == name)
            for name in campaign.plan["controls"]
            if name in campaign.slots["control"]
        }
        if control is not None and control not in groups:
            raise ValueError(f"{campaign.name}: {control} has no complete slot")
        means = {name: float(np.mean(group["goodput_mbps"].to_numpy())) for name, group in groups.items()}
        ours = control or max(means, key=lambda name: means[name])
        rivals = [mean for name, mean in means.items() if name != ours]
        alone = _reference(groups.get(REFERENCE))
        for name, group in groups.items():
            estimate = within(over_runs(group["goodput_mbps"].to_numpy()), least=0.0)
            shared = _reference(group)
            stolen = bandwidth_stolen_rate(alone, shared) if alone and shared is not None else None
            rows.append(
                {
                    "path": campaign.name,
                    "control": name,
                    "goodput_mbps": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                    "slots": group.height,
                    "speed_up": throughput_ratio([means[ours]], rivals) if name == ours and rivals else None,
                    "stolen": stolen,
                    "senders": senders(campaign),
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)


def senders(campaign: Campaign) -> str:
    """Return the sender of the data of a campaign; plans before QUIC name no transport."""
    transport = str(campaign.plan.get("transport", "tcp"))
    return SENDERS.get(transport, transport)


def _reference(group: pl.DataFrame | None) -> float | None:
    """Return the mean throughput of a Reno flow next to a control, Mbit/s."""
    if group is None or group["reference_mbps"].null_count() == group.height:
        return None
    return float(np.mean(group["reference_mbps"].drop_nulls().to_numpy()))


def picture(campaigns: Sequence[Campaign]) -> Figure:
    """Draw the throughput of every slot over time, like figure 8 of the TCP-FIT paper.

    A panel per campaign, a curve per control, a mark per slot; time is in hours, or in minutes when
    all campaigns are shorter than an hour.
    """
    import polars as pl

    from ackclock.draw import plots

    controls = list(dict.fromkeys(name for campaign in campaigns for name in campaign.plan["controls"]))
    longest = max(campaign.slots["hours"].to_numpy().max() for campaign in campaigns)
    unit, per_hour = ("min", 60) if longest < 1 else ("h", 1)
    curves = {}
    with plots.in_style():
        columns = 2 if len(campaigns) > 1 else 1
        rows = -(-len(campaigns) // columns)
        figure, panels = plots.panels(rows, columns=columns, height=2.2)
        for campaign, panel in zip(campaigns, panels, strict=False):
            for number, control in enumerate(controls):
                slots = campaign.slots.filter(pl.col("control") == control).sort("hours")
                if slots.height:
                    marks = {"marker": ".", "markersize": 3, "label": control}
                    times = slots["hours"] * per_hour
                    line = panel.plot(times, slots["goodput_mbps"], **marks, **plots.style(number))
                    curves[control] = line[0]
            panel.set(xlabel=f"time ({unit})", ylabel="goodput (Mbit/s)", ylim=(0, None))
            if len(campaigns) > 1:
                panel.set_title(campaign.name, loc="right")
        for panel in panels[len(campaigns) :]:
            panel.set_visible(False)
        handles, names = list(curves.values()), list(curves)
        figure.legend(handles, names, loc="outside upper left", ncols=4, handlelength=3)
        return figure
