"""The pages of the site that show what is published of the five papers (`papers/PAPER/published`)."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path

import numpy as np
import polars as pl

import sentences
import verdicts
from ackclock.draw import charts
from ackclock.draw.figure import Chart, Drawing, Group, Series, Table
from ackclock.draw.markdown import table
from ackclock.engine import integrity, lab
from ackclock.reproduction.claims import numbers
from ackclock.reproduction.inference import readings
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ClaimRecord, state
from ackclock.reproduction.shown import outcome, page, published
from ackclock.reproduction.shown.published import Listed, Published
from ackclock_papers import PAPERS

FOLDER = "artefacts"
"""The folder of the results, and the name of the page that lists them."""
SIDE_BY_SIDE = (
    ("bic", "table-1"),
    ("bic", "table-2"),
    ("bic", "table-3"),
    ("africa", "table-i"),
    ("africa", "table-ii"),
    ("fit", "table-iii"),
)
READINGS = "readings"
"""The folder of the pages of readings."""
Every = Mapping[str, Mapping[str, Published]]
"""The published results, by paper and artefact."""


def write(
    pages: Path, papers: Mapping[str, Paper] = PAPERS, places: Mapping[str, Path] | None = None
) -> None:
    """Write the results, and the pages of Markdown that lead to them, into the folder of the site's pages."""
    where = published.folders(papers.values()) if places is None else places
    every = {name: published.read(where[name]) for name in papers}
    shutil.rmtree(pages / FOLDER, ignore_errors=True)
    (pages / FOLDER).mkdir(parents=True)
    for name, artefacts in every.items():
        published.unpack(artefacts, pages / FOLDER / name)
        for artefact in artefacts:
            _write_csv(pages / FOLDER / name / artefact, papers[name])
    # Commands on the page name files from here, and no folder of this machine.
    with chdir(pages):
        page.write(Path(FOLDER), papers.values())
    rows = published.overview(papers.values(), where)
    texts = {
        FOLDER: listed(papers, rows, pages),
        "reproduction": reproduction(papers, every, pages / FOLDER),
        "claims": claims(papers) if papers is PAPERS else "",
        **{f"{READINGS}/{name}": readings_of(paper) for name, paper in papers.items()},
    }
    (pages / READINGS).mkdir(exist_ok=True)
    for name, text in texts.items():
        if text:
            (pages / f"{name}.md").write_text(text, encoding="utf-8")


def _write_csv(place: Path, paper: Paper) -> None:
    """Write the figure and the numbers of an artefact as files that any program opens."""
    drawn = tabular(page.figure(place, page.stated_for(paper, paper[place.name])))
    if drawn is not None:
        drawn.write_csv(place / "figure.csv")
    if (place / "numbers.parquet").exists():
        pl.read_parquet(place / "numbers.parquet").write_csv(place / "numbers.csv")
    integrity.seal_directory(place)


def tabular(figure: Drawing | None) -> pl.DataFrame | None:
    """Return the rows of a figure, or a row for each value of each chart; a diagram has none."""
    if isinstance(figure, Table):
        rows = [[str(cell) for cell in row] for row in figure.rows]
        return pl.DataFrame(rows, schema=[head or "row" for head in figure.heads], orient="row")
    if not isinstance(figure, Group):
        return None
    every = [_values(chart, series) for chart in figure.charts for series in chart.series]
    return pl.concat(every, how="diagonal")


def _values(chart: Chart, series: Series) -> pl.DataFrame:
    """Return the values of a series with the titles of their axes, and the names where an axis has these."""
    given = [name for name in charts.COLUMNS if getattr(series, name) is not None]
    columns = {name: np.asarray(getattr(series, name), float) for name in given}
    words = {"chart": chart.title, "series": series.name, "x axis": chart.x.titled, "y axis": chart.y.titled}
    for axis in (chart.x, chart.y):
        if axis.names:
            at = columns["x" if axis is chart.x else "y"]
            columns["name"] = np.array(
                [axis.names[min(max(round(place), 0), len(axis.names) - 1)] for place in at]
            )
    frame = pl.DataFrame(columns)
    return frame.select(*(pl.lit(text).alias(name) for name, text in words.items()), pl.all())


def readings_of(paper: Paper) -> str:
    """Return the page of a paper's readings: the claims that a value of an open item turns, by artefact."""
    cells = paper.matrix()
    if not cells:
        return ""
    return "\n".join(
        [
            f"# Readings of {outcome.short_name(paper)}",
            "",
            "The paper leaves items of its setting open. A row has the claims whose verdict a value turns, "
            "where all else is as chosen. [Inference](../inference.md) explains how they were judged.",
            *readings.tables(paper, cells),
            "",
        ]
    )


def address(name: str) -> str:
    """Return the address of a published artefact, such as ``illinois/figure-8``."""
    paper, _, artefact = name.partition("/")
    return f"{FOLDER}/{paper}/index.html#{artefact}"


