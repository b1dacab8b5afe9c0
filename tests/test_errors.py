"""Errors travel whole, have the names that users import, and speak of what the user wrote."""

import concurrent.futures
import multiprocessing
import pickle
import traceback
from pathlib import Path

import pytest

import ackclock
from ackclock import engine

ERRORS = [name for name in ackclock.__all__ if name.endswith("Error")]
TEXT = """\
run = { duration = "5 s" }
dumbbell = { rate = "1 Mbit/s", delay = "1 ms", queue = { kind = "droptail", limit = "9 packets" } }
[[flow]]
controller = "renno"
"""


def test_there_is_one_small_hierarchy():
    assert ERRORS == ["Error", "ScenarioError", "SimulationError", "StorageError"]
    assert all(issubclass(getattr(ackclock, name), ackclock.Error) for name in ERRORS)
    # What people wrote before there was one still catches them.
    assert issubclass(ackclock.ScenarioError, ValueError)
    assert issubclass(ackclock.SimulationError, RuntimeError)


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_can_be_pickled_and_has_its_public_name(name):
    error = getattr(ackclock, name)("one line")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(again), str(again), again.__dict__) == (type(error), "one line", error.__dict__)
    assert traceback.format_exception_only(error) == [f"ackclock.{name}: one line\n"]


def refused():
    with pytest.raises(ackclock.ScenarioError) as caught:
        ackclock.simulate(TEXT)
    return caught.value


def simulate():
    ackclock.simulate(TEXT)


def test_a_refusal_says_where_and_what_to_do():
    error = refused()
    assert (error.file, error.line, error.key) == ("<text>", 4, "flow.0.controller")
    assert error.remedy == 'did you mean "reno" or "veno"?'
    assert str(error) == f'<text>:4: flow.0.controller: unknown control "renno", {error.remedy}'
    # A change on the command line has no line of a file.
    with pytest.raises(ackclock.ScenarioError) as caught:
        ackclock.check(TEXT.replace("renno", "reno"), settings=["flow.0.rtt=5"])
    assert (caught.value.file, caught.value.line, caught.value.key) == (None, None, "flow.0.rtt")


def test_a_process_pool_returns_the_message():
    start = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, start) as pool:
        error = pool.submit(simulate).exception()
    assert error.__dict__.keys() >= {"file", "line", "key", "remedy"}
    assert (str(error), error.key) == (str(refused()), "flow.0.controller")


BUILT = {
    "rate": lambda: ackclock.dumbbell(rate=10, delay="20 ms"),
    "delay": lambda: ackclock.dumbbell("10 Mbit/s", "20 Mbit/s"),
    "queue": lambda: ackclock.dumbbell("10 Mbit/s", "20 ms", queue=50),
    "queue.limit": lambda: ackclock.dumbbell("10 Mbit/s", "20 ms", queue="no packets"),
    "loss": lambda: ackclock.dumbbell("10 Mbit/s", "20 ms", loss=0.1),
    "rtt": lambda: ackclock.flow("reno", rtt=0.05),
    "start": lambda: ackclock.flow("reno", start=10),
    "controller": lambda: ackclock.flow("renno"),
    "params.x": lambda: ackclock.flow("illinois", params={"x": 1}),
    "delayed_ack": lambda: ackclock.flow("reno", delayed_ack=0),
    "arrivals.load": lambda: ackclock.flow("reno", arrivals={"load": -1, "sizes": "10 kB"}),
    "every": lambda: ackclock.flow("reno", source="requests", size="1 kB", every="1 packet"),
    "typo": lambda: ackclock.flow("reno", typo="x"),
    "duration": lambda: ackclock.scenario(ackclock.dumbbell("10 Mbit/s", "20 ms"), duration=5),
    "warmup": lambda: ackclock.scenario(ackclock.dumbbell("10 Mbit/s", "20 ms"), warmup="200 s"),
}


@pytest.mark.parametrize("argument", BUILT)
def test_a_builder_refuses_at_once_by_the_name_of_the_argument(argument):
    with pytest.raises(ackclock.ScenarioError) as caught:
        BUILT[argument]()
    assert caught.value.key == argument
    assert str(caught.value).startswith(f"{argument}: ")


def test_a_builder_accepts_what_only_the_whole_scenario_decides():
    # Nodes of a topology, short flows of which many would arrive in a long run, and a late start.
    ackclock.flow("reno", to="b", **{"from": "a"})
    ackclock.flow("reno", arrivals={"load": "100 %", "sizes": "1 kB"})
    assert ackclock.flow("reno", start="100 h")["start"] == "100 h"
    # A thousand requests per second are ten million, the limit, in less than three hours.
    often = ackclock.flow("reno", source="requests", size="1 kB", every="1 ms", start="2 h")
    assert (often["every"], often["start"]) == ("1 ms", "2 h")


REPOSITORY = Path(__file__).parents[1]
WRITTEN = sorted((REPOSITORY / "scenarios").rglob("*.toml"))


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.stem)
def test_builders_accept_every_scenario_of_the_repository(file):
    """The same keys, of which the engine accepts the whole, are accepted piece by piece."""
    tables = engine.read(file).written()
    for flow in tables["flow"]:
        assert ackclock.flow(**flow) == flow
    dumbbell = tables.get("dumbbell")
    if dumbbell and "rate_trace" not in dumbbell:
        ackclock.dumbbell(**dumbbell)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ["compare", "--duration", "1s", "reno"],
            "not a duration of more than 1 s: '1s'; flows start within the first second",
        ),
        (["reproduce", "illinois/fig8"], 'there is no illinois/fig8: did you mean "illinois/figure-8"?'),
        (["reproduce", "africa/Table.II"], 'there is no africa/Table.II: did you mean "africa/table-ii"?'),
        (["reproduce", "bic/4"], 'there is no bic/4: did you mean "bic/figure-4"?'),
    ],
)
def test_a_message_is_about_what_the_user_wrote(ackclock_here, command, said):
    done = ackclock_here(*command)
    assert (done.returncode, done.stderr) == (2, f"ackclock: {said}\n")


def test_a_sweep_says_that_a_scenario_is_one(ackclock_here, scenario):
    done = ackclock_here("sweep", scenario)
    problem = 'is a scenario, which ackclock simulate runs; a sweep names one: scenario = "FILE"'
    assert (done.returncode, done.stderr) == (2, f"{scenario}: {problem}\n")
