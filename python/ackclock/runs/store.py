"""The store: one SQLite database per folder of results, with every answer and the notes of verbs.

Only one process uses a store at a time, and only that process writes: threads, child processes and machines
of a cluster return answers. An answer is on disk at the latest `COMMIT_S` after it arrived, so a kill loses
only the runs in progress and the answers of that last moment; a power cut may lose a little more. Every row
has a digest. A row that does not match its digest is dropped and reported when the store is opened, so that
its run is repeated.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.engine import elsewhere, integrity, storage
from ackclock.engine.integrity import CHANGED
from ackclock.runs import database, progress
from ackclock.runs.jobs import Answer

CACHE = ".cache"
"""The folder of the database, and of recorded runs, in a folder of results."""
COMMIT_S = 0.2
"""Answers that arrive faster than this share a transaction."""
RULES_NOTE = "rules"
"""The note of the rules by which answers were measured."""
REMEMBERED = 50_000
"""Largest number of answers, read repeatedly, that stay in memory."""


class Store:
    """Answers and notes of one folder of results.

    Parameters
    ----------
    directory : Path
        Folder of the database; it need not exist.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / database.FILE
        self._connection: sqlite3.Connection | None = None
        self._doing = "write"
        self._lock = threading.RLock()
        self._recent: dict[str, Answer] = {}
        self._committed_s = time.monotonic()
        self._inode: tuple[int, int] | None = None

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Open the store for this process alone.

        Yields
        ------
        Store
            The store itself.

        Raises
        ------
        StorageError
            If another process uses it, or it cannot be read or written.
        """
        with storage.explained(self.file):
            self.directory.mkdir(parents=True, exist_ok=True)
        try:
            with self._explained():
                self._open()
            # Of a process that is killed the database is left without one.
            with storage.explained(self.file):
                integrity.seal_of(self.file).unlink(missing_ok=True)
            self._inode = self._named()
            try:
                yield self
            finally:
                self.commit()
                self._close()
                self._seal()
                self._stay()
        finally:
            self._close()
            self._inode = None

    def _close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _seal(self) -> None:
        """Write the checksum of the closed database: digests of rows do not cover the bytes between rows."""
        if self.file.is_file():
            digest = integrity.of_file(self.file)
            storage.write_unsealed(
                integrity.seal_of(self.file), integrity.lone_seal(self.file.name, [digest])
            )

    @contextmanager
    def read_only(self) -> Iterator[Store]:
        """Open the store only for reading, even in a folder that cannot be written.

        Yields
        ------
        Store
            The store itself; empty without a database.

        Raises
        ------
        BusyError
            If another process uses it.
        StorageError
            If it cannot be read.
        """
        self._doing = "read"
        if self.file.exists() and self.file.stat().st_size:
            with self._explained():
                self._connection = database.read_only(self.file)
                tables = self._connection.execute("SELECT name FROM sqlite_master").fetchall()
                if ("rows",) not in tables:
                    self._close()
        try:
            yield self
        finally:
            self._close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn an error of SQLite into one clear line."""
        try:
            yield
        except sqlite3.Error as error:
            if database.is_busy(error):
                directory = self.directory.parent if self.directory.name == CACHE else self.directory
                raise BusyError(
                    f"another process is using {directory}; wait for it, or choose another directory with -o"
                ) from None
            raise storage.StorageError(f"cannot {self._doing} {self.file}: {error}") from error

    def _open(self) -> None:
        if self.file.exists() and not self.file.stat().st_size:
            progress.say(f"{self.file} {CHANGED}: it is empty; its answers are computed again")
        try:
            self._connect()
            self._check()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # A message of SQLite that quotes damaged bytes cannot be decoded.
            if isinstance(error, sqlite3.Error) and not database.is_damage(error):
                raise
            self._close()
            self._salvage()
            self._connect()
        self._note_rules()

    def _note_rules(self) -> None:
        """Report answers of other rules; none of them is used, because their keys have another engine."""
        if self.note(RULES_NOTE) == engine.RULES:
            return
        if self._execute("SELECT 1 FROM rows WHERE kind = ? LIMIT 1", (database.ANSWER,)):
            progress.say(
                f"{self.file}: what it keeps was measured by other rules than today's; whatever is needed of "
                "it is made again"
            )
        self.write_note(RULES_NOTE, engine.RULES)

    def _connect(self) -> None:
        connection = sqlite3.connect(self.file, timeout=0, isolation_level=None, check_same_thread=False)
        self._connection = connection
        # The lock is held until the connection is closed, even by the end of the process.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        database.guard(connection, self.file.stat().st_size)
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            connection.execute(database.TABLE)
            connection.execute(f"PRAGMA application_id = {database.APPLICATION}")
            connection.execute(f"PRAGMA user_version = {database.VERSION}")
        elif version != database.VERSION:
            raise database.UnusableError
        connection.execute("COMMIT")

    def _check(self) -> None:
        """Report the rows that do not match their digests; raise `UnusableError` if there are any."""
        assert self._connection is not None  # noqa: S101
        changed = [
            (kind, name)
            for kind, name, content, digest in self._connection.execute(database.EVERY)
            if not database.is_whole(kind, name, content, digest)
        ]
        for kind, name in changed:
            progress.say(f"{self.file}: {database.shown(kind, name)} {CHANGED}; {database.again(kind)}")
        database.unbounded(self._connection)
        # An index that does not match the table would miss rows.
        if changed or self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise database.UnusableError

    def _salvage(self) -> None:
        """Write the rows that can be read, and match their digests, into a new database."""
        rows = dict(database.readable(self.file))
        aside = next(directory for directory in database.asides(self.file) if not directory.exists())
        self.file.replace(aside)
        self.file.with_name(f"{self.file.name}-journal").unlink(missing_ok=True)
        self._connect()
        assert self._connection is not None  # noqa: S101
        self._connection.execute("BEGIN EXCLUSIVE")
        self._connection.executemany(
            "INSERT INTO rows VALUES (?, ?, ?, ?)",
            [(*row, content, database.digest_of(*row, content)) for row, content in rows.items()],
        )
        self._connection.execute("COMMIT")
        self._close()
        progress.say(
            f"{self.file} {CHANGED}; {len(rows)} rows are kept, missing answers are computed again, and the "
            f"damaged file is {aside.name}"
        )

    def _execute(self, statement: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock, self._explained():
            if self._connection is None:
                return []
            if not statement.startswith("SELECT") and not self._connection.in_transaction:
                self._connection.execute("BEGIN")
            return self._connection.execute(statement, tuple(values)).fetchall()

    def commit(self) -> None:
        """Return once everything that was added survives the end of this process.

        Raises `StorageError` if the database was removed or replaced: its answers are lost.
        """
        with self._lock, self._explained():
            self._stay()
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("COMMIT")
                self._stay()
            self._committed_s = time.monotonic()

    def _named(self) -> tuple[int, int] | None:
        """Return the number of the file that has the name of the database, if there is one."""
        try:
            status = self.file.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _stay(self) -> None:
        """Raise `StorageError` if the name of the database belongs to another file than when it was opened.

        The lock of the database belongs to the file and not to its name.
        """
        if self._inode is not None and self._named() != self._inode:
            raise storage.StorageError(
                f"{self.file} was removed or replaced while this command was using it, and what it had kept "
                "is not there any more; run the same command again"
            )

    def settle(self) -> None:
        """Commit unless that was done a moment ago."""
        if time.monotonic() - self._committed_s >= COMMIT_S:
            self.commit()

    def _put(self, kind: str, name: str, record: object) -> None:
        content = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
        values = (kind, name, content, database.digest_of(kind, name, content))
        self._execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", values)
        self.settle()

    def _take(self, kind: str, name: str) -> Any:
        rows = self._execute("SELECT content, digest FROM rows WHERE kind = ? AND name = ?", (kind, name))
        content, digest = rows[0] if rows else (b"", b"")
        return _parsed(content) if database.is_whole(kind, name, content, digest) else None

    def get(self, key: str, *, remember: bool = True) -> Answer | None:
        """Return an answer.

        Parameters
        ----------
        key : str
            The `Job.key` of the answer.
        remember : bool
            Whether it stays in memory, because it will be needed again.

        Returns
        -------
        Answer or None
            None if there is no answer yet.
        """
        with self._lock:
            known = self._recent.get(key)
            if known is None:
                record = self._take(database.ANSWER, key)
                if record is None:
                    return None
                if not isinstance(record, dict) or not {"packets", "error"} <= record.keys():
                    # Its digest is right, so that another program has written it.
                    return None
                known = Answer(record.get("value"), record["packets"], record["error"])
                if remember:
                    self._remember(key, known)
        return known

    def _remember(self, key: str, answer: Answer) -> None:
        if len(self._recent) >= REMEMBERED:
            # Failures are not stored on disk, so they must stay in memory.
            self._recent = {name: kept for name, kept in self._recent.items() if kept.error}
        # A traceback would keep the run in memory.
        self._recent[key] = replace(answer, cause=None)

    def add(self, key: str, answer: Answer, *, failures: bool = False) -> None:
        """Keep an answer.

        Parameters
        ----------
        key : str
            The `Job.key` of the answer.
        answer : Answer
            The result of the job, with a value that JSON can hold.
        failures : bool
            Whether failures are kept, too, unless another attempt may succeed; otherwise a
            failure is remembered until this process ends, so that the next one tries again.
        """
        if not failures:
            with self._lock:
                self._remember(key, answer)
        if not answer.error or (failures and not answer.passing):
            record = {"value": answer.value, "packets": answer.packets, "error": answer.error}
            self._put(database.ANSWER, key, record)

    def note(self, name: str) -> Any:
        """Return the note of a verb under a name; None if there is none."""
        return self._take(database.NOTE, name)

    def write_note(self, name: str, record: object) -> None:
        """Write a JSON value as the note of this name, replacing an earlier one."""
        self._put(database.NOTE, name, record)

    def notes(self, prefix: str) -> dict[str, Any]:
        """Return all notes whose names begin with a prefix, in the order of their names."""
        rows = self._execute(
            "SELECT name, content, digest FROM rows WHERE kind = ? AND name >= ? AND name < ? ORDER BY name",
            (database.NOTE, prefix, f"{prefix}\U0010ffff"),
        )
        return {
            name: _parsed(content)
            for name, content, digest in rows
            if database.is_whole(database.NOTE, name, content, digest)
        }

    def drop_notes(self, prefix: str) -> None:
        """Forget all notes whose names begin with a prefix."""
        bounds = (database.NOTE, prefix, f"{prefix}\U0010ffff")
        self._execute("DELETE FROM rows WHERE kind = ? AND name >= ? AND name < ?", bounds)


def _parsed(content: bytes) -> Any:
    """Return the content of a row; None if another program has written it."""
    try:
        return elsewhere.parsed(content)
    except ValueError:
        return None


class BusyError(storage.StorageError):
    """Another process uses the store."""
