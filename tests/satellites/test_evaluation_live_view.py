"""The live view of an evaluation."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from ackclock_evaluate.suites import chosen
from conftest import Finished
from test_live_view import charts_of, counts, state, table


def test_an_evaluation_shows_its_situations(ackclock_here: Callable[..., Finished], tmp_path: Path) -> None:
    done = ackclock_here("evaluate", "htcp", "--only", "iot,datacentre", "--live", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "evaluation=htcp.live.html").read_text("utf-8")
    assert state(text) == "finished", done.stderr
    assert "cannot be shown" not in text
    verdicts = json.loads((tmp_path / "evaluation=htcp" / "verdicts.json").read_text("utf-8"))
    titles = {one.id: one.title for one in chosen(("rfc9743",), ["iot", "datacentre"])}
    expected = {titles[one["id"]]: one["verdict"] for one in verdicts["criteria"]}
    rows = {title: (situations, verdict) for title, situations, verdict in table(text)}
    assert {title: verdict for title, (_, verdict) in rows.items()} == expected
    for situations, _ in rows.values():
        finished, every = re.fullmatch(r"(\d+) of (\d+)", situations).groups()  # type: ignore[union-attr]
        assert finished == every
    assert counts(text)["waiting"] == "0"
    assert charts_of(text)["groups"]
