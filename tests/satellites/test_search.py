"""The search for adversaries: genomes, the optimiser, minimising, the verb, and saved files."""

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock import engine
from ackclock.decision import Compared
from ackclock.metrics import Estimate
from ackclock_evaluate.evaluate import evaluate
from ackclock_evaluate.joins import harm_of
from ackclock_evaluate.results import CANDIDATE, CellResult, MarginResult, Measured, Request
from ackclock_evaluate.saved import OBJECTIVES, read
from ackclock_evaluate.setting import Subject
from ackclock_search import GENOMES, optimise, saved, search
from ackclock_search.figure import timeline
from ackclock_search.genome import Pattern
from ackclock_search.genomes import SUITED
from ackclock_search.minimise import minimise, rounded, smallest
from ackclock_search.run import Attempt

ROOT = Path(__file__).parents[2]
BUDGET = 32


needs_cma = pytest.mark.skipif(not optimise.is_installed(), reason="needs the extra ackclock[search]")


def vectors(size):
    return st.lists(st.floats(-50, 50), min_size=size, max_size=size).map(np.array)


@given(vectors(24))
def test_capacity_keeps_its_mean_and_its_bounds(x):
    # Weights lie within e^-2.5 and e^2.5, so no rate is below e^-5 times the largest, and none is
    # below 10 e^-5 = 0.067 Mbit/s.
    pattern = GENOMES["capacity"].pattern(x)
    assert np.mean(pattern.values) == pytest.approx(10)
    assert max(pattern.values) <= np.exp(5) * min(pattern.values) * (1 + 1e-9)
    assert min(pattern.values) >= 10 * np.exp(-5) * (1 - 1e-9)


@given(vectors(24))
def test_losses_are_one_percent_over_all(x):
    values = GENOMES["loss"].pattern(x).values
    assert np.mean(values) == pytest.approx(1, abs=1e-6)
    assert min(values) > 0
    assert max(values) <= 24


@given(vectors(24), st.sampled_from(["delay", "flow-delay"]))
def test_delays_are_within_half_a_round_trip(x, name):
    values = GENOMES[name].pattern(x).values
    assert min(values) >= 0
    assert max(values) <= 20


@given(vectors(4))
def test_pulses_are_on_for_at_most_half_of_the_time_at_three_times_the_rate(x):
    period_s, duration_s, rate_mbps, first_s = GENOMES["pulses"].pattern(x).values
    assert 0.1 * (1 - 1e-9) <= period_s <= 3.3 * (1 + 1e-9)
    assert 0.001 * (1 - 1e-9) <= duration_s <= 0.5 * period_s * (1 + 1e-9)
    assert 10 / 3 * (1 - 1e-9) <= rate_mbps <= 30 * (1 + 1e-9)
    assert 1 <= first_s <= 1 + period_s


@given(vectors(6))
def test_ordinary_paths_are_within_their_bounds(x):
    values = GENOMES["path"].pattern(x).values
    for value, (low, high) in zip(values, GENOMES["path"].bounds, strict=True):
        assert low * (1 - 1e-9) <= value <= high * (1 + 1e-9)
    assert values[3] == round(values[3])


@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from(sorted(GENOMES)))
def test_every_vector_is_a_scenario(data, name):
    genome = GENOMES[name]
    pattern = genome.pattern(data.draw(vectors(genome.size)))
    dropped = data.draw(st.frozensets(st.integers(0, genome.size - 1)))
    simpler = rounded(genome.without(pattern, dropped))
    for variant in (pattern, simpler, replace(simpler, length_s=genome.lengths_s[0])):
        read = engine.read(genome.scenario(variant, [(Subject("reno"), "c", 2)]))
        assert read.duration_s == variant.length_s


def test_capacity_of_a_pattern_is_its_mean_over_the_measured_time():
    # 12 s in slots of half a second, measured from 3 s: the mean of 6 to 23 is 14.5.
    pattern = Pattern(tuple(map(float, range(24))))
    assert GENOMES["capacity"].capacity_mbps(pattern) == pytest.approx(14.5)
    # 6 s, measured from 1.5 s: slots 3 to 11, mean 7.
    assert GENOMES["capacity"].capacity_mbps(replace(pattern, length_s=6)) == pytest.approx(7)


