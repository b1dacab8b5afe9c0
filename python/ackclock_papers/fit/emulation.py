"""Figures 4 to 7 and table III: emulated paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ackclock.draw import plots
from ackclock.engine import Run
from ackclock.metrics import Estimate, bandwidth_stolen_rate, over_runs
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Artefact, Claim, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.fit.setting import flow, goodputs, scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAST_PATHS = ("FIT", "Reno", "CUBIC", "CTCP", "HSTCP", "Illinois", "FAST")
LOSSES_4 = (1e-3, 1e-4, 1e-5, 1e-6)
DELAYS_4 = (40, 80, 120, 160, 200)


def _measure(_name: str, run: Run) -> Row:
    found = goodputs(run)
    return {**found, "sum": sum(found.values())}


def _cases_4(effort: Effort) -> Mapping[str, Case]:
    found = {}
    for name in FAST_PATHS:
        for p in LOSSES_4:
            one = flow(name, params={"alpha": 200}) if name == "FAST" else flow(name)
            made = scenario(
                [one], rate_mbps=1000, rtt_ms=20, loss=p, measured_s=effort.pick(40, 15),
                warmup_s=20,
            )  # fmt: skip
            found[f"a: {name}, {p:g}"] = Case(made, effort.runs, record=False)
        for delay in DELAYS_4:
            made = scenario(
                [flow(name)], rate_mbps=100, rtt_ms=delay, loss=0.01,
                measured_s=effort.pick(120, 40),
            )  # fmt: skip
            found[f"b: {name}, {delay} ms"] = Case(made, effort.runs, record=False)
    return found


def _draw_4(numbers: Numbers, _traces: Traces) -> Figure:
    figure, (left, right) = plots.panels(1, height=3.0, columns=2)
    for index, name in enumerate(FAST_PATHS):
        a = [numbers.of(f"a: {name}, {p:g}", name).value for p in LOSSES_4]
        b = [numbers.of(f"b: {name}, {d} ms", name).value for d in DELAYS_4]
        left.plot(LOSSES_4, a, marker=".", label=name, **plots.style(index))
        right.plot(DELAYS_4, b, marker=".", label=name, **plots.style(index))
    left.set(xscale="log", xlabel="loss rate", ylabel="Mbit/s", title="1 Gbit/s, 20 ms")
    right.set(xlabel="delay (ms)", ylim=(0, None), title="100 Mbit/s, 1 %")
    left.legend(fontsize=6)
    return figure


def _highest(prefix: str, suffix: str, names: Sequence[str], reason: str = "") -> Claim:
    def judge(numbers: Numbers) -> tuple[str, bool]:
        found = {one: numbers.of(f"{prefix}{one}, {suffix}", one) for one in names}
        others = {one: value for one, value in found.items() if one != "FIT"}
        best = max(others, key=lambda one: others[one].value)
        words = f"FIT {found['FIT']} Mbit/s, {best} {found[best]}"
        return words, found["FIT"].value > found[best].value

    return holds(
        f"FIT is highest at {suffix}", "highest", judge, why="the order of the means",
        reason=reason,
    )  # fmt: skip


RECOVERY = (
    "FIT adds N packets per round trip, but no TCP grows while it repairs a loss; with one loss "
    "per round trip or more (W p of 1 and above) nothing grows at all, whatever N is "
    "(docs/theory.md, TCP-FIT). Variants that cut less then get more. Tried: at 1 Gbit/s an "
    "overhead ten times as large gives FIT 0.80 and 1.2 of FAST; the 12 points of figure 5 stay "
    "as they are with half and twice the buffer, NewReno, SACK, minimum RTO, overhead and seeds."
)

FIGURE_4 = Artefact(
    name="figure-4",
    title="Figure 4: high-speed links with random loss",
    about="(a) 1 Gbit/s, 20 ms, several loss rates; (b) 100 Mbit/s, 1 % loss, several delays.",
    cases=_cases_4, measure=_measure, draw=_draw_4, headline=False,
    claims=(
        *(near(f"1 Gbit/s, loss {p:g}: FIT about as FAST",
               lambda n, p=p: over_runs(  # type: ignore[misc]
                   [x / y for x, y in zip(n.each(f"a: FIT, {p:g}", "FIT"),
                                          n.each(f"a: FAST, {p:g}", "FAST"), strict=True)]),
               1, within=0.3, why="'similar throughput'", paper="about the same", reason=RECOVERY)
          for p in LOSSES_4),
        *(ordered(f"1 Gbit/s, loss {p:g}: FIT much higher than {other}",
                  [("FIT", mean(f"a: FIT, {p:g}", "FIT")),
                   (other, mean(f"a: {other}, {p:g}", other))], unit="Mbit/s",
                  paper="much higher", reason=RECOVERY)
          for p in (1e-3, 1e-4) for other in ("Reno", "CUBIC", "CTCP", "HSTCP", "Illinois")),
        *(_highest("b: ", f"{delay} ms", FAST_PATHS, RECOVERY) for delay in DELAYS_4),
    ),
)  # fmt: skip

WIRELESS = ("FIT", "Reno", "CUBIC", "CTCP", "Westwood", "Veno", "FAST")
LOSSES_5 = (0.01, 0.03, 0.05, 0.07)
DELAYS_5 = (50, 150, 250, 350)


def _cases_5(effort: Effort) -> Mapping[str, Case]:
    return {
        f"{name}, {delay} ms, {p:.0%}": Case(
            scenario(
                [flow(name)], rate_mbps=4, rtt_ms=delay, loss=p, noise_ms=delay / 2,
                measured_s=effort.pick(300, 100),
            ),
            effort.runs,
            record=False,
        )
        for name in WIRELESS
        for delay in DELAYS_5
        for p in LOSSES_5
    }  # fmt: skip


def _draw_5(numbers: Numbers, _traces: Traces) -> Figure:
    figure, axes = plots.panels(2, height=2.2, columns=2)
    for panel, p in zip(axes, LOSSES_5, strict=True):
        for index, name in enumerate(WIRELESS):
            values = [numbers.of(f"{name}, {d} ms, {p:.0%}", name).value for d in DELAYS_5]
            panel.plot(DELAYS_5, values, marker=".", label=name, **plots.style(index))
        panel.set(title=f"loss {p:.0%}", xlabel="delay (ms)", ylabel="Mbit/s", ylim=(0, None))
    axes[0].legend(fontsize=6)
    return figure


FIGURE_5 = Artefact(
    name="figure-5",
    title="Figure 5: a wireless link with random loss and noisy delay",
    about="4 Mbit/s, Gaussian delay noise with half of the mean RTT as standard deviation.",
    cases=_cases_5, measure=_measure, draw=_draw_5,
    claims=tuple(
        _highest("", f"{delay} ms, {p:.0%}", WIRELESS, RECOVERY)
        for p in LOSSES_5 for delay in (50, 150, 350)
    ),
)  # fmt: skip


def _cases_6(effort: Effort) -> Mapping[str, Case]:
    found = {}
    for name in ("FIT", "Reno", "CUBIC", "CTCP", "FAST"):
        others = flow("Reno", count=4, name="others")
        length = effort.pick(120, 60)
        clean = scenario([flow(name), others], rate_mbps=10, rtt_ms=10, measured_s=length)
        noisy = scenario(
            [flow(name), others], rate_mbps=10, rtt_ms=100, loss=0.05, noise_ms=80,
            measured_s=length,
        )  # fmt: skip
        found[f"a: {name}"] = Case(clean, effort.runs, record=False)
        found[f"b: {name}"] = Case(noisy, effort.runs, record=False)
    return found


def _measure_6(name: str, run: Run) -> Row:
    found = goodputs(run)
    own = name.split(": ")[1]
    return {
        "share": found[own] / 10,
        "reno_each": found["others"] / 40,
        "used": sum(found.values()) / 10,
    }


def _draw_6(numbers: Numbers, _traces: Traces) -> Figure:
    figure, panels = plots.panels(1, height=2.6, columns=2)
    for panel, kind in zip(panels, "ab", strict=True):
        names = [case.split(": ")[1] for case in numbers.rows if case.startswith(kind)]
        own = [numbers.of(f"{kind}: {one}", "share").value for one in names]
        reno = [4 * numbers.of(f"{kind}: {one}", "reno_each").value for one in names]
        panel.bar(names, own, color=plots.COLOURS[0], label="the variant")
        panel.bar(names, reno, bottom=own, color=plots.COLOURS[1], label="4 Reno")
        panel.set(ylim=(0, 1), ylabel="share of the link")
        panel.tick_params(axis="x", labelrotation=45)
    panels[0].legend(fontsize=6)
    return figure


FIGURE_6 = Artefact(
    name="figure-6",
    title="Figure 6: one flow of a variant and four Reno",
    about="(a) 10 Mbit/s, 10 ms; (b) the same with 5 % loss and Gaussian delay, 100 and 80 ms.",
    cases=_cases_6, measure=_measure_6, draw=_draw_6, headline=True,
    claims=(
        *(near(f"(a) {name} occupies about 20 %", mean(f"a: {name}", "share"), 0.2, within=0.06,
               absolute=True, why="'about', a fifth Reno's share") for name in ("FIT", "CTCP")),
        *(between(f"(a) {name} takes more than its share", mean(f"a: {name}", "share"), 0.24, 0.45,
                  why="'up to 35 %'", paper="up to 35 %") for name in ("CUBIC", "FAST")),
        *(between(f"(b) under 40 % is used with {name}", mean(f"b: {name}", "used"), 0, 0.4,
                  why="as printed", paper="less than 40 %")
          for name in ("FIT", "Reno", "CUBIC", "CTCP")),
        ordered("(b) FIT takes what Reno leaves",
                [("FIT", mean("b: FIT", "share")), ("Reno", mean("b: Reno", "share"))],
                unit="of the link", paper="picks up capacity"),
        between("(b) each Reno beside FIT keeps 5 to 10 %", mean("b: FIT", "reno_each"), 0.045,
                0.105, why="as printed, give or take half a per cent", paper="5 to 10 %"),
    ),
)  # fmt: skip

STOLEN = ("FIT", "CUBIC", "CTCP", "Veno", "Illinois", "Westwood", "HSTCP")
FAST_ALPHAS = (10, 20, 50, 100)


def _cases_7(effort: Effort) -> Mapping[str, Case]:
    def made(others: Mapping[str, Any]) -> Case:
        flows = [flow("Reno", count=10), {**others, "count": 10, "name": "others"}]
        length = effort.pick(200, 80)
        return Case(
            scenario(flows, rate_mbps=50, rtt_ms=100, measured_s=length), effort.runs, record=False
        )

    found = {"Reno": made(flow("Reno"))}
    found |= {name: made(flow(name)) for name in STOLEN}
    return found | {
        f"FAST, alpha {one}": made(flow("FAST", params={"alpha": one})) for one in FAST_ALPHAS
    }


def _stolen(name: str) -> Callable[[Numbers], Estimate]:
    def judge(numbers: Numbers) -> Estimate:
        alone, beside = numbers.each("Reno", "Reno"), numbers.each(name, "Reno")
        return over_runs([bandwidth_stolen_rate(x, y) for x, y in zip(alone, beside, strict=True)])

    return judge


def _draw_7(numbers: Numbers, _traces: Traces) -> Figure:
    figure, panels = plots.panels(1, height=2.6, columns=2)
    for panel, names in zip(
        panels, (STOLEN, [f"FAST, alpha {one}" for one in FAST_ALPHAS]), strict=True
    ):
        found = [_stolen(one)(numbers) for one in names]
        panel.bar(
            [one.split(", ")[-1] for one in names], [one.value for one in found],
            yerr=[one.high - one.value for one in found], color=plots.COLOURS[0], capsize=2,
        )  # fmt: skip
        panel.set_ylabel("bandwidth stolen rate")
        panel.tick_params(axis="x", labelrotation=45)
    return figure


FIGURE_7 = Artefact(
    name="figure-7",
    title="Figure 7: bandwidth stolen rate",
    about="20 Reno on 50 Mbit/s, 100 ms; then ten of them replaced.",
    cases=_cases_7, measure=_measure, draw=_draw_7,
    claims=(
        ordered("FIT steals much less than CUBIC",
                [("CUBIC", _stolen("CUBIC")), ("FIT", _stolen("FIT"))], margin=0.3),
        ordered("FIT steals a little more than CTCP",
                [("FIT", _stolen("FIT")), ("CTCP", _stolen("CTCP"))], paper="a little higher"),
        holds("FAST's rate depends on alpha", "depends on alpha",
              lambda n: (
                  ", ".join(f"{one}: {_stolen(f'FAST, alpha {one}')(n)}" for one in FAST_ALPHAS),
                  _stolen("FAST, alpha 100")(n).value > _stolen("FAST, alpha 10")(n).value + 0.1,
              ), why="0.1 more at alpha 100 than at 10"),
    ),
)  # fmt: skip

LONG_MS = (50, 100, 200, 400)
PAPER_3 = {
    "FIT": (1, 1.17, 1.55, 1.9), "FAST": (1, 1.03, 1.45, 1.93), "CUBIC": (1, 1.34, 1.64, 2.14),
    "CTCP": (1, 1.37, 2.17, 2.83), "Reno": (1, 1.84, 3, 5.19),
}  # fmt: skip


def _cases_t3(effort: Effort) -> Mapping[str, Case]:
    found = {}
    for name in PAPER_3:
        for long in LONG_MS:
            flows = [
                flow(name, count=10, name="short", rtt="50 ms"),
                flow(name, count=10, name="long", rtt=f"{long} ms"),
            ]
            made = scenario(
                flows, rate_mbps=50, rtt_ms=50, loss=0.001, measured_s=effort.pick(200, 80)
            )
            found[f"{name}, {long} ms"] = Case(made, effort.runs, record=False)
    return found


def _measure_t3(_name: str, run: Run) -> Row:
    found = goodputs(run)
    return {"ratio": found["short"] / found["long"]}


def _draw_t3(numbers: Numbers, _traces: Traces) -> Figure:
    rows = [
        [name, *(f"{paper:g}: {numbers.of(f'{name}, {long} ms', 'ratio').value:.3g}"
                 for long, paper in zip(LONG_MS, values, strict=True))]
        for name, values in PAPER_3.items()
    ]  # fmt: skip
    return pictures.grid(["paper: ours", "1", "1/2", "1/4", "1/8"], rows)


TABLE_3 = Artefact(
    name="table-iii",
    title="Table III: throughput ratio of short over long flows",
    about="Ten flows of 50 ms and ten of 50 to 400 ms on 50 Mbit/s, 0.1 % loss.",
    cases=_cases_t3, measure=_measure_t3, draw=_draw_t3, headline=True,
    claims=(
        *(near(f"{name}, RTT ratio 1/{long // 50}", mean(f"{name}, {long} ms", "ratio"), value,
               within=0.3, why="one run of the paper; its buffer is open")
          for name, values in PAPER_3.items()
          for long, value in zip(LONG_MS, values, strict=True)),
        *(ordered(f"at 1/8 FIT is fairer than {other}",
                  [(other, mean(f"{other}, 400 ms", "ratio")),
                   ("FIT", mean("FIT, 400 ms", "ratio"))], paper="better")
          for other in ("CTCP", "Reno")),
    ),
)  # fmt: skip
