"""Publish what a full reproduction has made: papers/publish.py [RESULTS [PAPER]...]."""

from __future__ import annotations

import sys
from pathlib import Path

from ackclock.reproduction import published
from ackclock_papers import PAPERS


def main(results: str = "results", *names: str) -> None:
    """Publish papers, by default all of those that have a full result."""
    papers = [PAPERS[name] for name in names or PAPERS]
    for name, place in published.places(papers).items():
        missing = published.publish(Path(results), PAPERS[name], place)
        size = sum(file.stat().st_size for file in place.glob("*"))
        left = f"; not run: {', '.join(missing)}" if missing else ""
        print(f"{place}: {size / 1e6:.1f} MB{left}")


if __name__ == "__main__":
    main(*sys.argv[1:])
