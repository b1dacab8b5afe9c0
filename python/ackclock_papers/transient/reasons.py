"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

RFC = (
    "Most likely: ours is RFC 5348; the study ran a snapshot of ns-2 from June 2000, whose equation and timers at "
    "high loss are not known."
)
TEAR_FLAT = (
    "Losses that come sooner to a larger window give the emulated windows a CoV of 0.38 and TEAR's "
    "rate one of 0.17 (docs/theory.md); at high loss the window of two or three packets hardly moves."
)
GROWS = (
    "A full droptail queue that ACK clocks feed drops what growing windows add (docs/theory.md, "
    "Illinois beside Reno): GAIMD adds 0.31 packets per round trip where TCP adds one, so it loses "
    "less often and takes more than its share. Tried: with an overhead of 10 ms in place of 1 ms, "
    "three packets' time, chance decides whose packet is dropped and the claim holds."
)
OVERHEAD = (
    "Tried: it depends on the overhead, which the text calls small. With 10 ms in place of 1 ms, three "
    "packets' time, the claim holds."
)

REASONS: dict[str, dict[str, str]] = {
    "figure-3": {
        "*": "Counting: at 4.6 packets per round trip even a constant rate shows 4 or 5 of them, a "
        "CoV of 0.11. That is most of TFRC's."
    },
    "figure-5": {"*": RFC},
    "figure-6": {
        "TEAR at 1%": TEAR_FLAT,
        "TEAR at 20%": TEAR_FLAT,
        "TEAR: CoV grows with the loss rate": TEAR_FLAT,
        "*": RFC,
    },
    "figure-7": {
        "*": "Most likely: the ON/OFF sources fill a third of the link on average, so TCP loses less often than "
        "at 1 %, the Bernoulli rate that was chosen to compare with; the text names none."
    },
    "figure-11": {
        "TCP empties the queue": "Arithmetic: 81 packets halve to 40, of which 31 fill the path, so 9 "
        "wait; the queue empties only for a moment of the recovery.",
        "*": "Most likely: our TEAR obeys a report in every round trip and steps down by a weighted epoch at a "
        "time, so its cycle is shorter and it drains the queue only briefly; the study ran the "
        "authors' own code.",
    },
    "figure-12": {"*": GROWS},
    "figure-13": {"*": OVERHEAD},
    "figure-16": {
        "*": "Losses come sooner to larger windows: GAIMD's CoV is then 0.18 and F 0.97 "
        "(docs/theory.md), not the 0.93 of Poisson losses. Tried: 0.90 with an overhead of 10 ms."
    },
    "figure-18": {"*": TEAR_FLAT},
    "figure-21": {"*": OVERHEAD},
    "figure-25": {
        "*": "Tried: TCP, GAIMD and TEAR dip with an overhead of 10 ms. Most likely also: a mean over a round trip of a quarter of a second hides the shortest dips; the old "
        "flows give way in different round trips."
    },
    "figure-26": {"*": GROWS},
    "figure-27": {
        "*": "Most likely: new TEAR flows begin with the emulated window of slow start and its first losses come "
        "one by one, so the old flows give way a little at a time."
    },
    "figure-28": {
        "*": "Most likely: TFRC's new flows remember the loss interval of their slow start for eight intervals, "
        "TEAR's forget it with their epochs."
    },
    "figure-34": {"*": OVERHEAD},
    "figure-35": {
        "*": "Most likely: with sixteen flows a TFRC flow has five packets per round trip; whole packets take 0.03 "
        "from F."
    },
    "figure-36": {
        "TCP: the queue drops to 0": "Tried: with half the buffer it does.",
        "GAIMD: the queue drops to 0": "Tried: with half the buffer it does.",
        "*": "Most likely the unit: the queue makes the round trip a quarter of a second, and we count in it; the "
        "study's axis may count in 100 ms. Eight flows that gain 1 packet per round trip each "
        "fill 40 packets in five of them.",
    },
    "table-1": {
        "F of TCP": OVERHEAD,
        "CoV of TEAR at 20%": TEAR_FLAT,
        "CoV of GAIMD at 20%": "Tried: with a minimum timeout of 1 s it is 1.74; ours has 400 ms, the "
        "study's is not known.",
        "CoV of GAIMD at 2%": "Tried: 0.26 with NewReno. The paper's 0.26 is the formula for Poisson losses; whole packets and recovery add "
        "to the 0.18 of Bernoulli losses (docs/theory.md).",
        "*": RFC,
    },
}
