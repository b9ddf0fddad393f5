"""The parameter `similarity` of the classifier."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

from cwboost import CWBoostClassifier, CWBoostClassifierCV, load_model
from cwboost.estimator.held_out.votes import without_votes
from cwboost.families import AutoFamily
from cwboost.similarity import SimilarityScores

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def small(weak_learner="auto", n_estimators=12, **params):
    return CWBoostClassifier(weak_learner, n_estimators, random_state=0, **params)


def has_scores(clf):
    return hasattr(clf, "similarity_")


def test_the_default_has_scores_and_other_weak_learners_have_none():
    clf = small().fit(X, Y)
    assert isinstance(clf.similarity_, SimilarityScores) and clf.n_features_in_ == 4
    assert has_scores(small(AutoFamily(max_depth=3)).fit(X, Y))
    assert has_scores(small("stump", similarity=True).fit(X, Y))
    for other in (small("tree"), small("stump"), small(similarity=False)):
        assert not has_scores(other.fit(X, Y))
    clf.set_params(similarity=False).fit(X, Y)
    assert not has_scores(clf)


@pytest.mark.parametrize(
    ("obstacle", "params", "make"),
    [
        ("sparse X", {}, sparse.csr_array),
        ("missing or infinite", {}, lambda X: np.where(X > 6, np.nan, X)),
        ("missing or infinite", {}, lambda X: np.where(X > 6, np.inf, X)),
        ("columns of categories", {"categorical_features": [1]}, np.rint),
        ("monotonic_cst", {"monotonic_cst": {"versicolor": {1: 1}}}, lambda X: X),
    ],
)
def test_where_the_data_allow_none(obstacle, params, make):
    weak_learner = "tree" if "monotonic_cst" in params else "auto"
    data = make(X)
    assert not has_scores(small(**params).fit(data, NAMES[Y]))
    with pytest.raises(ValueError, match=f"similarity must be .*{obstacle}.*got True"):
        small(weak_learner, similarity=True, **params).fit(data, NAMES[Y])


@pytest.mark.parametrize("value", ["yes", 1, None, 0.5])
def test_other_values_are_refused(value):
    with pytest.raises(ValueError, match="similarity must be one of"):
        small(similarity=value).fit(X, Y)


def test_many_classes_and_features_have_none():
    rng = np.random.default_rng(0)
    many = rng.integers(0, 101, 303)
    many[:101] = np.arange(101)
    assert not has_scores(small(n_estimators=1).fit(rng.normal(size=(303, 3)), many))
    wide = rng.normal(size=(50, 10_001)).astype(np.float32)
    assert not has_scores(small("auto", 1).fit(wide, np.arange(50) % 2))
    assert has_scores(small("auto", 1).fit(wide[:, :3], np.arange(50) % 2))
    assert not has_scores(small("auto", 1).fit(wide[:49, :3], np.arange(49) % 2))


def test_equal_examples_have_none():
    clf = small(similarity=True, n_estimators=2).fit(np.ones((60, 2)), np.arange(60) % 2)
    assert not has_scores(clf) and clf.predict(np.ones((1, 2))).shape == (1,)


def test_it_errs_less_where_distances_tell_the_classes():
    rng = np.random.default_rng(0)
    centres = rng.uniform(-1, 1, (40, 8))
    which = rng.integers(0, 40, 1200)
    data, y = centres[which] + rng.normal(0, 0.3, (1200, 8)), which % 4
    train, test = slice(0, 600), slice(600, None)
    with_scores, without = (
        small(n_estimators=60, similarity=s).fit(data[train], y[train]) for s in (True, False)
    )
    assert with_scores.score(data[test], y[test]) > without.score(data[test], y[test]) + 0.02


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_any_dtype_in_training_and_prediction(dtype):
    data, y = load_digits(return_X_y=True)
    clf = small(n_estimators=8).fit(data.astype(dtype), y)
    expected = clf.decision_function(data)
    for other in (np.uint8, np.float32, np.float64):
        given = clf.decision_function(data.astype(other))
        np.testing.assert_array_equal(given, expected)
    np.testing.assert_array_equal(clf.decision_function(sparse.csr_array(data)), expected)
    rows = np.vstack([clf.decision_function(data[i : i + 1]) for i in range(20)])
    np.testing.assert_array_equal(rows, expected[:20])


def test_threads_and_memory_order_do_not_matter():
    data, y = load_digits(return_X_y=True)
    clf = small(n_estimators=6).fit(data, y)
    other = small(n_estimators=6, n_jobs=2).fit(np.asfortranarray(data), y)
    np.testing.assert_array_equal(clf.decision_function(data), other.decision_function(data))


def test_warm_start_goes_on_with_the_same_bits():
    whole = small(n_estimators=9).fit(X, Y)
    parts = small(n_estimators=4, warm_start=True).fit(X, Y)
    similarity = parts.similarity_
    parts.set_params(n_estimators=9).fit(X, Y)
    assert parts.similarity_ is similarity
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_warm_start_on_other_examples_keeps_the_scores():
    clf = small(n_estimators=4, warm_start=True).fit(X[::2], Y[::2])
    similarity = clf.similarity_
    clf.set_params(n_estimators=8).fit(X, Y)
    assert clf.similarity_ is similarity and clf.score(X, Y) > 0.95
    clf.set_params(warm_start=False).fit(X, Y)
    assert clf.similarity_ is not similarity


def test_warm_start_on_other_features_is_refused():
    clf = small(n_estimators=4, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="expected 4 features, got 3"):
        clf.set_params(n_estimators=8).fit(X[:, :3], Y)


def test_a_model_without_scores_stays_without_them():
    clf = small(n_estimators=4, similarity=False, warm_start=True).fit(X, Y)
    clf.set_params(n_estimators=8, similarity="auto").fit(X, Y)
    assert not has_scores(clf) and clf.score(X, Y) > 0.95


def test_models_are_saved_with_their_scores(tmp_path):
    clf = small(warm_start=True).fit(X, Y)
    clf.save(tmp_path / "model", training_state=True)
    loaded = load_model(tmp_path / "model")
    assert loaded.similarity_.equals(clf.similarity_)
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    for model in (clf, loaded):
        model.set_params(n_estimators=15).fit(X, Y)
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))


def test_thin_models_solve_on_scores_without_the_own_label():
    clf = small(n_estimators=30).fit(X, Y)
    thin = clf.thin(X, Y, C=1e3)
    assert thin.similarity_ is clf.similarity_ and thin.score(X, Y) > 0.9
    # With all coefficients as they are, training scores of the model and its thin one agree.
    levels = SimilarityScores.fit(X, Y, 3, np.ones(150))[1]
    assert np.array_equal(clf._with_scores_again(clf._sorted(X, Y, None)[0]).X[:, 4:], levels)
    assert not np.array_equal(clf._check_predict(X)[:, 4:], levels)


def test_held_out_examples_have_scores_of_the_training_part():
    data, y = load_digits(return_X_y=True)
    clf = small(n_estimators=20, early_stopping=True).fit(data, y)
    assert len(clf.similarity_.landmarks) == len(y) - 180
    given = small(n_estimators=20).fit(
        data[::2], y[::2], X_val=data[1::2], y_val=y[1::2], eval_sets={"all": (data, y)}
    )
    alone = without_votes(given)  # the history is that of the weak learners
    wrong = alone.scores(given._expanded(data)).argmax(axis=1) != y
    assert given.history_["valid_error"][-1] == pytest.approx(wrong[1::2].mean())
    assert given.history_["all_error"][-1] == pytest.approx(wrong.mean())


def test_missing_values_at_prediction_stand_for_means():
    clf = small().fit(X, Y)
    holed = X.copy()
    holed[7, 2] = np.nan
    filled = X.copy()
    filled[7, 2] = clf.similarity_.fill[2]
    np.testing.assert_array_equal(clf.decision_function(holed), clf.decision_function(filled))


def test_importances_have_an_entry_per_feature_of_x():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(400, 5))
    y = ((data[:, 1] > 0) + (data[:, 3] > 0)).astype(int)
    clf = small(n_estimators=30).fit(data, y)
    importances = clf.feature_importances_
    assert importances.shape == (5,) and importances.sum() == pytest.approx(1)
    assert importances[[1, 3]].sum() > 0.8


def test_explanations_have_the_scores_as_features():
    clf = small().fit(X, NAMES[Y])
    values, base = clf.shap_values(X[::5])
    assert values.shape == (30, 7, 3)
    np.testing.assert_allclose(base + values.sum(axis=1), clf.decision_function(X[::5]), atol=1e-9)
    constant, parts = clf.explain(X[::5])
    assert parts.shape == (30, 7, 3) and constant.shape == (3,)
    assert clf._feature_names()[4:] == [f"similarity to {name}" for name in NAMES]
    assert "similarity to setosa" in clf.to_json()


def test_two_classes():
    clf = small().fit(X[Y < 2], NAMES[Y[Y < 2]])
    assert clf.similarity_.n_scores == 1 and clf._feature_names()[4:] == ["similarity to setosa"]
    assert clf.score(X[Y < 2], NAMES[Y[Y < 2]]) == 1


def test_the_path_over_c_has_scores_too():
    clf = CWBoostClassifierCV(small(n_estimators=5), Cs=[1e4, 1e12], cv=3).fit(X, Y)
    assert has_scores(clf.best_estimator_) and clf.score(X, Y) > 0.9


def test_weights_and_clones():
    weight = np.where(Y == 1, 0.2, 1.0)
    clf = small().fit(X, Y, weight)
    again = clone(clf).fit(X, Y, 4 * weight)
    np.testing.assert_array_equal(clf.decision_function(X), again.decision_function(X))


def test_a_fit_that_fails_leaves_the_former_model_whole():
    clf = small().fit(X, Y)
    before = dict(vars(clf))
    with pytest.raises(ValueError):
        clf.fit(X, Y, X_val=X[:, :2], y_val=Y)
    assert vars(clf) == before
