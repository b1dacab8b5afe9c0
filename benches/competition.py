"""Flows of the kernel that compete on one emulated bottleneck, compared with the simulator."""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import ttest_ind
from shared import COMMAND, KERNEL_PAGE, ROOT, SERVER, loaded, path, put

import ackclock
from ackclock.decision.intervals import over_runs
from ackclock.draw import markdown

DATA = ROOT / "benches" / "data" / "competition.csv"

QUEUE, PACKET, SEGMENT = 100, 1500, 1448
STARTS_S = (0.0, 0.4, 0.7, 1.1)
FIRST_PORT = 5201
# iperf3 exchanges messages for this many round trips before it sends data, by `ss`: each simulated flow
# starts later by the difference to the flow with the shortest RTT.
TALK_ROUND_TRIPS = 4
TURNS, SECONDS = 5, 120
# The first third of a turn is left out: slow start and its effect on the others.
LEFT_OUT = 1 / 3
# A turn is repeated so many times if the path was late.
REPEATS = 2
RUNS = 8
LARGEST_DIFFERENCE = 0.15
# In the simulator: the uniform delay of sends that keeps packets of different flows out of step,
# and the noise of RTT samples, uniform up to twice this, as they are measured on this path.
OVERHEAD, RTT_NOISE = "0.1 ms", "0.1 ms"

# The name in the kernel and the flow in the simulator. In the kernel only CUBIC has HyStart.
CONTROLS: dict[str, tuple[str, dict[str, Any]]] = {
    "Reno": ("reno", {"controller": "reno"}),
    "CUBIC": ("cubic", {"controller": "cubic-linux"}),
    "Illinois": ("ack_illinois", {"controller": "illinois"}),
    "HSTCP": ("ack_hstcp", {"controller": "hstcp"}),
    "BIC": ("ack_bic", {"controller": "bic"}),
    "FIT": ("ack_fit", {"controller": "fit"}),
}
LOADED = [name.removeprefix("ack_") for name, _ in CONTROLS.values() if name.startswith("ack_")]


@dataclass(frozen=True)
class Row:
    """Four flows on the path: a row of a table."""

    question: str
    title: str
    controls: tuple[str, ...]
    rtts_ms: tuple[int, ...]

    def kinds(self) -> list[list[int]]:
        """Return the groups of flows whose shares are compared: equal flows together."""
        flows = list(zip(self.controls, self.rtts_ms, strict=True))
        return [[place for place, name in enumerate(flows) if name == kind] for kind in dict.fromkeys(flows)]


ROUND_TRIPS, AGAINST_RENO = "round trips", "beside Reno"  # The latter is a key of the kept data.
ROWS = [Row(ROUND_TRIPS, name, (name,) * 4, (60, 80, 100, 120)) for name in CONTROLS]
ROWS += [
    Row(AGAINST_RENO, name, ("Reno", "Reno", name, name), (100,) * 4) for name in CONTROLS if name != "Reno"
]


@dataclass(frozen=True)
class Turn:
    """The result of a turn: goodputs in Mbit/s, and the emulator's own report."""

    goodputs: list[float]
    late_share: float
    problems: str


def _commands(row: Row, seconds: int, folder: Path) -> tuple[str, str]:
    """Return the shell programs of server and client; each server serves one transfer."""
    ports = [FIRST_PORT + number for number in range(len(row.controls))]
    servers = "; ".join(f"iperf3 -s -1 -J -i 1 -p {port} &" for port in ports).replace("&;", "&")
    lines = ["sleep 0.5"]
    for port, start, name in zip(ports, STARTS_S, row.controls, strict=True):
        transfer = [
            "iperf3",
            "-c",
            SERVER,
            "-p",
            str(port),
            "-C",
            CONTROLS[name][0],
            "-t",
            str(seconds),
            "-i",
            "1",
            "-J",
            "--get-server-output",
        ]
        file = shlex.quote(str(folder / f"{port}.json"))
        lines.append(f'(sleep {start}; exec {shlex.join(transfer)} >{file}) & transfers="$transfers $!"')
    watched = shlex.quote(str(folder / "ss.txt"))
    lines += [
        f"(while sleep 5; do ss -tinmH dst {SERVER}; done >{watched} 2>/dev/null) & watcher=$!",
        "status=0; for one in $transfers; do wait $one || status=3; done",
        "kill $watcher; exit $status",
    ]
    return f"sh -c {shlex.quote(servers + ' wait')}", "\n".join(lines)


