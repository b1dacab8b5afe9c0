"""One name and one unit per setting, in every verb."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from ackclock.cli.main import VERBS, app
from ackclock_paths.cli.programs import Program

ROOT = Path(__file__).parents[2]
VOCABULARY = {
    "--rate": {"RATE"},
    "--rtt": {"TIME"},
    "--delay": {"TIME"},
    "--buffer": {"SIZE"},
    "--queue": {"KIND"},
    # predict calculates at several loss rates.
    "--loss": {"SHARE", "SHARE,..."},
    "--duration": {"TIME"},
    "--runs": {"N"},
    "--seed": {"N"},
    "--output": {"DIR", "FILE"},
    "--json": {None},
    "--jobs": {"N"},
    "--cluster": {"ADDRESS"},
    "--limit": {"TIME"},
    "--memory": {"SIZE"},
    "--dry-run": {None},
    "--force": {None},
    "--live": {None},
    "--pictures": {None},
    "--set": {"KEY=VALUE"},
    "--warmup": {"TIME"},
    "--sample": {"TIME"},
    "--flows": {"N", "N,..."},
}
"""Settings that several verbs have or may get, and what stands for their value in --help."""
SYNONYMS = {
    "--bandwidth": "--rate",
    "--capacity": "--rate",
    "--latency": "--delay",
    "--length": "--duration",
    "--time": "--duration",
    "--repeat": "--runs",
    "--seeds": "--runs",
    "--out": "--output",
    "--report": "--output",
    "--threads": "--jobs",
    "--parallel": "--jobs",
    "--packet-loss": "--loss",
    "--aqm": "--queue",
}
UNITS = re.compile(r"-(s|ms|us|min|mbps|mbit|bps|kb|mb|bytes|packets|percent)$")
RUNS_SIMULATIONS = ["simulate", "compare", "sweep", "reproduce", "evaluate", "search", "predict response"]


class Option(NamedTuple):
    """An option of a verb."""

    verb: str
    flags: tuple[str, ...]
    value: str | None
    """What stands for its value in --help; None if it takes none."""


def commands(group: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    yield name, group
    if isinstance(group, click.Group):
        for word in group.commands:
            command = group.commands[word]
            yield from commands(
                command.load() if hasattr(command, "load") else command, f"{name} {word}".strip()
            )


ARGUMENT = re.compile(r"#\[arg\(([^\]]*)\)\]\s+(?:pub )?(\w+): ([^\n]+),\n")


def described_in_rust(crate: str, subcommand: str | None) -> Iterator[Option]:
    """Yield the options of a program from its source, so that it need not be built."""
    text = (ROOT / f"crates/{crate}/src/main.rs").read_text("utf-8")
    if subcommand is not None:
        text = text[text.index(f"    {subcommand.title()} {{") :].split("\n    },\n")[0]
    for attributes, field, kind in ARGUMENT.findall(text):
        if "long" in attributes:
            name = re.search(r'value_name = "([^"]+)"', attributes)
            value = None if kind == "bool" else name[1] if name else field.upper()
            yield Option(f"{crate} {subcommand or ''}".strip(), (f"--{field.replace('_', '-')}",), value)


def every_option() -> list[Option]:
    listed: list[Option] = []
    for verb, command in commands(app):
        if isinstance(command, Program):
            continue
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                value = None if parameter.is_flag else parameter.metavar
                listed.append(Option(verb, tuple(parameter.opts), value))
    listed += described_in_rust("ackclock-link", None)
    listed += described_in_rust("ackclock-measure", "serve")
    listed += described_in_rust("ackclock-measure", "run")
    return listed


OPTIONS = every_option()


def test_all_verbs_are_looked_at():
    assert {option.verb.split()[0] for option in OPTIONS if option.verb} >= {
        *(
            verb.name
            for verb in VERBS
            if verb.name not in ("link", "example", "schema", "explain", "cite", "completion")
        ),
        "ackclock-link",
        "ackclock-measure",
    }


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: f"{option.verb} {option.flags[-1]}")
def test_a_setting_has_one_name_and_takes_the_same_everywhere(option):
    flag = max(option.flags, key=len)
    assert flag not in SYNONYMS, f"write {SYNONYMS[flag]}"
    # The unit belongs to the value, which is written as in a scenario.
    assert not UNITS.search(flag)
    if flag in VOCABULARY:
        assert option.value in VOCABULARY[flag]


def test_results_are_written_by_o():
    for option in OPTIONS:
        if "--output" in option.flags and not option.verb.startswith("ackclock-"):
            assert "-o" in option.flags


def test_every_help_has_an_example():
    for verb, command in commands(app):
        # A group says how to start; what a program says is below.
        if verb and not isinstance(command, (click.Group, Program)):
            assert f"  ackclock {verb}" in (command.help or "").replace("sudo ", ""), verb
        elif isinstance(command, click.Group) and verb:
            assert f"ackclock {verb} " in (command.epilog or ""), verb
    link = (ROOT / "crates/ackclock-link/src/main.rs").read_text("utf-8")
    assert "///   ackclock link --rate" in link
    measure = (ROOT / "crates/ackclock-measure/src/main.rs").read_text("utf-8")
    for verb in ("token", "serve", "run"):
        before = measure.split(f"    {verb.title()} {{")[0]
        assert f"ackclock measure {verb} " in before[before.rindex("#[command(after_help") :]


@pytest.mark.parametrize("verb", RUNS_SIMULATIONS)
def test_what_runs_simulations_takes_jobs_and_can_say_what_they_cost(verb):
    flags = {flag for option in OPTIONS if option.verb == verb for flag in option.flags}
    assert {"--jobs", "--json", "--dry-run", "--cluster", "--output"} <= flags
