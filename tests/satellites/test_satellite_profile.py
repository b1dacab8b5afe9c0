"""The results of satellites say which senders they had, as `test_profile.py` has it of the core."""

import json


def test_an_evaluation_and_a_search_say_which_profile_it_was(ackclock_here, tmp_path):
    done = ackclock_here("evaluate", "reno", "--only", "iot", "-o", "e")
    assert "\nprofile linux\n" in done.stdout
    place = tmp_path / "e/evaluation=reno"
    assert json.loads((place / "verdicts.json").read_text("utf-8"))["profile"] == "linux"
    assert "profile linux" in (place / "verdicts.md").read_text("utf-8")
    arguments = ("search", "reno", "unused", "--genome", "pulses", "--budget", "32", "-o", "s")
    assert "\nprofile linux\n" in ackclock_here(*arguments).stdout
    place = tmp_path / "s/search=reno-unused"
    assert json.loads((place / "search.json").read_text("utf-8"))["profile"] == "linux"
    assert "the profile <code>linux</code>" in (place / "index.html").read_text("utf-8")
