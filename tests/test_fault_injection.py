"""A disk and a clock that fail by a seed: nothing is lost, and nothing that was changed is believed.

`faults.c` is the one seam, between the program and the C library, below Python and SQLite alike.
`ACKCLOCK_SEEDS=1000` tries more seeds, and `ACKCLOCK_FIRST_SEED` repeats one that failed.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from ackclock.cli import verify
from ackclock.engine import integrity, lab
from ackclock.runs import database
from conftest import COMMAND
from test_every_file import CALLS, FILES, SATELLITES

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
HERE = Path(__file__).parent
KINDS = 7
FIRST = int(os.environ.get("ACKCLOCK_FIRST_SEED", "0"))
VERBS = [name for name in CALLS if not (os.environ.get("ACKCLOCK_CORE") and name in SATELLITES)]


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library that makes the disk and the clock fail."""
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    compile_it = [
        "cc",
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Werror",
        "-o",
        library,
        HERE / "faults.c",
        "-ldl",
    ]
    subprocess.run(compile_it, check=True)
    return library


@pytest.fixture
def memory() -> Iterator[Path]:
    """Return a folder in memory, where there is one: syncs of a disk would take most of the time."""
    shared = Path("/dev/shm")  # noqa: S108
    home = tempfile.mkdtemp(dir=shared if os.access(shared, os.W_OK) else None)
    yield Path(home)
    shutil.rmtree(home)


def drive(faults: Path, home: Path, first: int, count: int) -> dict[str, int]:
    """Try seeds of faults, and return how often each kind was met."""
    command = [sys.executable, str(HERE / "fault_driver.py"), str(home / str(first)), str(first), str(count)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"LD_PRELOAD": str(faults)}
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["seeds"] == count
    # Twelve answers, three kept runs, two parts, a page and a directory, each with its syncs and names.
    assert record["operations"] > 100
    kinds: dict[str, int] = record["kinds"]
    return kinds


def test_seeds_of_faults_lose_nothing_and_nothing_changed_is_believed(faults: Path, memory: Path) -> None:
    drive(faults, memory, FIRST, int(os.environ.get("ACKCLOCK_SEEDS", "30")))


@pytest.mark.long
def test_a_thousand_seeds_meet_every_kind_of_fault(faults: Path, memory: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        halves = pool.map(lambda first: drive(faults, memory, first, 500), (FIRST, FIRST + 500))
        assert [len(kinds) for kinds in halves] == [KINDS, KINDS]


def contents(place: Path) -> dict[str, bytes]:
    """Return what verbs have written; of the databases the rows, whose digests verify compares, suffice."""
    return {
        file.relative_to(place).as_posix(): file.read_bytes()
        for file in sorted(place.rglob("*"))
        if file.is_file() and ".cache" not in file.parts and not file.name.endswith(".new")
    }


@pytest.mark.long
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_on_a_failing_disk_gets_there_by_the_same_command(
    name: str, faults: Path, memory: Path, tmp_path: Path
) -> None:
    if name == "lab" and lab.page() is None:
        pytest.skip("the page was not built")
    *before, last = CALLS[name]
    words = [word for word in last if word != "--live"]
    counted = tmp_path / "count"

    def prepare(place: Path) -> None:
        place.mkdir()
        for file, text in FILES.items():
            (place / file).write_text(text)
        for earlier in before:
            subprocess.run([*COMMAND, *earlier], cwd=place, capture_output=True, check=True)

    def run(place: Path, number: int, kind: int, seed: int) -> subprocess.CompletedProcess[str]:
        armed = {"ACKCLOCK_FAULTS": f"{number},{kind},{seed},{place}/", "ACKCLOCK_FAULTS_COUNT": str(counted)}
        # A fault after the last step, or in a step that may fail, leaves a whole result.
        whole = {"simulate": place / "out", "pack": integrity.seal_of(place / "out.zip")}.get(words[0])
        exists = whole is not None and whole.exists()
        more = ["--force"] if exists and not number else []
        command = [*COMMAND, *words, *more]
        return subprocess.run(
            command,
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
            # So that a verb that waits for ever fails, and does not stop all tests.
            timeout=300,
            env=os.environ | {"LD_PRELOAD": str(faults)} | armed,
        )

    # Pages name the folder and the command, so all have the same.
    place = memory / "work"
    prepare(place)
    undisturbed = run(place, 0, 0, 0)
    assert undisturbed.returncode == 0, undisturbed.stderr
    # Other processes that it has started count for themselves.
    operations = max(map(int, counted.read_text().split()))
    assert operations > 10
    whole = contents(place)
    draw = random.Random(f"{FIRST} {name}")  # noqa: S311
    for seed in range(FIRST, FIRST + int(os.environ.get("ACKCLOCK_VERB_SEEDS", "4"))):
        shutil.rmtree(place)
        prepare(place)
        number, kind = draw.randrange(1, operations + 1), draw.randrange(KINDS)
        done = run(place, number, kind, seed)
        about = (seed, number, kind, done.stderr)
        assert done.returncode in (0, 1, -signal.SIGKILL), about
        assert "Traceback" not in done.stderr, about
        again = run(place, 0, 0, 0)
        assert again.returncode == 0, (about, again.stderr)
        assert contents(place) == whole, about
        # A page from before the fault has the same numbers, and all kept files are whole.
        assert not [result for result in verify.results(place) if result.problems], about
        for store in place.rglob(database.FILE):
            with closing(database.read_only(store)) as connection:
                rows = connection.execute(database.EVERY).fetchall()
            assert all(database.is_whole(*row) for row in rows), about
