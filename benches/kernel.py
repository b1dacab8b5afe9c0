"""The kernel's controls: compared with the simulator, under random losses, and their cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import competition
import numpy as np
from shared import COMMAND, KERNEL_PAGE, ROOT, SERVER, campaign, loaded, path, put, run

import ackclock
from ackclock.decision.intervals import bootstrap
from ackclock.draw import markdown, plots
from ackclock.engine import Run

CONTROLS = {"Illinois": "illinois", "FIT": "fit", "Africa": "africa", "BIC": "bic"}
# As in the reference measurements of Linux 6.12; 948 bytes of 1000 are the application's.
PACKET, SEGMENT = 1000, 948
DURATION_S, WARMUP_S = 60, 10
PATHS = {"no random loss": 0.0, "0.1 % random loss": 0.001}
LARGEST_WINDOW, LARGEST_GOODPUT = 0.10, 0.05

DELAYS_MS = (40, 120, 200)
TURNS = {"Reno": ("reno", "reno"), "CUBIC": ("cubic", "cubic"), "FIT": ("ack_fit", "fit")}
# Uniform up to twice this: its deviation, 0.29 ms, is that of the kernel's RTT samples here.
RTT_NOISE = {"as it is": "0 ms", "RTT noise 0.5 ms": "0.5 ms"}
PERIOD_S, MEASURED_FROM_S = 40, 15

PAIRS, TRANSFER_S = 64, 1
LARGEST_COST = 1.05


def _in_kernel(control: str, scenario: Path, directory: Path) -> tuple[Run, dict[str, Any]]:
    """Trace a transfer over the emulated path; return the run and the emulator's own report."""
    report = directory / "report.json"
    with loaded(control):
        trace = subprocess.Popen(
            [
                COMMAND,
                "kernel",
                "trace",
                "-o",
                str(directory / "trace"),
                "--sample",
                "50ms",
                "--duration",
                f"{DURATION_S + 3}s",
                "--warmup",
                f"{WARMUP_S}s",
            ],
            stdout=subprocess.DEVNULL,
        )
        time.sleep(1)
        run(
            COMMAND,
            "link",
            str(scenario),
            "--mtu",
            f"{PACKET}B",
            "--server",
            "iperf3 -s",
            "-o",
            str(report),
            "--",
            "iperf3",
            "-c",
            SERVER,
            "-t",
            str(DURATION_S),
            "-C",
            f"ack_{control}",
        )
        trace.wait()
    return Run.read(directory / "trace"), json.loads(report.read_text())


def agreement() -> list[str]:
    """Run each control in the simulator, as the kernel's code there, and in the kernel."""
    lines = [
        f"10 Mbit/s, 60 ms, a droptail queue of 50 packets of {PACKET} bytes, {DURATION_S} s of "
        f"which the first {WARMUP_S} are left out; profile `linux`; goodput is the application's. "
        "With random loss the emulator and the simulator draw from the same stream.",
        "",
    ]
    heads = ["path", "control", "mean window: simulator", "the kernel's code there", "kernel"]
    heads += ["goodput, Mbit/s: simulator", "the kernel's code there", "kernel", "loss events"]
    rows, late = [], []
    with plots.in_style():
        figure, panels = plots.panels(len(CONTROLS), height=1.5)
        for place, loss in PATHS.items():
            for panel, (title, control) in zip(panels, CONTROLS.items(), strict=True):
                scenario = {
                    "run": {"duration": f"{DURATION_S} s", "warmup": f"{WARMUP_S} s", "sample": "50 ms"},
                    "tcp": {"profile": "linux", "packet": f"{PACKET} B"},
                    "dumbbell": path("10 Mbit/s", 60, 50, loss),
                    "flow": [{"controller": control, "rtt": "60 ms"}],
                }
                runs = {"simulator": ackclock.simulate(scenario)}
                scenario["flow"] = [{"controller": f"{control}@kernel", "rtt": "60 ms"}]
                runs["the kernel's code there"] = ackclock.simulate(scenario)
                with tempfile.TemporaryDirectory() as directory:
                    file = Path(directory) / "path.toml"
                    file.write_text(runs["simulator"].scenario)
                    runs["kernel"], report = _in_kernel(control, file, Path(directory))
                late += report["problems"]
                rows.append(_beside(place, title, runs))
                print(markdown.row(rows[-1]), flush=True)
                if not loss:
                    _overlay(panel, title, runs)
        plots.legend(panels[0], 3)
        panels[-1].set_xlabel("time (s)")
        figure.savefig(ROOT / "docs" / "images" / "kernel-windows.png", dpi=150)
    worst = "; ".join(dict.fromkeys(late)) or "at most 1 % of packets left more than 1 ms late"
    limits = f"{LARGEST_WINDOW:.0%} for windows and {LARGEST_GOODPUT:.0%} for goodputs"
    verdict = f"Limits: {limits}, kept by all. The emulator about itself: {worst}."
    return [*lines, *markdown.table(heads, rows), "", verdict]


