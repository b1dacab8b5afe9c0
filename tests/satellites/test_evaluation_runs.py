"""The number of runs of a comparison: until it is decided, or unlikely to be decided."""

from dataclasses import replace

import numpy as np
import pytest

from ackclock.decision.comparisons import Margin, compare
from ackclock.decision.margins import LOSS
from ackclock.runs import Answer
from ackclock_evaluate import timelines, work
from ackclock_evaluate.cell import Cell, Criterion, Part, Parts
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import Bottleneck, Subject

ALIKE = [0.0, 0.1, 0.0, 0.1, 0.0]
WORSE = [5.0, 5.1, 5.2, 5.3, 5.4]
"""Past a margin of 1 by forty standard errors."""


def test_the_runs_that_are_needed_on_two_scales() -> None:
    # The ratio is tenfold, far past 1.1: that scale is decided. The differences 8, 10, 9, 8.5 and
    # 11 have the mean 9.3 and the spread 1.204, so twice the error is 1.077, and the margin is 10:
    # (1.077/0.7)^2 x 5 = 11.8 runs are needed to be alike, however clear the ratio is.
    delay = Margin("delay", "ms", higher_is_better=False, ratio=1.1, difference=10.0)
    assert compare([9.0, 11.0, 10.0, 9.5, 12.0], [1.0] * 5, delay).runs_needed == 12
    # With 1.4 more each the mean is as far past the margin: to be worse both must be past theirs.
    compared = compare([10.4, 12.4, 11.4, 10.9, 13.4], [1.0] * 5, delay)
    assert (compared.verdict, compared.runs_needed) == ("undecided", 12)


def runs_after(*cells: list[float]) -> list[int]:
    """Return the runs of cells in which the candidate has these losses and the baselines none."""

    def cell(at: int) -> Cell:
        path = Bottleneck(1 + at)

        def parts(who: Subject) -> Parts:
            return {"run": Part(path.scenario(who.flow("c", 40), duration_s=2), len)}  # type: ignore[arg-type]

        return Cell(str(at), parts, judged=(replace(LOSS, ratio=None, difference=1.0),))

    listed = [cell(at) for at in range(len(cells))]
    criterion = Criterion("losses", "", "", "", "", cells=lambda _: listed)
    kept: dict[str, Answer] = {}
    evaluation = work.Work(Request(Subject("bic"), (criterion,)), kept)  # type: ignore[arg-type]
    for index, losses in enumerate(cells):
        for subject in range(3):
            for run, _, job in evaluation.jobs(index, subject):
                numbers = {"loss": 0.0 if subject else losses[run]}
                kept[job.key] = Answer({"numbers": numbers, "curves": {}, "flows": {}})
    assert evaluation.undecided() == any(runs > 5 for runs in evaluation.runs)
    return evaluation.runs


def test_one_confirmed_comparison_settles_a_criterion() -> None:
    # Mean 1.32, standard error 0.0837: t = 3.82 past the margin, p = 0.019 by itself, 0.037 with the half of
    # the error that the first look spends, which Holm's correction for two makes 0.075.
    worse = [1.17, 1.37, 1.27, 1.62, 1.17]
    assert runs_after(worse, ALIKE) == [10, 5]
    assert runs_after(worse) == [5]
    # Next to a comparison that is confirmed it changes nothing for the criterion.
    assert runs_after(worse, WORSE) == [5, 5]


def test_a_comparison_that_will_hardly_be_decided_gets_no_more_runs() -> None:
    # Mean 0.95, standard error 0.0707: (2 x 0.0707/0.05)^2 x 5 = 40 runs, more than there may be,
    # but whether it is 0.05 to the margin is known to 0.07 only.
    assert runs_after([0.75, 1.15, 0.85, 1.05, 0.95]) == [10]
    # The same at 0.999: a thousand runs.
    assert runs_after([0.8, 1.2, 0.9, 1.1, 0.995]) == [5]


def test_the_time_to_recover_does_not_tick() -> None:
    # 5 Mbit/s from a moment on, nothing before. The mean over the last second is half of that half
    # a second later, whatever the moment is: 0.5 + delay, in samples of 0.1 s.
    time_s = np.arange(1, 301) / 10
    for delay_s in np.arange(0.5, 10.0, 0.1):
        # Bytes per sample at 5 Mbit/s: 62 500; the sample in which it begins has a part of them.
        share = np.clip((time_s - (10.0 + delay_s)) / 0.1, 0.0, 1.0)
        recovery_s = timelines.first_time(time_s, 62_500 * share, 10.0, 30.0, 2.5)
        assert recovery_s == pytest.approx(delay_s + 0.5, abs=0.011)
    never = timelines.first_time(time_s, np.zeros(300), 10.0, 30.0, 2.5)
    assert never == 20.0
    at_once = timelines.first_time(time_s, np.full(300, 62_500.0), 10.0, 30.0, 2.5)
    assert at_once == 1.0
