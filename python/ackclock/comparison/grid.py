"""A grid: the same comparison with each of several queues and buffers, and which of them suits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ackclock.comparison.answers import Comparison
from ackclock.comparison.conclusion import basis, locks, warned
from ackclock.comparison.first import answer, limit_of, listed, starved, where
from ackclock.comparison.path import FIXED_RUNS, RANDOM, PathSetup
from ackclock.comparison.questions import BY_KEY, Question
from ackclock.comparison.ranking import LEADING, Ranking, is_late, possible, ranked
from ackclock.comparison.words import rounded
from ackclock.comparison.work import BUDGET, compare_each
from ackclock.draw.card import card
from ackclock.names import counted
from ackclock.runs import Limits

Cell = tuple[str, str]
"""A queue and a buffer, as they were written."""


@dataclass(frozen=True, repr=False)
class Grid:
    """Answers for several controls with each of several queues and buffers.

    Attributes
    ----------
    cells : mapping
        The comparison of each queue and buffer, by their names.
    """

    cells: Mapping[Cell, Comparison]

    @property
    def queues(self) -> tuple[str, ...]:
        """The names of the queues, in the order given."""
        return tuple(dict.fromkeys(queue for queue, _ in self.cells))

    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of the buffers, in the order given."""
        return tuple(dict.fromkeys(buffer for _, buffer in self.cells))

    @property
    def any(self) -> Comparison:
        """The first comparison, for the properties that all comparisons share."""
        return next(iter(self.cells.values()))

    @property
    def controls(self) -> tuple[str, ...]:
        """The names of the controls, in the order given."""
        return self.any.controls

    @property
    def table(self) -> pl.DataFrame:
        """One row per queue, buffer, question and control, with the columns of `Comparison.table`."""
        return pl.concat(
            comparison.table.select(pl.lit(queue).alias("queue"), pl.lit(buffer).alias("buffer"), pl.all())
            for (queue, buffer), comparison in self.cells.items()
        )

    def __repr__(self) -> str:
        return f"<Grid of {', '.join(self.controls)}: {named(self, self.cells)}>"

    def _repr_html_(self) -> str:
        return card("Grid", [grid_answer(self)], *rows(self, BY_KEY["goodput"]))


def compare_grid(
    settings: Mapping[Cell, PathSetup],
    controls: Sequence[str],
    jobs: int | None = None,
    cache: Path | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
    budget: float = BUDGET,
) -> Grid:
    """Answer all questions for all controls with each queue and buffer.

    Parameters
    ----------
    settings : mapping
        The path of each queue and buffer, by their names.
    controls, jobs, cache, cluster, limits, budget
        As for `compare`; several cells have five runs each where their number is not given.

    Returns
    -------
    Grid
        The comparison of each cell.

    Raises
    ------
    ScenarioError, SimulationError, StorageError
        The errors of `compare`.
    """
    compared = compare_each(list(settings.values()), controls, jobs, cache, cluster, limits, budget)
    return Grid(dict(zip(settings, compared, strict=True)))


def rows(grid: Grid, question: Question) -> tuple[list[str], list[list[str]]]:
    """Return the heads and rows of a question's table: a row per control and queue, a column per buffer."""
    table = [
        [control, queue, *(grid.cells[queue, buffer].words(question.key, control) for buffer in grid.buffers)]
        for control in grid.controls
        for queue in grid.queues
    ]
    return ["control", "queue", *grid.buffers], table


def rank_cells(
    grid: Grid, question: Question, control: str, cells: Iterable[Cell] | None = None
) -> dict[Cell, str]:
    """Return the place of each cell in a question for a control, each against the best cell."""
    return dict(_ranked(grid, question, control, grid.cells if cells is None else cells)[1])


def _ranked(
    grid: Grid, question: Question, control: str, cells: Iterable[Cell]
) -> tuple[Ranking, dict[Cell, str]]:
    by_name = {" ".join(cell): cell for cell in cells}
    values = {name: possible(grid.cells[cell], question, control) for name, cell in by_name.items()}
    scale_s = max(comparison.setting.recovery_scale_s for comparison in grid.cells.values())
    late = [name for name, cell in by_name.items() if is_late(grid.cells[cell], question, control)]
    ranking = ranked(question, values, scale_s, late=late)
    return ranking, {by_name[name]: standing for name, standing in ranking.standings.items()}


