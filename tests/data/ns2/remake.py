"""Runs ns-2 again and writes the tables beside this file.

Without arguments every case of cases.txt is run again, which takes three quarters of an hour of one
processor; with names only those, and the rows of the others stay. What differs is what git shows.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent

COLUMNS = {
    "flows": "flow,variant,rtt_ms,start_s,goodput_mbps,mean_window,cuts,timeouts,retransmissions",
    "runs": "drops_whole_run,drops,mean_queue,utilisation",
    "drops": "time_s,flow",
    "delivered": "time_s,flow,packets",
    "tfrc": "packets,cov",
    "rates": "flow,mean_packets,cov",
    "links": "link,drops_whole_run,drops,marks,mean_queue,utilisation",
    "completions": "flow,completion_s",
    "red": "min_threshold,max_threshold,weight,least_max_p,mean_average,mean_max_p",
}
"""What dumbbell.tcl and tfrc.tcl write, by the name of the table."""


class Case(NamedTuple):
    """A path, the flows on it, and the seeds that it is run with.

    Cases without the key ``flows`` are those of tfrc.tcl, which has one flow.
    """

    name: str
    seeds: range
    keys: list[str]


def read_cases(text: str) -> list[Case]:
    """Read cases.txt.

    Parameters
    ----------
    text
        One case per line, ``name | seeds | keys``; lines with ``#`` are comments.

    Returns
    -------
        The cases, in the order of the file.
    """
    cases = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, seeds, keys = (part.strip() for part in line.split("|"))
        first, _, last = seeds.partition("-")
        cases.append(Case(name, range(int(first), int(last or first) + 1), keys.split()))
    return cases


def run(case: Case, seed: int) -> dict[str, list[str]]:
    """Run ns-2 once.

    Parameters
    ----------
    case
        What is run.
    seed
        Of ns-2's generator.

    Returns
    -------
        The rows of each table that ns-2 wrote, beginning with the case and the seed.
    """
    with tempfile.TemporaryDirectory() as directory:
        prefix = Path(directory, "run")
        named = any(key.startswith("flows=") for key in case.keys)
        command: list[str | Path] = [
            "ns",
            HERE / ("dumbbell.tcl" if named else "tfrc.tcl"),
            f"out={prefix}",
            f"seed={seed}",
            *case.keys,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{case.name}, seed {seed}: {done.stderr or done.stdout}")
        tables = {}
        for table in COLUMNS:
            file = prefix.with_suffix(f".{table}.csv")
            lines = file.read_text().splitlines() if file.exists() else []
            tables[table] = [f"{case.name},{seed},{line}" for line in lines]
        return tables


def main() -> None:
    """Run what the command line names, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CASE", help="in cases.txt; by default all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    arguments = parser.parse_args()
    cases = read_cases((HERE / "cases.txt").read_text())
    if unknown := set(arguments.names) - {case.name for case in cases}:
        sys.exit(f"cases.txt has no {', '.join(sorted(unknown))}")
    if not shutil.which("ns"):
        sys.exit("ns-2 is missing: apt-get install ns2")
    chosen = [case for case in cases if not arguments.names or case.name in arguments.names]
    turns = [(case, seed) for case in chosen for seed in case.seeds]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda turn: run(*turn), turns))
    for table, columns in COLUMNS.items():
        file = HERE / f"{table}.csv"
        kept = file.read_text().splitlines()[1:] if file.exists() else []
        rows = {case.name: [row for row in kept if row.startswith(f"{case.name},")] for case in cases}
        rows |= {case.name: [] for case in chosen}
        for (case, _), result in zip(turns, results, strict=True):
            rows[case.name] += result[table]
        lines = [f"case,seed,{columns}", *(row for case in cases for row in rows[case.name])]
        file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