def listed(papers: Mapping[str, Paper], rows: Sequence[Listed], pages: Path) -> str:
    """Return the list of all artefacts, with links to what is published of them."""
    laboratory = (
        f"The [laboratory]({FOLDER}/{lab.NAME}) runs every scenario in the browser. "
        if (pages / FOLDER / lab.NAME).exists()
        else ""
    )
    lines = [
        "# All figures, tables and sections",
        "",
        f"[A map of all results]({FOLDER}/index.html) leads to their charts, claims, numbers and scenarios. "
        f"{laboratory}"
        "What the groups mean, and which claims do not hold, is in [the verdicts](reproduction.md); an "
        "artefact that is *not run* has not been published yet.",
    ]
    words = {True: "holds", False: "does not hold", None: ""}
    for name, paper in papers.items():
        own = {
            row["artefact"].partition("/")[2]: row for row in rows if row["artefact"].startswith(f"{name}/")
        }
        cells = []
        for artefact in paper.artefacts:
            row = own[artefact.name]
            files = [
                f"[{file}]({FOLDER}/{row['artefact']}/{file})"
                for file in ("figure.csv", "numbers.csv", "runs.parquet")
                if (pages / FOLDER / row["artefact"] / file).exists()
            ]
            is_there = (pages / FOLDER / row["artefact"]).is_dir()
            shown = f"[{artefact.name}]({address(row['artefact'])})" if is_there else artefact.name
            shares = f"{row['holds']} of {row['claims']}" if is_there else ""
            holds = words[row["main_claim"]["holds"]]
            cells.append([shown, artefact.caption, row["group"], holds, shares, ", ".join(files)])
        heads = ["artefact", "what it shows", "group", "main claim", "claims that hold", "data"]
        lines += ["", f"## {paper.title}", *table(heads, cells)]
    return "\n".join(lines) + "\n"


def reproduction(papers: Mapping[str, Paper], every: Every, results: Path) -> str:
    """Return the page of all verdicts; `results` has the unpacked results."""
    records = [known.record for artefacts in every.values() for known in artefacts.values()]
    most = [max([0, *(case["runs"] for case in record["cases"].values())]) for record in records]
    more = sum(runs > numbers.FULL.runs for runs in most)
    text = [
        "# Which claims of the five papers hold",
        "",
        "Made by `make reproduction` (`ackclock reproduce --full`), at the settings "
        "that `make inference` found (`ackclock reproduce --infer`). "
        f"[The pages of results]({FOLDER}/index.html) have the pictures, "
        "numbers, scenarios and the outcome of every claim at every setting; a "
        f"claim's tolerance is stated there, too. Intervals are 95 %, over five seeds, over more in {more} "
        f"artefacts (at most {max(most, default=0)}; a pilot tells how many, [inference](inference.md)), or "
        "by batches within a run above 1 Gbit/s. What TCP-FIT measured on the Internet (tables IV and V, "
        "figures 8 and 9) is simulated here on paths with the rates and losses of its places.",
        "",
        verdicts.markdown(results, papers.values()),
    ]
    tables = [(paper, name) for paper, name in SIDE_BY_SIDE if name in every.get(paper, {})]
    text += ["## Tables side by side"] if tables else []
    for paper, name in tables:
        rows = [
            [claim["claim"], claim["paper"], claim["measured"], state(claim), _of_single_runs(claim)]
            for claim in every[paper][name].record["claims"]
        ]
        text += [
            "",
            f"### {papers[paper][name].title}",
            *table(["", "paper", "ours", "verdict", "single runs"], rows),
        ]
    for known in papers.values():
        if known.changes:
            text += ["", f"## Changed after it had been run: {known.title}"]
            text += [f"- {change}" for change in known.changes]
    return "\n".join(text) + "\n"


def _of_single_runs(claim: ClaimRecord) -> str:
    """Return in how many single runs a claim holds."""
    counted = claim.get("single_runs")
    return f"{counted['hold']} of {counted['runs']}" if counted else "-"


def claims(papers: Mapping[str, Paper] = PAPERS) -> str:
    """Return the page of the papers' sentences, which needs no result."""
    text = [
        "# What the papers say, and the claims that check it",
        "",
        "From `python/ackclock_papers/PAPER/sentences.toml`: every sentence of the five papers with a "
        "number or an order that could be checked, in our words, with the claims of the "
        "artefacts that check it. [The verdicts](reproduction.md) say whether a claim holds. "
        "*Elsewhere* is a test or a study that is not a claim, a *gap* a sentence that lacks a claim; "
        "the rest has nothing to run: settings, definitions, measurements of their time, "
        "repetitions. Claims that are *ours* judge what no sentence of the paper states.",
        "",
        sentences.markdown(
            [(paper, sentences.load(f"ackclock_papers.{name}")) for name, paper in papers.items()]
        ),
    ]
    return "\n".join(text)