def grid_sentences(grid: Grid) -> list[str]:
    """Return the sentences of a grid.

    The first says which queue and buffer suit the path. Others name the best buffer of each other queue and
    problems, and end with the runs that all of this is based on.
    """
    lines = [grid_answer(grid)]
    if len(grid.buffers) > 1:
        suits = {queue for queue, _ in suiting(grid)}
        for queue in grid.queues if len(grid.queues) > 1 else ():
            if queue not in suits:
                cells = {cell: comparison for cell, comparison in grid.cells.items() if cell[0] == queue}
                lines.append(f"If the queue must be {queue}, {'; '.join(_choice(Grid(cells)))}.")
    locked = [
        f"Behind {named(grid, [cell])}: {line}"
        for cell, comparison in grid.cells.items()
        for line in locks(comparison)
    ]
    warnings = [line for comparison in grid.cells.values() for line in warned(comparison)]
    return [*lines, *dict.fromkeys(locked + warnings), basis(grid.any)]


def each_answer(grid: Grid) -> list[str]:
    """Return the first sentence of each cell's comparison: which control suits there, and why."""
    return [answer(comparison, f"Behind {named(grid, [cell])}") for cell, comparison in grid.cells.items()]


def grid_answer(grid: Grid) -> str:
    """Return the first sentence: the cells that suit, the cost of the others, and any starvation."""
    clauses = _choice(grid)
    if not clauses:
        return "No packet arrives on this path."
    return f"On this path {'; '.join([*clauses, *_least(grid), *_longest(grid), *_starved(grid)])}."


def _choice(grid: Grid) -> list[str]:
    """Return the clauses that say which cells suit.

    A cell suits a control if its goodput there is the highest or like the highest, and if its queue there is
    the shortest among these cells or like the shortest.
    """
    common, who = suiting(grid), listed(grid.controls)
    if len(common) == len(grid.cells):
        what = " nor ".join(["the queue"] * (len(grid.queues) > 1) + ["the buffer"] * (len(grid.buffers) > 1))
        verb = f"neither {what} matters" if " nor " in what else f"{what} does not matter"
        return [f"{verb} to {who} alone ({_numbers(grid, common, grid.controls)})"]
    if common:
        return [
            f"{named(grid, common)} {_suits(common)} {who} best, with the most goodput and the shortest "
            f"queue ({_numbers(grid, common, grid.controls)})"
        ]
    return [
        f"{named(grid, cells)} {_suits(cells)} {control} best ({_numbers(grid, cells, [control])})"
        for control in grid.controls
        if (cells := _suited(grid, control))
    ]


def _suits(cells: Sequence[Cell]) -> str:
    return "suits" if len(cells) == 1 else "suit"


def suiting(grid: Grid) -> list[Cell]:
    """Return the cells that suit every control."""
    suited = [_suited(grid, control) for control in grid.controls]
    return [cell for cell in grid.cells if all(cell in cells for cells in suited)]


def describe(grid: Grid) -> str:
    """Return the path and its runs in a line of words."""
    settings = [comparison.setting for comparison in grid.cells.values()]
    buffers = [
        f"{grid.cells[grid.queues[0], buffer].setting.path.buffer_packets} ({buffer})"
        for buffer in grid.buffers
    ]
    lengths = sorted({setting.run_s for setting in settings})
    run_s = f"{lengths[0]:g}" if len(lengths) == 1 else f"{lengths[0]:g} to {lengths[-1]:g}"
    first = settings[0]
    flows = f"; {first.flows} flows of each control" if first.flows > 1 else ""
    ecn = ", ECN where the queue marks" if first.ecn else ""
    return (
        f"{where(grid.any)}{ecn}; queue {listed(grid.queues, 'or')}, buffer of {listed(buffers, 'or')} "
        f"packets of {first.path.packet_bytes} bytes; profile {first.profile}{flows}; "
        f"{counted(first.runs or FIXED_RUNS, 'run')} of {run_s} s, without the first fifth of each; {RANDOM}"
    )


