"""Thin models: the totally corrective solve over the columns of a trained model."""

from copy import copy
from functools import partial

import numpy as np
import pytest
from models import pair_loss, paper, stages
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss

from cwboost import TreeFamily, load_model, solve_master
from cwboost.calibration.calibration import LeftOut
from cwboost.training import thinning


@pytest.fixture(scope="module", params=["stagewise", "total"])
def trained(request, halves):
    make = {
        "stagewise": partial(stages, learning_rate=0.5, C=1e8),
        "total": partial(paper, C=1e4),
    }[request.param]
    return make("tree", n_estimators=25).fit(*halves[:2])


def outputs_by_class(clf, X):
    """Return the outputs of the learners of each class, and their numbers."""
    ensemble = clf.ensemble_.class_wise()
    path = ensemble.path
    of_class = dict(zip(path.column.tolist(), path.score_index.tolist()))
    outputs = ensemble.learners.outputs(X)
    ids = [[j for j, c in of_class.items() if c == k] for k in range(len(clf.classes_))]
    return [outputs[:, some].T for some in ids]


def test_objective_is_that_of_solve_master_on_the_same_columns(trained, halves):
    X, y, *_ = halves
    thin = trained.thin(X, y, C=300.0)
    H = outputs_by_class(trained, X)
    encoded = np.searchsorted(trained.classes_, y)
    expected = solve_master(H, encoded, 300.0, epsilon=1e-6, max_working_sets=3000, random_state=1)
    (objective,) = thin.history_["objective"]
    assert objective == pytest.approx(expected.objective, rel=1e-3)
    assert objective >= expected.objective * (1 - 1e-10)
    assert 0 < len(thin.ensemble_.learners) < 0.8 * len(trained.ensemble_.class_wise().learners)
    assert thin.history_["max_violation"] <= thinning.EPSILON
    loss = pair_loss(thin.ensemble_.scores(X), encoded) / (10 * len(y))
    assert objective == pytest.approx(thin.ensemble_.coef().sum() + 300.0 * loss, rel=1e-10)


def test_kept_columns_are_those_of_the_model_and_nothing_else(trained, halves):
    X, y, X_val, _ = halves
    before = trained.decision_function(X_val)
    thin = trained.thin(X, y, C=1e3)
    kept = thin.ensemble_
    assert kept.n_rounds == thin.n_iter_ == thin.best_iteration_ == 1
    assert thin.stop_reason_ == "thinned"
    assert (kept.path.value > 0).all() and len(kept.path.value) == len(kept.learners)
    assert thin.history_["n_nonzero"] == len(kept.learners)
    for c, (mine, theirs) in enumerate(
        zip(outputs_by_class(thin, X_val), outputs_by_class(trained, X_val))
    ):
        assert {row.tobytes() for row in mine} <= {row.tobytes() for row in theirs}, c
    H = outputs_by_class(thin, X_val)
    coef = np.asarray(kept.coef().todense())
    scores = np.stack([coef[coef[:, c] > 0, c] @ H[c] for c in range(len(H))], axis=1)
    np.testing.assert_allclose(thin.decision_function(X_val), scores, rtol=1e-10, atol=1e-12)
    # Edges are those of the columns, not of the trees that they come from.
    r = (y[:, None] == thin.classes_) * thin.classes_.size - 1.0
    for c, outputs in enumerate(outputs_by_class(thin, X)):
        edges = kept.edges[np.flatnonzero(coef[:, c])]
        expected = outputs @ r[:, c] / (len(y) * (len(H) - 1))
        np.testing.assert_allclose(edges, expected, rtol=1e-9, atol=1e-12)
    (stage,) = thin.staged_predict(X_val)
    np.testing.assert_array_equal(stage, thin.predict(X_val))
    np.testing.assert_array_equal(trained.decision_function(X_val), before)


