"""The verb that checks results."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from ackclock.cli import options
from ackclock.engine import integrity
from ackclock.runs import database, store
from ackclock.sweeps import exports

MARKERS = ("summary.json", "verdicts.json", "answers.parquet", "artefact.json", "setting.json")
"""Files by which a result is known that has lost its checksums."""


@dataclass(frozen=True)
class Verified:
    """A result that was looked at.

    Attributes
    ----------
    place : str
        The directory or the file of records.
    kind : str
        ``directory``, ``records``, ``store`` or ``sweep``.
    count : int
        Files or records with a checksum.
    problems : tuple of str
        What is not as it was written; empty when all is.
    unlisted : tuple of str
        Files in it that have no checksum, because something else wrote them.
    """

    place: str
    kind: str
    count: int
    problems: tuple[str, ...]
    unlisted: tuple[str, ...] = ()


def results(directory: Path) -> Iterator[Verified]:
    """Check every result in a directory and below it.

    Parameters
    ----------
    directory : Path
        A result, or a folder of results; also one that was copied from elsewhere.

    Yields
    ------
    Verified
        Directories with checksums, files of records, and datasets of sweeps, in the order of their
        names.

    Raises
    ------
    OSError
        When the directory cannot be read.
    """
    covered: set[Path] = set()
    for place in sorted([directory, *directory.rglob("*")]):
        if place in covered or not (
            place.is_dir() or place.suffix == ".jsonl" or place.name == database.FILE
        ):
            continue
        if place.name == database.FILE:
            count, problems = database.problems_of(place)
            yield Verified(str(place), "store", count, tuple(problems))
        elif place.is_file():
            yield _records(place)
        elif (place / integrity.CHECKSUMS).exists():
            found, files = _directory(place)
            covered |= {above for file in files for above in (file, *file.parents)}
            yield found
        elif any((place / name).exists() for name in MARKERS):
            missing = f"{integrity.CHECKSUMS} is missing, and nobody can tell what was written"
            yield Verified(str(place), "directory", 0, (missing,))
        elif place.name.startswith("experiment="):
            yield _sweep(place)


def _directory(place: Path) -> tuple[Verified, list[Path]]:
    listed = integrity.listed(place)
    if listed is None:
        problem = f"{integrity.CHECKSUMS} {integrity.CHANGED}"
        return Verified(str(place), "directory", 0, (problem,)), []
    problems = [one for name in listed if (one := integrity.problem_of_file(place, name, listed))]
    # What begins with a dot is for programs: kept runs have checksums of their own.
    names = {
        file.relative_to(place).as_posix()
        for file in place.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.parts)
    }
    unlisted = tuple(sorted(names - {integrity.CHECKSUMS} - listed.keys()))
    found = Verified(str(place), "directory", len(listed), tuple(problems), unlisted)
    return found, [place / name for name in listed]


def _records(place: Path) -> Verified:
    found = list(integrity.lines(place.read_bytes()))
    problems = tuple(
        f"line {line.number} (byte {line.byte}) {integrity.CHANGED}" for line in found if line.record is None
    )
    return Verified(str(place), "records", len(found), problems)


def _sweep(place: Path) -> Verified:
    files = sorted(file.name for file in place.glob("part-*.parquet"))
    dataset = place.resolve()
    try:
        parts = exports.of_dataset(dataset)
    except store.BusyError as error:
        return Verified(str(place), "sweep", 0, (str(error),), tuple(files))
    if not parts:
        place_of_notes = dataset.parent / store.CACHE / database.FILE
        missing = (
            f"{place_of_notes} notes nothing of it, and nobody can tell whether these parts are as written"
        )
        return Verified(str(place), "sweep", 0, (missing,), tuple(files))
    unlisted = tuple(sorted(set(files) - {part.file for part in parts}))
    return Verified(str(place), "sweep", len(parts), tuple(exports.problems_of(dataset)), unlisted)


@click.command()
@click.argument("directory", type=Path, metavar="DIR", help="A result, or a folder of results.")
@options.as_json
def verify(directory: Path, as_json: bool) -> None:
    """Check whether results are as they were written, whatever verb wrote them.

    Every file of a result has a checksum, as has every line of a campaign or of kept numbers. A
    result without its checksums is a problem: nobody can tell whether it was changed. Checksums
    find what disks, copies and editors did, not what somebody did who wrote them, too.

    \b
    Exit status: 0 all is as it was written, 1 something is not, 2 there is no result.

    \b
    Examples:
      ackclock verify results
      ackclock verify out --json
    """
    if not directory.is_dir():
        raise click.BadParameter(f"{directory} is not a directory", param_hint="DIR")
    found = list(results(directory))
    if as_json:
        print(json.dumps([asdict(one) for one in found]))
    if not found:
        raise click.BadParameter(
            f"{directory} holds no result: there are no checksums in it", param_hint="DIR"
        )
    damaged = [one for one in found if one.problems]
    if not as_json:
        for one in found:
            for problem in one.problems:
                print(f"{one.place}: {problem}")
            if one.unlisted:
                more = f" and {len(one.unlisted) - 1} more" if len(one.unlisted) > 1 else ""
                print(f"{one.place}: {one.unlisted[0]}{more}: not part of the result")
        count = sum(one.count for one in found)
        state = f"{len(damaged)} of {len(found)} are not" if damaged else f"all {len(found)} are"
        print(f"{state} as they were written ({count} files and records with checksums)")
    sys.exit(1 if damaged else 0)
