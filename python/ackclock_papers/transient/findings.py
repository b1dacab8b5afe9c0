"""What is known of claims that do not hold: each sentence computes its numbers."""

from __future__ import annotations

from ackclock.engine.names import slug
from ackclock.models import smoothness, timeouts
from ackclock.reproduction import quoted
from ackclock.reproduction.artefact import Evidence, Finding
from ackclock.reproduction.numbers import Numbers
from ackclock_papers.transient.figures_7_to_11 import EMPTY_LOW
from ackclock_papers.transient.figures_29_to_36 import EMPTY
from ackclock_papers.transient.setting import (
    BUFFER_PACKETS,
    GAIMD,
    LINK_PACKETS_PER_S,
    RTT_S,
    TCP,
    TEAR,
    TFRC,
    LossyFlow,
)
from ackclock_papers.transient.table_1 import OneLossyFlow

NS_2 = quoted.load("ackclock_papers.transient")


def _tfrc_cov(_numbers: Numbers) -> Evidence:
    old = [NS_2.of(f"TFRC before ns-2.1b8, {loss} %", "cov") for loss in (15, 20)]
    values = {
        "old_15": old[0],
        "old_20": old[1],
        "old_packets": NS_2.of("TFRC before ns-2.1b8, 20 %", "packets"),
        "new_20": NS_2.of("tfrc 0.2", "cov"),
        "new_packets": NS_2.of("tfrc 0.2", "packets"),
    }
    return Evidence(old[1] > values["new_20"], values)


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
    path = LINK_PACKETS_PER_S * RTT_S
    full = path + BUFFER_PACKETS
    half = full // 2
    waiting = half - path
    values = {"full": full, "half": half, "path": path, "waiting": waiting}
    return Evidence(EMPTY_LOW < numbers.of(TCP, "queue_low").value <= waiting, values)


def _fairness_of_eight(_numbers: Numbers) -> Evidence:
    overheads = ("1", "3.2", "10", "20")
    fairness = [NS_2.of(f"eight TCP flows, overhead {ms} ms", "fairness") for ms in overheads]
    shares = [
        NS_2.of(f"GAIMD next to seven TCP flows, overhead {ms} ms", "share_over_tcp")
        for ms in (overheads[0], overheads[2])
    ]
    values = {
        "tcp": ", ".join(f"{f:.2f} with {ms} ms" for f, ms in zip(fairness, overheads, strict=True)),
        "least": overheads[0],
        "more": overheads[2],
        "share_least": shares[0],
        "share_more": shares[1],
    }
    return Evidence(fairness == sorted(fairness, reverse=True) and shares[0] > shares[1], values)


def _gaimd(numbers: Numbers) -> Evidence:
    """Compare Poisson losses with those that come sooner to larger windows, in the limit of low loss."""
    cov = smoothness.aimd_bernoulli(1e-6, 0.31, 0.875).cov
    fair = float(smoothness.jain_of_cov(cov))
    least, most = (
        NS_2.of(f"eight GAIMD flows, {end} of all overheads", "fairness") for end in ("least", "most")
    )
    values = {"cov": cov, "fair": fair, "least": least, "most": most}
    return Evidence(numbers.of(GAIMD, "fairness").value < fair and most < fair, values)


def _queue_refill(_numbers: Numbers) -> Evidence:
    def ns_2(protocol: str, quantity: str) -> float:
        return NS_2.of(f"16 to 8 {protocol} flows, overhead 10 ms", quantity)

    values = {
        "overhead": 10,
        "rtt": 1000 * RTT_S,
        "tcp": ns_2("TCP", "refill_rtts"),
        "tfrc": ns_2("TFRC", "refill_rtts"),
        "tcp_queue": ns_2("TCP", "least_queue"),
        "gaimd_queue": ns_2("GAIMD", "least_queue"),
    }
    # One queue is emptied as in the paper, the other is not, in one program.
    return Evidence(values["tcp_queue"] <= EMPTY < values["gaimd_queue"], values)