def test_held_out_examples_choose_C_and_set_the_scale(trained, halves):
    X, y, X_val, y_val = halves
    Cs = [3e2, 3e4, 3e1]
    thin = trained.thin(X, y, C=Cs, X_val=X_val, y_val=y_val)
    single = {C: trained.thin(X, y, C=C, X_val=X_val, y_val=y_val) for C in sorted(Cs)}
    losses = {C: model.history_["valid_logloss"][0] for C, model in single.items()}
    for C, model in single.items():
        assert model.history_["valid_error"] == pytest.approx(1 - model.score(X_val, y_val))
        loss = log_loss(y_val, model.predict_proba(X_val))
        assert losses[C] == pytest.approx(loss, rel=1e-6)
    assert thin.history_["valid_logloss"] == pytest.approx(min(losses.values()), rel=0.01)
    encoded = np.searchsorted(trained.classes_, y_val)
    scale, _ = LeftOut(encoded, np.ones(len(encoded))).scale_and_loss(thin.decision_function(X_val))
    assert thin.probability_scale_ == pytest.approx(scale)
    plain = trained.thin(X, y, C=1e3)
    assert plain.probability_scale_ == 2.0 and thin.predict_set(X_val).any(axis=1).mean() > 0.8
    with pytest.raises(ValueError, match="call calibrate"):
        plain.predict_set(X_val)
    fixed = copy(trained).set_params(probability_scale=1.5)
    assert fixed.thin(X, y, C=1e3).probability_scale_ == 1.5
    assert fixed.thin(X, y, C=1e3, X_val=X_val, y_val=y_val).probability_scale_ == 1.5
    sizes = [len(model.ensemble_.learners) for model in single.values()]
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("Cs", ["auto", [1e4, 1e2, 1e3]])
def test_of_equal_losses_the_smallest_C_is_taken(trained, halves, monkeypatch, Cs):
    X, y, X_val, y_val = halves
    monkeypatch.setattr(thinning, "AUTO_CS", (1e2, 1e3))
    monkeypatch.setattr(LeftOut, "scale_and_loss", lambda *args: (2.0, 0.25))
    thin = trained.thin(X, y, C=Cs, X_val=X_val, y_val=y_val)
    assert thin.history_["C"] == 1e2


def test_a_model_that_was_saved_without_its_stages_is_thinned(trained, halves, tmp_path):
    trained.save(tmp_path / "full.cwb", staged=False)
    full = load_model(tmp_path / "full.cwb")
    thin = full.thin(*halves[:2], C=1e2)
    assert 0 < len(thin.ensemble_.learners) <= len(full.ensemble_.class_wise().learners)


def test_equal_columns_are_kept_once_and_threads_change_nothing(halves):
    """Of two features with two values, the stumps of 40 rounds are the same few."""
    X, y, *_ = halves
    X = X[:, :2] > np.median(X[:, :2], axis=0)
    clf = stages(TreeFamily(max_depth=1), n_estimators=40, n_jobs=2).fit(X, y)
    thin = clf.thin(X, y, C=1e5)
    for block in outputs_by_class(thin, X):
        assert len({row.tobytes() for row in block}) == len(block) <= 4
    one = clf.set_params(n_jobs=1).thin(X, y, C=1e5)
    np.testing.assert_array_equal(one.decision_function(X), thin.decision_function(X))


def test_weight_two_is_the_example_twice(trained, halves):
    X, y, *_ = halves
    rows = np.concatenate([np.arange(len(y)), np.arange(100)])
    weighted = trained.thin(X, y, np.bincount(rows), C=100.0)
    repeated = trained.thin(X[rows], y[rows], C=100.0)
    (a,), (b,) = weighted.history_["objective"], repeated.history_["objective"]
    assert a == pytest.approx(b, rel=1e-3)


def test_training_goes_on_from_a_thin_model(halves):
    X, y, *_ = halves
    clf = paper(n_estimators=30, warm_start=True).fit(X, y)
    thin = clf.thin(X, y, C=1e4)
    (objective,) = thin.history_["objective"]
    thin.set_params(n_estimators=6).fit(X, y)
    assert thin.ensemble_.n_rounds == 6
    assert thin.history_["objective"][-1] < objective


def test_bad_arguments_are_named(trained, halves):
    X, y, X_val, y_val = halves
    held_out = {"X_val": X_val, "y_val": y_val}
    for arguments, error, message in [
        ({"C": 0.0}, ValueError, "C must be > 0"),
        ({"C": "best"}, ValueError, "C must be 'auto' or a number, got 'best'"),
        ({"C": None}, TypeError, "C must be a number, got None"),
        ({"C": []}, ValueError, "C must hold at least one number"),
        ({"C": [1.0, "2"], **held_out}, TypeError, "C must be a number, got '2'"),
        ({"C": [1e2, 1e3]}, ValueError, "C must be one number without X_val .* got 2"),
        ({}, ValueError, "C must be one number without X_val .* got 11"),
        ({"C": 1e2, "X_val": X_val}, ValueError, "must be given together"),
        ({"C": 1e-6}, ValueError, "C must be larger, got 1e-06"),
        ({"y": y + 1, "C": 1e2}, ValueError, "y must have the classes"),
        ({"X": X[:, :3], "C": 1e2}, ValueError, "features"),
    ]:
        with pytest.raises(error, match=message):
            trained.thin(**{"X": X, "y": y} | arguments)
    with pytest.raises(NotFittedError):
        paper().thin(X, y, C=1e2)


def test_a_solve_that_ends_early_says_so(trained, halves, monkeypatch):
    monkeypatch.setattr(thinning, "MOST_PASSES", 2)
    with pytest.warns(ConvergenceWarning, match="the solve for C=1000 ended with a violation"):
        trained.thin(*halves[:2], C=1e3)
