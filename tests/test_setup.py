"""Installing and building a checkout: uv.lock, the sources of the extension, Makefile and scripts."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKED = {package["name"]: package for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
KEYS = [key["file"] for key in PROJECT["tool"]["uv"]["cache-keys"] if "file" in key]
UV = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def name(requirement: str) -> str:
    return re.split(r"[<>=~! ;\[]", requirement)[0]


def files(lock: dict[str, Any]) -> list[dict[str, str]]:
    return [*lock.get("wheels", []), *([lock["sdist"]] if "sdist" in lock else [])]


def installed(package: str) -> set[str]:
    """Return the names of a package and of all its dependencies, on any machine."""
    names, waiting = set(), [package]
    while waiting:
        dependency = waiting.pop()
        if dependency not in names:
            names.add(dependency)
            waiting += [needed["name"] for needed in LOCKED[dependency].get("dependencies", [])]
    return names


def grouped() -> set[str]:
    """Return the names of the packages in the groups, without those of included groups."""
    groups = PROJECT["dependency-groups"].values()
    return {name(entry) for group in groups for entry in group if isinstance(entry, str)}


def test_every_requirement_is_locked() -> None:
    project = PROJECT["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = grouped() | {name(entry) for several in lists for entry in several}
    assert wanted <= set(LOCKED), f"run make lock: {wanted - set(LOCKED)} is not locked"


def test_files_have_hashes_and_are_those_of_the_public_index() -> None:
    others = {key: one for key, one in LOCKED.items() if key != "ackclock"}
    assert {package["source"].get("registry") for package in others.values()} == {"https://pypi.org/simple"}
    for package in others.values():
        assert files(package), package["name"]
        for file in files(package):
            assert file["hash"].startswith("sha256:")
            assert file["url"].startswith("https://files.pythonhosted.org/")


def test_a_first_run_installs_few_packages() -> None:
    runs = installed("ackclock")
    assert {"numpy", "polars", "python-dateutil"} <= runs, "nothing was followed"
    assert len(runs) <= 30
    assert not runs & (grouped() - {"ackclock"}), "what only tests, notebooks or the site need"


def test_the_extension_is_built_by_the_maturin_that_packs_it() -> None:
    (needed,) = PROJECT["build-system"]["requires"]
    assert needed == f"maturin=={LOCKED['maturin']['version']}"


def _sources() -> Iterator[Path]:
    """Return the files of this repository from which cargo has built the extension."""
    file = ROOT / "target" / "release" / "lib_native.d"
    if not file.exists():
        pytest.skip("the extension was not built in this checkout")
    _, listed = file.read_text().split(": ", 1)
    for one in re.split(r"(?<!\\) ", listed.strip()):
        path = Path(os.path.normpath(one))
        yield from (inner for inner in path.rglob("*") if inner.is_file()) if path.is_dir() else [path]


def test_the_keys_name_every_file_of_the_extension() -> None:
    named = {file.resolve() for key in KEYS for file in ROOT.glob(key)}
    sources = {file.resolve() for file in _sources() if ROOT / "target" not in file.parents}
    assert {file.suffix for file in sources} >= {".rs", ".c", ".h", ".md", ".toml"}
    assert sources <= named, sorted(sources - named)


BACKEND = """\
import base64, hashlib, pathlib, zipfile


