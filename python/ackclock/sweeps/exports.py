"""The results of a sweep as Parquet files, one per part of the points.

A part has the runs of consecutive points. When all its points are done it is written as one file, whose
SHA-256 is noted in the store. So memory holds only the parts in progress, the files are the same wherever
and in whatever order the runs were made, and a file that is missing or changed is written again from the
store.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import engine
from ackclock.engine import carried, controls, integrity, parquet, storage
from ackclock.runs import progress, rows
from ackclock.runs.store import CACHE, Store
from ackclock.sweeps.plan import SCENARIO, Plan, Point

if TYPE_CHECKING:
    import polars as pl

RUNS_PER_PART = 1000
"""Approximate number of runs in one file."""
PLAN = "_plan-"
"""Prefix of the directory of the sweep file, its scenario and the files that they need. It is next to the
dataset, because Polars reads every file in a folder, and begins so that Arrow, which may read all of them,
takes it for none of the data."""
EXPERIMENT = "experiment="
"""Prefix of the directory of an experiment: the dataset is partitioned by it."""


@dataclass(frozen=True)
class Done:
    """A finished run, with one row per flow and none when it failed."""

    point: int
    run: int
    rows: list[rows.FlowRow]
    error: str | None = None


@dataclass(frozen=True)
class ExportedPart:
    """A part that was written, with the checksum of its file."""

    number: int
    runs: int
    failed: int
    """Number of the runs that have an error."""
    sha256: str
    sweep: str
    """Fingerprint of its sweep."""

    @property
    def file(self) -> str:
        """Name of its file in the directory of the experiment."""
        return file_of(self.number)


def file_of(number: int) -> str:
    """Return the name of the file of a part."""
    return f"part-{number:05}.parquet"


def _note(name: str) -> str:
    """Return the name of the note on a sweep; the notes on its parts begin with it and a slash."""
    return f"sweep/{name}"


def noted(store: Store, name: str) -> list[ExportedPart]:
    """Return the written parts of an experiment in the order of their numbers; the store must be open."""
    parts = (_part(record) for record in store.notes(f"{_note(name)}/").values())
    return [part for part in parts if part is not None]


def _part(record: Any) -> ExportedPart | None:
    """Return the note of a part; None for one that another program has written."""
    kinds = {"number": int, "runs": int, "failed": int, "sha256": str, "sweep": str}
    if not isinstance(record, dict) or record.keys() != kinds.keys():
        return None
    is_whole = all(isinstance(record[name], kind) for name, kind in kinds.items())
    return ExportedPart(**record) if is_whole else None


def problem_of(dataset: Path, part: ExportedPart) -> str | None:
    """Return the problem with the file of a part, if it is missing or was changed."""
    problem = integrity.problem_of_file(dataset, part.file, {part.file: part.sha256})
    return problem and f"{dataset}/{problem}"


def of_dataset(dataset: Path) -> list[ExportedPart]:
    """Return the parts of ``experiment=NAME`` noted in the store next to it; none for a lone copy."""
    with Store(dataset.parent / CACHE).read_only() as store:
        return noted(store, dataset.name.removeprefix(EXPERIMENT))


def problems_of(dataset: Path) -> list[str]:
    """Return one line for each file of an experiment that is missing or was changed."""
    parts = of_dataset(dataset)
    problems = [problem_of(dataset, part) for part in parts]
    # A copy without its store has only the checksums within its files.
    others = sorted({file.name for file in dataset.glob("part-*.parquet")} - {part.file for part in parts})
    problems += [
        problem and f"{dataset}/{problem}"
        for name in others
        if (problem := parquet.problem_of(dataset / name))
    ]
    return [problem for problem in problems if problem is not None]


def _fingerprint(plan: Plan) -> str:
    """Return a digest of everything that the results depend on."""
    settings = [point.settings for point in plan.points]
    own = controls.fingerprint(plan.controls)
    shape = [RUNS_PER_PART, asdict(plan.replication)]
    basis = [shape, list(rows.COLUMNS), engine.ENGINE, plan.scenario.digest, settings, own]
    return hashlib.sha256(json.dumps(basis).encode()).hexdigest()


class Exports:
    """The exported results of one plan in a dataset, which other experiments may share; the store is open."""

    def __init__(self, plan: Plan, directory: Path, store: Store) -> None:
        self.plan = plan
        self.dataset = directory / f"{EXPERIMENT}{plan.name}"
        self._store = store
        self._points = max(1, RUNS_PER_PART // plan.replication.least)
        self._sign = _fingerprint(plan)
        self._whole: dict[int, ExportedPart] = {}

    def claim(self, *, force: bool) -> None:
        """Claim the directory for this plan, and find the parts that are complete.

        With `force` the files of another sweep of this name are removed. Raises StorageError when the
        directory holds another sweep, or files that no sweep wrote.
        """
        with storage.explained(self.dataset):
            parts = noted(self._store, self.plan.name)
            if not self.dataset.exists() or not any(self.dataset.iterdir()):
                # The exported files were removed.
                self._store.drop_notes(f"{_note(self.plan.name)}/")
                parts = []
            elif force:
                # The cause of failures may have been removed.
                parts = [part for part in parts if not part.failed]
            if self.dataset.exists() and any(self.dataset.iterdir()) and not self._is_mine(parts):
                if not force:
                    raise storage.StorageError(
                        f"{self.dataset} holds another sweep (other file, scenario or version), "
                        "or its .cache is gone; --force replaces it, -o or another name keeps it"
                    )
                if self.dataset.exists():
                    shutil.rmtree(self.dataset)
                self._store.drop_notes(f"{_note(self.plan.name)}/")
                parts = []
            self._store.write_note(_note(self.plan.name), self._sign)
            self._store.commit()
            self.dataset.mkdir(parents=True, exist_ok=True)
            self._write_plan()
            self._check(parts)

    def _write_plan(self) -> None:
        """Write all that the sweep needs to be made again elsewhere, in a folder of its own."""
        whole = carried.of(self.plan.scenario, self.plan.controls)
        with storage.new_directory(self._plan_home, force=True, is_result=lambda _: True) as folder:
            text = json.dumps(whole.scenario.written(), indent=1) + "\n"
            storage.write(folder / SCENARIO, text.encode())
            storage.write_files(folder, whole.files)
            if self.plan.text:
                storage.write(folder / f"{self.plan.name}.toml", self.plan.text.encode())

    @property
    def _plan_home(self) -> Path:
        return self.dataset.with_name(f"{PLAN}{self.plan.name}")

    def _is_mine(self, parts: Sequence[ExportedPart]) -> bool:
        sign = self._store.note(_note(self.plan.name))
        if sign is None and parts and all(part.sweep == self._sign for part in parts):
            return True
        return bool(sign == self._sign)

    def _check(self, parts: Sequence[ExportedPart]) -> None:
        """Delete files that were changed, so that they are written again."""
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
                # The process may be killed between writing a part and its note.
                file.unlink()

    @property
    def _count(self) -> int:
        return -(-len(self.plan.points) // self._points)

    def parts(self) -> Iterator[tuple[int, tuple[Point, ...]]]:
        """Yield the numbers and points of the parts that are not complete yet."""
        for number, first in enumerate(range(0, len(self.plan.points), self._points)):
            if number not in self._whole:
                yield number, self.plan.points[first : first + self._points]

    def write(self, part: int, done: Sequence[Done]) -> None:
        """Write the file of a part from all its runs."""
        kinds = {parameter.name: parameter.kind for parameter in self.plan.parameters}
        content = parquet.sealed(rows.frame(self._rows(done), kinds))
        storage.write_unsealed(self._file(part), content)
        record = ExportedPart(
            number=part,
            runs=len(done),
            failed=sum(run.error is not None for run in done),
            sha256=hashlib.sha256(content).hexdigest(),
            sweep=self._sign,
        )
        self._store.write_note(f"{_note(self.plan.name)}/{part:05}", asdict(record))
        self._whole[part] = record

    def counts(self) -> tuple[int, int, int, str]:
        """Count the results in the files.

        Returns the numbers of runs, of runs with an error, and of points with the largest allowed number
        of runs, and the first error. Raises StorageError when the runs do not match the plan.
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
                f"{self.dataset} holds {total} runs of {whole} complete points, but the plan has "
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
        """Return the results of complete parts and of `done`, runs of other parts, if there are any."""
        import polars as pl

        kinds = {parameter.name: parameter.kind for parameter in self.plan.parameters}
        frames = [pl.scan_parquet(self._file(number), glob=False) for number in self._whole]
        if done:
            frames.append(rows.frame(self._rows(done), kinds).lazy())
        return pl.concat(frames, how="diagonal") if frames else None

    def _scanned(self) -> pl.LazyFrame:
        """Open the files; brackets in their names must not act as patterns."""
        import polars as pl

        files = sorted(self.dataset.glob("part-*.parquet"))
        return pl.concat([pl.scan_parquet(file, glob=False) for file in files])

    def _rows(self, done: Sequence[Done]) -> Iterator[rows.FlowRow]:
        for finished in done:
            shared: rows.FlowRow = {"point": finished.point, "run": finished.run, "error": finished.error}
            shared |= self.plan.points[finished.point].values
            yield from (shared | row for row in finished.rows or [{}])

    def _file(self, part: int) -> Path:
        return self.dataset / file_of(part)
