"""Settings tried and cross-validated over artefacts, with artificial papers whose setting is known."""

import csv
import json
import math
from dataclasses import replace
from functools import partial

import pytest

from ackclock.draw.figure import Table
from ackclock.engine import integrity
from ackclock.metrics import Estimate
from ackclock.reproduction import make
from ackclock.reproduction.claims.artefact import Judged, Probe, Simulated, Target
from ackclock.reproduction.claims.numbers import QUICK, Numbers
from ackclock.reproduction.claims.orders import ordered
from ackclock.reproduction.claims.usual import (
    LEAST_CLOSENESS,
    between,
    closeness,
    mean,
    near,
    times,
    tolerances_missed,
)
from ackclock.reproduction.claims.values import FunctionValue
from ackclock.reproduction.inference import infer, readings
from ackclock.reproduction.inference.search import Search
from ackclock.reproduction.library import chosen_of
from ackclock.reproduction.paper import Chosen, Inference, Paper
from ackclock.reproduction.record import state
from ackclock.reproduction.shown import page, strips
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.settings import Item, declared
from ackclock.reproduction.trials.tried import DESIGN, Outcome, Trial
from ackclock.runs import Case, Store, run_all
from ackclock_papers import PAPERS

BUFFER = {
    "name": "buffer",
    "quantity": "buffer",
    "choice": "{} packets",
    "values": [
        {"value": 10, "basis": "default", "evidence": "the simulator's"},
        {"value": 25, "basis": "open", "evidence": "half the product"},
        {"value": 50, "basis": "open", "evidence": "the product"},
    ],
}
LOSS = {
    "name": "loss",
    "quantity": "random loss",
    "choice": "{}",
    "values": [
        {"value": 0.01, "basis": "open", "evidence": "heavy"},
        {"value": 0.0001, "basis": "open", "evidence": "light"},
    ],
}
CONTROL = {
    "name": "control",
    "quantity": "control",
    "choice": "{}",
    "values": [
        {"value": "reno", "basis": "default", "evidence": "the simulator's"},
        {"value": "vegas", "basis": "reading", "evidence": "perhaps"},
    ],
}
HIDDEN = {"buffer": 50, "loss": 0.0001, "control": "reno"}


def scenario(setting, rate_mbps, rtt):
    return {
        "run": {"duration": "60 s", "warmup": "10 s"},
        "dumbbell": {
            "rate": f"{rate_mbps} Mbit/s",
            "delay": "10 ms",
            "queue": {"kind": "droptail", "limit": f"{setting['buffer']} packets"},
            "loss": {"kind": "bernoulli", "rate": setting["loss"]},
        },
        "flow": [{"controller": setting["control"], "overhead": "1 ms", "rtt": rtt}],
    }


PATHS = {"figure-1": (5, "80 ms"), "figure-2": (10, "60 ms"), "table-1": (8, "160 ms")}


def measure(run):
    flow, link = run.summary["flows"][0], run.summary["links"][0]
    return {"goodput": flow["goodput_mbps"], "queue": link["mean_queue_packets"]}


def printed(setting, name):
    """Return the numbers that the artificial paper prints: one run with a seed of its own."""
    changed = scenario(setting, *PATHS[name])
    changed["run"]["seed"] = 99
    ((run,),) = run_all([Case(changed, 1)])
    return measure(run)


def draw(_numbers, _traces):
    return Table(["rate"], [["1 Mbit/s"]])


FIXED = {"quantity": "packets", "choice": "1000 bytes", "basis": "stated", "evidence": "section 1"}


def artificial(items, truth):
    """Make a paper of one case per artefact; `truth` is the setting behind each one's numbers."""
    artefacts = []
    for name, path in PATHS.items():
        numbers = printed(truth[name], name)
        artefacts.append(
            Simulated(
                name=name,
                caption="what",
                about="About.",
                draw=draw,
                probe=Probe(("goodput", "queue"), measure),
                cases=lambda effort, path=path: {"one": Case(scenario(effort.setting, *path), effort.runs)},
                claims=tuple(
                    times(one, one, mean("one", one), value, factor=1.15, why="one run")
                    for one, value in numbers.items()
                ),
            )
        )
    inference = Inference({"figure-1": ["*"]}, {"figure-2": ["*"], "table-1": ["goodput"]})
    read = [Item.read(item) for item in [*items, FIXED]]
    return Paper("made", "A paper of ours", read, artefacts, inference=inference)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def paper():
    return artificial([BUFFER, LOSS, CONTROL], dict.fromkeys(PATHS, HIDDEN))


