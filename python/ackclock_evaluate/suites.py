"""The suites of an evaluation, by name."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ackclock.engine import followed
from ackclock.names import hint
from ackclock_evaluate import saved
from ackclock_evaluate.cell import Criterion
from ackclock_evaluate.suite import built_in, names, read

SUITES: dict[str, tuple[Criterion, ...]] = {name: built_in(name) for name in names()}
"""The criteria of every built-in suite, by its name."""


def criteria(name: str) -> tuple[Criterion, ...]:
    """Return the criteria of a suite: a key of `SUITES`, a TOML file, or a directory of adversaries.

    An unknown suite raises a KeyError whose argument is one line for people; a mistake in a file raises
    a ScenarioError.
    """
    if name in SUITES:
        return SUITES[name]
    if Path(name).is_dir():
        digest = followed.digest(sorted(Path(name).glob("*.toml")))
        return (replace(saved.read(Path(name)), suite=name, digest=digest),)
    if name.endswith(".toml"):
        return read(Path(name))
    raise KeyError(f"unknown suite {name}: {hint(name, SUITES)} (or a TOML file, or a directory)")


def chosen(suites: Sequence[str], only: Sequence[str] = ()) -> tuple[Criterion, ...]:
    """Return the criteria of several suites in order, by default all, else those whose ids are in `only`.

    An unknown suite or criterion raises a KeyError whose argument is one line for people.
    """
    available = tuple(criterion for name in suites for criterion in criteria(name))
    known = [criterion.id for criterion in available]
    for name in only:
        if name not in known:
            raise KeyError(
                f"unknown criterion {name}: {hint(name, known, 'docs/evaluation.md in the repository')}"
            )
    return tuple(criterion for criterion in available if not only or criterion.id in only)
