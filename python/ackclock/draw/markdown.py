"""Markdown tables, for pages and for the output of benches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def row(cells: Iterable[object]) -> str:
    r"""Return one row of a table; ``|`` is escaped, so that it stays in its cell."""
    texts = [str(cell).replace("|", r"\|") for cell in cells]
    return "|" + "".join(f" {text} |" if text else " |" for text in texts)


def table(heads: Sequence[object], rows: Iterable[Iterable[object]]) -> list[str]:
    r"""Return the lines of a table.

    >>> print("\n".join(table(["control", "Mbit/s"], [["reno", 9.5], ["fit", 9.75]])))
    | control | Mbit/s |
    | --- | --- |
    | reno | 9.5 |
    | fit | 9.75 |
    """
    return [row(heads), row("---" for _ in heads), *(row(cells) for cells in rows)]
