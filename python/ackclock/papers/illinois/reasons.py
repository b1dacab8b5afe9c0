"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

WHO_GROWS = (
    "A full droptail queue that ACK clocks feed drops what growing windows add, whoever fills the "
    "link (docs/theory.md, Illinois beside Reno): a flow with a short round trip adds packets more "
    "often, but the few losses of each event fall where chance has it. Five seeds differ by a factor. "
    "Tried: windows are near equal with twice the buffer (exponent -0.3), SACK (0.3) and ten times the "
    "overhead (0.1); with half the buffer 1.5."
)

REASONS: dict[str, dict[str, str]] = {
    "figure-11": {"*": WHO_GROWS},
    "figure-13": {"*": WHO_GROWS},
}
