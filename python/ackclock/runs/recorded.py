"""Recorded runs: directories of Parquet, each named by its job and sealed by a row of the store."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from ackclock import engine
from ackclock.engine import controls, integrity, storage
from ackclock.runs.jobs import Answer, Job
from ackclock.runs.store import Store


def is_worth_keeping(job: Job, run: engine.Run, fewest_packets: int) -> bool:
    """Return whether a run has enough packets to keep, or a control in Python, which is slower per packet."""
    return run.summary["packets_simulated"] >= fewest_packets or bool(controls.fingerprint(job.names))


def directory_of(cache: Path, job: Job) -> Path:
    """Return the directory of the run of a job, which need not exist."""
    return cache / job.key[:2] / job.key[2:]


def keep(cache: Path, job: Job, run: engine.Run) -> str:
    """Write a run completely or not at all; return its seal, the SHA-256 of its checksums."""
    directory = directory_of(cache, job)
    with storage.explained(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
    # Syncs would take 7 % of the time of thousands of short runs. A run that a power cut has damaged does not
    # match its checksums, and is simulated again.
    with storage.new_directory(directory, force=True, is_result=lambda _: True, synced=False) as directory:
        run.write(directory, tables=job.record)
    return seal(cache, job)


def seal(cache: Path, job: Job) -> str:
    """Return the seal of a run that is on disk."""
    return integrity.of_file(directory_of(cache, job) / integrity.CHECKSUMS)


def seal_of(store: Store, job: Job) -> str | None:
    """Return the seal of the run of a job, or None when none is kept."""
    answer = store.get(job.key)
    return None if answer is None or answer.error else str(answer.value)


def sealed(known: str, run: engine.Run) -> Answer:
    """Return the answer that the store keeps for a recorded run."""
    return Answer(known, run.summary["packets_simulated"])


def problem_of(cache: Path, job: Job, known: str | None) -> str | None:
    """Return what is wrong with a recorded run, or None; without its seal only its own checksums count."""
    directory = directory_of(cache, job)
    problem = integrity.problem_of(directory)
    if problem is None and known not in (None, seal(cache, job)):
        problem = f"{integrity.CHECKSUMS} {integrity.CHANGED}"
    return None if problem is None else f"{directory}: {problem}"


def read(cache: Path, job: Job) -> engine.Run:
    """Read a recorded run that was checked before."""
    return engine.Run.read(directory_of(cache, job), checked=False)


def files_of(job: Job, run: engine.Run) -> dict[str, bytes]:
    """Return the files of a run by their names, to send them to another process."""
    with tempfile.TemporaryDirectory() as name:
        run.write(Path(name), tables=job.record)
        files = (file for file in Path(name).rglob("*") if file.is_file())
        return {file.relative_to(name).as_posix(): file.read_bytes() for file in files}


def of_files(files: Mapping[str, bytes]) -> engine.Run:
    """Return the run in files that another process has sent."""
    with tempfile.TemporaryDirectory() as name:
        storage.write_files(Path(name), files)
        return engine.Run.read(Path(name), checked=False)
