"""The kernel's own BBR on an emulated bottleneck, alone and against CUBIC, and the simulator's."""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from shared import COMMAND, ROOT, SERVER, path, put

import ackclock
from ackclock.decision.intervals import over_runs
from ackclock.draw import markdown

DATA = ROOT / "benches" / "data" / "stock.csv"
PAGE = ROOT / "docs" / "controllers" / "bbr-linux.md"

# The path on which R. Ware et al. (IMC 2019) measured BBR against CUBIC: a BDP of 33.3 packets.
RATE, RTT_MS, PACKET, SEGMENT = "10 Mbit/s", 40, 1500, 1448
BDP = 10e6 * RTT_MS / 1e3 / (8 * PACKET)
BUFFERS = (2, 8, 32)
MIXES: dict[str, tuple[str, ...]] = {
    "BBR alone": ("bbr",),
    "one of each": ("bbr", "cubic"),
    "two of each": ("bbr", "cubic", "bbr", "cubic"),
}
# A second apart, so that slow starts do not overlap.
START_S, FIRST_PORT = 1.0, 5201
SECONDS, LEFT_OUT, TURNS, RUNS = 120, 1 / 3, 2, 16
OURS = ("bbr-linux", "bbr")
# Paths at once: each is a thread that sleeps nearly all the time.
AT_ONCE = 3
# The simulator's: packets of different flows out of step, and the noise of the RTT samples there.
OVERHEAD, RTT_NOISE = "0.1 ms", "0.1 ms"


@dataclass(frozen=True)
class Case:
    """Flows of these controls and a buffer in BDP."""

    mix: str
    buffer: int

    @property
    def controls(self) -> tuple[str, ...]:
        """The control of each flow."""
        return MIXES[self.mix]

    @property
    def queue(self) -> int:
        """The buffer in packets."""
        return round(self.buffer * BDP)


CASES = [Case(mix, buffer) for mix in MIXES for buffer in BUFFERS]


def _goodput(file: Path, start_s: float, seconds: int) -> float:
    """Mbit/s that the server read in the whole seconds of the measured part of a turn."""
    said = json.loads(file.read_text())["server_output_json"]["intervals"]
    first, last = LEFT_OUT * seconds - start_s, seconds - start_s
    inside = [interval["sum"] for interval in said]
    inside = [
        interval
        for interval in inside
        if first <= round(interval["start"]) and round(interval["end"]) <= last
    ]
    span = inside[-1]["end"] - inside[0]["start"]
    return float(sum(interval["bytes"] for interval in inside) * 8e-6 / span)


