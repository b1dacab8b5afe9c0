"""Several runs at once."""

import threading
import time

import pytest

from ackclock.runs import parallel


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
