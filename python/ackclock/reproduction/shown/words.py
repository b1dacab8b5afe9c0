"""Sentences of pages about the claims and the setting of a paper."""

from __future__ import annotations

from ackclock.draw.figure import Table
from ackclock.reproduction.claims.losses import LEAST, MOST
from ackclock.reproduction.paper import Chosen, Paper
from ackclock.reproduction.record import ArtefactRecord, ClaimRecord, LossesRecord, state
from ackclock.reproduction.shown import classes
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.crossvalidation import Validation
from ackclock.reproduction.trials.settings import Item, declared, name_of


def setting_rows(paper: Paper) -> list[list[str]]:
    """Return a row per item of a setting: quantity, choice, basis, evidence, other values.

    A value that no search has tried yet says so.
    """
    rows = []
    for item in paper.items:
        value = item.find(paper.setting[item.name]) if item.name else item.values[0]
        inferred = item.is_open and value is not item.values[0]
        known = [trial.setting[item.name] for trial in paper.trials] if item.name else []
        others = [
            f"{item.words(other.value)} ({other.basis}: {other.evidence})"
            + ("" if other.value in known or not known else ", not tried by a search")
            for other in item.values
            if other is not value
        ]
        rows.append(
            [
                item.quantity,
                item.words(value.value) + _other_value(paper, item),
                f"{value.basis}, inferred" if inferred else str(value.basis),
                value.evidence,
                "; ".join(others),
            ]
        )
    return rows


def _other_value(paper: Paper, item: Item) -> str:
    """Return the value of an item at the other setting, in brackets, where it differs."""
    if paper.alternative is None or not item.name:
        return ""
    other = paper.alternative[item.name]
    return "" if other == paper.setting[item.name] else f" (at the other setting: {item.words(other)})"


def gain(paper: Paper) -> str:
    """Return the gain of the inferred setting, as sentences; empty if no setting was tried."""
    if paper.inferred is None:
        return ""
    return " ".join(filter(None, (_gain(paper, paper.inferred), losses(paper))))


def losses(paper: Paper) -> str:
    """Return the effect of the condition on losses on the settings tried, as sentences; empty if unknown."""
    known = {name_of(trial.setting): trial for trial in paper.trials if tried.LOSSES in trial.scores}
    if paper.losses is None or not known:
        return ""
    impossible = [trial for trial in known.values() if not trial.possible]
    words = [
        f"The paper says: “{paper.losses.words}” ({paper.losses.source}). At {len(impossible)} of the "
        f"{len(known)} settings where it was measured, the share of drops of a kind of flow decidedly leaves "
        f"{LEAST:g} to {MOST:g} times its share of packets, and these are impossible."
    ]
    kept = known.get(name_of(paper.setting))
    first = known.get(name_of(declared(paper.items)))
    if kept is not None and not kept.possible:
        departure = kept.scores[tried.LOSSES]
        words.append(
            "Every declared value is among them, so the least violating one is kept, at which the shares "
            f"differ by a factor of {departure:.3g}."
        )
    elif first is not None and not first.possible:
        words.append("The declared setting is among them; another, which is possible, stands in for it.")
    return " ".join(words)


def _gain(paper: Paper, inferred: Chosen) -> str:
    tries = len({str(trial.setting) for trial in paper.trials})
    validation = inferred.validation
    if validation is None:
        return f"{tries} settings were tried. {_earlier_gain(inferred)}"
    words = [f"{tries} settings were tried."]
    if validation.best:
        declared, best = validation.scores[0], validation.scores[validation.best]
        words.append(
            f"The best scores {best:.2f} and the declared one {declared:.2f}; cross-validated over artefacts "
            f"and seeds, the gain is {validation.gain:.2f} with a standard error of {validation.error:.2f}."
        )
    if paper.alternative is not None:
        words.append(
            "The two cannot be distinguished, so both are kept: the declared one as the paper's setting, the "
            "best one as the other setting."
        )
    elif not validation.accepted:
        words.append("No setting has a better score than the declared one.")
    words += [own(paper, name, test) for name, test in inferred.own.items() if test.best]
    if validation.planned is not None:
        before, after = validation.planned.declared, validation.planned.best
        words.append(
            f"{_named(paper)} If only the claims named to choose are used, the score of those named to test "
            f"changes from {before:.2f} to {after:.2f}."
        )
    return " ".join(words)


def own(paper: Paper, name: str, test: Validation) -> str:
    """Return the result for an item that a single artefact has, as a sentence."""
    item = next(item for item in paper.items if item.name == name)
    first, best = (item.words(test.finalists[index][name]) for index in (0, test.best))
    verdict = "is chosen" if test.accepted else f"does not replace {first}"
    return (
        f"Of {item.quantity}, which one artefact has, {best} {verdict}: cross-validated over its claims and "
        f"seeds, the gain is {test.gain:.2f} with a standard error of {test.error:.2f}."
    )


