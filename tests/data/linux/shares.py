"""DCTCP beside CUBIC at the queue of marked.py; guest.py begins it."""

import time
from concurrent.futures import ThreadPoolExecutor

from guest import RETRANSMITTED, number, transfer, write
from marked import begin, port

TURNS, SECONDS, SAMPLE_S = 2, 45, 0.5
# One flow of each control, and two, half a second apart; the first third is left out.
MIXES = (("dctcp", "cubic"), ("dctcp", "cubic", "dctcp", "cubic"))
APART_S, LEFT_OUT_S = 0.5, 15
ACKNOWLEDGED, DELIVERED, MARKED = 120, 192, 196
"""More places in struct tcp_info: bytes, packets, and packets of them that came marked."""
COLUMNS = "flow,control,goodput_mbps,delivered,marked,retransmitted"


def beside(mix: tuple[str, ...], seconds: float, left_out_s: float, apart_s: float) -> list[str]:
    """Let flows compete.

    Parameters
    ----------
    mix
        The control of each.
    seconds
        How long the first flow sends.
    left_out_s
        Seconds of these that are not measured.
    apart_s
        Seconds between starts.

    Returns
    -------
        For each flow its number, control, goodput in Mbit/s, packets delivered, those of them that
        came marked, and, of the whole turn, packets sent again.
    """

    def one(place: int) -> str:
        start = place * apart_s
        time.sleep(start)
        there = port(mix[place], 1 + place // 2)
        states = transfer(mix[place], there, seconds - start, SAMPLE_S)
        begun, over = states[round((left_out_s - start) / SAMPLE_S) - 1], states[-1]
        places = ((ACKNOWLEDGED, "Q"), (DELIVERED, "I"), (MARKED, "I"))
        acknowledged, delivered, marked = (number(over, *at) - number(begun, *at) for at in places)
        goodput = acknowledged * 8e-6 / (seconds - left_out_s)
        again = number(over, RETRANSMITTED)
        return f"{place},{mix[place]},{goodput:.4f},{delivered},{marked},{again}\n"

    with ThreadPoolExecutor(len(mix)) as pool:
        return list(pool.map(one, range(len(mix))))


def measure() -> None:
    """Measure, and write the table."""
    begin(["dctcp", "cubic"])
    text = f"flows,turn,{COLUMNS}\n"
    for turn in range(1, TURNS + 1):
        for mix in MIXES:
            text += "".join(f"{len(mix)},{turn},{line}" for line in beside(mix, SECONDS, LEFT_OUT_S, APART_S))
            # So far: each replaces the one before.
            write("shares.csv", text)