@pytest.fixture(scope="module")
def found(paper, cache):
    return infer.infer(paper, cache, 2, settings=12)


def test_hidden_settings_are_found(found):
    assert found.accepted
    assert dict(found.setting) == HIDDEN
    assert found.alternative is None
    validation = found.validation
    assert validation.finalists[0] == {"buffer": 10, "loss": 0.01, "control": "reno"}
    # Three artefacts with three seeds each; the claims that were named before any run are one fold more.
    assert [fold.name for fold in validation.folds] == [name for name in PATHS for _ in range(3)]
    assert {fold.run for fold in validation.folds} == {200, 201, 202}
    assert all(validation.finalists[fold.chosen] == HIDDEN for fold in validation.folds)
    gains = [fold.best - fold.declared for fold in validation.folds]
    assert validation.gain == pytest.approx(sum(gains) / 9)
    assert validation.planned.gain > 0


def test_every_setting_of_the_design_is_judged_with_two_sets_of_seeds(found):
    design = [trial for trial in found.trials if trial.stage == DESIGN]
    by_seed = {
        first_run: [trial.setting for trial in design if trial.first_run == first_run]
        for first_run in (0, infer.SECOND_RUN)
    }
    # Three buffers, two losses and two controls.
    assert len(by_seed[0]) == 12
    assert by_seed[0] == by_seed[infer.SECOND_RUN]
    assert len(tried.plausible(found.trials, ("figure-1", "queue"))) == 12


def test_the_matrix_of_readings_is_around_the_chosen_setting(found):
    told = [cell for cell in found.cells if cell.claim == readings.THE_SETTING]
    assert [(cell.artefact, cell.value) for cell in told] == [(name, HIDDEN) for name in PATHS]
    # One queue is not that of the single printed run at any of them, and so items were changed together.
    alone = [cell for cell in found.cells if cell.item not in (readings.CHOSEN, readings.SEVERAL)]
    others = {(cell.item, cell.value) for cell in alone}
    assert others == {("buffer", 10), ("buffer", 25), ("loss", 0.01), ("control", "vegas")}
    chosen = [cell for cell in found.cells if cell.item == readings.CHOSEN and cell not in told]
    # Two numbers of each artefact, with the seeds of the refinement.
    assert len(chosen) == 6
    (refined,) = (t for t in found.trials if t.stage == "refinement" and dict(t.setting) == HIDDEN)
    assert all(refined.outcomes[cell.artefact, cell.claim].value == cell.measured for cell in chosen)


def test_what_costs_too_much_is_judged_nowhere(paper, cache):
    inference = replace(paper.inference, left_out=("table-1",))
    result = infer.infer(replace(paper, inference=inference), cache, 2, settings=12)
    assert dict(result.setting) == HIDDEN
    seen = {
        stage: {name for trial in result.trials if trial.stage == stage for name, _ in trial.outcomes}
        for stage in ("test", DESIGN)
    }
    assert seen["test"] == seen[DESIGN] == {"figure-1", "figure-2"}
    with pytest.raises(LookupError, match="has no table-9, which"):
        replace(paper, inference=replace(paper.inference, left_out=("table-9",)))


def test_a_reading_concerns_only_artefacts_whose_claims_ask_for_it():
    # It changes no scenario; the item itself names the figures whose times it counts.
    paper = PAPERS["transient"]
    (axis,) = (item for item in paper.items if item.name == "axis")
    assert "figures 25, 27, 28, 36" in axis.quantity
    asking = [artefact.name for artefact in paper.artefacts if axis in paper.relevant(artefact)]
    assert asking == ["figure-25", "figure-27", "figure-28", "figure-36"]


