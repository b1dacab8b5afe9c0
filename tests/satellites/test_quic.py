"""QUIC flows from Python and the command line; the numbers are held in crates/ackclock-quic."""

import json
import subprocess
from pathlib import Path

import ackclock
from ackclock import _native
from conftest import COMMAND
from test_keys import CASES, happened, run
from test_stories import tell


def test_the_extension_has_quic() -> None:
    assert _native.QUIC, "make quic builds it"


def scenario(control: str = "illinois") -> dict[str, object]:
    path = ackclock.dumbbell("20 Mbit/s", "20 ms", "100 packets")
    flow = ackclock.flow(control, rtt="40 ms", transport="quic", packet="1500 B")
    return ackclock.scenario(path, flow, duration="10 s", warmup="2 s")


def test_a_quic_flow_is_a_flow_like_any_other() -> None:
    first, second = (ackclock.simulate(scenario()) for _ in range(2))
    assert first.digest == second.digest
    flow = first.flows
    assert flow["goodput_mbps"].item() > 19.0
    assert first.summary["flows"][0]["settings"]["transport"] == "quic"
    assert {"alpha", "beta"} <= set(first.windows.columns)
    assert set(first.metrics["metric"]) >= {"goodput", "mean window"}
    # Another control sends other packets.
    assert ackclock.simulate(scenario("reno")).digest != first.digest


def test_the_command_line_writes_qlog(tmp_path: Path) -> None:
    file, output = tmp_path / "path.toml", tmp_path / "qlog"
    file.write_text(ackclock.simulate(scenario(), record=False).scenario)
    command = [*COMMAND, "simulate", str(file), "--qlog", str(output), "--quiet"]
    assert subprocess.run(command, check=False).returncode == 0
    (log,) = output.glob("*.sqlog")
    # JSON text sequences (RFC 7464): a record separator, then JSON.
    records = [json.loads(part) for part in log.read_text().split("\x1e") if part.strip()]
    assert any(record.get("name", "").endswith("packet_sent") for record in records)
    again = subprocess.run(command, check=False, capture_output=True, text=True)
    # A log says when it was made, so that no two are the same.
    assert again.returncode == 0
    assert again.stderr.endswith("qlog held another result, which is now " + f"{output}.1\n")
    refused = subprocess.run([*command, "--runs", "2"], check=False, capture_output=True)
    assert refused.returncode == 2


def test_the_transport_makes_a_difference() -> None:
    given, tcp, quic = CASES["flow.transport"]
    assert happened(run("flow.transport", given, tcp)) != happened(run("flow.transport", given, quic))


def test_a_quic_engineer(tmp_path: Path, bin_directory: Path) -> None:
    tell("A QUIC engineer", tmp_path, bin_directory)
    records = (tmp_path / "qlogs" / "download.sqlog").read_text().split("\x1e")
    metrics = [json.loads(record)["data"] for record in records if "recovery:metrics_updated" in record]
    # Milliseconds: the path has 30 of them, and a packet of 1500 bytes takes 0.5 ms at 25 Mbit/s.
    assert 30 <= min(metric["min_rtt"] for metric in metrics if "min_rtt" in metric) < 32
    summary = json.loads((tmp_path / "cubic.json").read_text())
    assert summary["flows"][0]["controller"] == "cubic"