def test_an_unchanged_slot_makes_no_event():
    genome = GENOMES["delay"]
    pattern = Pattern(tuple(5.0 if 4 <= slot < 9 else 0.0 for slot in range(24)))
    scenario = genome.scenario(pattern, [(Subject("reno"), "c", 1)])
    assert [(event["at"], event["to"]) for event in scenario["event"]] == [
        ("2 s", "15 ms"),
        ("4.5 s", "10 ms"),
    ]


def test_pulses_leave_what_they_do_not_take():
    # 0.1 s of every second at 20 of 10 Mbit/s: a load of a fifth.
    genome = GENOMES["pulses"]
    assert genome.capacity_mbps(Pattern((1.0, 0.1, 20.0, 1.0))) == pytest.approx(8)
    assert genome.penalty(Pattern((1.0, 0.1, 20.0, 1.0))) == pytest.approx(0.2)
    # Half of the time at 20: all of it, and no ratio explodes.
    assert genome.penalty(Pattern((1.0, 0.5, 20.0, 1.0))) == pytest.approx(1)
    assert genome.capacity_mbps(Pattern((1.0, 0.5, 20.0, 1.0))) == pytest.approx(1)


def test_pulses_are_one_flow_that_sends_what_they_say():
    # From 1.5 s to 12 s a pulse every second, 11 of them, the last of which has half a second: 0.1
    # s at 20 Mbit/s are 166.7 packets of 1500 bytes each time.
    genome = GENOMES["pulses"]
    pattern = Pattern((1.0, 0.1, 20.0, 1.5))
    scenario = genome.scenario(pattern, [(Subject("constant", {"window": 2.0}), "c", 1)])
    assert len(scenario["flow"]) == 2
    flow = engine.simulate(engine.read(scenario), record=False).summary["flows"][1]
    assert flow["whole_run"]["sent_packets"] == pytest.approx(11 * 166.7, abs=11)
    _, times, values = timeline(scenario)
    assert times[1:5] == pytest.approx([1.5, 1.6, 2.5, 2.6])
    assert values[:3] == [0, 20, 0]


def test_the_more_permissive_baseline_counts():
    # Goodput 2 of 10 against 5 and 8: 0.3 behind the worse baseline. Delay 30 ms against 10 and 20
    # ms: a quarter of the round trip of 40 ms.
    assert OBJECTIVES["utilisation"].value(2, [5, 8], 10) == pytest.approx(0.3)
    assert OBJECTIVES["delay"].value(30, [10, 20], 40) == pytest.approx(0.25)
    assert OBJECTIVES["unused"].value(2, [], 10) == pytest.approx(0.8)


@given(st.frozensets(st.integers(0, 30), max_size=6), st.integers(0, 31))
def test_delta_debugging_leaves_exactly_what_is_needed(needed, count):
    items = range(max(count, max(needed, default=-1) + 1))
    assert smallest(items, lambda sets: [needed <= kept for kept in sets]) == needed


@given(st.lists(st.frozensets(st.integers(0, 11), min_size=1), min_size=1, max_size=4))
def test_no_item_of_the_result_can_be_left_out(ways):
    def holds(sets):
        return [any(way <= kept for way in ways) for kept in sets]

    left = smallest(range(12), holds)
    assert holds([left]) == [True]
    assert not any(holds([left - {item} for item in left]))


def test_minimising_keeps_the_change_that_matters():
    # A toy: a pattern is worth 1 if the delay is above 10 ms from 5 to 6 s, slots 10 and 11.
    genome = GENOMES["delay"]
    noisy = Pattern(tuple(12.3456 + 0.1 * slot for slot in range(24)))

    def values(patterns):
        return [float(p.length_s >= 6 and all(v > 10 for v in p.values[10:12])) for p in patterns]

    simplest = minimise(genome, noisy, values)
    assert simplest.length_s == 6
    scenario = genome.scenario(simplest, [(Subject("reno"), "c", 1)])
    # One change is left, with two digits: 10 + 13 ms or so, at any time up to slot 10.
    assert len(scenario["event"]) == 1
    assert len(str(simplest.values[11]).replace(".", "").strip("0")) <= 2


