"""The first sentence of a comparison, next to answers to twenty questions written before it."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.comparison import Comparison, conclusion, grid, quantities, questions, ranking
from ackclock.comparison import options as paths

HERE = Path(__file__).resolve().parent
ASKED: list[dict[str, Any]] = tomllib.loads((HERE / "data" / "questions.toml").read_text("utf-8"))["question"]
FRESH: list[dict[str, Any]] = tomllib.loads((HERE / "data" / "fresh_questions.toml").read_text("utf-8"))[
    "question"
]
INDEPENDENT: list[dict[str, Any]] = tomllib.loads(
    (HERE / "data" / "independent_questions.toml").read_text("utf-8")
)["question"]
# The answer that is missed. A comparison gives hosts a receive window of several products, so that the path
# decides, where question 8 assumes 16 777 packets. The first run missed the reason of question 17, too: the
# sentence looked at losses within the measured time only, and Reno's single one came before it.
MISSED = {8: ["because"]}
COSTLY_MBIT = 6000
"""Rate times duration above which a question is asked by the long tests only."""
HOST = """
run = { duration = "30 s" }
tcp = { receive_window = 44 }
[dumbbell]
rate = "20 Mbit/s"
delay = "25 ms"
queue = { kind = "droptail", limit = "250 packets" }
[[flow]]
controller = "reno"
rtt = "100 ms"
"""


RUNS = 5
"""With three, two answers are undecided: being behind by chance is rarer than in 5 % of comparisons."""


def _compared(asked: dict[str, Any], folder: Path, shortest: str, runs: int | None = RUNS) -> Comparison:
    path = {"duration": shortest, **asked["path"]}
    if "scenario" in path:
        path["scenario"] = folder / path["scenario"]
        path["scenario"].write_text(HOST, "utf-8")
    return ackclock.compare(*asked["controls"], runs=runs, **path)


def _names(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _missed(asked: dict[str, Any], sentence: str) -> list[str]:
    """Return the parts of an answer that a sentence has not."""
    clauses = sentence.removeprefix("On this path ").rstrip(".").split("; ")
    most = _names(asked.get("most", []))
    if not most:
        wanted = {}
    elif len(asked["most"]) == len(asked["controls"]):
        wanted = {"most": clauses[0].startswith(f"{most} have similar goodput")}
    else:
        wanted = {
            "most": clauses[0].startswith(
                (f"{most} has the highest goodput", f"{most} have the highest goodput")
            )
        }
    if "shortest_queue" in asked:
        shortest = _names(asked["shortest_queue"])
        starts = [f"{shortest} keeps the shortest queue", f"{shortest} keep the shortest queue"]
        if asked["shortest_queue"] == asked.get("most"):
            starts = ["their queueing delay is similar"]
        wanted["shortest_queue"] = any(clause.startswith(tuple(starts)) for clause in clauses)
    if "starved" in asked:
        said = [
            clause.split(" is starved")[0].split(" are starved")[0]
            for clause in clauses
            if "starved" in clause
        ]
        wanted["starved"] = said == ([_names(asked["starved"])] if asked["starved"] else [])
    if "because" in asked:
        wanted["because"] = any("because" in clause and asked["because"] in clause for clause in clauses)
    return [part for part, has_it in wanted.items() if not has_it]


@pytest.fixture(scope="module")
def missed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the parts of each answer that the sentence has not, also for corrected answers."""
    folder = tmp_path_factory.mktemp("questions")
    parts = {}
    for asked in ASKED:
        sentence = conclusion.sentences(_compared(asked, folder, "30s"))[0]
        parts[asked["asks"]] = _missed(asked, sentence)
        if "corrected" in asked:
            parts[f"corrected: {asked['asks']}"] = _missed(asked | asked["corrected"], sentence)
    return parts


def test_eighteen_of_twenty_sentences_have_the_answer_that_was_written_before(
    missed: dict[str, list[str]],
) -> None:
    # Nineteen were asked for. Two answers say that Reno loses less than a tenth of a link behind CoDel.
    wrong = {asked["asks"] for asked in ASKED if missed[asked["asks"]]}
    assert (len(ASKED), len(wrong)) == (20, 2)
    assert wrong == {asked["asks"] for asked in ASKED if "corrected" in asked}


