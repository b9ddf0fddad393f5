"""C by the data: the path, its points, the choice among them, and what training makes of it."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from cwboost import CWBoostClassifier, TreeFamily
from cwboost.callbacks import TimeLimit
from cwboost.recipe import path_of_C
from cwboost.recipe.path_of_C import chosen, kept_round, next_C, values_of_C
from tests.support.models import assert_same_training


def certified(weak_learner="stump", **params):
    return CWBoostClassifier(weak_learner, correction="total", random_state=0, **params)


@pytest.fixture(scope="module")
def halves():
    X, y = make_classification(
        1200, 8, n_informative=4, n_classes=3, flip_y=0.1, class_sep=0.8, random_state=1
    )
    return X[:800], y[:800], X[800:], y[800:]


@pytest.fixture(scope="module")
def fitted(halves):
    return certified().fit(*halves[:2])


def test_the_data_choose_a_small_certified_model(halves, fitted):
    X, y, X_test, y_test = halves
    history, path, C = fitted.history_, fitted.path_, fitted.history_["C"][-1]
    assert fitted.stop_reason_ == "gap" and fitted.init_ is None
    assert history["gap"][-1] <= 0.01 * history["objective"][-1]
    first = path["C"][path["log_loss"] <= 1.02 * path["log_loss"].min()][0]
    assert C == first == fitted.plan_.Cs[-1]
    # The loss falls, then rises until it is past its lowest value.
    assert path["log_loss"][-1] > 1.02 * path["log_loss"].min() and path["log_loss"].argmin() > 1
    assert (np.diff(path["n_nonzero"]) > 0).all() and (path["gap"] <= 0.01).all()
    # What the holdout run promises is what new rows find.
    p = fitted.predict_proba(X_test)
    assert abs(log_loss(y_test, p) - path["log_loss"].min()) < 0.05
    assert history["n_nonzero"][-1] < 200
    protocol = certified(C=1e4).fit(X, y)
    assert log_loss(y_test, p) < 0.95 * log_loss(y_test, protocol.predict_proba(X_test))
    sets = fitted.predict_set(X_test, alpha=0.1)
    assert 0.85 < sets[np.arange(len(y_test)), y_test].mean() < 0.96


def test_the_path_that_ends_lower_encodes_the_categories():
    """Levels whose label is drawn by level have no order but that of their shares."""
    rng = np.random.default_rng(0)
    kind, noise = rng.integers(60, size=1500), rng.random(1500) < 0.1
    X, y = np.column_stack([kind, rng.normal(size=1500)]), (rng.random(60) < 0.5)[kind] ^ noise
    path, reason = {}, {}
    for encoding in ("auto", "rank", "target"):
        clf = certified(category_encoding=encoding, categorical_features=[0]).fit(X, y)
        path[encoding], reason[encoding] = clf.path_["log_loss"], clf.plan_.reasons["encoding"]
    kept = {name: losses[losses <= 1.02 * losses.min()][0] for name, losses in path.items()}
    assert kept["target"] < 0.95 * kept["rank"]
    np.testing.assert_array_equal(path["auto"], path["target"])
    assert reason["auto"] == (
        f"holdout log loss {kept['target']:.3g}, against {kept['rank']:.3g} by rank of frequency"
    )
    assert reason["rank"] == reason["target"] == "as given"


def test_a_second_path_that_is_behind_ends_early():
    """Levels that say nothing: their shares are noise, and cost a fraction of a path."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(40, size=900), rng.normal(size=(900, 3))])
    y = (X[:, 1] + rng.normal(size=900) > 0).astype(int)
    lengths = []
    follow = path_of_C.follow_path

    def counted(*args):
        points = follow(*args)
        lengths.append(len(points))
        return points

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(path_of_C, "follow_path", counted)
        clf = certified(categorical_features=[0]).fit(X, y)
    assert clf.plan_.encoding == "rank" and lengths[1] < 0.7 * lengths[0]
    assert ", at C = " in clf.plan_.reasons["encoding"]


def test_every_value_of_C_ends_close_to_its_optimum(fitted):
    history = fitted.history_
    ends = np.append(np.diff(history["C"]) > 0, True)
    assert (history["gap"][ends] <= 0.01 * history["objective"][ends]).all()
    assert (np.diff(history["C"]) >= 0).all()
    np.testing.assert_array_equal(np.unique(history["C"]), fitted.plan_.Cs[-ends.sum() :])


def test_a_path_ends_at_the_optimum_of_its_last_C(halves, fitted):
    X, y, *_ = halves
    C = fitted.history_["C"][-1]
    alone = certified(C=C, epsilon=1e-3, tol=0.0, n_estimators=1000).fit(X, y)
    assert alone.stop_reason_ == "optimal"
    best = alone.history_["objective"][-1]
    assert best <= fitted.history_["objective"][-1] <= 1.01 * best
    assert fitted.history_["dual_bound"][-1] <= best


