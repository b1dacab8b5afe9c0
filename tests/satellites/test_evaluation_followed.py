"""An evaluation follows from every file of the control that it judges."""

import json
from collections.abc import Callable
from pathlib import Path

from conftest import Finished
from test_followed import HELPER, write


def test_verdicts_name_the_files(tmp_path: Path, ackclock: Callable[..., Finished]) -> None:
    file = write(tmp_path, "a module")
    evaluate = ["evaluate", "mine:Mine", "--only", "iot", "--against", "reno", "-o", "out", "--json"]
    first = json.loads(ackclock(*evaluate).stdout)["control"]
    assert first["files"] == ["base.py", "helper.py", "mine.py"]
    file.write_text(HELPER.replace("0.5", "0.05"))
    assert json.loads(ackclock(*evaluate).stdout)["control"]["digest"] != first["digest"]
