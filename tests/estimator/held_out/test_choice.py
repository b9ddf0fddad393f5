"""The choice among settings of a family by pilots."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from cwboost import CWBoostClassifier, FamilyFault, StumpFamily, TreeFamily, load_model
from cwboost.estimator.held_out import choice
from cwboost.families import AutoFamily

ROUNDS = 60


def board(n, k, noise, seed=0):
    """Return points of two classes on a board of k x k fields; a share of the labels is random."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    y = (X * k).astype(int).sum(axis=1) % 2
    wrong = rng.random(n) < noise
    y[wrong] = rng.integers(0, 2, wrong.sum())
    return X, y


def slope(n, seed):
    """Return points of two classes, of which one feature says a little and four nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + 1.5 * rng.normal(size=n) > 0).astype(int)


def small(weak_learner="auto", n_estimators=ROUNDS, **params):
    return CWBoostClassifier(weak_learner, n_estimators, random_state=0, **params)


@pytest.fixture(scope="module")
def certain():
    return board(2500, 12, 0.0)


@pytest.fixture(scope="module")
def noisy():
    return board(2500, 3, 0.6)


@pytest.mark.parametrize(
    ("make", "depth"),
    [(lambda n, seed: board(n, 12, 0.0, seed), None), (slope, 5)],
    ids=["certain", "noisy"],
)
def test_certain_data_get_deep_trees_and_noisy_data_shallow_ones(make, depth):
    """Each is preferred by more than two standard errors."""
    (X, y), (X_test, y_test) = make(2500, 12), make(3000, 1001)
    clf, kept = (
        small(family, similarity=False).fit(X, y) for family in ("auto", AutoFamily(max_depth=8))
    )
    assert clf.family_.max_depth == depth
    losses = [log_loss(y_test, one.predict_proba(X_test)) for one in (clf, kept)]
    assert losses[0] < losses[1]
    heights = clf.ensemble_.learners.parts["tree"].heights()
    assert heights.max() > 8 if depth is None else heights.max() == 5


def test_the_model_is_that_of_the_chosen_family_and_so_is_the_scale(certain):
    X, y = certain
    chosen = small().fit(X, y)
    given = small(AutoFamily(max_depth=None)).fit(X, y)
    np.testing.assert_array_equal(chosen.predict_proba(X), given.predict_proba(X))


def test_trees_alone_have_a_choice_as_well(certain):
    clf = small(TreeFamily(min_samples_leaf=2)).fit(*certain)
    assert clf.family_.get_params() == TreeFamily(None, min_samples_leaf=2).get_params()


def test_the_same_choice_and_bits_at_two_threads(noisy):
    X, y = noisy
    one, two = small().fit(X, y), small(n_jobs=2).fit(X, y)
    assert one.family_.get_params() == two.family_.get_params()
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_trees_that_stay_within_the_depth_need_no_other(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(choice, "_difference", lambda *_: pytest.fail("a second pilot"))
    assert small().fit(X, y).family_.max_depth == "auto"


@pytest.mark.parametrize(
    ("weak_learner", "n_estimators", "most"),
    [
        (AutoFamily(max_depth=8), ROUNDS, 2**15),
        (AutoFamily(discriminants=1.0), ROUNDS, 2**15),
        (TreeFamily(max_depth=8), ROUNDS, 2**15),
        ("auto", 19, 2**15),
        ("auto", ROUNDS, 2499),
    ],
)
def test_where_there_is_nothing_to_choose(certain, monkeypatch, weak_learner, n_estimators, most):
    monkeypatch.setattr("cwboost.estimator.held_out.fitting.MOST_EXAMPLES", most)
    monkeypatch.setattr(choice, "_difference", lambda *_: pytest.fail("a second pilot"))
    small(weak_learner, n_estimators).fit(*certain)


def test_a_continued_fit_keeps_the_choice(certain, tmp_path):
    X, y = certain
    whole = small().fit(X, y)
    parts = small(n_estimators=30, warm_start=True).fit(X, y)
    assert parts.family_.max_depth is None
    parts.save(tmp_path / "model.cwb")
    loaded = load_model(tmp_path / "model.cwb")
    for clf in (parts, loaded):
        assert clf.set_params(n_estimators=ROUNDS).fit(X, y).family_.max_depth is None
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    parts.set_params(weak_learner=AutoFamily(max_depth=4), n_estimators=ROUNDS + 10).fit(X, y)
    assert parts.family_.max_depth == 4


def test_held_out_examples_and_weights_take_part(certain):
    X, y = certain
    clf = small(early_stopping=True).fit(X, y)
    assert clf.family_.max_depth is None
    weight = np.where(X.max(axis=1) < 0.25, 1.0, 1e-9)
    assert small().fit(X, y, sample_weight=weight).family_.max_depth == "auto"


class Undecided(StumpFamily):
    """Stumps that have what the test sets as alternatives."""

    others = ()

    def alternatives(self, learners=None):
        return self.others


def test_alternatives_of_another_type_are_a_fault(certain, monkeypatch):
    monkeypatch.setattr(Undecided, "others", [TreeFamily()])
    with pytest.raises(FamilyFault, match=r"'stump'.*alternatives must return instances of Undec"):
        small(Undecided()).fit(*certain)


def test_an_exception_of_alternatives_names_the_family(certain, monkeypatch):
    monkeypatch.setattr(Undecided, "alternatives", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        small(Undecided()).fit(*certain)
    notes = getattr(caught.value, "__notes__", caught.value.args)
    assert "raised by alternatives of weak learner 'stump'" in str(notes)


def test_classes_too_small_to_leave_an_example_out():
    X = np.linspace(0, 1, 4)[:, None]
    small().fit(X, [0, 0, 1, 1])


def test_the_difference_of_two_pilots_and_its_error():
    def pilot(losses, weight):
        return choice.Pilot(None, None, None, 1.0, 0.5, losses, weight, np.arange(len(losses)))

    rng = np.random.default_rng(0)
    own, other, weight = rng.random((3, 400))
    difference, error = choice._difference(pilot(own, weight), pilot(other, weight))
    draws = [rng.multinomial(400, np.full(400, 1 / 400)) * weight for _ in range(2000)]
    means = [np.average(own - other, weights=drawn) for drawn in draws]
    assert difference == pytest.approx(np.average(own - other, weights=weight))
    assert error == pytest.approx(np.std(means), rel=0.1)