def build_editable(folder, settings=None, metadata=None):
    with pathlib.Path("builds").open("a") as builds:
        builds.write("x")
    wheel = "ackclock-1-py3-none-any.whl"
    files = {"METADATA": "Metadata-Version: 2.1\\nName: ackclock\\nVersion: 1\\n",
             "WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    with zipfile.ZipFile(pathlib.Path(folder) / wheel, "w") as archive:
        record = ""
        for name, text in files.items():
            archive.writestr(f"ackclock-1.dist-info/{name}", text)
            record += f"ackclock-1.dist-info/{name},,\\n"
        archive.writestr("ackclock-1.dist-info/RECORD", record + "ackclock-1.dist-info/RECORD,,\\n")
    return wheel
"""


@pytest.mark.skipif(UV is None, reason="needs uv")
def test_a_changed_file_of_any_key_is_built_again(tmp_path: Path) -> None:
    """A project with the keys of this one, and a backend that only counts its builds."""
    assert UV is not None
    keys = ",\n".join(f'{{ file = "{key}" }}' for key in KEYS)
    (tmp_path / "backend.py").write_text(BACKEND)
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "ackclock"\nversion = "1"\nrequires-python = ">=3.11"\n'
        f"[tool.uv]\ncache-keys = [\n{keys}\n]\n"
    )
    changed = {key: next(ROOT.glob(key)).relative_to(ROOT) for key in KEYS}
    for file in [*changed.values(), Path("README.md")]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        if not (tmp_path / file).exists():
            (tmp_path / file).touch()

    def builds() -> int:
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("UV_", "VIRTUAL"))
        }
        command = [UV, "sync", "--quiet", "--offline", "--python", sys.executable]
        subprocess.run(
            [*command, "--cache-dir", tmp_path / "cache"], cwd=tmp_path, env=environment, check=True
        )
        return len((tmp_path / "builds").read_text())

    assert builds() == 1
    (tmp_path / "README.md").write_text("not part of the extension")
    assert builds() == 1
    for number, (key, file) in enumerate(changed.items(), 2):
        with (tmp_path / file).open("a") as text:
            text.write("\n")
        assert builds() == number, key


def test_bytecode_is_kept_and_never_that_of_another_version(tmp_path: Path) -> None:
    """Two versions of a file with the same size and time, as a checkout or an archive may leave them."""
    _, program = (ROOT / "scripts" / "setup").read_text().split("<< 'END'\n")
    source = tmp_path / "python" / "version.py"
    source.parent.mkdir()
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}

    def write(version: int) -> None:
        source.write_text(f"print({version})\n")
        os.utime(source, (1e9, 1e9))

    def run(*command: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=environment,
            text=True,
            capture_output=True,
            check=True,
        )
        return done.stdout, done.stderr

    def compile_all() -> int:
        run("-c", program.removesuffix("END\n"), "python")
        (compiled,) = source.parent.glob("__pycache__/*.pyc")
        return compiled.stat().st_mtime_ns

    def imported() -> tuple[str, bool]:
        """Return what the file prints, and whether it was read as bytecode."""
        said, log = run("-v", "-c", "import sys; sys.path.insert(0, 'python'); import version")
        return said, f"matches {source}\n" in log

    write(1)
    assert imported() == ("1\n", False)
    first = compile_all()
    assert imported() == ("1\n", True)
    assert compile_all() == first, "compiled without need"
    write(2)
    assert imported() == ("2\n", False)
    assert compile_all() > first
    assert imported() == ("2\n", True)


def test_the_makefile_is_short_and_its_help_names_every_script() -> None:
    assert len((ROOT / "Makefile").read_text().splitlines()) <= 60
    scripts = [file for file in (ROOT / "scripts").iterdir() if file.suffix != ".sh"]
    shown = subprocess.run(
        ["make", "-C", ROOT, "--no-print-directory"], capture_output=True, text=True, check=True
    )
    helped = dict(re.findall(r"^  make (\S+) +(\S.*)$", shown.stdout, re.MULTILINE))
    assert set(helped) == {file.name for file in scripts}
    for file in scripts:
        shebang, described, strict, *_ = file.read_text().splitlines()
        assert shebang == "#!/usr/bin/env bash", file
        assert described == f"# {helped[file.name]}"
        assert strict == "set -euo pipefail", file
        assert os.access(file, os.X_OK), file


def test_only_what_is_asked_to_installs_packages_of_the_system() -> None:
    asked = {file.name for file in (ROOT / "scripts").iterdir() if "apt-get" in file.read_text()}
    assert asked == {"kernel-deps", "lab-deps"}
    for file in (ROOT / "scripts").iterdir():
        assert not re.search(r"(scripts/|make )(kernel|lab)-deps$", file.read_text(), re.MULTILINE), file
