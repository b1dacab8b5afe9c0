"""Why paced Reno is judged worse than Reno: who is paced, in scenarios of the criteria that say so.

Every pair of paced and unpaced Reno, as the judged control and as the others, runs in cells of `mixed` and
`short`. A number that follows the judged control is due to its pacing; one that needs unpaced others is due
to the comparison with unpaced flows.
"""

# The callbacks are documented by `ackclock.Control`.
# ruff: noqa: D102

from __future__ import annotations

import argparse
import csv
import sys
from itertools import product
from pathlib import Path

import numpy as np
from honest import Honest

import ackclock
from ackclock import engine
from ackclock_evaluate.setting import Subject
from ackclock_evaluate.suites import chosen

CELLS = {
    "mixed": ("buffer-0.25-bdp-next-to-reno", "standard-path-next-to-reno", "5-mbit-s-next-to-reno"),
    "short": ("load-50-beside-its-own-long-flows",),
    "transients": ("100-to-10-mbit-s-and-back",),
}
"""Cells by criterion, each with no other control than Reno."""
METRICS = ("share", "harm_goodput", "victim_loss", "fct_mean_100kB", "fct_mean_1MB", "recovery")
CONTROLS = ("bursty", "paced")


class Bursty(Honest):
    """Reno that sends packets as soon as an ACK allows them."""


class Paced(Honest):
    """Reno that paces packets at 1.2 windows per smoothed RTT, in slow start at 2, as Linux does."""

    srtt_s = 0.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        super().on_ack(ack)
        if ack.rtt_s is not None:
            self.srtt_s = 7 / 8 * self.srtt_s + ack.rtt_s / 8 if self.srtt_s else ack.rtt_s
        if self.srtt_s:
            gain = 2.0 if self.window < self.ssthresh / 2 else 1.2
            self.pacing_rate = gain * self.window / self.srtt_s


def measured(criterion: str, cell_id: str, mine: str, others: str, runs: int) -> dict[str, np.ndarray]:
    """Return the metrics of a cell by run, with the judged control `mine` and Reno as `others`."""
    (chosen_criterion,) = chosen(["rfc9743"], [criterion])
    cells = chosen_criterion.cells("quick") if chosen_criterion.cells else []
    (cell,) = (cell for cell in cells if cell.id == cell_id)
    rows = []
    for run in range(runs):
        numbers = {}
        for name, part in cell.parts(Subject(mine)).items():
            if name == "alike":
                continue
            flows = [
                flow | {"controller": others if flow["controller"] == "reno" else flow["controller"]}
                for flow in part.scenario["flow"]
            ]
            scenario = engine.read(dict(part.scenario, flow=flows))
            numbers[name] = part.measure(engine.simulate(scenario, run=run, record=part.records))
        rows.append(cell.numbers(numbers))
    return {metric: np.array([row[metric] for row in rows]) for metric in METRICS if metric in rows[0]}


def main() -> int:
    """Print a row per cell, metric and pair of controls, with the standard error of its mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each scenario; by default 5")
    parser.add_argument("--only", default="", help="cells by their ids, with commas; by default all")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/paced.csv"))
    given = parser.parse_args()
    ackclock.register("bursty", Bursty)
    ackclock.register("paced", Paced)
    wanted = [cell for cell in given.only.split(",") if cell]
    rows = []
    for criterion, cells in CELLS.items():
        for cell in cells:
            if wanted and cell not in wanted:
                continue
            for mine, others in product(CONTROLS, CONTROLS if criterion == "mixed" else CONTROLS[:1]):
                for metric, values in measured(criterion, cell, mine, others, given.runs).items():
                    error = values.std(ddof=1) / len(values) ** 0.5
                    rows.append((criterion, cell, mine, others, metric, values.mean(), error, given.runs))
                    print(*rows[-1], flush=True)
    names = ("criterion", "cell", "judged", "others", "metric", "mean", "error", "runs")
    given.output.parent.mkdir(parents=True, exist_ok=True)
    with given.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
