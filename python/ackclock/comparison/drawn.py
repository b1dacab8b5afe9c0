"""Pictures are drawn only when their contents have changed: drawing takes longer than everything else."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path

from ackclock import engine
from ackclock.comparison.answers import Comparison
from ackclock.comparison.questions import QUESTIONS
from ackclock.engine import storage
from ackclock.runs import sources

NAMES = {"goodput-delay": "goodput_and_delay", "answers": "answers", "windows": "windows"}
"""The pictures, and the functions that draw them."""
ENDINGS = ("pdf", "png")
FILES = frozenset(f"{name}.{ending}" for name in NAMES for ending in ENDINGS)
"""The files that `draw` writes."""
RECORD = Path(".cache") / "pictures.json"
"""The checksum of the data that the files were drawn from, and of each file."""


def draw(comparison: Comparison, output: Path) -> None:
    """Draw the pictures into an existing directory, unless current ones are there.

    A file that is missing or was changed is drawn again.
    """
    basis = _basis(comparison)
    if _is_drawn(output, basis):
        return
    # Importing Matplotlib takes as long as everything else that a kept comparison needs.
    from ackclock.comparison import pictures
    from ackclock.draw import plots

    with plots.in_style():
        for name, function in NAMES.items():
            figure = getattr(pictures, function)(comparison)
            for ending in ENDINGS:
                metadata = {"CreationDate": None} if ending == "pdf" else None
                with storage.new_file(output / f"{name}.{ending}") as path:
                    figure.savefig(path, format=ending, dpi=200, metadata=metadata)
    record = {"basis": basis, "files": {name: _checksum(output / name) for name in sorted(FILES)}}
    (output / RECORD).parent.mkdir(exist_ok=True)
    with storage.new_file(output / RECORD) as path:
        path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def _is_drawn(output: Path, basis: str) -> bool:
    try:
        record = json.loads((output / RECORD).read_text("utf-8"))
        now = {"basis": basis, "files": {name: _checksum(output / name) for name in FILES}}
        return bool(record == now)
    except (OSError, ValueError):
        return False


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _basis(comparison: Comparison) -> str:
    """Return a checksum of everything that the pictures depend on: numbers, words, code and versions."""
    digest = hashlib.sha256()
    for part in _parts(comparison):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def _parts(comparison: Comparison) -> Iterator[bytes]:
    yield engine.__version__.encode()
    yield importlib.metadata.version("matplotlib").encode()
    yield sources.of_modules(["ackclock.comparison.pictures"], without=()).encode()
    yield repr(comparison.setting).encode()
    for name in comparison.controls:
        curve = comparison.curves[name]
        yield from (name.encode(), curve.time_s.tobytes(), curve.window.tobytes())
        for question in QUESTIONS:
            key = question.key
            numbers = (comparison.estimates[key][name], list(comparison.values[key][name]))
            yield repr((question.title, *numbers)).encode()
