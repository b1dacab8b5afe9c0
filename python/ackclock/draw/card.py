"""The HTML cards that notebooks show of results: a heading, lines of text, a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def card(heading: str, lines: Sequence[str], heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a card as HTML with escaped texts and the notebook's colours; numbers have four digits."""
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
    head = "".join(f"<th>{escape(title)}</th>" for title in heads)
    about = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return (
        f"<div><strong>{escape(heading)}</strong>{about}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell: object) -> str:
    if cell is None:
        return "<td></td>"
    if isinstance(cell, int | float):
        return f'<td style="text-align: right">{cell:.4g}</td>'
    return f'<td style="text-align: left">{escape(str(cell))}</td>'
