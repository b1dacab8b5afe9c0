"""The version and description of a release are the same everywhere."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
VERSION = CARGO["package"]["version"]


def test_every_place_has_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [VERSION]
    ours = {name: one for name, one in CARGO["dependencies"].items() if name.startswith("ackclock-")}
    assert ours
    assert {package["version"] for package in ours.values()} == {VERSION}


def test_every_crate_can_be_published_or_says_that_it_is_not() -> None:
    for file in (ROOT / "crates").glob("*/Cargo.toml"):
        package = tomllib.loads(file.read_text(encoding="utf-8"))["package"]
        assert package["description"], file
        for key in ("version", "license", "keywords", "categories"):
            assert package[key] == {"workspace": True}, f"{file}: {key}"
        assert package.get("publish", True) is (file.parent.name != "ackclock-py")


def test_notes_are_the_part_of_the_changelog() -> None:
    notes = runpy.run_path(str(ROOT / "docs" / "notes.py"))["notes"]
    text = "# Changelog\n## 0.2.0, unreleased\n- new\n\n## 0.1.0\n- first\n- second\n"
    assert notes("0.2.0", text) == "- new\n"
    assert notes("0.1.0", text) == "- first\n- second\n"
    with pytest.raises(LookupError, match=r"has no 0.3.0; it has 0.2.0, 0.1.0"):
        notes("0.3.0", text)
    assert notes(VERSION, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")).startswith("- ")
