"""Every control has its file, its page and its curve, and nothing is left over."""

import re
import subprocess
from pathlib import Path

import pytest

import ackclock
from conftest import COMMAND

ROOT = Path(__file__).resolve().parent.parent
LISTED = ackclock.controllers()
# The kernel's code of a control that is approximate has a name that says so.
ORIGINALS = {"bbr3-approx": "bbr3-linux"}
# The kernel's code of a control has its page and its own folder.
KERNEL = [entry["name"] for entry in LISTED if entry["name"].endswith("@kernel")]
NAMES = [entry["name"] for entry in LISTED if entry["name"] not in KERNEL]
WINDOW_NAMES = [entry["name"] for entry in LISTED if entry["kind"] == "window" and entry["name"] in NAMES]
HEADINGS = ["Equations", "Paper, Linux, ours", "Deviations", "Window curve"]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_its_parts(name):
    page = (ROOT / "docs" / "controllers" / f"{name}.md").read_text(encoding="utf-8")
    assert f"(`{name}`)" in page.splitlines()[0]
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == HEADINGS
    assert f"(../curves/{name}.txt)" in page
    # What it does, in at least three sentences.
    assert page.split("## ", 1)[0].count(".") >= 3


@pytest.mark.parametrize(("folder", "ending"), [("docs/controllers", "md"), ("docs/curves", "txt")])
def test_one_file_for_each_control_and_no_other(folder, ending):
    assert {file.name for file in (ROOT / folder).iterdir()} == {f"{n}.{ending}" for n in NAMES}


def test_the_code_of_the_kernel_is_that_of_a_control():
    names = [name.removesuffix("@kernel") for name in KERNEL]
    assert {ORIGINALS.get(name, name) for name in names} <= set(WINDOW_NAMES)
    folder = ROOT / "crates" / "ackclock-kernel" / "bpf"
    assert sorted(file.name for file in folder.glob("*.c")) == sorted(
        f"{control.replace('++', '_plus_plus').replace('-', '_')}.bpf.c" for control in names
    )


@pytest.mark.parametrize("name", WINDOW_NAMES)
def test_a_control_has_a_source_file(name):
    source = ROOT / "crates" / "ackclock-cc" / "src"
    own = name.replace("++", "_plus_plus").replace("-", "_")
    assert any((source / f"{stem}.rs").exists() for stem in (own, name.split("-")[0]))


@pytest.mark.parametrize("name", NAMES)
def test_explain_gives_page_and_parameters(name):
    text = ackclock.explain(name)
    entry = next(entry for entry in ackclock.controllers() if entry["name"] == name)
    assert text.startswith((ROOT / "docs" / "controllers" / f"{name}.md").read_text("utf-8"))
    assert entry["source"] in text
    for parameter in entry["parameters"]:
        assert re.search(rf"^\| {parameter['name']} \| .* \| .+ \| .+ \|$", text, re.MULTILINE)


def test_an_unknown_name_is_refused_with_the_nearest():
    done = subprocess.run([*COMMAND, "explain", "cubik"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "cubic" in done.stderr
