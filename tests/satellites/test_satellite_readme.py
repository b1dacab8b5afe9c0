"""What the README quotes of the verbs of satellites."""

import pytest

from test_readme import ADDED, COMMANDS, MADE


@pytest.mark.parametrize(
    ("command", "lines"),
    [entry for entry in COMMANDS if entry[0].split()[1] in ADDED],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_command_prints_what_is_quoted(command, lines, tmp_path):
    assert lines
    assert MADE["missing"](lines, MADE["run"](command, tmp_path)) == []
