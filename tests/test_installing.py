"""What is installed, from where, and with whose rights."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = [
    *ROOT.glob("*.md"),
    *(file for ending in ("md", "py", "ipynb", "yml") for file in ROOT.glob(f"[a-z]*/**/*.{ending}")),
]
INSTALLS = re.compile(r"(?:pip3? install|uvx|uv tool (?:install|run)|uv add|pipx (?:install|run))\b([^`\n]*)")


def built(file: Path) -> bool:
    return {"target", "node_modules", "dist", ".venv"} & set(file.relative_to(ROOT).parts) != set()


def test_nothing_is_installed_by_our_name_from_a_registry():
    seen = 0
    for file in TEXTS:
        if file == Path(__file__) or built(file):
            continue
        for rest in INSTALLS.findall(file.read_text("utf-8")):
            seen += 1
            words = [word.strip("'\"") for word in rest.split("#")[0].split()]
            # The command after uvx --from FILE is one of that file.
            named = [word for word in words if re.match(r"ackclock(\[|$|[=<>])", word)]
            assert not named or "--from" in words, f"{file}: {rest}"
    assert seen > 5


@pytest.fixture
def system(tmp_path):
    """Return a function that runs kernel-deps on a system, and returns what it called."""

    def run(release: str, *, is_root: bool = False, missing: str = "nothing") -> list[str]:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        called = tmp_path / "called"
        called.write_text("")
        programs = {
            "id": f"echo {0 if is_root else 1000}",
            "sudo": f'echo sudo >> {called}; exec "$@"',
            **{
                name: f'echo {name} "$@" >> {called}; case "$*" in *{missing}*) exit 1;; esac'
                for name in ("apt-get", "dnf", "pacman")
            },
        }
        for name, line in programs.items():
            (folder / name).write_text(f"#!/bin/sh\n{line}\n")
            (folder / name).chmod(0o755)
        (tmp_path / "os-release").write_text(release)
        environment = os.environ | {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "OS_RELEASE": str(tmp_path / "os-release"),
        }
        done = subprocess.run(
            [ROOT / "scripts/kernel-deps"], env=environment, capture_output=True, text=True, check=False
        )
        return [*called.read_text().splitlines(), *done.stderr.splitlines()]

    return run


def test_a_user_installs_with_sudo_and_without_recommended_packages(system):
    said = system("ID=debian\n")
    assert said[0] == "sudo"
    installs = [line for line in said if line.startswith("apt-get")]
    assert installs[0].startswith("apt-get install --yes --quiet --no-install-recommends clang-19 ")
    assert all("--no-install-recommends" in line for line in installs)
    assert "sudo" not in system("ID=debian\n", is_root=True)


def test_an_older_debian_gets_its_own_compiler(system):
    said = system("ID=linuxmint\nID_LIKE='ubuntu debian'\n", missing="clang-19")
    assert [line.split()[5] for line in said if " clang" in line] == ["clang-19", "clang-14"]


def test_fedora_and_arch_have_lists_of_their_own(system):
    (fedora,) = [line for line in system("ID=fedora\n") if line.startswith("dnf")]
    assert "install_weak_deps=False" in fedora
    assert "elfutils-libelf-devel" in fedora
    (arch,) = [line for line in system("ID=manjaro\nID_LIKE=arch\n") if line.startswith("pacman")]
    assert " libelf " in arch


def test_another_system_is_told_what_it_needs(system):
    (line,) = system("ID=alpine\n")
    assert line.startswith("make kernel-deps: no list of packages for alpine; install clang, libelf,")
