"""The full results that are published with the project: made from a reproduction, and read again.

``papers/PAPER/published`` has the records of a paper's artefacts with the frames of their figures
(``records.json``) and four tables in Parquet whose first column is the artefact:

- ``numbers``: what was measured, a row per case, run and number;
- ``curves``: the columns of the figures' curves, thinned to what a chart can show;
- ``runs``: every run with the digests of its scenario and of what happened in it;
- ``scenarios``: the scenario of every case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import polars as pl

from ackclock.draw import charts
from ackclock.engine import integrity, storage
from ackclock.reproduction import classes, page
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord

FOLDER = Path(__file__).parents[3] / "papers"
"""The papers of a checkout; an installation has no such folder."""
NAME, RECORDS = "published", "records.json"
MOST_ROWS = 600
"""Largest number of rows of a curve: on a chart 600 pixels wide more cannot be told apart."""
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
    """The ids of the claims that state a main claim, if any do, and whether they hold, if that is known."""

    id: str | None
    holds: bool | None


Listed = TypedDict(
    "Listed", {"artefact": str, "class": str, "main_claim": MainClaimListed, "holds": int, "claims": int}
)
"""What is published of an artefact, in short."""


@dataclass(frozen=True)
class Published:
    """The result of an artefact: its record, its figure without the columns of curves, its tables."""

    record: ArtefactRecord
    figure: Figure
    tables: Mapping[str, pl.DataFrame]


class NotHereError(Exception):
    """Published results are not in this installation; the message says where they are."""


def places(papers: Iterable[Paper]) -> dict[str, Path]:
    """Return the folder of each paper's published result, which need not exist.

    Raises `NotHereError` outside of a checkout.
    """
    if not FOLDER.is_dir():
        raise NotHereError(
            f"the published results are in papers/PAPER/{NAME} of the project's repository, "
            "not in an installed package: run this command in a checkout"
        )
    return {paper.name: FOLDER / paper.name / NAME for paper in papers}


def publish(results: Path, paper: Paper, target: Path) -> list[str]:
    """Publish the artefacts of a paper that a reproduction in `results` made in full.

    Artefacts that are missing there, or whose runs were quick, stay as they were published. Returns the
    names of the artefacts that are not published. Raises DamagedError when a result was changed.
    """
    before = read(target)
    every: dict[str, Published] = {}
    for artefact in paper.artefacts:
        place = results / paper.name / artefact.name
        fresh = _of_result(place) if (place / "artefact.json").exists() else None
        known = fresh or before.get(artefact.name)
        if known is not None:
            every[artefact.name] = known
    if every:
        target.parent.mkdir(parents=True, exist_ok=True)
        with storage.new_directory(target, force=True, is_result=_is_published) as directory:
            _write(every, directory)
    return [artefact.name for artefact in paper.artefacts if artefact.name not in every]


def _is_published(directory: Path) -> bool:
    names = frozenset({RECORDS, *(f"{name}.parquet" for name in TABLES)})
    return storage.holds_only(directory, names, RECORDS)


def _of_result(place: Path) -> Published | None:
    """Read a result; None when it is quick or failed."""
    integrity.check(place)
    record: ArtefactRecord = json.loads((place / "artefact.json").read_text("utf-8"))
    if record["quick"] or record["error"]:
        return None
    figure = json.loads(charts.dump(charts.load((place / page.FIGURE).read_text("utf-8")), MOST_ROWS))
    rows: dict[str, pl.DataFrame] = {
        "curves": pl.DataFrame(list(_curves(figure)), TABLES["curves"], orient="row"),
        "scenarios": pl.DataFrame(
            [
                (case, known["file"], (place / known["file"]).read_text("utf-8"))
                for case, known in record["cases"].items()
            ],
            TABLES["scenarios"],
            orient="row",
        ),
    }
    runs, numbers = place / "runs.parquet", place / "numbers.parquet"
    rows["runs"] = pl.read_parquet(runs) if runs.exists() else TABLES["runs"].to_frame()
    rows["numbers"] = _long(pl.read_parquet(numbers)) if numbers.exists() else TABLES["numbers"].to_frame()
    if record["cases"] and rows["runs"].is_empty():
        raise storage.StorageError(
            f"{place} has no digests of its runs: ackclock reproduce --full "
            f"{record['paper']}/{record['name']} makes it again"
        )
    return Published(
        record, _without_columns(figure), {name: rows[name].cast(schema) for name, schema in TABLES.items()}
    )


def _long(numbers: pl.DataFrame) -> pl.DataFrame:
    """Return numbers as a row each; not every case has every number."""
    values = numbers.with_columns(pl.exclude("case", "run").cast(pl.Float64))
    return values.unpivot(index=["case", "run"], variable_name="number").drop_nulls("value")


def _curves(figure: Figure) -> Iterator[tuple[str, str, str, int, list[float | None]]]:
    """Yield the columns of a figure with what they are; a table or a diagram has none."""
    for chart in figure["groups"][""]["charts"] if "groups" in figure else ():
        for series in chart["series"]:
            named = {name: series[name] for name in charts.COLUMNS if name in series}
            named |= dict(zip(("dots_x", "dots_y"), series.get("dots", ()), strict=False))
            for quantity, column in named.items():
                values = [None if value is None else float(value) for value in figure["columns"][column]]
                yield chart["title"], series["name"], quantity, column, values


def _without_columns(figure: Figure) -> Figure:
    return {name: part for name, part in figure.items() if name != "columns"}


def _figure(published: Published) -> str:
    """Return the figure as `charts.dump` writes it."""
    curves = published.tables["curves"]
    if "groups" not in published.figure:
        return json.dumps(published.figure, ensure_ascii=False)
    columns: list[list[float | None]] = [[] for _ in range((curves["column"].max() or 0) + 1)]  # type: ignore[operator, arg-type]
    for column, values in curves.select("column", "values").iter_rows():
        columns[column] = [None if value is None else float(f"{value:.6g}") for value in values]
    return json.dumps({"columns": columns} | published.figure, ensure_ascii=False)


def _write(every: Mapping[str, Published], directory: Path) -> None:
    lines = [
        json.dumps(name)
        + ": "
        + json.dumps({"record": known.record, "figure": known.figure}, ensure_ascii=False)
        for name, known in every.items()
    ]
    # A line per artefact, so that differences can be read.
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (directory / RECORDS).write_text(text, encoding="utf-8")
    for table in TABLES:
        frames = [
            known.tables[table].select(pl.lit(name).alias("artefact"), pl.all())
            for name, known in every.items()
        ]
        storage.write_table(pl.concat(frames), directory, table)


def read(place: Path) -> dict[str, Published]:
    """Read what is published of a paper, by artefact; nothing when the folder does not exist.

    Raises DamagedError when something was changed since it was published.
    """
    if not place.is_dir():
        return {}
    integrity.check(place)
    records = json.loads((place / RECORDS).read_text("utf-8"))
    tables = {
        table: {
            name: frame.drop("artefact")
            for (name,), frame in pl.read_parquet(place / f"{table}.parquet")
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


def unpack(every: Mapping[str, Published], directory: Path) -> None:
    """Write the results of a paper as `ackclock reproduce` does, without traces, for its page."""
    for name, known in every.items():
        place = directory / name
        (place / "scenarios").mkdir(parents=True)
        text = json.dumps(known.record, indent=2, ensure_ascii=False) + "\n"
        (place / "artefact.json").write_text(text, encoding="utf-8")
        (place / page.FIGURE).write_text(_figure(known), encoding="utf-8")
        for file, content in known.tables["scenarios"].select("file", "text").iter_rows():
            (place / file).write_text(content, encoding="utf-8")
        numbers = known.tables["numbers"]
        if not numbers.is_empty():
            wide = numbers.pivot("number", index=["case", "run"], values="value", maintain_order=True)
            storage.write_table(wide, place, "numbers")
        if not known.tables["runs"].is_empty():
            storage.write_table(known.tables["runs"], place, "runs")
        integrity.seal_directory(place)


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
                    "main_claim": {
                        "id": ", ".join(ids) or None,
                        "holds": of_artefact.holds if of_artefact else None,
                    },
                    "holds": sum(claim["holds"] for claim in claims),
                    "claims": len(claims),
                }
            )
    return rows
