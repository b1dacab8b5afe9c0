"""Every file that a verb writes has a checksum: whatever is changed, verify reports it.

A new verb fails here until it has a call in `CALLS`, or a reason in `NO_FILES`.
"""

import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ackclock.cli import verify
from ackclock.cli.main import VERBS
from ackclock.engine import lab
from ackclock.reproduction.claims import judge
from ackclock.runs import Store
from conftest import BOTTLENECK, Finished

PATH = f"""
[run]
duration = "2 s"
{BOTTLENECK}
[[flow]]
controller = "reno"
rtt = "40 ms"
"""
SWEEP = """
scenario = "path.toml"
[parameters]
p = { set = "dumbbell.loss.rate", to = [0.001, 0.01] }
[runs]
count = 2
"""
RATES = "time,rate\n0,5 Mbit/s\n1,2 Mbit/s\n"
FILES = {"path.toml": PATH, "s.toml": SWEEP, "rates.csv": RATES}
SIMULATE = ("simulate", "path.toml", "--quiet")
COMPARE = ("compare", "reno", "cubic", "--rate", "5mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "1")
PLOT = ("plot", "out", "--x", "p", "--y", "goodput")
CALLS: dict[str, Sequence[Sequence[str]]] = {
    "simulate": [(*SIMULATE, "-o", "out", "--pcap", "packets.pcap")],
    "simulate several": [(*SIMULATE, "--runs", "2", "-o", "out", "--csv")],
    "compare": [(*COMPARE, "-o", "out")],
    "compare queues": [(*COMPARE, "--queue", "droptail", "--queue", "codel", "-o", "out")],
    "predict": [("predict", "response", "-o", name) for name in ("a.csv", "a.png", "a.parquet")],
    "sweep": [("sweep", "s.toml", "-o", "out", "--page", "--live")],
    "plot": [
        ("sweep", "s.toml", "-o", "out"),
        *((*PLOT, "-o", name) for name in ("a.png", "a.svg", "a.html")),
    ],
    "diff": [(*SIMULATE, "-o", "a"), (*SIMULATE, "-o", "b"), ("diff", "a", "b", "-o", "windows.pdf")],
    "pack": [(*SIMULATE, "-o", "out"), ("pack", "out")],
    "reproduce": [("reproduce", "transient/figure-3", "--quick", "-o", "out", "--live")],
    "path": [("path", "rates.csv", "-o", "measured.toml")],
    "lab": [("lab", "path.toml", "--no-open", "-o", "lab.html")],
    "evaluate": [("evaluate", "bic", "--only", "iot", "--against", "reno", "-o", "out", "--live")],
    "search": [("search", "reno", "unused", "--genome", "pulses", "--budget", "32", "-o", "out", "--live")],
}
NO_FILES = {
    **dict.fromkeys(("check", "verify"), "they read"),
    **dict.fromkeys(("example", "controllers", "explain", "cite", "schema", "completion"), "they print"),
    "link": "it needs namespaces; its report is tested in Rust",
    "kernel": "it changes the kernel",
    "measure": "its campaigns and logs are tested with it",
}
SATELLITES = ("evaluate", "search")


def test_every_verb_is_here() -> None:
    assert {name.partition(" ")[0] for name in CALLS} | NO_FILES.keys() == {verb.name for verb in VERBS}


def changes(name: str, content: bytes, seed: int) -> Iterator[bytes | None]:
    """Yield changed contents of a file: bits, a byte, cuts, zeros, nothing, something more, and none."""
    draw = random.Random(f"{seed} {name}")  # noqa: S311
    for _ in range(int(os.environ.get("ACKCLOCK_FLIPS", "3"))):
        bit = draw.randrange(8 * len(content))
        yield content[: bit // 8] + bytes([content[bit // 8] ^ 1 << bit % 8]) + content[bit // 8 + 1 :]
    zeroed = draw.randrange(len(content))
    zeros = bytes(min(64, len(content) - zeroed))
    if content[zeroed : zeroed + len(zeros)] != zeros:
        yield content[:zeroed] + zeros + content[zeroed + len(zeros) :]
    yield from (content[:-1], content[: len(content) // 2], b"", content + b"\n", None)


def is_told(place: Path, file: Path) -> bool:
    """Return whether verify reports a problem in the folder, or of a file that is the only one."""
    if any(result.problems for result in verify.results(place)):
        return True
    # Of a file that lies alone nobody knows that it had a checksum, unless it is asked about.
    lone = file.with_suffix("") if file.suffix == ".sha256" else file
    return not file.exists() and (not lone.exists() or bool(verify._lone(lone).problems))


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name for name in CALLS if not (os.environ.get("ACKCLOCK_CORE") and name in SATELLITES)]
)
def test_whatever_is_changed_is_reported(
    name: str, tmp_path: Path, ackclock_here: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_name(f"{tmp_path.name}-cache")))
    if name == "lab" and lab.page() is None:
        pytest.skip("the page was not built")
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    for words in CALLS[name]:
        done = ackclock_here(*words)
        assert done.returncode in (0, 1), done.stderr
    for file in FILES:
        (tmp_path / file).unlink()
    files = [file for file in sorted(tmp_path.rglob("*")) if file.is_file()]
    assert files
    assert not [result for result in verify.results(tmp_path) if result.problems or result.unlisted]
    silent = []
    count = 0
    for file in files:
        whole = file.read_bytes()
        for content in changes(file.name, whole, 1) if whole else (b"more", None):
            count += 1
            if content is None:
                file.unlink()
            else:
                file.write_bytes(content)
            if not is_told(tmp_path, file):
                silent.append((file.relative_to(tmp_path).as_posix(), content and len(content), len(whole)))
        file.write_bytes(whole)
    print(f"{name}: {count} changes of {len(files)} files, {len(silent)} silent")
    assert silent == []


KEEPS = ("compare", "sweep", "reproduce", "evaluate", "search")


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name for name in KEEPS if not (os.environ.get("ACKCLOCK_CORE") and name in SATELLITES)]
)
def test_a_store_that_is_removed_under_a_verb_is_reported(
    name: str, tmp_path: Path, ackclock_here: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "path.toml").write_text(PATH)
    (tmp_path / "s.toml").write_text(SWEEP)
    monkeypatch.setattr(judge, "FEWEST_PACKETS", 0)
    add, has_gone = Store.add, False

    def then_remove(store: Store, *given: Any, **named: Any) -> None:
        nonlocal has_gone
        add(store, *given, **named)
        if not has_gone:
            store.commit()
            has_gone = True
            shutil.rmtree(store.directory)

    with monkeypatch.context() as changed:
        changed.setattr(Store, "add", then_remove)
        done = ackclock_here(*(word for word in CALLS[name][0] if word != "--live"))
    assert has_gone
    assert (done.returncode, "was removed or replaced" in done.stderr.splitlines()[-1]) == (1, True)
    # The same command gets there; a sweep must know that its parts without notes may be replaced.
    more = ("--force",) if name == "sweep" else ()
    assert ackclock_here(*CALLS[name][0], *more).returncode == 0
