"""The parts of an artefact of a paper: scenarios or formulas, numbers, a picture, claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from ackclock.names import NAME
from ackclock.reproduction.claims.numbers import (
    FULL,
    QUICK,
    Bounds,
    Effort,
    Key,
    Numbers,
    Row,
    like,
    text_pattern,
)
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case

if TYPE_CHECKING:
    import polars as pl

    from ackclock.draw.figure import Drawing
    from ackclock.engine import Run

CaseKey = TypeVar("CaseKey", bound=Hashable)

Traces = Mapping[Any, "pl.DataFrame"]
"""The series over time of the first run, by case, for the picture."""


@dataclass(frozen=True)
class Judged:
    """A claim's numbers, and whether it holds with them."""

    measured: str
    """With units and intervals."""
    holds: bool
    """Whether the claim does."""
    value: float = math.nan
    """The number itself, in the unit of the claim's target; not a number where the claim has none."""
    error: float = 0.0
    """Its standard error, 0 where none is known; relative for a logarithmic target."""
    undecided: bool = False
    """Whether the claim holds for some numbers of the 95 % interval and fails for others: `holds` then
    follows from the mean, and more runs may reverse it."""
    wrong_probability: float = math.nan
    """Probability that the decision is wrong (`ackclock.decision.chance_wrong`); NaN where the claim is
    not about numbers with intervals."""
    apart: float = math.nan
    """Distance of the number from the nearest end of its target, in standard errors; infinite where
    nothing is random, NaN where the claim is not about numbers."""


class Target(NamedTuple):
    """The range of numbers for which a claim holds."""

    low: float
    high: float
    """Ends of the range, infinite where it has none."""
    expected: float | None = None
    """The paper's value, if it gives one."""
    logarithmic: bool = False
    """Whether ratios count rather than differences."""


class Evidence(NamedTuple):
    """The evidence for a finding."""

    holds: bool
    """Whether these numbers bear the finding out."""
    numbers: Mapping[str, object]
    """The numbers of its sentence, by name."""


@dataclass(frozen=True)
class Finding:
    """An explanation of claims that do not hold, computed whenever they are judged.

    Attributes
    ----------
    name : str
        What data calls it, unique within its paper.
    text : str
        The explanation; its numbers are fields such as ``{share:.2f}``, and none is typed by hand.
    compute : callable
        From the numbers of the artefact to the evidence. It may also use formulas and what other
        simulators gave (`ackclock.reproduction.quoted`).
    contradiction : bool
        Whether it proves that they cannot hold together with the rest of the paper.
    """

    name: str
    text: str
    compute: Callable[[Numbers], Evidence]
    contradiction: bool = False

    def sentence(self, numbers: Numbers) -> str:
        """Return the text with its numbers; empty where the artefact's numbers do not bear it out."""
        evidence = self.compute(numbers)
        return self.text.format_map(evidence.numbers) if evidence.holds else ""


@dataclass(frozen=True)
class Claim:
    """A checkable sentence of a paper.

    Attributes
    ----------
    name : str
        What data calls it, unique within its artefact, such as ``reno-recovers-slowly``: trials,
        findings and verdicts belong to it, whatever the sentence.
    sentence : str
        What must be seen: a label, which may be reworded.
    paper : str
        The paper's value, or what its text says.
    tolerance : str
        What still counts as the same, with its reason.
    judge : callable
        A function of the numbers that returns a `Judged`.
    target : Target, optional
        The range of its number; none where the claim is not about one number.
    finding : Finding, optional
        What else is known of it, such as what another simulator gives; shown if it differs.
    number : tuple of hashable, optional
        Case and key of the number that it is about, where that is a mean over the runs: a picture
        of that number shows the paper's value.
    former : Claim, optional
        The claim with the check that it had when it was first run: its verdict is shown next to the present
        one. Of that claim, what is not of the check does not count.
    reads : sequence of pairs
        The numbers that it needs: labels of cases, in which ``*`` stands for any text, each with the key of a
        number, or None where a function reads some of that case.
    items : sequence of str
        Names of the items of the setting that it needs.
    source : str
        Section or page of the paper that says so.
    """

    name: str
    sentence: str
    paper: str
    tolerance: str
    judge: Callable[[Numbers], Judged]
    target: Target | None = None
    finding: Finding | None = None
    number: tuple[Key, Key] | None = None
    former: Claim | None = None
    reads: Sequence[tuple[Key, Key | None]] = ()
    items: Sequence[str] = ()
    source: str = ""

    def cases(self, every: Iterable[Key]) -> list[Key]:
        """Return the cases that it reads."""
        return like(every, (case for case, _ in self.reads))

    def shared(self, numbers: Numbers) -> Numbers:
        """Return numbers for which `Numbers.each` returns only runs that all cases read by the claim have."""
        return replace(numbers, shared=numbers.runs_of(self.cases(numbers.rows)) or None)


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """A figure or table of a paper: either `Simulated` or `Computed`.

    Attributes
    ----------
    name : str
        As in ``figure-8`` or ``table-iv``.
    caption : str
        A single line.
    about : str
        What it shows and how it is measured.
    draw : callable
        From numbers and traces to the description of the figure, or to a picture of what has no
        axes.
    claims : sequence of Claim
        What must be seen; none where the paper gives nothing to compare.
    headline : bool
        Whether it belongs to the quick reproduction.
    bounds : mapping
        As in `Numbers`; `ackclock.reproduction.paper` reads it.
    """

    name: str
    caption: str
    about: str
    draw: Callable[[Numbers, Traces], Drawing]
    claims: Sequence[Claim] = ()
    headline: bool = False
    bounds: Mapping[str, Bounds] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name as printed, and the caption."""
        kind, _, number = self.name.partition("-")
        return f"{kind.title()} {number.upper()}: {self.caption}"

    def supplied(self, effort: Effort) -> Iterator[tuple[Key, frozenset[Key]]]:
        """Yield every case with the keys of the numbers that judging may ask for."""
        raise NotImplementedError

    @property
    def printed(self) -> dict[tuple[str, str], float]:
        """The paper's values of numbers, by labels of case and number, which its claims state."""
        return {
            (str(claim.number[0]), str(claim.number[1])): claim.target.expected
            for claim in self.claims
            if claim.number is not None and claim.target and claim.target.expected is not None
        }

    def check(self, setting: Setting) -> None:
        """Make sure that every number that a claim asks for is supplied, whatever the effort.

        Raises LookupError when two claims have the same name, a claim asks for a case or a number that is not
        there, or two cases have the same label.
        """
        names = [claim.name for claim in self.claims]
        for name, count in Counter(names).items():
            if not NAME.fullmatch(name):
                raise LookupError(f"{self.name}: {name!r} is not a name of lower-case words with hyphens")
            if count > 1:
                raise LookupError(f"{self.name}: two claims are named {name!r}")
        for effort in (FULL.at(setting), QUICK.at(setting)):
            supplied = dict(self.supplied(effort))
            if len({str(case) for case in supplied}) < len(supplied):
                raise LookupError(f"{self.name}: two cases have the same label")
            for claim in self.claims:
                for check in filter(None, (claim, claim.former)):
                    missing = _missing(check, supplied, setting)
                    if missing:
                        kind = "quick" if effort.quick else "full"
                        raise LookupError(
                            f"{self.name}, {kind}: the claim {claim.name} asks for {missing}, "
                            "which is not measured"
                        )


