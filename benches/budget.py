"""The budget of a packet: what the instructions of `reno` are spent on, for docs/performance.md.

Each instruction belongs to the innermost function of ours that it was inlined from, so that comparisons and
indexing in the standard library count at their caller. Callgrind counts by address, for the shorter and the
longer simulated time, and addr2line names the functions inlined there. The reference is the engine of commit
e3c878ae, with a count of 1438 for `reno`.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from instructions import LOADS, ROOT, RUN, write
from shared import put

from ackclock.draw import markdown

BEFORE = ROOT / "benches" / "data" / "budget.csv"
HEAD = ["part", "instructions_per_packet"]
LINKS = r"sim/(link|link/line|link/transmitter|queue/\w+|ring|wire|loss|pace)"
PARTS = {
    "links: queue, transmission, propagation": LINKS,
    "length of queues over time": r"sim/link/level",
    "the sender: acknowledgement, window, next packet": r"sim/tcp/(sender|gate|pacing|application|measuring)",
    "loss recovery (RFC 6675)": r"sim/tcp/(recovery/\w+|sequence_set)",
    "retransmission timer (RFC 6298)": r"sim/tcp/(timer|deadline)",
    "the receiver": r"sim/tcp/receiver",
    "the control: Reno, and its decision": r"cc/.*|sim/tcp/control",
    "run loop and schedule": r"sim/(simulation|schedule|observe)(/\w+)?",
    "round-trip times and queueing delays: sums, histograms": r"sim/meter|trace/histogram",
    "the fingerprint of the run": r"trace/digest",
    "arithmetic of times": r"units/\w+",
    "routes, counts of packets, calls between parts": r"sim/.*",
}
"""Patterns of crates and files by part: the first that matches a file counts."""


def by_address(profile: Path, extension: Path) -> Counter[int]:
    """Return the instructions of a profile by their addresses in the extension."""
    counts: Counter[int] = Counter()
    names: dict[str, str] = {}
    address, is_ours, is_call = 0, False, False
    for line in profile.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"ob=(\(\d+\))(?: (.*))?$", line):
            names.setdefault(match[1], match[2])
            is_ours = names[match[1]] == str(extension)
        elif match := re.match(r"cob=(\(\d+\)) (.*)$", line):
            names[match[1]] = match[2]
        elif line.startswith("calls="):
            is_call = True
        elif match := re.match(r"(0x[0-9a-f]+|[+-]\d+|\*) \S+ (\d+)$", line):
            place = match[1]
            address = int(place, 16) if place[0] == "0" else address + (int(place) if place != "*" else 0)
            if is_ours and not is_call:
                counts[address] += int(match[2])
            is_call = False
    return counts


def parts_of(counts: Counter[int], extension: Path) -> Counter[str]:
    """Return instructions by part, counting only those in functions of ours."""
    command = ["addr2line", "-a", "-i", "-e", str(extension)]
    lines = "".join(f"{address:#x}\n" for address in counts)
    named = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    parts: Counter[str] = Counter()
    for block in re.split(r"^(?=0x)", named, flags=re.MULTILINE)[1:]:
        if match := re.search(r"crates/ackclock-(\w+)/src/([\w/]+)\.rs:", block):
            file = "/".join(match.groups())
            part = next((part for part, files in PARTS.items() if re.fullmatch(files, file)), None)
            if part is not None:
                parts[part] += counts[int(block.split()[0], 16)]
    return parts


def budget(extension: Path) -> dict[str, int]:
    """Return instructions per data packet by part, most first."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        parts, packets = [], []
        for seconds in (LOADS["reno"].from_s, LOADS["reno"].to_s):
            profile = folder / f"{seconds}.callgrind"
            callgrind = ["valgrind", "--tool=callgrind", "--dump-instr=yes"]
            python = [sys.executable, "-S", "-c", RUN, str(extension)]
            file = write(LOADS["reno"], seconds, folder)
            command = [*callgrind, f"--callgrind-out-file={profile}.%p", *python, str(file)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            packets.append(int(done.stdout))
            # The copy that simulates, and the process that waits for it and has simulated nothing.
            largest = max(folder.glob(f"{profile.name}.*"), key=lambda file: file.stat().st_size)
            parts.append(parts_of(by_address(largest, extension), extension))
    each = {part: (parts[1][part] - parts[0][part]) / (packets[1] - packets[0]) for part in PARTS}
    return {part: round(number) for part, number in sorted(each.items(), key=lambda pair: -pair[1])}


def main() -> None:
    """Count, and put the table into docs/performance.md, or keep the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--extension", type=Path, help="default: that of this checkout")
    parser.add_argument("--keep", action="store_true", help="keep the counts as those to compare with")
    arguments = parser.parse_args()
    extension = arguments.extension or next((ROOT / "python" / "ackclock").glob("_native*.so"), None)
    if extension is None:
        sys.exit("the extension is missing: make setup")
    for program, package in (("valgrind", "valgrind"), ("addr2line", "binutils")):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing: apt-get install {package}")
    now = budget(extension.resolve())
    if arguments.keep:
        with BEFORE.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *now.items()])
        return
    with BEFORE.open(encoding="utf-8", newline="") as file:
        before = {row[HEAD[0]]: int(row[HEAD[1]]) for row in csv.DictReader(file)}
    rows = [[part, str(before[part]), str(number)] for part, number in now.items()]
    rows.append(["all", str(sum(before.values())), str(sum(now.values()))])
    table = markdown.table(["part", "before", "now"], rows)
    put(ROOT / "docs" / "performance.md", "budget", "bench", table)


if __name__ == "__main__":
    main()