def test_the_other_two_sentences_have_what_arithmetic_gives(missed: dict[str, list[str]]) -> None:
    # The arithmetic of the corrections needs no simulation, but was done after one.
    assert all(not parts for asks, parts in missed.items() if asks.startswith("corrected: "))


def test_by_default_at_most_a_tenth_of_the_cells_is_undecided(tmp_path: Path) -> None:
    undecided = cells = 0
    for asked in ASKED:
        # A minute is the shortest run that a comparison takes by itself.
        compared = _compared(asked, tmp_path, "60s", runs=None)
        for question in questions.QUESTIONS:
            if question.margin is not None:
                ranked = ranking.rank(compared, question)
                standings = ranked.standings.values()
                cells += len(standings) + len(ranked.idle)
                # The control with the best mean is open whenever the others are, so it is not counted.
                undecided += list(standings).count("undecided") - (bool(standings) and not ranked.at("best"))
    # 43 controls of twenty questions, ten questions with a margin each.
    assert cells == 430
    assert undecided <= cells / 10


@pytest.mark.parametrize("asked", FRESH, ids=lambda asked: asked["asks"])
def test_a_fresh_question_has_the_answer_that_was_written_before(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    # At the first run one answer was missed: the reason where packets are marked, not dropped.
    if "queues" not in asked:
        sentence = conclusion.sentences(_compared(asked, tmp_path, "30s"))[0]
        assert not _missed(asked, sentence)
        return
    given = {"loss": None, "duration": "30s", **asked["path"]}
    cells = paths.grid_of_options(asked["queues"], asked["buffers"], None, None, runs=3, **given)
    answered = grid.compare_grid(cells, asked["controls"])
    assert [" with ".join(cell) for cell in grid.suiting(answered)] == asked["suits"]
    assert grid.named(answered, grid.suiting(answered)) in grid.grid_answer(answered) or len(
        asked["suits"]
    ) == len(cells)


def _independent() -> list[Any]:
    asked = []
    for number, question in enumerate(INDEPENDENT, 1):
        path = question["path"]
        mbit = quantities.rate_mbps(path["rate"]) * quantities.duration_s(path["duration"])
        marks = [pytest.mark.long] if mbit > COSTLY_MBIT else []
        asked.append(pytest.param(number, question, id=question["asks"], marks=marks))
    return asked


@pytest.mark.parametrize(("number", "asked"), _independent())
def test_an_independent_question_has_the_answer_that_was_derived_before(
    number: int, asked: dict[str, Any], tmp_path: Path
) -> None:
    sentence = conclusion.sentences(_compared(asked, tmp_path, "30s"))[0]
    assert _missed(asked, sentence) == MISSED.get(number, [])


def test_nineteen_of_the_twenty_independent_questions_are_answered_as_derived() -> None:
    # The missed question runs in the long tests.
    assert (len(INDEPENDENT), len(MISSED)) == (20, 1)


def test_a_loss_before_the_measured_time_is_a_reason() -> None:
    # The product is 50e6 * 0.2 / 8000 = 1250 packets, the buffer 125. Slow start overflows it within ten
    # round trips, and the window is cut to about 700. It grows by a packet in 0.2 s: after 30 s it is about
    # 850, so no packet is lost in the measured time, from 6 s on.
    answers = ackclock.compare("reno", rate="50mbit", rtt="200ms", buffer="0.1bdp", duration="30s", runs=2)
    causes = answers.causes["reno"]
    assert causes["queue_drops"] == 0 < causes["earlier_drops"]
    assert "because a loss in a buffer of 0.1 times" in conclusion.sentences(answers)[0]


def test_the_table_has_the_goodput_of_the_first_sentence():
    # 2 % of the packets are lost, and the packets behind them are delivered at least a round trip later.
    answers = ackclock.compare("bbr", rate="5mbit", rtt="600ms", loss="2%", duration="30s", runs=2)
    values = answers.values["goodput"]["bbr"]
    # A packet of 8 kbit that arrives at the end of the 24 s measured counts whole.
    assert max(values) <= 5 + 0.008 / 24
    mean = ranking.rank(answers, questions.BY_KEY["goodput"]).means["bbr"]
    assert mean == pytest.approx(sum(values) / 2)
    assert answers.estimates["goodput"]["bbr"].value == pytest.approx(mean)
