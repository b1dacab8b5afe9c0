"""The runs that `make run` keeps: one test of the papers simulates a run, and the others read it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ackclock.reproduction import make
from ackclock.runs import Store
from ackclock.runs.store import BusyError

CACHE = Path(__file__).parents[1] / "results" / make.CACHE


@contextmanager
def kept_runs() -> Iterator[Store]:
    """Open the store, as soon as no other test uses it."""
    with ExitStack() as stack:
        while True:
            try:
                store = stack.enter_context(Store(CACHE).opened())
                break
            except BusyError:
                time.sleep(0.5)
        yield store