def test_minimising_returns_a_worthless_pattern_as_it_is():
    pattern = Pattern(tuple(float(slot) for slot in range(24)))
    assert minimise(GENOMES["delay"], pattern, lambda patterns: [0.0] * len(patterns)) == pattern


def _sphere(centre):
    seen = []

    def together(vectors):
        seen.extend(vectors)
        return [-float(np.sum((vector - centre) ** 2)) for vector in vectors]

    return seen, together


@needs_cma
@pytest.mark.parametrize("budget", [32, 100, 333])
def test_a_search_tries_exactly_as_many_as_random_draws(budget):
    seen, together = _sphere(np.ones(6))
    optimise.maximise(together, 6, budget, 1, crossover=True)
    drawn, randomly = _sphere(np.ones(6))
    optimise.at_random(randomly, 6, budget, 1)
    assert len(seen) == len(drawn) == budget


@needs_cma
def test_a_search_climbs():
    # Six standard normal numbers are on average 12 away from (1, ..., 1), squared; the best of 480
    # draws still about 1. A search that does not learn comes no closer.
    seen, together = _sphere(np.ones(6))
    optimise.maximise(together, 6, 480, 1, crossover=False)
    assert min(np.sum((vector - 1) ** 2) for vector in seen) < 0.2


@needs_cma
def test_a_search_is_repeatable_and_seeds_differ():
    def tried(seed):
        seen, together = _sphere(np.zeros(24))
        np.random.default_rng().random()
        optimise.maximise(together, 24, 240, seed, crossover=True)
        return np.array(seen)

    np.testing.assert_array_equal(tried(3), tried(3))
    assert not np.array_equal(tried(3), tried(4))


@needs_cma
def test_cma_restarts_with_twice_the_population():
    sizes = []

    def together(vectors):
        sizes.append(len(vectors))
        return [-float(np.sum(vector**2)) for vector in vectors]

    optimise.maximise(together, 2, 3000, 1, crossover=False)
    assert sizes[0] == 16
    assert 32 in sizes


@needs_cma
def test_the_mean_of_a_noisy_search_is_near_what_it_looks_for():
    # Noise of 1 hides everything within a distance of 1: the luckiest of 480 vectors lies anywhere
    # there, the mean of repeated choices is nearer.
    away = []
    for seed in range(1, 6):
        noise = np.random.default_rng(seed)
        seen, exact = _sphere(np.ones(4))

        def noisy(vectors, noise=noise, exact=exact):
            return [value + noise.normal() for value in exact(vectors)]

        mean = optimise.maximise(noisy, 4, 480, seed, crossover=False)[0]
        assert len(seen) == 480
        away.append(float(np.linalg.norm(mean - 1)))
    assert np.mean(away) < 0.5


@needs_cma
def test_every_generation_has_other_runs():
    noted = []

    class Noted:
        candidate = Subject("reno")

        @staticmethod
        def results(cells, *, runs, **_):
            noted.append((len(cells), runs))
            measured = Measured(numbers=[{"goodput": 1.0}] * len(runs))
            return [CellResult(cell, {CANDIDATE: measured}, [], []) for cell in cells]

    attempt = Attempt(Noted(), OBJECTIVES["unused"], GENOMES["pulses"], 1, 2)
    attempt.look(48, optimised=True)
    # Three generations of sixteen by the optimiser, and the same runs for the random draws.
    assert noted == [(16, range(0, 2)), (16, range(2, 4)), (16, range(4, 6))] * 2