def test_a_setting_that_only_some_artefacts_want_is_not_accepted(cache):
    # One figure is of another control than everything else.
    swapped = HIDDEN | {"control": "vegas"}
    truth = {"figure-1": swapped, "figure-2": HIDDEN, "table-1": HIDDEN}
    known = [
        item | {"values": [value for value in item["values"] if value["value"] == HIDDEN[name]]}
        for name, item in (("buffer", BUFFER), ("loss", LOSS))
    ]
    result = infer.infer(artificial([*known, CONTROL], truth), cache, 2)
    assert not result.accepted
    assert result.setting["control"] == "reno"
    # The claims of figure 1 alone would have chosen it, and those that were held out are worse there.
    assert result.validation.finalists[result.validation.planned.chosen]["control"] == "vegas"
    assert result.validation.planned.gain < 0


def test_what_is_stated_is_not_changed_by_a_fit(cache):
    # Everything is of the other control, but the paper says Reno.
    swapped = HIDDEN | {"control": "vegas"}
    stated = CONTROL["values"][0] | {"basis": "stated"}
    control = CONTROL | {"values": [stated, CONTROL["values"][1]]}
    result = infer.infer(artificial([BUFFER, LOSS, control], dict.fromkeys(PATHS, swapped)), cache, 2)
    assert result.setting["control"] == "reno"
    assert any(trial.setting["control"] == "vegas" for trial in result.trials)


def test_what_was_tried_is_kept_and_gone_on_with(paper, found, cache, tmp_path, monkeypatch):
    infer.keep(found, tmp_path)
    integrity.seal_directory(tmp_path)
    again = tried.read(tmp_path)
    assert [trial.setting for trial in again] == [trial.setting for trial in found.trials]
    for one, kept in zip(found.trials, again, strict=True):
        assert (kept.stage, kept.runs, kept.first_run, kept.possible) == (
            one.stage,
            one.runs,
            one.first_run,
            one.possible,
        )
        assert kept.outcomes.keys() == one.outcomes.keys()
        for key, outcome in one.outcomes.items():
            assert kept.outcomes[key].holds == outcome.holds
            assert kept.outcomes[key].value == pytest.approx(outcome.value, rel=1e-3, nan_ok=True)
    assert json.loads((tmp_path / tried.SETTING).read_text())["setting"] == HIDDEN
    kept = replace(paper, inferred=chosen_of(tmp_path, paper.items))
    assert kept.inferred.validation == found.validation
    with (tmp_path / tried.SETTINGS).open() as file:
        assert [row["stage"] for row in csv.DictReader(file)] == [o.stage for o in found.trials]

    # A second call simulates nothing and measures nothing.
    monkeypatch.setattr("ackclock.engine.simulate", None)
    monkeypatch.setattr("ackclock.engine.Run.read", None)
    assert infer.infer(paper, cache, 2, settings=12).trials == found.trials


def test_what_was_kept_and_changed_is_judged_again(paper, found, cache, capsys):
    database = cache / "runs.sqlite"
    with Store(cache).opened() as store:
        whole = store.notes("judged/")
    assert whole
    changes = (
        lambda _: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b"judged/", b"judges/", 1),
    )
    for change in changes:
        database.write_bytes(change(database.read_bytes()))
        assert infer.infer(paper, cache, 2, settings=12).trials == found.trials
        said = capsys.readouterr().err.splitlines()
        assert said
        assert all("was changed or damaged" in line for line in said)
        with Store(cache).opened() as store:
            assert whole.items() >= store.notes("judged/").items()


