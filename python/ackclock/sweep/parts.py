"""Which files of a sweep are whole: a record of each part, with its rows and its SHA-256."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from ackclock.engine import integrity, storage

WORK = ".sweeps"
"""Directory beside the experiments of a dataset: what their sweeps note about themselves."""
LIST = "parts.jsonl"


def file_of(number: int) -> str:
    """Name the file of a part.

    Parameters
    ----------
    number : int
        Which.

    Returns
    -------
    str
        Its name in the directory of the experiment.
    """
    return f"part-{number:05}.parquet"


@dataclass(frozen=True)
class Part:
    """A part that was written.

    Attributes
    ----------
    number : int
        Which.
    rows, runs, failed, at_most : int
        Rows of its table, runs in it, runs with an error, and points that were run as often as is
        allowed.
    sha256 : str
        Of its file.
    sweep : str
        Fingerprint of the sweep that it belongs to.
    """

    number: int
    rows: int
    runs: int
    failed: int
    at_most: int
    sha256: str
    sweep: str

    @property
    def file(self) -> str:
        """Name of its file."""
        return file_of(self.number)

    def note(self, work: Path) -> None:
        """Add it to the list of parts.

        Parameters
        ----------
        work : Path
            Directory of the list.
        """
        noted = storage.Appended(work / LIST)
        try:
            noted.add(integrity.seal(asdict(self)))
            noted.sync()
        finally:
            noted.close()


def listed(work: Path) -> tuple[list[Part], list[str]]:
    """Read the list of parts.

    Parameters
    ----------
    work : Path
        Directory of the list.

    Returns
    -------
    list of Part, list of str
        The parts that were written, and what is wrong with the list.
    """
    try:
        content = (work / LIST).read_bytes()
    except FileNotFoundError:
        return [], []
    found: dict[int, Part] = {}
    problems = []
    for line in integrity.lines(content):
        place = f"{work / LIST}: line {line.number} (byte {line.byte})"
        if line.record is None:
            problems.append(f"{place} {integrity.CHANGED}")
            continue
        try:
            part = Part(**line.record)
        except TypeError:
            problems.append(f"{place} is of another version of ackclock")
        else:
            # A part that was made again has a later line.
            found[part.number] = part
    return list(found.values()), problems


def rewrite(work: Path, parts: list[Part]) -> None:
    """Write the list of parts again, if it is not what it should be.

    Parameters
    ----------
    work : Path
        Directory of the list.
    parts : list of Part
        What is to be in it.

    Raises
    ------
    StorageError
        When it cannot be written.
    """
    content = b"".join(integrity.seal(asdict(part)) for part in parts)
    place = work / LIST
    if (place.read_bytes() if place.exists() else b"") != content:
        with storage.new_file(place) as file:
            storage.write(file, content)


def problem_of(dataset: Path, part: Part) -> str | None:
    """Say what is wrong with the file of a part.

    Parameters
    ----------
    dataset : Path
        Directory of the file.
    part : Part
        What was noted when it was written.

    Returns
    -------
    str or None
        Such as ``".../part-00000.parquet is missing"``; None when it is as it was written.
    """
    file = dataset / part.file
    try:
        same = integrity.of_file(file) == part.sha256
    except FileNotFoundError:
        return f"{file} is missing"
    except OSError as error:
        return f"{file} cannot be read: {error.strerror or error}"
    return None if same else f"{file} {integrity.CHANGED}"


def problems_of(dataset: Path) -> list[str]:
    """Say what is wrong with the files of an experiment.

    Parameters
    ----------
    dataset : Path
        Directory ``experiment=NAME``; one that was copied without what its sweep noted beside it
        has nothing that could be wrong.

    Returns
    -------
    list of str
        One line for each file that is missing or not as it was written.
    """
    work = dataset.parent / WORK / dataset.name.removeprefix("experiment=")
    parts, problems = listed(work)
    return problems + [one for one in (problem_of(dataset, part) for part in parts) if one]
