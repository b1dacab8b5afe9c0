"""Tables IV and V, figures 8 and 9: the live measurements, over emulated paths."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock.draw.figure import Group
from ackclock.engine import Run
from ackclock.engine.names import slug
from ackclock.metrics import Estimate, goodput
from ackclock.reproduction import figures, pictures
from ackclock.reproduction.artefact import Claim, Simulated, Traces
from ackclock.reproduction.claims import between, mean, near, ordered, ratio, times
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.reproduction.settings import Setting
from ackclock.runs import Case
from ackclock_papers.fit.setting import PACKET_BITS, flow, goodputs, over_time, packets_per_step, scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Place:
    """A live path of the paper, and how it is emulated.

    Attributes
    ----------
    panel : str
        Letter of its panel in figure 8.
    network, client : str
        Access network and operating system, as in table IV.
    rate_mbps, rtt_ms : float
        Rate and round trip of the emulated path: those of the technology and the distance.
    noise_ms : float
        Standard deviation of the delay, ms.
    paper : mapping
        Mbit/s of table V, by variant in the order of their turns.
    speed_up : float
        FIT over the mean of the others in table V; 1 for the place that is not in it.
    """

    panel: str
    network: str
    client: str
    rate_mbps: float
    rtt_ms: float
    noise_ms: float
    paper: Mapping[str, float]
    speed_up: float

    @property
    def variants(self) -> tuple[str, ...]:
        """What was run there, in turn."""
        return tuple(self.paper)

    def loss(self, setting: Setting) -> float:
        """Find the random loss at which Reno has what it has in the paper.

        Parameters
        ----------
        setting : mapping
            Values of the paper's open items.

        Returns
        -------
        float
            Where sqrt(3/(2bp))/RTT is the paper's Reno, b packets per step of growth; at most 5 %.
        """
        window = self.paper["Reno"] * 1e6 / PACKET_BITS * self.rtt_ms / 1000
        return min(0.05, 1.5 / packets_per_step(setting) / window**2)


PLACES = {
    name: Place(**one)
    for name, one in tomllib.loads(
        (resources.files(__package__) / "places.toml").read_text(encoding="utf-8")
    ).items()
}
"""Panel (i) is not in table V: its Reno is set to what nearly fills the link."""

IN_TABLE_5 = {name: place for name, place in PLACES.items() if place.panel != "i"}


def _cases(effort: Effort) -> Mapping[str, Case]:
    """Rotate the variants on each path, one after the other, as the paper's server does."""
    turn = effort.pick(300, 60)
    found = {}
    for name, place in PLACES.items():
        flows = [
            flow(effort.setting, one, start=f"{turn * index:g} s", stop=f"{turn * (index + 1):g} s")
            for index, one in enumerate(place.variants)
        ]
        made = scenario(
            effort.setting,
            flows,
            rate_mbps=place.rate_mbps,
            rtt_ms=place.rtt_ms,
            loss=place.loss(effort.setting),
            noise_ms=place.noise_ms,
            warmup_s=0,
            measured_s=turn * len(flows),
            sample_s=2.0,
        )
        found[name] = Case(made, effort.runs)
    return found


def _measure(name: str, run: Run) -> Row:
    """Goodput of each variant in its turn, Mbit/s, and FIT's over the mean of the others."""
    place = PLACES[name]
    turn = run.summary["duration_s"] / len(place.variants)
    row: dict[str, float] = {}
    for index, one in enumerate(place.variants):
        # The first tenth of a turn is slow start.
        start = turn * index
        own = run.windows.filter(pl.col("flow") == index)
        row[one] = goodput(own["time_s"], own["delivered_bytes"], start + turn / 10, start + turn)
    row["speed_up"] = row["FIT"] / float(np.mean([row[one] for one in place.variants[1:]]))
    return row


def _numbers(name: str, _effort: Effort) -> Sequence[str]:
    return *PLACES[name].variants, "speed_up"


def _trace(_name: str, run: Run) -> pl.DataFrame:
    return over_time(run, 20.0).filter(pl.col("mbps") > 0)


