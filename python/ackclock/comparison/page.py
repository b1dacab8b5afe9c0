"""The output of a comparison: a table, and a page with charts."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from ackclock import engine
from ackclock.comparison.answers import Comparison
from ackclock.comparison.charts import charts
from ackclock.comparison.conclusion import sentences
from ackclock.comparison.first import held_by, listed, where
from ackclock.comparison.questions import QUESTIONS, Question
from ackclock.comparison.ranking import rank
from ackclock.comparison.words import words as words
from ackclock.draw.figure import Drawing, HeatMap
from ackclock.draw.page import from_here, html
from ackclock.engine import Scenario, carried, controls, integrity, lab, storage

CHARTS = ("goodput-delay", "answers", "alone")
"""Names of the charts on the page."""
PICTURES = frozenset(f"{name}.{ending}" for name in CHARTS for ending in ("pdf", "png"))
OF_ONE = ("answers.csv", "answers.parquet", integrity.CHECKSUMS, "index.html", lab.NAME, "scenarios")
"""Entries of a directory that belong to one comparison; others are kept runs."""
MAPS = frozenset(f"heat-{question.key}.{ending}" for question in QUESTIONS for ending in ("pdf", "png"))


def title(comparison: Comparison) -> str:
    """Return the question of a page with its path."""
    names = comparison.controls
    which = listed(names, "or")
    question = f"Which is best, {which}?" if len(names) > 1 else f"How does {which} behave?"
    return f"{question} {where(comparison)}"


LIMITED = "limited alone by, share of time"
SIGNS = {"best": " *", "alike": " *", "close": " *", "undecided": " ?"}


def rows(comparison: Comparison) -> list[list[str]]:
    """Return a row per question for a terminal: the answers, with signs for the best and the undecided ones.

    The last row has the limit of each control.
    """
    table = []
    for question in QUESTIONS:
        shown = _standings(comparison, question)
        cells = [
            comparison.words(question.key, name) + SIGNS.get(shown(name)[0], "  ")
            for name in comparison.controls
        ]
        table.append([question.title, *cells])
    table.append([LIMITED, *(f"{held_by(comparison, name)}  " for name in comparison.controls)])
    return table


def _standings(comparison: Comparison, question: Question) -> Callable[[str], tuple[str, str]]:
    """Return a function that returns the place of a control in a question, and its distance in words."""
    if question.margin is None or len(comparison.controls) < 2:
        return lambda _: ("", "")
    ranking = rank(comparison, question)
    return lambda name: (ranking.standings.get(name, ""), ranking.cell(name))


def write(
    comparison: Comparison, output: Path, command: str, *, pictures: bool = False, force: bool = False
) -> None:
    """Write the page with its numbers and scenarios, each file atomically.

    `command` is the command that makes the page again. With `pictures` its charts are also drawn as PDF
    and PNG; without, earlier ones are removed, because they may show other numbers. An earlier comparison
    of other scenarios is set aside, or removed with `force`.
    """
    with storage.explained(output):
        scenarios = {key: [("", scenario)] for key, scenario in comparison.scenarios.items()}
        links, needed = write_scenarios(output, scenarios, force=force)
        shown = charts(comparison)
        write_pictures(output, shown if pictures else {})
        text = html(
            "comparison.html",
            charts=shown,
            pictures=sorted(PICTURES) if pictures else [],
            controls=comparison.controls,
            follows=controls.follows(comparison.controls),
            title=title(comparison),
            path=comparison.setting.describe(),
            conclusion=sentences(comparison),
            rows=[
                (
                    question,
                    [
                        (comparison.words(question.key, name), *standing_of(name))
                        for name in comparison.controls
                    ],
                )
                for question in QUESTIONS
                for standing_of in [_standings(comparison, question)]
            ],
            limited=(LIMITED, [held_by(comparison, name) for name in comparison.controls]),
            short=comparison.setting.run_s < comparison.setting.reno_cycle_s,
            cycle_s=comparison.setting.reno_cycle_s,
            command=command,
            first=shlex.quote(from_here(output / "scenarios" / links[comparison.controls[0]][0][1])),
            links=links,
            version=engine.__version__,
        )
        finish(output, text, comparison.table, links, [*needed, *(sorted(PICTURES) if pictures else [])])


Links = dict[str, list[tuple[str, str, str]]]
"""The name, the file, and the address in the laboratory of each scenario, by control."""


def write_scenarios(
    output: Path, scenarios: Mapping[tuple[str, str], Sequence[tuple[str, Scenario]]], *, force: bool = False
) -> tuple[Links, list[str]]:
    """Write scenarios with the files that they need, and the laboratory if there is one.

    Return the places of the scenarios, and the names of the needed files. A name and control may have several
    scenarios, each with the name of its path. An earlier comparison of other scenarios is set aside, or
    removed with `force`.
    """
    links: Links = {}
    contents: dict[str, bytes] = {}
    needed: set[str] = set()
    laboratory = lab.page()
    for (name, control), several in scenarios.items():
        for cell, scenario in several:
            file = re.sub(r"[^A-Za-z0-9-.]+", "-", f"{cell} {name} {control}".strip()) + ".json"
            whole = carried.of(scenario)
            contents[file] = (json.dumps(whole.scenario.written(), indent=1) + "\n").encode()
            contents |= whole.files
            needed.update(whole.files)
            address = "" if laboratory is None else lab.NAME + lab.fragment(scenario)
            links.setdefault(control, []).append((f"{name} {cell}".strip(), file, address))
    folder = output / "scenarios"
    earlier = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    if earlier and {name: file.read_bytes() for name, file in earlier.items()} != contents:
        if force:
            shutil.rmtree(folder)
        else:
            storage.set_aside(output, sorted({*OF_ONE, *PICTURES, *MAPS}))
    storage.write_files(folder, contents)
    if laboratory is not None:
        storage.write_text(output / lab.NAME, laboratory)
    return links, sorted(f"scenarios/{name}" for name in needed)


def write_pictures(output: Path, drawings: Mapping[str, Drawing | HeatMap]) -> None:
    """Draw the pictures of a page, each by its name, and remove the pictures of earlier pages."""
    for file in PICTURES | MAPS:
        (output / file).unlink(missing_ok=True)
    if drawings:
        # Matplotlib takes longer to import than everything else that a kept comparison needs.
        from ackclock.draw import printed

        for name, drawing in drawings.items():
            storage.write_files(output, printed.rendered(drawing, name))


def finish(output: Path, text: str, table: pl.DataFrame, links: Links, others: Sequence[str]) -> None:
    """Write the page and its numbers, and seal the files that belong to it, `others` among them."""
    storage.write_table(table, output, "answers")
    storage.write_table(table, output, "answers", csv=True)
    storage.write_text(output / "index.html", text)
    # The directory may also hold kept runs and scenarios of other comparisons.
    files = ["index.html", "answers.parquet", "answers.csv", *others]
    files += [f"scenarios/{file}" for of_control in links.values() for _, file, _ in of_control]
    has_lab = any(address for of_control in links.values() for *_, address in of_control)
    integrity.seal_directory(output, files + [lab.NAME] * has_lab)
