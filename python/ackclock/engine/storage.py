"""Results are written completely or not at all, even when the power fails."""

from __future__ import annotations

import io
import itertools
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.engine import drafts, integrity
from ackclock.engine.disk import CHECKSUMS as CHECKSUMS
from ackclock.engine.disk import sync
from ackclock.engine.disk import write as write
from ackclock.errors import StorageError as StorageError

if TYPE_CHECKING:
    import polars as pl


LONGEST_NAME = 255
"""Bytes of a name that file systems allow."""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of the operating system in the block into one clear `StorageError` about `path`.

    A reader that has closed its pipe is not the fault of `path`.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        # The engine's own message names its draft.
        reason = error.strerror or f"{error}".rpartition(": ")[2].partition(" (os error")[0]
        raise StorageError(f"cannot write {path}: {reason}; nothing was written") from error


def refuse_unless_free(target: Path, *, is_result: Callable[[Path], bool]) -> None:
    """Raise `StorageError` if `target` exists and is neither an empty directory nor a result."""
    with explained(target):
        if not target.exists() and not target.is_symlink():
            return
        if not target.is_dir():
            raise StorageError(f"{target} exists but is not a directory; choose another name")
        if not any(target.iterdir()):
            return
        if not is_result(target):
            raise StorageError(
                f"{target} holds files that this command did not write; choose another directory"
            )


def free_name(target: Path) -> Path:
    """Return the first of ``NAME.1``, ``NAME.2`` and so on that does not exist."""
    return next(
        name
        for number in itertools.count(1)
        if not (name := target.with_name(f"{target.name}.{number}")).exists()
    )


def say_aside(target: Path, aside: Path) -> None:
    """Say on standard error where an earlier result is now."""
    with suppress(OSError):
        shown = target.with_name(aside.name)
        print(f"ackclock: {target} held another result, which is now {shown}", file=sys.stderr)


def set_aside(directory: Path, names: Iterable[str]) -> None:
    """Move some entries of a directory, an earlier result, into ``NAME.1`` or so on, and say so."""
    there = [directory / name for name in names if (directory / name).exists()]
    if there:
        aside = free_name(directory.resolve())
        aside.mkdir()
        for entry in there:
            entry.rename(aside / entry.name)
        say_aside(directory, aside)


def contents_of(directory: Path) -> dict[Path, bytes]:
    """Return the contents of all files of a directory, by their relative names."""
    return {file.relative_to(directory): file.read_bytes() for file in directory.rglob("*") if file.is_file()}


@contextmanager
def new_directory(
    target: Path,
    *,
    force: bool,
    is_result: Callable[[Path], bool],
    inputs: Callable[[Path], object] = contents_of,
    synced: bool = True,
) -> Iterator[Path]:
    """Yield an empty directory next to `target` that takes its place at the end, or is removed on failure.

    An earlier result is replaced if it was made from the same `inputs`, or if `force` is set; otherwise it is
    set aside as ``NAME.1`` and so on, and a line reports this. The directory gets the checksums of its files.
    With `synced` False a power cut may destroy the writes of the last half minute; the checksums reveal this.
    """
    # A link is followed, so that its target is replaced and not the link.
    goal = target.resolve()
    with explained(target):
        drafts.tidy(goal)
    refuse_unless_free(target, is_result=is_result)
    with explained(target), drafts.draft(goal, is_directory=True) as temporary:
        previous = temporary.with_suffix(".previous")
        try:
            yield temporary
            refuse_unless_free(target, is_result=is_result)
            integrity.seal_directory(temporary)
            for path in (*temporary.rglob("*"), temporary) if synced else ():
                sync(path)
            is_there = goal.exists() and any(goal.iterdir())
            is_other = is_there and not force and not _same(goal, temporary, inputs)
            aside = free_name(goal) if is_other else None
            if goal.exists():
                goal.rename(aside or previous)
            temporary.rename(goal)
            if synced:
                sync(goal.parent)
            if aside is not None:
                say_aside(target, aside)
        finally:
            if previous.exists() and not goal.exists():
                previous.rename(goal)
            shutil.rmtree(temporary, ignore_errors=True)
            shutil.rmtree(previous, ignore_errors=True)


