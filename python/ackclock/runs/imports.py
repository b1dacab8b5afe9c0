"""Imports that a signal does not cut short."""

from __future__ import annotations

import importlib
import signal
import threading
from types import ModuleType


def import_whole(name: str) -> ModuleType:
    """Import a module of another project; Ctrl-C and other signals to end wait until that is done.

    Some modules catch every exception while they are imported, to find out which packages there are: a
    KeyboardInterrupt that is raised there is lost, or becomes an ImportError. Raises ImportError.
    """
    if threading.current_thread() is not threading.main_thread():
        # Handlers run in the main thread alone.
        return importlib.import_module(name)
    waiting: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    own = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in own:
        signal.signal(number, lambda number, _frame: waiting.append(number))
    try:
        module = importlib.import_module(name)
    finally:
        for number, handler in own.items():
            signal.signal(number, handler)
        for received in waiting:
            signal.raise_signal(received)
    return module
