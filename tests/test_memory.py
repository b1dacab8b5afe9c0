"""What many short flows take in a whole process, by the kernel's count of its largest size."""

import json
import re
import subprocess
import sys

RUN = """
import sys
from pathlib import Path
from ackclock.cli.main import main
try:
    main()
finally:
    print(Path("/proc/self/status").read_text(), file=sys.stderr)
"""


def taken(tmp_path, seconds):
    """Return flows and peak (bytes) of a run with 750 short flows per second."""
    flow = {"controller": "reno", "rtt": "50 ms", "arrivals": {"load": "60 %", "sizes": "10 kB"}}
    link = {"rate": "100 Mbit/s", "delay": "10 ms", "queue": {"kind": "droptail", "limit": "250 packets"}}
    file = tmp_path / "short.json"
    file.write_text(json.dumps({"run": {"duration": f"{seconds} s"}, "dumbbell": link, "flow": [flow]}))
    command = [sys.executable, "-c", RUN, "simulate", file, "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return len(json.loads(done.stdout)["flows"]), 1024 * int(re.search(r"VmHWM:\s+(\d+)", done.stderr)[1])


def test_a_short_flow_takes_no_copy_of_its_summary(tmp_path):
    # The engine keeps 122 bytes of each flow at most; a summary as a dictionary takes 2 kB.
    (few, least), (many, most) = taken(tmp_path, 2), taken(tmp_path, 12)
    assert many - few > 7000
    assert (most - least) / (many - few) < 500