def _draw_8(_numbers: Numbers, traces: Traces) -> Group:
    panels = {f"({PLACES[name].panel}) {name}": (name,) for name in traces}
    return figures.over_time(traces, panels, "mbps", "rate (Mbit/s)", height=1.7, columns=3, shared=False)


def _highest(name: str) -> Claim:
    others = [one for one in PLACES[name].variants if one != "FIT"]

    def best(numbers: Numbers) -> Estimate:
        return max((numbers.of(name, one) for one in others), key=lambda found: found.value)

    # Where several fill the emulated path none can be seen to be ahead.
    margin, words = (-0.05, "highest or within 5 % of it") if name == "LA wired" else (0, "highest")
    return ordered(
        slug(name, "fit", words),
        f"{name}: FIT is {words}",
        [("FIT", mean(name, "FIT")), ("the best other", best)],
        margin=margin,
        unit="Mbit/s",
        paper="highest",
    )


FIGURE_8 = Simulated(
    name="figure-8",
    caption="throughput over time at nine places (emulated)",
    about=(
        "Emulated paths with the rate and distance of each place; the variants take turns of five "
        "minutes, as the paper's server does. Random loss from the paper's Reno."
    ),
    cases=_cases,
    measure=_measure,
    numbers=_numbers,
    trace=_trace,
    draw=_draw_8,
    claims=(
        *(_highest(name) for name in IN_TABLE_5),
        between(
            "bangalore-i-no-obvious-advantage-fit",
            "Bangalore (i): no obvious advantage of FIT",
            mean("Bangalore ADSL", "speed_up"),
            0.7,
            1.4,
            why="FIT over the mean of the others",
            paper="no obvious advantage",
        ),
    ),
)

TABLE_4 = Simulated(
    name="table-iv",
    caption="environments (emulated)",
    about="The paper's places, networks and clients, and the paths that stand for them.",
    cases=_cases,
    measure=_measure,
    numbers=_numbers,
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
    cases=_cases, measure=_measure, numbers=_numbers, draw=_draw_5, headline=True,
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


E_SESSIONS = 16
"""Most connections that E-MulTCP opens."""


def _cases_9(effort: Effort) -> Mapping[str, Case]:
    place = PLACES["CDMA city"]
    length = effort.pick(600, 200)
    made = {
        "FIT": [flow(effort.setting, "FIT")],
        "E-MulTCP": [{"source": "emultcp", "count": E_SESSIONS, "name": "E"}],
    }
    return {
        name: Case(
            scenario(
                effort.setting,
                flows,
                rate_mbps=place.rate_mbps,
                rtt_ms=place.rtt_ms,
                loss=place.loss(effort.setting),
                noise_ms=place.noise_ms,
                measured_s=length,
                warmup_s=60,
                sample_s=2.0,
            ),
            effort.runs,
        )
        for name, flows in made.items()
    }


def _measure_9(name: str, run: Run) -> Row:
    """Goodput of all flows, Mbit/s."""
    return {"mbps": sum(goodputs(run, 1 if name == "FIT" else E_SESSIONS))}


def _trace_9(_name: str, run: Run) -> pl.DataFrame:
    whole = over_time(run, 20.0).group_by("time_s", maintain_order=True).agg(pl.col("mbps").sum())
    return whole.sort("time_s")


FIGURE_9 = Simulated(
    name="figure-9",
    caption="FIT against E-MulTCP on 3G (emulated)",
    about="The emulated CDMA path of table IV; each alone.",
    cases=_cases_9,
    measure=_measure_9,
    numbers=("mbps",),
    trace=_trace_9,
    draw=lambda _n, traces: figures.over_time(
        traces, {"both": tuple(traces)}, "mbps", "throughput (Mbit/s)", height=3.0
    ),
    claims=(
        near(
            "fit-about-27-percent-more-on-average",
            "FIT has about 27 % more on average",
            ratio(("FIT", "mbps"), ("E-MulTCP", "mbps")),
            1.27,
            within=0.25,
            why="one live path; 'about'",
        ),
    ),
)
