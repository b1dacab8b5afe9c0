"""The first process of the measured kernel: builds the path, measures, prints, and turns off.

The path is sender - r1 - r2 - receiver. From r1 to r2 it has the bottleneck, from r2 to the
receiver and from r1 to the sender the delay, each in a netem of its own.
"""

import ctypes
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
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
NETEM = {
    ("r1", "r1"): "rate 10mbit limit 50",
    ("r2", "d2"): "delay 30ms limit 10000",
    ("r1", "s1"): "delay 30ms limit 10000",
}
LIBC = ctypes.CDLL(None, use_errno=True)
INIT_MODULE = 175
"""The number of the system call on x86-64."""
POWER_OFF = 0x4321FEDC
WINDOW, MIN_RTT, RETRANSMITTED = 80, 148, 100
"""Places in the kernel's struct tcp_info, in bytes."""


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


def build() -> None:
    """Make the namespaces, their links, routes and queues."""
    for line in SETTING.split("\n")[1:-1]:
        run("ip", *line.split())
    for namespace, devices in DEVICES.items():
        inside = ["-n", namespace] if namespace else []
        for device in devices:
            run("ip", *inside, "link", "set", "dev", device, "up")
            if device != "lo":
                # One packet at a time: no segmentation offload.
                size = f"mtu {MTU} gso_max_segs 1"
                run("ip", *inside, "link", "set", "dev", device, *size.split())
    for (namespace, device), setting in NETEM.items():
        run("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "netem", *setting.split())
    run("ip", "route", "add", "default", "via", "10.0.1.2")
    run("ip", "-n", "r1", "route", "add", "10.0.3.0/24", "via", "10.0.2.2")
    run("ip", "-n", "r2", "route", "add", "10.0.1.0/24", "via", "10.0.2.1")
    run("ip", "-n", "receiver", "route", "add", "default", "via", "10.0.3.1")
    for namespace in ("r1", "r2"):
        run("ip", "netns", "exec", namespace, sys.executable, __file__, "forward")
    Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")


def receive() -> None:
    """Take what comes, one connection after the other."""
    with socket.create_server(("", PORT)) as server:
        while True:
            connection, _ = server.accept()
            with connection, suppress(ConnectionResetError):
                while connection.recv(65536):
                    pass


def transfer(control: str) -> tuple[list[int], str]:
    """Send for some seconds.

    Parameters
    ----------
    control
        Of the kernel.

    Returns
    -------
        The window in packets at every sample, and a line about the connection.
    """
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        connection.connect(("10.0.3.2", PORT))

        over = threading.Event()

        def send() -> None:
            while not over.is_set():
                connection.sendall(bytes(4096))

        sender = threading.Thread(target=send)
        sender.start()
        begin, windows = time.monotonic(), []
        for sample in range(1, round(SECONDS / SAMPLE_S) + 1):
            time.sleep(max(0.0, begin + sample * SAMPLE_S - time.monotonic()))
            state = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
            windows.append(struct.unpack_from("=I", state, WINDOW)[0])
        (rtt,), (again,) = (struct.unpack_from("=I", state, at) for at in (MIN_RTT, RETRANSMITTED))
        over.set()
        sender.join()
        # A reset: what was not sent yet must not meet the next connection, nor what is under way.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 0))
    time.sleep(1)
    return windows, f"# {control}: smallest RTT {rtt} us, {again} packets retransmitted\n"


def measure() -> None:
    """Measure each control, and write the table to the second serial line."""
    begin()
    build()
    receiver = ["ip", "netns", "exec", "receiver", sys.executable, __file__, "receive"]
    with subprocess.Popen(receiver) as process:
        time.sleep(1)
        turns = [control for control in CONTROLS for _ in range(TURNS)]
        results = [transfer(control) for control in turns]
        process.terminate()
    with Path("/dev/ttyS1").open("w") as out:
        out.write(f"# Linux {os.uname().release}, {os.uname().version}\n")
        out.writelines(line for _, line in results)
        out.write(f"time_s,{','.join(turns)}\n")
        for sample, windows in enumerate(zip(*(windows for windows, _ in results), strict=True), 1):
            out.write(f"{sample * SAMPLE_S:.2f},{','.join(map(str, windows))}\n")
        out.write("# end\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["forward"]:
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        case ["receive"]:
            receive()
        case _:
            try:
                measure()
            except Exception:
                traceback.print_exc()
            finally:
                LIBC.reboot(POWER_OFF)
