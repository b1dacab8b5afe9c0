"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

NEVER = "Flows that lose together keep what they had: Scalable's windows have no point to converge to (docs/theory.md, divergence), and HSTCP's go there only over many epochs. The ratio is that of the starts."
BUFFER = "Most likely the buffer, the background and chance: a queue of up to 100 ms makes round trips of 40 and 240 ms more alike, 140 to 340. Tried at 100 Mbit/s: half and twice the buffer and other seeds move the ratios by up to a factor of three."

REASONS: dict[str, dict[str, str]] = {
    "figure-2": {
        "*": "Most likely the background: our web sessions are 0.6 % of this link, the paper's 7 %, so less is left to chance."
    },
    "figure-3": {"*": NEVER},
    "figure-9": {
        "2.5 Gbit/s: STCP most aggressive, then HSTCP, then BI-TCP": "All three take what two Renos and a little background leave, 91 to 92 % of the link, so there is no order to see.",
        "HSTCP: utilisation with RED": "Most likely RED's thresholds, which are open: with a quarter and three quarters of the buffer it stays full.",
        "STCP: utilisation with RED": "Most likely RED's thresholds, which are open: with a quarter and three quarters of the buffer it stays full.",
    },
    "table-1": {
        "HSTCP: equal RTTs share equally": NEVER,
        "STCP: equal RTTs share equally": NEVER,
        "STCP: RTT ratio 3": NEVER,
        "STCP: RTT ratio 6": NEVER,
        "*": BUFFER,
    },
    "table-2": {
        "HSTCP: equal RTTs share equally": NEVER,
        "STCP: equal RTTs share equally": NEVER,
        "STCP: RTT ratio 3": NEVER,
        "STCP: RTT ratio 6": NEVER,
        "*": BUFFER,
    },
    "table-3": {"STCP: equal RTTs share equally": NEVER, "*": BUFFER},
}