def _beside(place: str, title: str, runs: dict[str, Run]) -> list[str]:
    flows = [run.summary["flows"][0] for run in runs.values()]
    windows = [flow["mean_window"] for flow in flows]
    # The simulator counts whole packets.
    share = [SEGMENT / PACKET, SEGMENT / PACKET, 1.0]
    goodputs = [flow["goodput_mbps"] * part for flow, part in zip(flows, share, strict=True)]
    for values, limit in ((windows, LARGEST_WINDOW), (goodputs, LARGEST_GOODPUT)):
        for value in values:
            if abs(value / values[0] - 1) > limit:
                raise SystemExit(f"{place}, {title}: {values} differ by more than {limit}")
    cells = [f"{value:.1f}" for value in windows] + [f"{value:.3f}" for value in goodputs]
    events = ", ".join(str(flow["loss_events"]) for flow in flows)
    return [place, title, *cells, events]


def _overlay(panel: Any, title: str, runs: dict[str, Run]) -> None:
    for number, (name, one) in enumerate(runs.items()):
        panel.plot(one.windows["time_s"], one.windows["window"], label=name, **plots.style(number))
    panel.set(ylabel=f"{title}\nwindow (packets)", xlim=(0, DURATION_S), ylim=(0, None))


def losses() -> list[str]:
    """Let FIT, CUBIC and Reno take turns on figure 4b's path, by a campaign over the link."""
    lines = [
        "100 Mbit/s, 1 % random loss, a queue of the bandwidth-delay product, packets of "
        f"1500 bytes; goodput in Mbit/s of seconds {MEASURED_FROM_S} to {PERIOD_S} of a turn, by "
        "`ackclock measure`; next to it the simulator's, mean of eight runs, with pacing because "
        "this kernel paces, and with and without noise on the RTT samples.",
        "",
    ]
    simulated = [f"simulated, {noise}" for noise in RTT_NOISE]
    heads = ["round trip", *(head for name in TURNS for head in (f"{name}, kernel", *simulated))]
    rows = []
    for rtt_ms in DELAYS_MS:
        queue = round(100e6 / 12_000 * rtt_ms / 1000)
        with loaded("fit"):
            measured = campaign(
                [in_kernel for in_kernel, _ in TURNS.values()],
                PERIOD_S,
                MEASURED_FROM_S,
                [
                    "--rate",
                    "100Mbit/s",
                    "--delay",
                    f"{rtt_ms / 2}ms",
                    "--buffer",
                    str(queue),
                    "--loss",
                    "1%",
                    "--both",
                    "--set",
                    "dumbbell.loss.rate=0%",
                ],
            )
        cells = [f"{rtt_ms} ms"]
        for in_kernel, control in TURNS.values():
            cells.append(f"{measured[in_kernel]:.1f}")
            cells += [f"{_simulated(control, rtt_ms, queue, noise):.1f}" for noise in RTT_NOISE.values()]
        rows.append(cells)
        print(markdown.row(cells), flush=True)
    return [*lines, *markdown.table(heads, rows)]


def _simulated(control: str, rtt_ms: float, queue: int, noise: str) -> float:
    """Mean goodput of eight runs, Mbit/s; 1448 bytes of a packet of 1500 are the application's."""
    scenario = {
        "run": {"duration": f"{PERIOD_S} s", "warmup": f"{MEASURED_FROM_S} s"},
        "tcp": {"profile": "linux", "packet": "1500 B", "pacing": True},
        "dumbbell": path("100 Mbit/s", rtt_ms, queue, 0.01),
        "flow": [{"controller": control, "rtt": f"{rtt_ms} ms", "rtt_noise": noise}],
    }
    runs = [ackclock.simulate(scenario, run=number, record=False) for number in range(8)]
    return float(np.mean([run.summary["flows"][0]["goodput_mbps"] * 1448 / 1500 for run in runs]))


