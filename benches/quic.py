"""The controls over QUIC: compared with the simulated TCP, on live paths, and the adapter's cost."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from shared import ROOT, campaign, path, put, run

import ackclock
from ackclock.draw import markdown

PAGE, SPEED = ROOT / "docs" / "quic.md", ROOT / "docs" / "performance.md"

SIMULATED = ("reno", "illinois", "bic", "fit", "cubic")
# TCP configured like QUIC.
AS_QUIC = {
    "growth": "per_packet",
    "delayed_ack": 2,
    "delayed_ack_timer": "25 ms",
    "recovery": "rack",
    "pacing": True,
    "pacing_gain": 1.25,
    "slow_start_gain": 1.25,
    "min_window": 2,
}
LARGEST_WINDOW, LARGEST_GOODPUT = 0.05, 0.03

TURNS = {
    "Reno": "reno",
    "CUBIC": "cubic",
    "Illinois": "illinois",
    "FIT": "fit",
    "quinn's own CUBIC": "quinn-cubic",
}
RTT_MS, LOSS, PERIOD_S, MEASURED_FROM_S = 100, 0.01, 60, 15
LEAST_UNLIMITED_MBPS = 300
# Two threads on two cores look at packets some tenths of a millisecond late, now and then.
NOISE = "0.3 ms"

TRANSFERS, SAMPLES_PER_S = 10, 4999
LARGEST_COST = 0.01


def _beside(control: str, transport: str) -> dict[str, Any]:
    scenario = {
        "run": {"duration": "120 s", "warmup": "20 s"},
        "dumbbell": path("20 Mbit/s", 40, 100, 0),
        "flow": [
            {
                "controller": control,
                "transport": transport,
                "rtt": "40 ms",
                "packet": "1500 B",
                "initial_window": 10,
            }
            | (AS_QUIC if transport == "tcp" else {})
        ],
    }
    flow: dict[str, Any] = ackclock.simulate(scenario, record=False).summary["flows"][0]
    return flow


def simulated() -> list[str]:
    """Run each control on the simulated TCP and on quinn's endpoints in virtual time."""
    heads = ["control", "mean window, TCP", "QUIC", "goodput, Mbit/s, TCP", "QUIC", "loss events"]
    rows = []
    for control in SIMULATED:
        tcp, quic = _beside(control, "tcp"), _beside(control, "quic")
        limits = (("mean_window", LARGEST_WINDOW), ("goodput_mbps", LARGEST_GOODPUT))
        for key, limit in limits:
            if abs(quic[key] / tcp[key] - 1) > limit:
                raise SystemExit(f"{control}: {key} {tcp[key]}, {quic[key]}")
        windows = [f"{flow['mean_window']:.1f}" for flow in (tcp, quic)]
        goodputs = [f"{flow['goodput_mbps']:.2f}" for flow in (tcp, quic)]
        events = f"{tcp['loss_events']}, {quic['loss_events']}"
        rows.append([control, *windows, *goodputs, events])
        print(markdown.row(rows[-1]), flush=True)
    return markdown.table(heads, rows)


def _lossy(control: str, noise: str | None) -> str:
    """Mean goodput of eight simulated runs of QUIC on the lossy path, Mbit/s."""
    if control.startswith("quinn-"):
        return ""
    random = {"delay_noise": {"kind": "uniform", "range": noise}} if noise else {}
    scenario = {
        "run": {"duration": f"{PERIOD_S} s", "warmup": f"{MEASURED_FROM_S} s"},
        "dumbbell": path("100 Mbit/s", RTT_MS, _product(), LOSS) | random,
        "flow": [{"controller": control, "transport": "quic", "rtt": f"{RTT_MS} ms", "packet": "1500 B"}],
    }
    runs = [ackclock.simulate(scenario, run=number, record=False) for number in range(8)]
    return f"{np.mean([run.summary['flows'][0]['goodput_mbps'] for run in runs]):.1f}"


def _product() -> int:
    """Bandwidth-delay product of the lossy path, packets of 1500 bytes."""
    return round(100e6 / 12_000 * RTT_MS / 1000)


