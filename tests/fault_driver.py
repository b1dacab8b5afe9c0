"""Drives the store and the writers through faults of disk and clock, each seed in a fork of one process.

    LD_PRELOAD=faults.so python tests/fault_driver.py FOLDER FIRST COUNT

It prints a line of JSON with what the faults were and what came of them; a seed that breaks a promise is
reported with the promise and ends the program.
"""

import ctypes
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ackclock.engine import integrity, storage
from ackclock.errors import StorageError
from ackclock.runs import Answer, Store, recorded
from ackclock.runs import store as stores
from ackclock.sweeps import exports

KINDS = ("EIO", "ENOSPC", "ENOSPC from then on", "short", "kill before", "kill after", "kill halfway")
ANSWERS, RUNS, PARTS = 12, 3, 2
DONE, TOLD, BROKEN = 0, 3, 9
FAULTS = ctypes.CDLL(None)


def content(name: str) -> bytes:
    """Return the content of a file of this name, which differs from every other file."""
    return hashlib.sha256(name.encode()).hexdigest().encode() * 50


class FilesOfRun(SimpleNamespace):
    """As much of a run as `recorded.keep` needs."""

    def write(self, directory: Path, *, tables: bool) -> None:
        assert tables
        for name in ("summary.json", "windows.parquet"):
            storage.write(directory / name, content(f"{self.name} {name}"))


def work(home: Path, tell: Callable[[str], None]) -> int:
    """Do what verbs do, as far as it is not there yet; return how much of it."""
    count = 0
    with Store(home / ".cache").opened() as store:
        for number in range(ANSWERS):
            key = hashlib.sha256(str(number).encode()).hexdigest()[:32]
            known = store.get(key, remember=False)
            value = {"number": number, "text": content(key).decode()}
            assert known is None or known.value == value, "an answer was believed that was changed"
            if known is None:
                count += 1
                store.add(key, Answer(value, number))
                if number % 3 == 0:
                    store.commit()
                    tell(key)
        for number in range(RUNS):
            job: Any = SimpleNamespace(
                key=hashlib.sha256(f"run {number}".encode()).hexdigest()[:32], record=True
            )
            seal = recorded.seal_of(store, job)
            if seal is None or recorded.problem_of(store.directory, job, seal):
                count += 1
                run: Any = FilesOfRun(name=job.key)
                store.add(job.key, Answer(recorded.keep(store.directory, job, run)))
                store.commit()
                tell(job.key)
        count += parts(home, store)
    with storage.sealed_file(home / "page.html") as file:
        file.write_bytes(content("page"))
    with storage.new_directory(home / "result", force=True, is_result=lambda _: True) as directory:
        for name in ("numbers.parquet", "index.html"):
            storage.write(directory / name, content(name))
    return count


def parts(home: Path, store: Store) -> int:
    """Write the parts of a sweep that are missing, as `Exports` does."""
    count = 0
    dataset = home / "experiment=a"
    with storage.explained(dataset):
        dataset.mkdir(exist_ok=True)
    known = {part.number: part for part in exports.noted(store, "a")}
    for number in range(PARTS):
        if number not in known or exports.problem_of(dataset, known[number]):
            count += 1
            bytes_ = content(f"part {number}")
            storage.write_unsealed(dataset / exports.file_of(number), bytes_)
            digest = hashlib.sha256(bytes_).hexdigest()
            note = {"number": number, "runs": 1, "failed": 0, "sha256": digest, "sweep": "a"}
            store.write_note(f"sweep/a/{number:05}", note)
    return count


def state(home: Path) -> dict[str, object]:
    """Return all files by their names, and of the database its rows: its pages depend on its history."""
    files: dict[str, object] = {
        file.relative_to(home).as_posix(): file.read_bytes()
        for file in sorted(home.rglob("*"))
        if file.is_file() and not file.name.startswith("runs.sqlite")
    }
    with Store(home / ".cache").read_only() as store:
        rows = store._execute("SELECT kind, name, content, digest FROM rows ORDER BY kind, name")
    seal = home / ".cache" / "runs.sqlite"
    return files | {"rows": rows, "seal": integrity.problem_of_lone(seal)}


def different(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """Return the names of the entries that differ."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def forked(home: Path, number: int, kind: int, seed: int) -> tuple[int, set[str], str]:
    """Do the work in a fork with a fault; return its status, the committed keys, and its output."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        status = BROKEN
        try:
            os.dup2(writer, 2)
            stores.COMMIT_S = 0.0 if seed % 2 else 0.2
            FAULTS.faults_arm(str(home).encode(), ctypes.c_long(number), kind, ctypes.c_uint64(seed))
            count = work(home, lambda key: void(os.write(writer, f"kept {key}\n".encode())))
            FAULTS.faults_arm(b"/nowhere", ctypes.c_long(0), 0, ctypes.c_uint64(0)) if number else None
            os.write(writer, f"made {count} count {FAULTS.faults_counted()}\n".encode())
            status = DONE
        except StorageError as error:
            status = TOLD if "\n" not in str(error) else BROKEN
            os.write(writer, f"{error}\n".encode())
        except BaseException:
            os.write(writer, traceback.format_exc().encode())
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, errors="replace") as stream:  # noqa: PTH123
        output = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    keys = {line.split()[1] for line in output.splitlines() if line.startswith("kept ")}
    return status, keys, output


def void(_: object) -> None:
    """Drop a result."""


def tried(home: Path, seed: int, count: int, whole: dict[str, object]) -> str:
    """Try one seed, and return the fault in words; raise AssertionError if a promise is broken."""
    draw = random.Random(seed)  # noqa: S311
    number, kind = draw.randrange(1, count + 1), draw.randrange(len(KINDS))
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    if draw.random() < 0.3:
        # The second of two faults.
        forked(home, draw.randrange(1, count + 1), draw.randrange(len(KINDS)), seed + 1)
    status, kept, output = forked(home, number, kind, seed)
    assert status in (DONE, TOLD, -signal.SIGKILL), f"ended with {status}: {output}"
    if status == DONE:
        differing = different(state(home), whole)
        assert not differing, f"it said that all is done, with other {differing}"
    database = home / ".cache" / "runs.sqlite"
    if kept:
        with Store(database.parent).read_only() as store:
            names = {name for (name,) in store._execute("SELECT name FROM rows")}
        assert kept <= names, "a kept answer was lost"
    # A draft that is not locked yet may belong to a process that begins; after an hour it does not.
    for draft in home.rglob(".*.new"):
        os.utime(draft, (0, 0))
    status, _, output = forked(home, 0, 0, seed)
    assert status == DONE, f"the same command ended with {status}: {output}"
    differing = different(state(home), whole)
    assert not differing, f"the same command wrote other {differing}"
    status, _, output = forked(home, 0, 0, seed)
    assert (status, "made 0 " in output) == (DONE, True), f"something was not kept: {output}"
    return KINDS[kind]


def main() -> None:
    """Try seeds."""
    home, first, count = Path(sys.argv[1]) / "home", int(sys.argv[2]), int(sys.argv[3])
    home.mkdir(parents=True)
    status, _, output = forked(home, 0, 0, 0)
    assert status == DONE, output
    whole, operations = state(home), int(output.split()[-1])
    kinds: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            kinds[tried(home, seed, operations, whole)] += 1
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    print(json.dumps({"seeds": count, "operations": operations, "kinds": kinds}))


if __name__ == "__main__":
    main()
