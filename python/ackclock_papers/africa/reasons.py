"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

BUFFER = "The buffer, which is open: losses go with its inverse. Tried: 80 to 1594 packets in figures 3 to 6, and the whole bandwidth-delay product, an eighth and a twentieth in the tables."
AFRICA = "Phases: the overhead of up to 8 microseconds, as printed, is less than the 13 of one packet, so which flow loses repeats. Tried: with ten times as much the ratios are 2.7, 4.6 and 10.6, near the paper's 2.4, 3.6 and 8.5; half and twice the buffer, NewReno and the minimum RTO leave them above."
UTILISATION = "Tried: with eight times the buffer 0.895 against 0.928, with a quarter of it 0.74 against 0.68, so Africa is ahead only where HSTCP's losses empty the queue; NewReno has that, too."

REASONS: dict[str, dict[str, str]] = {
    "figure-3": {"*": BUFFER},
    "figure-4": {"Africa's total utilisation is slightly higher": UTILISATION, "*": BUFFER},
    "figure-5": {"*": BUFFER},
    "figure-6": {"*": BUFFER},
    "figure-7": {
        "it uses what the datagrams leave": "291 packets are 4 % of this path's bandwidth-delay product, too few to keep the link full when the window is cut. Tried: with an eighth of its own product, 817 packets, the claim holds."
    },
    "table-i": {"*": AFRICA},
    "table-ii": {"*": BUFFER},
}