def live() -> list[str]:
    """Let the controls take turns over the emulated link and over loopback."""
    quic = ("--quic",)
    lossy = campaign(
        list(TURNS.values()),
        PERIOD_S,
        MEASURED_FROM_S,
        [
            "--rate",
            "100Mbit/s",
            "--delay",
            f"{RTT_MS / 2:g}ms",
            "--buffer",
            str(_product()),
            "--loss",
            f"{LOSS:.0%}",
            "--both",
            "--set",
            "dumbbell.loss.rate=0%",
        ],
        quic,
    )
    unlimited = campaign(
        list(TURNS.values()),
        10,
        2,
        ["--rate", "100Gbit/s", "--delay", "0ms", "--buffer", "10000", "--both"],
        quic,
    )
    loopback = campaign(list(TURNS.values()), 10, 2, None, quic)
    lines = [
        f"Goodput of the application in Mbit/s. Lossy: {RTT_MS} ms, {LOSS:.0%} random loss, a "
        f"queue of {_product()} packets, seconds {MEASURED_FROM_S} to {PERIOD_S} of a turn; "
        "next to it quinn's endpoints in virtual time on the same path, mean of eight runs, without "
        f"noise and with a delay that varies by {NOISE}. "
        "Unlimited: the emulated link without rate and delay. Both ends and the link on two cores.",
        "",
    ]
    heads = ["control", "100 Mbit/s, lossy", "simulated", f"with {NOISE} of noise"]
    heads += ["unlimited", "loopback"]
    rows = []
    for title, control in TURNS.items():
        if unlimited[control] < LEAST_UNLIMITED_MBPS:
            print(f"{title}: {unlimited[control]:.0f} Mbit/s of {LEAST_UNLIMITED_MBPS}")
        virtual = [_lossy(control, None), _lossy(control, NOISE)]
        free = [f"{measured[control]:.0f}" for measured in (unlimited, loopback)]
        rows.append([title, f"{lossy[control]:.1f}", *virtual, *free])
        print(markdown.row(rows[-1]), flush=True)
    return [*lines, *markdown.table(heads, rows)]


def profile() -> list[str]:
    """Profile a transfer over loopback with `perf`."""
    run("cargo", "build", "--quiet", "--release", "-p", "ackclock-quic", "--example", "transfer", cwd=ROOT)
    program = ROOT / "target" / "release" / "examples" / "transfer"
    lines = [
        f"Samples of the processor's time ({SAMPLES_PER_S} per second, `perf record -e cpu-clock`) "
        f"of {TRANSFERS} transfers of 100 MB over loopback, sender and receiver in one process "
        "(`crates/ackclock-quic/examples/transfer.rs`): the share of the adapter and the control "
        "behind it, and what else there is.",
        "",
    ]
    heads = ["control", "adapter and control", "quinn, tokio, the example", "TLS", "C library"]
    rows = []
    for title, control in TURNS.items():
        if control.startswith("quinn-"):
            continue
        shares = _shares(program, control)
        rows.append([title, *(f"{share:.2%}" for share in shares)])
        print(markdown.row(rows[-1]), flush=True)
        if shares[0] >= LARGEST_COST:
            print(f"{title}: {shares[0]:.2%} is not below {LARGEST_COST:.0%}")
    return [*lines, *markdown.table([*heads, "kernel"], rows)]


def _shares(program: Path, control: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "perf.data")
        transfers = f"for i in $(seq {TRANSFERS}); do {program} {control}; done"
        try:
            run(
                "perf",
                "record",
                "-q",
                "-e",
                "cpu-clock",
                "-F",
                str(SAMPLES_PER_S),
                "-o",
                data,
                "--",
                "sh",
                "-c",
                transfers,
            )
        except FileNotFoundError:
            raise SystemExit("perf is missing; apt-get install linux-perf") from None
        report = run("perf", "report", "-i", data, "--stdio", "--sort", "dso,symbol")
    kinds = {
        r"ackclock_(cc|quic|units)|libm\.so": 0,
        r"ring_core|ring::|rustls|aes_gcm": 2,
        r"libc\.so|ld-linux|\[vdso\]": 3,
        r"\[k\]": 4,
    }
    shares = [0.0] * 5
    for line in report.stdout.splitlines():
        if match := re.match(r"\s*([\d.]+)%\s+(.*)", line):
            kind = next((kind for name, kind in kinds.items() if re.search(name, match[2])), 1)
            shares[kind] += float(match[1]) / 100
    return shares


PARTS: dict[str, tuple[Path, Callable[[], list[str]]]] = {
    "simulated": (PAGE, simulated),
    "live": (PAGE, live),
    "profile": (SPEED, profile),
}


def main() -> None:
    """Measure the named tables, or all, and put them into the pages. Needs root and perf."""
    for name in sys.argv[1:] or PARTS:
        page, measure = PARTS[name]
        put(page, name, "bench-quic", measure())


if __name__ == "__main__":
    main()
