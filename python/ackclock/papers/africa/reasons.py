"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

BUFFER = "Most likely the buffer, which is open: losses go with its inverse. Tried for the tables: the whole bandwidth-delay product, an eighth and a twentieth."
AFRICA = "Not found. Tried: buffers of the whole, an eighth and a twentieth of the bandwidth-delay product, NewReno, an overhead ten times as large, minimum RTO 1 s: the ratios stay above the paper's, as HSTCP's own come out. How the paper's aRTT was smoothed is open."

REASONS: dict[str, dict[str, str]] = {
    "figure-3": {"*": BUFFER},
    "figure-4": {"*": BUFFER},
    "figure-5": {"*": BUFFER},
    "figure-6": {"*": BUFFER},
    "table-i": {"*": AFRICA},
    "table-ii": {"*": BUFFER},
}
