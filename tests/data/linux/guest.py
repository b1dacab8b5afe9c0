"""The first process of the measured kernel: builds the path, measures, prints, and turns off.

The path is sender - r1 - r2 - receiver. From r1 to r2 it has the bottleneck, from r2 to the
receiver and from r1 to the sender the delay, each in a netem of its own.
"""

import ctypes
import importlib
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

CONTROLS = ("reno", "cubic", "highspeed")
TURNS = 3
SECONDS = 20
SAMPLE_S = 0.01
PORT = 5000
MTU = 1000
SETTING = """
netns add r1
netns add r2
netns add receiver
link add s type veth peer name s1 netns r1
link add r1 netns r1 type veth peer name r2 netns r2
link add d2 netns r2 type veth peer name d netns receiver
addr add 10.0.1.1/24 dev s
-n r1 addr add 10.0.1.2/24 dev s1
-n r1 addr add 10.0.2.1/24 dev r1
-n r2 addr add 10.0.2.2/24 dev r2
-n r2 addr add 10.0.3.1/24 dev d2
-n receiver addr add 10.0.3.2/24 dev d
"""
DEVICES = {"": ["lo", "s"], "r1": ["s1", "r1"], "r2": ["r2", "d2"], "receiver": ["d"]}
QUEUES = (
    ("r1", "r1", "root netem rate 10mbit limit 50"),
    ("r2", "d2", "root netem delay 30ms limit 10000"),
    ("r1", "s1", "root netem delay 30ms limit 10000"),
)
"""Namespace, device and queue."""
LIBC = ctypes.CDLL(None, use_errno=True)
INIT_MODULE = 175
"""The number of the system call on x86-64."""
POWER_OFF = 0x4321FEDC
WINDOW, MIN_RTT, RETRANSMITTED = 80, 148, 100
"""Places in the kernel's struct tcp_info, in bytes."""
INFO_BYTES = 208


def run(*words: str) -> None:
    """Run a command, which must succeed."""
    subprocess.run(words, check=True)


def begin() -> None:
    """Do what a system does when it starts: file systems and modules."""
    systems = {"/proc": "proc", "/sys": "sysfs", "/dev": "devtmpfs", "/run": "tmpfs"}
    for directory, kind in systems.items():
        Path(directory).mkdir(exist_ok=True)
        if LIBC.mount(kind.encode(), directory.encode(), kind.encode(), 0, None):
            raise OSError(ctypes.get_errno(), f"{directory} is not mounted")
    for module in sorted(Path("/modules").iterdir()):
        image = module.read_bytes()
        if LIBC.syscall(INIT_MODULE, image, len(image), b""):
            raise OSError(ctypes.get_errno(), f"{module.name} is not loaded")


def build(mtu: int, queues: Sequence[tuple[str, str, str]]) -> None:
    """Make the namespaces, their links, routes and queues.

    Parameters
    ----------
    mtu
        The largest packet of IP, bytes.
    queues
        As `QUEUES`.
    """
    for line in SETTING.split("\n")[1:-1]:
        run("ip", *line.split())
    for namespace, devices in DEVICES.items():
        inside = ["-n", namespace] if namespace else []
        for device in devices:
            run("ip", *inside, "link", "set", "dev", device, "up")
            if device != "lo":
                # One packet at a time: no segmentation offload.
                size = f"mtu {mtu} gso_max_segs 1"
                run("ip", *inside, "link", "set", "dev", device, *size.split())
    for namespace, device, setting in queues:
        run("tc", "-n", namespace, "qdisc", "add", "dev", device, *setting.split())
    run("ip", "route", "add", "default", "via", "10.0.1.2")
    run("ip", "-n", "r1", "route", "add", "10.0.3.0/24", "via", "10.0.2.2")
    run("ip", "-n", "r2", "route", "add", "10.0.1.0/24", "via", "10.0.2.1")
    run("ip", "-n", "receiver", "route", "add", "default", "via", "10.0.3.1")
    for namespace in ("r1", "r2"):
        run("ip", "netns", "exec", namespace, sys.executable, __file__, "forward")
    Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")


