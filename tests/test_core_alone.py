"""The core without satellites, and the verbs that other distributions add to it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock import SimulationError
from ackclock.cli.main import Verb
from conftest import Finished

REFUSED = """\
import subprocess, sys
import conftest
try:
    import ackclock_evaluate
except ImportError as error:
    print(error.name)
there = subprocess.run([sys.executable, "-c", "import ackclock_evaluate"], capture_output=True, text=True)
print(there.returncode, there.stderr.splitlines()[-1])
"""


@pytest.fixture
def core(ackclock: Callable[..., Finished]) -> Callable[..., Finished]:
    """Run the command line where satellites are missing."""
    paths = [str(Path(__file__).with_name("core_only")), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return lambda *arguments: ackclock(*arguments, env=environment)


def test_satellites_are_refused_in_the_tests_and_in_what_they_start() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSED],
        cwd=Path(__file__).parent,
        env=os.environ | {"ACKCLOCK_CORE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    here, there = done.stdout.splitlines()
    assert here == "ackclock_evaluate"
    assert there == "1 ImportError: ackclock_evaluate is a satellite, and ACKCLOCK_CORE is set"


def test_the_core_simulates_alone(core: Callable[..., Finished], scenario: Path) -> None:
    done = core("simulate", scenario)
    assert (done.returncode, done.stderr) == (0, "")
    assert "illinois" in done.stdout
    # The list of verbs imports none of them.
    assert "evaluate" in core("--help").stdout


@pytest.mark.parametrize(
    ("verb", "package"),
    [
        ("evaluate", "ackclock_evaluate"),
        ("search", "ackclock_search"),
        ("link", "ackclock_paths"),
        ("measure", "ackclock_paths"),
    ],
)
def test_a_verb_whose_package_is_missing_says_so_in_one_line(
    core: Callable[..., Finished], verb: str, package: str
) -> None:
    done = core(verb, "--help")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"ackclock: {verb} needs the package {package}, which is not installed\n"


def test_what_the_package_of_a_verb_lacks_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lacking.py").write_text("import nothing_of_this_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        Verb("lacking", "lacking", "Lack.").load()
    with pytest.raises(SimulationError, match="needs the package absent, which is not installed"):
        Verb("absent", "absent.cli", "Be absent.").load()


@pytest.fixture
def distribution(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a distribution that adds the verb greet, and one named check."""
    site = tmp_path / "site"
    folder = site / "greeting-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[ackclock.verbs]\ngreet = greeting:greet\ncheck = greeting:greet\n"
    )
    (site / "greeting.py").write_text(
        "import click\n"
        "@click.command()\n"
        "@click.argument('name')\n"
        "def greet(name):\n"
        "    print(f'Hello, {name}.')\n"
    )
    paths = [str(site), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def test_another_distribution_adds_a_verb(
    ackclock: Callable[..., Finished], distribution: dict[str, str]
) -> None:
    done = ackclock("greet", "Jacobson", env=distribution)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello, Jacobson.\n", "")
    refused = ackclock("greet", env=distribution)
    assert refused.returncode == 2
    assert refused.stderr == "ackclock: Missing argument 'NAME' (see ackclock greet --help)\n"
    assert "No such command 'greet'" in ackclock("greet", "Jacobson").stderr


@pytest.mark.usefixtures("scenario")
def test_a_verb_of_the_table_is_no_other_distribution_s(
    ackclock: Callable[..., Finished], distribution: dict[str, str], tmp_path: Path
) -> None:
    assert ackclock("check", "two.toml", env=distribution).stdout.startswith("two.toml: ok\n")
    # Nor are entry points read then: this one cannot be.
    (tmp_path / "site" / "greeting-1.0.dist-info" / "entry_points.txt").write_bytes(b"\xff")
    assert ackclock("check", "two.toml", env=distribution).returncode == 0
    assert ackclock("greet", "Jacobson", env=distribution).returncode == 1
