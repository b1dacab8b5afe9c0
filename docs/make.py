"""Draw the pictures of the documentation and write its measured tables; `make docs` runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import ackclock
from ackclock import plots
from ackclock.models import responses

DOCS = Path(__file__).resolve().parent
SAMPLE_S = 0.5
"""Spacing of the window curves: `run.sample` of scenarios/reference-path.toml."""
PACKETS_FILLING_PATH = 625
"""100 Mbit/s times 50 ms in packets of 8000 bits."""


def draw_curve(name: str) -> None:
    """Draw the window curve of one control from its file of whole packets."""
    text = (DOCS / "curves" / f"{name}.txt").read_text(encoding="ascii")
    window = np.array(text.split(), float)
    figure, (panel,) = plots.panels(1, height=2.2)
    panel.axhline(PACKETS_FILLING_PATH, color="#999999", linewidth=0.6)
    panel.plot(SAMPLE_S * np.arange(1, len(window) + 1), window, **plots.style(0))
    panel.set(xlabel="time (s)", ylabel="window (packets)", xlim=(0, None), ylim=(0, 1300))
    figure.savefig(DOCS / "images" / "controllers" / f"{name}.svg", metadata={"Date": None})


@dataclass(frozen=True)
class Row:
    """One control of the response study: its name, parameters and formula."""

    label: str
    controller: str
    params: dict[str, Any]
    formula: Callable[[float], Any]
    cycles: int = 40

    def simulate(self, p: float) -> float:
        """Give the simulated packets per round trip with one loss in 1/p packets."""
        expected = float(self.formula(p))
        seconds = max(self.cycles / p * 0.1 / expected, 60.0)
        link = {"queue": {"kind": "droptail", "limit": "10000000 packets"}}
        scenario = {
            "run": {"duration": f"{1.25 * seconds:.3f} s", "warmup": f"{0.25 * seconds:.3f} s"},
            "dumbbell": {
                "rate": "100 Gbit/s",
                "delay": "50 ms",
                **link,
                "reverse": link,
                "loss": {"kind": "periodic", "every": round(1 / p)},
            },
            "flow": [
                {
                    "controller": self.controller,
                    "params": self.params,
                    "rtt": "100 ms",
                    "initial_ssthresh": max(2.0, 0.8 * expected),
                }
            ],
        }
        flow = ackclock.simulate(scenario, record=False).summary["flows"][0]
        return float(flow["goodput_mbps"]) * 1e6 * 0.1 / 8000


RATES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
ROWS = (
    Row("Reno", "reno", {}, responses.reno),
    Row("GAIMD(0.31, 7/8)", "gaimd", {}, lambda p: responses.aimd(p, 0.31, 0.125)),
    Row("MulTCP, N = 4", "multcp", {"n": 4}, lambda p: responses.multcp(p, 4)),
    Row("FIT, N = 3", "fit", {"n": 3}, lambda p: responses.fit(p, 3)),
    Row("AIMD(32, 0.125)", "aimd", {}, lambda p: responses.aimd(p, 32, 0.125)),
    Row("HSTCP", "hstcp", {}, responses.hstcp),
    Row("Scalable", "scalable", {}, responses.scalable),
    Row("BI-TCP, per round trip", "bic", {"search": "per_rtt"}, responses.bic),
    Row("BI-TCP, per ACK", "bic", {}, responses.bic),
    Row("CUBIC", "cubic", {"fast_convergence": False}, lambda p: responses.cubic(p, 0.1), 100),
)


def study_responses() -> None:
    """Simulate the response functions; write their table into docs/theory.md and draw them."""
    jobs = [(row, p) for row in ROWS for p in RATES]
    with ThreadPoolExecutor(2) as executor:
        rates = executor.map(lambda job: job[0].simulate(job[1]), jobs)
        simulated = {(row.label, p): rate for (row, p), rate in zip(jobs, rates, strict=True)}
    lines = ["| | " + " | ".join(f"p = {p:g}" for p in RATES) + " |", "|" + " --- |" * 6]
    figure, (panel,) = plots.panels(1, height=4.5)
    fine = np.logspace(-6, -2, 200)
    for index, row in enumerate(ROWS):
        measured = [simulated[row.label, p] for p in RATES]
        expected = [float(row.formula(p)) for p in RATES]
        ratios = [f"{a / b:.3f}" for a, b in zip(measured, expected, strict=True)]
        cells = [f"{one:.4g} ({ratio})" for one, ratio in zip(measured, ratios, strict=True)]
        lines.append(f"| {row.label} | " + " | ".join(cells) + " |")
        style = plots.style(index)
        if row.label != "BI-TCP, per ACK":
            panel.plot(fine, row.formula(fine), **style)
        marker = "osD^v<>Px*"[index]
        colour = style["color"]
        panel.plot(RATES, measured, marker, color=colour, markersize=4, label=row.label)
    panel.set(xscale="log", yscale="log", xlabel="loss-event rate p")
    panel.set_ylabel("packets per round trip (RTT 0.1 s)")
    plots.legend(panel, 3)
    figure.savefig(DOCS / "images" / "responses.svg", metadata={"Date": None})
    write_section("responses", lines)


def write_section(name: str, lines: list[str]) -> None:
    """Replace the section of this name in docs/theory.md."""
    begin, end = f"<!-- {name}: made by `make docs` -->", f"<!-- end of {name} -->"
    page = DOCS / "theory.md"
    before, rest = page.read_text(encoding="utf-8").split(begin, 1)
    text = "\n".join([begin, *lines, end])
    page.write_text(before + text + rest.split(end, 1)[1], encoding="utf-8")


PERCENT = (0.5, 1, 2, 5, 8, 15, 20)
SMOOTHNESS = (
    ("TCP", "reno", {}, "newreno"),
    ("TCP, minimum RTO 1 s", "reno", {"min_rto": "1 s", "clock": "100 ms"}, "newreno"),
    ("GAIMD(0.31, 7/8)", "gaimd", {}, "newreno"),
    ("TFRC", "tfrc", {}, "sack"),
    ("TEAR", "tear", {}, "sack"),
)
# Figure 6 of the study, as far as its text gives numbers.
FIGURE_6 = {
    ("TCP", 1): 0.51,
    ("TCP", 20): 1.6,
    ("GAIMD(0.31, 7/8)", 1): 0.3,
    ("TFRC", 1): 0.23,
    ("TFRC", 20): 2.0,
    ("TEAR", 1): 0.22,
    ("TEAR", 20): 0.4,
}


def rate_variation(
    controller: str, settings: dict[str, str], recovery: str, percent: float
) -> float:
    """Give the CoV of the sending rate per RTT of 100 ms under Bernoulli loss."""
    queue = {"kind": "droptail", "limit": "1000 packets"}
    loss = {"kind": "bernoulli", "rate": f"{percent} %"}
    scenario = {
        "run": {"duration": "1100 s", "warmup": "100 s", "sample": "100 ms"},
        "tcp": {"overhead": "100 us"},
        "dumbbell": {"rate": "100 Mbit/s", "delay": "30 ms", "queue": queue, "loss": loss},
        "flow": [{"controller": controller, "rtt": "100 ms", "recovery": recovery, **settings}],
    }
    windows = ackclock.simulate(scenario).windows
    sent = windows.filter(windows["time_s"] > 100)["sent_bytes"].to_numpy()
    return float(sent.std() / sent.mean())


def study_smoothness() -> None:
    """Measure the smoothness of TCP, GAIMD, TFRC and TEAR into docs/theory.md."""
    lines = [
        "| | " + " | ".join(f"{percent:g} %" for percent in PERCENT) + " |",
        "|" + " --- |" * 8,
    ]
    for label, controller, settings, recovery in SMOOTHNESS:
        cells = []
        for percent in PERCENT:
            value = f"{rate_variation(controller, settings, recovery, percent):.2f}"
            paper = FIGURE_6.get((label, percent))
            cells.append(value if paper is None else f"{value} ({paper:g})")
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    write_section("smoothness", lines)


def main() -> None:
    """Make what the arguments name, or everything: curves, responses, smoothness."""
    wanted = sys.argv[1:] or ["curves", "responses", "smoothness"]
    # The same picture gives the same file.
    with mpl.rc_context(plots.STYLE | {"svg.hashsalt": "ackclock", "svg.fonttype": "path"}):
        if "curves" in wanted:
            for entry in ackclock.controllers():
                draw_curve(entry["name"])
        if "responses" in wanted:
            study_responses()
        if "smoothness" in wanted:
            study_smoothness()


if __name__ == "__main__":
    main()
