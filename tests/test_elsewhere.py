"""Results from elsewhere: whatever a folder holds, each verb that reads it ends with one printable line."""

import json
import os
import random
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ackclock.engine import elsewhere, integrity
from ackclock.runs import database
from conftest import BOTTLENECK, Finished

PATH = f"""
[run]
duration = "500 ms"
{BOTTLENECK}
[[flow]]
controller = "reno"
rtt = "20 ms"
"""


def seal(place: Path, digests: object) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / "checksums.json").write_bytes(integrity.seal({"sha256": digests}))


def store(place: Path, *statements: str) -> None:
    (place / ".cache").mkdir(parents=True)
    with closing(sqlite3.connect(place / ".cache" / database.FILE)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def _pipe(place: Path) -> None:
    place.mkdir()
    os.mkfifo(place / "data")
    seal(place, {"data": "0" * 64})


def _link(place: Path) -> None:
    place.mkdir()
    (place / "checksums.json").symlink_to("/dev/zero")


def _link_out(place: Path) -> None:
    seal(place, {"data": integrity.of_file(Path("/etc/passwd"))})
    (place / "data").symlink_to("/etc/passwd")


def _sparse(name: str, size_bytes: int) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        place.mkdir()
        with (place / name).open("wb") as file:
            file.truncate(size_bytes)

    return make


def _pipes_of_every_name(place: Path) -> None:
    for name in (
        "x.jsonl",
        "x.html",
        "x.html.sha256",
        "experiment=x/part-00000.parquet",
        ".cache/runs.sqlite",
    ):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(place / name)


def _odd_name(place: Path) -> None:
    name = "\x1b[2J\u202e"
    seal(place, {"\x1b[31m": "0" * 64})
    (place / name).write_text("")
    (place / f"{name}.sha256").write_text("")


ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'answer', i, x'00', x'00' FROM n"
)
HOSTILE: dict[str, Callable[[Path], None]] = {
    "a device": lambda place: seal(place, {"/dev/zero": "0" * 64}),
    "a device below": lambda place: seal(place, {"../" * 20 + "dev/zero": "0" * 64}),
    "a pipe": _pipe,
    "a link to a device": _link,
    "a link out of the folder": _link_out,
    "a file elsewhere": lambda place: seal(
        place, {"../" * 20 + "etc/passwd": integrity.of_file(Path("/etc/passwd"))}
    ),
    "a view without end": lambda place: store(
        place, f"CREATE VIEW rows (kind, name, content, digest) AS {ENDLESS}"
    ),
    "a large row": lambda place: store(
        place, database.TABLE, "INSERT INTO rows VALUES ('answer', 'x', zeroblob(300000000), x'00')"
    ),
    "a trigger": lambda place: store(
        place, database.TABLE, "CREATE TRIGGER t AFTER INSERT ON rows BEGIN SELECT 1; END"
    ),
    "large records": _sparse("x.jsonl", 20 << 30),
    "a large list": _sparse("checksums.json", 20 << 30),
    "a large part": _sparse("part-00000.parquet", 20 << 30),
    "no list": lambda place: (
        place.mkdir(),
        (place / "checksums.json").write_bytes(integrity.seal({"x": 1})),
    )[0],
    "a list": lambda place: seal(place, ["data"]),
    "a number": lambda place: seal(place, 7),
    "numbers for digests": lambda place: seal(place, {"data": 7}),
    "a name with a zero": lambda place: seal(place, {"da\0ta": "0" * 64}),
    "a long name": lambda place: seal(place, {"a" * 5000: "0" * 64}),
    "names that a terminal obeys": _odd_name,
    "pipes of every name": _pipes_of_every_name,
}


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Let nothing hang or use up the memory: both end the test."""
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, limits)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_folder_is_reported_in_printable_lines(
    kind: str, tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    HOSTILE[kind](tmp_path / "out")
    done = ackclock_here("verify", "out")
    if kind == "a large part":
        # Nothing identifies the folder as a dataset.
        assert (done.returncode, "holds no result" in done.stderr) == (2, True)
    else:
        assert done.returncode == 1, (done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
    for line in (done.stdout + done.stderr).splitlines():
        assert line.isprintable(), line
    for words in (("diff", "out", "out"), ("plot", "out", "--x", "p", "--y", "goodput")):
        done = ackclock_here(*words)
        assert done.returncode in (1, 2)
        assert [line.isprintable() for line in done.stderr.splitlines()] == [True]


def test_a_sweep_next_to_a_hostile_store_ends_with_its_numbers(
    tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    (tmp_path / "path.toml").write_text(PATH)
    (tmp_path / "s.toml").write_text('scenario = "path.toml"\n[runs]\ncount = 1\n')
    store(tmp_path / "out", f"CREATE VIEW rows (kind, name, content, digest) AS {ENDLESS}")
    done = ackclock_here("sweep", "s.toml", "-o", "out")
    assert (done.returncode, "the damaged file is runs.damaged" in done.stderr) == (0, True), done.stderr
    assert ackclock_here("sweep", "s.toml", "-o", "out").stderr == ""


def sealed_results(place: Path, run: Callable[..., Finished]) -> dict[str, bytes]:
    """Make a result, and return its files."""
    (place / "path.toml").write_text(PATH)
    run("simulate", "path.toml", "-o", "out", "--quiet", "--csv")
    return {
        file.name: file.read_bytes()
        for file in sorted((place / "out").iterdir())
        if file.name not in ("checksums.json", "index.html")
    }


def _odd(value: object, draw: random.Random) -> object:
    """Replace a part of a JSON value."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        key = draw.choice([*value])
        return {**value, key: _odd(value[key], draw)} if draw.random() < 0.8 else {"x": value[key]}
    if isinstance(value, list) and value and draw.random() < 0.8:
        index = draw.randrange(len(value))
        return [*value[:index], _odd(value[index], draw), *value[index + 1 :]]
    return draw.choice([None, [], {}, "\x1b[2J", 1e308, -1, True, [[]], "x" * 100])


def _deep(content: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(content))
    return content[:at] + b"[" * 200_000 + content[at:]


def _cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def _bytes(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice([1, 3, 30])):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _meaning(content: bytes, draw: random.Random) -> bytes:
    try:
        return json.dumps(_odd(json.loads(content), draw)).encode()
    except ValueError:
        return _bytes(content, draw)


def test_changed_results_with_right_checksums_are_read_or_refused_in_a_line(
    tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    """ACKCLOCK_FUZZ changed files, sealed again as an attacker would."""
    whole = sealed_results(tmp_path, ackclock_here)
    draw = random.Random(6)  # noqa: S311
    refused = 0
    count = int(os.environ.get("ACKCLOCK_FUZZ", "150"))
    for number in range(count):
        name = draw.choice([*whole, "summary.json"])
        change = draw.choice([_deep, _cut, _bytes, _meaning, _meaning])
        (tmp_path / "out" / name).write_bytes(change(whole[name], draw))
        integrity.seal_directory(tmp_path / "out")
        done = ackclock_here("diff", "out", "out")
        if done.returncode:
            refused += 1
            assert len(done.stderr.splitlines()) == 1, number
        assert all(line.isprintable() for line in (done.stdout + done.stderr).splitlines()), number
        (tmp_path / "out" / name).write_bytes(whole[name])
    assert 0 < refused < count


def test_a_name_must_lie_below_its_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    assert elsewhere.below(tmp_path, "inner/data") == tmp_path / "inner" / "data"
    for name in ("/etc/passwd", "../data", "inner/../../data", "a\0b"):
        with pytest.raises(OSError, match="outside of the folder"):
            elsewhere.below(tmp_path, name)
