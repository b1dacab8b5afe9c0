"""Tables IV and V: the live measurements, over simulated paths."""

from __future__ import annotations

from ackclock.draw.figure import Table
from ackclock.reproduction.claims.artefact import Simulated, Traces
from ackclock.reproduction.claims.numbers import Numbers
from ackclock_papers.fit.places import IN_TABLE_5, PLACES, cases, probe

KINDS = {"Ethernet": "wired", "ADSL": "wired", "WIFI": "WiFi", "CDMA": "3G"}
"""Kinds of networks by what their names in table IV have in them."""


def modelled_environments(numbers: Numbers) -> tuple[str, bool]:
    """Count the environments in which every variant of the paper delivers data, and their kinds."""
    alive = [
        path
        for name, path in PLACES.items()
        if all(min(numbers.each(name, variant)) > 0 for variant in path.variants)
    ]
    kinds = {kind for path in alive for word, kind in KINDS.items() if word in path.network}
    return f"{len(alive)}: {', '.join(sorted(kinds))}", len(alive) == 9 and kinds == set(KINDS.values())


TABLE_4 = Simulated(
    name="table-iv",
    caption="environments (simulated)",
    about="The paper's places, networks and clients, and the paths that stand for them.",
    cases=cases,
    probe=probe,
    draw=lambda n, _t: Table(
        ["panel", "place", "network", "client OS", "Mbit/s", "RTT ms", "loss", "noise ms"],
        [
            [
                path.panel,
                name,
                path.network,
                path.client,
                path.rate_mbps,
                path.rtt_ms,
                f"{path.loss(n.setting):.2%}",
                path.noise_ms,
            ]
            for name, path in PLACES.items()
        ],
    ),
)


def _draw_5(numbers: Numbers, _traces: Traces) -> Table:
    rows = []
    for variant in dict.fromkeys(name for path in PLACES.values() for name in path.variants):
        row = [variant]
        for name, path in IN_TABLE_5.items():
            known = variant in path.variants
            row.append(f"{path.paper[variant]:g}: {numbers.of(name, variant).value:.2g}" if known else "-")
        rows.append(row)
    rows.append(
        [
            "speed-up",
            *(
                f"{path.speed_up:g}: {numbers.of(name, 'speed_up').value:.2g}"
                for name, path in IN_TABLE_5.items()
            ),
        ]
    )
    return Table(["paper: ours", *IN_TABLE_5], rows)


TABLE_5 = Simulated(
    name="table-v",
    caption="mean throughput at eight places (simulated), Mbit/s",
    about="Means of the turns of figure 8 without their first tenth.",
    cases=cases,
    probe=probe,
    draw=_draw_5,
    headline=True,
)
