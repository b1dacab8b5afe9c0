"""The format of the store's database: rows with digests, and the recovery of rows from a damaged file."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ackclock.engine import storage
from ackclock.engine.integrity import CHANGED

FILE = "runs.sqlite"
APPLICATION = 0x41434B43
"""Identifies the file in `file` and SQLite: the letters ACKC."""
VERSION = 1
"""Format of the rows. A database of another version is set aside, and none of its rows are kept."""
ANSWER, NOTE = "answer", "note"
TABLE = (
    "CREATE TABLE rows (kind TEXT NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL, digest BLOB NOT NULL, "
    "PRIMARY KEY (kind, name))"
)
"""Rows are appended and only the index is written in random order, because names are digests."""
SCHEMA = [("index", "sqlite_autoindex_rows_1", None), ("table", "rows", TABLE)]
"""All that a database holds, by its names in reverse order."""
DAMAGE = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_TOOBIG,
)
"""Results of SQLite for a database that another program has changed."""
LONGEST_BYTES = 1 << 28
"""The longest row has so many bytes."""
STEPS, EVERY_STEPS = 10_000_000, 10_000
"""Steps of SQLite's machine that every database may take, and after how many they are counted."""
EVERY = "SELECT kind, name, content, digest FROM rows"


def digest_of(kind: str, name: str, content: bytes) -> bytes:
    """Return the digest of a row."""
    # A row of another format does not match.
    return hashlib.sha256(f"{VERSION} {kind} {name}\n".encode() + content).digest()[:16]


class UnusableError(sqlite3.DatabaseError):
    """The database cannot be used as it is."""


def asides(file: Path) -> Iterator[Path]:
    """Yield names for damaged databases."""
    yield file.with_suffix(".damaged")
    yield from (file.with_suffix(f".damaged-{number}") for number in itertools.count(2))


def _code(error: sqlite3.Error) -> int:
    """Return the primary result code; errors of the module itself have none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another process uses the database."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether an error means that the database is damaged, and not only busy."""
    return _code(error) in DAMAGE


def is_whole(kind: object, name: object, content: object, digest: object) -> bool:
    """Return whether a row matches its digest."""
    if not (isinstance(kind, str) and isinstance(name, str) and isinstance(content, bytes)):
        return False
    return digest_of(kind, name, content) == digest


def shown(kind: object, name: object) -> str:
    """Return the name of a row in messages."""
    return f"the {kind if kind in (ANSWER, NOTE) else 'row'} {str(name)[:64]!r}"


def again(kind: object) -> str:
    """Return the consequence of a lost row in words."""
    return "its run is repeated" if kind == ANSWER else "the results that depend on it are computed again"


def readable(file: Path) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Yield the rows of a database that can be read and match their digests, from both of its ends."""
    with tempfile.TemporaryDirectory() as folder:
        patched = Path(folder) / FILE
        for source, order in itertools.product((file, patched), ("", " ORDER BY rowid DESC")):
            if source is patched and not patched.exists():
                _patch(file, patched)
            yield from _readable_in(source, order)


def _patch(file: Path, patched: Path) -> None:
    """Copy a database with the first page of a new one: its table always begins at the same place."""
    with contextlib.closing(sqlite3.connect(patched)) as connection:
        connection.execute(TABLE)
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    first = bytearray(patched.read_bytes()[:size])
    rest = file.read_bytes()[size:]
    # The number of pages, by the format of the file: https://sqlite.org/fileformat2.html, section 1.3.
    first[28:32] = (1 + len(rest) // size).to_bytes(4, "big")
    storage.write(patched, bytes(first) + rest)


def _readable_in(file: Path, order: str) -> Iterator[tuple[tuple[str, str], bytes]]:
    damage = (sqlite3.Error, UnicodeDecodeError)
    with contextlib.suppress(*damage), contextlib.closing(read_only(file)) as connection:
        # Bytes that are not valid text belong to changed rows.
        connection.text_factory = lambda content: content.decode(errors="replace")
        for kind, name, content, digest in connection.execute(f"{EVERY}{order}"):
            if is_whole(kind, name, content, digest):
                yield (kind, name), content


def guard(connection: sqlite3.Connection, size_bytes: int) -> None:
    """Refuse a database with content that this project did not write, and bound the cost of reading it.

    Raises `UnusableError` if there is anything but the table of rows.
    """
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_BYTES)
    # Pages that lead back to themselves would be read for ever; a row takes some ten steps and forty bytes.
    left = STEPS + size_bytes

    def look() -> bool:
        nonlocal left
        left -= EVERY_STEPS
        return left < 0

    connection.set_progress_handler(look, EVERY_STEPS)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    tables = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name DESC").fetchmany(3)
    if tables not in ([], SCHEMA):
        raise UnusableError("it has other tables than those of a store")


def unbounded(connection: sqlite3.Connection) -> None:
    """End the bound on the steps, for the own work after a database was read."""
    connection.set_progress_handler(None, 0)


def read_only(file: Path) -> sqlite3.Connection:
    """Open a database to read, even one that cannot be written; raise sqlite3.Error for another file."""
    # It is not opened for this: closing a file releases all locks that this process has on it.
    if not file.is_file():
        raise UnusableError("it is not a regular file")
    # An unfinished transaction of a killed process is rolled back when a writable file is opened; a file that
    # cannot be written needs no lock.
    mode = "mode=rw" if os.access(file.parent, os.W_OK) else "mode=ro&immutable=1"
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?{mode}", uri=True, timeout=0)
    try:
        guard(connection, file.stat().st_size)
    except BaseException:
        connection.close()
        raise
    return connection


def problems_of(file: Path) -> tuple[int, list[str]]:
    """Return the number of rows of an unused database, and a line for each row that was changed.

    The database is not changed, and its folder need not be writable.
    """
    count, problems = 0, list[str]()
    try:
        with contextlib.closing(read_only(file)) as connection:
            connection.text_factory = lambda content: content.decode(errors="replace")
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                problems.append(f"{CHANGED}: {' '.join(verdict.split())}")
            for kind, name, content, digest in connection.execute(EVERY):
                count += 1
                if not is_whole(kind, name, content, digest):
                    problems.append(f"{shown(kind, name)} {CHANGED}")
    except sqlite3.Error as error:
        problems.append("is used by another process" if is_busy(error) else f"{CHANGED}: {error}")
    except UnicodeDecodeError:
        problems.append(f"{CHANGED}: SQLite quotes bytes of it that are not text")
    return count, problems
