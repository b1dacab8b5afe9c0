"""`import ackclock` provides every public name, and loads only the modules that are used."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ackclock

LAZY = ("comparison", "engine", "metrics", "models", "predictions", "runs", "sweeps")
HEAVY = ("click", "jinja2", "matplotlib", "numpy", "polars", "rich", "scipy")
UNUSED = ("concurrent", "hashlib", "logging", "pickle", "sqlite3", "subprocess", "tempfile", *HEAVY[1:])
"""Modules that a short command does not use; Click itself imports `uuid`."""
SETUP = (Path(__file__).parents[1] / "scripts" / "setup").read_text()


def in_fresh_interpreter(code: str) -> list[str]:
    command = [sys.executable, "-c", f"import sys, ackclock\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_import_loads_nothing_else() -> None:
    loaded = in_fresh_interpreter("print(*sys.modules)")
    assert {name for name in loaded if "ackclock" in name} == {"ackclock"}


def test_a_summary_needs_no_library() -> None:
    path = "ackclock.dumbbell(rate='1 Mbit/s', delay='20 ms'), ackclock.flow('reno')"
    code = f"ackclock.simulate(ackclock.scenario({path}, duration='1 s'), record=False)"
    loaded = in_fresh_interpreter(f"{code}\nprint(*sys.modules)")
    assert "ackclock.engine" in loaded
    assert not {name.split(".")[0] for name in loaded} & set(HEAVY)


def loaded_by(*words: str) -> dict[str, str]:
    """Return the modules that a command has loaded when it ends, with their files."""
    code = f"""
import atexit, sys
def tell():
    for name, module in sys.modules.items():
        print(name, getattr(module, "__file__", None), file=sys.stderr)
atexit.register(tell)
sys.argv[1:] = {words!r}
from ackclock.cli.main import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout
    return dict(line.split(" ", 1) for line in done.stderr.splitlines())


@pytest.fixture
def short(tmp_path: Path) -> str:
    path = ackclock.dumbbell(rate="1 Mbit/s", delay="20 ms"), ackclock.flow("reno")
    file = tmp_path / "short.json"
    file.write_text(json.dumps(ackclock.scenario(*path, duration="1 s").written()))
    return str(file)


@pytest.mark.parametrize("verb", ["--help", "controllers", "simulate --json"])
def test_a_short_command_loads_only_what_it_uses(short: str, verb: str) -> None:
    loaded = loaded_by(*verb.split(), *([short] if "simulate" in verb else []))
    modules = {name.split(".")[0] for name in loaded}
    assert "click" in modules
    assert sorted(modules & set(UNUSED)) == []


def test_a_comparison_loads_no_scipy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = ("--rate", "2mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "2")
    loaded = loaded_by("compare", *path, "reno", "cubic", "aimd", "--json")
    modules = {name.split(".")[0] for name in loaded}
    assert "numpy" in modules
    assert "scipy" not in modules


def test_what_a_short_command_loads_is_compiled_at_setup(short: str) -> None:
    loaded = loaded_by("simulate", "--json", short)
    installed = {name.split(".")[0] for name, file in loaded.items() if "site-packages" in file}
    # What `site` loads belongs to the interpreter; ackclock itself may be installed, too.
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    (compiled,) = re.findall(r"python - python (.*) <<", SETUP)
    assert installed - {"ackclock"} - set(bare.stdout.split()) == set(compiled.split())


@pytest.mark.parametrize("name", ackclock.__all__)
def test_every_public_name_is_there(name: str) -> None:
    # Imported from its module, not only named by a type checker's import.
    assert getattr(ackclock, name) is not None
    assert name in dir(ackclock)


@pytest.mark.parametrize("name", LAZY)
def test_a_package_is_there_without_an_import_of_its_own(name: str) -> None:
    assert in_fresh_interpreter(f"print(ackclock.{name}.__name__)") == [f"ackclock.{name}"]
    assert name in dir(ackclock)


def test_formulas_and_predictions_are_there_too() -> None:
    # Reno's response function is sqrt(1.5/p), 12.2 packets at one loss in a hundred.
    code = "print(round(float(ackclock.models.responses.reno(0.01)), 1))"
    assert in_fresh_interpreter(code) == ["12.2"]
    code = "print(ackclock.predictions.timeouts.predict((0.2,), seeds=1).x)"
    assert in_fresh_interpreter(code) == ["p"]


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="No ackclock attribute metric"):
        ackclock.metric  # type: ignore[attr-defined]  # noqa: B018
