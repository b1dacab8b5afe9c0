"""The page of a search, and its folder."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.draw.page import html
from ackclock.engine import controls, storage
from ackclock.metrics import Estimate
from ackclock.names import slug
from ackclock_evaluate.cell import words
from ackclock_evaluate.report import finite
from ackclock_search.figure import figure
from ackclock_search.run import Searched
from ackclock_search.saved import Adversary

MARKER = "search.json"
NAMES = frozenset({MARKER, "index.html", "pictures"})


def folder(output: Path, control: str, objective: str) -> Path:
    """Return the folder of a search, ``search=CONTROL-OBJECTIVE`` in the directory of results."""
    return output / f"search={slug(control, objective)}"


def _ends(estimate: Estimate) -> list[float | None]:
    return [finite(number) for number in (estimate.value, estimate.low, estimate.high)]


def _command(folder: Path) -> object:
    return json.loads((folder / MARKER).read_bytes())["command"]


def write(
    searched: Sequence[Searched],
    files: Sequence[tuple[Path, Adversary]],
    folder: Path,
    control: str,
    command: str,
    *,
    pictures: bool = False,
) -> dict[str, Any]:
    """Write the folder of a search, completely or not at all, and return the content of ``search.json``.

    An earlier result of the same command is replaced, and another one set aside; a folder with other
    content raises a StorageError. With `pictures` the charts of the page are also drawn as PDF and PNG.
    """
    objective = searched[0].objective
    record = {
        "ackclock": engine.__version__,
        "command": command,
        "control": control,
        "objective": objective.name,
        "profile": searched[0].profile,
        "genomes": [
            {
                "genome": result.genome.name,
                "budget": result.budget,
                "optimised": result.optimised,
                "value": _ends(result.fresh),
                "at_random": _ends(result.fresh_at_random),
                "failures": result.failures,
            }
            for result in searched
        ],
        "adversaries": [
            {
                "file": file.as_posix(),
                "genome": adversary.genome,
                "metric": objective.margin.metric,
                "unit": objective.margin.unit,
                "estimates": {name: _ends(value) for name, value in adversary.estimates.items()},
                "baseline": adversary.baseline,
                "value": _ends(adversary.value),
                "verdict": adversary.verdict,
            }
            for file, adversary in files
        ],
    }
    charts = {file.stem: figure(adversary) for file, adversary in files}
    is_result = functools.partial(storage.holds_only, names=NAMES, marker=MARKER)
    with storage.new_directory(folder, force=False, is_result=is_result, inputs=_command) as directory:
        storage.write(directory / MARKER, (json.dumps(record, indent=1) + "\n").encode())
        if pictures:
            # Matplotlib takes longer to import than the page takes to write.
            from ackclock.draw import printed

            (directory / "pictures").mkdir()
            for name, group in charts.items():
                storage.write_files(directory / "pictures", printed.rendered(group, name))
        text = html(
            "search.html",
            package="ackclock_search",
            charts=charts,
            control=control,
            follows=controls.follows([control]),
            objective=objective,
            metric=words(objective.margin.metric),
            lines=[str(result) for result in searched],
            profile=searched[0].profile,
            adversaries=[(file.stem, os.path.relpath(file, folder), adversary) for file, adversary in files],
            has_pictures=pictures,
            command=command,
            version=engine.__version__,
        )
        storage.write(directory / "index.html", text.encode())
    return record
