"""Drafts: files and directories that become a result once complete, and leftovers of killed processes."""

from __future__ import annotations

import fcntl
import glob
import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

MOST_BYTES = 120
"""Longest name that the name of a draft contains unabridged; file systems allow 255 bytes in all."""
KEPT_BYTES = 80
OLD_S = 3600.0
"""A draft that is unlocked after this time never will be locked: its process has ended."""
_DRAFT = re.compile(r"[0-9a-f]{32}\.(new|partial|previous)")


def _short(goal: Path) -> str:
    name = os.fsencode(goal.name)
    if len(name) <= MOST_BYTES:
        return goal.name
    return f"{os.fsdecode(name[:KEPT_BYTES])}-{hashlib.sha256(name).hexdigest()[:8]}"


@contextmanager
def draft(goal: Path, *, is_directory: bool) -> Iterator[Path]:
    """Create a draft of `goal`, locked while the block runs, and tidy up after earlier drafts.

    The lock shows that its process is alive, also to other machines and containers that see the folder;
    process numbers mean nothing there.
    """
    tidy(goal)
    begun = goal.with_name(f".{_short(goal)}.{uuid.uuid4().hex}.new")
    path = begun.with_suffix(".partial")
    with ExitStack() as stack:
        try:
            if is_directory:
                begun.mkdir(parents=True)
            else:
                begun.touch(exist_ok=False)
            opened = os.open(begun, os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, opened)
            # On file systems without locks nothing is ever tidied, so none is needed.
            with suppress(OSError):
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            begun.rename(path)
        except BaseException:
            # Even an interrupt leaves nothing behind.
            for left in (begun, path):
                with suppress(OSError):
                    left.rmdir() if is_directory else left.unlink()
            raise
        yield path


def tidy(goal: Path) -> None:
    """Remove drafts of `goal` that killed processes left, and restore results that they were replacing."""
    before = f".{_short(goal)}."
    for left in goal.parent.glob(f"{glob.escape(before)}*"):
        kind = _DRAFT.fullmatch(left.name.removeprefix(before))
        # Another process may be tidying, too.
        with suppress(OSError):
            if kind is None or _is_held(left, kind[1]):
                continue
            if kind[1] == "previous" and not goal.exists():
                left.rename(goal)
            elif left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _is_held(left: Path, kind: str) -> bool:
    """Return whether the process that made a draft may still be alive."""
    if kind == "new" and time.time() - left.lstat().st_mtime < OLD_S:
        return True
    # A previous result is held by the draft that replaces it.
    holder = left.with_suffix(".partial") if kind == "previous" else left
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        opened = os.open(holder, flags)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(opened)
    return False
