"""The results of a sweep as people read them: a Parquet file per part of the points.

A part has the runs of consecutive points. When all its points are done it is written as one file, whose
SHA-256 is noted in the store. So memory holds the parts at work, the files are the same whoever made the
runs in whatever order, and a file that is missing or was changed is written again from the store.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock import engine
from ackclock.engine import controls, integrity, storage
from ackclock.runs import progress, rows
from ackclock.runs.store import CACHE, Store
from ackclock.sweeps.plan import Plan, Point

if TYPE_CHECKING:
    import polars as pl

RUNS_PER_PART = 1000
"""Runs in one file, about."""
EXPERIMENT = "experiment="
"""What the folder of an experiment begins with: the dataset is partitioned by it."""


@dataclass(frozen=True)
class Done:
    """What came of a run.

    Attributes
    ----------
    point, run : int
        Which.
    rows : list of dict
        One per flow; empty when it failed.
    error : str, optional
        What went wrong.
    """

    point: int
    run: int
    rows: list[rows.Row]
    error: str | None = None


@dataclass(frozen=True)
class Part:
    """A part that was written.

    Attributes
    ----------
    number : int
        Which.
    runs, failed : int
        Runs in it, and those of them with an error.
    sha256 : str
        Of its file.
    sweep : str
        Fingerprint of the sweep that it belongs to.
    """

    number: int
    runs: int
    failed: int
    sha256: str
    sweep: str

    @property
    def file(self) -> str:
        """Name of its file in the folder of the experiment."""
        return file_of(self.number)


def file_of(number: int) -> str:
    """Return the name of the file of a part."""
    return f"part-{number:05}.parquet"


def _note(name: str) -> str:
    """Return the name of the note on a sweep; those on its parts begin with it and a slash."""
    return f"sweep/{name}"


def noted(store: Store, name: str) -> list[Part]:
    """Return the parts of an experiment that were written.

    Parameters
    ----------
    store : Store
        It is open.
    name : str
        Name of the experiment.

    Returns
    -------
    list of Part
        In the order of their numbers.
    """
    return [Part(**record) for record in store.notes(f"{_note(name)}/").values()]


def problem_of(dataset: Path, part: Part) -> str | None:
    """Say what is wrong with the file of a part.

    Parameters
    ----------
    dataset : Path
        Directory of the file.
    part : Part
        What was noted when it was written.

    Returns
    -------
    str or None
        Such as ``".../part-00000.parquet is missing"``; None when it is as it was written.
    """
    file = dataset / part.file
    try:
        same = integrity.of_file(file) == part.sha256
    except FileNotFoundError:
        return f"{file} is missing"
    except OSError as error:
        return f"{file} cannot be read: {error.strerror or error}"
    return None if same else f"{file} {integrity.CHANGED}"


def of_dataset(dataset: Path) -> list[Part]:
    """Return the parts of an experiment as the store next to its dataset has noted them.

    Parameters
    ----------
    dataset : Path
        Directory ``experiment=NAME``; of one that was copied without the store nothing is noted.

    Returns
    -------
    list of Part
        In the order of their numbers.
    """
    with Store(dataset.parent / CACHE).read_only() as store:
        return noted(store, dataset.name.removeprefix(EXPERIMENT))


def problems_of(dataset: Path) -> list[str]:
    """Return one line for each file of an experiment that is missing or not as it was written."""
    problems = (problem_of(dataset, part) for part in of_dataset(dataset))
    return [problem for problem in problems if problem is not None]


def _fingerprint(plan: Plan) -> str:
    """Return a digest of everything that the results depend on."""
    settings = [point.settings for point in plan.points]
    own = controls.fingerprint(plan.controls)
    shape = [RUNS_PER_PART, asdict(plan.replication)]
    words = [shape, engine.ENGINE, plan.scenario.digest, settings, own]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


class Exports:
    """Where the results of one plan go.

    Parameters
    ----------
    plan : Plan
        The sweep.
    directory : Path
        Dataset, which other experiments may share.
    store : Store
        Where answers and notes are; it is open.
    """

    def __init__(self, plan: Plan, directory: Path, store: Store) -> None:
        self.plan = plan
        self.dataset = directory / f"{EXPERIMENT}{plan.name}"
        self._store = store
        self._points = max(1, RUNS_PER_PART // plan.replication.least)
        self._sign = _fingerprint(plan)
        self._whole: dict[int, Part] = {}

    def claim(self, *, force: bool) -> None:
        """Claim the place for this plan, and find the parts that are whole.

        Parameters
        ----------
        force : bool
            Throw away the files of another sweep of this name.

        Raises
        ------
        StorageError
            When the place holds another sweep, or files that no sweep wrote.
        """
        with storage.explained(self.dataset):
            parts = noted(self._store, self.plan.name)
            if not self.dataset.exists() or not any(self.dataset.iterdir()):
                # What there was is gone.
                self._store.drop_notes(f"{_note(self.plan.name)}/")
                parts = []
            elif force:
                # Failures may have had a cause that is gone.
                parts = [part for part in parts if not part.failed]
            if self.dataset.exists() and any(self.dataset.iterdir()) and not self._is_mine(parts):
                if not force:
                    raise storage.StorageError(
                        f"{self.dataset} holds another sweep (other file, scenario or version); "
                        "--force replaces it, -o or another name keeps it"
                    )
                if self.dataset.exists():
                    shutil.rmtree(self.dataset)
                self._store.drop_notes(f"{_note(self.plan.name)}/")
                parts = []
            self._store.write_note(_note(self.plan.name), self._sign)
            self._store.commit()
            self.dataset.mkdir(parents=True, exist_ok=True)
            self._check(parts)

    def _is_mine(self, parts: Sequence[Part]) -> bool:
        sign = self._store.note(_note(self.plan.name))
        if sign is None and parts and all(part.sweep == self._sign for part in parts):
            return True
        return bool(sign == self._sign)

    def _check(self, parts: Sequence[Part]) -> None:
        """Let the files go that are not as they were written, so that they are written again."""
        for part in parts:
            problem = problem_of(self.dataset, part)
            if part.sweep == self._sign and problem is None:
                self._whole[part.number] = part
            else:
                progress.say(f"{problem}; it is written again")
        known = {self._file(number): number for number in range(self._count)}
        for file in sorted(self.dataset.iterdir()):
            if file not in known and file.suffix == ".parquet":
                raise storage.StorageError(f"{file} is not part of this sweep; move it away")
            if file in known and known[file] not in self._whole:
                # A kill may come between a part and its note.
                file.unlink()

    @property
    def _count(self) -> int:
        return -(-len(self.plan.points) // self._points)

    def parts(self) -> Iterator[tuple[int, tuple[Point, ...]]]:
        """Yield the parts that are still to be done.

        Yields
        ------
        int, tuple of Point
            Numbers of parts that are not whole, and their points.
        """
        for number, first in enumerate(range(0, len(self.plan.points), self._points)):
            if number not in self._whole:
                yield number, self.plan.points[first : first + self._points]

    def write(self, part: int, done: Sequence[Done]) -> None:
        """Write the file of a part whose points are all done.

        Parameters
        ----------
        part : int
            Its number.
        done : sequence of Done
            All its runs.
        """
        kinds = {parameter.name: parameter.kind for parameter in self.plan.parameters}
        content = io.BytesIO()
        rows.frame(self._rows(done), kinds).write_parquet(content, compression="zstd", compression_level=3)
        with storage.new_file(self._file(part)) as file:
            storage.write(file, content.getvalue())
        record = Part(
            number=part,
            runs=len(done),
            failed=sum(run.error is not None for run in done),
            sha256=hashlib.sha256(content.getvalue()).hexdigest(),
            sweep=self._sign,
        )
        self._store.write_note(f"{_note(self.plan.name)}/{part:05}", asdict(record))
        self._whole[part] = record

    def counts(self) -> tuple[int, int, int, str]:
        """Count what the files hold.

        Returns
        -------
        int, int, int, str
            Runs, those with an error, points that were run as often as is allowed, and the first error.

        Raises
        ------
        StorageError
            When that is not what the plan asks for.
        """
        import polars as pl

        plan = self.plan
        runs = (
            self._scanned()
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
        whole_parts = self._whole.values()
        if (whole, runs.height) != (len(plan.points), len(plan.points)) or (total, failed) != (
            sum(part.runs for part in whole_parts),
            sum(part.failed for part in whole_parts),
        ):
            raise storage.StorageError(
                f"{self.dataset} holds {total} runs of {whole} whole points, and the plan has "
                f"{len(plan.points)} points; run the command again"
            )
        first = (
            self._scanned()
            .filter(pl.col("error").is_not_null())
            .sort("point", "run")
            .head(1)
            .collect()["error"]
        )
        return total, failed, at_most if plan.replication.within else 0, first.item() if failed else ""

    def so_far(self, done: Sequence[Done]) -> pl.LazyFrame | None:
        """Return the results of whole parts and of some other runs.

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

        kinds = {parameter.name: parameter.kind for parameter in self.plan.parameters}
        found = [pl.scan_parquet(self._file(number), glob=False) for number in self._whole]
        if done:
            found.append(rows.frame(self._rows(done), kinds).lazy())
        return pl.concat(found, how="diagonal") if found else None

    def _scanned(self) -> pl.LazyFrame:
        """Open the files; names with brackets are no patterns."""
        import polars as pl

        files = sorted(self.dataset.glob("part-*.parquet"))
        return pl.concat([pl.scan_parquet(file, glob=False) for file in files])

    def _rows(self, done: Sequence[Done]) -> Iterator[rows.Row]:
        for one in done:
            shared: rows.Row = {"point": one.point, "run": one.run, "error": one.error}
            shared |= self.plan.points[one.point].values
            yield from (shared | row for row in one.rows or [{}])

    def _file(self, part: int) -> Path:
        return self.dataset / file_of(part)
