"""The first sentence of a comparison: which control suits the path, and why."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.comparison.answers import Comparison
from ackclock.comparison.measures import LIMITS
from ackclock.comparison.questions import BY_KEY
from ackclock.comparison.ranking import Ranking, more_runs, rank
from ackclock.comparison.words import rounded
from ackclock.names import counted

STARVED = 25.0
"""Share, in per cent, below which a flow next to an equal one is starved: half of a fair share."""
FULL = 0.8
"""Share of the link below which even the highest goodput needs a reason."""
HELD = 0.5
"""The receiver limits a flow if its window is full for more than this share of the time."""
FEW = {2: "two", 3: "three", 4: "four", 5: "five"}
FACTOR = 5.0
"""Goodputs that differ by more are not written as one range."""
STANDING = 0.3
"""Share of the buffer that is filled on average by a control that fills it, between its losses."""


def answer(comparison: Comparison, where: str = "On this path") -> str:
    """Return the first sentence: goodput, then the queues of those with the highest, then starvation.

    `where` begins the sentence.
    """
    rates = rank(comparison, BY_KEY["goodput"])
    if not rates.standings:
        return f"{where} no packet arrives."
    clauses = [_goodput(comparison, rates)]
    behind = _groups(comparison, rates)
    for index, (reason, names) in enumerate(behind):
        # A reason that several groups share is written once, at the last of them.
        is_last = index + 1 == len(behind) or behind[index + 1][0] != reason
        because = f" because {reason}" if reason and is_last else ""
        clauses.append(f"{listed(names)} {_verb(names, 'reaches', 'reach')} {_range(rates, names)}{because}")
    clauses.extend(_undecided(rates))
    if len(rates.leaders) > 1:
        clauses.extend(_queues(comparison, rates.leaders))
    clauses.extend(_starved(comparison))
    return f"{where} {'; '.join(clauses)}."


def listed(names: Sequence[str], joined: str = "and") -> str:
    """Return names as in a sentence: a, b and c."""
    return f" {joined} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def where(comparison: Comparison) -> str:
    """Return the path in a few words."""
    path = comparison.setting.path
    name = comparison.setting.name
    loss = f", {100 * comparison.setting.loss:g} % lost" if comparison.setting.loss else ""
    return f"{name}{': ' if name else ''}{rounded(path.rate_mbps, 4)} Mbit/s, {path.rtt_ms:g} ms{loss}"


def _verb(names: Sequence[str], of_one: str, of_several: str) -> str:
    return of_one if len(names) == 1 else of_several


def _range(ranking: Ranking, names: Sequence[str], unit: str = "") -> str:
    lowest, highest = (rounded(choose(ranking.means[name] for name in names)) for choose in (min, max))
    return (lowest if lowest == highest else f"{lowest} to {highest}") + unit


def _goodput(comparison: Comparison, rates: Ranking) -> str:
    leaders = rates.leaders
    limit = comparison.setting.path.rate_mbps
    if not leaders:
        between = f"{_range(rates, list(rates.standings))} of {rounded(limit, 4)} Mbit/s"
        clause = f"the runs do not tell which control has the highest goodput alone ({between})"
        return f"{clause}{more_runs(rates.fewest)}"
    numbers = f"{_range(rates, leaders)} of {rounded(limit, 4)} Mbit/s"
    best = max(rates.means[name] for name in leaders)
    reason = limit_of(comparison, leaders[0]) if best < FULL * limit else ""
    if len(comparison.controls) == 1:
        delay = comparison.estimates["delay"][leaders[0]].value
        because = f" because {reason}" if reason else ""
        return f"{leaders[0]} reaches {numbers} alone{because}, with {rounded(delay)} ms of queueing delay"
    numbers += f", because {reason}" if reason else ""
    if len(leaders) == len(rates.standings):
        return f"{listed(leaders)} have similar goodput alone ({numbers}){but_for(rates)}"
    having = f"{listed(leaders)} {_verb(leaders, 'has', 'have')} the highest goodput alone ({numbers})"
    return f"{having}{but_for(rates)}"


def but_for(ranking: Ranking) -> str:
    """Return, for controls that are alike, how often one may collapse without being noticed."""
    if len(ranking.leaders) < 2:
        return ""
    runs = counted(min(ranking.runs.values()), "run")
    return f", though {runs} may miss a collapse in up to {ranking.missed} of all"


def _groups(comparison: Comparison, rates: Ranking) -> list[tuple[str, list[str]]]:
    """Return the controls that are behind by reason, the largest goodputs first.

    Goodputs that differ by more than a factor are not in one group.
    """
    groups: list[tuple[str, list[str]]] = []
    for name in sorted(rates.at("behind"), key=lambda name: -rates.means[name]):
        reason = limit_of(comparison, name)
        last = groups[-1] if groups else ("", [])
        if last[1] and last[0] == reason and rates.means[last[1][0]] < FACTOR * rates.means[name]:
            last[1].append(name)
        else:
            groups.append((reason, [name]))
    return groups


def limit_of(comparison: Comparison, control: str) -> str:
    """Return the limit of a control's goodput alone, in words, from the counts of its runs."""
    causes = comparison.causes.get(control)
    if causes is None:
        return ""
    path, kind = comparison.setting.path, comparison.setting.kind
    if causes["limited_by_receiver"] > HELD:
        return "the receive window is full"
    if causes["random_losses"] > max(causes["queue_drops"], causes["marks"]):
        share = comparison.setting.loss
        lost = 100 * share if share else comparison.estimates["loss"][control].value
        return f"{lost:.2g} % of the packets are lost at random"
    if causes["marks"] > causes["queue_drops"]:
        return f"{kind} marks packets before the link is full"
    share = path.buffer_packets / path.bdp_packets
    if causes["queue_drops"]:
        if kind != "droptail":
            return f"{kind} drops packets before the link is full"
        if share < 1:
            return f"the buffer, {share:.2g} times the bandwidth-delay product, empties after a loss"
        return "the window grows slowly after a loss in the buffer"
    if causes["earlier_drops"]:
        at = "" if kind != "droptail" else f" in a buffer of {share:.2g} times the bandwidth-delay product"
        return f"a loss{at} cut the window early, and it has not grown to the path since"
    return "the window has not grown to the path, though no packet was lost"


