"""Completion of the verbs of satellites."""

from itertools import chain

import pytest

from ackclock_evaluate import names
from ackclock_evaluate.saved import OBJECTIVES
from ackclock_evaluate.suites import SUITES
from ackclock_paths.cli.programs import Program
from ackclock_search import GENOMES
from ackclock_search import names as searched
from test_completion import loaded, offered


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ackclock evaluate copa --against bbr3,cubic-8", ["bbr3,cubic-8312"]),
        ("ackclock evaluate copa --only mixed,bufferb", ["mixed,bufferbloat"]),
        ("ackclock evaluate copa --suite rfc8", ["rfc8867"]),
        ("ackclock search copa star", ["starvation"]),
        ("ackclock search copa delay --genome pu", ["pulses"]),
        ("ackclock kernel load illinois-", ["illinois-linux"]),
        ("ackclock measure se", ["serve"]),
    ],
)
def test_names_are_offered(line, expected):
    assert offered(line) == expected


def test_the_names_are_those_of_what_they_name():
    listed = {name: [criterion.id for criterion in suite] for name, suite in SUITES.items()}
    assert listed == names.criteria()
    assert len(set(chain.from_iterable(listed.values()))) == sum(map(len, listed.values()))
    assert tuple(OBJECTIVES) == searched.OBJECTIVES
    assert tuple(GENOMES) == searched.GENOMES


@pytest.mark.parametrize("line", ["ackclock evaluate copa --only mi", "ackclock kernel load il"])
def test_a_tab_loads_no_library_that_is_slow(line):
    assert not loaded(line)


def test_the_options_of_a_program_are_those_that_it_describes(tmp_path, monkeypatch):
    program = tmp_path / "ackclock-link"
    program.write_text("#!/bin/sh\necho '      --rate <RATE>'; echo '  -V, --version  like --other'\n")
    program.chmod(0o755)
    monkeypatch.setenv("ACKCLOCK_LINK", str(program))
    assert Program("link", "", "ackclock-link").options() == ["--rate", "--version"]
    monkeypatch.setenv("ACKCLOCK_LINK", str(tmp_path / "missing"))
    assert Program("link", "", "ackclock-link").options() == []
