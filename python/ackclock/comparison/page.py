"""The output of a comparison: a table, and a page with charts."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from ackclock import engine
from ackclock.comparison.answers import Comparison
from ackclock.comparison.charts import charts
from ackclock.comparison.conclusion import sentences
from ackclock.comparison.questions import QUESTIONS, Question
from ackclock.comparison.ranking import rank
from ackclock.comparison.words import words as words
from ackclock.draw import lab
from ackclock.draw.page import from_here, html
from ackclock.engine import controls, integrity, storage

PLACES = ("goodput-delay", "answers", "alone")
"""The places of charts on the page."""
PICTURES = frozenset(f"{place}.{ending}" for place in PLACES for ending in ("pdf", "png"))
NAMES = frozenset(
    {"index.html", lab.NAME, "answers.csv", "answers.parquet", "scenarios", ".cache"} | PICTURES
)


def title(comparison: Comparison) -> str:
    """Return the question of a page with its path."""
    path = comparison.setting.path
    name = comparison.setting.name
    where = f"{name}: " if name else ""
    loss = f", {100 * comparison.setting.loss:g} % lost" if comparison.setting.loss else ""
    names = comparison.controls
    which = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    question = f"Which is best, {which}?" if len(names) > 1 else f"How does {which} behave?"
    return f"{question} {where}{path.rate_mbps:.4g} Mbit/s, {path.rtt_ms:g} ms{loss}"


SIGNS = {"best": " *", "alike": " *", "undecided": " ?"}


def rows(comparison: Comparison) -> list[list[str]]:
    """Return a row per question for a terminal: the answers, with a sign for the best and for undecided."""
    table = []
    for question in QUESTIONS:
        places = _places(comparison, question)
        answers = comparison.estimates[question.key]
        cells = [words(answers[name]) + SIGNS.get(places(name)[0], "  ") for name in comparison.controls]
        table.append([question.title, *cells])
    return table


def _places(comparison: Comparison, question: Question) -> Callable[[str], tuple[str, str]]:
    """Return a function that returns the place of a control in a question, and its distance in words."""
    if question.margin is None or len(comparison.controls) < 2:
        return lambda _: ("", "")
    ranking = rank(comparison, question)
    return lambda name: (ranking.places.get(name, ""), ranking.cell(name))


def write(comparison: Comparison, output: Path, command: str, *, pictures: bool = False) -> None:
    """Write the page with its numbers and scenarios, each file atomically.

    `command` is the command that makes the page again. With `pictures` its charts are also drawn as PDF
    and PNG; without, earlier ones are removed, because they may show other numbers.
    """
    with storage.explained(output):
        (output / "scenarios").mkdir(parents=True, exist_ok=True)
        links: dict[str, list[tuple[str, str, str]]] = {}
        laboratory = lab.page()
        if laboratory is not None:
            with storage.new_file(output / lab.NAME) as path:
                path.write_text(laboratory, "utf-8")
        for (name, control), scenario in comparison.scenarios.items():
            file = re.sub(r"[^A-Za-z0-9-]+", "-", f"{name} {control}") + ".json"
            with storage.new_file(output / "scenarios" / file) as path:
                path.write_text(json.dumps(scenario, indent=1) + "\n", "utf-8")
            links.setdefault(control, []).append((name, file, lab.NAME + lab.fragment(scenario)))
        shown = charts(comparison)
        for file in PICTURES:
            (output / file).unlink(missing_ok=True)
        if pictures:
            # Matplotlib takes longer to import than everything else that a kept comparison needs.
            from ackclock.draw import printed

            for place in PLACES:
                storage.write_files(output, printed.rendered(shown[place], place))
        storage.write_table(comparison.table, output, "answers")
        storage.write_table(comparison.table, output, "answers", csv=True)
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
                        (words(comparison.estimates[question.key][name]), *places(name))
                        for name in comparison.controls
                    ],
                )
                for question, places in ((question, _places(comparison, question)) for question in QUESTIONS)
            ],
            short=comparison.setting.run_s < comparison.setting.reno_cycle_s,
            cycle_s=comparison.setting.reno_cycle_s,
            command=command,
            first=shlex.quote(from_here(output / "scenarios" / links[comparison.controls[0]][0][1])),
            links=links,
            has_lab=laboratory is not None,
            version=engine.__version__,
        )
        with storage.new_file(output / "index.html") as path:
            path.write_text(text, "utf-8")
        # The directory may also hold kept runs and scenarios of other comparisons.
        files = ["index.html", "answers.parquet", "answers.csv", *(PICTURES if pictures else ())]
        files += [f"scenarios/{file}" for of_control in links.values() for _, file, _ in of_control]
        integrity.seal_directory(output, files + [lab.NAME] * (laboratory is not None))
