"""How often `compare` is wrong, by draws whose truth is known, and its distributions against SciPy's."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ackclock.comparison.questions import BY_KEY, FIRST_SCREEN
from ackclock.comparison.ranking import Ranking, ranked
from ackclock.decision import against_one, all_pairs, not_excluded, two_modes, with_the_best
from ackclock.decision.best import ALIKE_RUNS
from ackclock.decision.margins import GOODPUT

FILE = Path(__file__).resolve().parents[1] / "docs" / "decided.py"
SPEC = importlib.util.spec_from_file_location("decided", FILE)
assert SPEC is not None
decided = importlib.util.module_from_spec(SPEC)
assert SPEC.loader is not None
SPEC.loader.exec_module(decided)


def at_most(probability: float, draws: int) -> float:
    """Return the share of draws that a probability exceeds in one of a thousand cases."""
    return float(stats.binom.isf(0.001, draws, probability)) / draws


@pytest.mark.parametrize("means", [2, 3, 8, 12])
@pytest.mark.parametrize("degrees", [2, 4, 8, 33, 1000])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_all_pairs_is_the_studentized_range_of_scipy(means: int, degrees: int, level: float) -> None:
    known = stats.studentized_range.sf(math.sqrt(2) * all_pairs(means, degrees, level), means, degrees)
    assert known == pytest.approx(level, rel=2e-3)


@pytest.mark.parametrize(("means", "runs"), [(2, 3), (3, 3), (6, 5), (12, 4)])
def test_against_one_is_dunnetts_test_of_scipy(means: int, runs: int) -> None:
    # The samples are shifted so that the largest mean is as far above the control as is critical at 5 %:
    # SciPy's smallest probability is then 0.05. Its integral is itself random, to within about 0.001.
    random = np.random.default_rng(means)
    samples = random.normal(0, 1, (means, runs))
    samples -= samples.mean(axis=1, keepdims=True)
    error = math.sqrt(float(samples.var(axis=1, ddof=1).mean()) * 2 / runs)
    samples[1:] -= 3 * error
    samples[1] += (3 + against_one(means, means * (runs - 1), 0.05)) * error
    done = stats.dunnett(*samples[1:], control=samples[0], alternative="greater", rng=random)
    assert min(done.pvalue) == pytest.approx(0.05, abs=0.003)


def test_of_two_controls_the_test_is_students() -> None:
    for degrees in (2, 7, 30):
        assert all_pairs(2, degrees, 0.05) == pytest.approx(stats.t.isf(0.025, degrees), rel=1e-4)
        assert against_one(2, degrees, 0.05) == pytest.approx(stats.t.isf(0.05, degrees), rel=1e-4)


def test_fewer_degrees_of_freedom_are_on_the_safe_side() -> None:
    assert all_pairs(3, 2.2, 0.05) == all_pairs(3, 2.0, 0.05) > all_pairs(3, 2.25, 0.05)


@pytest.mark.parametrize("name", list(decided.DRAWN))
@pytest.mark.parametrize(("controls", "runs"), [(2, 5), (8, 3), (12, 5)])
def test_among_equal_controls_nobody_is_behind_by_chance(name: str, controls: int, runs: int) -> None:
    # A question of the first screen has a fifth of the 5 %. Without the correction of the number of controls
    # it was 19 % of 8 controls and 34 % of 12, with three runs and this scatter.
    assert decided.false_alarms(name, controls, runs, 0.4, 200) <= at_most(0.05 / len(FIRST_SCREEN), 200)


@pytest.mark.parametrize("name", list(decided.DRAWN))
def test_over_all_questions_of_the_first_screen_five_per_cent(name: str) -> None:
    random = np.random.default_rng(77)
    wrong = 0
    for _ in range(80):
        draws = [decided.DRAWN[name](random, 0.4, (8, 3)) for _ in FIRST_SCREEN]
        wrong += any("behind" in decided.standings(each) for each in draws)
    assert wrong / 80 <= at_most(0.05, 80)


def test_controls_that_scatter_unequally_are_not_behind_by_chance() -> None:
    # Half of eight equal controls scatter eight times as much: one pooled variance is too small.
    random = np.random.default_rng(78)
    spreads = np.array([0.05, 0.4] * 4)[:, None]
    for runs in (3, 5):
        draws = 10 * (1 + spreads * random.normal(0, 1, (150, 8, runs)))
        wrong = np.mean(["behind" in decided.standings(np.maximum(each, 0)) for each in draws])
        assert wrong <= at_most(0.05 / len(FIRST_SCREEN), 150)


@pytest.mark.parametrize("runs", [ALIKE_RUNS, 20])
def test_a_control_that_collapses_is_not_alike_by_chance(runs: int) -> None:
    # 0.8^14 = 0.044: the chance that a collapse in a fifth of all runs is not in one of 14.
    assert decided.collapsing(runs, 500).get("alike", 0.0) <= at_most(0.05, 500)


@pytest.mark.parametrize("runs", [3, 5, 10, ALIKE_RUNS - 1])
def test_few_runs_never_show_controls_to_be_alike(runs: int) -> None:
    shares = decided.collapsing(runs, 100)
    assert "alike" not in shares
    placed = with_the_best({"a": [10.0] * runs, "b": [10.0] * runs}, GOODPUT)
    assert (placed["b"].standing, placed["b"].runs_needed) == ("close", ALIKE_RUNS)


def test_a_control_just_past_the_margin_is_alike_in_five_per_cent() -> None:
    # The worst of four controls is a tenth below the others, so exactly at the margin.
    random = np.random.default_rng(79)
    alike = 0
    for _ in range(200):
        samples = random.normal(10, 0.3, (4, ALIKE_RUNS))
        samples[3] /= 1.1
        alike += decided.standings(samples)[3] == "alike"
    assert alike / 200 <= at_most(0.05, 200)


def test_what_no_run_shows_is_not_excluded() -> None:
    # (1 - p)^n = 0.05; the three values are those of the rule of three, made exact.
    assert [round(100 * not_excluded(runs)) for runs in (3, 5, 10, 14)] == [63, 45, 26, 19]


def test_a_large_difference_is_found_in_few_runs() -> None:
    # At a CoV of 0.1, one of five controls; before the correction these were 99 and 100 % of the draws.
    assert decided.power(5, 5, 0.3, 0.1, 100) >= 0.7
    assert decided.power(5, 3, 0.5, 0.1, 100) >= 0.75


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([10.0, 10.1, 9.9, 1.0, 10.0], (1.0, 10.0, 1, 4)),
        ([1.0, 1.1, 9.0, 9.1, 9.0, 1.0], (3.1 / 3, 27.1 / 3, 3, 3)),
        # Four runs do not show two modes; neither do equal steps, nor modes that differ by a twentieth.
        ([10.0, 10.0, 10.0, 1.0], None),
        ([1.0, 2.0, 3.0, 4.0, 5.0], None),
        ([10.0, 10.0, 10.5, 10.5, 10.5], None),
        ([10.0] * 5, None),
        ([math.nan, 10.0, 10.0, 10.0, 1.0], None),
    ],
)
def test_two_modes(values: list[float], expected: tuple[float, float, int, int] | None) -> None:
    modes = two_modes(values)
    shown = None if modes is None else (modes.low, modes.high, modes.low_runs, modes.high_runs)
    assert shown == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("runs", [5, 10, 20])
def test_normal_scatter_has_one_mode(runs: int) -> None:
    # Dixon's ratio of five runs is above 0.8 in somewhat less than 2 % of samples, for an outlier on either
    # side; a gap between two and three runs adds to it.
    random = np.random.default_rng(80)
    assert np.mean([two_modes(each) is not None for each in random.normal(10, 2, (3000, runs))]) <= 0.03


def _goodputs(**values: list[float]) -> Ranking:
    return ranked(BY_KEY["goodput"], values, 1.0)


def test_nobody_is_best_where_the_runs_do_not_tell() -> None:
    # Means of 10 and 8 with standard errors of 3: nothing.
    shown = _goodputs(a=[4.0, 10.0, 16.0], b=[2.0, 8.0, 14.0])
    assert set(shown.standings.values()) == {"undecided"}
    assert shown.leaders == []
    assert shown.fewest is not None
    # A third that is far behind makes it known that it is not the best.
    with_third = _goodputs(a=[9.9, 10.0, 10.1], b=[8.0, 9.5, 10.9], c=[1.0, 1.1, 0.9])
    assert list(with_third.standings.values()) == ["best", "undecided", "behind"]


def test_the_runs_that_are_needed_decide() -> None:
    # By the scatter of a CoV of 0.2 a control with 30 % less needs so many runs; they find it in most draws.
    # The distance from the margin is then the critical value times the error: half of the draws find it.
    random = np.random.default_rng(81)
    base = np.array([-1.0, -1.0, 0.0, 1.0, 1.0]) / 0.8**0.5 / (5 / 4) ** 0.5
    shown = with_the_best({"a": list(10 + 2 * base), "b": list(7 + 1.4 * base)}, GOODPUT)
    needed = shown["b"].runs_needed
    assert shown["b"].standing == "undecided"
    assert needed is not None
    detected = 0
    for _ in range(200):
        samples = {"a": list(random.normal(10, 2, needed)), "b": list(random.normal(7, 1.4, needed))}
        detected += with_the_best(samples, GOODPUT)["b"].standing == "behind"
    assert detected / 200 >= 0.4