def test_the_number_of_judged_patterns_is_paid_for():
    class Judged:
        candidate = Subject("reno")

        @staticmethod
        def results(cells, *, runs, **_):
            measured = Measured(numbers=[{"goodput": 1.0, "loss": 0.1}] * len(runs))
            subjects = dict.fromkeys((CANDIDATE, "reno", "cubic-linux"), measured)
            worse = Compared("worse", 0.02, None, identical=False, effect=Estimate(1.5, 1.1, 1.9, 10))
            return [
                CellResult(cell, subjects, [MarginResult(cell.judged[0], "reno", worse)], [])
                for cell in cells
            ]

    genome = GENOMES["pulses"]
    attempt = Attempt(Judged(), OBJECTIVES["loss"], genome, 1, 2)
    pattern = genome.pattern(np.zeros(genome.size))
    # Holm multiplies the smallest of n probabilities by n: 0.02 and 0.04 are below 5 %, and 0.06 is not.
    for number, verdict in ((1, "worse"), (2, "worse"), (3, "undecided")):
        assert [each.verdict for each in attempt.judged([pattern] * number)] == [verdict] * number


def test_a_search_beats_random_draws_when_the_interval_says_so(searched):
    best = Estimate(0.7, 0.65, 0.75, 10)
    # 0.1 and 0.05 more, with intervals of 0.05 each, at right angles 0.071.
    for random, beats in ((0.6, True), (0.65, False)):
        at_random = Estimate(random, random - 0.05, random + 0.05, 10)
        assert replace(searched, fresh=best, fresh_at_random=at_random).beats_random is beats


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """Search for scenarios in which `constant`, which never backs off, loses more than the baselines."""
    cache = tmp_path_factory.mktemp("numbers")
    return search(
        Subject("constant", {"window": 60}),
        "loss",
        cache,
        budget=BUDGET,
        genomes=["capacity"],
        jobs=2,
        shown=False,
        optimised=False,
    )[0]


def test_a_control_that_never_backs_off_has_adversaries(searched):
    # A window of 60 packets on a path that holds 33, with a queue of 33 and a rate that varies.
    assert searched.adversaries
    assert all(adversary.verdict == "worse" for adversary in searched.adversaries)
    assert searched.budget == BUDGET == len(searched.history)
    assert not searched.failures


def test_a_saved_adversary_gives_its_number_again(searched, tmp_path):
    adversary = searched.adversaries[0]
    [(file, _)] = saved.save_all([adversary], tmp_path, "ackclock evaluate ...")
    assert file.name == "constant-loss-1.toml"
    command = [sys.executable, "-m", "ackclock", "simulate", str(file), "--runs", "10", "--json"]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    shares = []
    for line in lines:
        flow = json.loads(line)["flows"][0]
        shares.append(flow["dropped_packets"] / flow["sent_packets"])
    assert np.mean(shares) == pytest.approx(adversary.estimates["candidate"].value)
    assert f"#   constant: {adversary.estimates['candidate']}" in file.read_text()


def test_saved_adversaries_are_a_suite(searched, tmp_path):
    saved.save_all(searched.adversaries[:1], tmp_path, "ackclock evaluate ...")
    criterion = read(tmp_path)
    request = Request(Subject("constant", {"window": 60}), (criterion,))
    again = evaluate(request, tmp_path / "numbers", jobs=2, shown=False)
    assert again.results[0].verdict == "worse"
    request = Request(Subject("reno"), (criterion,))
    assert evaluate(request, tmp_path / "numbers", jobs=2, shown=False).results[0].verdict == "like"


def test_the_same_seed_gives_the_same_bytes(searched, tmp_path):
    again = search(
        Subject("constant", {"window": 60}),
        "loss",
        tmp_path / "numbers",
        budget=BUDGET,
        genomes=["capacity"],
        jobs=1,
        shown=False,
        optimised=False,
    )[0]
    texts = [
        [saved.text(adversary, "x.toml", "command") for adversary in result.adversaries]
        for result in (searched, again)
    ]
    assert texts[0] == texts[1]
    assert searched.history == again.history


