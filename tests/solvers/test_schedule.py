"""How precisely masters are solved, and when training ends."""

from dataclasses import replace

import numpy as np
import pytest

from cwboost import CWBoostClassifier
from cwboost.solvers.schedule import MOST_IDLE, POLISHED, BoostingSettings, Schedule

TOTAL = BoostingSettings(C=1.0, solver="fcd", max_working_sets=4, epsilon=0.05, tol=1e-3)


def rounds_until_the_end(objectives, exact, tol=1e-3):
    schedule = Schedule(replace(TOTAL, tol=tol), exact)
    for n, objective in enumerate(objectives, 1):
        if not schedule.goes_on(objective):
            assert schedule.stop_reason == "tol"
            return n
    return None


def test_one_round_without_gain_ends_training_only_if_no_other_learner_could_gain():
    still = [1.0, 0.9] + [0.9] * 30
    assert rounds_until_the_end(still, exact=True) == 3
    assert rounds_until_the_end(still, exact=False) == 2 + MOST_IDLE
    assert rounds_until_the_end(still, exact=False, tol=0.0) is None


def test_the_rounds_without_gain_must_be_in_a_row():
    values = np.repeat(0.99 ** np.arange(40), MOST_IDLE)
    assert rounds_until_the_end(values, exact=False) is None
    values = np.repeat(0.99 ** np.arange(40), MOST_IDLE + 1)
    assert rounds_until_the_end(values, exact=False) == MOST_IDLE + 1


def test_a_restored_schedule_has_counted_the_rounds_before():
    schedule = Schedule(TOTAL, False)
    schedule.goes_on(1.0)
    for _ in range(MOST_IDLE - 1):
        assert schedule.goes_on(1.0)
    other = Schedule(TOTAL, False)
    other.restore(schedule.state(), 1.0)
    assert not other.goes_on(1.0)


def test_solves_become_more_precise_while_no_column_pays():
    """Until the most precise one lowers the objective by next to nothing."""
    schedule, asked = Schedule(TOTAL, False), []
    while schedule.tighten(1.0):
        asked.append((schedule.epsilon, schedule.max_working_sets))
        assert schedule.polishing and schedule.goes_on(1.0) and not schedule.polishing
    tenths = [5e-3, 5e-4, 5e-5, 5e-6, 1e-6]
    assert asked == [(pytest.approx(e), max(4, 1 + 2 * n)) for n, e in enumerate(tenths, 1)]
    schedule.loosen()
    assert (schedule.epsilon, schedule.max_working_sets) == (0.05, 4)
    for gain in (1.1, 0.9):  # in units of what counts
        while schedule.epsilon > 1e-6:
            assert schedule.tighten(1.0) and schedule.goes_on(0.9)
        assert schedule.tighten(1.0) and schedule.goes_on(1.0 - gain * POLISHED)
        assert schedule.tighten(1.0) == (gain > 1)
    assert not Schedule(replace(TOTAL, max_working_sets=1), False).tighten(1.0)  # stage-wise


@pytest.mark.parametrize("exact, passes", [(True, 4), (True, 1), (False, 4)])
def test_only_whole_families_and_solved_masters_are_optimal(exact, passes):
    schedule = Schedule(replace(TOTAL, max_working_sets=passes), exact)
    schedule.end()
    assert schedule.stop_reason == ("optimal" if exact and passes > 1 else "no column")


def test_the_step_is_shorter_stagewise_alone():
    total = replace(TOTAL, learning_rate=0.5)
    assert total.step == replace(total, max_working_sets=1, solver="lbfgsb").step == 1.0
    assert replace(total, max_working_sets=1).step == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_products_of_features_are_learned_although_single_rounds_gain_nothing(seed):
    """No direction separates these classes, and many trees begin with a cut that gains nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (2500, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    wrong = rng.random(len(y)) < 0.5
    y[wrong] = rng.integers(0, 2, wrong.sum())
    clf = CWBoostClassifier(n_estimators=60, random_state=seed).fit(X, y)
    X = rng.uniform(-1, 1, (2000, 2))
    assert clf.n_iter_ == 60
    assert clf.score(X, X[:, 0] * X[:, 1] > 0) > 0.85
