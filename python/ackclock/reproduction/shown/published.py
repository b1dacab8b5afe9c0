"""The full results that are published with the project; ``papers/publish.py`` makes them from a reproduction.

``papers/PAPER/published`` has the records of a paper's artefacts with the frames of their figures
(``records.json``) and four tables in Parquet whose first column is the artefact:

- ``numbers``: what was measured, a row per case, run and number;
- ``curves``: the columns of the figures' curves, thinned to what a chart can show;
- ``runs``: every run with the digests of its scenario and of what happened in it;
- ``scenarios``: the scenario of every case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import polars as pl

from ackclock import engine
from ackclock.engine import ScenarioError, integrity, storage
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord
from ackclock.reproduction.shown import classes, page, telling

FOLDER = Path(__file__).parents[4] / "papers"
"""The papers of a checkout; an installation has no such folder."""
NAME, RECORDS = "published", "records.json"
TABLES: Mapping[str, pl.Schema] = {
    "numbers": pl.Schema({"case": pl.String, "run": pl.UInt32, "number": pl.String, "value": pl.Float64}),
    # The numbers of a figure have six digits, which fit into 32 bits.
    "curves": pl.Schema(
        {
            "chart": pl.String(),
            "series": pl.String(),
            "quantity": pl.String(),
            "column": pl.UInt32(),
            "values": pl.List(pl.Float32),
        }
    ),
    "runs": pl.Schema(
        {
            "case": pl.String,
            "run": pl.UInt32,
            "scenario": pl.String,
            "controls": pl.String,
            "packets": pl.UInt64,
            "digest": pl.String,
        }
    ),
    "scenarios": pl.Schema({"case": pl.String, "file": pl.String, "text": pl.String}),
}
"""The tables, without their first column, the artefact."""


Figure = dict[str, Any]
"""The JSON of a figure."""


class MainClaimListed(TypedDict):
    """The ids of the claims that state a main claim, whether it holds, and its outcome with Reno."""

    id: str | None
    holds: bool | None
    exchange: str | None


Listed = TypedDict(
    "Listed",
    {
        "artefact": str,
        "class": str,
        "group": str,
        "main_claim": MainClaimListed,
        "holds": int,
        "claims": int,
        "commit": str | None,
        "is_older": bool,
    },
)
"""A summary of the published results of an artefact."""


@dataclass(frozen=True)
class Published:
    """The result of an artefact: its record, its figure without the columns of curves, its tables."""

    record: ArtefactRecord
    figure: Figure
    tables: Mapping[str, pl.DataFrame]


class NotHereError(ScenarioError):
    """Published results are not in this installation; the message says where they are."""


def folders(papers: Iterable[Paper]) -> dict[str, Path]:
    """Return the folder of each paper's published result, which need not exist.

    Raises `NotHereError` outside of a checkout.
    """
    if not FOLDER.is_dir():
        raise NotHereError(
            f"the published results are in papers/PAPER/{NAME} of the project's repository, "
            "not in an installed package: run this command in a checkout"
        )
    return {paper.name: FOLDER / paper.name / NAME for paper in papers}


def _figure(published: Published) -> str:
    """Return the figure as `charts.dump` writes it."""
    curves = published.tables["curves"]
    if "groups" not in published.figure:
        return json.dumps(published.figure, ensure_ascii=False)
    columns: list[list[float | None]] = [[] for _ in range((curves["column"].max() or 0) + 1)]  # type: ignore[operator, arg-type]
    for column, values in curves.select("column", "values").iter_rows():
        columns[column] = [None if value is None else float(f"{value:.6g}") for value in values]
    return json.dumps({"columns": columns} | published.figure, ensure_ascii=False)


def read(folder: Path) -> dict[str, Published]:
    """Read the published results of a paper, by artefact; none if the folder does not exist.

    Raises DamagedError when something was changed since it was published.
    """
    if not folder.is_dir():
        return {}
    integrity.check(folder)
    records = json.loads((folder / RECORDS).read_text("utf-8"))
    tables = {
        table: {
            name: frame.drop("artefact")
            for (name,), frame in pl.read_parquet(folder / f"{table}.parquet")
            .partition_by("artefact", as_dict=True, maintain_order=True)
            .items()
        }
        for table in TABLES
    }
    return {
        name: Published(
            known["record"],
            known["figure"],
            {table: tables[table].get(name, TABLES[table].to_frame()) for table in TABLES},
        )
        for name, known in records.items()
    }


CHANGED = ("bic-linux", "westwood-linux", "reno-ns2")
"""Controls and a recovery that have changed since results were published: their runs differ until all are
made again."""


NAMED_COMMITS = 3
"""Commits that a sentence names."""


def is_older(record: ArtefactRecord) -> bool:
    """Return whether an artefact's runs were measured by other rules than today's."""
    return bool(record["cases"]) and record.get("rules") != engine.RULES


def age(records: Iterable[ArtefactRecord]) -> list[str]:
    """Return a paragraph of Markdown about results of other rules, with the commits that made them.

    Without such results there are no lines.
    """
    commits = [record.get("commit", "?") for record in records if is_older(record)]
    if not commits:
        return []
    return [
        "",
        f"*The simulated results are older than the code: they were made at {commits_in_words(commits)}, "
        "before summaries counted as they do now.*",
    ]


def commits_in_words(commits: Iterable[str | None]) -> str:
    """Return different commits in short, at most `NAMED_COMMITS` by name."""
    names = list(dict.fromkeys((commit or "?")[:10] for commit in commits))
    rest = len(names) - NAMED_COMMITS
    return ", ".join(names[:NAMED_COMMITS]) + (f" and {rest} more commits" if rest > 0 else "")


def unpack(every: Mapping[str, Published], directory: Path) -> None:
    """Write the results of a paper as `ackclock reproduce` does, without traces, for its page."""
    for name, known in every.items():
        folder = directory / name
        folder.mkdir(parents=True)
        write(known, folder)
        integrity.seal_directory(folder)


def write(known: Published, folder: Path) -> None:
    """Write the result of an artefact into an empty folder, without traces."""
    (folder / "scenarios").mkdir()
    text = json.dumps(known.record, indent=2, ensure_ascii=False) + "\n"
    (folder / "artefact.json").write_text(text, encoding="utf-8")
    (folder / page.FIGURE).write_text(_figure(known), encoding="utf-8")
    for file, content in known.tables["scenarios"].select("file", "text").iter_rows():
        (folder / file).write_text(content, encoding="utf-8")
    numbers = known.tables["numbers"]
    if not numbers.is_empty():
        wide = numbers.pivot("number", index=["case", "run"], values="value", maintain_order=True)
        storage.write_table(wide, folder, "numbers")
    if not known.tables["runs"].is_empty():
        storage.write_table(known.tables["runs"], folder, "runs")


def overview(papers: Iterable[Paper], of_papers: Mapping[str, Path]) -> list[Listed]:
    """Return class, main claim and claims of every artefact, as they are published."""
    rows: list[Listed] = []
    for paper in papers:
        records = {name: known.record for name, known in read(of_papers[paper.name]).items()}
        classified = classes.classify(paper, records.values())
        for artefact in paper.artefacts:
            main = paper.main_claims.get(artefact.name)
            of_artefact = classified.get(artefact.name)
            claims = records[artefact.name]["claims"] if artefact.name in records else []
            here = f"{paper.name}/{artefact.name}"
            ids = (
                [f"{paper.name}/{name}" if "/" in name else f"{here}/{name}" for name in main.ids]
                if main
                else []
            )
            rows.append(
                {
                    "artefact": here,
                    "class": of_artefact.name if of_artefact else page.NOT_RUN,
                    "group": of_artefact.group if of_artefact else page.NOT_RUN,
                    "main_claim": {
                        "id": ", ".join(ids) or None,
                        "holds": of_artefact.holds if of_artefact else None,
                        "exchange": (of_artefact and telling.of_main(paper.exchanges, of_artefact)) or None,
                    },
                    "holds": sum(claim["holds"] for claim in claims),
                    "claims": len(claims),
                    "commit": records[artefact.name].get("commit") if artefact.name in records else None,
                    "is_older": artefact.name in records and is_older(records[artefact.name]),
                }
            )
    return rows
