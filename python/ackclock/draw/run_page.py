"""A run as a page that can be mailed: one file with interactive curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ackclock.draw import curves
from ackclock.draw.curves import Recorded
from ackclock.draw.page import html
from ackclock.summary import profiles

MOST_ROWS = 1000
"""Largest number of rows of a table on the page."""
MOST_SCENARIO = 100_000
"""Largest number of characters of a scenario on the page."""
FLOWS = {
    "name": "flow",
    "controller": "control",
    "goodput_mbps": "goodput (Mbit/s)",
    "mean_window": "mean window (packets)",
    "mean_rtt_ms": "mean RTT (ms)",
    "rtt_p95_ms": "RTT p95 (ms)",
    "dropped_packets": "packets lost",
    "loss_events": "loss events",
    "timeouts": "timeouts",
}
LINKS = {
    "id": "link",
    "queue_limit": "buffer",
    "utilisation": "utilisation",
    "mean_queue_packets": "mean queue (packets)",
    "queue_delay_p95_ms": "queueing delay p95 (ms)",
    "queue_drops": "dropped by the queue",
    "random_losses": "lost at random",
    "marks": "marked",
}


def page(run: Recorded, about: str, follows: str = "") -> str:
    """Return the page of a run as HTML that needs no other file; only recorded runs have charts.

    `about` is its heading; `follows` is the sentence of `controls.follows`.
    """
    summary = run.summary
    flows = len(summary["flows"])
    is_drawn = {"windows", "queues"} <= run.tables.keys()
    return html(
        "run.html",
        charts={"run": curves.charts(run)} if is_drawn else None,
        about=about,
        follows=follows,
        warnings=summary.get("warnings", []),
        notes=summary.get("notes", []),
        is_drawn=is_drawn,
        drawn=curves.MOST_FLOWS,
        left=max(0, flows - curves.MOST_FLOWS),
        tables=[
            ("Flows", list(FLOWS.values()), _rows(summary["flows"], FLOWS)),
            ("Links", list(LINKS.values()), _rows(summary["links"], LINKS)),
        ],
        more=max(0, flows - MOST_ROWS),
        from_s=f"{summary['measured_from_s']:g}",
        duration_s=f"{summary['duration_s']:g}",
        scenario=run.scenario if len(run.scenario) <= MOST_SCENARIO else "",
        version=summary["version"],
        # A run recorded on a real path has neither.
        made={what: summary.get(what) for what in ("seed", "run", "digest")}
        | {"profile": profiles(summary["flows"])},
    )


def _rows(entries: Sequence[Mapping[str, object]], columns: Mapping[str, str]) -> list[list[str]]:
    return [[_cell(entry.get(name)) for name in columns] for entry in entries[:MOST_ROWS]]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
