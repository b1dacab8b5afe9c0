"""Digests of everything that an outcome depends on, which tell whether it must be judged again."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from ackclock import engine
from ackclock.reproduction import ns2
from ackclock.reproduction.claims.judge import Assignment
from ackclock.reproduction.library import PLANNED, PLANNED_QUICK
from ackclock.reproduction.trials import exchanges, tried
from ackclock.runs import sources

DATA = (".py", ".toml", ".json", ".csv")
SAID = ("sentences.toml", tried.READINGS, exchanges.EXCHANGE, PLANNED, PLANNED_QUICK)
"""Files that change no number and no verdict of a claim: the sentences of a paper, and the outcomes of its
claims with other controls. The planned runs are in the digest as the runs of each case."""
MEASURING = (
    *(f"ackclock.{name}" for name in ("engine", "metrics", "models", "predictions", "runs")),
    *(f"ackclock.reproduction.{name}" for name in ("claims", "inference.search", "trials.settings")),
)
"""The code, besides the paper, that determines numbers and claims."""
SHOWING = (*MEASURING, "ackclock.draw", "ackclock.reproduction")
"""The code, besides the paper, that determines pictures and records."""


def fingerprint(assignment: Assignment, home: Path | None, parts: Sequence[str] = SHOWING) -> str:
    """Return a digest of everything that the outcome of an artefact depends on.

    `home` is the directory of its paper, None for one that is made in memory. `parts` are the packages and
    modules that take part: `SHOWING` or `MEASURING`. The inferred setting makes no difference to `MEASURING`.
    """
    runs = [[str(key), job.key] for key, jobs in assignment.jobs.items() for job in jobs]
    inferred = tuple(parts) == SHOWING
    code = [_sources(tuple(parts)), _of_paper(home, inferred) if home else ""]
    artefact = assignment.artefact
    claims = [
        [claim.name, claim.sentence, claim.paper, claim.tolerance, claim.target] for claim in artefact.claims
    ]
    followed = [engine.ENGINE, code, artefact.name, claims, asdict(assignment.effort), runs]
    words = json.dumps(followed)
    return hashlib.sha256(words.encode()).hexdigest()[:32]


@functools.cache
def _sources(parts: tuple[str, ...]) -> str:
    """Return a digest of packages and modules; a LookupError names the first that has no source."""
    root = Path(__file__).parents[3]
    files: list[Path] = []
    for part in parts:
        location = root.joinpath(*part.split("."))
        own = list(filter(Path.is_file, [location.with_suffix(".py"), *sorted(location.rglob("*"))]))
        if not own:
            raise LookupError(f"{part} has no source in {root}")
        files += own
    return _digest(files)


@functools.cache
def _of_paper(home: Path, inferred: bool) -> str:
    """Return a digest of a paper's directory, but for `SAID`.

    The inferred setting and the results of ns-2 are left out if they make no difference.
    """
    files = [file for file in sorted(home.glob("*")) if file.name not in SAID]
    if inferred:
        files += sorted((home / "inferred").glob("*"))
    else:
        files = [file for file in files if file.name != ns2.NAME]
    return _digest(filter(Path.is_file, files))


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        if file.suffix in DATA:
            digest.update(sources.of_file(file).encode() if file.suffix == ".py" else file.read_bytes())
    return digest.hexdigest()