def test_a_search_resumes_from_kept_numbers(tmp_path):
    lines = []
    arguments = {
        "budget": BUDGET,
        "genomes": ["pulses"],
        "jobs": 1,
        "shown": False,
        "optimised": False,
        "tell": lines.append,
    }
    first = search(Subject("reno"), "unused", tmp_path, **arguments)[0]
    content = (tmp_path / "runs.sqlite").read_bytes()
    second = search(Subject("reno"), "unused", tmp_path, **arguments)[0]
    assert (tmp_path / "runs.sqlite").read_bytes() == content
    assert first.history == second.history
    assert lines[0] == lines[1]


def test_a_control_compared_with_itself_has_no_adversary(tmp_path):
    # Reno's runs equal the runs of the baseline Reno, bit by bit.
    outcome = search(
        Subject("reno"),
        "utilisation",
        tmp_path,
        budget=BUDGET,
        genomes=["capacity"],
        jobs=2,
        shown=False,
        optimised=False,
    )[0]
    assert not outcome.adversaries
    assert outcome.history[-1] <= 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"objective": "speed"}, 'unknown objective "speed": choose from utilisation'),
        ({"objective": "delay", "genomes": ["rate"]}, 'unknown genome "rate": did you mean "path"'),
        ({"objective": "delay", "budget": 8}, "at least 32, not 8"),
    ],
)
def test_an_impossible_search_is_refused(arguments, words, tmp_path):
    with pytest.raises(engine.ScenarioError, match=words):
        search(Subject("reno"), cache=tmp_path, shown=False, **arguments)


def test_an_unknown_control_is_refused_before_the_first_run(ackclock_here, tmp_path):
    done = ackclock_here("search", "cop", "starvation")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'cop: controller: unknown control "cop", did you mean "copa" or "copa@kernel"?\n'
    assert not any(tmp_path.iterdir())


def test_a_dry_run_counts_the_runs_of_a_search_and_writes_nothing(ackclock_here, tmp_path):
    arguments = ("search", "reno", "unused", "--genome", "pulses", "--budget", "32", "--dry-run")
    done = ackclock_here(*arguments, "--live", "--json")
    assert done.returncode == 0, done.stderr
    cost = json.loads(done.stdout)
    # Two for each run of a pattern. Draws, and the optimiser if it is installed, have two runs of 32 patterns
    # and five of the 20 on the shortlist; ten are of each of the five best and of the best draw.
    looks = 2 if optimise.is_installed() else 1
    assert cost["runs"] == 2 * (looks * (32 * 2 + 20 * 5) + 10 * 6)
    assert cost["simulated_s"] == 12 * cost["runs"]
    assert " runs; " in ackclock_here(*arguments).stdout
    assert not any(tmp_path.iterdir())


def test_the_worst_of_the_draws_is_kept_when_the_optimiser_misses_it(monkeypatch, tmp_path):
    # The optimiser tries nothing but a pulse of a millisecond at a third of the rate every three seconds.
    def mild(together, *_, **__):
        together([np.array([9.0, -9.0, -9.0, 0.0])])
        return []

    monkeypatch.setattr(optimise, "maximise", mild)
    outcome = search(
        Subject("reno"),
        "unused",
        tmp_path,
        budget=BUDGET,
        genomes=["pulses"],
        jobs=2,
        shown=False,
        optimised=True,
    )[0]
    assert outcome.fresh.value < 0.2
    assert not outcome.beats_random
    assert outcome.adversaries


def test_every_objective_has_genomes_that_suit():
    assert SUITED.keys() == OBJECTIVES.keys()
    assert all(set(names) <= GENOMES.keys() for names in SUITED.values())


