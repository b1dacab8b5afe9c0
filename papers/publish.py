"""Publish what a full reproduction has made."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from ackclock.decision import expected_wrong
from ackclock.draw import charts
from ackclock.engine import integrity, storage
from ackclock.reproduction import task
from ackclock.reproduction.claims import judge
from ackclock.reproduction.claims.artefact import Artefact, Simulated
from ackclock.reproduction.claims.numbers import FULL
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord, ClaimRecord, state
from ackclock.reproduction.shown import page, published
from ackclock.reproduction.shown.published import RECORDS, TABLES, Figure, Published
from ackclock_papers import PAPERS

MOST_ROWS = 600
"""Largest number of rows of a curve: on a chart 600 pixels wide more cannot be told apart."""


def main() -> None:
    """Publish papers, by default all papers with a full result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "results", nargs="?", type=Path, default="results", help="directory of the reproduction"
    )
    parser.add_argument("papers", nargs="*", metavar="PAPER", help="one of " + ", ".join(PAPERS))
    arguments = parser.parse_args()
    if not arguments.results.is_dir():
        parser.error(f"there is no directory {arguments.results}: ackclock reproduce --full -o makes it")
    unknown = set(arguments.papers) - set(PAPERS)
    if unknown:
        parser.error(f"unknown paper {min(unknown)}")
    for name, place in published.folders(PAPERS[name] for name in arguments.papers or PAPERS).items():
        missing = publish(arguments.results, PAPERS[name], place)
        size = sum(file.stat().st_size for file in place.glob("*"))
        left = f"; not run: {', '.join(missing)}" if missing else ""
        print(f"{place}: {size / 1e6:.1f} MB{left}")


def publish(results: Path, paper: Paper, target: Path) -> list[str]:
    """Publish the artefacts of a paper that a reproduction in `results` made in full.

    Artefacts that are missing there, or whose runs were quick, keep their published runs and numbers. Their
    claims are judged again with these, and the results of ns-2 and of other settings always come from the
    paper's present tables. Returns the names of the artefacts that are not published. Raises DamagedError
    when a result was changed.
    """
    before = published.read(target)
    every: dict[str, Published] = {}
    for artefact in paper.artefacts:
        place = results / paper.name / artefact.name
        fresh = _of_result(place) if (place / "artefact.json").exists() else None
        known = fresh or before.get(artefact.name)
        if known is not None:
            every[artefact.name] = _with_tables(judged_again(known, paper, artefact), paper, artefact)
    if every:
        target.parent.mkdir(parents=True, exist_ok=True)
        with storage.new_directory(target, force=True, is_result=_is_published) as directory:
            _write(every, directory)
    return [artefact.name for artefact in paper.artefacts if artefact.name not in every]


def judged_again(known: Published, paper: Paper, artefact: Artefact) -> Published:
    """Return a result whose present claims are judged with its published numbers.

    A formula, a result without all numbers that present claims read, and claims that depend on a second
    setting and were not judged there, stay as they are.
    """
    if not isinstance(artefact, Simulated):
        return known
    effort = FULL.at(paper.setting)
    measured: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for case, run, number, value in known.tables["numbers"].iter_rows():
        measured[case][run][number] = value
    try:
        rows = {
            case: [{key: runs[run][str(key)] for key in keys} for run in sorted(runs)]
            for case, keys in artefact.supplied(effort)
            for runs in (measured[str(case)],)
        }
        judgement = judge.judged(artefact, judge.numbers_of(artefact, effort, rows))
    except LookupError as missing:
        print(f"{paper.name}/{artefact.name} is not judged again: its numbers have no {missing}")
        return known
    controls = dict(known.tables["runs"].select("case", "controls").unique().iter_rows())
    before = {record["id"]: record for record in known.record["claims"]}
    other = paper.alternative
    depends = other is not None and paper.differs(artefact, paper.setting, other)
    claims: list[ClaimRecord] = []
    for claim, judged in judgement.claims:
        fresh = task.of_claim(paper, artefact, claim, judged, judgement)
        stored = before.get(fresh["id"])
        if stored is None and depends:
            continue
        named = {controls[str(case)] for case in claim.cases(rows) if str(case) in controls}
        claims.append(
            {
                **fresh,
                "controls": sorted({control for some in named for control in some.split(",")}),
                "alternative": stored.get("alternative") if stored else None,
            }
        )
    wrong = expected_wrong(judged.wrong_probability for _, judged in judgement.claims)
    return replace(known, record=known.record | {"claims": claims, "expected_wrong_claims": wrong})


def _with_tables(known: Published, paper: Paper, artefact: Artefact) -> Published:
    """Return a result with the present results of ns-2 and of other settings: neither depends on its runs."""
    of = {record["id"]: record for record in known.record["claims"]}
    for claim in artefact.claims:
        if record := of.get(f"{paper.name}/{artefact.name}/{claim.name}"):
            undecided = state(record) == "undecided"
            contradicted = bool(record["finding"] and claim.finding and claim.finding.contradiction)
            holds = record["holds"]
            verdict = task.verdict_of(paper, artefact, claim, holds, undecided, contradicted).record()
            of[record["id"]] = task.with_ns2(record | verdict, paper, artefact, claim)
    return replace(known, record=known.record | {"claims": list(of.values())})


def _commit() -> str:
    """Return the commit of the code that is checked out here."""
    git = ["git", "rev-parse", "HEAD"]
    place = published.FOLDER
    done = subprocess.run(git, cwd=place, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


def _is_published(directory: Path) -> bool:
    names = frozenset({RECORDS, *(f"{name}.parquet" for name in TABLES)})
    return storage.holds_only(directory, names, RECORDS)


def _of_result(place: Path) -> Published | None:
    """Read a result; None when it is quick or failed."""
    integrity.check(place)
    record: ArtefactRecord = json.loads((place / "artefact.json").read_text("utf-8"))
    if record["quick"] or record["error"]:
        return None
    record["commit"] = _commit()
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
    """Yield the columns of a figure with their names; a table or a diagram has none."""
    for chart in figure["groups"][""]["charts"] if "groups" in figure else ():
        for series in chart["series"]:
            named = {name: series[name] for name in charts.COLUMNS if name in series}
            named |= dict(zip(("dots_x", "dots_y"), series.get("dots", ()), strict=False))
            for quantity, column in named.items():
                values = [None if value is None else float(value) for value in figure["columns"][column]]
                yield chart["title"], series["name"], quantity, column, values


def _without_columns(figure: Figure) -> Figure:
    return {name: part for name, part in figure.items() if name != "columns"}


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


if __name__ == "__main__":
    main()
