"""Pages for browsers: one file each, which needs no network."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import jinja2


def program() -> str:
    """Say how the command line is called on this machine.

    Returns
    -------
    str
        ``ackclock`` when that is on the PATH or nothing better is known, else how it was called
        now, seen from the working directory.
    """
    called = Path(sys.argv[0])
    if shutil.which("ackclock") is not None or called.name != "ackclock":
        return "ackclock"
    return from_here(called)


def from_here(place: Path) -> str:
    """Name a file or directory so that a command finds it from the working directory.

    Parameters
    ----------
    place : Path
        Anything.

    Returns
    -------
    str
        Its path from the working directory, when it is inside of that, else its whole path.
    """
    whole, here = place.absolute(), Path.cwd()
    if not whole.is_relative_to(here):
        return whole.as_posix()
    return whole.relative_to(here).as_posix()


def html(template: str, **values: object) -> str:
    """Fill in a page.

    Parameters
    ----------
    template : str
        A file of ``ackclock/templates``.
    **values
        What it shows; texts are escaped.

    Returns
    -------
    str
        The page.

    Raises
    ------
    jinja2.UndefinedError
        When the template shows a value that was not given.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ackclock"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["program"] = program()
    return environment.get_template(template).render(values)
