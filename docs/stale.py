"""List generated files that are older than what they are made from; `make stale` runs it.

A file is as old as the last commit that changed it, because a clone gives all files the same time. Being
listed is a question and no error: the same command may give the same file again.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Generated:
    """Files that a command writes; ``{name}`` is a part of a path that files and sources share."""

    files: str
    sources: tuple[str, ...]
    command: str
    noticed_by: str = ""
    """The test that fails when the files differ from a new result of the command."""


GENERATED = (
    Generated(
        "docs/glossary.md",
        ("python/ackclock/draw/glossary.toml",),
        "docs/make.py glossary",
        "test_glossary.py",
    ),
    Generated(
        "docs/validation.md", ("python/ackclock/decision", "docs/decided.py"), "docs/make.py decisions costs"
    ),
    Generated("docs/api.md", ("python/ackclock",), "docs/api.py", "test_api_page.py"),
    Generated("docs/curves", ("crates/ackclock-cc/src", "crates/ackclock-sim/src"), "make docs", "curves.rs"),
    Generated("docs/scenario.md", ("crates/ackclock-scenario/src",), "make docs", "reading.rs"),
    Generated("docs/theory.md", ("python/ackclock/predictions", "python/ackclock/models"), "make docs"),
    Generated("docs/performance.md", ("benches/speed.py", "crates/ackclock-sim/src"), "make bench"),
    Generated("docs/kernel.md", ("benches/kernel.py", "crates/ackclock-kernel/bpf"), "make bench-kernel"),
    Generated("docs/quic.md", ("benches/quic.py", "crates/ackclock-quic/src"), "make bench-quic"),
    Generated("docs/controllers/bbr-linux.md", ("benches/stock.py",), "make bench-stock"),
    Generated("docs/controllers/{name}-linux.md", ("tests/data/linux",), "make docs", "linux_functions.rs"),
    Generated("docs/controllers/prague.md", ("benches/l4s.py",), "make bench-l4s"),
    Generated("benches/instructions.csv", ("crates/ackclock-sim/src",), "make instructions"),
    Generated(
        "lab/src/data/papers.json", ("python/ackclock_papers", "papers"), "make lab-data", "test_lab.py"
    ),
    Generated("lab/src/data/paths.json", ("lab/paths.toml",), "make lab-data", "test_lab.py"),
    Generated("lab/src/data/predictions.json", ("python/ackclock/models",), "make lab-data"),
    Generated(
        "tests/verdicts.txt",
        ("python/ackclock_papers", "crates/ackclock-sim/src"),
        "UPDATE_VERDICTS=1 pytest tests/test_verdicts.py",
        "test_verdicts.py",
    ),
    Generated(
        "tests/digests.txt",
        ("crates/ackclock-sim/src", "scenarios"),
        "UPDATE_DIGESTS=1 cargo test -p ackclock-sim --test all digests",
        "digests.rs",
    ),
    Generated(
        "tests/satellites/cells.txt",
        ("python/ackclock_suites",),
        "UPDATE_CELLS=1 pytest tests/satellites/test_evaluation_identity.py",
        "satellites/test_evaluation_identity.py",
    ),
    Generated("docs/images/theory", ("python/ackclock/predictions", "python/ackclock/models"), "make docs"),
    Generated(
        "docs/images/adversaries/{name}.png", ("scenarios/found/{name}.toml",), "docs/make.py adversaries"
    ),
    Generated(
        "docs/images/contact-sheet.png", ("python/ackclock/draw", "lab/src/charts"), "make contact-sheet"
    ),
    Generated(
        "README.md",
        ("papers", "tests/data/ns2", "tests/data/linux", "docs/performance.md"),
        "docs/make.py readme",
        "test_readme.py",
    ),
    Generated("docs/images/answer.png", ("papers/fit/published",), "docs/make.py readme", "test_readme.py"),
    Generated("docs/images/growth.png", ("benches/growth.py", "crates/ackclock-sim/src"), "make bench"),
    Generated("docs/images/kernel-windows.png", ("benches/kernel.py",), "make bench-kernel"),
    Generated("docs/images/l4s-shares.png", ("benches/l4s.py",), "make bench-l4s"),
    Generated("docs/images/lab.png", ("lab/src/views", "lab/tests/pictures.test.ts"), "make lab-test"),
    Generated(
        "docs/images/lab-compare.png", ("lab/src/views", "lab/tests/pictures.test.ts"), "make lab-test"
    ),
    Generated("python/ackclock/draw/charts.js", ("lab/src/charts",), "make charts", "test_charts.py"),
    Generated(
        "papers/{name}/README.md", ("papers/{name}/published",), "docs/make.py papers", "test_papers_pages.py"
    ),
    Generated(
        "papers/{name}/published",
        ("python/ackclock_papers/{name}",),
        "make reproduction",
        "test_published.py",
    ),
    Generated(
        "python/ackclock_papers/{name}/inferred",
        ("python/ackclock_papers/{name}/paper.toml",),
        "make inference",
    ),
    Generated(
        "python/ackclock_evaluate/baselines.parquet",
        ("python/ackclock_suites", "python/ackclock_evaluate/cell.py"),
        "benches/baselines.py",
        "satellites/test_evaluation_baselines.py",
    ),
    Generated("python/ackclock_papers/{name}/ns2.csv", ("papers/ns2",), "make ns2", "test_ns2_claims.py"),
)
"""All generated files in the repository. `make site` makes the files that only the site shows."""


def expanded(root: Path = ROOT) -> Iterator[tuple[str, tuple[str, ...], Generated]]:
    """Yield each file or folder that is generated, with its sources."""
    for entry in GENERATED:
        before, mark, after = entry.files.partition("{name}")
        if not mark:
            yield entry.files, entry.sources, entry
            continue
        for path in sorted(root.glob(f"{before}*{after}")):
            place = path.relative_to(root).as_posix()
            name = re.fullmatch(rf"{re.escape(before)}(.+){re.escape(after)}", place)[1]
            yield place, tuple(source.replace("{name}", name) for source in entry.sources), entry


def _changed_s(path: str, root: Path) -> float:
    """Return when a path was last changed by a commit; a change that is not committed is the latest."""
    if _git(root, "status", "--porcelain", "--", path):
        return float("inf")
    return float(_git(root, "log", "-1", "--format=%ct", "--", path) or "-inf")


def _git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def stale(root: Path = ROOT) -> Iterator[str]:
    """Yield a line for each generated file that is older than one of its sources."""
    for place, sources, entry in expanded(root):
        made_s = _changed_s(place, root)
        later = [source for source in sources if _changed_s(source, root) > made_s]
        if later:
            test = f"; {entry.noticed_by} says whether that matters" if entry.noticed_by else ""
            yield f"{place} is older than {', '.join(later)}: {entry.command}{test}"


def main() -> None:
    """Print the lines; a reader that closes its pipe, such as `head`, has read enough."""
    try:
        for line in stale():
            print(line, flush=True)
    except BrokenPipeError:
        # Nothing more can be flushed at exit.
        sys.stdout = None


if __name__ == "__main__":
    main()