def _attend(command: Sequence[str]) -> tuple[int, str]:
    """Run the path to its end; it cleans up after itself when this program is ended."""
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said) as link,
    ):
        try:
            # Polars lets a system call continue after Ctrl-C, so none may last.
            while link.poll() is None:
                time.sleep(0.1)
        except BaseException:
            link.terminate()
            link.wait(timeout=30)
            raise
        said.seek(0)
        return link.returncode, said.read()


def _turn(row: Row, seconds: int, kept: Path | None) -> Turn:
    """Let the flows of a row compete in the kernel once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server, client = _commands(row, seconds, folder)
        ports = ",".join(f"{FIRST_PORT + number}={rtt}ms" for number, rtt in enumerate(row.rtts_ms))
        status, said = _attend(
            [
                COMMAND,
                "link",
                "--rate",
                "100Mbit/s",
                "--delay",
                f"{min(row.rtts_ms) / 2}ms",
                "--buffer",
                str(QUEUE),
                "--port-rtts",
                ports,
                "--mtu",
                f"{PACKET}B",
                "-o",
                str(folder / "report.json"),
                "--server",
                server,
                "--",
                "sh",
                "-c",
                client,
            ]
        )
        if kept:
            shutil.copytree(folder, kept, dirs_exist_ok=True)
        # 1: the path was late, as its report says; 3: a transfer failed.
        if status not in (0, 1) or not (folder / "report.json").exists():
            raise SystemExit(f"{row.question}, {row.title}: the path or a transfer failed:\n{said}")
        report = json.loads((folder / "report.json").read_text())
        goodputs = [
            _goodput(json.loads((folder / f"{FIRST_PORT + number}.json").read_text()), start, seconds)
            for number, start in enumerate(STARTS_S)
        ]
    late = max(report[way]["lateness"]["late_share"] for way in ("forward", "reverse"))
    return Turn(goodputs, late, "; ".join(report["problems"]))


def _goodput(transfer: dict[str, Any], start_s: float, seconds: int) -> float:
    """Mbit/s that the server read in the whole seconds that lie in the measured part of a turn."""
    intervals = [interval["sum"] for interval in transfer["server_output_json"]["intervals"]]
    first, last = LEFT_OUT * seconds - start_s, seconds - start_s
    inside = [
        interval
        for interval in intervals
        if first <= round(interval["start"]) and round(interval["end"]) <= last
    ]
    span = inside[-1]["end"] - inside[0]["start"]
    return float(sum(interval["bytes"] for interval in inside) * 8e-6 / span)


def simulate(row: Row, seconds: int, **tcp: Any) -> NDArray[np.float64]:
    """Return goodputs of the application in Mbit/s, a row per run and a column per flow."""
    scenario = {
        "run": {"duration": f"{seconds} s", "warmup": f"{LEFT_OUT * seconds} s"},
        # An ACK of the kernel has 20 bytes of IP, 20 of TCP and 12 of time stamps.
        "tcp": {
            "profile": "linux",
            "packet": f"{PACKET} B",
            "ack": "52 B",
            "pacing": True,
            "overhead": OVERHEAD,
            **tcp,
        },
        "dumbbell": path("100 Mbit/s", min(row.rtts_ms), QUEUE, 0),
        "flow": [
            {
                "start": f"{start + TALK_ROUND_TRIPS * (rtt - min(row.rtts_ms)) / 1000} s",
                "rtt": f"{rtt} ms",
                "rtt_noise": RTT_NOISE,
                **CONTROLS[name][1],
            }
            for name, rtt, start in zip(row.controls, row.rtts_ms, STARTS_S, strict=True)
        ],
    }
    runs = [ackclock.simulate(scenario, run=number, record=False).summary for number in range(RUNS)]
    return np.array([[flow["goodput_mbps"] * SEGMENT / PACKET for flow in run["flows"]] for run in runs])


def measure(rows: Sequence[Row], turns: int, seconds: int, kept: Path | None = None) -> pl.DataFrame:
    """Let the flows of every row compete in every turn; a row per flow of each attempt."""
    records: list[dict[str, Any]] = []
    with loaded(*LOADED):
        # Row after row in each turn, so that a busy hour of the machine affects all of them.
        for turn, row in itertools.product(range(1, turns + 1), rows):
            for attempt in range(1 + REPEATS):
                place = f"{row.question}-{row.title}-{turn}-{attempt}".replace(" ", "-").lower()
                result = _turn(row, seconds, kept and kept / place)
                counts = not result.problems or attempt == REPEATS
                flows = zip(row.controls, row.rtts_ms, result.goodputs, strict=True)
                records += [
                    {
                        "question": row.question,
                        "row": row.title,
                        "turn": turn,
                        "seconds": seconds,
                        "attempt": attempt,
                        "counts": counts,
                        "flow": flow,
                        "control": CONTROLS[control][0],
                        "rtt_ms": rtt,
                        "goodput_mbps": round(goodput, 3),
                        "late_share": round(result.late_share, 5),
                        "problems": result.problems,
                    }
                    for flow, (control, rtt, goodput) in enumerate(flows)
                ]
                print(
                    f"turn {turn} of {turns}, {row.question}, {row.title}: "
                    f"{', '.join(f'{goodput:.1f}' for goodput in result.goodputs)} Mbit/s; late: "
                    f"{100 * result.late_share:.2f} %{result.problems and '; ' + result.problems}",
                    file=sys.stderr,
                    flush=True,
                )
                if counts:
                    break
    return pl.DataFrame(records)


def shares(row: Row, goodputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each kind of flow, a row per turn or run."""
    kinds = [goodputs[:, kind].sum(axis=1) for kind in row.kinds()]
    found: NDArray[np.float64] = np.column_stack(kinds) / goodputs.sum(axis=1, keepdims=True)
    return found