def named(grid: Grid, cells: Iterable[Cell]) -> str:
    """Return the names of cells: droptail with 1bdp or 4bdp, and codel or fq_codel with any buffer."""
    buffers_of: dict[str, list[str]] = {}
    for queue, buffer in cells:
        buffers_of.setdefault(queue, []).append(buffer)
    queues_of: dict[tuple[str, ...], list[str]] = {}
    for queue, buffers in buffers_of.items():
        queues_of.setdefault(tuple(buffers), []).append(queue)
    texts = []
    for some, queues in queues_of.items():
        which = "any buffer" if len(some) == len(grid.buffers) else listed(some, "or")
        if len(grid.buffers) == 1:
            texts.append(listed(queues, "or"))
        elif len(grid.queues) == 1:
            texts.append(which if which == "any buffer" else f"a buffer of {which}")
        else:
            texts.append(f"{listed(queues, 'or')} with {which}")
    return listed(texts)


def _suited(grid: Grid, control: str) -> list[Cell]:
    _, rates = _ranked(grid, BY_KEY["goodput"], control, grid.cells)
    _, delays = _ranked(grid, BY_KEY["delay"], control, _leading(rates))
    return _leading(delays)


def _leading(standings: Mapping[Cell, str]) -> list[Cell]:
    return [cell for cell, standing in standings.items() if standing in LEADING]


def _mean(grid: Grid, key: str) -> Callable[[Cell, str], float]:
    return lambda cell, control: float(np.nanmean(possible(grid.cells[cell], BY_KEY[key], control)))


def _numbers(grid: Grid, cells: Sequence[Cell], controls: Sequence[str]) -> str:
    """Return the ranges of goodput and queueing delay over cells and controls."""
    texts = []
    for key, unit in (
        ("goodput", f" of {rounded(grid.any.setting.path.rate_mbps, 4)} Mbit/s"),
        ("delay", " ms"),
    ):
        mean = _mean(grid, key)
        numbers = [mean(cell, control) for cell in cells for control in controls]
        lowest, highest = rounded(min(numbers)), rounded(max(numbers))
        texts.append((lowest if lowest == highest else f"{lowest} to {highest}") + unit)
    return ", ".join(texts)


def _least(grid: Grid) -> list[str]:
    """Return a clause for each control with too little goodput in a cell: the worst cell and the reason."""
    clauses = []
    for control in grid.controls:
        ranking, standings = _ranked(grid, BY_KEY["goodput"], control, grid.cells)
        behind = [cell for cell, standing in standings.items() if standing == "behind"]
        if not behind:
            continue
        worst = min(behind, key=lambda cell: ranking.means[" ".join(cell)])
        reason = limit_of(grid.cells[worst], control)
        because = f" because {reason}" if reason else ""
        number = rounded(ranking.means[" ".join(worst)])
        clauses.append(f"{control} has the lowest goodput behind {named(grid, [worst])} ({number}){because}")
    return clauses


def _longest(grid: Grid) -> list[str]:
    """Return a clause about the longest queue of all, if another cell is decided to have a shorter one."""
    mean = _mean(grid, "delay")
    behind = [
        (mean(cell, control), cell, control)
        for control in grid.controls
        for cell, standing in _ranked(grid, BY_KEY["delay"], control, grid.cells)[1].items()
        if standing == "behind"
    ]
    if not behind:
        return []
    longest, cell, control = max(behind)
    return [f"{control} has the longest queue behind {named(grid, [cell])} ({rounded(longest)} ms)"]


def _starved(grid: Grid) -> list[str]:
    """Return a clause for each control that Reno starves in some cells."""
    clauses = []
    for control in grid.controls:
        cells = [cell for cell, comparison in grid.cells.items() if control in starved(comparison)]
        if cells:
            where = "" if len(cells) == len(grid.cells) else f" behind {named(grid, cells)}"
            clauses.append(f"{control} is starved next to Reno{where}")
    return clauses
