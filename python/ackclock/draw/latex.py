"""Tables for LaTeX, with the rules of booktabs."""

from __future__ import annotations

import re
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

MINUS = re.compile(r"(?<![\w.-])-(?=\.?\d)")
"""A hyphen that is the sign of a number."""


def text(cell: object) -> str:
    r"""Return the content of a cell for LaTeX; numbers have four digits.

    >>> print(text("5 % of my_file, 1 ± 2"))
    5 \% of my\_file, 1 $\pm$ 2
    >>> print(text(0.123456), text("-26 ± 37, 1e-05 of figure-8"))
    0.1235 $-$26 $\pm$ 37, 1e-05 of figure-8
    """
    if cell is None:
        return "--"
    plain = f"{cell:.4g}" if isinstance(cell, float) else str(cell)
    escaped = "".join(_SPECIAL.get(letter, letter) for letter in plain)
    return MINUS.sub("$-$", escaped)


def table(
    heads: Sequence[object], rows: Iterable[Sequence[object]], columns: str = "", *, profile: str = "-"
) -> str:
    r"""Return a tabular for documents that load booktabs; by default only the first column is flush left.

    >>> print(table(["control", "Mbit/s"], [["reno", 9.5]]))
    \begin{tabular}{lr}
    \toprule
    control & Mbit/s \\
    \midrule
    reno & 9.5 \\
    \bottomrule
    \end{tabular}

    A `profile` of senders other than ``-`` is named in a row below the numbers, so that they can be compared
    with others.

    >>> print(table(["a", "b"], [], profile="linux").splitlines()[-2])
    \multicolumn{2}{l}{\footnotesize Profile of the senders: linux} \\
    """

    def line(cells: Iterable[object]) -> str:
        return " & ".join(text(cell) for cell in cells) + r" \\"

    below = rf"\multicolumn{{{len(heads)}}}{{l}}{{\footnotesize Profile of the senders: {text(profile)}}} \\"
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns or 'l' + 'r' * (len(heads) - 1)}}}",
            r"\toprule",
            line(heads),
            r"\midrule",
            *(line(row) for row in rows),
            r"\bottomrule",
            *([] if profile in ("", "-") else [below]),
            r"\end{tabular}",
        ]
    )