def _same(earlier: Path, later: Path, inputs: Callable[[Path], object]) -> bool:
    """Return whether two results have the same inputs; False if one of them cannot be read any more."""
    try:
        return inputs(earlier) == inputs(later)
    except (OSError, ValueError, KeyError, TypeError):
        return False


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield a path whose file becomes `target` when the block ends, and is removed when it fails.

    A link is followed. A pipe or a device is not replaced: the file is written into it when the block
    ends.
    """
    with explained(target):
        try:
            kind = stat.S_IFMT(target.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            kind = stat.S_IFREG
    is_directory = StorageError(f"{target} is a directory; choose a file name")
    if kind == stat.S_IFDIR:
        raise is_directory
    if kind == stat.S_IFBLK:
        raise StorageError(f"{target} is a block device; choose a file name")
    if kind != stat.S_IFREG:
        with tempfile.TemporaryDirectory() as folder, explained(target):
            draft = Path(folder) / target.name
            draft.touch()
            yield draft
            with draft.open("rb") as complete, open(os.open(target, os.O_WRONLY), "wb") as output:  # noqa: PTH123
                shutil.copyfileobj(complete, output)
        return
    goal = Path(os.path.realpath(target))
    with explained(target), drafts.draft(goal, is_directory=False) as temporary:
        try:
            yield temporary
            sync(temporary)
            try:
                temporary.replace(goal)
            except IsADirectoryError as error:
                raise is_directory from error
            sync(goal.parent)
        finally:
            # A leftover is tidied when the same file is written again.
            with suppress(OSError):
                temporary.unlink()


@contextmanager
def sealed_file(target: Path) -> Iterator[Path]:
    """Yield a path whose file becomes `target`, as `new_file` does, and write its checksum next to it.

    Verbs write every file outside a sealed directory in this way. A pipe or a device has no checksum.
    """
    goal = Path(os.path.realpath(target))
    seal = integrity.seal_of(goal)
    is_special = target.exists() and not target.is_file()
    if not is_special and len(os.fsencode(seal.name)) > LONGEST_NAME:
        raise StorageError(f"{target}: choose a shorter name, to which {integrity.SEAL} can be added")
    with new_file(target) as file:
        yield file
        digest = integrity.of_file(file)
        if not is_special:
            # A kill comes before or after the file gets its name: either is whole.
            former = [integrity.of_file(goal)] if goal.is_file() else []
            write_unsealed(seal, integrity.lone_seal(goal.name, [*former, digest]))
    if not is_special:
        write_unsealed(seal, integrity.lone_seal(goal.name, [digest]))


def write_unsealed(target: Path, content: bytes) -> None:
    """Write a file that is a checksum itself, or is listed in one, atomically."""
    with new_file(target) as file:
        file.write_bytes(content)


def write_sealed(target: Path, text: str) -> None:
    """Write a text file and its checksum, as `sealed_file` does."""
    with sealed_file(target) as file:
        file.write_text(text, encoding="utf-8")


def probe(directory: Path) -> None:
    """Raise `StorageError` unless a folder, created if necessary, is writable: before hours of work."""
    with explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass


def own_folder() -> Path:
    """Return the user's private folder for pages that the user's programs open.

    It is ``ackclock`` in the user's cache (``XDG_CACHE_HOME``, else ``~/.cache``), with mode 0700; it is a
    new temporary folder if that one does not belong to the user or is open to others.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ackclock"
    with suppress(OSError, RuntimeError):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = home.lstat()
        is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
        if is_own and not status.st_mode & 0o077:
            return home
    return Path(tempfile.mkdtemp(prefix="ackclock-"))


def write_text(target: Path, text: str) -> None:
    """Write a text file atomically, as `new_file` does."""
    with new_file(target) as file:
        file.write_text(text, encoding="utf-8")


def write_files(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Write files by their names into a directory, each atomically."""
    for name, content in contents.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        with new_file(directory / name) as file:
            file.write_bytes(content)


def write_table(frame: pl.DataFrame, directory: Path, name: str, *, csv: bool = False) -> None:
    """Write a table as `name`.parquet or `name`.csv; the same table gives the same bytes."""
    # Written via memory, so that a full disk is always an OSError.
    content = io.BytesIO()
    if csv:
        frame.write_csv(content)
    else:
        frame.write_parquet(content, compression="zstd", compression_level=3)
    write(directory / f"{name}.{'csv' if csv else 'parquet'}", content.getvalue())


def holds_only(directory: Path, names: frozenset[str], marker: str) -> bool:
    """Return whether a directory has the file `marker` and nothing else but `names` and checksums.

    Files that its checksums list, such as the traces of a scenario, were written with the result.
    """
    entries = {entry.name for entry in directory.iterdir()}
    others = entries - {CHECKSUMS} - names
    if others and CHECKSUMS in entries:
        files = {file.relative_to(directory).as_posix() for file in directory.rglob("*") if file.is_file()}
        unlisted = files - set(integrity.listed(directory) or ()) - {CHECKSUMS}
        others &= {Path(name).parts[0] for name in unlisted}
    return marker in entries and not others
