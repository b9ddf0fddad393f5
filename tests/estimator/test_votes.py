"""Scores of similarity that vote beside the weak learners."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits

from cwboost import CWBoostClassifier, CWBoostClassifierCV, ModelFileError, load_model
from cwboost.estimator.held_out.votes import digit_trees, without_votes
from cwboost.families import AutoFamily
from cwboost.similarity.codes import class_scores

X, Y = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 700), slice(700, None)


def small(n_estimators=24, **params):
    return CWBoostClassifier(n_estimators=n_estimators, random_state=0, **params)


def spirals(n, seed):
    """Return points of two spirals, which distances tell apart and short trees do not."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    t = rng.uniform(1, 4, n)
    angle = 2 * t + np.pi * y
    points = np.column_stack([t * np.cos(angle), t * np.sin(angle)])
    return points + rng.normal(0, 0.15, (n, 2)), y


@pytest.fixture(scope="module")
def voting():
    clf = small().fit(X[TRAIN], Y[TRAIN])
    assert clf.similarity_votes_ == 8 * 10
    return clf


def parts_of(clf, data):
    """Return the scores of the weak learners alone, and those of similarity."""
    alone = without_votes(clf).scores(clf._expanded(data))
    return alone, class_scores(clf.similarity_(data))


def test_trees_of_the_digits_of_a_level_write_the_level():
    levels = np.array([np.arange(256), np.arange(255, -1, -1), np.arange(256)]).T.astype(float)
    learners = AutoFamily().trees(digit_trees(np.array([2, 1])), 3)
    outputs = learners.outputs(levels).astype(float)
    assert set(np.unique(outputs)) == {-1.0, 1.0} and outputs.shape == (256, 16)
    places = 2.0 ** np.arange(7, -1, -1)
    for k, column in enumerate((2, 1)):
        digits = (outputs[:, 8 * k : 8 * (k + 1)] + 1) / 2
        np.testing.assert_array_equal(digits @ places, levels[:, column])


def test_probabilities_are_the_geometric_mean_of_both(voting):
    alone, own = parts_of(voting, X[TEST])
    scores, scale = voting.decision_function(X[TEST]), voting.probability_scale_
    added = scores - alone
    factor = np.sum(added * own) / np.sum(own * own)
    np.testing.assert_allclose(_centred(added), _centred(factor * own), rtol=1e-9, atol=1e-12)
    mean = np.sqrt(softmax(2 * scale * alone, axis=1) * softmax(2 * scale * factor * own, axis=1))
    np.testing.assert_allclose(
        voting.predict_proba(X[TEST]), mean / mean.sum(axis=1, keepdims=True), rtol=1e-9
    )


def _centred(scores):
    return scores - scores.mean(axis=1, keepdims=True)


def test_votes_help_where_similarity_tells_more(voting):
    alone, own = parts_of(voting, X[TEST])
    wrong = [(s.argmax(axis=1) != Y[TEST]).mean() for s in (alone, own)]
    assert wrong[1] < wrong[0] and 1 - voting.score(X[TEST], Y[TEST]) < wrong[0]


def test_two_classes_have_the_votes_of_one_score():
    clf = small().fit(*spirals(400, 0))
    assert clf.similarity_votes_ == 8
    data, y = spirals(400, 1)
    alone, own = parts_of(clf, data)
    added = _centred(clf._scores(data) - alone)
    np.testing.assert_allclose(added, added[0, 0] / own[0, 0] * own, rtol=1e-9, atol=1e-9)
    assert clf.score(data, y) >= (alone.argmax(axis=1) == y).mean() > 0.9


def test_there_are_none_where_weak_learners_are_better():
    rng = np.random.default_rng(0)
    data = np.exp(4 * rng.normal(size=(900, 10)))  # a few examples are far from all others
    clf = small(similarity=True).fit(data, (data[:, 0] > 1).astype(int))
    assert clf.similarity_votes_ == 0 and len(without_votes(clf).learners) > 0
    assert clf.ensemble_ is without_votes(clf)


