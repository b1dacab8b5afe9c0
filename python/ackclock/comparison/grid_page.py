"""The page of a grid: its sentences, and a heat map per question."""

from __future__ import annotations

import shlex
from pathlib import Path

from ackclock import engine
from ackclock.comparison.first import listed, where
from ackclock.comparison.grid import Grid, describe, each_answer, grid_sentences
from ackclock.comparison.heat import heat_map
from ackclock.comparison.page import MAPS, finish, write_pictures, write_scenarios
from ackclock.comparison.questions import QUESTIONS
from ackclock.draw.page import from_here, html
from ackclock.engine import Scenario, controls, storage


def title(grid: Grid) -> str:
    """Return the question of a grid's page with its path."""
    which = " and ".join(["queue"] * (len(grid.queues) > 1) + ["buffer"] * (len(grid.buffers) > 1))
    return f"Which {which} for {listed(grid.controls)}? {where(grid.any)}"


def write_grid(
    grid: Grid, output: Path, command: str, *, pictures: bool = False, force: bool = False
) -> None:
    """Write the page with its numbers and scenarios, as `page.write` does for a comparison."""
    with storage.explained(output):
        scenarios: dict[tuple[str, str], list[tuple[str, Scenario]]] = {}
        for (queue, buffer), comparison in grid.cells.items():
            for key, scenario in comparison.scenarios.items():
                scenarios.setdefault(key, []).append((f"{queue} {buffer}", scenario))
        links, needed = write_scenarios(output, scenarios, force=force)
        maps = {question.key: heat_map(grid, question) for question in QUESTIONS}
        write_pictures(output, {f"heat-{key}": drawn for key, drawn in maps.items()} if pictures else {})
        settings = [comparison.setting for comparison in grid.cells.values()]
        slowest = max(settings, key=lambda setting: setting.reno_cycle_s / setting.run_s)
        files = sorted(MAPS) if pictures else []
        text = html(
            "grid.html",
            pictures=files,
            follows=controls.follows(grid.controls),
            title=title(grid),
            path=describe(grid),
            conclusion=grid_sentences(grid),
            each=each_answer(grid),
            maps=[
                {"key": key, "title": drawn.title, "about": drawn.about, "columns": drawn.columns}
                | {"named": list(zip(drawn.rows, drawn.cells, strict=True))}
                for key, drawn in maps.items()
            ],
            short=slowest.run_s < slowest.reno_cycle_s,
            cycle_s=slowest.reno_cycle_s,
            command=command,
            first=shlex.quote(from_here(output / "scenarios" / links[grid.controls[0]][0][1])),
            links=links,
            version=engine.__version__,
        )
        finish(output, text, grid.table, links, [*needed, *files])
