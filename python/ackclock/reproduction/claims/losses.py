"""Drops over packets: whether the losses of a link fall on each kind of flow in proportion to its packets.

In a full droptail queue that is fed by ACKs, each departing packet makes room for one arrival, so the dropped
packet belongs to a window that has grown: without random variation, losses follow the growth of windows and
not their packets. Papers that exclude such phase effects in words exclude settings at which this can be
measured.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ackclock.decision import Estimate
from ackclock.engine import FlowSummary, Run
from ackclock.metrics import drops_over_packets
from ackclock.reproduction.claims.artefact import Artefact, Claim, Judged, Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Counts, Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock.summary import is_controlled

FEW_RTTS = 4
"""Up to so many different round trips make different kinds of flow; background traffic has more."""
LEAST, MOST = 0.5, 2.0
"""Losses count as proportional if drops over packets are in this range: a factor of two either way."""
SEEDS = 20
"""Runs of each case of the condition."""
LEAST_DROPS = 50
"""The condition decides nothing with fewer drops than this in a run."""
NAME = "losses-fall-in-proportion-to-packets"
"""The claim of the condition, in the artefact of conditions that a paper states of its simulations."""
FARTHEST = 1e3
"""Departure of a kind of flow without a loss."""


class KindLosses(NamedTuple):
    """Drops over packets of a kind of flow.

    `ratio` is its share of the drops of a case over its share of the packets, with the interval over runs,
    `has_window` tells whether its flows are under a window, and `fewest_drops` counts the drops of all kinds
    in the run with the fewest drops.
    """

    kind: str
    ratio: Estimate
    has_window: bool
    fewest_drops: int

    @property
    def departure(self) -> float:
        """How many times one share exceeds the other, whichever is larger; at least 1."""
        value = self.ratio.value
        return FARTHEST if value == 0 else max(value, 1 / value)

    @property
    def is_impossible(self) -> bool:
        """Whether the interval leaves `LEAST` to `MOST`, by enough drops of each run."""
        outside = self.ratio.high < LEAST or self.ratio.low > MOST
        return self.has_window and self.fewest_drops >= LEAST_DROPS and outside

    def __str__(self) -> str:
        return f"{self.kind} {self.ratio}"


def counts(run: Run) -> Counts:
    """Count packets and drops of a run by kind of flow, where several flows under a window share a link.

    A kind has a control with its parameters and, where these are few, a round trip. Flows in reverse do not
    count, nor do paths of several links, because drops are not recorded per link. There are no counts if all
    flows are of one kind.
    """
    flows = [flow for flow in run.summary["flows"] if _is_counted(flow)]
    if sum(flow["kind"] == "window" for flow in flows) < 2:
        return {}
    kinds = _kinds(flows)
    if len(kinds) < 2:
        return {}
    return {
        kind: (
            sum(flow["dropped_packets"] for flow in own),
            sum(flow["sent_packets"] for flow in own),
            own[0]["kind"] == "window",
        )
        for kind, own in kinds.items()
    }


def _is_counted(flow: FlowSummary) -> bool:
    """Return whether a flow sends forward over a single link; only simulated flows have settings."""
    settings = flow.get("settings")
    return bool(settings) and settings["direction"] == "forward" and len(settings["path"]) == 1


def _kinds(flows: Iterable[FlowSummary]) -> dict[str, list[FlowSummary]]:
    """Return flows by the label of their kind: control, parameters that differ, round trip."""
    by_control: dict[str, dict[str, list[FlowSummary]]] = defaultdict(lambda: defaultdict(list))
    for flow in flows:
        name = flow["controller"] if is_controlled(flow) else flow["kind"]
        by_control[name][json.dumps(flow["settings"]["params"], sort_keys=True)].append(flow)
    kinds: dict[str, list[FlowSummary]] = {}
    for name, by_parameters in by_control.items():
        sets = {text: json.loads(text) for text in by_parameters}
        for text, some in by_parameters.items():
            own = [f"{key} {value}" for key, value in sets[text].items() if _differs(key, sets.values())]
            rtts = {flow["rtt_ms"] for flow in some}
            for flow in some:
                rtt = [f"{flow['rtt_ms']:g} ms"] if 1 < len(rtts) <= FEW_RTTS else []
                kinds.setdefault(" ".join([name, *own, *rtt]), []).append(flow)
    return kinds


def _differs(key: str, sets: Iterable[Mapping[str, Any]]) -> bool:
    return len({repr(each.get(key)) for each in sets}) > 1


def over_runs(runs: Sequence[Counts]) -> list[KindLosses]:
    """Estimate drops over packets of each kind of flow from the counts of runs of a case.

    Nothing is returned where no run has a drop.
    """
    totals = [sum(drops for drops, *_ in run.values()) for run in runs]
    fewest = min(totals, default=0)
    runs = [run for run, drops in zip(runs, totals, strict=True) if drops]
    if not runs:
        return []
    has_window = {kind: own for run in runs for kind, (_, _, own) in run.items()}
    table = np.array([[run.get(kind, (0, 0))[:2] for kind in has_window] for run in runs], float)
    ratios = drops_over_packets(table[:, :, 0], table[:, :, 1])
    return [
        KindLosses(kind, ratio, own, fewest)
        for (kind, own), ratio in zip(has_window.items(), ratios, strict=True)
    ]


@dataclass(frozen=True)
class Condition:
    """The words of a paper against phase effects, and the cases in which they are checked.

    `words` are the paper's and `source` is their place. `cases` are labels of cases by artefact, each with
    several flows on one link. They are those of a full reproduction if they are not `quick`: fewer drops
    than `LEAST_DROPS` in a run decide nothing.
    """

    words: str
    source: str
    cases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    quick: bool = True

    def joined(self, conditions: Artefact | None, artefacts: Sequence[Artefact], name: str) -> Simulated[Any]:
        """Return the artefact of a paper's conditions, or a new one called `name`, with this one.

        Raises LookupError when a case does not exist.
        """
        assert conditions is None or isinstance(conditions, Simulated)  # noqa: S101
        owners = {artefact.name: artefact for artefact in artefacts if isinstance(artefact, Simulated)}
        shared = [_SharedCase(artefact, label) for artefact, labels in self.cases.items() for label in labels]
        unknown = next((case.artefact for case in shared if case.artefact not in owners), None)
        if unknown is not None:
            raise LookupError(f"there is no simulated {unknown}, which [losses] names")

        def cases(effort: Effort) -> Mapping[Key, Case]:
            own = dict(conditions.cases(effort)) if conditions else {}
            length = effort if self.quick else replace(effort, quick=False)
            for name in self.cases:
                every = {str(key): case for key, case in owners[name].cases(length).items()}
                for case in shared:
                    if case.artefact == name:
                        if case.label not in every:
                            raise LookupError(f"{name} has no case {case.label}, which [losses] names")
                        own[case] = replace(every[case.label], runs=SEEDS, record=False)
            return own

        def probe(case: Key, effort: Effort) -> Probe:
            if isinstance(case, _SharedCase) or conditions is None:
                return Probe((), _nothing)
            return conditions.probe_of(case, effort)

        claims = [*(conditions.claims if conditions else ()), self.claim(shared)]
        if conditions:
            return replace(conditions, cases=cases, probe=probe, claims=claims)
        return Simulated(
            name=name,
            caption="conditions that the paper states",
            about="Flows that share a link.",
            cases=cases,
            probe=probe,
            draw=every_number,
            claims=claims,
        )

    def claim(self, cases: Sequence[Key]) -> Claim:
        """Return the claim that no kind of flow under a window decidedly leaves `LEAST` to `MOST`."""

        def judge(numbers: Numbers) -> Judged:
            every = [kind for case in cases for kind in over_runs(numbers.losses.get(case, ()))]
            windows = [kind for kind in every if kind.has_window]
            if not windows:
                return Judged("no losses", holds=True, undecided=True)
            worst = max(windows, key=lambda kind: kind.departure)
            decided = any(kind.is_impossible for kind in windows)
            inside = all(kind.ratio.low >= LEAST and kind.ratio.high <= MOST for kind in windows)
            return Judged(
                ", ".join(map(str, windows)),
                not decided,
                worst.departure,
                undecided=not decided and not (inside and worst.fewest_drops >= LEAST_DROPS),
            )

        return Claim(
            NAME,
            "losses fall on each kind of flow in proportion to its packets",
            self.words,
            f"the share of drops is {LEAST:g} to {MOST:g} times that of packets, unless an interval over "
            f"{SEEDS} runs of at least {LEAST_DROPS} drops each leaves that range",
            judge,
            reads=[(case, None) for case in cases],
            source=self.source,
        )


class _SharedCase(NamedTuple):
    """The key of a case of the condition."""

    artefact: str
    label: str

    def __str__(self) -> str:
        return f"{self.artefact}: {self.label}"


def _nothing(_run: Run) -> Row:
    """Measure nothing but the losses, which are counted in every run."""
    return {}
