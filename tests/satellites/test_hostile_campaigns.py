"""The directory of a campaign may be hostile: it is understood, or refused in one line."""

from hostile import attack
from hostile_campaigns import KINDS


def test_what_was_changed_at_random_is_understood_or_refused_in_one_line() -> None:
    refused = attack(KINDS, seed=1, goes_on=lambda number: number < 60)
    # Most changes break something, and not all do.
    assert all(20 < count < 60 for count in refused.values()), refused
