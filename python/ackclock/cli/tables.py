"""Tables for people on standard output."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Column, Table

from ackclock.engine import Summary
from ackclock.names import printable
from ackclock.summary import profiles

if TYPE_CHECKING:
    import polars as pl

    from ackclock.reproduction.inference.infer import Inferred
    from ackclock.reproduction.paper import Paper
    from ackclock.reproduction.shown.published import Listed

MOST_FLOWS = 40
"""Number of flows in a table; --json and -o have all."""


def _number(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _table(title: str | None, columns: Sequence[str], texts: int, *, fold: bool = False) -> Table:
    """Return a table whose first `texts` columns are words, folded or not, and the others numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for index, column in enumerate(columns):
        if index < texts:
            table.add_column(column, overflow="fold", no_wrap=not fold)
        else:
            table.add_column(column, justify="right")
    return table


GAP = 1
"""Spaces between two columns."""
NARROWEST = 10
"""Width to which words are folded so that numbers stay whole."""


def _print(*tables: Table) -> None:
    # Piped output is not cut at an imagined 80 columns.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    left_out: list[str] = []
    for table in tables:
        left_out += _fit(table, console.width)
        console.print(table)
    if left_out:
        names = ", ".join(left_out)
        print(f"Left out, because the terminal has {console.width} columns: {names}; --json has all")


def _fit(table: Table, width: int) -> list[str]:
    """Make a table fit into a width with all its numbers whole; return the headings of omitted columns."""
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    least = list(map(_least_width, table.columns, cells))
    omitted: list[str] = []
    while _total(least) > width and len(least) > 2 and table.columns[-1].justify == "right":
        least.pop()
        omitted.insert(0, str(table.columns.pop().header))
    spare = max(0, width - _total(least))
    for column, texts, narrow in zip(table.columns, cells, least, strict=False):
        # Words first, then headings on one line, as far as there is room.
        whole = max(map(len, [str(column.header), *texts]))
        column.width = narrow + min(spare, whole - narrow)
        spare -= column.width - narrow
        column.no_wrap = False
    return omitted


def _least_width(column: Column, texts: Sequence[str]) -> int:
    """Return the smallest width of a column: a number takes one line, a heading may take two, words fold."""
    longest = max(map(len, texts), default=0)
    if column.justify != "right":
        return max(1, min(longest, NARROWEST))
    return max(longest, *map(len, str(column.header).split()))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def print_run(summary: Summary) -> None:
    """Print the flows and links of one run."""
    span = f"{summary['measured_from_s']:g}-{summary['duration_s']:g} s"
    flows = _table(
        f"Flows, {span}",
        ["flow", "controller", "RTT ms", "goodput Mbit/s", "mean window", "mean RTT ms"]
        + ["resent", "dropped", "loss events", "timeouts"],
        texts=2,
    )
    for flow in summary["flows"][:MOST_FLOWS]:
        flows.add_row(
            flow["name"],
            flow["controller"] or "-",
            f"{flow['rtt_ms']:g}",
            _number(flow["goodput_mbps"], 2),
            _number(flow["mean_window"]),
            _number(flow["mean_rtt_ms"]),
            str(flow["retransmitted_packets"]),
            str(flow["dropped_packets"]),
            _number(flow["loss_events"], 0),
            str(flow["timeouts"]),
        )
    links = _table(
        "Links",
        ["link", "utilisation", "queue drops", "random losses", "mean queue", "longest queue"]
        + ["p95 delay ms"],
        texts=1,
    )
    for link in summary["links"]:
        links.add_row(
            link["id"],
            _number(link["utilisation"], 4),
            str(link["queue_drops"]),
            str(link["random_losses"]),
            _number(link["mean_queue_packets"]),
            str(link["max_queue_packets"]),
            _number(link["queue_delay_p95_ms"], 2),
        )
    _print(flows)
    if len(summary["flows"]) > MOST_FLOWS:
        print(f"and {len(summary['flows']) - MOST_FLOWS} more flows: see --json or -o")
    print()
    _print(links)
    _print_sides(summary)
    _print_notes(summary)
    print(
        f"\nProfile {profiles(summary['flows'])}. Jain's index {_number(summary['jain'], 4)}, "
        f"{summary['packets_simulated']} packets, digest {summary['digest']}"
    )


def _print_notes(summary: Summary) -> None:
    """Print what held flows back, where that was not their window."""
    if summary["notes"]:
        print()
    for note in summary["notes"]:
        print(f"{note}.")


def _print_sides(summary: Summary) -> None:
    """Print both queues of every link with DualPI2."""
    table = _table(
        "Queues of DualPI2",
        ["link", "queue", "packets", "p50 delay ms", "p95 delay ms", "p99 delay ms"],
        texts=2,
    )
    for link in summary["links"]:
        if "dualpi2" in link:
            both = link["dualpi2"]
            for name, side in (("L", both["low_latency"]), ("C", both["classic"])):
                table.add_row(
                    link["id"],
                    name,
                    str(side["packets"]),
                    _number(side["queue_delay_p50_ms"], 2),
                    _number(side["queue_delay_p95_ms"], 2),
                    _number(side["queue_delay_p99_ms"], 2),
                )
    if table.row_count:
        print()
        _print(table)