def _turn(case: Case, seconds: int) -> tuple[list[float], float]:
    """Return the goodputs of the kernel's flows and the share of packets that were late."""
    starts = [START_S * place for place in range(len(case.controls))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ports = [FIRST_PORT + place for place in range(len(case.controls))]
        server = " ".join(f"iperf3 -s -1 -J -i 1 -p {port} &" for port in ports) + " wait"
        lines = ["sleep 0.5"]
        for port, start, control in zip(ports, starts, case.controls, strict=True):
            length = f"{seconds - start:g}"
            transfer = [
                "iperf3",
                "-c",
                SERVER,
                "-p",
                str(port),
                "-C",
                control,
                "-t",
                length,
                "-i",
                "1",
                "-J",
                "--get-server-output",
            ]
            file = shlex.quote(str(folder / f"{port}.json"))
            lines.append(f'(sleep {start}; exec {shlex.join(transfer)} >{file}) & all="$all $!"')
        lines.append("for one in $all; do wait $one || exit 3; done")
        report = folder / "report.json"
        done = subprocess.run(
            [
                COMMAND,
                "link",
                "--rate",
                RATE.replace(" ", ""),
                "--delay",
                f"{RTT_MS / 2}ms",
                "--buffer",
                str(case.queue),
                "--mtu",
                f"{PACKET}B",
                "-o",
                str(report),
                "--server",
                f"sh -c {shlex.quote(server)}",
                "--",
                "sh",
                "-c",
                "\n".join(lines),
            ],
            check=False,
            capture_output=True,
            text=True,
        )
        # 1: the path was late, as its report says.
        if done.returncode not in (0, 1) or not report.exists():
            raise SystemExit(f"{case}: the path or a transfer failed:\n{done.stderr}")
        said = json.loads(report.read_text())
        late = max(said[way]["lateness"]["late_share"] for way in ("forward", "reverse"))
        files = [folder / f"{port}.json" for port in ports]
        return [_goodput(*transfer, seconds) for transfer in zip(files, starts, strict=True)], late


def simulate(case: Case, seconds: int, bbr: str) -> NDArray[np.float64]:
    """Return goodputs in Mbit/s with `bbr` as BBR, a row per run and a column per flow."""
    flows = [
        {
            "controller": bbr if control == "bbr" else control,
            "rtt": f"{RTT_MS} ms",
            "rtt_noise": RTT_NOISE,
            "start": f"{START_S * place:g} s",
        }
        for place, control in enumerate(case.controls)
    ]
    scenario = {
        "run": {"duration": f"{seconds} s", "warmup": f"{LEFT_OUT * seconds} s"},
        # An ACK of the kernel has 20 bytes of IP, 20 of TCP and 12 of time stamps.
        "tcp": {"profile": "linux", "packet": f"{PACKET} B", "ack": "52 B", "overhead": OVERHEAD},
        "dumbbell": path(RATE, RTT_MS, case.queue, 0),
        "flow": flows,
    }
    runs = [ackclock.simulate(scenario, run=number, record=False).summary for number in range(RUNS)]
    goodputs = [[flow["goodput_mbps"] for flow in run["flows"]] for run in runs]
    return np.array(goodputs, dtype=float) * SEGMENT / PACKET


def measure(cases: Sequence[Case], turns: int, seconds: int) -> pl.DataFrame:
    """Let the kernel's flows of every case run in every turn; a row per flow."""

    def one(task: tuple[int, Case]) -> list[dict[str, Any]]:
        turn, case = task
        goodputs, late = _turn(case, seconds)
        shown = ", ".join(f"{goodput:.2f}" for goodput in goodputs)
        print(
            f"turn {turn}, {case.mix}, {case.buffer} BDP: {shown} Mbit/s; late: {late:.2%}",
            file=sys.stderr,
            flush=True,
        )
        return [
            {
                "mix": case.mix,
                "buffer_bdp": case.buffer,
                "turn": turn,
                "seconds": seconds,
                "flow": flow,
                "control": control,
                "goodput_mbps": round(goodput, 4),
                "late_share": round(late, 5),
            }
            for flow, (control, goodput) in enumerate(zip(case.controls, goodputs, strict=True))
        ]

    tasks = list(itertools.product(range(1, turns + 1), cases))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return pl.DataFrame([row for rows in pool.map(one, tasks) for row in rows])


def _of_bbr(case: Case, goodputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the total of the BBR flows: Mbit/s where they are alone, otherwise a share."""
    own = goodputs[:, [control == "bbr" for control in case.controls]].sum(axis=1)
    both: NDArray[np.float64] = own if len(case.controls) == 1 else own / goodputs.sum(axis=1)
    return both


def page(turns: pl.DataFrame) -> list[str]:
    """Put the kernel's numbers next to the simulator's."""
    seconds, rows = int(turns["seconds"][0]), []
    for case in CASES:
        own = turns.filter(pl.col("mix") == case.mix, pl.col("buffer_bdp") == case.buffer)
        goodputs = own.sort("turn", "flow")["goodput_mbps"].to_numpy()
        kernel = _of_bbr(case, goodputs.reshape(-1, len(case.controls)))
        turns = ", ".join(f"{turn:.2f}" for turn in kernel)
        ours = [over_runs(_of_bbr(case, simulate(case, seconds, name))) for name in OURS]
        cells = [f"{estimate.value:.2f} ± {estimate.high - estimate.value:.2f}" for estimate in ours]
        difference = ours[0].value / kernel.mean() - 1
        rows.append([case.mix, str(case.buffer), turns, *cells, f"{difference:+.0%}"])
        print(markdown.row(rows[-1]), flush=True)
    late = float(turns.select(pl.col("late_share").max()).item())
    heads = ["flows", "buffer, BDP", "kernel", *(f"`{name}`" for name in OURS)]
    return [
        f"{RATE}, {RTT_MS} ms, droptail, packets of {PACKET} bytes, {seconds} s of which the first "
        f"third is left out: the kernel's turns over `ackclock link` and {RUNS} simulated runs, "
        "mean and half of the 95 % interval. BBR alone: goodput of the application in Mbit/s; "
        "otherwise the share of the BBR flows. At most "
        f"{late:.1%} of a turn's packets left more than 1 ms late.",
        "",
        *markdown.table([*heads, f"`{OURS[0]}` against the kernel"], rows),
    ]


def main() -> None:
    """Put the table into the page of bbr-linux. Needs root and the programs of `make measure`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of each case")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="length of a turn")
    parser.add_argument("--again", action="store_true", help="from the turns that were kept")
    options = parser.parse_args()
    if not options.again:
        measure(CASES, options.turns, options.seconds).write_csv(DATA)
    put(PAGE, "stock", "bench-stock", page(pl.read_csv(DATA)))


if __name__ == "__main__":
    main()