@pytest.mark.parametrize(
    "params",
    [{"n_estimators": 19}, {"weak_learner": "tree", "similarity": True}, {"similarity": False}],
)
def test_where_they_are_not_asked_for(params):
    clf = small(**params).fit(X[TRAIN], Y[TRAIN])
    assert getattr(clf, "similarity_votes_", 0) == 0


def test_stages_begin_with_the_votes(voting):
    stages = list(voting.staged_decision_function(X[TEST]))
    np.testing.assert_allclose(stages[-1], voting.decision_function(X[TEST]), atol=1e-9)
    first = voting.decision_function(X[TEST], n_estimators=1)
    np.testing.assert_allclose(stages[0], first, atol=1e-9)
    assert (first.argmax(axis=1) == Y[TEST]).mean() > 0.95


@pytest.mark.parametrize("staged", [True, False])
def test_they_are_saved_and_thin_models_have_none(voting, tmp_path, staged):
    voting.save(tmp_path / "model", staged=staged)
    loaded = load_model(tmp_path / "model")
    assert loaded.similarity_votes_ == voting.similarity_votes_
    np.testing.assert_array_equal(loaded.predict_proba(X), voting.predict_proba(X))
    alone = [without_votes(one).scores(one._expanded(X)) for one in (loaded, voting)]
    np.testing.assert_array_equal(*alone)
    thin = loaded.thin(X[TRAIN], Y[TRAIN], C=1e4)
    assert thin.similarity_votes_ == 0 and thin.score(X[TEST], Y[TEST]) > 0.9


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        (-1, "learners of round 1"),
        (10**6, "learners of round 1"),
        (85, "one coefficient each"),
    ],
)
def test_a_file_of_other_votes_is_refused(voting, tmp_path, votes, message):
    broken = clone(voting)
    broken.__dict__.update({**voting.__dict__, "similarity_votes_": votes})
    if votes == 85:  # of which some have no coefficient in the first round
        path = voting.ensemble_.path
        broken.ensemble_ = voting.ensemble_.without_first(5)
        assert len(path.column) > 85
    broken.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=message):
        load_model(tmp_path / "model")


def test_fits_in_parts_equal_one(voting, tmp_path):
    parts = small(8, warm_start=True).fit(X[TRAIN], Y[TRAIN])
    assert parts.similarity_votes_ == 0
    for n_estimators in (20, 24):
        parts.set_params(n_estimators=n_estimators).fit(X[TRAIN], Y[TRAIN])
        assert parts.similarity_votes_ == 80
        parts.save(tmp_path / "model", training_state=True)
        parts = load_model(tmp_path / "model")
    np.testing.assert_array_equal(parts.predict_proba(X), voting.predict_proba(X))


def test_two_threads_give_the_same_bits(voting):
    two = small(n_jobs=2).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(two.predict_proba(X), voting.predict_proba(X))


def test_sparse_rows_and_missing_values_have_them_too(voting):
    expected = voting.decision_function(X[TEST])
    given = voting.decision_function(sparse.csr_array(X[TEST]))
    np.testing.assert_array_equal(given, expected)
    holed = X[TEST].copy()
    holed[:, 20] = np.nan
    assert voting.score(holed, Y[TEST]) > 0.9


def test_training_ends_where_more_rounds_do_not_help(monkeypatch):
    monkeypatch.setattr("cwboost.estimator.held_out.fitting.ENOUGH", 2.15)
    clf = small(60).fit(X[TRAIN], Y[TRAIN])
    assert (clf.n_iter_, clf.stop_reason_) == (22, "enough")
    assert len(clf.history_["objective"]) == 22
    every = small(60, similarity=True).fit(X[TRAIN], Y[TRAIN])
    assert (every.n_iter_, every.stop_reason_) == (60, "n_estimators")
    assert every.similarity_votes_ == 80
    assert small(60, learning_rate=0.05).fit(X[TRAIN], Y[TRAIN]).n_iter_ == 43
    few = small(22).fit(X[TRAIN], Y[TRAIN])
    assert few.stop_reason_ == "n_estimators"
    np.testing.assert_array_equal(few.predict_proba(X), clf.predict_proba(X))
    more = small(40, warm_start=True).fit(X[TRAIN], Y[TRAIN])
    with pytest.warns(UserWarning, match="adds no rounds"):
        more.set_params(n_estimators=22).fit(X[TRAIN], Y[TRAIN])
    assert more.set_params(n_estimators=80).fit(X[TRAIN], Y[TRAIN]).n_iter_ == 22


