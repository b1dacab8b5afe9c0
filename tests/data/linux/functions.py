"""Every control, function by function, on a path that loses given packets; guest.py begins it.

A case begins with a given window and ssthresh, which the route states, loses packets with given
numbers, and lets the application send packets at given times. The table has what a simulation needs
to repeat it, and the window at the end of each round trip.
"""

import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dropper import ACKS, DATA, Dropper
from guest import MTU, PORT, WINDOW, build, number, receiver, run, transfer, write

CONTROLS = ("reno", "cubic", "bic", "htcp", "hybla", "illinois", "westwood", "bbr")
PAYLOAD_BYTES = MTU - 52
"""Of a packet, with a time stamp."""
STATE, THRESHOLD, RETRANSMITTED = 1, 76, 100
"""More places in struct tcp_info; states are those of enum tcp_ca_state."""
UNLIMITED = 0x7FFFFFFF
END = 60_000
"""Packets that are more than a case sends."""
SYSTEM = {
    # Many packets that wait at the sender and at the receiver.
    "tcp_wmem": "4096 16777216 16777216",
    "tcp_rmem": "4096 33554432 33554432",
    # An acknowledgement of each packet, also where one is missing.
    "tcp_comp_sack_nr": "0",
    # The route's ssthresh holds for connections whose destination the cache knows.
    "tcp_no_ssthresh_metrics_save": "0",
}


class Case(NamedTuple):
    """What is done to a connection."""

    name: str
    initial_window: int
    ssthresh: int
    """Packets; `UNLIMITED` for none."""
    rounds: int
    """Of the round trip, at whose middle a sample is taken."""
    lost: Iterable[int] = ()
    """Numbers of packets of data."""
    acks_lost: Iterable[int] = ()
    """Numbers of acknowledgements."""
    packets_at: tuple[tuple[int, int], ...] = ((END, 0),)
    """Packets that the application sends, and when, in ms from the start."""
    delayed: bool = False
    """Whether the receiver delays acknowledgements, by its defaults."""
    rate_mbps: int = 20
    rtt_ms: int = 100


def twenty_each_round(rounds: int) -> tuple[tuple[int, int], ...]:
    """Let the application have 20 packets in the middle of each round trip of 100 ms."""
    return tuple((20, 100 * place - 50 if place else 0) for place in range(rounds))


BURST_THEN_ALL = (50, 0), (50, 500), (END, 1500)
CASES = (
    Case("start", 10, UNLIMITED, 10),
    *(Case(f"growth {window}", window, window, 20) for window in (3, 5, 14, 50)),
    Case("growth 1000", 10, 1000, 20, rate_mbps=25, rtt_ms=400),
    Case("ratio 50", 50, 50, 20, delayed=True),
    Case("loss 5", 5, 5, 25, lost=[22]),
    Case("loss 14", 14, 14, 25, lost=[60]),
    Case("loss 50", 50, 50, 25, lost=[220]),
    Case("loss in slow start", 10, UNLIMITED, 25, lost=[100]),
    Case("loss 1000", 10, 1000, 25, lost=[4000], rate_mbps=25, rtt_ms=400),
    Case("loss with a queue", 10, 300, 50, lost=[3000]),
    Case("two losses 50", 50, 50, 35, lost=[220, 800]),
    Case("two losses 200", 10, 200, 80, lost=[2000, 5000]),
    Case("timeout 14", 14, 14, 35, lost=range(14, 29), packets_at=((14, 0), (14, 500), (END, 1500))),
    Case("timeout 50", 50, 50, 35, lost=range(50, 101), packets_at=BURST_THEN_ALL),
    Case("undo 50", 50, 50, 35, acks_lost=range(50, 101), packets_at=BURST_THEN_ALL),
    Case("idle in slow start", 10, UNLIMITED, 35, packets_at=((300, 0), (END, 2500))),
    Case("idle 50", 10, 50, 40, packets_at=((500, 0), (END, 2500))),
    Case("application in slow start", 10, UNLIMITED, 15, packets_at=twenty_each_round(15)),
    Case("application 50", 50, 50, 30, packets_at=twenty_each_round(30)),
)


def field(numbers: Iterable[int]) -> str:
    """Write numbers in a field."""
    return " ".join(map(str, numbers))


def route(case: Case) -> None:
    """Let the route state how a connection begins."""
    begin = f"initcwnd {case.initial_window} initrwnd 64"
    Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("0")
    run("ip", "tcp_metrics", "flush")
    ssthresh = f"ssthresh lock {case.ssthresh}" if case.ssthresh != UNLIMITED else ""
    run("ip", "route", "replace", "default", "via", "10.0.1.2", *begin.split(), *ssthresh.split())
    # Its end lets the cache know the destination, with what the route states.
    with socket.create_connection(("10.0.3.2", PORT)):
        pass
    time.sleep(1)
    Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")
    back = ["ip", "-n", "receiver", "route", "replace", "default", "via", "10.0.3.1"]
    run(*back, "quickack", "0" if case.delayed else "1", "initrwnd", "64")
    delay = f"delay {case.rtt_ms // 2}ms limit 60000"
    for namespace, device, setting in (
        ("r1", "r1", f"rate {case.rate_mbps}mbit limit 60000"),
        ("r2", "d2", delay),
        ("r1", "s1", delay),
    ):
        run("tc", "-n", namespace, "qdisc", "replace", "dev", device, "root", "netem", *setting.split())


def measured(control: str, case: Case, data: Dropper, acks: Dropper) -> str:
    """Run a case, and write its line."""

    def ready() -> None:
        data.lose(case.lost)
        acks.lose(case.acks_lost)

    def send(connection: socket.socket, over: threading.Event) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(0.1)
        begin = time.monotonic()
        for packets, at_ms in case.packets_at:
            time.sleep(max(0.0, begin + at_ms / 1000 - time.monotonic()))
            left = packets * PAYLOAD_BYTES
            while left and not over.is_set():
                # A full buffer must not outlast the case.
                with suppress(TimeoutError):
                    left -= connection.send(bytes(min(left, 64 * PAYLOAD_BYTES)))

    route(case)
    # Two samples per round trip, of which the first is in its middle.
    half_s = case.rtt_ms / 2000
    states = transfer(control, PORT, case.rounds * 2 * half_s, half_s, ready, send)[::2]
    fields = (
        control,
        case.name,
        case.initial_window,
        case.ssthresh,
        case.rate_mbps,
        case.rtt_ms,
        2 if case.delayed else 1,
        field(case.lost),
        field(case.acks_lost),
        " ".join(f"{packets}@{at_ms}" for packets, at_ms in case.packets_at),
        number(states[-1], RETRANSMITTED),
        field(number(state, WINDOW) for state in states),
        field(number(state, THRESHOLD) for state in states),
        field(number(state, STATE, "B") for state in states),
    )
    return ",".join(map(str, fields)) + "\n"


def measure() -> None:
    """Measure, and write the table."""
    build(MTU, ())
    for name, value in SYSTEM.items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)
    data, acks = Dropper("r1", "s1", DATA), Dropper("r2", "d2", ACKS)
    text = (
        "control,case,initial_window,ssthresh,rate_mbps,rtt_ms,delayed_ack,lost,acks_lost,packets_at,"
        "retransmitted,windows,thresholds,states\n"
    )
    with receiver(PORT, "cubic") as process:
        time.sleep(1)
        for control in CONTROLS:
            text += "".join(measured(control, case, data, acks) for case in CASES)
            # So far: each replaces the one before.
            write("functions.csv", text)
        process.terminate()
