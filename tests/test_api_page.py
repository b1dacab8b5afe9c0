"""The page of the API is what the code says, and every function on it has an example, which a test runs."""

import doctest
import inspect
import runpy

import pytest

import ackclock
from test_shelves import DOCS

MADE = runpy.run_path(str(DOCS / "api.py"))
FUNCTIONS = [name for name in ackclock.__all__ if inspect.isfunction(getattr(ackclock, name))]


def test_the_page_is_that_of_the_code():
    # `.venv/bin/python docs/api.py` writes it again.
    assert (DOCS / "api.md").read_text("utf-8") == MADE["page"]()


def test_every_public_name_is_on_the_page():
    page = MADE["page"]()
    for name in ackclock.__all__:
        assert name.startswith("_") or f"\n### {name}\n" in page or f"| `{name}` | " in page


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_example(name):
    # `pytest --doctest-modules` runs them, and tests/satellites that of `evaluate`.
    assert doctest.DocTestParser().get_examples(inspect.getdoc(getattr(ackclock, name)))


def test_a_signature_is_short():
    assert MADE["signature"]("check", ackclock.check) == "ackclock.check(scenario, *, settings)"
    assert MADE["signature"]("flow", ackclock.flow).endswith(", ...)")
