"""Pages for browsers: one file each, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

if TYPE_CHECKING:
    from ackclock.draw.figure import Group

_POLICY = "<!-- policy -->"
"""Where the template has the place for it."""


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


def html(template: str, *, charts: Mapping[str, Group] | None = None, **values: object) -> str:
    """Fill in a page.

    Parameters
    ----------
    template : str
        A file of ``ackclock/templates``.
    charts : mapping, optional
        Groups of charts, each shown where the template has ``data-charts`` with its name. The
        template is told in ``thinned`` what they leave out, and in ``charted`` which there are.
    **values
        What it shows; texts are escaped.

    Returns
    -------
    str
        The page. Its policy lets it load nothing, and run and look like nothing but what stands in
        it now.

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
    environment.globals["follows"] = ""
    added: dict[str, object] = {
        "charts_data": "", "charts_script": "", "thinned": "", "charted": frozenset(charts or ()),
    }  # fmt: skip
    if charts:
        # Matplotlib is slow to import, and most who import this draw nothing.
        from ackclock.draw import charts as drawn

        numbers, thinned = drawn.data(charts)
        added |= {"charts_data": numbers, "charts_script": drawn.script(), "thinned": thinned}
    text = environment.get_template(template).render(values | added)
    return text.replace(_POLICY, _policy(text), 1)


def _policy(text: str) -> str:
    """Write the content security policy of a page, with the fingerprints of what is in it."""

    def of(tag: str) -> str:
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        hashes = (base64.b64encode(hashlib.sha256(one.encode()).digest()) for one in found)
        return " ".join(f"'sha256-{one.decode()}'" for one in hashes) or "'none'"

    rules = (
        "default-src 'none'",
        f"script-src {of('script')}",
        f"style-src {of('style')}",
        # Pictures within the page, and those beside it.
        "img-src data: 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'
