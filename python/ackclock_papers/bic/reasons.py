"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

NEVER = "Flows that lose together keep what they had: Scalable's windows have no point to converge to (docs/theory.md, divergence), and HSTCP's go there only over many epochs. The ratio is that of the starts."
BUFFER = "Chance and the buffer: a queue of up to 100 ms makes round trips of 40 and 240 ms more alike, 140 to 340. Tried at 100 Mbit/s: half and twice the buffer, the minimum RTO and other seeds move the ratios by up to a factor of three; with twice the buffer HSTCP has 8.8 and STCP 18 and 49 at ratios 3 and 6, as in the paper."
FAST = "Chance: a run of the paper and one of ours are two draws. Tried: two shorter runs give AIMD 4.9 at ratio 3 and BI-TCP 6.5 and 19 at ratios 3 and 6, and BI-TCP 37 at 6 with NewReno or a minimum RTO of 1 s; other seeds and the buffer move them by factors of two to four."
RED = "It depends on RED's thresholds, which are open (ours are a quarter and three quarters of the buffer), and on chance. Tried: with half the buffer HSTCP has 0.945 and STCP 0.983, with twice STCP has 0.975; other seeds, NewReno and timers move them from 0.44 to 1."

REASONS: dict[str, dict[str, str]] = {
    "figure-2": {
        "*": "Chance, of which the paper has more: our web sessions are 0.6 % of this link, the paper's are 7 %. Tried: with droptail half of the epochs with half the buffer and a third with a minimum RTO of 1 s; with RED a quarter with other seeds."
    },
    "figure-3": {"*": NEVER},
    "figure-9": {
        "2.5 Gbit/s: STCP most aggressive, then HSTCP, then BI-TCP": "All three take what two Renos and a little background leave, 91 to 92 % of the link, so there is no order to see.",
        "HSTCP: utilisation with RED": RED,
        "STCP: utilisation with RED": RED,
        "20 Mbit/s: HSTCP and STCP leave almost twice as much unused as AIMD and BI-TCP": "Not found: nothing that was tried changes it (half and twice the buffer, NewReno, minimum RTO, overhead, seeds).",
    },
    "table-1": {
        "HSTCP: equal RTTs share equally": NEVER,
        "STCP: equal RTTs share equally": NEVER,
        "STCP: RTT ratio 3": NEVER,
        "STCP: RTT ratio 6": NEVER,
        "*": FAST,
    },
    "table-2": {
        "HSTCP: equal RTTs share equally": NEVER,
        "STCP: equal RTTs share equally": NEVER,
        "STCP: RTT ratio 3": NEVER,
        "STCP: RTT ratio 6": NEVER,
        "*": FAST,
    },
    "table-3": {"STCP: equal RTTs share equally": NEVER, "*": BUFFER},
}
