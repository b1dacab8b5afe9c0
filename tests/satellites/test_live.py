"""A trace of the kernel becomes a run; a campaign becomes a table and a picture."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from ackclock import engine
from ackclock.engine import Run, integrity
from ackclock_paths import campaign, kernel
from conftest import COMMAND, Finished

HEAD = ",".join(kernel.CHANGES)


def change(time_us: int, kind: str, window: float, packets: int, **other: object) -> str:
    row: dict[str, object] = {
        "time_us": time_us,
        "connection": "c0",
        "kind": kind,
        "control": "fit",
        "window": window,
        "ssthresh": "",
        "rtt_us": 50_000,
        "delivered_packets": packets,
        "sent_packets": packets,
        "retransmitted_packets": 0,
        "in_flight_packets": 3,
        "segment_bytes": 1000,
        "source_port": 7,
        "destination_port": 8,
        "internals": "n=2 alpha=0.5",
    } | other
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
    for name in ("windows", "queues", "events", "requests"):
        table = getattr(run, name)
        for column, kind in engine.columns(name).items():
            expected = kinds[kind]
            allowed = expected if isinstance(expected, tuple) else (expected,)
            assert table[column].dtype in allowed, (name, column, table[column].dtype)
    # A kernel does not report the settings of a flow.
    assert {*run.summary["flows"][0], "settings"} == set(engine.FlowSummary.__annotations__)


def recorder(folder: Path, *lines: str, end: str) -> dict[str, str]:
    """Write a program that stands for the recorder; return the environment that names it."""
    (folder / "lines.csv").write_text("".join(lines))
    program = folder / "ackclock-kernel"
    program.write_text(f"#!/bin/sh\ncat '{folder}/lines.csv'\n{end}\n")
    program.chmod(0o755)
    return os.environ | {"ACKCLOCK_KERNEL": str(program)}


def test_the_recorded_changes_are_kept_when_the_recorder_is_killed(tmp_path: Path) -> None:
    whole = [f"{line}\n" for line in (HEAD, *LINES[:4])]
    # 9 is SIGKILL: a shell says 128 + 9. The last line is torn, as a kill leaves it.
    killed = recorder(tmp_path, *whole, LINES[4][:20], end="kill -9 $$")
    command = [*COMMAND, "kernel", "trace", "-o", str(tmp_path / "result")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=killed)
    assert done.returncode == 137
    assert done.stderr == "ackclock: the recorder was killed: the result ends there\n"
    kept = Run.read(tmp_path / "result")
    assert kept.changes is not None
    assert kept.changes["window"].to_list() == run_of(*LINES[:4]).changes["window"].to_list()
    # A recorder that fails says why itself, and leaves nothing.
    failed = recorder(tmp_path, *whole, end="echo no >&2; exit 1")
    command[-1] = str(tmp_path / "none")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=failed)
    assert (done.returncode, done.stderr) == (1, "no\n")
    assert not (tmp_path / "none").exists()


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
    assert windows["arrived_bytes"].sum() == 35_000
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
    run_of(*LINES[:5]).save(tmp_path / "run")
    assert Run.read(tmp_path / "run.1").changes.height == read.changes.height


def test_the_warm_up_is_left_out() -> None:
    flow = run_of(*LINES[:5], warmup_s=1.0).summary["flows"][0]
    # 25 packets in the last 2 s.
    assert flow["goodput_mbps"] == pytest.approx(25 * 8000 / 2 * 1e-6)
    assert flow["mean_window"] == pytest.approx(12.5)
    with pytest.raises(ValueError, match="longer than the trace"):
        run_of(*LINES[:5], warmup_s=3.0)
    with pytest.raises(ValueError, match="no connection"):
        run_of(LINES[1])


def records_of(
    rates: dict[str, list[float]], references: list[float]
) -> tuple[dict[str, object], list[dict[str, object]]]:
    """Return the plan and the records of slots of 10 s whose flows got this many Mbit/s."""
    controls = list(rates)
    plan = {"server": "s", "controls": controls, "period_s": 10, "slots": 4, "references": 1}
    lines: list[dict[str, object]] = []
    for turn in range(len(rates[controls[0]])):
        for number, control in enumerate(controls):
            slot = turn * len(controls) + number
            sizes = [rates[control][turn] * 1.25e6, references[number] * 1.25e6]
            mark = {"slot": slot, "try": 1, "control": control}
            time_s = 360.0 * slot
            sample = {"event": "sample", "side": "client", "second": 1.0, "flow": 0}
            lines += [
                mark | {"event": "begin", "unix_s": 1e9 + time_s, "elapsed_s": 3.0 + time_s},
                mark | sample | {"received_bytes": 5, "rtt_ms": 40.0},
                mark | {"event": "end", "complete": True, "seconds": 10.0, "received_bytes": sizes},
            ]
    lines.append({"slot": 9, "try": 1, "event": "end", "complete": False, "problem": "gone"})
    return plan, lines


def write_log(directory: Path, lines: list[dict[str, object]]) -> None:
    """Write a log that ends in the middle of a line."""
    text = b"".join(map(integrity.seal, lines)) + b'{"slot": 10, "ev'
    (directory / "log.jsonl").write_bytes(text)


def write_campaign(directory: Path, rates: dict[str, list[float]], references: list[float]) -> Path:
    """Write the directory of a campaign."""
    directory.mkdir()
    plan, lines = records_of(rates, references)
    (directory / "campaign.json").write_bytes(integrity.seal(plan))
    write_log(directory, lines)
    return directory


RATES = {"reno": [2.0, 4.0], "cubic": [3.0, 3.0], "ack_fit": [8.0, 10.0]}


def test_a_campaign_becomes_table_v(tmp_path: Path) -> None:
    zurich = campaign.read(write_campaign(tmp_path / "zurich", RATES, [4.0, 3.0, 2.0]))
    table = campaign.table([zurich])
    assert table["control"].to_list() == list(RATES)
    assert table["goodput_mbps"].to_list() == pytest.approx([3.0, 3.0, 9.0])
    # Two values, 12.706 standard errors of 1 on each side (Student, one degree of freedom).
    assert table["high"][2] == pytest.approx(9 + 12.706, abs=1e-3)
    # A goodput cannot be negative.
    assert table["low"][2] == 0.0
    # 9 over the mean of 3 and 3; a Reno flow has 4 next to Reno, 3 next to CUBIC, 2 next to FIT.
    assert table["speed_up"].to_list() == [None, None, pytest.approx(3.0)]
    assert table["stolen"].to_list() == pytest.approx([0.0, 0.25, 0.5])
    assert zurich.slots["hours"].to_list() == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert zurich.samples.height == 6
    assert set(table["senders"]) == {"TCP of the server's kernel"}
    over_quic = replace(zurich, plan=zurich.plan | {"transport": "quic"})
    assert set(campaign.table([over_quic])["senders"]) == {"QUIC in user space"}
    assert len(campaign.picture([zurich, zurich, zurich]).axes) == 4
    assert campaign.table([zurich], "cubic")["speed_up"][1] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="ack_bic has no complete slot"):
        campaign.table([zurich], "ack_bic")


def test_a_campaign_that_predates_checksums_is_read(tmp_path: Path) -> None:
    new = campaign.read(write_campaign(tmp_path / "new", RATES, [4.0, 3.0, 2.0]))
    plan, lines = records_of(RATES, [4.0, 3.0, 2.0])
    old = tmp_path / "old"
    old.mkdir()
    (old / "campaign.json").write_text(json.dumps(plan, indent=2) + "\n")
    for line in lines:
        line.pop("elapsed_s", None)
    (old / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert campaign.read(old).slots.equals(new.slots)
    # A log with checksums has them in all lines.
    (old / "campaign.json").write_bytes(integrity.seal(plan))
    with pytest.raises(ValueError, match=r"log.jsonl: line 1 \(byte 0\) was changed or damaged"):
        campaign.read(old)


def test_a_clock_that_is_set_does_not_move_slots(tmp_path: Path) -> None:
    directory = write_campaign(tmp_path / "zurich", RATES, [4.0, 3.0, 2.0])
    _, lines = records_of(RATES, [4.0, 3.0, 2.0])
    for line in lines:
        if line["event"] == "begin" and line["slot"] in (3, 4, 5):
            # Two hours back.
            line["unix_s"] = float(str(line["unix_s"])) - 7200
    write_log(directory, lines)
    # A slot every 360 s.
    assert campaign.read(directory).slots["hours"].to_list() == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_every_slot_counts_once(tmp_path: Path) -> None:
    directory = write_campaign(tmp_path / "zurich", RATES, [4.0, 3.0, 2.0])
    expected = campaign.read(directory)
    _, lines = records_of(RATES, [4.0, 3.0, 2.0])
    # The log of two clients that worked at once, the second with other numbers.
    again = [line | {"try": 2} for line in lines]
    again = [line | {"seconds": 5.0} if line["event"] == "end" else line for line in again]
    write_log(directory, lines + again)
    repeated = campaign.read(directory)
    assert repeated.slots.equals(expected.slots)
    assert campaign.table([repeated]).equals(campaign.table([expected]))
    # An attempt without its beginning has no time.
    write_log(directory, lines[1:] + again)
    assert campaign.read(directory).slots.filter(slot=0)["goodput_mbps"].to_list() == [4.0]


def test_every_changed_bit_of_a_campaign_is_reported(tmp_path: Path) -> None:
    directory = write_campaign(tmp_path / "zurich", RATES, [4.0, 3.0, 2.0])
    whole = campaign.read(directory)
    draw = random.Random(3)  # noqa: S311
    for name, count in (("log.jsonl", 1000), ("campaign.json", 200)):
        file = directory / name
        content = file.read_bytes()
        # The torn line at the end is not read.
        bits = 8 * (content.rfind(b"\n") + 1)
        for bit in draw.choices(range(bits), k=count):
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << (bit % 8)
            file.write_bytes(changed)
            with pytest.raises(ValueError, match="was changed or damaged") as caught:
                campaign.read(directory)
            assert "\n" not in str(caught.value)
            if name == "log.jsonl":
                number = content[: bit // 8].count(b"\n") + 1
                assert f"line {number} (byte " in str(caught.value)
                kept = campaign.read(directory, leave_out=True)
                assert kept.slots.height >= whole.slots.height - 2
                known = whole.slots.rows()
                assert all(row[3] in [slot[3] for slot in known] for row in kept.slots.rows())
        file.write_bytes(content)


DEEP = '{"a":' * 100_000
NOT_RECORDS: tuple[object, ...] = (
    [],
    3,
    None,
    "begin",
    {},
    {"slot": 1},
    {"slot": "1", "try": 1, "event": "begin", "unix_s": 0},
    {"slot": 1, "try": 1, "event": "other"},
    {"slot": 1, "try": 1, "event": "begin"},
    {"slot": 1, "try": 1, "event": "begin", "unix_s": "now"},
    {"slot": 0, "try": 1, "event": "sample", "second": "x"},
    {"slot": 0, "try": 1, "event": "sample", "control": [1]},
    {"slot": 9, "try": 1, "event": "end"},
    {"slot": [], "try": {}, "event": 3},
)


@pytest.mark.parametrize("is_old", [True, False])
def test_unreadable_lines_are_reported_in_one_line(tmp_path: Path, is_old: bool) -> None:
    directory = write_campaign(tmp_path / "zurich", RATES, [4.0, 3.0, 2.0])
    plan, lines = records_of(RATES, [4.0, 3.0, 2.0])
    if is_old:
        (directory / "campaign.json").write_text(json.dumps(plan, indent=2) + "\n")
    first = b"".join(map(integrity.seal, lines[:2]))
    texts = [json.dumps(record).encode() + b"\n" for record in NOT_RECORDS]
    sealed = [integrity.seal(record) for record in NOT_RECORDS if isinstance(record, dict) and record]
    ends = [lines[2] | {"received_bytes": wrong} for wrong in ([], None, "12", ["1"], {}, [10**400])]
    ends += [lines[2] | {"seconds": wrong} for wrong in (0, None, "1", [])]
    texts += [*sealed, *map(integrity.seal, ends), DEEP.encode() + b"\n", b"\0\n", b"\n"]
    # A line whose checksum is right.
    sign = hashlib.sha256(DEEP.encode()).hexdigest()[:16]
    texts.append(f'{DEEP},"checksum":"{sign}"}}\n'.encode())
    for text in texts:
        (directory / "log.jsonl").write_bytes(first + text)
        with pytest.raises(ValueError, match=r"log.jsonl: line 3 \(byte ") as caught:
            campaign.read(directory)
        assert "\n" not in str(caught.value)
    deep = DEEP.encode()
    for text in (b"", b"[]", b"{}", deep, b"\xff", b'{\n"controls": 3}\n', b"{\n" + deep):
        (directory / "campaign.json").write_bytes(text)
        with pytest.raises(ValueError, match="does not hold a campaign") as caught:
            campaign.read(directory)
        assert "\n" not in str(caught.value)


def test_the_verb_writes_a_report(tmp_path: Path, ackclock_here: Callable[..., Finished]) -> None:
    report = partial(ackclock_here, "measure", "report")
    directory = str(write_campaign(tmp_path / "zurich", RATES, [4.0, 3.0, 2.0]))
    output = tmp_path / "report"
    done = report(directory, "-o", str(output))
    assert done.returncode == 0
    assert "3.00" in done.stdout
    assert pl.read_csv(output / "table.csv").height == 3
    assert {file.name for file in output.iterdir()} >= {"throughput.png", "samples.parquet"}
    # A picture says when it was drawn.
    assert report(directory, "-o", str(output)).returncode == 0
    assert report(directory, "-o", str(output), "--force").returncode == 0
    log = Path(directory) / "log.jsonl"
    content = log.read_bytes()
    log.write_bytes(content[:300] + b"\0" + content[301:])
    done = report(directory)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "log.jsonl: line 2 (byte " in done.stderr
    assert "report --leave-out leaves it out" in done.stderr
    assert report(directory, "--leave-out").returncode == 0
    done = report(str(tmp_path))
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "does not hold a campaign" in done.stderr


@pytest.mark.parametrize("verb", [["link"], ["measure", "serve"], ["kernel", "list"]])
def test_without_the_program_the_verb_says_what_to_do(tmp_path: Path, verb: list[str]) -> None:
    name = f"ackclock-{verb[0]}"
    done = subprocess.run(
        [sys.executable, "-m", "ackclock", *verb],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tmp_path), name.upper().replace("-", "_"): str(tmp_path / "none")},
    )
    assert done.returncode == 1
    target = "kernel-deps kernel" if name == "ackclock-kernel" else "measure"
    what = f"build it with make {target}"
    assert done.stderr == f"ackclock: program not found: {name}; {what}\n"
