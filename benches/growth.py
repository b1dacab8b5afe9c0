"""How the cost of a packet and the memory of a process grow: a picture and tables for docs/performance.md."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from instructions import MANY, Load, count
from shared import ROOT, put
from speed import machine, measure

from ackclock.draw import markdown, printed
from ackclock.draw.figure import Axis, Chart, Group, Series

PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "growth.png"
ONE = Load("one Reno flow")
SHORT = {"controller": "reno", "rtt": "100 ms"}


def many(flows: int, control: Mapping[str, object]) -> Load:
    """Return flows that have 2.5 Mbit/s each, measured for long enough that each sends a few windows."""
    flow = MANY | {"count": flows} | dict(control)
    return Load(f"{flows} flows", flow, {}, max(1, flows * 5 // 2), 0.9, 4 if flows < 100 else 1.3)


def arriving(per_second: int) -> Load:
    """Return short flows of 10 packets that arrive at random on a link that has room for 12 500 a second."""
    arrivals = {"load": f"{per_second / 125} %", "sizes": [["10 kB", "100 %"]]}
    return Load(f"{per_second} arrivals/s", SHORT | {"arrivals": arrivals}, {}, 1000, 0.5, 1)


KINDS: dict[str, dict[str, object]] = {
    "Reno": {},
    "Reno, paced": {"pacing": True},
    "BBR3, RACK": {"controller": "bbr3", "recovery": "rack"},
}
COUNTS = (1, 10, 100, 1000, 3000)
LOADS: dict[str, tuple[Axis, dict[str, dict[float, Load]]]] = {
    "flows": (
        Axis("flows", log=True),
        {kind: {flows: many(flows, control) for flows in COUNTS} for kind, control in KINDS.items()},
    ),
    "window": (
        Axis("bandwidth-delay product", "packets", log=True),
        {"Reno": {1.25 * rate * 10: replace(ONE, rate_mbps=rate, to_s=5) for rate in (10, 100, 1000)}},
    ),
    "hops": (
        Axis("bottlenecks in a row", log=True),
        {"Reno": {hops: replace(ONE, hops=hops, to_s=5) for hops in (1, 2, 4, 8, 16, 32)}},
    ),
    "duration": (
        Axis("simulated time", "s", log=True),
        {"Reno": {end: replace(ONE, from_s=end / 3, to_s=end) for end in (9, 30, 90)}},
    ),
    "arrivals": (
        Axis("arrivals", "1/s", log=True),
        {"Reno": {rate: arriving(rate) for rate in (100, 1000, 10_000)}},
    ),
}


def counted(extension: Path) -> dict[str, dict[str, dict[float, int]]]:
    """Return instructions per data packet by panel, kind and position."""
    panels: dict[str, dict[str, dict[float, int]]] = {}
    # Two at once, as callgrind needs memory.
    with ThreadPoolExecutor(2) as pool:
        for panel, (_, kinds) in LOADS.items():
            for kind, loads in kinds.items():
                counts = pool.map(lambda load: count(load, extension, None), loads.values())
                panels.setdefault(panel, {})[kind] = dict(zip(loads, counts, strict=True))
                print(panel, kind, panels[panel][kind], flush=True)
    return panels


def drawn(panels: Mapping[str, Mapping[str, Mapping[float, int]]]) -> Group:
    """Return a chart for each panel."""
    charts = []
    for panel, kinds in panels.items():
        series = [
            Series(kind, colour, list(values), [value / 1000 for value in values.values()])
            for colour, (kind, values) in enumerate(kinds.items())
        ]
        largest = max(max(values.values()) for values in kinds.values())
        cost = Axis("instructions", "1000", range=(0, largest / 950 if largest > 5000 else 5))
        charts.append(Chart(panel, panel.capitalize(), LOADS[panel][0], cost, series, height=2))
    return Group(charts, linked=False, columns=2)


def peak_mb(load: Load, seconds: float, folder: Path) -> float:
    """Return the peak of a whole process that simulates a load."""
    file = folder / "load.json"
    file.write_text(json.dumps(load.scenario() | {"run": {"duration": f"{seconds} s"}}), encoding="utf-8")
    return measure(file).peak_mb


def memory() -> list[list[str]]:
    """Return a row for each kind of flow: the peak memory of a process, and the share of each flow."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        least = peak_mb(ONE, 0.1, folder)
        for kind, control in KINDS.items():
            peak = peak_mb(many(10_000, control), 2, folder)
            rows.append([kind, "10000", f"{peak:.0f}", f"{(peak - least) / 10:.1f}"])
        peak = peak_mb(arriving(7500), 10, folder)
        rows.append(["Reno, 10 kB, arriving", "75000", f"{peak:.0f}", f"{(peak - least) / 75:.2f}"])
    return rows


def described(panels: Mapping[str, Mapping[str, Mapping[float, int]]]) -> Sequence[str]:
    """Return a row for each curve, with its values."""
    rows = []
    for panel, kinds in panels.items():
        for kind, values in kinds.items():
            cells = ", ".join(f"{place:g}: {value}" for place, value in values.items())
            rows.append([LOADS[panel][0].titled, kind, cells])
    return markdown.table(["what grows", "flows", "instructions per data packet"], rows)


def main() -> None:
    """Count, measure memory, and put picture and tables into docs/performance.md."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    extension = next((ROOT / "python" / "ackclock").glob("_native*.so"), None)
    if extension is None:
        sys.exit("the extension is missing: make setup")
    panels = counted(extension)
    PICTURE.write_bytes(printed.rendered(drawn(panels), "growth")["growth.png"])
    head = ["flows", "number", "peak MB", "kB per flow"]
    put(
        PAGE,
        "growth",
        "bench",
        [
            f"![Instructions per packet](images/{PICTURE.name})",
            "",
            *described(panels),
            "",
            "Memory of whole processes, and what a flow adds to that of a run of one flow:",
            "",
            *machine(),
            "",
            *markdown.table(head, memory()),
        ],
    )


if __name__ == "__main__":
    main()