def _cell(goodputs: NDArray[np.float64]) -> str:
    estimate = over_runs(goodputs)
    half = "" if np.isnan(estimate.low) else f" ± {estimate.high - estimate.value:.1f}"
    return f"{estimate.value:.1f}{half}"


def _cells(row: Row, measured: NDArray[np.float64], simulated: NDArray[np.float64]) -> list[str]:
    kernel, simulator = shares(row, measured), shares(row, simulated)
    most = float(np.abs(kernel.mean(axis=0) / simulator.mean(axis=0) - 1).max())
    agree = "yes" if most <= LARGEST_DIFFERENCE else "no"
    chance = "-"
    if len(kernel) > 1:
        # Student's test of each kind's share, times their number because the smallest is taken.
        smallest = float(ttest_ind(kernel, simulator).pvalue.min()) * kernel.shape[1]
        chance = "less than 0.01" if smallest < 0.01 else f"{min(smallest, 1.0):.2f}"
    goodputs = [*map(_cell, measured.T), *map(_cell, simulated.T)]
    return [row.title, *goodputs, f"{agree}, {100 * most:.3g} %", chance]


HEADS = {
    ROUND_TRIPS: (
        "Four flows of one control with round trips of 60, 80, 100 and 120 ms:",
        "control",
        [f"{rtt} ms" for rtt in (60, 80, 100, 120)],
    ),
    AGAINST_RENO: (
        "Two flows of Reno and two of another control, all with 100 ms:",
        "the other control",
        ["Reno", "Reno", "other", "other"],
    ),
}


