"""What is known of claims that do not hold: each sentence computes its numbers."""

from __future__ import annotations

from ackclock.models import smoothness, timeouts
from ackclock.names import slug
from ackclock.reproduction import ns2, quoted
from ackclock.reproduction.claims.artefact import Evidence, Finding
from ackclock.reproduction.claims.least import ALMOST
from ackclock.reproduction.claims.numbers import Numbers
from ackclock_papers.transient.figures_3_to_6 import LOSSES
from ackclock_papers.transient.figures_29_to_36 import EMPTY
from ackclock_papers.transient.measure import in_round_trips
from ackclock_papers.transient.setting import GAIMD, LINK_PACKETS_PER_S, RTT_S, TCP, TEAR, TFRC, LossyFlow
from ackclock_papers.transient.table_1 import OneLossyFlow

EMPTY_LOW = 3
"""Packets in the fifth percentile of a queue that is emptied, as figure 11 has it."""
QUOTED = quoted.load("ackclock_papers.transient")
REFILLING = (TCP, GAIMD, TFRC)
"""Protocols for which the study says in how many round trips the queue is full again."""


def _tfrc_cov(_numbers: Numbers) -> Evidence:
    cov = _in_ns_2("figure-6", slug("tfrc-at", LOSSES[-1])).mean
    share = _in_ns_2("figure-5", "tfrc-drops-to-almost-0").mean
    # The study's TFRC is the least smooth there and sends almost nothing.
    others = _in_ns_2("figure-6", slug("tcp-at", LOSSES[-1])).mean
    return Evidence(cov < others and share > ALMOST, {"cov": cov, "others": others, "share": share})


def _tear(numbers: Numbers) -> Evidence:
    """Compare the model of TEAR under Bernoulli losses with the runs at every loss rate."""
    windows = smoothness.cov_at_bernoulli_losses(0.5)
    rate = smoothness.tear_factor(0.25) * windows
    lossy = [
        case for case in numbers.rows if isinstance(case, LossyFlow | OneLossyFlow) and case.protocol is TEAR
    ]
    covs = [numbers.of(case, "cov").value for case in lossy]
    values = {"windows": windows, "rate": rate, "least": min(covs), "most": max(covs)}
    return Evidence(max(abs(cov / rate - 1) for cov in covs) < 0.15, values)


def _halved_window(numbers: Numbers) -> Evidence:
    """Compare the shortest queue with what a halved window leaves, where the window grows steadily."""
    largest, low = (numbers.of(TCP, key).value for key in ("largest_window", "queue_low"))
    path = LINK_PACKETS_PER_S * RTT_S
    half = largest / 2
    waiting = half - path
    # In a twentieth of the time the window regains a twentieth of its half.
    expected = waiting + 0.05 * half
    values = {"largest": largest, "half": half, "path": path, "waiting": waiting, "low": low}
    return Evidence(low > EMPTY_LOW and abs(low - expected) < 1, values)


def _in_ns_2(artefact: str, claim: str) -> ns2.Measured:
    return ns2.measured(__package__, artefact, claim)


def _fairness_of_eight(numbers: Numbers) -> Evidence:
    tcp, gaimd = (
        _in_ns_2("figure-13", slug("f-fluctuates-around-0.7-with", protocol)).mean
        for protocol in (TCP, GAIMD)
    )
    here = numbers.of(TCP, "fairness").value
    # Two programs that nobody wrote for each other.
    return Evidence(abs(here - tcp) < 0.05, {"tcp": tcp, "gaimd": gaimd, "here": here})


def _gaimd(numbers: Numbers) -> Evidence:
    """Compare Poisson losses with those that come sooner to larger windows, in the limit of low loss."""
    cov = smoothness.aimd_bernoulli(1e-6, 0.31, 0.875).cov
    fair = float(smoothness.jain_of_cov(cov))
    runs = _in_ns_2("figure-16", "f-gaimd-slightly-below-0.93").runs
    values = {"cov": cov, "fair": fair, "least": min(runs), "most": max(runs)}
    return Evidence(numbers.of(GAIMD, "fairness").value < fair and max(runs) < fair, values)


