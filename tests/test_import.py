"""`import ackclock` provides every public name, and loads only the modules that are used."""

import subprocess
import sys

import pytest

import ackclock

LAZY = ("comparison", "engine", "metrics", "models", "predictions", "runs", "sweeps")
HEAVY = ("click", "jinja2", "matplotlib", "numpy", "polars", "rich", "scipy")


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
