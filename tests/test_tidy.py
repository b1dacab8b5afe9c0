"""Rules of the house that neither a linter nor a type checker knows."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = sorted((ROOT / "python").rglob("*.py"))
CODE = [
    *PACKAGES,
    *(ROOT / "benches").glob("*.py"),
    *(ROOT / "docs").glob("*.py"),
    *(ROOT / "crates").glob("*/src/**/*.rs"),
    *(ROOT / "lab").glob("*.py"),
    *(ROOT / "lab/src").rglob("*.ts*"),
    *(ROOT / "lab/tests").glob("*.ts"),
]
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in ("docs", "papers", "satellites") for page in (ROOT / folder).rglob("*.md")),
]

LONGEST = 400
LONGER = {"crates/ackclock-sim/src/tcp/sender.rs": "one state machine"}
"""Files that may be longer, and why."""


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def imported(file: Path) -> Iterator[str]:
    """Give the dotted names of all that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)


def importers(module: str) -> set[str]:
    begins = f"{module}."
    return {name(file) for file in PACKAGES if any(f"{one}.".startswith(begins) for one in imported(file))}


def test_click_is_for_the_command_line_alone() -> None:
    places = (
        "ackclock/cli/*.py",
        "ackclock_paths/cli/*.py",
        "ackclock_evaluate/cli.py",
        "ackclock_search/cli.py",
    )
    command_line = {name(file) for place in places for file in (ROOT / "python").glob(place)}
    # The packages themselves, and the tables that the verbs print.
    without = {name(file) for file in PACKAGES if file.parent.name == "cli" and file.name == "__init__.py"}
    assert importers("click") == command_line - without - {"python/ackclock/cli/tables.py"}


def test_only_the_engine_calls_the_extension() -> None:
    found = importers("ackclock._native")
    assert found
    # The types of a summary take the names of its columns from there, names are suggested, and statistics
    # have their distributions.
    found -= {f"python/ackclock/{file}.py" for file in ("summary", "names", "decision/distributions")}
    assert all(file.startswith("python/ackclock/engine/") for file in found), found


STATISTICS = ("scipy.stats", "scipy.special.betaincinv", "scipy.special.stdtr", "scipy.special.stdtrit")
"""Tests, intervals and their distributions; import-linter, which takes no part of a foreign package,
lists who imports SciPy at all."""
DRAWN = {"python/ackclock/reproduction/inference/infer.py": "draws settings evenly (scipy.stats.qmc)"}


def test_only_decisions_have_statistics() -> None:
    allowed = {name(file) for file in (ROOT / "python/ackclock/decision").glob("*.py")}
    found = {file for module in STATISTICS for file in importers(module)}
    assert found & allowed, "nothing was looked at"
    assert found - allowed == set(DRAWN)


def test_files_are_short() -> None:
    lengths = {}
    for file in CODE:
        # The tests of a Rust file, at its end, do not count.
        code, *_ = re.split(r"^#\[cfg\(test\)\]\nmod ", file.read_text("utf-8"), flags=re.MULTILINE)
        lengths[name(file)] = code.count("\n")
    assert len(lengths) > 100
    too_long = {file for file, lines in lengths.items() if lines > LONGEST}
    assert not too_long - set(LONGER)


NOT_NOUNS = "Over Rare Gate Stay Told Seen Asked Wanted Found Shown Known Due Got"
"""Names that types have had, and that say what happens to a thing rather than what it is."""


def test_types_have_nouns() -> None:
    declared = re.compile(
        rf"^\s*(?:pub(?:\(\w+\))? )?(?:struct|enum|class|type) ({NOT_NOUNS.replace(' ', '|')})\b"
    )
    assert declared.match("pub struct Seen {")
    assert not declared.match("struct SeenPackets {")
    types = [
        f"{name(file)}: {line.strip()}"
        for file in CODE
        for line in file.read_text("utf-8").splitlines()
        if declared.match(line)
    ]
    assert types == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_says_what_was_true_once(page: Path) -> None:
    stale = re.compile(r"\b(not|there) yet\b|\bso far\b|\bfor now\b", re.IGNORECASE)
    assert [line for line in page.read_text("utf-8").splitlines() if stale.search(line)] == []