def page(measured: pl.DataFrame, rows: Sequence[Row]) -> list[str]:
    """Return the lines of the page: the numbers of the turns next to the simulator's."""
    turns, seconds = measured["turn"].n_unique(), int(measured["seconds"][0])
    lines = [
        f"100 Mbit/s, a droptail queue of {QUEUE} packets of {PACKET} bytes, starts at "
        f"{', '.join(f'{start:g}' for start in STARTS_S)} s. {turns} turns of {seconds} s, of "
        f"which the first {LEFT_OUT * seconds:.0f} are left out; goodput in Mbit/s, as the servers "
        f"of iperf3 read it, mean and half of the 95 % interval. Next to it the simulator, {RUNS} "
        f"runs: profile `linux`, pacing, overhead {OVERHEAD}, RTT noise {RTT_NOISE}, CUBIC with "
        "HyStart++. Shares of the goodput (of equal flows together) agree when none differs by "
        f"more than {100 * LARGEST_DIFFERENCE:.0f} %; the largest difference is given, and how "
        "probable one as large as the clearest is by chance alone, by Student's test."
    ]
    counting = measured.filter("counts")
    for question, (head, name, flows) in HEADS.items():
        columns = [f"{flow}, {where}" for where in ("kernel", "simulated") for flow in flows]
        cells = []
        for row in [row for row in rows if row.question == question]:
            own = counting.filter(pl.col("question") == question, pl.col("row") == row.title)
            goodputs = own.sort("turn", "flow")["goodput_mbps"].to_numpy()
            cells.append(_cells(row, goodputs.reshape(-1, len(STARTS_S)), simulate(row, seconds)))
            print(markdown.row(cells[-1]), flush=True)
        heads = [name, *columns, "shares agree", "chance"]
        lines += ["", head, "", *markdown.table(heads, cells)]
    first = measured.filter(pl.col("flow") == 0)
    repeated = first.filter(~pl.col("counts")).height
    late = first.filter(pl.col("counts"), pl.col("problems") != "").height
    lines += [
        "",
        f"Attempts repeated because the path was late (more than 1 % of packets by more than "
        f"1 ms): {repeated}. Turns that count though all {1 + REPEATS} attempts were late: {late}.",
    ]
    return lines


def table(turns: int = TURNS, seconds: int = SECONDS, kept: Path | None = None) -> list[str]:
    """Measure every row, keep the numbers of the turns, and put the simulator's next to them."""
    measured = measure(ROWS, turns, seconds, kept)
    DATA.parent.mkdir(exist_ok=True)
    measured.write_csv(DATA)
    return page(measured, ROWS)


def main() -> None:
    """Put the tables into docs/kernel.md. Needs root and the programs of `make kernel`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of each row")
    parser.add_argument(
        "--seconds", type=int, default=SECONDS, help="length of a turn, a third of it left out"
    )
    parser.add_argument("--keep", type=Path, help="a folder for all that iperf3 and ss said")
    parser.add_argument("--only", help="rows whose question and control contain this; shown, not kept")
    parser.add_argument(
        "--again", action="store_true", help="the tables again, from the turns that were kept"
    )
    options = parser.parse_args()
    # A polite end lets it clean up as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.only:
        rows = [row for row in ROWS if options.only in f"{row.question}, {row.title}"]
        measured = measure(rows, options.turns, options.seconds, options.keep)
        print("\n".join(page(measured, rows)))
        return
    if options.again:
        kept = pl.read_csv(DATA, schema_overrides={"problems": pl.String})
        lines = page(kept.with_columns(pl.col("problems").fill_null("")), ROWS)
    else:
        lines = table(options.turns, options.seconds, options.keep)
    put(KERNEL_PAGE, "competition", "bench-kernel", lines)


if __name__ == "__main__":
    main()
