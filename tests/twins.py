"""Built-in controls written once more as classes, and scenarios that show a difference.

``python tests/twins.py`` writes the scenarios for the tests of the laboratory.
"""

from __future__ import annotations

import copy
import json
import math
import re
from decimal import Context, Decimal
from pathlib import Path
from typing import Any, ClassVar

from ackclock import Ack, Control, Loss, Start, Timeout
from ackclock_evaluate.criteria import RFC9743
from ackclock_evaluate.setting import Subject

SCENARIOS = Path(__file__).parents[1] / "lab" / "tests" / "criteria.json"
LONGEST_S = 20.0
TICKS_PER_S = 1e12
HARDEST = {
    "aqm": "PIE, 8 flows, marks beside losses",
    "reordering": "up to RTT",
    "app-limited": "2.5 MB after pauses of 1 s, alone",
}
"""Cells that are chosen where the first one has no marks, undone cuts or idle periods."""


class Reno(Control):
    """RFC 5681."""

    def on_ack(self, ack: Ack) -> None:
        growth = self.grow(ack)
        self.window += growth / self.window

    def on_loss(self, _loss: Loss) -> None:
        self.cut_to(self.window / 2)


class Aimd(Control):
    """AIMD(32, 1/8)."""

    def on_ack(self, ack: Ack) -> None:
        growth = self.grow(ack)
        self.window += growth * 32.0 / self.window

    def on_loss(self, _loss: Loss) -> None:
        self.cut_to(self.window * (1.0 - 0.125))


def cube_root(number: float) -> float:
    """Return the double that is nearest, which the C library's function does not promise."""
    context = Context(prec=60)
    return float(context.power(Decimal(number), context.divide(Decimal(1), Decimal(3))))


class Cubic(Control):
    """RFC 9438."""

    internals: ClassVar[tuple[str, ...]] = ("w_max",)
    SCALE, BETA = 0.4, 0.7
    ALPHA = 3.0 * (1.0 - BETA) / (1.0 + BETA)

    def __init__(self, start: Start) -> None:
        super().__init__(start)
        self.w_max = self.window_before_cut = 0.0
        self.rtt_s: float | None = None
        # Time in ticks, K in seconds, W_max and the Reno-friendly window in packets.
        self.epoch: tuple[int, float, float, float] | None = None

    def cubic(self, time_s: float, k_s: float, w_max: float) -> float:
        away_s = time_s - k_s
        return self.SCALE * away_s * away_s * away_s + w_max

    def on_ack(self, ack: Ack) -> None:
        if ack.rtt_s is not None:
            old = ack.rtt_s if self.rtt_s is None else self.rtt_s
            self.rtt_s = old + (ack.rtt_s - old) / 8.0
        growth = self.grow(ack)
        if growth <= 0.0:
            return
        now, window = round(ack.now_s * TICKS_PER_S), self.window
        if self.epoch is None:
            if self.w_max <= window:
                self.epoch = (now, 0.0, window, window)
            else:
                k_s = cube_root((self.w_max - window) / self.SCALE)
                self.epoch = (now, k_s, self.w_max, window)
        began, k_s, origin, friendly = self.epoch
        friendly += growth * (1.0 if friendly >= self.window_before_cut else self.ALPHA) / window
        self.epoch = (began, k_s, origin, friendly)
        time_s = (now - began) / TICKS_PER_S
        if self.cubic(time_s, k_s, origin) < friendly:
            self.window = max(window, friendly)
            return
        target = self.cubic(time_s + (self.rtt_s or 0.0), k_s, origin)
        self.window += growth * (min(max(target, window), 1.5 * window) - window) / window

    def on_loss(self, _loss: Loss) -> None:
        window = self.window
        self.w_max = window * (1.0 + self.BETA) / 2.0 if window < self.w_max else window
        self.window_before_cut, self.epoch = window, None
        self.cut_to(window * self.BETA)

    def on_timeout(self, timeout: Timeout) -> None:
        self.window_before_cut = self.window
        if timeout.first:
            self.ssthresh = max(2.0, self.window * self.BETA)
        self.window, self.w_max, self.epoch = 1.0, 0.0, None


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
    for criterion in RFC9743:
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


def judged(scenario: dict[str, Any], control: str) -> dict[str, Any]:
    """Return a scenario with another control in the judged place."""
    other = copy.deepcopy(scenario)
    for flow in other["flow"]:
        if flow.get("controller") == "reno":
            flow["controller"] = control
    return other


def text() -> str:
    """Return the scenarios as the laboratory's tests read them."""
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in scenarios().items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


assert math.isclose(cube_root(27.0), 3.0, rel_tol=0.0)

if __name__ == "__main__":
    SCENARIOS.write_text(text())
