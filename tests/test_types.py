"""Types as users' checkers see them: every public name, and every snippet of Python in the documentation."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ackclock

ROOT = Path(__file__).parents[1]
SNIPPET = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "satellites").rglob("*.md")),
)
SATELLITE = re.compile(r"\backclock_(?!papers)\w+")


def snippets(*, of_satellites: bool) -> dict[str, str]:
    """Return the snippets of all pages, by name: those that need a satellite, or those that need none."""
    texts = {}
    for page in PAGES:
        if "snippets" in page.parts or "node_modules" in page.parts:
            continue
        before = ""
        for number, (file, code) in enumerate(SNIPPET.findall(page.read_text("utf-8")), 1):
            name = re.sub(r"\W+", "_", f"{page.relative_to(ROOT).with_suffix('')}_{number}")
            # A page is read from its beginning: what it has imported and made stays, but for files.
            is_file = file.strip().endswith(".py")
            before += "" if is_file else code
            texts[name] = code if is_file else before
    return {name: text for name, text in texts.items() if bool(SATELLITE.search(text)) == of_satellites}


def errors(texts: dict[str, str], folder: Path) -> dict[str, str]:
    """Write each text to a folder, and return mypy's messages about it."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    command = [
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "--no-error-summary",
        "--show-error-codes",
    ]
    names = [f"{name}.py" for name in texts]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *command, "--config-file=", *names],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    lines = done.stdout.splitlines()
    return {
        name: "\n".join(line for line in lines if line.startswith(f"{name}.py:") and ": error:" in line)
        for name in texts
    }


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return mypy's messages about each snippet, all public names, and a mistake, by name."""
    texts = {"every_name": "import ackclock\n" + "".join(f"ackclock.{name}\n" for name in ackclock.__all__)}
    texts["mistake"] = "import ackclock\nackclock.sweep(3)\nackclock.evaluate('reno', seed='one').nothing\n"
    return errors(texts | snippets(of_satellites=False), tmp_path_factory.mktemp("snippets"))


def test_every_public_name_is_visible(checked: dict[str, str]) -> None:
    assert checked["every_name"] == ""
    # And has a type: three mistakes are seen.
    assert len(checked["mistake"].splitlines()) == 3


def test_snippets_have_no_type_errors(checked: dict[str, str]) -> None:
    said = {name: text for name, text in checked.items() if name not in ("every_name", "mistake")}
    assert len(said) > 8
    assert {name: text for name, text in said.items() if text} == {}


def test_the_function_stays_the_function() -> None:
    import ackclock.sweeps

    assert callable(ackclock.sweep)
    assert ackclock.sweep is ackclock.sweeps.sweep
