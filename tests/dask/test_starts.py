"""Boosting on partitions starts where it starts on one machine, and goes on from there."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from cwboost import CWBoostClassifier, ProjectionFamily, StumpFamily  # noqa: E402
from cwboost.dask import DaskCWBoostClassifier, initial  # noqa: E402

pytestmark = pytest.mark.usefixtures("place")
SETTINGS = {"n_estimators": 3, "random_state": 0, "probability_scale": 2.0}


def problem(n=3000):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n, 6)), 1)
    y = np.argmax(X[:, :3] + rng.gumbel(size=(n, 3)), axis=1)
    return X, y


def parts(X, y):
    X = da.from_array(X, chunks=(800, X.shape[1]))
    return X, da.from_array(y, chunks=800)


def test_init_models_that_take_sparse_rows_get_them(client):
    X, y = problem()
    init = LogisticRegression()
    local = CWBoostClassifier(init=init, **SETTINGS).fit(sparse.csr_array(X), y)
    lazy, labels = parts(X, y)
    lazy = lazy.map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0)))
    there = DaskCWBoostClassifier(init=init, **SETTINGS).fit(lazy, labels)
    assert there.init_ is not None
    np.testing.assert_allclose(there.predict_proba(X), local.predict_proba(X), atol=1e-9)


def test_a_rare_class_is_among_the_examples_of_an_init_model(client, monkeypatch):
    X, y = problem()
    # Few examples reach the client, by their place none of them of the only row of class 1.
    monkeypatch.setattr(initial, "MOST", 100)
    kept = np.flatnonzero((y != 1) | (np.arange(len(y)) == np.argmax(y == 1)))
    rare = parts(X[kept], y[kept])
    model = DaskCWBoostClassifier(init="kernel", warm_start=True, **SETTINGS).fit(*rare)
    before = model.model_.base
    assert before is not None
    model.set_params(n_estimators=4).fit(*rare)
    assert model.n_iter_ == 4
    np.testing.assert_array_equal(model.model_.base(X, 1), before(X, 1))


@pytest.mark.parametrize("correction", ["stagewise", "total"])
@pytest.mark.parametrize(
    "weak_learner", ["tree", "stump", ProjectionFamily(5), ["stump", "projection"]]
)
def test_a_fit_on_other_rows_goes_on_from_the_scores_there(client, weak_learner, correction):
    """The bins of these rows do not know the thresholds of the model."""
    settings = {"init": None, "n_estimators": 4, "correction": correction, "random_state": 0}
    if correction == "stagewise":
        settings |= {"learning_rate": 0.5, "C": 100.0}
    else:
        settings["C"] = 1e4
    rng = np.random.default_rng(0)
    Xs = rng.normal(size=(2, 1500, 4)) * [[[1.0]], [[1.5]]]
    ys = (Xs[:, :, :3] + rng.gumbel(size=(2, 1500, 3))).argmax(axis=2)
    first = CWBoostClassifier(weak_learner, **settings).fit(Xs[0], ys[0])
    model = DaskCWBoostClassifier.from_local(first).set_params(
        n_estimators=5, warm_start=True, early_stopping="loss", n_iter_no_change=9
    )
    other = parts(Xs[1], ys[1])
    model.fit(*other, X_val=other[0], y_val=other[1])
    last = {name: own[-1] for name, own in model.history_.items()}
    assert last["train_error"] == pytest.approx(1 - model.score(*other))
    in_columns = weak_learner != "tree" or correction == "total"
    coef = model.ensemble_.coef().sum() if in_columns else 0.0
    loss = (last["objective"] - coef) / (model.C or 1e4)
    assert loss == pytest.approx(last["valid_loss"], rel=1e-9)


def test_other_rows_meet_other_draws(client):
    X, y = problem(1200)
    family = StumpFamily(max_features=1)
    model = DaskCWBoostClassifier(family, init=None, warm_start=True, **SETTINGS)
    for n in range(1, 11):
        model.set_params(n_estimators=n).fit(*parts(X[n:], y[n:]))
    assert np.count_nonzero(model.feature_importances_) > 2


def test_warnings_name_the_line_of_the_caller(client):
    """Those of a worker, too."""
    X, y = np.ones((200, 3)), np.arange(200) % 2
    model = DaskCWBoostClassifier("stump", init="kernel", subsample=1.0, **SETTINGS)
    with pytest.warns(UserWarning) as found:
        model.fit(*parts(X, y))
    assert {one.filename for one in found} == {__file__}
    assert [str(one.message).split()[0] for one in found] == ["init='kernel'", "no"]
    before = DaskCWBoostClassifier("stump", init=None, warm_start=True, **SETTINGS)
    before.fit(*parts(*problem(500)))
    with pytest.warns(UserWarning, match="warm_start adds no rounds to the 3") as found:
        before.fit(*parts(*problem(500)))
    assert [one.filename for one in found] == [__file__]
