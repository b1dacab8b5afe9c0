"""Results are written whole or not at all, also when the power fails."""

from __future__ import annotations

import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.engine import drafts, integrity
from ackclock.engine.disk import CHECKSUMS as CHECKSUMS
from ackclock.engine.disk import StorageError as StorageError
from ackclock.engine.disk import sync, write_all
from ackclock.engine.disk import write as write

if TYPE_CHECKING:
    import polars as pl


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses in the block into one clear line.

    Parameters
    ----------
    path : Path
        What the block writes.

    Raises
    ------
    StorageError
        When it cannot be written. A reader that has closed its pipe is not the fault of `path`.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}; nothing was written") from error


def refuse_unless_free(target: Path, *, force: bool, is_result: Callable[[Path], bool]) -> None:
    """Refuse to write where something is that must not be lost.

    Parameters
    ----------
    target : Path
        Directory that is to be written.
    force : bool
        Whether a previous result may be replaced.
    is_result : callable
        Whether a directory holds a previous result and nothing else.

    Raises
    ------
    StorageError
        When `target` exists, is not an empty directory, and may not be replaced.
    """
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
    if not force:
        raise StorageError(f"{target} holds a result; --force replaces it")


@contextmanager
def new_directory(
    target: Path, *, force: bool, is_result: Callable[[Path], bool], sealed: bool = True
) -> Iterator[Path]:
    """Give a directory that becomes `target` when the block ends, and vanishes when it fails.

    It gets the checksums of its files, unless it is for programs that expect nothing else in it.

    Parameters
    ----------
    target, force, is_result
        As for `refuse_unless_free`.
    sealed : bool
        Whether it gets checksums.

    Yields
    ------
    Path
        An empty directory beside `target`.

    Raises
    ------
    StorageError
        When `target` may not be replaced or cannot be written.
    """
    # A link is followed, so that its goal is replaced and not the link.
    goal = target.resolve()
    with explained(target):
        drafts.tidy(goal)
    refuse_unless_free(target, force=force, is_result=is_result)
    with explained(target), drafts.draft(goal, is_directory=True) as temporary:
        previous = temporary.with_suffix(".previous")
        try:
            yield temporary
            refuse_unless_free(target, force=force, is_result=is_result)
            if sealed:
                integrity.seal_directory(temporary)
            for place in (*temporary.rglob("*"), temporary):
                sync(place)
            if goal.exists():
                goal.rename(previous)
            temporary.rename(goal)
            sync(goal.parent)
        finally:
            if previous.exists() and not goal.exists():
                previous.rename(goal)
            shutil.rmtree(temporary, ignore_errors=True)
            shutil.rmtree(previous, ignore_errors=True)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Give a path whose file becomes `target` when the block ends, and vanishes when it fails.

    A pipe or a device is not replaced: the file is written into it when the block ends.

    Parameters
    ----------
    target : Path
        File that is to be written or replaced; a link is followed.

    Yields
    ------
    Path
        A path to write to.

    Raises
    ------
    StorageError
        When `target` cannot be written.
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
        raise StorageError(f"{target} is a disk; choose a file name")
    if kind != stat.S_IFREG:
        with tempfile.TemporaryDirectory() as folder, explained(target):
            draft = Path(folder) / target.name
            draft.touch()
            yield draft
            with draft.open("rb") as made, open(os.open(target, os.O_WRONLY), "wb") as out:  # noqa: PTH123
                shutil.copyfileobj(made, out)
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
            # What stays is tidied when the same file is written again.
            with suppress(OSError):
                temporary.unlink()


def probe(directory: Path) -> None:
    """Make sure that a folder can be written into, before hours of work.

    Parameters
    ----------
    directory : Path
        It is made if it is not there.

    Raises
    ------
    StorageError
        When it cannot.
    """
    with explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass


def own_folder() -> Path:
    """Find the folder for what a user's programs show, which belongs to the user alone.

    Returns
    -------
    Path
        ``ackclock`` in the user's cache (``XDG_CACHE_HOME``, else ``~/.cache``), with mode 0700; a
        new folder for temporary files where that is not the user's, or is open to others.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ackclock"
    with suppress(OSError, RuntimeError):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        seen = home.lstat()
        is_own = stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid()
        if is_own and not seen.st_mode & 0o077:
            return home
    return Path(tempfile.mkdtemp(prefix="ackclock-"))


class Appended:
    """A file at whose end lines are put, each by one write.

    Parameters
    ----------
    file : Path
        It is made if it does not exist.

    Raises
    ------
    OSError
        When it cannot be opened; also from the methods.
    """

    def __init__(self, file: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(file, flags, 0o666)
        # Its name, too, is to survive a power cut.
        sync(file.parent)

    def add(self, content: bytes) -> None:
        """Append; what the system has survives the end of this process.

        Parameters
        ----------
        content : bytes
            Whole lines.
        """
        write_all(self._file, content)

    def sync(self) -> None:
        """Return when everything that was added survives a power cut."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def write_table(frame: pl.DataFrame, directory: Path, name: str, *, csv: bool = False) -> None:
    """Write a table as `name`.parquet or `name`.csv; the same table gives the same bytes.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    directory : Path
        Where to.
    name : str
        Name of the file, without its ending.
    csv : bool
        CSV in place of Parquet.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    # Through memory, so that a full disk is an OSError whatever wrote the bytes.
    content = io.BytesIO()
    if csv:
        frame.write_csv(content)
    else:
        frame.write_parquet(content, compression="zstd", compression_level=3)
    write(directory / f"{name}.{'csv' if csv else 'parquet'}", content.getvalue())


def holds_only(directory: Path, names: frozenset[str], marker: str) -> bool:
    """Whether `directory` has the file `marker` and, besides checksums, nothing else but `names`.

    Parameters
    ----------
    directory : Path
        Directory to look at.
    names : frozenset of str
        Names that may occur.
    marker : str
        The one that must.

    Returns
    -------
    bool
        True when it holds.
    """
    found = {entry.name for entry in directory.iterdir()}
    return marker in found and found - {CHECKSUMS} <= names