@contextmanager
def _cable() -> Iterator[tuple[str, str]]:
    """Two namespaces with a cable between them, and an iperf3 server at the far one."""
    client, server = (f"ackbench-{os.getpid()}-{end}" for end in ("client", "server"))
    try:
        for name in (client, server):
            run("ip", "netns", "add", name)
        ends = ["netns", client, "type", "veth", "peer", "name", "cable", "netns", server]
        run("ip", "link", "add", "cable", *ends)
        for name, address in ((client, "10.78.0.1/24"), (server, "10.78.0.2/24")):
            run("ip", "-n", name, "addr", "add", address, "dev", "cable")
            run("ip", "-n", name, "link", "set", "cable", "up")
        listening = subprocess.Popen(
            ["ip", "netns", "exec", server, "iperf3", "-s"], stdout=subprocess.DEVNULL
        )
        time.sleep(1)
        yield client, "10.78.0.2"
        listening.kill()
        listening.wait()
    finally:
        for name in (client, server):
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


def _busy_s() -> float:
    """Return the busy seconds of all processors since the start, from the first line of /proc/stat."""
    user, nice, system, _idle, _wait, irq, softirq, *_ = (
        int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _cost(client: str, address: str, control: str) -> tuple[float, float]:
    """CPU nanoseconds per kB of a transfer over the cable, and its Gbit/s."""
    begin = _busy_s()
    done = run(
        "ip",
        "netns",
        "exec",
        client,
        "iperf3",
        "-c",
        address,
        "-A",
        "0,1",
        "-t",
        str(TRANSFER_S),
        "-J",
        "-C",
        control,
    )
    busy = _busy_s() - begin
    received = json.loads(done.stdout)["end"]["sum_received"]
    return busy / received["bytes"] * 1e12, received["bits_per_second"] * 1e-9


def cost() -> list[str]:
    """CPU time per byte over a cable without limits, compared with the kernel's own Reno."""
    lines = [
        "CPU time of the whole machine per kB that iperf3 moves over a raw veth pair, the "
        f"control's over the kernel's Reno's: {PAIRS} pairs of {TRANSFER_S} s, the order reversed "
        "each time, sender and receiver on a processor each; medians, and the 95 % interval of the "
        "median ratio by the bootstrap, because single pairs differ by 20 % on this machine.",
        "",
    ]
    heads = ["control", "ns per kB", "the kernel's Reno", "ratio", "95 % interval", "Gbit/s"]
    rows = []
    with loaded(*CONTROLS.values()), _cable() as (client, address):
        _cost(client, address, "reno")
        for title, control in CONTROLS.items():
            pairs = []
            for number in range(PAIRS):
                order = ["reno", f"ack_{control}"][:: 1 if number % 2 else -1]
                costs = {name: _cost(client, address, name) for name in order}
                pairs.append([*costs[f"ack_{control}"], *costs["reno"]])
            own, own_rate, reno, reno_rate = np.array(pairs).T
            ratio = bootstrap(own / reno, np.median)
            times = [f"{np.median(values):.0f}" for values in (own, reno)]
            rates = [f"{np.median(values):.1f}" for values in (own_rate, reno_rate)]
            interval = f"{ratio.low:.3f} to {ratio.high:.3f}"
            rows.append([title, *times, f"{ratio.value:.3f}", interval, *rates])
            print(markdown.row(rows[-1]), flush=True)
            if ratio.high >= LARGEST_COST:
                print(f"{title}: the upper bound {ratio.high:.3f} is not below {LARGEST_COST}")
    return [*lines, *markdown.table([*heads, "Reno's"], rows)]


PARTS: dict[str, Callable[[], list[str]]] = {
    "agreement": agreement,
    "losses": losses,
    "competition": competition.table,
    "cost": cost,
}


def main() -> None:
    """Measure the named tables, or all, and put them into docs/kernel.md. Needs root."""
    for name in sys.argv[1:] or PARTS:
        put(KERNEL_PAGE, name, "bench-kernel", PARTS[name]())


if __name__ == "__main__":
    main()
