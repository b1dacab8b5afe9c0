"""Tables for LaTeX, with the rules of booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
}


def text(cell: object) -> str:
    r"""Write what is in a cell.

    Parameters
    ----------
    cell : object
        Anything; numbers with four digits.

    Returns
    -------
    str
        For LaTeX.

    Examples
    --------
    >>> print(text("5 % of my_file, 1 ± 2"))
    5 \% of my\_file, 1 $\pm$ 2
    >>> print(text(0.123456))
    0.1235
    """
    if cell is None:
        return "--"
    plain = f"{cell:.4g}" if isinstance(cell, float) else str(cell)
    return "".join(_SPECIAL.get(letter, letter) for letter in plain)


def table(heads: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    r"""Write a table.

    Parameters
    ----------
    heads : sequence
        Over the columns; the first column is flushed left, the others right.
    rows : iterable of sequences
        Their cells, as many as heads.

    Returns
    -------
    str
        A tabular, to be put into a document that has ``\usepackage{booktabs}``.

    Examples
    --------
    >>> print(table(["control", "Mbit/s"], [["reno", 9.5]]))
    \begin{tabular}{lr}
    \toprule
    control & Mbit/s \\
    \midrule
    reno & 9.5 \\
    \bottomrule
    \end{tabular}
    """

    def line(cells: Iterable[object]) -> str:
        return " & ".join(text(cell) for cell in cells) + r" \\"

    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            r"\toprule",
            line(heads),
            r"\midrule",
            *(line(row) for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )
