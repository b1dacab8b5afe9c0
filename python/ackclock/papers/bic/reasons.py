"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

REASONS: dict[str, dict[str, str]] = {}
