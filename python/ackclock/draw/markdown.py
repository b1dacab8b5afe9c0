"""Tables of Markdown, for pages and for what benches print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def row(cells: Iterable[object]) -> str:
    r"""Write one row of a table.

    Parameters
    ----------
    cells : iterable
        What is in it; ``|`` is written as ``\|``, so that it stays in its cell.

    Returns
    -------
    str
        One line.
    """
    texts = [str(cell).replace("|", r"\|") for cell in cells]
    return "|" + "".join(f" {text} |" if text else " |" for text in texts)


def table(heads: Sequence[object], rows: Iterable[Iterable[object]]) -> list[str]:
    r"""Write a table.

    Parameters
    ----------
    heads : sequence
        Over the columns; the first may be empty.
    rows : iterable of iterables
        Their cells, as many as heads.

    Returns
    -------
    list of str
        Its lines.

    Examples
    --------
    >>> print("\n".join(table(["control", "Mbit/s"], [["reno", 9.5], ["fit", 9.75]])))
    | control | Mbit/s |
    | --- | --- |
    | reno | 9.5 |
    | fit | 9.75 |
    """
    return [row(heads), row("---" for _ in heads), *(row(cells) for cells in rows)]
