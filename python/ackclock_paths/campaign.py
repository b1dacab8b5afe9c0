"""What a measuring campaign found: TCP-FIT's table V and figure 8 for one's own paths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.decision.intervals import over_runs, within
from ackclock.engine import integrity
from ackclock.metrics import bandwidth_stolen_rate, throughput_ratio

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

REFERENCE = "reno"
"""The control that a stolen bandwidth is compared with."""
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
"""What both sides noted every second."""
WORDS = ("control", "side")
"""Those of them that are not numbers."""


@dataclass(frozen=True)
class Campaign:
    """A campaign, finished or not.

    Attributes
    ----------
    name : str
        Name of its directory.
    plan : dict
        Server, controls in the order of their turns, `period_s`, `slots`, `references`.
    slots : polars.DataFrame
        A row per complete slot, of its first complete attempt: slot, control, hours since the first
        slot began, goodput_mbps of its own flow and reference_mbps, the mean of the Reno flows
        beside it (null without).
    samples : polars.DataFrame
        What client and server noted every second, the columns `SAMPLES`.
    """

    name: str
    plan: dict[str, Any]
    slots: pl.DataFrame
    samples: pl.DataFrame


def read(directory: Path, *, leave_out: bool = False) -> Campaign:
    """Read the directory of a campaign, also while it is running.

    Parameters
    ----------
    directory : Path
        As ``ackclock measure run -o`` made it.
    leave_out : bool
        Leave lines out that are not as they were written.

    Returns
    -------
    Campaign
        What has been measured so far.

    Raises
    ------
    ValueError
        When the directory holds no campaign, no slot is complete, or a line is not as it was
        written.
    """
    import polars as pl

    log = directory / "log.jsonl"
    try:
        is_old, plan = _plan((directory / "campaign.json").read_bytes())
        content = log.read_bytes()
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{directory} does not hold a campaign: {error}") from error
    found = _Found()
    for line in integrity.lines(content):
        record = line.record
        if record is None and is_old:
            record = _old(line.content)
        try:
            if record is None:
                raise ValueError
            found.take(record)
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            if not leave_out:
                raise ValueError(
                    f"{log}: line {line.number} (byte {line.byte}) {integrity.CHANGED}; "
                    "run --set-aside measures its slot again, report --leave-out does without it"
                ) from error
    if not found.slots:
        raise ValueError(f"{directory}: no slot is complete")
    try:
        slots, samples = (
            pl.DataFrame(rows, infer_schema_length=None)
            for rows in (list(found.slots.values()), found.samples)
        )
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        text = " ".join(str(error).split())
        raise ValueError(f"{log}: holds numbers that fit no column: {text}") from error
    return Campaign(directory.resolve().name, plan, slots, samples)


def _plan(text: bytes) -> tuple[bool, dict[str, Any]]:
    """Give the plan, and whether it was written before there were checksums, in several lines."""
    is_old = text.startswith(b"{\n")
    plan = json.loads(text) if is_old else integrity.unseal(text.removesuffix(b"\n"))
    if plan is None:
        raise ValueError(f"campaign.json {integrity.CHANGED}; run --set-aside writes it again")
    if not isinstance(plan, dict) or not isinstance(plan.get("controls"), list):
        raise ValueError("campaign.json names no controls")
    return is_old, plan


def _old(line: bytes) -> dict[str, Any] | None:
    """Read a line of before there were checksums."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and "checksum" not in record else None


class _Found:
    """What the lines of a log say."""

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
            # The wall clock may be set; before there was another it is all that is known.
            since_first_s = unix_s - self._first_unix_s
            self._begun_s[attempt] = _number(record.get("elapsed_s", since_first_s))
        elif event == "sample":
            self.samples.append({name: _of_sample(name, record.get(name)) for name in SAMPLES})
        elif event != "end":
            raise ValueError
        elif record["complete"] and slot not in self.slots and attempt in self._begun_s:
            # Its first complete attempt counts. Without its beginning an attempt has no time.
            seconds = _number(record["seconds"])
            own, *others = (8e-6 * _number(size) / seconds for size in record["received_bytes"])
            self.slots[slot] = {
                "slot": slot,
                "control": _word(record["control"]),
                "hours": (self._begun_s[attempt] - min(self._begun_s.values())) / 3600,
                "goodput_mbps": own,
                "reference_mbps": float(np.mean(others)) if others else None,
            }


def _of_sample(name: str, value: Any) -> Any:
    return value if value is None else (_word if name in WORDS else _number)(value)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


def table(campaigns: Sequence[Campaign], control: str | None = None) -> pl.DataFrame:
    """Compare the controls of campaigns, as table V of the TCP-FIT paper does.

    Parameters
    ----------
    campaigns : sequence of Campaign
        Each becomes a path.
    control : str, optional
        Whose speed-up is told: its mean over the mean of all others; by default the best one's of
        each path.

    Returns
    -------
    polars.DataFrame
        A row per path and control: path, control, goodput_mbps with its 95 % interval over slots
        (low, high), slots, speed_up (of `control` alone), stolen (the bandwidth stolen rate,
        where Reno had turns and references were beside).

    Raises
    ------
    ValueError
        When a path has no slot of `control`.
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
        others = [mean for name, mean in means.items() if name != ours]
        alone = _reference(groups.get(REFERENCE))
        for name, group in groups.items():
            estimate = within(over_runs(group["goodput_mbps"].to_numpy()), least=0.0)
            beside = _reference(group)
            stolen = bandwidth_stolen_rate(alone, beside) if alone and beside is not None else None
            rows.append(
                {
                    "path": campaign.name,
                    "control": name,
                    "goodput_mbps": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                    "slots": group.height,
                    "speed_up": throughput_ratio([means[ours]], others) if name == ours and others else None,
                    "stolen": stolen,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)


def _reference(group: pl.DataFrame | None) -> float | None:
    """Mean throughput of a Reno flow beside a control, Mbit/s."""
    if group is None or group["reference_mbps"].null_count() == group.height:
        return None
    return float(np.mean(group["reference_mbps"].drop_nulls().to_numpy()))


def picture(campaigns: Sequence[Campaign]) -> Figure:
    """Draw the throughput of every slot over time, as figure 8 of the TCP-FIT paper does.

    Parameters
    ----------
    campaigns : sequence of Campaign
        Each becomes a panel.

    Returns
    -------
    Figure
        Mbit/s against time, a curve per control, a mark per slot. Hours; minutes where an hour
        is too long.
    """
    import polars as pl

    from ackclock.draw import plots

    controls = list(dict.fromkeys(name for one in campaigns for name in one.plan["controls"]))
    longest = max(one.slots["hours"].to_numpy().max() for one in campaigns)
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
