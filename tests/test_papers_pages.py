"""The pages of the papers, from which a reader finds the code and the verdict of every figure."""

import json
import re
import runpy
from pathlib import Path

import pytest

from ackclock.reproduction.shown import classes, page
from ackclock_papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
MAKE = runpy.run_path(str(ROOT / "docs" / "make.py"))
FILES = sorted((ROOT / "python" / "ackclock_papers").glob("*/*.py"))
NAMED = re.compile(r"""name=f?["']((?:figure|section|table)-[^"']*)""")
"""An artefact that a file makes; what stands in braces is a number."""


def test_the_pages_are_what_is_made():
    # `docs/make.py papers` writes them again.
    made = MAKE["papers"]()
    assert len(made) == len(PAPERS)
    assert [page for page, text in made.items() if page.read_text(encoding="utf-8") != text] == []


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_has_the_parts_of_an_article_that_reproduces_another(name):
    text = (ROOT / "papers" / name / "README.md").read_text(encoding="utf-8")
    title, *head = text.split("\n## ")[0].splitlines()
    assert title.startswith("# [Re] ")
    for part in ("Original article", "Reproduced by", "Code and data", "Again"):
        assert sum(line.startswith(f"- **{part}**: ") for line in head) == 1, part
    # The main result stands on top, in two sentences.
    (result,) = (line for line in head if line.startswith("**Main result.**"))
    assert len(re.findall(r"\.(?= [A-Z]|$)", result.removeprefix("**Main result.**"))) == 2
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == [
        *("The system", "Controls", "What was claimed, and what was run", "Figures, tables and sections"),
        *("What held, what did not, and why", "Readings", "Other files", "References"),
    ]
    system = text.split("\n## The system\n")[1].split("\n### Equations\n")[0]
    # Ten lines of 110 letters, and links to the code.
    assert len(re.sub(r"\]\([^)]*\)", "]", system)) < 1100 + 110
    # Every artefact has a row, and every main claim that does not hold says what would change our mind.
    assert len(re.findall(r"`ackclock reproduce [a-z]+/", text)) >= len(PAPERS[name].artefacts)
    outcome = text.split("\n## What held")[1].split("\n## Readings")[0]
    rows = [line for line in outcome.splitlines() if line.startswith(("| Figure", "| Section", "| Table"))]
    assert all(row.removesuffix(" |").split(" | ")[-1].strip() for row in rows)


@pytest.mark.parametrize(
    ("module", "artefacts"),
    [
        ("figure_11", ["figure-11"]),
        ("figures_9_and_11_to_13", ["figure-9", "figure-11", "figure-12", "figure-13"]),
        ("section_4_5", ["section-4-5"]),
        ("sections_iv_and_vi_a", ["section-iv", "section-vi-a"]),
        ("tables_i_and_ii", ["table-i", "table-ii"]),
        ("setting", []),
        ("four_flows", []),
    ],
)
def test_a_name_of_a_file_says_what_it_has(module, artefacts):
    assert MAKE["held"](module) == artefacts


@pytest.mark.parametrize("name", PAPERS)
def test_every_artefact_has_one_file_and_no_file_promises_another(name):
    promised = [one for file in FILES if file.parent.name == name for one in MAKE["held"](file.stem)]
    assert sorted(promised) == sorted(one.name for one in PAPERS[name].artefacts)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_file_makes_what_its_name_says(file):
    made = {one for one in NAMED.findall(file.read_text(encoding="utf-8")) if "{" not in one}
    assert made <= set(MAKE["held"](file.stem))


def test_a_stranger_finds_figure_5_of_tcp_fit_in_three_steps():
    path = "papers/fit/README.md"
    assert f"]({path})" in (ROOT / "README.md").read_text(encoding="utf-8")
    # A later row says what became of its main claim.
    row, *_ = re.findall(r"^\| Figure 5 \|.*$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    code = (ROOT / path).parent / re.search(r"\]\((\S+\.py)\)", row)[1]
    assert 'name="figure-5"' in code.read_text(encoding="utf-8")
    assert "`ackclock reproduce fit/figure-5`" in row
    assert "`results/index.html#fit/figure-5`" in row
    assert "`ackclock lab fit/figure-5`" in row
    # The class in the full run that is published.
    assert row.split(" | ")[2] in {*classes.GROUPS, classes.NO_CLAIM, page.NOT_RUN}


def test_an_undecided_claim_is_to_get_more_runs_than_it_had():
    paper = PAPERS["bic"]
    claim = {"id": "bic/figure-2/a", "claim": "a", "measured": "0.84 [0.82, 0.86]", "verdict": "undecided"}
    claim |= {"tolerance": "0.15: around"}
    stated = [claim | {"single_runs": {"runs": 61}}, claim | {"single_runs": None}]
    undecided = classes.Classified("undecided", paper.main_claims["figure-2"], stated, stated)
    text = "\n".join(MAKE["what_became"](paper, {"figure-2": undecided}))
    # Twice 61.
    assert "`ackclock reproduce --full --undecided --runs 122 bic/figure-2`" in text


def test_what_the_page_of_bi_tcp_says_of_its_tables_is_what_is_published():
    """The ratios of goodput at unequal RTTs, next to those that the paper prints."""
    place = Path(__file__).resolve().parents[1] / "papers" / "bic"
    published = json.loads((place / "published" / "records.json").read_text("utf-8"))
    within, ours = {}, {}
    for table in ("table-1", "table-2", "table-3"):
        for claim in published[table]["record"]["claims"]:
            if re.fullmatch(r"bic/table-\d/[a-z-]+-rtt-ratio-[36]", claim["id"]) and re.fullmatch(
                r"[\d.]+", claim["paper"]
            ):
                ours[claim["id"]] = float(claim["measured"].split()[0])
                is_near = 0.5 <= ours[claim["id"]] / float(claim["paper"]) <= 2
                within.setdefault(table, []).append(is_near)
    assert {table: (sum(near), len(near)) for table, near in within.items()} == {
        "table-1": (6, 6),
        "table-2": (8, 8),
        "table-3": (6, 8),
    }
    text = (place / "README.md").read_text("utf-8")
    assert f"that ratio is {ours['bic/table-1/stcp-rtt-ratio-6']:.0f}, and every unequal cell" in text
    assert "in table 3, six of eight are." in text