def test_a_cluster_gives_the_same(paper, found, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = infer.infer(paper, tmp_path, 1, settings=12, address=cluster.scheduler_address)
    assert there == found


def test_the_page_shows_what_was_tried(paper, found, tmp_path):
    inferred = Chosen(
        found.setting, found.accepted, {}, lambda: found.trials, found.alternative, found.validation
    )
    applied = replace(paper, inferred=inferred)
    chosen = [(applied, artefact) for artefact in applied.artefacts]
    records = make.reproduce(chosen, tmp_path, replace(QUICK, runs=2), 2)
    # Two runs leave intervals that may hold both answers; no claim fails.
    assert {state(claim) for record in records for claim in record["claims"]} <= {"holds", "undecided"}
    # Seven of the twelve settings drawn or fewer: none of the six with the other loss.
    queue = records[1]["claims"][1]
    assert 0 < queue["holding_settings"] < queue["tried_settings"]
    assert queue["depends_on"].startswith(("buffer (", "random loss ("))
    text = (tmp_path / paper.name / "index.html").read_text()
    # A strip per claim with a number, a mark per setting at which it was measured, one of them the chosen.
    shown = [strip for artefact in applied.artefacts for strip in strips.strips(artefact, applied)]
    assert text.count('<div class="strip">') == len(shown) > 0
    marks = [mark for strip in shown for mark in strip.settings]
    assert text.count('class="dot"') + text.count('class="cross"') == len(marks)
    assert text.count('class="ring"') == len(shown)
    assert all(0 <= place <= 100 for place, _, _ in marks)
    assert "10 packets (default: the simulator" in text
    assert "open, inferred" in text
    assert strips.counts(records)["depends"] == 0
    rows = page.setting_rows(applied)
    assert [row[:3] for row in rows] == [
        ["buffer", "50 packets", "open, inferred"],
        ["random loss", "0.0001", "open, inferred"],
        ["control", "reno", "default"],
        ["packets", "1000 bytes", "stated"],
    ]


def test_what_the_paper_states_is_checked_before_any_fit(paper, cache):
    # The paper states that at most 30 packets ever wait. With little loss a buffer of 50 fills, so the best
    # fit is impossible; at a loss of 1 % Reno's window of about 10 never fills any buffer.
    condition = replace(
        paper.artefacts[0],
        name="conditions",
        probe=Probe(("most",), lambda run: {"most": run.summary["links"][0]["max_queue_packets"]}),
        claims=(between("queue", "at most 30 packets wait", mean("one", "most"), 0, 30, why="stated"),),
    )
    result = infer.infer(replace(paper, conditions=condition), cache, 2, settings=12)
    assert dict(result.setting) != HIDDEN
    filled = [trial for trial in result.trials if dict(trial.setting) == HIDDEN]
    assert filled
    assert not any(trial.possible for trial in filled)
    assert {trial.setting["buffer"] for trial in result.trials if not trial.possible} == {50}


def test_settings_are_drawn_evenly():
    items = [Item.read(item) for item in (BUFFER, LOSS, CONTROL)]
    every = infer.draw(items, 12)
    assert len({json.dumps(setting) for setting in every}) == 12
    assert every[0] == declared(items) == {"buffer": 10, "loss": 0.01, "control": "reno"}
    wide = [Item.read(BUFFER | {"name": f"b{n}"}) for n in range(6)]
    some = infer.draw(wide, 24)
    assert len(some) == 24
    for name in some[0]:
        # 24 settings, three values: eight each; the declared setting in front may replace a point.
        counts = [sum(setting[name] == value for setting in some) for value in (10, 25, 50)]
        assert all(5 <= count <= 11 for count in counts), (name, counts)
    assert infer.draw(wide, 24) == some


def test_closeness_falls_with_the_distance_and_rises_with_the_noise():
    target = Target(8, 12, 10)
    # One half-width off: exp(-1/2); at the paper's value 1; noise as large as the half-width makes
    # the variance twice as large: exp(-1/4).
    assert closeness(target, Judged("", True, 12.0)) == pytest.approx(math.exp(-0.5))
    assert closeness(target, Judged("", True, 10.0)) == 1
    assert closeness(target, Judged("", True, 12.0, 2.0)) == pytest.approx(math.exp(-0.25))
    assert closeness(target, Judged("", False, 1000.0)) == LEAST_CLOSENESS
    # A factor of two too low where a factor of two is allowed: exp(-1/2), as twice too high.
    ratio = Target(0.5, 2, 1, logarithmic=True)
    assert closeness(ratio, Judged("", True, 0.5)) == pytest.approx(math.exp(-0.5))
    assert closeness(ratio, Judged("", True, 2.0)) == pytest.approx(math.exp(-0.5))
    # Inside a range nothing is better; beyond its only end a quarter of it is one deviation.
    assert closeness(Target(2, math.inf), Judged("", True, 7.0)) == 1
    assert closeness(Target(2, math.inf), Judged("", False, 1.5)) == pytest.approx(math.exp(-0.5))
    assert closeness(None, Judged("", True)) == 1
    assert closeness(None, Judged("", False)) == LEAST_CLOSENESS


@pytest.mark.parametrize(
    ("target", "value", "missed"),
    [
        # 10 within 2: 12 is the end, and 13 half a tolerance beyond it; 4 is two of them below 8.
        (Target(8, 12, 10), 12.0, 0.0),
        (Target(8, 12, 10), 13.0, 0.5),
        (Target(8, 12, 10), 4.0, 2.0),
        # A factor of two allowed, eight measured: log(8 / 2) is two of log 2.
        (Target(0.5, 2, 1, logarithmic=True), 8.0, 2.0),
        (Target(0.5, 2, 1, logarithmic=True), 2.0, 0.0),
        # One end: a quarter of it is the unit, of 0.4 at least.
        (Target(2, math.inf), 1.5, 1.0),
        (Target(2, math.inf), 9.0, 0.0),
        (Target(-math.inf, 0.0), 0.3, 3.0),
        # No tolerance, no number, no end.
        (Target(5, 5, 5), 6.0, None),
        (Target(8, 12, 10), math.nan, None),
        (None, 3.0, None),
    ],
)
def test_misses_are_counted_in_tolerances(target, value, missed):
    counted = tolerances_missed(target, Judged("", True, value))
    assert counted == (None if missed is None else pytest.approx(missed))


def test_an_order_says_how_far_it_is_from_holding():
    numbers = Numbers({})
    three, two = (
        FunctionValue(lambda _, value=value: Estimate(value, value, value, 1), []) for value in (3.0, 2.0)
    )
    # 3 above 2 by a third of 3; the other way round the same below.
    falls = partial(ordered, "s", "s", margin=0.0, why="any")
    assert falls([("a", three), ("b", two)]).judge(numbers).value == pytest.approx(1 / 3)
    wrong = falls([("b", two), ("a", three)]).judge(numbers)
    assert (wrong.holds, wrong.value) == (False, pytest.approx(-1 / 3))


def test_a_ratio_is_of_the_runs_that_both_cases_have():
    # (8 + 9)/(2 + 3) = 3.4; the third run above has nothing below it.
    numbers = Numbers({"many": [{"x": 8.0}, {"x": 9.0}, {"x": 70.0}], "few": [{"x": 2.0}, {"x": 3.0}]})
    assert numbers.ratio(("many", "x"), ("few", "x")).value == pytest.approx(3.4)
    assert numbers.ratio(("few", "x"), ("many", "x")).value == pytest.approx(5 / 17)


def test_the_error_of_a_number_is_that_of_its_mean():
    # 1 and 3: deviation sqrt(2), error of the mean 1; an interval of Student's has 12.7 times that.
    numbers = Numbers({"one": [{"x": 1.0}, {"x": 3.0}]})
    judged = near("s", "s", mean("one", "x"), 2, within=0.1, why="w").judge(numbers)
    assert (judged.value, judged.error) == (2, pytest.approx(1))
    relative = times("s", "s", mean("one", "x"), 2, factor=2, why="w").judge(numbers)
    assert relative.error == pytest.approx(0.5)


def trial(setting, holds, stage=DESIGN, possible=True):
    outcomes = {("figure-1", claim): Outcome(value, math.nan) for claim, value in holds.items()}
    return Trial(setting, stage, 1, 0, possible, {}, outcomes)


def test_verdicts_follow_from_what_was_tried():
    trials = [
        trial(
            {"buffer": buffer, "control": control},
            {"always": True, "never": False, "large": buffer == 50, "tcp": control == "reno"},
        )
        for buffer in (10, 25, 50)
        for control in ("reno", "vegas")
    ]
    trials.append(trial({"buffer": 10, "control": "reno"}, {"never": True}, possible=False))

    def judged(claim, holds, contradicted=False):
        return tried.judge(("figure-1", claim), holds, trials, "", contradicted)

    assert judged("always", True) == ("reproduced", 6, 6, "")
    assert judged("always", True).robust
    assert judged("never", False) == ("not found", 0, 6, "")
    assert judged("never", False, contradicted=True).kind == "contradicted"
    assert judged("large", False) == ("depends", 2, 6, "")
    assert not judged("tcp", True).robust
    assert tried.judge(("figure-1", "unknown"), False, []).kind == "differs"
    # "Not found" needs several values of every reading: `control` has two, `gain` has one.
    key = "figure-1", "never"
    with_gain = [replace(trial, setting={**trial.setting, "gain": 1}) for trial in trials]
    assert tried.judge(key, False, with_gain, readings=["control"]).kind == "not found"
    assert tried.judge(key, False, with_gain, readings=["control", "gain"]) == ("differs", 0, 6, "")


def test_claims_that_never_hold_together():
    def both(buffer, first, second, first_run=0):
        outcomes = {("figure-1", "a"): Outcome(first, 1.0), ("figure-2", "b"): Outcome(second, 1.0)}
        return Trial({"buffer": buffer}, DESIGN, 1, first_run, True, {}, outcomes)

    apart = [both(1, True, False), both(2, False, True), both(3, True, False), both(4, False, False)]
    assert tried.never_together(apart) == [(("figure-1", "a"), ("figure-2", "b"))]
    assert tried.never_together([*apart, both(5, True, True)]) == []


def test_a_setting_counts_once_whatever_its_seeds():
    def at(buffer, first_run, holds):
        outcomes = {("figure-1", "a"): Outcome(holds, 1.0)}
        return Trial({"buffer": buffer}, DESIGN, 1, first_run, True, {}, outcomes)

    trials = [at(1, 0, True), at(2, 0, False), at(1, 300, False), at(2, 300, False)]
    counted = tried.plausible(trials, ("figure-1", "a"))
    assert [(trial.setting["buffer"], trial.first_run) for trial in counted] == [(1, 0), (2, 0)]


def test_a_paper_that_says_nothing_of_inference_is_refused(paper):
    with pytest.raises(LookupError, match="has no \\[inference\\]"):
        infer.infer(replace(paper, inference=None))
    wrong = Inference({"figure-9": ["*"]}, {})
    with pytest.raises(LookupError, match="figure-9"):
        infer.infer(replace(paper, inference=wrong))
    both = Inference({"figure-1": ["*"]}, {"figure-1": ["queue"]})
    with pytest.raises(LookupError, match="in both fit and held_out"):
        infer.infer(replace(paper, inference=both))


def test_the_command_line_refuses_what_it_cannot_infer(ackclock_here):
    done = ackclock_here("reproduce", "--infer", "bic/table-2")
    assert done.returncode != 0
    assert "no paper bic/table-2" in done.stderr
    done = ackclock_here("reproduce", "--settings", "4", "bic")
    assert done.returncode != 0
    assert "--settings needs --infer" in done.stderr
    done = ackclock_here("reproduce", "--readings", "--infer", "bic")
    assert "--readings cannot be combined with --infer" in done.stderr


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_the_default_of_a_simulator_has_an_alternative(paper):
    # A paper need not have kept it, and another version had another.
    alone = [item.quantity for item in paper.items if item.values[0].basis == "default" and not item.is_open]
    assert alone == []


@pytest.mark.parametrize(
    "paper", [paper for paper in PAPERS.values() if paper.inferred], ids=lambda paper: paper.name
)
def test_what_was_tried_is_of_the_papers_claims_and_values(paper):
    known = {(artefact.name, claim.name) for artefact in paper.artefacts for claim in artefact.claims}
    trials = paper.trials
    assert {trial.stage for trial in trials} >= {"test", "refinement"}
    for trial in trials:
        assert set(trial.outcomes) <= known
        for item in paper.items:
            if item.name:
                item.find(trial.setting[item.name])
    chosen = [trial for trial in trials if trial.stage == "test" and trial.setting == paper.setting]
    assert chosen
    validation, scores = paper.inferred.validation, paper.inferred.scores
    if validation is None:
        # A search of an earlier version asked for any gain by the claims that were held out.
        assert paper.inferred.accepted == (scores["best"]["held_out"] > scores["declared"]["held_out"])
    else:
        assert paper.inferred.accepted == (validation.gain > 2 * validation.error)
    for item in paper.items:
        # A stated value never changes.
        assert not item.is_stated or not item.name or paper.setting[item.name] == item.declared


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_claims_that_choose_and_test_are_claims_of_the_paper(paper):
    # A search refuses what `[inference]` names and the paper does not have, before its first run.
    search = Search(paper, None, 1, lambda _: None)
    assert search.claims["fit"]
    assert search.claims["held_out"]
