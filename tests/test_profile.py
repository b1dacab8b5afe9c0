"""What people begin with has senders of today, files keep their meaning, and results say which it was."""

import json
from pathlib import Path

import polars as pl
import pytest

import ackclock
from ackclock.engine import today
from ackclock.predictions import Simulation
from ackclock.predictions.subjects import PROFILE, SUBJECTS, function_of
from ackclock.summary import profiles
from ackclock.sweeps.picture import draw

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
    assert scenario.written()["tcp"] == {"profile": "ns2", "overhead": "1 us"}
    assert used(scenario) == "ns2"


def test_the_format_keeps_its_own_default():
    written = ackclock.scenario(PATH, *FLOWS).written()
    del written["tcp"]
    assert used(written) == "ns2"


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
    assert today.profiles(mixed) == "linux and ns2"
    assert profiles([{}, {"settings": None}]) == "-"


@pytest.mark.parametrize(("runs", "line"), [("1", "\nProfile linux. "), ("2", "\nProfile linux\n")])
def test_the_terminal_says_which_profile_it_was(ackclock_here, runs, line):
    done = ackclock_here("simulate", ROOT / "scenarios/example.toml", "--duration", "31s", "--runs", runs)
    assert line in done.stdout


def test_the_page_says_which_profile_it_was(ackclock_here, tmp_path):
    ackclock_here("simulate", ROOT / "scenarios/example.toml", "--duration", "31s", "-o", "first", "--quiet")
    assert "profile <code>linux</code>" in (tmp_path / "first/index.html").read_text("utf-8")


@pytest.fixture
def small(tmp_path):
    """Write a scenario of a few seconds, ``small.toml``, and a sweep over its loss rates, ``loss.toml``."""
    (tmp_path / "small.toml").write_text(
        '[run]\nduration = "4 s"\nwarmup = "1 s"\n[dumbbell]\nrate = "5 Mbit/s"\ndelay = "10 ms"\n'
        'queue = { kind = "droptail", limit = "20 packets" }\nloss = { kind = "bernoulli", rate = 0 }\n'
        '[[flow]]\ncontroller = "reno"\nrtt = "40 ms"\n'
    )
    (tmp_path / "loss.toml").write_text(
        'scenario = "small.toml"\n[parameters]\np = { set = "dumbbell.loss.rate", to = [0.01, 0.02] }\n'
        "[runs]\ncount = 2\n"
    )
    return tmp_path


def test_a_sweep_says_which_profile_it_was(ackclock_here, small):
    done = ackclock_here("sweep", "loss.toml", "--page", "--json")
    record = json.loads(done.stdout)
    # A file that names no profile has the profile of the papers.
    assert record["profile"] == "ns2"
    table = pl.read_parquet(small / record["directory"] / "*.parquet")
    assert table["profile"].to_list() == ["ns2"] * 4
    assert "Senders: profile ns2." in (small / record["page"]).read_text("utf-8")
    assert "profile ns2" in ackclock_here("sweep", "loss.toml").stdout


def test_a_sweep_over_profiles_names_both(ackclock_here, small):
    (small / "loss.toml").write_text(
        'scenario = "small.toml"\n[parameters]\nsender = { set = "tcp.profile", to = ["ns2", "linux"] }\n'
        "[runs]\ncount = 2\n"
    )
    record = json.loads(ackclock_here("sweep", "loss.toml", "--json").stdout)
    assert record["profile"] == "linux and ns2"
    table = pl.read_parquet(small / record["directory"] / "*.parquet")
    assert table["profile"].to_list() == table["sender"].to_list()


