"""The errors of ackclock: one line each, which says what to do. They travel between processes."""

from __future__ import annotations


class Error(Exception):
    """Base class of all errors that ackclock raises for what a user asked, gave or ran."""

    # A traceback, and a pickle, name what users import.
    __module__ = "ackclock"


class ScenarioError(Error, ValueError):
    """A scenario, or something else that a user wrote, was refused.

    Parameters
    ----------
    message : str
        One line: place, key, what is wrong, and what to write instead.
    file : str, optional
        The file, or a word for the text, that was refused.
    line : int, optional
        Line in it, from 1 on.
    key : str, optional
        The key, as in ``flow.0.rtt``.
    remedy : str, optional
        The end of the message, which says what to write instead.
    """

    __module__ = "ackclock"

    def __init__(
        self,
        message: str = "",
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file, self.line, self.key, self.remedy = file, line, key, remedy


class SimulationError(Error, RuntimeError):
    """A simulation failed: its control, or its process."""

    __module__ = "ackclock"


class StorageError(Error):
    """A result cannot be written or read."""

    __module__ = "ackclock"