def _earlier_gain(chosen: Chosen) -> str:
    """Return the result of a search of an earlier version, with claims that choose and claims that test."""
    words = [
        f"{label} from {chosen.scores['declared'][name]:.2f} to {chosen.scores['best'][name]:.2f}"
        for name, label in (("fit", "of the claims that chose it"), ("held_out", "of those held out"))
        if name in chosen.scores["declared"] and name in chosen.scores["best"]
    ]
    kept = "" if chosen.accepted else " The declared setting is kept, because no other gains."
    return f"The best changes the mean score {' and '.join(words)}.{kept}"


def _named(paper: Paper) -> str:
    """Return how many claims were named before any run, as a sentence."""
    assert paper.inference is not None  # noqa: S101
    every = {artefact.name: len(artefact.claims) for artefact in paper.artefacts}
    named = [
        sum(every[name] if "*" in claims else len(claims) for name, claims in claims_of.items())
        for claims_of in (paper.inference.fit, paper.inference.held_out)
    ]
    rest = sum(every.values()) - sum(named)
    return (
        f"Before any run, {named[0]} claims were named to choose a setting and {named[1]} to test it; the "
        f"other {rest} were written later or not named."
    )


def at_other_setting(claim: ClaimRecord) -> str:
    """Return the outcome of a claim at the other setting; empty if that is the same or there is none."""
    other = claim.get("alternative")
    return f"{other['measured']}: {other['verdict']}" if other else ""


def in_ns2(claim: ClaimRecord) -> str:
    """Return the result of ns-2 for a claim and, if the claim fails here, why that proves nothing yet."""
    known = claim.get("ns2")
    if known is None:
        return ""
    reasons = classes.lacking(claim) if state(claim) == "does not hold" else []
    return f"{known['measured']}: {'; '.join(reasons)}" if reasons else known["measured"]


def losses_table(record: ArtefactRecord) -> Table | None:
    """Return drops over packets by case and kind of flow; None where no kinds of flow share a link."""
    every = record.get("losses")
    if not every:
        return None
    heads = ["case", "flows", "drops over packets", "runs", "drops in the run with the fewest"]
    return Table(
        heads,
        [
            [of["case"], of["kind"], losses_words(of), str(of["runs"]), str(of["fewest_drops"])]
            for of in every
        ],
    )


def losses_words(of_kind: LossesRecord) -> str:
    """Return drops over packets of a kind of flow with the interval."""
    ends = (of_kind["low"], of_kind["high"])
    interval = "" if None in ends else f" [{of_kind['low']:.3g}, {of_kind['high']:.3g}]"
    return f"{of_kind['drops_over_packets']:.3g}{interval}"


def explained(claim: ClaimRecord) -> str:
    """Return the reasons of a claim's verdict, as sentences."""
    sentences = [robustness(claim), single_runs(claim), _halves(claim), former_check(claim), claim["finding"]]
    return " ".join(filter(None, sentences))


def former_check(claim: ClaimRecord) -> str:
    """Return the result of the former check, as a sentence; the check was changed after its run."""
    former = claim.get("former")
    if former is None:
        return ""
    verdict = "undecided" if former["undecided"] else "holds" if former["holds"] else "does not hold"
    return f"Under the former check: {verdict} ({former['measured']}; {former['tolerance']})."


def single_runs(claim: ClaimRecord) -> str:
    """Return in how many single runs a claim holds, as a sentence."""
    counted = claim.get("single_runs")
    if counted is None:
        return ""
    share = f"[{counted['low']:.0%}, {counted['high']:.0%}]"
    return f"It holds in {counted['hold']} of {counted['runs']} single runs {share}."


def _halves(claim: ClaimRecord) -> str:
    """Return the outcomes of the two halves of the runs, as a sentence, if they do not agree."""
    halves = claim.get("halves")
    if not halves or halves["even"] == halves["odd"]:
        return ""
    words = {True: "it holds", False: "it does not hold", None: "it is undecided"}
    return f"In the even runs {words[halves['even']]}; in the odd ones {words[halves['odd']]}."


def robustness(claim: ClaimRecord) -> str:
    """Return at which settings a claim holds, as a sentence."""
    holding, settings = claim["holding_settings"], claim["tried_settings"]
    on = f"; it depends on {claim['depends_on']}" if claim["depends_on"] else ""
    return {
        "reproduced": f"Holds at {holding} of {settings} plausible settings{on}." if settings else "",
        "undecided": "The 95 % interval allows both answers; more runs would decide.",
        "depends": f"Depends on the setting: holds at {holding} of {settings} plausible ones{on}.",
        "not found": f"Not found at {settings} settings.",
        "contradicted": "The paper contradicts itself.",
        "differs": f"Fails at {settings} settings, which are not every reading, alone and with others."
        if settings
        else "No other setting was tried.",
    }[claim["verdict"]]
