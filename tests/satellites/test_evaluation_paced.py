"""Why paced Reno is judged worse: the table of the documentation has the numbers of `benches/paced.py`."""

import csv
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "evaluation.md"
NUMBERS = ROOT / "benches" / "data" / "paced.csv"
WORDS = {"bursty": "unpaced", "paced": "paced"}


def table() -> str:
    """Return the table of shares, harm and loss, as the page has it."""
    with NUMBERS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = {(row["judged"], row["others"], row["metric"]): row for row in rows}
    lines = [
        "| judged | next to | share of the goodput | harm to the victim's goodput | loss of the victim, % |",
        "| --- | --- | --- | --- | --- |",
    ]
    for mine, others in dict.fromkeys((row["judged"], row["others"]) for row in rows):
        cells = [WORDS[mine], WORDS[others]]
        for metric, scale in (("share", 1), ("harm_goodput", 1), ("victim_loss", 100)):
            row = known[mine, others, metric]
            cells.append(f"{scale * float(row['mean']):.3f} ± {scale * float(row['error']):.3f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_page_has_the_numbers_that_were_measured() -> None:
    # UPDATE_PACED=1 writes them.
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition("| judged | next to |")
    after = rest.partition("\n\n")[2]
    if os.environ.get("UPDATE_PACED"):
        text = f"{before}{table()}\n\n{after}"
        PAGE.write_text(text, encoding="utf-8")
    assert f"\n\n{table()}\n\n" in text


def test_pacing_and_nothing_else_takes_more_than_the_fair_share() -> None:
    # Reno next to Reno has half of the goodput, paced or not; a paced and an unpaced flow are the same two
    # flows in either order, so their shares sum to one. Five standard errors of a mean of 5.
    with NUMBERS.open(encoding="utf-8", newline="") as file:
        shares = {
            (row["judged"], row["others"]): (float(row["mean"]), float(row["error"]))
            for row in csv.DictReader(file)
            if row["metric"] == "share"
        }
    for kind in WORDS:
        mean, error = shares[kind, kind]
        assert abs(mean - 0.5) < 5 * error
    (more, first), (less, second) = shares["paced", "bursty"], shares["bursty", "paced"]
    assert abs(more + less - 1) < 5 * (first**2 + second**2) ** 0.5
    assert more - 0.5 > 5 * first
