"""Adversaries as files: plain scenarios that anyone can run; `ackclock_evaluate.saved` reads them back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.decision.comparisons import Verdict
from ackclock.engine import storage
from ackclock.engine.build import Table
from ackclock.metrics import Estimate
from ackclock_evaluate.cell import CellCurves
from ackclock_evaluate.saved import MARK, Objective

FRESH_RUNS = 10
HALF = 0.5
"""An objective without baselines is met when more than this share of the path is unused."""


@dataclass(frozen=True)
class Adversary:
    """A scenario chosen to make a control do badly, and the results of runs with fresh seeds."""

    objective: Objective
    genome: str
    candidate: str
    """Name of the control."""
    scenario: Table
    """The scenario with the control in the judged place, and with the seed of the fresh runs."""
    estimates: Mapping[str, Estimate]
    """The compared metric of ``candidate``, ``cubic-linux`` and ``reno`` over the fresh runs."""
    baseline: str
    """The more permissive baseline."""
    value: Estimate
    """How much worse the control does than that baseline, run by run: for goodput a share of the
    capacity, for a delay in round trips. For an absolute objective, the unused share of the path."""
    verdict: Verdict
    """Verdict of the comparison with that baseline."""
    curves: Mapping[str, CellCurves]
    """Rates and queue in the first fresh run, by subject."""

    @property
    def is_found(self) -> bool:
        """Whether the control is worse by more than the margin, or leaves half of the path unused."""
        if self.objective.absolute:
            return self.value.low > HALF
        return self.verdict == "worse"


def save_all(adversaries: Sequence[Adversary], directory: Path, command: str) -> list[tuple[Path, Adversary]]:
    """Write adversaries as ``CONTROL-OBJECTIVE-NUMBER.toml``; `command` is the search that found them."""
    files = []
    for number, adversary in enumerate(adversaries, 1):
        safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(adversary.candidate).name)
        file = directory / f"{safe}-{adversary.objective.name}-{number}.toml"
        with storage.explained(file):
            directory.mkdir(parents=True, exist_ok=True)
        storage.write_sealed(file, text(adversary, file.name, command))
        files.append((file, adversary))
    return files


def text(adversary: Adversary, name: str, command: str) -> str:
    """Return an adversary as TOML, with a comment on its origin and on the numbers to expect."""
    import ackclock

    margin = adversary.objective.margin
    unit = f" {margin.unit}" if margin.unit else ""
    names = {"candidate": adversary.candidate}
    compared = [
        f"#   {names.get(subject, f'baseline {subject}')}: {estimate}{unit}"
        for subject, estimate in adversary.estimates.items()
    ]
    digest = engine.read(adversary.scenario).digest
    head = [
        f"# An adversary of {adversary.candidate}: a path on which it {adversary.objective.about}.",
        f"# Found by `{command}` with ackclock {ackclock.__version__}; digest {digest}.",
        f"{MARK}{adversary.objective.name}",
        f"# genome: {adversary.genome}",
        f"# `ackclock simulate {name} --runs {FRESH_RUNS} --json`: {margin.metric} of the flows",
        "# whose names begin with c, or in their place; mean and 95 % interval over these runs:",
        *compared,
        f"# Beside {adversary.baseline}: {adversary.verdict}; as the search counts, {adversary.value}.",
        "",
    ]
    return "\n".join(head) + toml(adversary.scenario)


def toml(table: Mapping[str, Any]) -> str:
    """Write tables and lists of tables as TOML, so that `tomllib` reads the same values back."""
    sections = []
    for name, value in table.items():
        if isinstance(value, list):
            named = [(f"[[{name}]]", entry) for entry in value]
        else:
            named = [(f"[{name}]", value)]
        for head, section in named:
            lines = [f"{key} = {_inline(inner)}" for key, inner in section.items()]
            sections.append("\n".join([head, *lines]) + "\n")
    return "\n".join(sections)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    # Strings, numbers and booleans are written as in JSON, except for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
