"""A changed evaluation is reported, and not used."""

from collections.abc import Callable
from pathlib import Path

from ackclock.engine import integrity
from ackclock_evaluate import previous
from conftest import Finished
from test_integrity import every_change_is_told


def test_a_changed_evaluation_is_reported_in_one_line(
    tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    ackclock_here("evaluate", "reno", "--only", "iot", "-o", ".")
    place = tmp_path / "evaluation=reno"

    def use() -> None:
        if previous.read(place) is None:
            raise integrity.DamagedError("it is reported, and not used")

    every_change_is_told(place, ackclock_here, use)
