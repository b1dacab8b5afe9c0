"""Figures 4 and 5: a flow alone on emulated paths that lose packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ackclock.draw import plots
from ackclock.engine import Run
from ackclock.reproduction.artefact import Claim, Simulated, Traces
from ackclock.reproduction.claims import holds, mean, near, ordered, ratio
from ackclock.reproduction.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.fit.setting import flow, goodputs, scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _highest(where: str, cases: Mapping[str, Key], reason: str) -> Claim:
    """Claim that FIT has the highest goodput; `cases` by variant, which is the number's key too."""

    def judge(numbers: Numbers) -> tuple[str, bool]:
        found = {one: numbers.of(case, one) for one, case in cases.items()}
        others = {one: value for one, value in found.items() if one != "FIT"}
        best = max(others, key=lambda one: others[one].value)
        words = f"FIT {found['FIT']} Mbit/s, {best} {found[best]}"
        return words, found["FIT"].value > found[best].value

    return holds(
        f"FIT is highest at {where}", "highest", judge, why="the order of the means",
        reason=reason,
    )  # fmt: skip


RECOVERY = (
    "FIT adds N packets per round trip, but no TCP grows while it repairs a loss; with one loss "
    "per round trip or more (W p of 1 and above) nothing grows at all, whatever N is "
    "(docs/theory.md, TCP-FIT). Variants that cut less then get more. Tried: at 1 Gbit/s an "
    "overhead ten times as large gives FIT 0.80 and 1.2 of FAST; the 12 points of figure 5 stay "
    "as they are with half and twice the buffer, NewReno, SACK, minimum RTO, overhead and seeds."
)

FAST_PATHS = ("FIT", "Reno", "CUBIC", "CTCP", "HSTCP", "Illinois", "FAST")


class FastPath(NamedTuple):
    """A flow alone on a path of figure 4: panel (a) has 1 Gbit/s, panel (b) 100 Mbit/s."""

    variant: str
    rate_mbps: int
    rtt_ms: int
    loss: float

    @property
    def in_panel_a(self) -> bool:
        """Whether the loss rate varies, and not the delay."""
        return self.rate_mbps == 1000

    def __str__(self) -> str:
        if self.in_panel_a:
            return f"a: {self.variant}, {self.loss:g}"
        return f"b: {self.variant}, {self.rtt_ms} ms"


def _with_loss(variant: str, loss: float) -> FastPath:
    """Case of panel (a)."""
    return FastPath(variant, 1000, 20, loss)


def _with_delay(variant: str, rtt_ms: int) -> FastPath:
    """Case of panel (b)."""
    return FastPath(variant, 100, rtt_ms, 0.01)


LOSSES_4 = (1e-3, 1e-4, 1e-5, 1e-6)
DELAYS_4 = (40, 80, 120, 160, 200)


def _case_4(effort: Effort, key: FastPath) -> Case:
    tuned = {"params": {"alpha": 200}} if key.in_panel_a and key.variant == "FAST" else {}
    made = scenario(
        [flow(key.variant, **tuned)], rate_mbps=key.rate_mbps, rtt_ms=key.rtt_ms, loss=key.loss,
        measured_s=effort.pick(40, 15) if key.in_panel_a else effort.pick(120, 40),
    )  # fmt: skip
    return Case(made, effort.runs, record=False)


def _cases_4(effort: Effort) -> Mapping[FastPath, Case]:
    keys = [
        key
        for name in FAST_PATHS
        for key in (
            *(_with_loss(name, p) for p in LOSSES_4),
            *(_with_delay(name, ms) for ms in DELAYS_4),
        )
    ]
    return {key: _case_4(effort, key) for key in keys}


def _draw_4(numbers: Numbers, _traces: Traces) -> Figure:
    figure, (left, right) = plots.panels(1, height=3.0, columns=2)
    for index, name in enumerate(FAST_PATHS):
        a = [numbers.of(_with_loss(name, p), name).value for p in LOSSES_4]
        b = [numbers.of(_with_delay(name, ms), name).value for ms in DELAYS_4]
        left.plot(LOSSES_4, a, marker=".", label=name, **plots.style(index))
        right.plot(DELAYS_4, b, marker=".", label=name, **plots.style(index))
    left.set(xscale="log", xlabel="loss rate", ylabel="Mbit/s", title="1 Gbit/s, 20 ms")
    right.set(xlabel="delay (ms)", ylim=(0, None), title="100 Mbit/s, 1 %")
    left.legend(fontsize=6)
    return figure