def test_the_verb_writes_adversaries_and_a_page(ackclock_here, tmp_path):
    # Some of 32 random pulses leave half of the path to nobody, whatever the optimiser does.
    arguments = ("search", "reno", "unused", "--genome", "pulses", "--budget", BUDGET, "--json")
    done = ackclock_here(*arguments)
    assert done.returncode == 0, done.stderr
    place = tmp_path / "results" / "search=reno-unused"
    record = json.loads((place / "search.json").read_text())
    assert record == json.loads(done.stdout)
    assert [genome["budget"] for genome in record["genomes"]] == [BUDGET]
    text = (place / "index.html").read_text()
    assert record["adversaries"]
    for adversary in record["adversaries"]:
        file = tmp_path / adversary["file"]
        assert adversary["value"][1] > 0.5
        assert f'href="../found/{file.name}"' in text
        assert f'data-charts="{file.stem}"' in text
        assert read(file.parent).cells("quick")
    # A second search replaces the page; other content is kept.
    assert ackclock_here(*arguments).returncode == 0
    (place / "mine.txt").touch()
    assert ackclock_here(*arguments).returncode == 1


def test_a_folder_without_saved_adversaries_is_refused(tmp_path):
    with pytest.raises(engine.ScenarioError, match="contains no adversaries"):
        read(tmp_path)
    file = tmp_path / "a.toml"
    file.write_text('[run]\nduration = "1 s"\n')
    with pytest.raises(engine.ScenarioError, match="needs one line # objective: NAME"):
        read(tmp_path)


def test_the_benchmark_says_of_the_optimiser_what_the_document_says(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benches")
    import adversaries as bench

    text = (ROOT / "docs" / "adversaries.md").read_text("utf-8")
    scores = bench.read()
    assert len(scores) == len(bench.PROBLEMS) * len(bench.SEEDS)
    for problem in bench.PROBLEMS:
        pairs = [scores[problem, seed] for seed in bench.SEEDS]
        ours, theirs = np.mean(pairs, axis=0)
        ahead = bench.ahead(scores, [problem])
        numbers = f"{ours:.3f} | {theirs:.3f} | {ahead.value:.3f} [{ahead.low:.3f}, {ahead.high:.3f}]"
        won = sum(mine > drawn for mine, drawn in pairs)
        control, objective, genome = problem
        assert f"| `{control}` | `{objective}` | `{genome}` | {numbers} | {won} |" in text
    together = bench.ahead(scores, bench.PROBLEMS)
    assert f"by {together.value:.3f} [{together.low:.3f}, {together.high:.3f}]" in text
    assert bench.stays(scores)


searched_in_full = pytest.mark.skipif(
    "ACKCLOCK_SEARCH" not in os.environ,
    reason="takes minutes: set ACKCLOCK_SEARCH to search from nothing with the quick budget",
)


@searched_in_full
def test_the_search_finds_that_bbr_collapses_when_acks_come_in_groups(tmp_path):
    # BBR version 1 sends at most two bandwidth-delay products and three packets per group of ACKs.
    outcome = search(Subject("bbr"), "utilisation", tmp_path, genomes=["path"])[0]
    assert outcome.beats_random
    worst = max(outcome.adversaries, key=lambda adversary: adversary.value.value)
    assert "aggregation" in worst.scenario["dumbbell"]["reverse"]
    mine, cubic = worst.estimates["candidate"], worst.estimates["cubic-linux"]
    assert mine.value < 0.25 * cubic.value


@searched_in_full
def test_the_search_finds_the_resonance_with_the_smallest_timeout(tmp_path):
    # Kuzmanovic and Knightly: nothing is left at a period of the smallest timeout, 1 s, or half.
    # With four numbers as many random draws come close: docs/adversaries.md has six seeds.
    outcome = search(Subject("reno"), "unused", tmp_path, genomes=["pulses"])[0]
    assert outcome.adversaries
    (pulses,) = [flow for flow in outcome.adversaries[0].scenario["flow"] if flow["name"] == "pulses"]
    period_s = engine.quantity(pulses["pulse"]["every"], "time_s")
    assert any(0.95 <= period_s / resonance_s <= 1.3 for resonance_s in (1.0, 0.5))


@searched_in_full
def test_the_search_finds_that_a_wrong_base_rtt_starves_fast(tmp_path):
    # Ahead of random draws with each of three seeds, beyond chance with one: docs/adversaries.md.
    outcome = search(Subject("fast"), "starvation", tmp_path, genomes=["flow-delay"])[0]
    assert outcome.adversaries


VALUES = st.text(max_size=5) | st.integers(-1000, 1000) | st.booleans() | st.floats(-1e6, 1e6)
INNER = VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(st.sampled_from("xy"), VALUES)


@given(st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("xyz"), INNER)))
def test_toml_is_read_back_as_it_was(table):
    assert tomllib.loads(saved.toml(table)) == table


