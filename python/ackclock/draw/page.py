"""Pages for browsers: one file each, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

if TYPE_CHECKING:
    from ackclock.draw.figure import Group

TEMPLATES = ("base.html", "live.html")
"""Those with scripts of their own."""
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
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


def html(
    template: str, *, package: str = "ackclock", charts: Mapping[str, Group] | None = None, **values: object
) -> str:
    """Fill in a page.

    Parameters
    ----------
    template : str
        A file of the package's ``templates``, or of ``ackclock/templates``.
    package : str
        Package with the template.
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
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader("ackclock")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["program"] = program()
    environment.globals["follows"] = ""
    added: dict[str, object] = {
        "charts_data": "",
        "charts_script": "",
        "thinned": "",
        "charted": frozenset(charts or ()),
    }
    if charts:
        # Matplotlib is slow to import, and most who import this draw nothing.
        from ackclock.draw import charts as drawn

        numbers, thinned = drawn.data(charts)
        added |= {"charts_data": numbers, "charts_script": drawn.script(), "thinned": thinned}
    text = environment.get_template(template).render(values | added)
    return text.replace(_POLICY, _policy(text, str(added["charts_script"])), 1)


@cache
def _own_scripts() -> frozenset[str]:
    """Find the scripts that stand in the package's templates, into which no value goes."""
    folder = resources.files("ackclock") / "templates"
    texts = [one.read_text("utf-8") for one in folder.iterdir() if one.name in TEMPLATES]
    found = (part for text in texts for part in _SCRIPT.findall(text))
    return frozenset(part for part in found if "{{" not in part and "{%" not in part)


def _policy(text: str, charts_script: str) -> str:
    """Write the content security policy of a page, with the fingerprints of what is the package's.

    What a value brought in has none, so that a browser would not run it: of scripts those of the
    templates and the charts', of styles the one in the head, before which no value stands as it is.
    """

    def hashed(parts: Iterable[str]) -> str:
        hashes = (base64.b64encode(hashlib.sha256(one.encode()).digest()) for one in parts)
        return " ".join(f"'sha256-{one.decode()}'" for one in hashes) or "'none'"

    own = _own_scripts() | {charts_script}
    scripts = [one for one in _SCRIPT.findall(text) if one in own]
    styles = re.findall(r"<style>(.*?)</style>", text.partition("</head>")[0], re.DOTALL)[:1]
    rules = (
        "default-src 'none'",
        f"script-src {hashed(scripts)}",
        f"style-src {hashed(styles)}",
        # Pictures within the page, and those beside it.
        "img-src data: 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'
