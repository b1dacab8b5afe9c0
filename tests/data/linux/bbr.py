"""BBR, version 1, at a droptail queue, alone and beside CUBIC; guest.py begins it."""

import time

from guest import build, receiver, run, write
from marked import MTU, port
from shares import COLUMNS, beside

# The path of benches/stock.py; its product of rate and delay is 33 packets. The limit includes the
# packet in transmission, which the bucket lets wait where it is.
WIRE, PRODUCT = MTU + 14, 33
BUCKET = "root tbf rate 10mbit burst 1514 limit"
QUEUES = (
    ("r1", "r1", f"{BUCKET} {WIRE}"),
    ("r2", "d2", "root netem delay 20ms limit 10000"),
    ("r1", "s1", "root netem delay 20ms limit 10000"),
)
CASES = ((8, ("bbr",)), (2, ("bbr", "cubic")), (8, ("bbr", "cubic")), (32, ("bbr", "cubic")))
SECONDS, LEFT_OUT_S, APART_S = 90, 30, 1.0


def measure() -> None:
    """Measure, and write the table."""
    build(MTU, QUEUES)
    for control in ("bbr", "cubic"):
        receiver(port(control, 1), control)
    time.sleep(2)
    text = f"buffer_bdp,flows,{COLUMNS}\n"
    for buffer, mix in CASES:
        limit = str(buffer * PRODUCT * WIRE)
        run("tc", "-n", "r1", "qdisc", "replace", "dev", "r1", *BUCKET.split(), limit)
        lines = beside(mix, SECONDS, LEFT_OUT_S, APART_S)
        text += "".join(f"{buffer},{len(mix)},{line}" for line in lines)
        write("bbr.csv", text)