FOUND = sorted((ROOT / "scenarios" / "found").glob("*.toml"))
PAGE = (ROOT / "docs" / "adversaries.md").read_text(encoding="utf-8")


def test_the_saved_findings_are_a_suite():
    assert FOUND
    assert len(read(FOUND[0].parent).cells("quick")) == len(FOUND)


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.stem)
def test_a_saved_finding_names_its_digest(file):
    written = re.search(r"; digest (\S+)\.$", file.read_text(), re.MULTILINE)[1]
    assert engine.read(file).digest == written


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.stem)
def test_a_saved_finding_is_still_what_it_says(file):
    # The file has the mean of ten runs of each control after its name and a colon.
    text = file.read_text()
    objective = OBJECTIVES[re.search(r"^# objective: (\w+)$", text, re.MULTILINE)[1]]
    parts = objective.parts(tomllib.loads(text))
    numbers = []
    for run in range(saved.FRESH_RUNS):
        measured = {
            name: part.measure(engine.simulate(part.scenario, run=run, record=part.records))
            for name, part in parts.items()
        }
        numbers.append(harm_of(measured) if objective.with_victim else measured["run"])
    mean = np.mean([run[objective.margin.metric] for run in numbers])
    written = re.search(r"^#   \S+: (\S+) \[", text, re.MULTILINE)[1]
    assert float(written) == float(f"{mean:.4g}")


ROWS = re.findall(r"^\| \[`.*\]\(\.\./scenarios/found/(\S+?)\.toml\) .*", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", ROWS)
def test_the_page_of_adversaries_has_what_the_findings_say(name):
    row = next(line for line in PAGE.splitlines() if line.startswith("| [`") and f"/{name}.toml)" in line)
    *_, candidate, cubic, reno, _, _ = row.split("|")
    number = r"([\d.]+)( %)?"
    mean, percent, low, high = re.search(rf"{number}[^\[|]*\[([\d.]+), ([\d.]+)\]", candidate).groups()
    shown = [mean, low, high, *(re.search(number, cell)[1] for cell in (cubic, reno))]
    text = (FOUND[0].parent / f"{name}.toml").read_text()
    own = re.search(r"^#   (?!baseline).*: (\S+) \[(\S+), (\S+)\]", text, re.MULTILINE).groups()
    baselines = re.findall(r"^#   baseline .*: (\S+) \[", text, re.MULTILINE)
    for cell, value in zip(shown, map(float, [*own, *baselines]), strict=True):
        # A file has four digits, which may have been rounded up to half a digit of the page.
        last = 10.0 ** -len(cell.partition(".")[2])
        assert abs(float(cell) - value * (100 if percent else 1)) <= last / 2 * (1 + 1e-9), (cell, value)


def test_a_saved_adversary_is_drawn_as_it_changes():
    folder = FOUND[0].parent
    # 1.3 s from the start of one pulse to the next, each of 0.24 s, and none after the end.
    pulses = tomllib.loads((folder / "reno-unused-3.toml").read_text())
    label, times, values = timeline(pulses)
    assert label == "pulses (Mbit/s)"
    assert times[1:4] == pytest.approx([1.0, 1.24, 2.3])
    assert values[:3] == pytest.approx([0, 11, 0])
    # From 3 s on one flow has 17 ms more: 18 in place of 1.
    label, times, values = timeline(tomllib.loads((folder / "fast-starvation-1.toml").read_text()))
    assert (label, times, values) == ("extra delay (ms)", [0, 3], [0, 17])
    # Nothing changes during a run.
    still = tomllib.loads((folder / "bbr-utilisation-1.toml").read_text())
    assert timeline(still) is None
