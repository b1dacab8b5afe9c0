"""Several runs at once."""

import threading
import time

import pytest

from ackclock.runs import parallel, progress


def test_results_come_in_the_order_of_the_items():
    def slow_first(item, _check):
        time.sleep(0.05 if item == 0 else 0)
        return item * item

    assert list(parallel.in_order(slow_first, range(5), 2)) == [0, 1, 4, 9, 16]


def test_failure_calls_off_the_others():
    started, called_off = threading.Event(), threading.Event()

    def work(item, check):
        if item == 0:
            assert started.wait(10)
            raise LookupError
        started.set()
        try:
            while True:
                time.sleep(0.01)
                check()
        except parallel.StoppedError:
            called_off.set()
            raise

    with pytest.raises(LookupError):
        list(parallel.in_order(work, range(2), 2))
    assert called_off.is_set()


def test_a_count_that_nobody_sees_says_a_line_now_and_then(capsys, monkeypatch):
    # Standard error is not a terminal here.
    now = [100]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Count(3, "runs") as shown, progress.Count(3, "runs", shown=False) as silent:
        for later_s in (9, 1, 9):
            now[0] += later_s
            shown.advance(1)
            silent.advance(1)
    # After 9 s not yet, after 10 s, and not again 9 s later.
    assert capsys.readouterr().err == "2 of 3 runs\n"
    line = progress.Lines()
    for later_s in (9, 1, 9):
        now[0] += later_s
        line(f"{now[0]}")
    assert capsys.readouterr().err == "129\n"