def test_held_out_examples_decide_if_there_are_some(voting):
    held_out = X[700:1200], Y[700:1200]
    clf = small().fit(X[TRAIN], Y[TRAIN], X_val=held_out[0], y_val=held_out[1])
    assert clf.similarity_votes_ == 80
    alone, _ = parts_of(clf, held_out[0])
    wrong = (alone.argmax(axis=1) != held_out[1]).mean()
    assert clf.history_["valid_error"][-1] == pytest.approx(wrong)
    assert 1 - clf.score(*held_out) <= wrong
    labels = np.random.default_rng(0).permutation(Y[700:1200])
    misled = small().fit(X[TRAIN], Y[TRAIN], X_val=held_out[0], y_val=labels)
    assert misled.probability_scale_ < clf.probability_scale_


def test_a_scale_that_is_given_stays(voting):
    clf = small(probability_scale=1.5).fit(X[TRAIN], Y[TRAIN])
    assert clf.probability_scale_ == 1.5
    np.testing.assert_array_equal(clf.decision_function(X), voting.decision_function(X))


def test_explanations_have_the_votes(voting):
    values, base = voting.shap_values(X[700:710], X[:50])
    np.testing.assert_allclose(base + values.sum(axis=1), voting.decision_function(X[700:710]))
    importances = voting.feature_importances_
    assert importances.shape == (64,) and importances.sum() == pytest.approx(1)


def test_exports_have_the_votes(voting):
    onnxruntime = pytest.importorskip("onnxruntime")
    from cwboost import to_onnx

    session = onnxruntime.InferenceSession(to_onnx(voting).SerializeToString())
    outputs = session.run(None, {session.get_inputs()[0].name: X[TEST].astype(np.float64)})
    expected = voting.predict_proba(X[TEST])
    named = dict(zip([output.name for output in session.get_outputs()], outputs))
    np.testing.assert_allclose(named["probabilities"], expected, atol=1e-6)


def test_a_search_for_C_has_them():
    model = CWBoostClassifierCV(small(20), Cs=[1e6, 1e12], cv=2).fit(X[TRAIN], Y[TRAIN])
    assert model.best_estimator_.similarity_votes_ == 80
    total = CWBoostClassifierCV(small(20, correction="total"), Cs=[1e2, 1e3], cv=2, rounds_per_C=5)
    best = total.fit(X[TRAIN], Y[TRAIN]).best_estimator_
    assert best.n_iter_ >= 20
    stages = list(best.staged_predict(X[TEST]))
    np.testing.assert_array_equal(stages[-1], best.predict(X[TEST]))


def test_a_path_over_C_decides_for_each_C_as_warm_starts_do():
    params = {"correction": "total", "random_state": 0}
    path = CWBoostClassifier(n_estimators=10, **params)
    found = [
        (one.similarity_votes_, one.predict_proba(X[TEST]))
        for one in path._fit_path(X[TRAIN], Y[TRAIN], None, [1e2, 1e4], 10, calibrated=True)
    ]
    steps = CWBoostClassifier(n_estimators=10, warm_start=True, **params)
    for C, n_estimators, (votes, probabilities) in zip((1e2, 1e4), (10, 20), found):
        steps.set_params(C=C, n_estimators=n_estimators).fit(X[TRAIN], Y[TRAIN])
        assert steps.similarity_votes_ == votes
        np.testing.assert_array_equal(steps.predict_proba(X[TEST]), probabilities)
    assert [votes for votes, _ in found] == [0, 80]


def test_a_refit_forgets_them(voting):
    clf = small().fit(X[TRAIN], Y[TRAIN])
    clf.set_params(similarity=False).fit(X[TRAIN], Y[TRAIN])
    assert not hasattr(clf, "similarity_votes_")
