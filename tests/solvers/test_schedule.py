"""When training ends."""

import numpy as np
import pytest

from cwboost import CWBoostClassifier
from cwboost.solvers.schedule import MOST_IDLE, Schedule, Settings


def rounds_until_the_end(objectives, covers_family, tol=1e-3):
    schedule = Schedule(Settings(tol=tol), covers_family)
    for n, objective in enumerate(objectives, 1):
        if not schedule.goes_on(objective):
            assert schedule.stop_reason == "tol"
            return n
    return None


def test_one_round_without_gain_ends_training_only_if_no_other_learner_could_gain():
    still = [1.0, 0.9] + [0.9] * 30
    assert rounds_until_the_end(still, covers_family=True) == 3
    assert rounds_until_the_end(still, covers_family=False) == 2 + MOST_IDLE
    assert rounds_until_the_end(still, covers_family=False, tol=0.0) is None


def test_the_rounds_without_gain_must_be_in_a_row():
    values = np.repeat(0.99 ** np.arange(40), MOST_IDLE)
    assert rounds_until_the_end(values, covers_family=False) is None
    values = np.repeat(0.99 ** np.arange(40), MOST_IDLE + 1)
    assert rounds_until_the_end(values, covers_family=False) == MOST_IDLE + 1


def test_a_restored_schedule_has_counted_the_rounds_before():
    schedule = Schedule(Settings(tol=1e-3), False)
    schedule.goes_on(1.0)
    for _ in range(MOST_IDLE - 1):
        assert schedule.goes_on(1.0)
    other = Schedule(Settings(tol=1e-3), False)
    other.restore(schedule.state(), [1.0, 1.0])
    assert not other.goes_on(1.0)


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
