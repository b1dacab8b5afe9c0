"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

WHO_GROWS = (
    "Flows of one control with different round trips add packets at different rates, but the few "
    "losses of each event fall where chance and the order of packets at the full queue put them; "
    "ns-2's NewReno does not have equal windows either (exponent 0.79). The five seeds differ considerably. "
    "Tried: windows are nearly equal with twice the buffer (exponent -0.3), SACK (0.3) and ten times the "
    "overhead (0.1); with half the buffer 1.5."
)

VEGAS = (
    "A full droptail queue that ACK clocks feed drops what growing windows add, whoever fills the "
    "link (docs/theory.md, Illinois beside Reno), and Vegas adds nothing near congestion."
)

REASONS: dict[str, dict[str, str]] = {
    "figure-11": {"Vegas gets very little beside Reno": VEGAS, "*": WHO_GROWS},
    "figure-13": {"*": WHO_GROWS},
}
