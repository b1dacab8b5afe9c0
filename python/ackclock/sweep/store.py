"""The results of a sweep on disk: whole parts as Parquet, unfinished ones as journals.

A part holds the runs of consecutive points. A finished run is one line of its part's journal; when
all its points are done, the part becomes one Parquet file, which is noted with its SHA-256, and the
journal goes. So a kill at any moment loses what was being simulated and nothing else, memory holds
the parts at work, and the files are the same whoever made the runs in whatever order. A power cut
may take the runs of the last second, too. Lines and files that are not as they were written are
found at the next start, and their runs are made again.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock import engine
from ackclock.engine import controls, integrity, storage
from ackclock.runs import progress
from ackclock.sweep import parts, rows
from ackclock.sweep.parts import Part
from ackclock.sweep.plan import Plan, Point
from ackclock.sweep.workers import Done

if TYPE_CHECKING:
    import polars as pl

RUNS_PER_PART = 1000
"""Runs in one file, about."""
SYNC_S = 1.0
"""What is older survives a power cut."""
FORMAT = f"records with checksums, parts of {RUNS_PER_PART} runs"


def _fingerprint(plan: Plan) -> str:
    """Give a digest of everything that the results depend on."""
    settings = [point.settings for point in plan.points]
    own = controls.fingerprint(plan.controls)
    words = [FORMAT, engine.ENGINE, plan.scenario.digest, settings, asdict(plan.replication), own]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


class Store:
    """Where the results of one plan go.

    Parameters
    ----------
    plan : Plan
        The sweep.
    directory : Path
        Dataset, which other experiments may share.
    """

    def __init__(self, plan: Plan, directory: Path) -> None:
        self.plan = plan
        self.dataset = directory / f"experiment={plan.name}"
        self._work = directory / parts.WORK / plan.name
        self._points = max(1, RUNS_PER_PART // plan.replication.least)
        self._sign = _fingerprint(plan)
        self._whole: dict[int, Part] = {}
        self._journals: dict[int, storage.Appended] = {}
        self._unsynced: set[int] = set()
        self._synced_s = time.monotonic()

    @contextmanager
    def opened(self, *, force: bool) -> Iterator[None]:
        """Claim the place for this plan, while no other process has it.

        Parameters
        ----------
        force : bool
            Throw away the results of another sweep of this name.

        Raises
        ------
        StorageError
            When another process is at work there, or the place holds another sweep.
        """
        with storage.explained(self.dataset):
            self._work.mkdir(parents=True, exist_ok=True)
            with (self._work.parent / f"{self.plan.name}.lock").open("w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise storage.StorageError(
                        f"another process is working on {self.dataset}; wait for it"
                    ) from None
                self._claim(force=force)
                self._check()
                try:
                    yield
                    self._sync()
                finally:
                    for journal in self._journals.values():
                        journal.close()
                    self._journals.clear()

    def _claim(self, *, force: bool) -> None:
        mine, place = {"sweep": self._sign}, self._work / "plan"
        if self._owner(place, force=force) != mine:
            if not force:
                raise storage.StorageError(
                    f"{self.dataset} holds another sweep (other file, scenario or version); "
                    "--force replaces it, -o or another name keeps it"
                )
            for directory in (self._work, self.dataset):
                if directory.exists():
                    shutil.rmtree(directory)
            self._work.mkdir()
        with storage.new_file(place) as file:
            storage.write(file, integrity.seal(mine))
        self.dataset.mkdir(exist_ok=True)

    def _owner(self, place: Path, *, force: bool) -> dict[str, str] | None:
        """Give what says whose the place is; None when it is not a sweep of this version."""
        mine = {"sweep": self._sign}
        try:
            content = place.read_bytes()
        except FileNotFoundError:
            return None if self.dataset.exists() else mine
        known = next((line.record for line in integrity.lines(content)), None)
        if known is None:
            # What was written before there were checksums is another version's.
            if len(content) == len(self._sign) and content.isalnum():
                return None
            noted, _ = parts.listed(self._work)
            if not noted or any(part.sweep != self._sign for part in noted):
                if force:
                    return None
                raise storage.StorageError(
                    f"{place} {integrity.CHANGED}, so that nobody knows whose results "
                    f"{self.dataset} holds; --force replaces them, -o or another name keeps them"
                )
            progress.say(f"{place} {integrity.CHANGED}; its parts tell that it is this sweep's")
            return mine
        return known

    def _check(self) -> None:
        """Find the parts that are whole, and let go what is not, so that it is made again."""
        noted, problems = parts.listed(self._work)
        for line in problems:
            progress.say(f"{line}; the part is made again")
        self._whole = {}
        for part in noted:
            problem = parts.problem_of(self.dataset, part)
            if part.sweep == self._sign and problem is None:
                self._whole[part.number] = part
            else:
                progress.say(f"{problem}; its {part.runs} runs are made again")
        known = {self._file(number): number for number in range(self._count)}
        for file in sorted(self.dataset.iterdir()):
            if file not in known and file.suffix == ".parquet":
                raise storage.StorageError(f"{file} is not part of this sweep; move it away")
            if file in known and known[file] not in self._whole:
                # A kill may come between a part and its note; then the journal still has its runs.
                file.unlink()
        # Without the beginning of a line that a kill left, which the next one would continue.
        parts.rewrite(self._work, list(self._whole.values()))

    @property
    def _count(self) -> int:
        return -(-len(self.plan.points) // self._points)

    def parts(self) -> Iterator[tuple[int, tuple[Point, ...]]]:
        """Give what is still to be done.

        Yields
        ------
        int, tuple of Point
            Numbers of parts that are not whole, and their points.
        """
        for number, first in enumerate(range(0, len(self.plan.points), self._points)):
            if number not in self._whole:
                yield number, self.plan.points[first : first + self._points]

    def finished(self, part: int) -> list[Done]:
        """Give the runs that an earlier process finished; a line cut short by its end is dropped.

        Parameters
        ----------
        part : int
            Its number.

        Returns
        -------
        list of Done
            As it wrote them; lines that were changed since are left out.
        """
        path = self._journal(part)
        if not path.exists():
            return []
        content = path.read_bytes()
        points = range(part * self._points, (part + 1) * self._points)
        done, kept = [], []
        for line in integrity.lines(content):
            try:
                one = None if line.record is None else Done(**line.record)
            except TypeError:
                # Of another version.
                one = None
            if one is not None and one.point in points:
                done.append(one)
                kept.append(line.content + b"\n")
            else:
                progress.say(
                    f"{path}: line {line.number} (byte {line.byte}) {integrity.CHANGED}; "
                    "its run is made again"
                )
        whole = b"".join(kept)
        if whole != content:
            with storage.new_file(path) as file:
                storage.write(file, whole)
        return done

    def add(self, part: int, done: Iterable[Done]) -> None:
        """Note finished runs.

        Parameters
        ----------
        part : int
            Where they belong.
        done : iterable of Done
            What came of them.
        """
        if part not in self._journals:
            self._journals[part] = storage.Appended(self._journal(part))
        # What the system has survives the end of this process.
        self._journals[part].add(b"".join(integrity.seal(vars(one)) for one in done))
        self._unsynced.add(part)
        if time.monotonic() - self._synced_s >= SYNC_S:
            self._sync()

    def _sync(self) -> None:
        for part in self._unsynced & self._journals.keys():
            self._journals[part].sync()
        self._unsynced.clear()
        self._synced_s = time.monotonic()

    def close(self, part: int, done: Sequence[Done]) -> None:
        """Make a whole part a file, and let its journal go.

        Parameters
        ----------
        part : int
            Its number.
        done : sequence of Done
            All its runs.
        """
        kinds = {one.name: one.kind for one in self.plan.parameters}
        table = rows.frame(self._rows(done), kinds)
        content = io.BytesIO()
        table.write_parquet(content, compression="zstd", compression_level=3)
        with storage.new_file(self._file(part)) as file:
            storage.write(file, content.getvalue())
        runs = Counter(one.point for one in done)
        made = Part(
            number=part,
            rows=table.height,
            runs=len(done),
            failed=sum(one.error is not None for one in done),
            at_most=sum(count == self.plan.replication.most for count in runs.values()),
            sha256=hashlib.sha256(content.getvalue()).hexdigest(),
            sweep=self._sign,
        )
        made.note(self._work)
        self._whole[part] = made
        if part in self._journals:
            self._journals.pop(part).close()
        self._journal(part).unlink(missing_ok=True)

    def counts(self) -> tuple[int, int, int]:
        """Count what the files hold.

        Returns
        -------
        int, int, int
            Runs, those with an error, and points that were run as often as is allowed.

        Raises
        ------
        StorageError
            When that is not what the plan asks for.
        """
        import polars as pl

        plan = self.plan
        runs = (
            pl.scan_parquet(self.dataset / "part-*.parquet")
            .select("point", "run", "error")
            .unique()
            .group_by("point")
            .agg(
                pl.len().alias("runs"),
                pl.col("run").max().alias("last"),
                pl.col("error").count().alias("failed"),
            )
            .collect()
        )
        least, most = plan.replication.least, plan.replication.most
        whole = runs.filter(
            pl.col("runs").is_between(least, most),
            pl.col("last") == pl.col("runs") - 1,
            pl.col("point").is_between(0, len(plan.points) - 1),
        ).height
        total, failed = int(runs["runs"].sum()), int(runs["failed"].sum())
        at_most = runs.filter(pl.col("runs") == most).height
        noted = self._whole.values()
        if (whole, runs.height) != (len(plan.points), len(plan.points)) or (total, failed) != (
            sum(part.runs for part in noted),
            sum(part.failed for part in noted),
        ):
            raise storage.StorageError(
                f"{self.dataset} holds {total} runs of {whole} whole points, and the plan has "
                f"{len(plan.points)} points; run the command again"
            )
        return total, failed, at_most if plan.replication.within else 0

    def so_far(self, done: Sequence[Done]) -> pl.LazyFrame | None:
        """Give the results of whole parts, and of some runs besides.

        Parameters
        ----------
        done : sequence of Done
            Runs of parts that are not whole yet.

        Returns
        -------
        polars.LazyFrame or None
            As the files have them; None when there is nothing.
        """
        import polars as pl

        kinds = {one.name: one.kind for one in self.plan.parameters}
        found = [pl.scan_parquet(self._file(number)) for number in self._whole]
        if done:
            found.append(rows.frame(self._rows(done), kinds).lazy())
        return pl.concat(found, how="diagonal") if found else None

    def _rows(self, done: Sequence[Done]) -> Iterator[rows.Row]:
        for one in done:
            shared: rows.Row = {"point": one.point, "run": one.run, "error": one.error}
            shared |= self.plan.points[one.point].values
            yield from (shared | row for row in one.rows or [{}])

    def _file(self, part: int) -> Path:
        return self.dataset / parts.file_of(part)

    def _journal(self, part: int) -> Path:
        return self._work / f"part-{part:05}.jsonl"