def _formula_41(_numbers: Numbers) -> Evidence:
    p, t = 0.2, 4
    values = {"p": p, "t": t, "as_printed": timeouts.printed_cov(p, t), "chain": timeouts.cov(p, t)}
    values |= {"text": NS_2.of("the paper", "formula_7"), "section": NS_2.of("the paper", "section_3.3.1")}
    # Not by rounding: the text has two digits.
    apart = min(values["as_printed"], values["chain"]) - max(values["text"], values["section"])
    return Evidence(apart > 0.05, values)


FINDINGS = (
    Finding(
        "ns-2-tfrc-cov",
        "Code of TFRC older than ns-2.1b8, ported: a CoV of {old_15:.1f} at the lower of these loss rates "
        "and {old_20:.1f} at the higher, where {old_packets:.2f} packets go out in a tenth of a second. "
        "ns-2.35's TFRC: {new_20:.2f} and {new_packets:.2f} packets.",
        {
            "figure-5": ["tfrc-drops-to-almost-0"],
            "figure-6": [
                "tfrc-passes-tcp-and-gaimd-at-15-percent",
                "tfrc-least-smooth-at-20-percent",
                "tfrc-at-0.2",
            ],
            "table-1": ["cov-tfrc-at-20-percent"],
        },
        _tfrc_cov,
    ),
    Finding(
        "losses-sooner-to-larger-windows",
        "Losses that come sooner to a larger window give the emulated windows a CoV of {windows:.2f} and "
        "TEAR's rate one of {rate:.2f} (docs/theory.md), whatever the loss rate: here it is {least:.2f} to "
        "{most:.2f}. The authors' code is not at hand.",
        {
            "figure-6": ["tear-at-0.01", "tear-cov-grows-with-loss-rate"],
            "table-1": ["cov-tear-at-20-percent"],
        },
        _tear,
    ),
    Finding(
        "halved-window-fills-path",
        "Arithmetic: {full:.0f} packets halve to {half:.0f}, of which {path:.0f} fill the path, so "
        "{waiting:.0f} wait; the queue is shorter only in a moment of the recovery.",
        {"figure-11": ["tcp-empties-queue"]},
        _halved_window,
    ),
    Finding(
        "ns-2-fairness-of-eight",
        "ns-2.35, one run each: F of eight TCP flows is {tcp} of overhead; a GAIMD flow next to seven TCP "
        "flows takes {share_least:.1f} times their share with {least} ms and {share_more:.1f} times with "
        "{more} ms.",
        {"figure-12": ["*"], "figure-13": ["*"]},
        _fairness_of_eight,
    ),
    Finding(
        "losses-sooner-gaimd",
        "Losses come sooner to larger windows: GAIMD's CoV is then {cov:.2f} and F {fair:.2f} "
        "(docs/theory.md), not what Poisson losses would give. ns-2.35 has {least:.2f} to {most:.2f} at "
        "every overhead.",
        {"figure-16": ["f-gaimd-slightly-below-0.93"]},
        _gaimd,
    ),
    Finding(
        "ns-2-queue-refill",
        "ns-2.35 with {overhead} ms of overhead, in round trips of {rtt:.0f} ms: TCP fills the queue in "
        "{tcp:.0f}, TFRC in {tfrc:.0f}; TCP's queue falls to {tcp_queue:.1f} packets, GAIMD's to "
        "{gaimd_queue:.1f} and more.",
        {
            "figure-36": [
                *(slug(protocol, "queue-drops-to-0") for protocol in (TCP, GAIMD)),
                *(slug(protocol, "fills-queue-again") for protocol in (TCP, TFRC)),
            ]
        },
        _queue_refill,
    ),
    Finding(
        "formula-41-as-printed",
        "The formula as printed gives {as_printed:.2f} at p = {p:g} and t = {t}, the values that the text "
        "puts into it; it prints {text:g} next to equation 7, and {section:g} in section 3.3.1. The chain "
        "itself gives {chain:.2f} (figure 37).",
        {"figure-37": ["equation-41-printed"], "table-1": ["cov-tcp-and-gaimd-at-20-percent-formula-7"]},
        _formula_41,
        contradiction=True,
    ),
)
