"""The directories of saved runs: their files, and when one run replaces another."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from pathlib import Path

TABLES = ("flows", "windows", "queues", "events", "requests")
PAGE = "index.html"
"""The page of a saved run."""
MEASURED = "changes"
"""The table that only measured runs have."""


def names_of_run() -> frozenset[str]:
    """Return the names of the files of a result, without the files that its scenario needs."""
    from ackclock.engine import storage

    tables = {f"{name}.{ending}" for name in (*TABLES, MEASURED) for ending in ("parquet", "csv")}
    return frozenset(tables | {"summary.json", "scenario.toml", PAGE, storage.CHECKSUMS})


def holds_result(directory: Path) -> bool:
    """Return whether a directory holds the output of `Run.save` or of several runs, and nothing else.

    Parameters
    ----------
    directory : Path
        Directory to look at.

    Returns
    -------
    bool
        True if it can be replaced without losing anything else.
    """
    from ackclock.engine import storage

    names = names_of_run()
    runs = [entry for entry in directory.iterdir() if entry.name != storage.CHECKSUMS]
    if runs and all(re.fullmatch(r"run-\d{4,}", run.name) and run.is_dir() for run in runs):
        return all(storage.holds_only(run, names, "summary.json") for run in runs)
    return storage.holds_only(directory, names, "summary.json")


def new_result(directory: Path, *, force: bool) -> AbstractContextManager[Path]:
    """Return a directory that becomes `directory` when the block ends, and is removed when it fails.

    Parameters
    ----------
    directory : Path
        Directory for one or several runs.
    force : bool
        Replace any previous result, instead of setting that of other runs aside.

    Returns
    -------
    context manager
        A context manager that yields the path to write to.

    Raises
    ------
    StorageError
        If the directory holds other files or cannot be written.
    """
    from ackclock.engine import storage

    return storage.new_directory(directory, force=force, is_result=holds_result, inputs=_inputs)


def _inputs(directory: Path) -> object:
    """Return the inputs of runs: their scenarios with all files, and the number of each run."""
    from ackclock.engine import storage

    contents = storage.contents_of(directory)
    outputs = {".parquet", ".csv", ".json", ".html"}
    read = {name: json.loads(text) for name, text in contents.items() if name.name == "summary.json"}
    if any(summary.get("digest") is None for summary in read.values()):
        # Recorded elsewhere: no scenario makes it again.
        return contents
    texts = {name: text for name, text in contents.items() if name.suffix not in outputs}
    return texts, {name: summary.get("run") for name, summary in read.items()}