def _missing(claim: Claim, supplied: Mapping[Key, Collection[Key]], setting: Setting) -> str:
    """Return a missing input of a claim in words; an empty text if every input is supplied."""
    for pattern, key in claim.reads:
        try:
            cases = like(supplied, [pattern])
        except KeyError:
            return f"the case {pattern}"
        if key is not None and any(key not in {*supplied[case], *map(str, supplied[case])} for case in cases):
            return f"the number {key} of {pattern}"
    return next((f"the item {item}" for item in claim.items if item not in setting), "")


def matching(artefact: Artefact, pattern: str) -> list[Claim]:
    """Return the claims of an artefact whose names match a pattern, in which ``*`` stands for any text."""
    wanted = text_pattern(pattern)
    return [claim for claim in artefact.claims if wanted.fullmatch(claim.name)]


class Probe(NamedTuple):
    """The measurement of a run, and the keys of its numbers.

    Attributes
    ----------
    keys : collection of hashable
        Keys of the numbers.
    measure : callable
        These numbers, and no others, of a run.
    """

    keys: Collection[Key]
    measure: Callable[[Run], Row]


@dataclass(frozen=True, kw_only=True)
class Simulated(Artefact, Generic[CaseKey]):
    """An artefact that needs runs.

    Attributes
    ----------
    cases : callable
        A function of the effort that returns the cases to simulate, by key.
    probe : Probe or callable
        What is measured in a run; a callable of the key of its case and the effort where it depends
        on them.
    trace : callable, optional
        What the picture shows of the first run of a case; None when it is not shown.
    """

    cases: Callable[[Effort], Mapping[CaseKey, Case]]
    probe: Probe | Callable[[CaseKey, Effort], Probe]
    trace: Callable[[CaseKey, Run], pl.DataFrame | None] | None = None

    def probe_of(self, case: CaseKey, effort: Effort = FULL) -> Probe:
        """Return the probe of a case."""
        return self.probe if isinstance(self.probe, Probe) else self.probe(case, effort)

    def measure(self, case: CaseKey, run: Run) -> Row:
        """Measure the numbers of a run of a case."""
        return self.probe_of(case).measure(run)

    def supplied(self, effort: Effort) -> Iterator[tuple[Key, frozenset[Key]]]:
        """Yield the keys of cases and of their numbers; see `Artefact.supplied`."""
        for case in self.cases(effort):
            yield case, frozenset(self.probe_of(case, effort).keys)


@dataclass(frozen=True, kw_only=True)
class Computed(Artefact):
    """An artefact that needs no run.

    Attributes
    ----------
    compute : callable
        From the effort to rows by case, and traces.
    numbers : mapping
        Keys of the numbers, by case.
    """

    compute: Callable[[Effort], tuple[Mapping[Any, Sequence[Row]], Traces]]
    numbers: Mapping[Any, Collection[Key]]

    def supplied(self, effort: Effort) -> Iterator[tuple[Key, frozenset[Key]]]:  # noqa: ARG002
        """Yield the keys of the numbers of `compute`; see `Artefact.supplied`."""
        for case, keys in self.numbers.items():
            yield case, frozenset(keys)
