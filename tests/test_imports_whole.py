"""A signal during an import is neither lost nor turned into another error."""

import signal
import sys
import threading

import pytest

from ackclock.runs.imports import import_whole

SWALLOWS = """
import signal
try:
    signal.raise_signal(signal.{name})
except:
    pass
COMPLETE = True
"""


class EndedError(Exception):
    """What a handler raises."""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module with a name of its own, and return the name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text):
        name = f"swallows_{len(list(tmp_path.iterdir()))}_{tmp_path.name.replace('-', '_')}"
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return write


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_waits_for_the_end_of_the_import(module, name):
    def end(_number, _frame):
        raise EndedError

    before = signal.signal(signal.Signals[name], end)
    try:
        swallowing = module(SWALLOWS.format(name=name))
        with pytest.raises(EndedError):
            import_whole(swallowing)
        assert sys.modules[swallowing].COMPLETE
        assert signal.getsignal(signal.Signals[name]) is end
        # A plain import of the same module raises nothing.
        __import__(module(SWALLOWS.format(name=name)))
    finally:
        signal.signal(signal.Signals[name], before)


def test_an_import_without_a_signal_changes_nothing(module):
    before = signal.getsignal(signal.SIGINT)
    assert import_whole(module("COMPLETE = True")).COMPLETE
    with pytest.raises(ImportError):
        import_whole("there.is.no.such.module")
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_imports_as_always(module):
    name, imported = module("COMPLETE = True"), []
    thread = threading.Thread(target=lambda: imported.append(import_whole(name)))
    thread.start()
    thread.join()
    assert imported[0].COMPLETE
