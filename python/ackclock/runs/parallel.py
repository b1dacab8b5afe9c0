"""Several runs at once: a thread per core, because the engine lets Python's lock go."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Check = Callable[[], None]
"""Raises when the work is no longer wanted."""


LOOK_S = 0.5
"""Longest wait: an interrupt that another thread receives is seen only between waits."""


PATIENCE_S = 2.0
"""How long work has to stop after an interrupt."""


class StoppedError(Exception):
    """The work was called off from outside."""


def in_order(
    work: Callable[[Item, Check], Result], items: Iterable[Item], threads: int | None = None
) -> Iterator[Result]:
    """Work on items at once, and give the results in the order of the items.

    Parameters
    ----------
    work : callable
        Called with an item and a check that it must call often: the check raises when another
        item has failed or the user has interrupted.
    items : iterable
        What to work on.
    threads : int, optional
        How many at once; by default as many as there are cores.

    Yields
    ------
    object
        What `work` returns.
    """
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise StoppedError

    pool = ThreadPoolExecutor(threads or os.cpu_count() or 1)
    waiting: deque[Future[Result]] = deque()
    # An interrupt may fall between two submissions: those already made must stop too.
    try:
        for item in items:
            waiting.append(pool.submit(work, item, check))
        while waiting:
            if wait([waiting[0]], LOOK_S).done:
                yield waiting.popleft().result()
    except KeyboardInterrupt:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        # A control that hangs never looks; nobody who presses Ctrl-C wants to wait for it.
        wait([one for one in waiting if one.running()], PATIENCE_S)
        raise
    except BaseException:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()