def held_by(comparison: Comparison, control: str) -> str:
    """Return the most frequent limit of a control alone, and its share of the time."""
    shares = {key.removeprefix("limited_by_"): comparison.causes[control][key] for key in LIMITS}
    largest = max(shares, key=lambda what: shares[what])
    return f"{largest}, {100 * shares[largest]:.0f} %" if shares[largest] else "-"


def _undecided(ranking: Ranking, unit: str = "") -> list[str]:
    if not ranking.leaders:
        return []
    return [
        f"{name} ({rounded(ranking.means[name])}{unit}) is undecided{more_runs(ranking.more_runs[name])}"
        for name in ranking.at("undecided")
    ]


def _queues(comparison: Comparison, leaders: Sequence[str]) -> list[str]:
    """Return the clauses about the queueing delay of controls that carry the same."""
    delays = rank(comparison, BY_KEY["delay"], leaders)
    shortest, longer = delays.leaders, delays.at("behind")
    if not shortest:
        if not delays.standings:
            return []
        between = _range(delays, list(delays.standings), " ms")
        return [f"the runs do not tell whose queue is shortest ({between}){more_runs(delays.fewest)}"]
    if len(shortest) == len(leaders):
        reason = ", because they fill the buffer" if all(_fills(comparison, name) for name in leaders) else ""
        return [f"their queueing delay is similar ({_range(delays, leaders, ' ms')}{reason})"]
    number = FEW.get(len(leaders), str(len(leaders)))
    of_these = "" if len(leaders) == len(comparison.controls) else f"of these {number}, "
    clauses = [
        f"{of_these}{listed(shortest)} {_verb(shortest, 'keeps', 'keep')} the shortest queue"
        f" ({_range(delays, shortest, ' ms')})"
    ]
    filling = [name for name in longer if _fills(comparison, name)]
    for names in (filling, [name for name in longer if name not in filling]):
        if names:
            because = (
                f" because {_verb(names, 'it fills', 'they fill')} the buffer" if names is filling else ""
            )
            clauses.append(
                f"{listed(names)} {_verb(names, 'delays', 'delay')} packets by {_range(delays, names, ' ms')}"
                f"{because}"
            )
    return clauses + _undecided(delays, " ms")


def _fills(comparison: Comparison, control: str) -> bool:
    """Return whether a control alone keeps a drop-tail buffer full, on average between its losses."""
    path = comparison.setting.path
    longest_ms = 1e3 * path.buffer_packets / path.packets_per_second
    return (
        comparison.setting.kind == "droptail"
        and comparison.estimates["delay"][control].value > STANDING * longest_ms
    )


def starved(comparison: Comparison) -> list[str]:
    """Return the controls that are starved where they share the link with Reno."""
    answers = comparison.estimates["beside_reno"]
    return [name for name in comparison.controls if answers[name].high < STARVED]


def _starved(comparison: Comparison) -> list[str]:
    answers, names = comparison.estimates["beside_reno"], starved(comparison)
    if not names:
        return []
    shares = listed([f"{answers[name].value:.2g}" for name in names])
    return [f"{listed(names)} {_verb(names, 'is', 'are')} starved next to Reno ({shares} % of the goodput)"]
