"""The font of pictures: every letter that they show is in it, and files carry it as TrueType."""

from __future__ import annotations

import json
from pathlib import Path

from fontTools.ttLib import TTFont

from ackclock.draw import plots, printed
from ackclock.draw.charts import dump
from ackclock.draw.figure import Table
from every_figure import drawn

FONT = Path(plots.__file__).with_name("AckclockSans.ttf")


def test_every_letter_of_every_figure_is_in_the_font() -> None:
    letters = {letter for _, figure in drawn() for letter in str(json.loads(dump(figure)))}
    with TTFont(FONT) as font:
        missing = {letter for letter in letters if ord(letter) not in font.getBestCmap()}
    assert missing == set()


def test_files_carry_type_42_fonts_and_are_the_same_bytes_twice() -> None:
    # The last letter is not in the font and comes from DejaVu Sans.
    table = Table(["\N{GREEK SMALL LETTER BETA}", "10⁻²"], [["≤ 1", "\N{CYRILLIC SMALL LETTER YA}"]])
    contents = []
    for name in ("first", "second"):
        contents.append(list(printed.rendered(table, name).values()))
    assert contents[0] == contents[1]
    # A Type 42 font is embedded as the file of a CID font of type 2 (PDF 32000-1, section 9.7.4).
    pdf = contents[0][0]
    assert pdf.count(b"/Subtype /CIDFontType2") >= 2
    assert b"/Subtype /Type3" not in pdf
    assert b"AckclockSans" in pdf
    assert b"DejaVuSans" in pdf
