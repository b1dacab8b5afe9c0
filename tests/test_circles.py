"""No file imports, by way of others, itself: in Rust, Python and TypeScript.

A file stands for what is written in it. A parent module and its children are a room of their own: `mod` lines
and re-exports point down, and what a child takes from its parent's file points up, which the graph has, too.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
Graph = Mapping[Path, set[Path]]


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups of files that reach each other (Tarjan's algorithm), each in order."""
    index: dict[Path, int] = {}
    low: dict[Path, int] = {}
    stack: list[Path] = []
    found: list[list[str]] = []

    def visit(file: Path) -> None:
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in sorted(graph.get(file, ())):
            if other not in index:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], index[other])
        if low[file] == index[file]:
            place = stack.index(file)
            group, stack[place:] = stack[place:], []
            if len(group) > 1:
                found.append(sorted(str(member) for member in group))

    for file in sorted(graph):
        if file not in index:
            visit(file)
    return found


def of_python(folder: Path) -> Graph:
    """Return the imports of each file of a folder of modules, at any place in the file."""
    files = {".".join(file.relative_to(folder).with_suffix("").parts): file for file in folder.rglob("*.py")}
    files = {name.removesuffix(".__init__"): file for name, file in files.items()}

    def imported(file: Path) -> Iterator[Path]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [[alias.name] for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                # A name is a module of a package, or else in the package itself.
                names = [[f"{node.module}.{alias.name}", node.module] for alias in node.names]
            else:
                continue
            for ways in names:
                yield from [files[way] for way in ways if way in files][:1]

    return {file: {*imported(file)} - {file} for file in files.values()}


def of_rust(crate: Path) -> Graph:
    """Return the files that each file of a crate uses by `crate::`, `super::` and `self::` paths."""
    files = {}
    for file in crate.rglob("*.rs"):
        parts = list(file.relative_to(crate).with_suffix("").parts)
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        files[tuple(parts)] = file

    def expanded(path: str) -> Iterator[str]:
        """Yield the paths of a `use` with braces."""
        head, brace, rest = path.partition("{")
        if not brace:
            yield path
            return
        depth, part = 0, ""
        for letter in rest[: rest.rindex("}")] + ",":
            if letter == "," and not depth:
                yield from expanded(head + part.strip())
                part = ""
            else:
                depth += {"{": 1, "}": -1}.get(letter, 0)
                part += letter

    def imported(own: tuple[str, ...], text: str) -> Iterator[Path]:
        # Tests at the end of a file, and documentation, are not the module.
        text = re.split(r"^#\[cfg\(test\)\]\s*mod tests", text, flags=re.MULTILINE)[0]
        text = re.sub(r"//[^\n]*", "", text)
        used = re.findall(
            r"^\s*(?:pub(?:\([^)]*\))? )?use ((?:crate|super|self)::[^;]+);", text, re.MULTILINE
        )
        inline = re.findall(
            r"(?<![$\w])((?:crate|super)(?:::\w+)+)",
            re.sub(r"^\s*(?:pub )?use [^;]+;", "", text, flags=re.MULTILINE),
        )
        for path in [one for use in used for one in expanded(re.sub(r"\s+", " ", use))] + inline:
            names = [name.strip() for name in path.split(" as ")[0].split("::")]
            base = [] if names[0] == "crate" else list(own[:-1] if names[0] == "super" else own)
            names = names[1:]
            while names and names[0] == "super":
                base, names = base[:-1], names[1:]
            whole = (*base, *names)
            ways = [whole[:end] for end in range(len(whole), -1, -1) if whole[:end] in files]
            if ways:
                yield files[ways[0]]

    return {file: {*imported(name, file.read_text("utf-8"))} - {file} for name, file in files.items()}


def of_typescript(folder: Path) -> Graph:
    """Return the files that each file imports by relative paths."""

    def imported(file: Path) -> Iterator[Path]:
        for path in re.findall(r"""from ["'](\.[^"']+)["']""", file.read_text("utf-8")):
            target = (file.parent / path).resolve()
            ways = [target, *(target.with_name(target.name + ending) for ending in (".ts", ".tsx"))]
            yield from [way for way in ways if way.is_file()][:1]

    return {file: {*imported(file)} for ending in ("ts", "tsx") for file in folder.rglob(f"*.{ending}")}


def graphs() -> Iterator[tuple[str, Graph]]:
    for crate in sorted((ROOT / "crates").iterdir()):
        yield crate.name, of_rust(crate / "src")
    yield "python", of_python(ROOT / "python")
    yield "ns2", of_python(ROOT / "papers" / "ns2")
    yield "lab", of_typescript(ROOT / "lab" / "src")


ALL = dict(graphs())


@pytest.mark.parametrize("part", ALL)
def test_no_file_imports_itself_by_way_of_others(part: str) -> None:
    graph = ALL[part]
    assert any(graph.values()) or len(graph) < 4, "nothing is read as an import"
    named = {file.relative_to(ROOT): {other.relative_to(ROOT) for other in to} for file, to in graph.items()}
    assert circles(named) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "way").mkdir()
    texts = {
        "lib.rs": "mod a;\nmod way;\n",
        "a.rs": "use crate::way::{near::{Near, Other as More}, far};\n",
        "way/mod.rs": "pub mod near;\npub mod far;\n",
        "way/near.rs": "// use crate::a::Not;\n#[cfg(test)]\nmod tests { use crate::a::Fine; }\n",
        "way/far.rs": "fn far() { super::near::go() }\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert circles(of_rust(tmp_path)) == []
    (tmp_path / "way" / "near.rs").write_text("use super::far::Far;\n")
    assert [[Path(file).name for file in group] for group in circles(of_rust(tmp_path))] == [
        ["far.rs", "near.rs"]
    ]
    for name, text in {
        "a.py": "import b\n",
        "b.py": "def f():\n    from a import g\n",
        "c.py": "import a\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert [[Path(file).name for file in group] for group in circles(of_python(tmp_path))] == [
        ["a.py", "b.py"]
    ]
    (tmp_path / "a.ts").write_text('import { b } from "./b";\n')
    (tmp_path / "b.tsx").write_text('export { a } from "./a.ts";\n')
    assert len(circles(of_typescript(tmp_path))) == 1
