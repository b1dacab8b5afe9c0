"""What docs/learning.md says, done step by step in an empty directory as a new user would."""

import json
from pathlib import Path

import pytest

from test_tutorials import do


def test_learning_ends_with_verdicts(tmp_path: Path) -> None:
    pytest.importorskip("cma")
    do("learning.md", tmp_path)
    place = tmp_path / "results" / "evaluation=learned-learned"
    found = json.loads((place / "verdicts.json").read_text("utf-8"))
    assert found["control"]["name"] == "learned:Learned"
    # Judged in every situation: the policy could be loaded in the processes that ran it.
    (criterion,) = found["criteria"]
    assert (criterion["id"], criterion["verdict"] != "failed") == ("iot", True)