def test_every_stage_has_the_scale_of_its_own_C(halves, fitted):
    X_test, y_test = halves[2:]
    losses = [log_loss(y_test, p) for p in fitted.staged_predict_proba(X_test)]
    ends = np.flatnonzero(np.append(np.diff(fitted.history_["C"]) > 0, True))
    measured = dict(zip(fitted.path_["C"], fitted.path_["log_loss"]))
    for end in ends[1:]:
        assert abs(losses[end] - measured[fitted.history_["C"][end]]) < 0.06


def test_smaller_models_on_the_path(halves, fitted):
    X, y, *_ = halves
    rule = certified(max_columns="one_se").fit(X, y)
    path, at = rule.path_, list(rule.path_["C"]).index(rule.history_["C"][-1])
    best = path["log_loss"].argmin()
    limit = path["log_loss"][best] + path["log_loss_se"][best]
    assert at < best and path["log_loss"][at] <= limit < path["log_loss"][at - 1]


@pytest.mark.parametrize(
    ("weak_learner", "most"),
    [
        *(("stump", most) for most in (1, 2, 3, 6, 10, 20, 10_000)),
        *((TreeFamily(max_depth=2), most) for most in (1, 2, 8)),
    ],
)
def test_a_model_of_few_columns_is_the_last_on_the_path_that_fits(weak_learner, most, halves):
    X, y, X_test, y_test = halves
    clf = certified(weak_learner, max_columns=most).fit(X, y)
    kept, C = clf.best_iteration_ - 1, clf.history_["C"]
    n_columns = clf.history_["n_nonzero"]
    assert 0 < n_columns[kept] == np.count_nonzero(clf.ensemble_.coef().toarray()) <= most
    assert clf.plan_.Cs[-1] == C[kept] and f"C is {C[kept]:.4g}: " in str(clf.plan_)
    ends = np.append(C[1:] != C[:-1], True)
    larger = C[ends & (n_columns > most)].min(initial=np.inf)
    if most < 10_000:
        assert ends[kept] and C[kept] < larger
        assert n_columns[kept] == most or larger <= 1.005 * C[kept]
        assert clf.plan_.reasons["C"].endswith(f"at most {most} coefficients")
    else:
        assert larger == np.inf and kept == clf.n_iter_ - 1
    # Scale and sets are those of this model, not of a larger one.
    scores, scales = clf.model_.scores(X_test), clf.model_.scale * 2.0 ** np.linspace(-2, 2, 9)
    losses = [log_loss(y_test, softmax(scale * scores, axis=1)) for scale in scales]
    assert log_loss(y_test, clf.predict_proba(X_test)) < 1.03 * min(losses)
    sets = clf.predict_set(X_test, alpha=0.1)
    assert 0.85 < sets[np.arange(len(y_test)), y_test].mean() < 0.96


def test_columns_that_enter_together_are_none_or_all():
    """Four corners: the four first columns are worth the same."""
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 50, axis=0)
    y = np.repeat(range(4), 50)
    with pytest.warns(UserWarning, match="more than max_columns=1: .* shares of the classes"):
        clf = certified(max_columns=1).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), 0.25)
    assert clf.best_iteration_ == 0
    assert certified(max_columns=8).fit(X, y).score(X, y) == 1.0


def points(losses, columns):
    return [
        SimpleNamespace(log_loss=loss, log_loss_se=0.1, n_nonzero=n)
        for loss, n in zip(losses, columns)
    ]


def test_the_choice():
    path = points([1.0, 0.7, 0.62, 0.6, 0.65], [1, 5, 9, 20, 50])
    assert chosen(path, None) == 3 and chosen(path, "one_se") == 1
    history = {"C": [2.0, 2.0, 4.0, 4.0, 8.0], "n_nonzero": [1, 3, 5, 6, 9]}
    assert [kept_round(history, most) for most in (9, 8, 5, 2, 0)] == [5, 4, 2, 1, 0]
    assert [next_C(history, (16.0,), most) for most in (None, 9, 8, 6, 3)] == [
        *(16.0, 16.0, 32.0**0.5, None, None)
    ]
    assert next_C(history, (), None) is None
    assert next_C(history, (16.0,), 2) == pytest.approx(2.0**0.5)
    bisected = {"C": [2.0, 4.0, 8.0, 32.0**0.5], "n_nonzero": [1, 5, 12, 9]}
    assert kept_round(bisected, 9) == 4 and kept_round(bisected, 8) == 2
    path = values_of_C(2.0, 16.0)
    assert path[::2] == (2.0, 4.0, 8.0, 16.0) and path[1::2] == tuple(
        2.0**0.5 * C for C in path[:-1:2]
    )


