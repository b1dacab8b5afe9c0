"""Packet captures in tshark: TCP and its options dissected, nothing malformed."""

import shutil
import subprocess

import pytest

import ackclock
from conftest import SCENARIO

TSHARK = shutil.which("tshark")


def fields(capture, condition, *names):
    """Return the values of fields of the packets that meet a condition, a line per packet."""
    options = [option for name in names for option in ("-e", name)]
    command = [TSHARK, "-r", str(capture), "-Y", condition, "-T", "fields", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.skipif(TSHARK is None, reason="needs tshark: apt-get install tshark")
@pytest.mark.parametrize("recovery", ["sack", "rack"])
def test_tshark_reads_it(tmp_path, recovery):
    capture = tmp_path / "run.pcap"
    run = ackclock.simulate(SCENARIO, settings=[f"tcp.recovery={recovery}"], pcap=capture)
    assert fields(capture, "_ws.malformed || _ws.expert.severity == error", "frame.number") == []
    sent = fields(capture, "tcp.len > 0", "tcp.stream")
    assert len(sent) == run.summary["packets_simulated"]
    assert {stream for (stream,) in sent} == {"0", "1"}
    # SACK permitted and window scale in the SYNs of the two connections; blocks after a loss.
    syns = fields(capture, "tcp.flags.syn == 1", "tcp.options.sack_perm", "tcp.options.wscale.shift")
    assert len(syns) == 4
    assert all(all(values) for values in syns)
    assert len(fields(capture, "tcp.options.sack_le", "frame.number")) > 10


@pytest.mark.skipif(TSHARK is None, reason="needs tshark: apt-get install tshark")
def test_only_tcp_is_captured(tmp_path):
    capture = tmp_path / "run.pcap"
    text = SCENARIO.replace('controller = "reno"', 'controller = "tfrc"')
    ackclock.simulate(text, pcap=capture)
    assert {stream for (stream,) in fields(capture, "tcp.len > 0", "tcp.stream")} == {"0"}
