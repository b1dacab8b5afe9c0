"""Claims that only chance decides: `benches/false_claims.py` with drawn numbers."""

import sys
from pathlib import Path

import numpy as np

from ackclock.reproduction.claims.numbers import Numbers

sys.path.insert(0, str(Path(__file__).parents[1] / "benches"))
import false_claims

GROUPS = 1000


def counts(shift):
    random = np.random.default_rng(9)
    every = []
    for _ in range(GROUPS):
        rows = {
            name: [{"goodput": value} for value in random.normal(10 + shift * place, 1, 5)]
            for place, name in enumerate(false_claims.NAMES)
        }
        every.append(Numbers(rows))
    return false_claims.count(every)


def test_claims_at_their_limit_are_decided_as_often_as_stated():
    known = counts(0.0)
    # One in twenty, half of them on either side: 25 of 1000, three standard errors are
    # 3 * sqrt(1000 * 0.025 * 0.975) = 15.
    for side in ("holds", "does not hold"):
        assert 10 <= known["a mean of at least that of all"][side] <= 40
        assert 10 <= known["a ratio of at least 1"][side] <= 40
        # The interval of a difference is made of those of the two means, with four degrees of freedom where
        # eight are due: 2.776 standard errors in place of 2.306, beyond which are 1.2 % and not 2.5.
        # Three standard errors of 12 are 10.
        assert 2 <= known["an order"][side] <= 22


def test_a_difference_is_decided():
    # The second is 4 above the first: 6.3 errors of the difference of two means of five, 0.63.
    known = counts(4.0)
    assert known["an order"]["does not hold"] > 0.9 * GROUPS
    assert known["an order"]["holds"] == 0
