"""The results of a sweep on disk: whole parts as Parquet, unfinished ones as journals.

A part holds the runs of consecutive points. A finished run is one line of its part's journal; when
all its points are done, the part becomes one Parquet file and the journal goes. So a kill at any
moment loses what was being simulated and nothing else, memory holds the parts at work, and the
files are the same whoever made the runs in whatever order.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

from ackclock import engine
from ackclock.engine import controls, storage
from ackclock.sweep import rows
from ackclock.sweep.plan import Plan, Point
from ackclock.sweep.workers import Done

RUNS_PER_PART = 1000
"""Runs in one file, about."""


def _fingerprint(plan: Plan) -> str:
    """Give a digest of everything that the results depend on."""
    settings = [point.settings for point in plan.points]
    own = controls.fingerprint(plan.controls)
    words = [engine.ENGINE, plan.scenario.digest, settings, asdict(plan.replication), own]
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
        self._work = directory / ".sweeps" / plan.name
        self._points = max(1, RUNS_PER_PART // plan.replication.least)
        self._journals: dict[int, IO[str]] = {}

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
                try:
                    yield
                finally:
                    for journal in self._journals.values():
                        journal.close()
                    self._journals.clear()

    def _claim(self, *, force: bool) -> None:
        mine, sign = _fingerprint(self.plan), self._work / "plan"
        try:
            theirs = sign.read_text("ascii")
        except FileNotFoundError:
            theirs = "" if self.dataset.exists() else mine
        if theirs != mine:
            if not force:
                raise storage.StorageError(
                    f"{self.dataset} holds another sweep (other file, scenario or version); "
                    "--force replaces it, -o or another name keeps it"
                )
            for place in (self._work, self.dataset):
                if place.exists():
                    shutil.rmtree(place)
            self._work.mkdir()
        with storage.new_file(sign) as file:
            file.write_text(mine, "ascii")
        self.dataset.mkdir(exist_ok=True)

    def parts(self) -> Iterator[tuple[int, tuple[Point, ...]]]:
        """Give what is still to be done.

        Yields
        ------
        int, tuple of Point
            Numbers of parts that are not whole, and their points.
        """
        for number, first in enumerate(range(0, len(self.plan.points), self._points)):
            if not self._file(number).exists():
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
            As it wrote them.
        """
        path = self._journal(part)
        if not path.exists():
            return []
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with path.open("r+b") as file:
                file.truncate(len(whole))
        return [Done(**json.loads(line)) for line in whole.splitlines()]

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
            self._journals[part] = self._journal(part).open("a", encoding="utf-8")
        journal = self._journals[part]
        journal.writelines(json.dumps(vars(one), ensure_ascii=False) + "\n" for one in done)
        # What the system has survives the end of this process.
        journal.flush()

    def close(self, part: int, done: Iterable[Done]) -> None:
        """Make a whole part a file, and let its journal go.

        Parameters
        ----------
        part : int
            Its number.
        done : iterable of Done
            All its runs.
        """
        kinds = {one.name: one.kind for one in self.plan.parameters}
        table = rows.frame(self._rows(done), kinds)
        with storage.new_file(self._file(part)) as file:
            table.write_parquet(file, compression="zstd", compression_level=3)
        if part in self._journals:
            self._journals.pop(part).close()
        self._journal(part).unlink(missing_ok=True)

    def counts(self) -> tuple[int, int, int]:
        """Count what the files hold.

        Returns
        -------
        int, int, int
            Runs, those with an error, and points that were run as often as is allowed.
        """
        import polars as pl

        runs = (
            pl.scan_parquet(self.dataset / "part-*.parquet")
            .select("point", "run", "error")
            .unique()
            .group_by("point")
            .agg(pl.len().alias("runs"), pl.col("error").count().alias("failed"))
            .collect()
        )
        replication = self.plan.replication
        at_most = runs.filter(pl.col("runs") == replication.most).height
        total = (int(runs["runs"].sum()), int(runs["failed"].sum()))
        return *total, at_most if replication.within else 0

    def _rows(self, done: Iterable[Done]) -> Iterator[rows.Row]:
        for one in done:
            shared: rows.Row = {"point": one.point, "run": one.run, "error": one.error}
            shared |= self.plan.points[one.point].values
            yield from (shared | row for row in one.rows or [{}])

    def _file(self, part: int) -> Path:
        return self.dataset / f"part-{part:05}.parquet"

    def _journal(self, part: int) -> Path:
        return self._work / f"part-{part:05}.jsonl"
