"""The scenarios in which twins of built-in controls make the same packets are those of the criteria."""

from __future__ import annotations

import copy
import json
import os
import re
from typing import Any

from ackclock_evaluate.setting import Subject
from ackclock_evaluate.suites import SUITES
from twins import SCENARIOS

LONGEST_S = 20.0
HARDEST = {
    "aqm": "PIE, 8 flows, marks compared with losses",
    "reordering": "up to RTT",
    "app-limited": "2.5 MB after pauses of 1 s, alone",
}
"""Cells that are chosen where the first one has no marks, undone cuts or idle periods."""


def cut(scenario: dict[str, Any]) -> dict[str, Any]:
    """Let a scenario last 20 s at most: what happens in it happens so much sooner."""
    short = copy.deepcopy(scenario)
    seconds = float(short["run"]["duration"].removesuffix(" s"))
    factor = min(1.0, LONGEST_S / seconds)

    def sooner(time: Any) -> Any:
        if isinstance(time, dict):
            return {key: [sooner(one) for one in values] for key, values in time.items()}
        if isinstance(time, str) and (match := re.fullmatch(r"([\d.]+) s", time)):
            return f"{float(match[1]) * factor:.9g} s"
        return time

    run = short["run"]
    run["duration"], run["warmup"] = sooner(run["duration"]), sooner(run["warmup"])
    for event in short.get("event", []):
        event["at"] = sooner(event["at"])
    for flow in short["flow"]:
        flow.update({key: sooner(flow[key]) for key in ("start", "stop") if key in flow})
    return short


def scenarios() -> dict[str, dict[str, Any]]:
    """Return a scenario per criterion of RFC 9743, and slow starts that HyStart++ ends."""
    chosen = {}
    for criterion in SUITES["rfc9743"]:
        if criterion.cells is None:
            continue
        cells = criterion.cells("quick")
        name = HARDEST.get(criterion.id, cells[0].name)
        (cell,) = [cell for cell in cells if cell.name == name]
        part = next(iter(cell.parts(Subject("reno")).values()))
        chosen[criterion.id] = cut(part.scenario)
        # HyStart as Linux has it is a part of its CUBIC, and not of RFC 9438.
        chosen[criterion.id]["tcp"]["hystart"] = False
    early = copy.deepcopy(chosen["far"])
    early["tcp"]["hystart"] = True
    # Four products of rate and delay: one overflows in the very round trip in which the RTT rises.
    early["dumbbell"]["queue"]["limit"] = "10000 packets"
    return {**chosen, "hystart": early}


def text() -> str:
    """Return the scenarios as the laboratory's tests read them."""
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in scenarios().items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def test_the_kept_scenarios_are_those_of_the_criteria() -> None:
    # UPDATE_TWINS=1 writes them, for this test, those of the twins and those of the laboratory.
    if os.environ.get("UPDATE_TWINS"):
        SCENARIOS.write_text(text(), encoding="utf-8")
    assert SCENARIOS.read_text(encoding="utf-8") == text(), "UPDATE_TWINS=1 writes them again"