class NoisyPath(NamedTuple):
    """A flow alone on a path of figure 5."""

    variant: str
    rtt_ms: int
    loss: float

    def __str__(self) -> str:
        return f"{self.variant}, {self.rtt_ms} ms, {self.loss:.0%}"


def _measure(key: FastPath | NoisyPath, run: Run) -> Row:
    """Goodput of the only flow, Mbit/s, by its variant; the sum is the same."""
    (alone,) = goodputs(run, 1)
    return {key.variant: alone, "sum": alone}


def _numbers(key: FastPath | NoisyPath, _effort: Effort) -> Sequence[str]:
    return key.variant, "sum"


FIGURE_4 = Simulated(
    name="figure-4", caption="high-speed links with random loss",
    about="(a) 1 Gbit/s, 20 ms, several loss rates; (b) 100 Mbit/s, 1 % loss, several delays.",
    cases=_cases_4, measure=_measure, numbers=_numbers, draw=_draw_4,
    claims=(
        *(near(f"1 Gbit/s, loss {p:g}: FIT about as FAST",
               ratio((_with_loss("FIT", p), "FIT"), (_with_loss("FAST", p), "FAST")),
               1, within=0.3, why="'similar throughput'", paper="about the same", reason=RECOVERY)
          for p in LOSSES_4),
        *(ordered(f"1 Gbit/s, loss {p:g}: FIT much higher than {other}",
                  [("FIT", mean(_with_loss("FIT", p), "FIT")),
                   (other, mean(_with_loss(other, p), other))], unit="Mbit/s",
                  paper="much higher", reason=RECOVERY)
          for p in (1e-3, 1e-4) for other in ("Reno", "CUBIC", "CTCP", "HSTCP", "Illinois")),
        *(_highest(f"{ms} ms", {one: _with_delay(one, ms) for one in FAST_PATHS}, RECOVERY)
          for ms in DELAYS_4),
    ),
)  # fmt: skip

WIRELESS = ("FIT", "Reno", "CUBIC", "CTCP", "Westwood", "Veno", "FAST")
LOSSES_5 = (0.01, 0.03, 0.05, 0.07)
DELAYS_5 = (50, 150, 250, 350)


def _case_5(effort: Effort, key: NoisyPath) -> Case:
    made = scenario(
        [flow(key.variant)], rate_mbps=4, rtt_ms=key.rtt_ms, loss=key.loss,
        noise_ms=key.rtt_ms / 2, measured_s=effort.pick(300, 100),
    )  # fmt: skip
    return Case(made, effort.runs, record=False)


def _cases_5(effort: Effort) -> Mapping[NoisyPath, Case]:
    keys = [NoisyPath(name, ms, p) for name in WIRELESS for ms in DELAYS_5 for p in LOSSES_5]
    return {key: _case_5(effort, key) for key in keys}


def _draw_5(numbers: Numbers, _traces: Traces) -> Figure:
    figure, axes = plots.panels(2, height=2.2, columns=2)
    for panel, p in zip(axes, LOSSES_5, strict=True):
        for index, name in enumerate(WIRELESS):
            values = [numbers.of(NoisyPath(name, ms, p), name).value for ms in DELAYS_5]
            panel.plot(DELAYS_5, values, marker=".", label=name, **plots.style(index))
        panel.set(title=f"loss {p:.0%}", xlabel="delay (ms)", ylabel="Mbit/s", ylim=(0, None))
    axes[0].legend(fontsize=6)
    return figure


FIGURE_5 = Simulated(
    name="figure-5", caption="a wireless link with random loss and noisy delay",
    about="4 Mbit/s, Gaussian delay noise with half of the mean RTT as standard deviation.",
    cases=_cases_5, measure=_measure, numbers=_numbers, draw=_draw_5,
    claims=tuple(
        _highest(f"{ms} ms, {p:.0%}", {one: NoisyPath(one, ms, p) for one in WIRELESS}, RECOVERY)
        for p in LOSSES_5 for ms in (50, 150, 350)
    ),
)  # fmt: skip
