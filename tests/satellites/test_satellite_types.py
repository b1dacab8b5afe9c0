"""What users' type checkers see of satellites: every snippet of Python that needs one."""

from pathlib import Path

from test_types import errors, snippets


def test_snippets_have_no_type_errors(tmp_path: Path) -> None:
    texts = snippets(of_satellites=True)
    assert texts
    assert {name: said for name, said in errors(texts, tmp_path).items() if said} == {}
