"""The verbs of satellites, from outside, as `test_cli.py` has those of the core."""

import pytest

from ackclock import SimulationError
from ackclock.cli.main import VERBS, app
from ackclock_paths.cli import programs
from test_cli import OWN, one_line, says_first_what_the_list_says

ADDED = sorted({verb.name for verb in VERBS} - set(OWN))


def test_a_group_without_its_verb_is_bad_input(ackclock):
    assert one_line(ackclock("kernel"), 2) == "ackclock: Missing command (see ackclock kernel --help)"


@pytest.mark.parametrize(
    ("name", "target"), [("ackclock-link", "measure"), ("ackclock-kernel", "kernel-deps kernel")]
)
def test_a_program_that_is_missing_says_where_it_comes_from(name, target, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    variable = name.upper().replace("-", "_")
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(programs, "__file__", str(tmp_path / "python/ackclock_paths/cli/programs.py"))
    with pytest.raises(SimulationError) as installed:
        programs.program(name)
    # An installed package has no Makefile: make there would find nothing.
    assert str(installed.value) == (
        f"program not found: {name}; build it in a checkout of ackclock with make {target}, "
        f"then put it on the PATH or name it in {variable}"
    )
    (tmp_path / "Makefile").touch()
    with pytest.raises(SimulationError) as checkout:
        programs.program(name)
    assert str(checkout.value) == f"program not found: {name}; build it with make {target}"
    mine = tmp_path / "mine"
    mine.touch()
    monkeypatch.setenv(variable, str(mine))
    assert programs.program(name) == mine


# link is a program of its own, kernel and measure are groups of verbs.
def test_help_has_an_example():
    assert "  ackclock evaluate" in app.commands["evaluate"].load().help


@pytest.mark.parametrize("verb", ADDED)
def test_the_list_says_of_a_verb_what_its_help_says_first(verb):
    assert says_first_what_the_list_says(verb)
