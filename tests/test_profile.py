"""What people begin with has senders of today, files keep their meaning, and results say which it was."""

from pathlib import Path

import pytest

import ackclock
from ackclock.engine import today
from ackclock.summary import profiles

ROOT = Path(__file__).parents[1]
PATH = ackclock.dumbbell(rate="10 Mbit/s", delay="20 ms", queue="50 packets")
FLOWS = (ackclock.flow("reno", rtt="50 ms"), ackclock.flow("cubic", rtt="50 ms"))


def used(scenario: object) -> str:
    return profiles(ackclock.simulate(scenario, settings=["run.duration=31s"]).summary["flows"])


def test_the_builders_have_senders_of_today():
    assert used(ackclock.scenario(PATH, *FLOWS)) == "linux"
    # Ten packets at first, as RFC 6928 says and Linux does; the papers have two.
    assert "initial_window = 10" in ackclock.check(ackclock.scenario(PATH, *FLOWS))


def test_the_setting_of_the_papers_is_one_key_away():
    scenario = ackclock.scenario(PATH, *FLOWS, tcp={"profile": "ns2", "overhead": "1 us"})
    assert scenario["tcp"] == {"profile": "ns2", "overhead": "1 us"}
    assert used(scenario) == "ns2"


def test_the_format_keeps_its_own_default():
    scenario = ackclock.scenario(PATH, *FLOWS)
    del scenario["tcp"]
    assert used(scenario) == "ns2"


def test_the_example_has_senders_of_today():
    file = ROOT / "scenarios/example.toml"
    assert ackclock.example() == file.read_text("utf-8")
    assert used(file) == "linux"


def test_a_named_path_has_senders_of_today():
    named = {"path": "dsl", "run": {"duration": "1 s"}, "flow": [{"controller": "cubic"}]}
    assert used(named) == "linux"
    assert used(named | {"tcp": {"profile": "ns2"}}) == "ns2"


def test_the_laboratory_begins_with_senders_of_today():
    first = (
        (ROOT / "lab/src/scenario.ts").read_text("utf-8").split("FIRST: JsonObject = {")[1].split("\n};")[0]
    )
    assert 'tcp: { profile: "linux"' in first
    # All paths that it offers, too.
    paths = (ROOT / "lab/paths.toml").read_text("utf-8")
    assert paths.count("[[path]]") == paths.count('profile = "linux"')


def test_a_result_of_several_profiles_names_all():
    mixed = ackclock.scenario(PATH, FLOWS[0], ackclock.flow("cubic", rtt="50 ms", profile="ns2"))
    assert used(mixed) == "linux and ns2"
    assert today.profiles(ackclock.engine.read(mixed)) == "linux and ns2"
    assert profiles([{}, {"settings": None}]) == "-"


@pytest.mark.parametrize(("runs", "line"), [("1", "\nProfile linux. "), ("2", "\nProfile linux\n")])
def test_the_terminal_says_which_profile_it_was(ackclock_here, runs, line):
    done = ackclock_here("simulate", ROOT / "scenarios/example.toml", "--duration", "31s", "--runs", runs)
    assert line in done.stdout


def test_the_page_says_which_profile_it_was(ackclock_here, tmp_path):
    ackclock_here("simulate", ROOT / "scenarios/example.toml", "--duration", "31s", "-o", "first", "--quiet")
    assert "profile <code>linux</code>" in (tmp_path / "first/index.html").read_text("utf-8")
