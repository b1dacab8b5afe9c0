"""A trace of the kernel becomes a run; a campaign becomes a table and a picture."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import ackclock
from ackclock import engine
from ackclock.engine import Run
from ackclock.paths import campaign, kernel

HEAD = ",".join(kernel.CHANGES)


def change(time_us: int, kind: str, window: float, packets: int, **other: object) -> str:
    row: dict[str, object] = {
        "time_us": time_us, "connection": "c0", "kind": kind, "control": "fit", "window": window,
        "ssthresh": "", "rtt_us": 50_000, "delivered_packets": packets, "sent_packets": packets,
        "retransmitted_packets": 0, "in_flight_packets": 3, "segment_bytes": 1000,
        "source_port": 7, "destination_port": 8, "internals": "n=2 alpha=0.5",
    } | other  # fmt: skip
    return ",".join(str(row[name]) for name in kernel.CHANGES)


def run_of(*lines: str, **settings: float) -> Run:
    return kernel.run_of(kernel.read_changes("\n".join([HEAD, *lines, ""])), **settings)


# One second with 10 packets, one with 20, one with 5; then a connection at the same address begins
# and another one only acknowledges.
LINES = (
    change(5_000_000, "start", 10.0, 0),
    change(5_000_000, "start", 10.0, 0, connection="c1", source_port=8),
    change(6_000_000, "ack", 20.0, 10),
    change(7_000_000, "loss", 5.0, 30, ssthresh=5.0),
    change(8_000_000, "stop", 5.0, 35, ssthresh=5.0, rtt_us=0),
    change(8_500_000, "start", 4.0, 1, control="bic", internals="probing=0"),
    change(9_000_000, "stop", 4.0, 3, control="bic", internals="probing=0"),
)


def test_a_run_of_the_kernel_has_the_columns_of_a_simulated_one() -> None:
    run = run_of(*LINES)
    kinds = {float: pl.Float64, str: pl.String, int: (pl.UInt32, pl.UInt64)}
    for name in ("windows", "queues", "events"):
        table = getattr(run, name)
        for column, kind in engine.columns(name).items():
            expected = kinds[kind]
            one_of = expected if isinstance(expected, tuple) else (expected,)
            assert table[column].dtype in one_of, (name, column, table[column].dtype)
    # Of the settings of a flow a kernel tells nothing.
    assert {*run.summary["flows"][0], "settings"} == set(engine.FlowSummary.__annotations__)


def test_a_trace_becomes_a_run() -> None:
    run = run_of(*LINES, sample_s=0.5)
    first, second = run.summary["flows"]
    assert (first["name"], second["name"]) == ("fit-7", "bic-7")
    # 35 packets of 1000 B in 3 s; windows of 10, 20 and 5 packets for a second each.
    assert first["goodput_mbps"] == pytest.approx(35 * 8000 / 3 * 1e-6)
    assert first["mean_window"] == pytest.approx(35 / 3)
    assert (first["rtt_ms"], first["loss_events"], first["timeouts"]) == (50.0, 1, 0)
    # Two packets in half a second.
    assert second["goodput_mbps"] == pytest.approx(2 * 8000 / 0.5 * 1e-6)
    windows = run.windows.filter(pl.col("flow") == 0)
    assert windows["time_s"].to_list() == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert windows["window"].to_list() == [10.0, 20.0, 20.0, 5.0, 5.0, 5.0]
    assert windows["delivered_bytes"].sum() == 35_000
    assert windows["n"].to_list() == [2.0] * 6
    assert run.windows.filter(pl.col("flow") == 1)["n"].null_count() == 1
    events = run.events.filter(pl.col("flow") == 0)
    assert events["kind"].to_list() == ["start", "loss", "stop"]
    assert events["window_before"].to_list() == [10.0, 20.0, 5.0]
    assert events["window_after"].to_list() == [10.0, 5.0, 5.0]


def test_it_is_a_run_like_any_other(tmp_path: Path) -> None:
    run_of(*LINES).save(tmp_path / "run")
    read = Run.read(tmp_path / "run")
    assert read.changes.height == len(LINES) - 1
    assert set(read.metrics["metric"]) >= {"goodput", "mean window", "loss-event rate"}
    assert read.plot.window().axes
    run_of(*LINES).save(tmp_path / "run", force=True)
    with pytest.raises(ackclock.StorageError, match="--force"):
        run_of(*LINES).save(tmp_path / "run")


def test_the_warm_up_is_left_out() -> None:
    flow = run_of(*LINES[:5], warmup_s=1.0).summary["flows"][0]
    # 25 packets in the last 2 s.
    assert flow["goodput_mbps"] == pytest.approx(25 * 8000 / 2 * 1e-6)
    assert flow["mean_window"] == pytest.approx(12.5)
    with pytest.raises(ValueError, match="longer than the trace"):
        run_of(*LINES[:5], warmup_s=3.0)
    with pytest.raises(ValueError, match="no connection"):
        run_of(LINES[1])


def write_campaign(directory: Path, rates: dict[str, list[float]], references: list[float]) -> Path:
    """Write slots of 10 s whose flows got so many Mbit/s."""
    directory.mkdir()
    controls = list(rates)
    plan = {"server": "s", "controls": controls, "period_s": 10, "slots": 4, "references": 1}
    (directory / "campaign.json").write_text(json.dumps(plan))
    lines = []
    for turn in range(len(rates[controls[0]])):
        for number, control in enumerate(controls):
            slot = turn * len(controls) + number
            sizes = [rates[control][turn] * 1.25e6, references[number] * 1.25e6]
            mark = {"slot": slot, "try": 1, "control": control}
            sample = {"event": "sample", "side": "client", "second": 1.0, "flow": 0}
            lines += [
                mark | {"event": "begin", "unix_s": 1000.0 + 360 * slot},
                mark | sample | {"received_bytes": 5, "rtt_ms": 40.0},
                mark | {"event": "end", "complete": True, "seconds": 10.0, "received_bytes": sizes},
            ]
    lines.append({"slot": 9, "try": 1, "event": "end", "complete": False, "problem": "gone"})
    text = "".join(json.dumps(line) + "\n" for line in lines) + '{"slot": 10, "ev'
    (directory / "log.jsonl").write_text(text)
    return directory


RATES = {"reno": [2.0, 4.0], "cubic": [3.0, 3.0], "ack_fit": [8.0, 10.0]}


def test_a_campaign_becomes_table_v(tmp_path: Path) -> None:
    found = campaign.read(write_campaign(tmp_path / "zurich", RATES, [4.0, 3.0, 2.0]))
    table = campaign.table([found])
    assert table["control"].to_list() == list(RATES)
    assert table["goodput_mbps"].to_list() == pytest.approx([3.0, 3.0, 9.0])
    # Two values, 12.706 standard errors of 1 on each side (Student, one degree of freedom).
    assert table["low"][2] == pytest.approx(9 - 12.706, abs=1e-3)
    # 9 over the mean of 3 and 3; a Reno flow has 4 beside Reno, 3 beside CUBIC, 2 beside FIT.
    assert table["speed_up"].to_list() == [None, None, pytest.approx(3.0)]
    assert table["stolen"].to_list() == pytest.approx([0.0, 0.25, 0.5])
    assert found.slots["hours"].to_list() == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert found.samples.height == 6
    assert len(campaign.picture([found, found, found]).axes) == 4
    assert campaign.table([found], "cubic")["speed_up"][1] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="ack_bic has no complete slot"):
        campaign.table([found], "ack_bic")


def measure(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ackclock", "measure", *arguments],
        capture_output=True, text=True, check=False, env=settings or None,
    )  # fmt: skip


def test_the_verb_writes_a_report(tmp_path: Path) -> None:
    directory = str(write_campaign(tmp_path / "zurich", RATES, [4.0, 3.0, 2.0]))
    output = tmp_path / "report"
    done = measure("report", directory, "-o", str(output))
    assert done.returncode == 0
    assert "3.00" in done.stdout
    assert pl.read_csv(output / "table.csv").height == 3
    assert {file.name for file in output.iterdir()} >= {"throughput.png", "samples.parquet"}
    assert measure("report", directory, "-o", str(output)).returncode == 1
    assert measure("report", directory, "-o", str(output), "--force").returncode == 0
    done = measure("report", str(tmp_path))
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "does not hold a campaign" in done.stderr


@pytest.mark.parametrize("verb", [["link"], ["measure", "serve"], ["kernel", "list"]])
def test_without_the_program_the_verb_says_what_to_do(tmp_path: Path, verb: list[str]) -> None:
    name = f"ackclock-{verb[0]}"
    done = subprocess.run(
        [sys.executable, "-m", "ackclock", *verb],
        capture_output=True, text=True, check=False,
        env={"PATH": str(tmp_path), name.upper().replace("-", "_"): str(tmp_path / "none")},
    )  # fmt: skip
    assert done.returncode == 1
    target = "kernel-deps kernel" if name == "ackclock-kernel" else "measure"
    assert done.stderr == f"ackclock: program not found: {name}; build it with make {target}\n"
