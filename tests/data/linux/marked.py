"""DCTCP alone at a queue that marks; guest.py begins it."""

import time
from collections.abc import Sequence
from pathlib import Path

from guest import build, receiver, table, transfer, write

MTU = 1500
# The bucket holds one packet, so a packet leaves CoDel when the one before leaves the bucket, as at
# a link. CoDel itself, whose target is never reached, drops nothing; it marks above a threshold.
QUEUES = (
    ("r1", "r1", "root handle 1: tbf rate 20mbit burst 1514 limit 1514000"),
    ("r1", "r1", "parent 1:1 codel limit 1000 target 100s interval 100s ce_threshold 10ms ecn"),
    ("r2", "d2", "root netem delay 20ms limit 10000"),
    ("r1", "s1", "root netem delay 20ms limit 10000"),
)
CONTROLS = ("dctcp", "cubic", "bbr")
TURNS, SECONDS, SAMPLE_S = 2, 20, 0.01


def port(control: str, pair: int) -> int:
    """Say where a receiver is: one for each flow, as it takes one connection after the other."""
    return 5000 + CONTROLS.index(control) + 10 * pair


def begin(controls: Sequence[str]) -> None:
    """Make the path and the receivers for flows of these controls."""
    build(MTU, QUEUES)
    # ECN for CUBIC, too.
    Path("/proc/sys/net/ipv4/tcp_ecn").write_text("1")
    for control in controls:
        for pair in range(3):
            receiver(port(control, pair), control)
    time.sleep(2)


def measure() -> None:
    """Measure, and write the table."""
    begin(["dctcp", "cubic"])
    turns = ["dctcp"] * TURNS
    results = [transfer("dctcp", port("dctcp", 0), SECONDS, SAMPLE_S) for _ in turns]
    write("marked.csv", table(turns, results, SAMPLE_S))
