"""The verb that checks results for changes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from ackclock.cli import options
from ackclock.engine import elsewhere, integrity
from ackclock.names import printable
from ackclock.runs import database, store
from ackclock.sweeps import exports

MARKERS = (
    "summary.json",
    "verdicts.json",
    "answers.parquet",
    "artefact.json",
    "setting.json",
    "search.json",
    "records.json",
    "slots.parquet",
    "run-0000",
)
"""Files and folders that identify a result whose checksums are missing."""
PAGE = b'<meta name="generator" content="ackclock">'
"""A line at the beginning of every page of this project."""


@dataclass(frozen=True)
class Verified:
    """A result that was checked."""

    path: str
    """The directory, or the file of records."""
    kind: str
    """``directory``, ``file``, ``records``, ``store`` or ``sweep``."""
    count: int
    """Number of files or records with a checksum."""
    problems: tuple[str, ...]
    """One line for each file or record that has changed."""
    unlisted: tuple[str, ...] = ()
    """Files without a checksum, because something else wrote them."""


def results(directory: Path) -> Iterator[Verified]:
    """Check every result in a directory and below it, and yield them in the order of their names.

    A result is a directory with checksums, a file of records, a store, or the dataset of a sweep; it may
    have been copied from elsewhere. Raises OSError when the directory cannot be read.
    """
    covered: set[Path] = set()
    for path in sorted([directory, *directory.rglob("*")]):
        if path in covered:
            continue
        if path.name == database.FILE:
            count, problems = database.problems_of(path)
            if not integrity.seal_of(path).exists():
                problems.append("has no checksum, because its verb has not ended; run the command again")
            yield Verified(str(path), "store", count, tuple(problems))
        elif path.suffix == integrity.SEAL:
            yield _lone(path.with_suffix(""))
        elif path.suffix == ".jsonl":
            yield _records(path)
        elif path.is_file():
            if path.suffix == ".html" and _is_page(path) and not integrity.seal_of(path).exists():
                yield _lone(path)
        elif (path / integrity.CHECKSUMS).exists():
            verified, files = _directory(path)
            covered |= {above for file in files for above in (file, *file.parents)}
            yield verified
        elif any((path / name).exists() for name in MARKERS):
            missing = f"{integrity.CHECKSUMS} is missing, so changes cannot be detected"
            yield Verified(str(path), "directory", 0, (missing,))
        elif path.name.startswith("experiment="):
            yield _sweep(path)


def _lone(path: Path) -> Verified:
    """Check a file that has a checksum of its own next to it."""
    problem = integrity.problem_of_lone(path)
    return Verified(str(path), "file", 1, () if problem is None else (problem,))


def _is_page(path: Path) -> bool:
    try:
        with elsewhere.opened(path) as page:
            return PAGE in page.read(1000)
    except OSError:
        return False


def _directory(path: Path) -> tuple[Verified, list[Path]]:
    try:
        listed = integrity.listed(path)
        unread = f"{integrity.CHECKSUMS} {integrity.CHANGED}"
    except OSError as error:
        listed, unread = None, f"{integrity.CHECKSUMS} cannot be read: {error.strerror or error}"
    if listed is None:
        return Verified(str(path), "directory", 0, (unread,)), []
    problems = [problem for name in listed if (problem := integrity.problem_of_file(path, name, listed))]
    # Files that begin with a dot are for programs: kept runs have checksums of their own.
    names = {
        file.relative_to(path).as_posix()
        for file in path.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.parts)
    }
    lone = {name for name in names if name.endswith(integrity.SEAL) or f"{name}{integrity.SEAL}" in names}
    unlisted = tuple(sorted(names - {integrity.CHECKSUMS} - listed.keys() - lone))
    verified = Verified(str(path), "directory", len(listed), tuple(problems), unlisted)
    return verified, [path / name for name in listed if "\0" not in name]


def _records(path: Path) -> Verified:
    count, problems = 0, list[str]()
    try:
        with elsewhere.opened(path) as content:
            for line in integrity.lines(content):
                count += 1
                if line.record is None:
                    problems.append(f"line {line.number} (byte {line.byte}) {integrity.CHANGED}")
    except OSError as error:
        problems.append(f"cannot be read: {error.strerror or error}")
    if not count and not problems:
        problems.append("is empty: nothing in it has a checksum")
    return Verified(str(path), "records", count, tuple(problems))


def _sweep(path: Path) -> Verified:
    files = sorted(file.name for file in path.glob("part-*.parquet"))
    dataset = path.resolve()
    try:
        parts = exports.of_dataset(dataset)
    except store.BusyError as error:
        return Verified(str(path), "sweep", 0, (str(error),), tuple(files))
    unlisted = tuple(sorted(set(files) - {part.file for part in parts})) if parts else ()
    problems = [problem.removeprefix(f"{dataset}/") for problem in exports.problems_of(dataset)]
    if not files and not parts:
        problems.append("holds no part of a sweep")
    return Verified(
        str(path), "sweep", len({*files, *(part.file for part in parts)}), tuple(problems), unlisted
    )


@click.command()
@click.argument(
    "directory", type=options.PATH, metavar="DIR", help="A result, a folder of results, or a file."
)
@options.as_json
def verify(directory: Path, as_json: bool) -> None:
    """Check that results of any verb have not changed since they were written.

    Every file of a result has a checksum, and so has every line of a campaign or of kept numbers. A file
    outside a result, such as a picture or a page of a sweep, has its own: NAME.sha256. A result without its
    checksums is reported as a problem, because changes cannot be detected. Checksums detect errors of disks,
    copies and editors, but not changes by somebody who also rewrites the checksums.

    \b
    Exit status: 0 if nothing has changed, 1 if something has, 2 if the result is missing.

    \b
    Examples:
      ackclock verify results
      ackclock verify picture.png
      ackclock verify out --json
    """
    if not directory.is_dir() and not directory.is_file():
        raise click.BadParameter(f"{directory} is neither a directory nor a file", param_hint="DIR")
    checked = list(results(directory)) if directory.is_dir() else [_lone(directory)]
    if as_json:
        print(json.dumps([asdict(result) for result in checked]))
    if not checked:
        raise click.BadParameter(
            f"{directory} holds no result: there are no checksums in it", param_hint="DIR"
        )
    damaged = [result for result in checked if result.problems]
    if not as_json:
        for result in checked:
            for problem in result.problems:
                print(printable(f"{result.path}: {problem}"))
            if result.unlisted:
                more = f" and {len(result.unlisted) - 1} more" if len(result.unlisted) > 1 else ""
                print(printable(f"{result.path}: {result.unlisted[0]}{more}: not part of the result"))
        count = sum(result.count for result in checked)
        state = (
            f"{len(damaged)} of {len(checked)} results have problems"
            if damaged
            else "the result is unchanged"
            if len(checked) == 1
            else f"all {len(checked)} results are unchanged"
        )
        print(f"{state} ({count} files and records with checksums)")
    sys.exit(1 if damaged else 0)