def _queue_refill(numbers: Numbers) -> Evidence:
    """Compare ns-2's times to refill the queue, and its shortest queues of GAIMD, with those of the runs."""
    refills = {protocol: _in_ns_2("figure-36", slug(protocol, "fills-queue-again")) for protocol in REFILLING}
    here = {protocol: in_round_trips(numbers, protocol, "refill_s").value for protocol in REFILLING}
    gaimd = _in_ns_2("figure-36", slug(GAIMD, "queue-drops-to-0")).runs
    values = {"least": min(gaimd), "most": max(gaimd)}
    for protocol, refill in refills.items():
        values |= {str(protocol).lower(): refill.mean, f"{str(protocol).lower()}_here": here[protocol]}
    # ns-2.35's TFRC is newer than the study's, and still within a factor of 1.5.
    alike = all(1 / 1.5 < here[protocol] / refill.mean < 1.5 for protocol, refill in refills.items())
    # The same program empties the queue in a run and not in the next.
    return Evidence(alike and min(gaimd) <= EMPTY < max(gaimd), values)


def _formula_41(_numbers: Numbers) -> Evidence:
    p, t = 0.2, 4
    values = {"p": p, "t": t, "as_printed": timeouts.printed_cov(p, t), "chain": timeouts.cov(p, t)}
    values |= {
        "text": QUOTED.of("the paper", "formula_7"),
        "section": QUOTED.of("the paper", "section_3.3.1"),
    }
    # Not by rounding: the text has two digits.
    apart = min(values["as_printed"], values["chain"]) - max(values["text"], values["section"])
    return Evidence(apart > 0.05, values)


FINDINGS = (
    Finding(
        "ns-2-tfrc-cov",
        "ns-2.35, whose TFRC is newer than the study's: at the highest loss rate TFRC has a CoV of "
        "{cov:.2f}, TCP one of {others:.2f}, and TFRC's rate is {share:.2f} of TCP's.",
        _tfrc_cov,
    ),
    Finding(
        "losses-sooner-to-larger-windows",
        "Losses that come sooner to a larger window give the emulated windows a CoV of {windows:.2f} and "
        "TEAR's rate one of {rate:.2f} (docs/theory.md), whatever the loss rate: here it is {least:.2f} to "
        "{most:.2f}. The authors' code is not at hand.",
        _tear,
    ),
    Finding(
        "halved-window-fills-path",
        "{largest:.0f} packets halve to {half:.0f}, of which {path:.0f} fill the path, so {waiting:.0f} "
        "still wait. The fifth percentile of the queue is {low:.0f}.",
        _halved_window,
    ),
    Finding(
        "ns-2-fairness-of-eight",
        "ns-2.35 at this setting: F of eight TCP flows is {tcp:.2f}, here {here:.2f}, and {gaimd:.2f} where "
        "one of them is GAIMD.",
        _fairness_of_eight,
    ),
    Finding(
        "losses-sooner-gaimd",
        "Losses come sooner to larger windows: GAIMD's CoV is then {cov:.2f} and F {fair:.2f} "
        "(docs/theory.md), not what Poisson losses would give. ns-2.35 has {least:.2f} to {most:.2f}.",
        _gaimd,
    ),
    Finding(
        "ns-2-queue-refill",
        "ns-2.35 at this setting: the queue is full again after {tcp:.0f} round trips with TCP, {gaimd:.0f} "
        "with GAIMD and {tfrc:.0f} with TFRC, here after {tcp_here:.0f}, {gaimd_here:.0f} and "
        "{tfrc_here:.0f}. With GAIMD the shortest queue of a run has {least:.0f} to {most:.0f} packets.",
        _queue_refill,
    ),
    Finding(
        "formula-41-as-printed",
        "The formula as printed gives {as_printed:.2f} at p = {p:g} and t = {t}, the values that the text "
        "puts into it; it prints {text:g} next to equation 7, and {section:g} in section 3.3.1. The chain "
        "itself gives {chain:.2f} (figure 37).",
        _formula_41,
        contradiction=True,
    ),
)
