"""The matrix of readings by claims: every value of every open item alone, the others as chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ackclock.draw import markdown
from ackclock.reproduction.claims.artefact import Artefact
from ackclock.reproduction.inference import together
from ackclock.reproduction.trials.cells import CHOSEN, SEVERAL, THE_SETTING, Cell, apart
from ackclock.reproduction.trials.settings import Item, Setting
from ackclock.reproduction.trials.tried import MATRIX, Trial

if TYPE_CHECKING:
    from ackclock.reproduction.inference.search import Search
    from ackclock.reproduction.paper import Paper

RUNS = 3
"""Seeds of each scenario unless told otherwise."""


def judged(
    search: Search,
    artefacts: Sequence[Artefact],
    runs: int = RUNS,
    chosen: Setting | None = None,
    first_run: int = 0,
    known: Sequence[Trial] = (),
) -> list[Cell]:
    """Judge the claims of artefacts at the chosen setting and at settings that differ from it in one item.

    An artefact is judged only for items that change its scenarios or its claims. `chosen` is by default the
    setting of the paper. If a claim holds neither there nor in the `known` trials, several items are changed
    together (`ackclock.reproduction.inference.together`); a setting that gives such a claim is judged by the
    other artefacts, too.
    """
    paper = search.paper
    setting = dict(paper.setting if chosen is None else chosen)
    cells = [
        Cell(artefact.name, THE_SETTING, CHOSEN, setting, runs, True, True, False, math.nan)
        for artefact in artefacts
    ]
    cells += _look(search, [(CHOSEN, setting)], artefacts, runs, first_run, setting)
    for item in paper.items:
        others = [value.value for value in item.values if item.name and value.value != setting[item.name]]
        settings = [(item.name, setting | {item.name: value}) for value in others]
        affected = [
            artefact
            for artefact in artefacts
            if any(paper.differs(artefact, setting, other) for _, other in settings)
        ]
        if affected:
            cells += _look(search, settings, affected, runs, first_run, setting)
    for artefact in artefacts:
        trials = together.searched(search, artefact, artefacts, setting, known, runs, first_run)
        cells += _cells([(SEVERAL, trial) for trial in trials], setting)
    return cells


def _look(
    search: Search,
    settings: Sequence[tuple[str, Setting]],
    artefacts: Sequence[Artefact],
    runs: int,
    first_run: int,
    chosen: Setting,
) -> list[Cell]:
    trials = search.look([setting for _, setting in settings], artefacts, MATRIX, runs, first_run)
    return _cells([(item, trial) for (item, _), trial in zip(settings, trials, strict=True)], chosen)


def _cells(trials: Sequence[tuple[str, Trial]], chosen: Setting) -> list[Cell]:
    return [
        Cell(
            artefact,
            claim,
            item,
            _value(item, trial.setting, chosen),
            trial.runs,
            trial.possible,
            outcome.holds,
            outcome.undecided,
            outcome.value,
        )
        for item, trial in trials
        for (artefact, claim), outcome in trial.outcomes.items()
    ]


def _value(item: str, setting: Setting, chosen: Setting) -> object:
    if item == SEVERAL:
        return {name: value for name, value in setting.items() if value != chosen[name]}
    return None if item == CHOSEN else setting[item]


def _item(paper: Paper, name: str) -> Item | None:
    return next((item for item in paper.items if item.name and item.name == name), None)


def tables(paper: Paper, cells: Sequence[Cell]) -> list[str]:
    """Return a table per artefact: a row per value that turns a claim, a column per claim that is turned.

    A line in front counts the claims that were judged and those that no value turns. Pairs of artefacts stand
    before all tables if the settings that give one of them break the other.
    """
    lines = _apart(paper, cells)
    for artefact in paper.artefacts:
        own = [cell for cell in cells if cell.artefact == artefact.name and cell.claim != THE_SETTING]
        if own:
            lines += ["", f"### {artefact.title}", "", *_table(paper, artefact, own)]
    return lines


def _apart(paper: Paper, cells: Sequence[Cell]) -> list[str]:
    """Return a sentence for each two artefacts with claims that no reading gives together."""
    sentences: dict[tuple[str, str], str] = {}
    for given, broken in apart(cells):
        both = [
            f"{paper[cell.artefact].title.partition(':')[0]}'s *{_sentence(paper, cell)}*"
            for cell in (given, broken)
        ]
        words = f"No reading gives {both[0]} and {both[1]} together: with {_changed(paper, given)} only the "
        sentences.setdefault((given.artefact, broken.artefact), f"- {words}first holds.")
    return ["", *sentences.values()] if sentences else []


def _sentence(paper: Paper, cell: Cell) -> str:
    return next(claim.sentence for claim in paper[cell.artefact].claims if claim.name == cell.claim)


def _changed(paper: Paper, cell: Cell) -> str:
    """Return the items of a cell with their values, in words."""
    items = [(_item(paper, name), value) for name, value in cell.changes.items()]
    return "; ".join(f"{item.quantity}: {item.words(value)}" for item, value in items if item)


def _table(paper: Paper, artefact: Artefact, cells: Sequence[Cell]) -> list[str]:
    chosen = {cell.claim: cell for cell in cells if cell.item == CHOSEN}
    others: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        if words := _changed(paper, cell):
            others.setdefault(words, {})[cell.claim] = cell
    several = sum(any(cell.item == SEVERAL for cell in column.values()) for column in others.values())
    turns = [
        (column, claim)
        for column, of_value in others.items()
        for claim, cell in of_value.items()
        if claim in chosen and cell.word != chosen[claim].word
    ]
    claims = [claim for claim in artefact.claims if any(name == claim.name for _, name in turns)]
    columns = list(dict.fromkeys(column for column, _ in turns))
    still = [claim for claim in artefact.claims if claim not in claims and claim.name in chosen]
    fail = [f"*{claim.sentence}*" for claim in still if chosen[claim.name].word == "no"]
    lines = [
        f"Claims: {len(chosen)}; settings: the chosen one and {len(others) - several} that differ in one item"
        f"{f' and {several} in several' if several else ''}, each with {cells[0].runs} quick runs. "
        f"Claims with the same outcome at all of them: {len(still)}."
    ]
    if fail:
        lines += ["", f"Claims that hold at none of them: {'; '.join(fail)}."]
    if claims:
        rows = [["as chosen", *(_words(chosen[claim.name]) for claim in claims)]]
        for column in columns:
            outcomes = [_words(others[column].get(claim.name)) for claim in claims]
            rows.append([_head(column, others[column]), *outcomes])
        lines += ["", *markdown.table(["reading", *(claim.sentence for claim in claims)], rows)]
    return lines


def _head(words: str, cells: Mapping[str, Cell]) -> str:
    impossible = "" if all(cell.possible for cell in cells.values()) else " (against a stated condition)"
    return f"{words}{impossible}"


def _words(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return cell.word if math.isnan(cell.measured) else f"{cell.word} ({cell.measured:.3g})"
