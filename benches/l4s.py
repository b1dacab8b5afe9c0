"""Prague against CUBIC behind DualPI2: rates and queue delays by round trip and number of flows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from shared import ROOT, put

import ackclock
from ackclock.draw import markdown, plots
from ackclock.engine import number

PAGE = ROOT / "docs" / "controllers" / "prague.md"
PICTURE = ROOT / "docs" / "images" / "l4s-shares.png"

RATE_MBPS, PACKET = 40, 1500
RTTS_MS = (5, 10, 20, 50, 100)
# Flows of Prague, flows of CUBIC.
MIXES = ((1, 1), (1, 8), (2, 2), (4, 4), (8, 1), (8, 8))
SECONDS, WARMUP, RUNS = 60, 15, 4
# The range of ratios of two flows' rates that the acceptance test of a coupled queue allows.
MOST_RATIO = 2.3


def simulate(rtt_ms: int, flows: tuple[int, int], run: int) -> tuple[float, float, float]:
    """Return the ratio of the rates of two flows, the L queue's delay at p99 and C's median, ms."""
    kinds = [("prague", flows[0]), ("cubic", flows[1])]
    path = {
        "rate": f"{RATE_MBPS} Mbit/s",
        "delay": f"{rtt_ms / 2} ms",
        "queue": {"kind": "dualpi2", "limit": "1000 packets"},
    }
    senders = [
        {"controller": name, "count": count, "rtt": f"{rtt_ms} ms", "start": {"uniform": ["0 s", "2 s"]}}
        for name, count in kinds
    ]
    scenario: dict[str, Any] = {
        "run": {"duration": f"{SECONDS} s", "warmup": f"{WARMUP} s"},
        "tcp": {"packet": f"{PACKET} B", "recovery": "rack", "initial_window": 10, "overhead": "0.1 ms"},
        "dumbbell": path,
        "flow": senders,
    }
    summary = ackclock.simulate(scenario, run=run, record=False).summary
    rates = {
        name: np.mean([flow["goodput_mbps"] for flow in summary["flows"] if flow["controller"] == name])
        for name, _ in kinds
    }
    sides = summary["links"][0]["dualpi2"]
    low = number(sides["low_latency"]["queue_delay_p99_ms"])
    classic = number(sides["classic"]["queue_delay_p50_ms"])
    return float(rates["prague"] / rates["cubic"]), low, classic


def measure() -> NDArray[np.float64]:
    """Return the three numbers, by mix, round trip and run."""
    return np.array([[[simulate(rtt, mix, run) for run in range(RUNS)] for rtt in RTTS_MS] for mix in MIXES])


def draw(numbers: NDArray[np.float64]) -> None:
    """Draw the ratios and the delays."""
    with plots.in_style():
        figure, panels = plots.panels(2, height=2.2)
        for place, (prague, cubic) in enumerate(MIXES):
            mean = numbers[place].mean(axis=1)
            label = f"{prague} Prague, {cubic} CUBIC"
            panels[0].plot(RTTS_MS, mean[:, 0], label=label, **plots.style(place))
            panels[1].plot(RTTS_MS, mean[:, 1], **plots.style(place))
        panels[0].axhspan(1 / MOST_RATIO, MOST_RATIO, color="0.92", zorder=0)
        panels[0].set(xscale="log", yscale="log", ylabel="rate of a Prague flow\nover a CUBIC flow")
        panels[0].set(ylim=(0.2, 6))
        panels[1].set(xscale="log", ylabel="L queue delay, p99 (ms)", xlabel="RTT (ms)")
        panels[1].set(ylim=(0, None))
        for panel in panels:
            panel.set_xticks(RTTS_MS, [str(rtt) for rtt in RTTS_MS])
            panel.minorticks_off()
        panels[0].set_yticks((0.25, 0.5, 1, 2, 4), ["1/4", "1/2", "1", "2", "4"])
        plots.legend(panels[0], 3)
        figure.savefig(PICTURE, dpi=150)


def table(numbers: NDArray[np.float64]) -> list[str]:
    """Write the numbers as a table: ratio; L's p99 / C's median in ms."""
    rows = []
    for (prague, cubic), own in zip(MIXES, numbers, strict=True):
        cells = [f"{prague}, {cubic}"]
        cells += ["{:.2f}; {:.1f} / {:.0f}".format(*mean) for mean in own.mean(axis=1)]
        rows.append(cells)
        print(markdown.row(cells), flush=True)
    heads = ["Prague, CUBIC", *(f"{rtt} ms" for rtt in RTTS_MS)]
    return [
        f"{RATE_MBPS} Mbit/s, DualPI2, {SECONDS} s of which {WARMUP} are left out, mean of {RUNS} "
        "runs: the rate of a Prague flow over that of a CUBIC flow; the delay of the L queue at "
        "the 99th percentile and the median of the C queue, ms. "
        f"The grey band is a factor of {MOST_RATIO} either way.",
        "",
        *markdown.table(heads, rows),
    ]


def main() -> None:
    """Put the picture and the table into the page of Prague; a few minutes."""
    numbers = measure()
    put(PAGE, "shares", "bench-l4s", table(numbers))
    draw(numbers)


if __name__ == "__main__":
    main()
