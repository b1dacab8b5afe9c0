"""Controls on paths that lose packets at random, in recorded patterns; guest.py begins it."""

import random
import time
from typing import NamedTuple

from dropper import DATA, LONGEST, Dropper
from functions import CONTROLS
from guest import PORT, RETRANSMITTED, WINDOW, build, number, receiver, transfer, write
from shares import ACKNOWLEDGED

MTU, SECONDS, LEFT_OUT_S, SAMPLE_S = 1500, 45, 5, 0.05


class Lossy(NamedTuple):
    """A path and what is tried on it."""

    rate_mbps: int
    rtt_ms: int
    limit: int
    """Packets, of which one is in transmission."""
    loss: float
    patterns: int
    controls: tuple[str, ...]


PATHS = {
    "1": Lossy(8, 80, 53, 0.002, 10, ("reno", "cubic", "bbr", "illinois")),
    "2": Lossy(20, 40, 66, 0.01, 3, CONTROLS),
    "3": Lossy(10, 100, 82, 0.03, 3, CONTROLS),
}


def pattern(path: str, place: int) -> list[int]:
    """Draw the numbers of the packets that are lost."""
    draw = random.Random(f"{path} {place}")  # noqa: S311
    return [packet for packet in range(LONGEST) if draw.random() < PATHS[path].loss]


def measured(control: str, lost: list[int], dropper: Dropper) -> str:
    """Let a flow send, and write goodput, mean window, and what is sent again in the whole turn."""
    states = transfer(control, PORT, SECONDS, SAMPLE_S, lambda: dropper.lose(lost))
    settled = states[round(LEFT_OUT_S / SAMPLE_S) - 1 :]
    acknowledged = number(settled[-1], ACKNOWLEDGED, "Q") - number(settled[0], ACKNOWLEDGED, "Q")
    goodput = acknowledged * 8e-6 / (SECONDS - LEFT_OUT_S)
    windows = [number(state, WINDOW) for state in settled[1:]]
    again = number(states[-1], RETRANSMITTED)
    return f"{goodput:.4f},{sum(windows) / len(windows):.3f},{again}"


def measure(path: str) -> None:
    """Measure one of the paths, and write its tables."""
    case = PATHS[path]
    delay = f"root netem delay {case.rtt_ms // 2}ms limit 10000"
    rate = f"root netem rate {case.rate_mbps}mbit limit {case.limit}"
    build(MTU, (("r1", "r1", rate), ("r2", "d2", delay), ("r1", "s1", delay)))
    patterns = [pattern(path, place) for place in range(case.patterns)]
    rows = "".join(f"{place},{' '.join(map(str, lost))}\n" for place, lost in enumerate(patterns))
    write(f"patterns-{path}.csv", "pattern,lost\n" + rows)
    dropper = Dropper("r1", "s1", DATA)
    path_of = f"{case.rate_mbps} Mbit/s, {case.rtt_ms} ms, {case.limit} packets of 1514 bytes"
    text = f"# {path_of}, {case.loss:.1%} lost\n"
    text += "control,pattern,goodput_mbps,window,retransmitted\n"
    with receiver(PORT, "cubic") as process:
        time.sleep(1)
        for control in case.controls:
            for place, lost in enumerate(patterns):
                text += f"{control},{place},{measured(control, lost, dropper)}\n"
            # So far: each replaces the one before.
            write(f"losses-{path}.csv", text)
        process.terminate()
