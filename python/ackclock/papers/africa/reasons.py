"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

BUFFER = (
    "Most likely the buffer, which is open: with the bandwidth-delay product Africa "
    "settles in slow mode for minutes and loses once or twice in a run."
)
SECOND = (
    "Most likely: the flow that starts second sees a queue and takes its delay for part of the propagation; it "
    "stays in fast mode longer."
)

REASONS: dict[str, dict[str, str]] = {
    "figure-3": {"*": BUFFER},
    "figure-4": {
        "Africa's total utilisation is slightly higher": "Both fill the link: the buffer is the "
        "whole bandwidth-delay product.",
        "*": BUFFER,
    },
    "figure-5": {"*": BUFFER},
    "figure-6": {"*": BUFFER},
    "table-i": {"RTT ratio 1: throughput ratio": SECOND, "*": BUFFER},
    "table-ii": {"*": BUFFER},
}
