"""Tables IV and V: the live measurements, over emulated paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.engine.names import slug
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Simulated, Traces
from ackclock.reproduction.claims import mean, near, ratio, times
from ackclock.reproduction.numbers import Numbers
from ackclock_papers.fit.places import IN_TABLE_5, PLACES, cases, probe

if TYPE_CHECKING:
    from matplotlib.figure import Figure


TABLE_4 = Simulated(
    name="table-iv",
    caption="environments (emulated)",
    about="The paper's places, networks and clients, and the paths that stand for them.",
    cases=cases,
    probe=probe,
    draw=lambda n, _t: pictures.grid(
        ["panel", "place", "network", "client OS", "Mbit/s", "RTT ms", "loss", "noise ms"],
        [
            [
                one.panel,
                name,
                one.network,
                one.client,
                one.rate_mbps,
                one.rtt_ms,
                f"{one.loss(n.setting):.2%}",
                one.noise_ms,
            ]
            for name, one in PLACES.items()
        ],
    ),
    claims=tuple(
        near(
            slug(name, "reno-in-table-v"),
            f"{name}: Reno as in table V",
            mean(name, "Reno"),
            place.paper["Reno"],
            within=0.4,
            why="the path's loss is set by a formula without timeouts and recovery",
            unit="Mbit/s",
        )
        for name, place in IN_TABLE_5.items()
    ),
)


def _draw_5(numbers: Numbers, _traces: Traces) -> Figure:
    rows = []
    for one in dict.fromkeys(name for place in PLACES.values() for name in place.variants):
        row = [one]
        for name, place in IN_TABLE_5.items():
            known = one in place.variants
            row.append(f"{place.paper[one]:g}: {numbers.of(name, one).value:.2g}" if known else "-")
        rows.append(row)
    rows.append(
        [
            "speed-up",
            *(
                f"{one.speed_up:g}: {numbers.of(name, 'speed_up').value:.2g}"
                for name, one in IN_TABLE_5.items()
            ),
        ]
    )
    return pictures.grid(["paper: ours", *IN_TABLE_5], rows)


TABLE_5 = Simulated(
    name="table-v", caption="mean throughput at eight places (emulated), Mbit/s",
    about="Means of the turns of figure 8 without their first tenth.",
    cases=cases, probe=probe, draw=_draw_5, headline=True,
    claims=(
        *(times(slug(name, "fit-speed-up"),
                f"{name}: FIT's speed-up", mean(name, "speed_up"), place.speed_up, factor=2,
                why="live paths, one set of days")
          for name, place in IN_TABLE_5.items()),
        *(times(slug(name, "fit"),
                f"{name}: FIT", mean(name, "FIT"), place.paper["FIT"], factor=2, unit="Mbit/s",
                why="as its speed-up")
          for name, place in IN_TABLE_5.items()),
        *(times(slug(name, one, "over-reno"), f"{name}: {one} over Reno", ratio((name, one), (name, "Reno")),
                place.paper[one] / place.paper["Reno"], factor=2, why="as FIT's speed-up",
                paper=f"{place.paper[one]:g} against {place.paper['Reno']:g} Mbit/s")
          for name, place in IN_TABLE_5.items()
          for one in place.variants if one not in ("FIT", "Reno")),
    ),
)  # fmt: skip