def print_runs(summaries: Sequence[Summary]) -> None:
    """Print one line per run."""
    table = _table(
        None,
        ["run", "digest", "goodput Mbit/s", "Jain", "utilisation"] + ["loss events", "timeouts", "dropped"],
        texts=2,
    )
    for summary in summaries:
        flows = summary["flows"]
        table.add_row(
            str(summary["run"]),
            summary["digest"],
            _number(sum(flow["goodput_mbps"] or 0.0 for flow in flows), 2),
            _number(summary["jain"], 4),
            _number(summary["links"][0]["utilisation"] if summary["links"] else None, 4),
            *(
                str(sum(flow[key] or 0 for flow in flows))
                for key in ("loss_events", "timeouts", "dropped_packets")
            ),
        )
    _print(table)
    _print_notes(summaries[0])
    print(f"\nProfile {profiles(summaries[0]['flows'])}")


def print_published(rows: Sequence[Listed]) -> None:
    """Print a line per published artefact, and the number of artefacts by group."""
    words = {True: "holds", False: "does not hold", None: "-"}
    heads = ["artefact", "group", "main claim", "would Reno pass?", "claims that hold"]
    table = _table(None, heads, texts=5)
    for row in rows:
        shares = f"{row['holds']} of {row['claims']}"
        main = row["main_claim"]
        table.add_row(row["artefact"], row["group"], words[main["holds"]], main["exchange"] or "-", shares)
    _print(table)
    by_group = Counter(row["group"] for row in rows)
    print(", ".join(f"{name}: {number}" for name, number in by_group.most_common()))
    older = [row for row in rows if row["is_older"]]
    if older:
        from ackclock.reproduction.shown import published

        commits = published.commits_in_words(row["commit"] for row in older)
        print(
            f"{len(older)} of these results are older than the code: they were made at {commits}, before "
            "summaries counted as they do now"
        )


def print_setting(paper: Paper, result: Inferred) -> None:
    """Print the inferred setting and its scores."""
    table = _table(paper.title, ["setting", "value", "basis", "evidence"], texts=4, fold=True)
    for item in paper.items:
        if item.is_open:
            value = item.find(result.setting[item.name])
            table.add_row(item.quantity, item.words(value.value), value.basis, value.evidence)
    _print(table)
    # Other tables do not need this slow import.
    from ackclock.reproduction.shown import words

    validation = result.validation
    if validation.best:
        declared, best = validation.scores[0], validation.scores[validation.best]
        print(f"score: {declared:.2f} as declared, {best:.2f} at the best")
        print(f"cross-validated gain: {validation.gain:.2f}, standard error {validation.error:.2f}")
    for name, test in result.own.items():
        if test.best:
            print(textwrap.fill(words.own(paper, name, test), 100))
    if not result.accepted:
        print("the declared setting stays: no other setting gains more than twice the error")
    if result.alternative is not None:
        print("the best setting cannot be distinguished from it; it differs in:")
        for item in paper.items:
            if item.name and result.alternative[item.name] != result.setting[item.name]:
                print(f"  {item.quantity}: {item.words(result.alternative[item.name])}")


def print_prediction(title: str, points: pl.DataFrame, notes: Sequence[str]) -> None:
    """Print the points of a prediction, with simulated values if there are any."""
    labels = [name for name, kind in points.schema.items() if not kind.is_numeric()]
    numbers = [name for name in points.columns if name not in (*labels, "low", "high")]
    headings = [name.replace("_", " ") for name in numbers]
    intervals = "low" in points.columns
    table = _table(title, [*labels, *headings, *(["95 % interval"] if intervals else [])], texts=len(labels))
    for row in points.iter_rows(named=True):
        cells = [row[name] for name in labels]
        cells += ["-" if row[name] is None else f"{row[name]:.4g}" for name in numbers]
        if intervals:
            cells.append("-" if row["low"] is None else f"{row['low']:.4g} to {row['high']:.4g}")
        table.add_row(*cells)
    _print(table)
    for note in notes:
        print(note)


def print_metrics(metrics: pl.DataFrame) -> None:
    """Print metrics with their intervals, and each warning once."""
    table = _table(None, ["subject", "metric", "value", "95 % interval", "unit"], texts=2)
    for row in metrics.iter_rows(named=True):
        known = row["low"] is not None
        table.add_row(
            row["subject"],
            row["metric"],
            "-" if row["value"] is None else f"{row['value']:.4g}",
            f"{row['low']:.4g} to {row['high']:.4g}" if known else "-",
            "" if row["unit"] == "1" else row["unit"],
        )
    _print(table)
    for warning in metrics["warning"].unique(maintain_order=True):
        if warning:
            count = (metrics["warning"] == warning).sum()
            print(f"{count} of {metrics.height}: {warning}", file=sys.stderr)


def print_rows(
    heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1, *, fold: bool = False
) -> None:
    """Print a table whose first `texts` columns are words, folded or not, and the others numbers."""
    table = _table(None, heads, texts, fold=fold)
    for row in rows:
        table.add_row(*map(printable, row))
    _print(table)
