"""Records and directories with checksums, so that changes are detected.

A record is a JSON object on a line whose last member is a checksum of everything before it,
``{"slot": 3,"checksum":"0123456789abcdef"}``; readers that do not check it can ignore it.
A directory has the SHA-256 of each of its files in one such record. Nothing here is secret: it
detects damage by disks, power cuts and editors, but not by a program that updates the checksum.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ackclock.engine import disk, elsewhere
from ackclock.errors import StorageError

CHECKSUMS = disk.CHECKSUMS
SEAL = ".sha256"
"""The suffix that turns the name of a lone file into the name of its checksum."""
LONGEST_SEAL = 4096
CHANGED = "was changed or damaged"
# Created once, because sweeps seal a record for every run.
_encode = json.JSONEncoder(ensure_ascii=False).encode
_MEMBER = b',"checksum":"'
_DIGITS = 16
_SEAL = len(_MEMBER) + _DIGITS + len(b'"}')


Record = dict[str, Any]
"""The content of a line of JSON."""


class DamagedError(StorageError):
    """A result does not match its checksums, or has none."""


def _checksum(content: bytes) -> bytes:
    # A changed record passes with a probability of 2^-64.
    return hashlib.sha256(content).hexdigest()[:_DIGITS].encode()


def seal(record: Mapping[str, object]) -> bytes:
    """Return a record, not empty and without a key ``checksum``, as a line of JSON with its checksum."""
    content = _encode(record).encode()[:-1]
    return b'%s%s%s"}\n' % (content, _MEMBER, _checksum(content))


def unseal(line: bytes) -> Record | None:
    """Return the record of a line without its checksum; None if the line is not as `seal` wrote it."""
    content = line[:-_SEAL]
    if line[len(content) :] != b'%s%s"}' % (_MEMBER, _checksum(content)):
        return None
    try:
        record = elsewhere.parsed(content + b"}")
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


@dataclass(frozen=True)
class Line:
    """A line of a file of records."""

    number: int
    """Counts from 1."""
    byte: int
    """Offset of its first byte, from 0."""
    content: bytes
    """Without the line feed."""
    record: Record | None
    """Without the checksum; None if the line was changed or damaged."""


def lines(content: bytes | BinaryIO) -> Iterator[Line]:
    """Yield the lines of a file to which records were appended, up to one that is too long for a record.

    An incomplete record at the end, from a kill or a write in progress, is left out. A complete record
    without its line feed is not: its line feed was changed.
    """
    byte = 0
    # bytes.splitlines also splits at carriage returns; io splits only at line feeds.
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    longest = elsewhere.MOST_LISTED_BYTES
    for number, line in enumerate(iter(lambda: stream.readline(longest + 1), b""), 1):
        if len(line) > longest:
            yield Line(number, byte, line[:_SEAL], None)
            return
        ended = line.endswith(b"\n")
        start = line.find(_MEMBER)
        if ended or 0 <= start < len(line) - _SEAL:
            bare = line[:-1] if ended else line
            yield Line(number, byte, bare, unseal(bare) if ended else None)
        byte += len(line)


def seal_directory(directory: Path, names: Iterable[str] | None = None) -> None:
    """Write the checksums of the files of a directory into it; by default of all files at any depth."""
    every = directory.rglob("*") if names is None else (directory / name for name in names)
    digests = {
        file.relative_to(directory).as_posix(): of_file(file)
        for file in sorted(every)
        if file.is_file() and file != directory / CHECKSUMS
    }
    disk.write(directory / CHECKSUMS, seal({"sha256": digests}))


def problem_of(directory: Path, within: str = "") -> str | None:
    """Return what is wrong with a sealed directory as one line, or None.

    Only files whose names begin with `within` are checked.
    """
    try:
        every = listed(directory)
    except FileNotFoundError:
        return f"{CHECKSUMS} is missing, so changes of the other files cannot be detected"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if every is None:
        return f"{CHECKSUMS} {CHANGED}"
    wanted = [name for name in every if name.startswith(within)]
    if not wanted:
        return f"{within or directory.name} has no checksums"
    problems = (problem_of_file(directory, name, every) for name in wanted)
    return next(filter(None, problems), None)


def listed(directory: Path) -> dict[str, str] | None:
    """Return the SHA-256 of each file of a sealed directory; None when the list itself was changed."""
    content = elsewhere.read(directory / CHECKSUMS, elsewhere.MOST_LISTED_BYTES)
    record = unseal(content[:-1]) if content.endswith(b"\n") else None
    digests = None if record is None else record.get("sha256")
    if not isinstance(digests, dict) or not all(isinstance(digest, str) for digest in digests.values()):
        return None
    return digests


def problem_of_file(directory: Path, name: str, every: Mapping[str, str]) -> str | None:
    """Return what is wrong with one file of a sealed directory, or None; `every` is from `listed`."""
    try:
        same = of_file(elsewhere.below(directory, name)) == every[name]
    except FileNotFoundError:
        return f"{name} is missing"
    except OSError as error:
        return f"{name} cannot be read: {error.strerror or error}"
    return None if same else f"{name} {CHANGED}"


def check(directory: Path) -> None:
    """Raise `DamagedError` when a result was changed since it was written.

    The checksums are in the directory or, for a part of a result, in the directory above.
    """
    if not directory.is_dir():
        raise FileNotFoundError(2, "No such file or directory", str(directory))
    above = directory.parent if not (directory / CHECKSUMS).exists() else directory
    result = above if (above / CHECKSUMS).exists() else directory
    within = directory.relative_to(result).as_posix()
    problem = problem_of(result, "" if within == "." else f"{within}/")
    if problem is not None:
        raise DamagedError(f"{result}: {problem}; run the command again to replace the result")


def seal_of(file: Path) -> Path:
    """Return the name of the checksum of a file that belongs to no sealed directory."""
    return file.with_name(f"{file.name}{SEAL}")


def lone_seal(name: str, digests: Iterable[str]) -> bytes:
    """Return the content of a checksum, as ``sha256sum`` writes it.

    It has two lines while a file is replaced: the file is the old or the new one, whole.
    """
    return "".join(f"{digest}  {name}\n" for digest in dict.fromkeys(digests)).encode()


def problem_of_lone(file: Path) -> str | None:
    """Return what is wrong with a file that has a checksum of its own, or None."""
    seal = seal_of(file)
    try:
        content = elsewhere.read(seal, LONGEST_SEAL)
        digests = [line[:64].decode(errors="replace") for line in content.splitlines()[:2]]
        if content != lone_seal(file.name, digests) or not digests:
            return f"{seal.name} {CHANGED}"
        return None if of_file(file) in digests else f"{file.name} {CHANGED}"
    except FileNotFoundError:
        missing = file.name if seal.exists() else seal.name
        return f"{missing} is missing"
    except OSError as error:
        return f"{file.name} cannot be read: {error.strerror or error}"


def of_file(file: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with elsewhere.opened(file) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