def receive(port: int, control: str) -> None:
    """Take what comes, one connection after the other.

    Parameters
    ----------
    port
        Where it comes.
    control
        Of the kernel, which the receiver's end has.
    """
    with socket.create_server(("", port)) as server:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        while True:
            connection, _ = server.accept()
            with connection, suppress(ConnectionResetError):
                while connection.recv(65536):
                    pass


def receiver(port: int, control: str) -> subprocess.Popen[bytes]:
    """Start `receive` in its namespace."""
    inside = ["ip", "netns", "exec", "receiver", sys.executable, __file__, "receive"]
    return subprocess.Popen([*inside, str(port), control])


def number(state: bytes, place: int, kind: str = "I") -> int:
    """Read a number of struct tcp_info."""
    found: int = struct.unpack_from(f"={kind}", state, place)[0]
    return found


def bulk(connection: socket.socket, over: threading.Event) -> None:
    """Send until it is over."""
    while not over.is_set():
        connection.sendall(bytes(4096))


def transfer(
    control: str,
    port: int,
    seconds: float,
    sample_s: float,
    ready: Callable[[], None] = lambda: None,
    send: Callable[[socket.socket, threading.Event], None] = bulk,
) -> list[bytes]:
    """Send for some seconds.

    Parameters
    ----------
    control
        Of the kernel.
    port
        Of the receiver.
    seconds
        How long.
    sample_s
        Seconds between samples.
    ready
        What is done once the connection is there.
    send
        The application.

    Returns
    -------
        The kernel's struct tcp_info at every sample.
    """
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        connection.connect(("10.0.3.2", port))

        ready()
        over = threading.Event()
        sender = threading.Thread(target=send, args=(connection, over))
        sender.start()
        begin, states = time.monotonic(), []
        for sample in range(1, round(seconds / sample_s) + 1):
            time.sleep(max(0.0, begin + sample * sample_s - time.monotonic()))
            states.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES))
        over.set()
        sender.join()
        # A reset: what was not sent yet must not meet the next connection, nor what is under way.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 0))
    time.sleep(1)
    return states


def measure() -> None:
    """Measure each control, and write the table to the second serial line."""
    build(MTU, QUEUES)
    turns = [control for control in CONTROLS for _ in range(TURNS)]
    with receiver(PORT, "cubic") as process:
        time.sleep(1)
        results = [transfer(control, PORT, SECONDS, SAMPLE_S) for control in turns]
        process.terminate()
    write("windows.csv", table(turns, results, SAMPLE_S))


def table(names: Sequence[str], results: Sequence[Sequence[bytes]], sample_s: float) -> str:
    """Write windows side by side.

    Parameters
    ----------
    names
        Of the turns.
    results
        What `transfer` gave in each.
    sample_s
        Seconds between samples.

    Returns
    -------
        A line about each turn, then the table.
    """
    text = ""
    for name, states in zip(names, results, strict=True):
        rtt, again = (number(states[-1], at) for at in (MIN_RTT, RETRANSMITTED))
        text += f"# {name}: smallest RTT {rtt} us, {again} packets retransmitted\n"
    text += f"time_s,{','.join(names)}\n"
    for sample, row in enumerate(zip(*results, strict=True), 1):
        windows = ",".join(str(number(state, WINDOW)) for state in row)
        text += f"{sample * sample_s:.2f},{windows}\n"
    return text


def write(file: str, text: str) -> None:
    """Send a file to the host by the second serial line."""
    with Path("/dev/ttyS1").open("a") as out:
        out.write(f"@ {file}\n# Linux {os.uname().release}, {os.uname().version}\n{text}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["forward"]:
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        case ["receive", port, control]:
            receive(int(port), control)
        case [study, *parts]:
            try:
                begin()
                importlib.import_module(study).measure(*parts)
                with Path("/dev/ttyS1").open("a") as out:
                    out.write("# end\n")
            except Exception:
                traceback.print_exc()
            finally:
                LIBC.reboot(POWER_OFF)