def test_without_anything_to_leave_out_the_model_is_small():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 2, 3])
    clf = certified().fit(X, y)
    assert not hasattr(clf, "path_") and clf.history_["n_nonzero"][-1] <= 4
    assert "no holdout run" in clf.plan_.reasons["C"]
    assert log_loss(y, clf.predict_proba(X)) < np.log(4)


def test_held_out_examples_choose(halves):
    X, y, X_val, y_val = halves
    clf = certified().fit(X, y, X_val=X_val, y_val=y_val)
    losses = clf.path_["log_loss"]
    kept = np.argmax(losses <= 1.02 * losses.min())
    assert clf.history_["C"][-1] == clf.path_["C"][kept]
    assert abs(log_loss(y_val, clf.predict_proba(X_val)) - losses[kept]) < 0.01


@pytest.mark.parametrize("n_rounds", [1, 7, 10, 30])
@pytest.mark.parametrize("most", [None, 6])
def test_more_rounds_go_on_along_the_path(n_rounds, most, halves, fitted):
    X, y, *_ = halves
    fitted = fitted if most is None else certified(max_columns=most).fit(X, y)
    clf = certified(warm_start=True, n_estimators=n_rounds, max_columns=most).fit(X, y)
    assert clf.n_iter_ <= n_rounds
    clf = pickle.loads(pickle.dumps(clf)).set_params(n_estimators="auto").fit(X, y)
    assert_same_training(clf, fitted)


def test_other_examples_go_on_at_the_same_C(halves, fitted):
    clf = copy.deepcopy(fitted).set_params(warm_start=True).fit(*halves[2:])
    assert clf.history_["C"][-1] == fitted.history_["C"][-1]
    assert clf.plan_.reasons["C"] == "that of the fitted model"


def test_a_family_without_exact_pricing(halves):
    X, y, *_ = halves
    clf = certified(TreeFamily(max_depth=3)).fit(X, y)
    assert clf.stop_reason_ in ("tol", "no column") and np.isnan(clf.history_["gap"]).all()
    assert "5 rounds" in clf.plan_.reasons["rounds_per_C"]
    assert len(clf.plan_.Cs) > 2


def test_the_time_limit_cuts_the_run(halves):
    clf = certified(callbacks=[TimeLimit(1e-6)]).fit(*halves[:2])
    assert clf.stop_reason_ == "time limit" and clf.n_iter_ == 1 and not hasattr(clf, "path_")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_columns": 0}, "max_columns must be"),
        ({"max_columns": "few"}, "max_columns must be an integer, 'one_se' or None, got 'few'"),
        ({"max_columns": 3, "C": 1.0}, "max_columns must be None unless the data choose C"),
    ],
)
def test_what_is_refused(params, message, halves):
    with pytest.raises(ValueError, match=message):
        certified(**params).fit(*halves[:2])


@pytest.mark.parametrize("weak_learner", ["stump", TreeFamily(max_depth=2)], ids=["one", "two"])
def test_constraints_hold_along_the_path(halves, weak_learner):
    X, y = halves[0], halves[1] > 0
    free = certified(weak_learner, interaction_cst="no_interactions").fit(X, y)
    trees = free.ensemble_.learners.flat_form()
    for a, b in zip(trees.offsets[:-1], trees.offsets[1:]):
        assert len(set(trees.feature[a:b].tolist()) - {-1}) <= 1
    assert free.stop_reason_ in ("gap", "optimal")
    rising = certified(weak_learner, monotonic_cst=[1, -1] + [0] * 6).fit(X, y)
    grid = np.tile(X[:50, None], (1, 9, 1))
    grid[:, :, 0] = np.linspace(X[:, 0].min(), X[:, 0].max(), 9)
    p = rising.predict_proba(grid.reshape(-1, 8))[:, 1].reshape(50, 9)
    assert (np.diff(p, axis=1) >= -1e-12).all() and len(rising.plan_.Cs) > 1


def test_groups_stay_together_and_weights_are_counts(halves):
    X, y, *_ = halves
    twice, groups = np.repeat(np.arange(len(y)), 2), np.repeat(np.arange(len(y)), 2)
    copies = certified().fit(X[twice], y[twice], groups=groups)
    # Without groups, copies of the rows left out would be trained on, and C be far too large.
    assert copies.history_["C"][-1] <= 256.0
    weighted = certified(C=64.0).fit(X, y, sample_weight=np.full(len(y), 2.0))
    plain = certified(C=64.0).fit(X, y)
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    balanced = certified(class_weight="balanced").fit(X[y < 2][:400], y[y < 2][:400])
    assert balanced.path_["log_loss"].min() < np.log(2)
