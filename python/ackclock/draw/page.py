"""Pages for browsers: one file each, which needs no network."""

from __future__ import annotations

import jinja2


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
    return environment.get_template(template).render(values)