def test_cargo_builds_what_its_lock_file_says() -> None:
    scripts = "".join(file.read_text() for file in (ROOT / "scripts").iterdir())
    # The toolchain of Debian, a path, builds a standard library whose lock file Debian has changed.
    commands = re.findall(r"(?<!/)\bcargo (?:build|clippy|test|deny)\b.*", scripts)
    assert len(commands) > 8
    assert [line for line in commands if "--locked" not in line and "--version" not in line] == []


def test_every_file_of_tests_in_rust_is_compiled() -> None:
    """Where tests/all.rs names the files of one program, a file without its line would not run."""
    left_out = []
    for program in ROOT.glob("crates/*/tests/all.rs"):
        manifest = tomllib.loads((program.parents[1] / "Cargo.toml").read_text())
        compiled = {one["name"] for one in manifest["test"]}
        compiled |= set(re.findall(r"^mod (\w+);$", program.read_text(), re.MULTILINE))
        files = program.parent.glob("*.rs")
        left_out += [name(file) for file in files if file.stem not in compiled]
    assert left_out == []


def test_a_name_of_a_type_has_one_meaning() -> None:
    """Names of classes and of aliases of types: two modules that define the same one confuse a reader."""
    homes: dict[str, set[str]] = {}
    for file in PACKAGES:
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, set()).add(name(file))
            elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(
                node.value, ast.Subscript | ast.BinOp | ast.Name | ast.Attribute
            ):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name) and re.match("[A-Z].*[a-z]", target.id):
                        homes.setdefault(target.id, set()).add(name(file))
    several = {word: sorted(files) for word, files in homes.items() if len(files) > 1}
    assert len(several) < 10, several


def test_annotations_say_what_is_there() -> None:
    count = 0
    for file in PACKAGES:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                if annotation is not None:
                    parts = ast.walk(annotation)
                    count += sum(isinstance(part, ast.Name) and part.id == "Any" for part in parts)
    assert count < 200


IN_REPOSITORY = re.compile(r"(?<![\w/])(?:docs|examples|satellites|scripts|papers|benches)/[\w./+-]*\w")


def said(file: Path) -> Iterator[str]:
    """Return the texts of a file that users can see: strings, and the help of programs in Rust."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        tree = ast.parse(text)
        inner = ast.walk(ast.Module(tree.body[ast.get_docstring(tree) is not None :], []))
        yield from (
            node.value for node in inner if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        return
    help_of = r"\s*///(.*)" if file.name == "main.rs" else r"(?!)"
    lines = text.splitlines()
    yield " ".join(help_line[1] for line in lines if (help_line := re.match(help_of, line)))
    code = "\n".join(line for line in lines if not re.match(r"\s*//", line))
    yield from re.findall(r'"((?:[^"\\]|\\.)*)"', code, re.DOTALL)


def away(text: str) -> list[str]:
    """Return the files that a text names without saying that they are in the repository."""
    text = re.sub(r"\\?\s+", " ", text)
    return [
        path[0]
        for path in IN_REPOSITORY.finditer(text)
        if (ROOT / path[0]).exists() and not text[path.end() :].startswith(" in the repository")
    ]


def test_what_names_a_file_that_no_wheel_has_says_where_it_is() -> None:
    assert away("see docs/paths.md") == ["docs/paths.md"]
    assert away("see docs/paths.md in the\n    repository, or src/paths.md") == []
    # Texts about papers are also in published results, where pages of the site link their paths.
    files = [
        file for file in CODE if file.suffix in {".py", ".rs"} and {"python", "crates"} & set(file.parts)
    ]
    files = [file for file in files if "ackclock_papers" not in file.parts and file.name != "build.rs"]
    assert len(files) > 100
    assert [f"{name(file)}: {path}" for file in files for text in said(file) for path in away(text)] == []
