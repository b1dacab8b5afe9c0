"""Python twins of built-in controls send the same packets, in a scenario per criterion."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

import ackclock
import twins

EXAMPLES = Path(__file__).parents[1] / "examples" / "controls"
MOST_LINES = {"bbr": 250, "dctcp": 120}


def example(name: str) -> Any:
    """Import an example."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TWINS = {
    "reno": twins.Reno,
    "aimd": twins.Aimd,
    "cubic": twins.Cubic,
    "cubic-linux": twins.CubicLinux,
    "bbr": example("bbr").Bbr,
    "dctcp": example("dctcp").Dctcp,
}
SCENARIOS = json.loads(twins.SCENARIOS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("control", TWINS)
@pytest.mark.parametrize("criterion", SCENARIOS)
def test_a_twin_makes_the_same_packets(criterion: str, control: str) -> None:
    name = f"twin-of-{control}"
    ackclock.register(name, TWINS[control])
    scenario = copy.deepcopy(SCENARIOS[criterion])
    if control == "cubic-linux":
        # Its slow start ends as in Linux, whatever the scenario asks of others.
        scenario["tcp"]["hystart"] = "linux"
    built_in, twin = (ackclock.simulate(twins.judged(scenario, chosen)).digest for chosen in (control, name))
    # The digest holds every packet, loss and window of all flows, to the last bit.
    assert twin == built_in


TCP_KEYS: Any = ackclock.schema()["properties"]["tcp"]["properties"]  # type: ignore[index]
WORDS = {key: TCP_KEYS[key]["enum"] for key in ("profile", "recovery")}
PAIRS = [
    (control, recovery)
    for control in TWINS
    for recovery in WORDS["recovery"]
    # That kernel asks the module of its Reno where an episode ends, which no class in Python has a word for.
    if (control, recovery) != ("reno", "linux-2.6")
]


def hard(control: str, profile: str, recovery: str, hystart: str | bool = False) -> ackclock.Scenario:
    """Return a scenario whose flows lose packets, time out, take reordering for a loss, and pause."""
    noise = {"kind": "uniform", "range": "30 ms", "reorder": True}
    loss = {"kind": "bernoulli", "rate": 0.002}
    pauses = {"source": "requests", "size": "200 kB", "think": "600 ms", "initial_window": 2}
    return ackclock.scenario(
        ackclock.dumbbell("10 Mbit/s", "20 ms", "20 packets", loss=loss, delay_noise=noise),
        ackclock.flow(control, rtt="50 ms"),
        ackclock.flow(control, rtt="60 ms", **pauses),
        ackclock.flow(control, rtt="200 ms", start="1 s", **pauses),
        duration="10 s",
        events=[
            {"at": "3 s", "set": "dumbbell.loss.rate", "to": 1},
            {"at": "3.8 s", "set": "dumbbell.loss.rate", "to": 0.002},
        ],
        tcp={"profile": profile, "recovery": recovery, "hystart": hystart},
    )


@pytest.mark.parametrize("profile", WORDS["profile"])
@pytest.mark.parametrize(("control", "recovery"), PAIRS)
def test_a_twin_knows_whose_rules_hold(control: str, profile: str, recovery: str) -> None:
    ackclock.register(f"twin-of-{control}", TWINS[control])
    # The slow start of cubic-linux ends as in Linux in its twin.
    hystart = "linux" if control == "cubic-linux" else False
    built_in, twin = (
        ackclock.simulate(hard(name, profile, recovery, hystart)).digest
        for name in (control, f"twin-of-{control}")
    )
    assert twin == built_in


class Counting(twins.Reno):
    """Counts the signals that few scenarios have."""

    heard: ClassVar[Counter[str]] = Counter()

    def on_loss(self, loss: ackclock.Loss) -> None:
        self.heard["mark" if loss.ecn else "loss"] += 1
        super().on_loss(loss)

    def on_timeout(self, timeout: ackclock.Timeout) -> None:
        self.heard["timeout"] += 1
        super().on_timeout(timeout)

    def on_undo(self, now_s: float) -> None:
        self.heard["undo"] += 1
        super().on_undo(now_s)

    def on_idle(self, now_s: float) -> None:
        self.heard["idle"] += 1
        super().on_idle(now_s)


@pytest.mark.parametrize(
    ("criterion", "signal"),
    [
        ("wired", "loss"),
        ("aqm", "mark"),
        ("collapse-silence", "timeout"),
        ("reordering", "undo"),
        ("app-limited", "idle"),
    ],
)
def test_the_scenarios_have_what_is_hard(criterion: str, signal: str) -> None:
    ackclock.register("counting", Counting)
    Counting.heard.clear()
    ackclock.simulate(twins.judged(SCENARIOS[criterion], "counting"))
    assert Counting.heard[signal] > 0


@pytest.mark.parametrize("recovery", WORDS["recovery"])
def test_the_rules_are_put_to_the_test(recovery: str) -> None:
    ackclock.register("counting", Counting)
    Counting.heard.clear()
    ackclock.simulate(hard("counting", "linux", recovery))
    assert all(Counting.heard[signal] > 0 for signal in ("loss", "timeout", "idle")), Counting.heard
    assert (recovery == "rack") == (Counting.heard["undo"] > 0)


def test_hystart_ends_a_slow_start() -> None:
    early = SCENARIOS["hystart"]
    late = {**early, "tcp": {**early["tcp"], "hystart": False}}
    assert ackclock.simulate(early).digest != ackclock.simulate(late).digest


@pytest.mark.parametrize("name", MOST_LINES)
def test_examples_are_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= MOST_LINES[name]
