"""Pages for browsers: one file each, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

if TYPE_CHECKING:
    from ackclock.draw.figure import Group

TEMPLATES = ("base.html", "live.html", "paper.html")
"""The templates that contain scripts."""
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_POLICY = "<!-- policy -->"
"""Placeholder of the policy in the template."""


def from_here(path: Path) -> str:
    """Return a path for a command: relative to the working directory if inside of it, else absolute."""
    whole, here = path.absolute(), Path.cwd()
    if not whole.is_relative_to(here):
        return whole.as_posix()
    return whole.relative_to(here).as_posix()


def html(
    template: str, *, package: str = "ackclock", charts: Mapping[str, Group] | None = None, **values: object
) -> str:
    """Return a page: a template of `package` or of ackclock with escaped values and with charts.

    Each group of charts is shown where the template has ``data-charts`` with its name; in ``thinned``
    the template finds a sentence about what they leave out, in ``charted`` their names. The page's
    policy lets it load nothing, and run and style only what it contains now. A missing value raises
    `jinja2.UndefinedError`.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader("ackclock")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["follows"] = ""
    added: dict[str, object] = {
        "charts_data": "",
        "charts_script": "",
        "thinned": "",
        "charted": frozenset(charts or ()),
    }
    if charts:
        # Matplotlib is slow to import, and most importers of this module draw nothing.
        from ackclock.draw import charts as drawn

        numbers, thinned = drawn.data(charts)
        added |= {"charts_data": numbers, "charts_script": drawn.script(), "thinned": thinned}
    text = environment.get_template(template).render(values | added)
    return text.replace(_POLICY, _policy(text, str(added["charts_script"])), 1)


@cache
def _own_scripts() -> frozenset[str]:
    """Return the scripts of the package's templates, which contain no values."""
    folder = resources.files("ackclock") / "templates"
    texts = [template.read_text("utf-8") for template in folder.iterdir() if template.name in TEMPLATES]
    parts = (part for text in texts for part in _SCRIPT.findall(text))
    return frozenset(part for part in parts if "{{" not in part and "{%" not in part)


def _policy(text: str, charts_script: str) -> str:
    """Return the content security policy of a page, with the fingerprints of the package's own parts.

    Scripts or styles that a value brought in have no fingerprint, so that a browser ignores them:
    allowed are the scripts of the templates and of the charts, and the style in the head, before which
    no unescaped value occurs.
    """

    def hashed(parts: Iterable[str]) -> str:
        hashes = (base64.b64encode(hashlib.sha256(part.encode()).digest()) for part in parts)
        return " ".join(f"'sha256-{part.decode()}'" for part in hashes) or "'none'"

    own = _own_scripts() | {charts_script}
    scripts = [script for script in _SCRIPT.findall(text) if script in own]
    styles = re.findall(r"<style>(.*?)</style>", text.partition("</head>")[0], re.DOTALL)[:1]
    rules = (
        "default-src 'none'",
        f"script-src {hashed(scripts)}",
        f"style-src {hashed(styles)}",
        # Pictures within the page, and in files next to it.
        "img-src data: 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'