def test_a_comparison_says_which_profile_it_was(ackclock_here, tmp_path):
    arguments = ("compare", "--rate", "2mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "2", "reno")
    rows = json.loads(ackclock_here(*arguments, "-o", "c", "--json", "--profile", "ns2").stdout)
    assert {row["profile"] for row in rows} == {"ns2"}
    assert set(pl.read_parquet(tmp_path / "c/answers.parquet")["profile"]) == {"ns2"}
    assert "profile linux" in ackclock_here(*arguments, "-o", "d").stdout
    assert "profile linux" in (tmp_path / "d/index.html").read_text("utf-8")


def test_a_prediction_says_which_profile_was_simulated(ackclock_here, tmp_path):
    arguments = ("predict", "gain", "--loss", "5%")
    assert json.loads(ackclock_here(*arguments, "--json").stdout)["profile"] is None
    simulated = (*arguments, "--simulate", "--runs", "2", "-o", "gain.csv")
    record = json.loads(ackclock_here(*simulated, "--json").stdout)
    assert record["profile"] == "ns2"
    assert set(pl.read_csv(tmp_path / "gain.csv")["profile"]) == {"ns2"}


@pytest.mark.parametrize("subject", [name for name in SUBJECTS if name not in ("matrix", "timeouts")])
def test_all_predictions_simulate_the_senders_that_they_name(subject, monkeypatch):
    """Matrix and timeouts simulate no packets."""
    seen = []

    def refuse(_simulation, scenarios, _measure):
        seen.extend(scenario for scenario in scenarios if scenario is not None)
        raise InterruptedError

    monkeypatch.setattr(Simulation, "each", refuse)
    monkeypatch.setattr(Simulation, "once", refuse)
    with pytest.raises(InterruptedError):
        function_of(subject)(simulation=Simulation(2))
    assert {today.profiles(ackclock.engine.read(scenario)) for scenario in seen} == {PROFILE}


def test_a_reproduction_says_which_profile_it_was(ackclock_here, tmp_path):
    done = ackclock_here("reproduce", "--quick", "fit/figure-1", "-o", "r")
    record = json.loads((tmp_path / "r/fit/figure-1/artefact.json").read_text("utf-8"))
    assert record["profile"] in ("linux", "ns2")
    assert f"Profile of the senders: {record['profile']} (fit)." in done.stdout


BELOW = r"\multicolumn{%d}{l}{\footnotesize Profile of the senders: %s} \\"


def test_a_table_for_a_paper_says_which_profile_it_was():
    short = ackclock.scenario(PATH, *FLOWS)
    run = ackclock.simulate(short, settings=["run.duration=31s"])
    assert BELOW % (6, "linux") in run.to_latex().splitlines()
    old = ackclock.simulate(short, settings=["run.duration=31s", "tcp.profile=ns2"])
    assert BELOW % (7, "linux and ns2") in ackclock.diff(run, old).to_latex().splitlines()
    compared = ackclock.compare("reno", rate="5mbit", rtt="20ms", duration="3s", runs=2, profile="ns2")
    assert BELOW % (2, "ns2") in compared.to_latex().splitlines()
    # Formulas have no senders.
    assert "Profile" not in ackclock.predict("response", controls=["reno"]).to_latex()


def test_a_picture_says_which_profile_it_was():
    run = ackclock.simulate(ackclock.scenario(PATH, *FLOWS), settings=["run.duration=31s"])
    for picture in (run.plot.overview(), run.plot.window()):
        assert picture.axes[0].get_title(loc="right") == "profile linux"
    rows = {"p": [0.1, 0.2], "goodput_mbps": [1.0, 2.0], "run": [0, 0], "point": [0, 1]}
    new = pl.LazyFrame(rows | {"profile": ["ns2", "linux"]})
    assert draw(new, "p", "goodput_mbps").axes[0].get_title(loc="right") == "profile linux and ns2"
    # Results of earlier versions do not say it.
    assert draw(pl.LazyFrame(rows), "p", "goodput_mbps").axes[0].get_title(loc="right") == ""


@pytest.mark.parametrize(
    ("written", "is_said"),
    [
        ({}, True),
        ({"tcp": {"overhead": "1 us"}}, True),
        ({"tcp": {"profile": "ns2"}}, False),
        ({"tcp": {"profile": "linux"}}, False),
    ],
)
def test_a_missing_profile_is_named_once(ackclock_here, tmp_path, written, is_said):
    flow = {"controller": "reno", "rtt": "50 ms"}
    described = {"run": {"duration": "1 s"}, **PATH, "flow": [flow], **written}
    (tmp_path / "own.json").write_text(json.dumps(described))
    (tmp_path / "sweep.toml").write_text(
        'scenario = "own.json"\n[parameters]\nseed = { set = "run.seed", to = [1] }\n[runs]\ncount = 1\n'
    )
    for command in (["simulate", "own.json"], ["sweep", "sweep.toml", "-o", "swept"]):
        assert ackclock_here(*command).stdout.count("No profile is set") == is_said
    # A flow may set it, and a named path has its own.
    for other in ({"flow": [flow | {"profile": "ns2"}]}, {"path": "dsl"}):
        tables = {key: value for key, value in described.items() if key != "dumbbell" or "path" not in other}
        assert today.missing(ackclock.engine.read(tables | other)) == ""
