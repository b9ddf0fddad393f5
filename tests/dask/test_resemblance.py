"""Scores of similarity on partitions: those of one process, whatever the partitions."""

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")


import cwboost.dask.resemblance as module  # noqa: E402
from cwboost import CWBoostClassifier  # noqa: E402
from cwboost.dask import DaskCWBoostClassifier  # noqa: E402
from cwboost.datasets import load_vowel  # noqa: E402

X, Y = load_vowel(return_X_y=True)
X, Y = X[:600].astype(np.float64), np.array([f"vowel {label}" for label in Y[:600]])
FEW = {"n_estimators": 4, "random_state": 0}

pytestmark = pytest.mark.slow


def parts(X, Y, rows=150):
    return da.from_array(X, chunks=(rows, X.shape[1])), da.from_array(Y, chunks=rows)


@pytest.fixture(scope="module")
def fitted(client):
    return DaskCWBoostClassifier(**FEW).fit(*parts(X, Y))


def test_scores_are_those_of_one_process(fitted):
    """Equal in every bit, whether the regression takes all examples or some."""
    local = CWBoostClassifier(**FEW).fit(X, Y)
    assert fitted.similarity_.equals(local.similarity_)
    model = fitted.to_local()
    assert model.similarity_ is fitted.similarity_
    np.testing.assert_array_equal(model._check_predict(X), local._check_predict(X))
    scores = fitted.decision_function(parts(X, Y)[0]).compute()
    np.testing.assert_array_equal(scores, model.decision_function(X))
    assert model.score(X, Y) > 0.7


def test_some_examples_of_many(client, monkeypatch):
    monkeypatch.setattr(module, "MOST", 200)
    model = DaskCWBoostClassifier(**FEW).fit(*parts(X, Y))
    assert len(model.similarity_.landmarks) == 200 and model.to_local().score(X, Y) > 0.6


@pytest.mark.parametrize("rows", [100, 600])
def test_partitions_do_not_matter_to_the_scores(client, fitted, rows):
    other = DaskCWBoostClassifier(**FEW).fit(*parts(X, Y, rows))
    assert other.similarity_.equals(fitted.similarity_)


def test_training_columns_leave_out_the_own_label(client):
    """Stumps on one partition are exact: the models of both ways are equal."""
    exact = {
        "weak_learner": "stump",
        "similarity": True,
        "subsample": 1.0,
        "learning_rate": 1.0,
        "n_estimators": 4,
        "tol": 0.0,
    }
    local = CWBoostClassifier(**exact).fit(X, Y)
    model = DaskCWBoostClassifier(**exact).fit(*parts(X, Y))
    first, other = (one.history_["train_error"] for one in (local, model.to_local()))
    np.testing.assert_allclose(first, other, atol=0.02)
    assert model.to_local()._n_columns() == local._n_columns() == 21


def test_held_out_examples_and_weights(client):
    val = X[1::3].copy()
    val[0, 0] = np.nan  # stands for the mean
    weight = np.where(np.arange(400) % 7, 1.0, 0.0)
    train = np.arange(600) % 3 != 1
    model = DaskCWBoostClassifier(**FEW).fit(
        *parts(X[train], Y[train], 200),
        sample_weight=da.from_array(weight, chunks=200),
        X_val=da.from_array(val, chunks=(200, 10)),
        y_val=da.from_array(Y[1::3], chunks=200),
    )
    assert len(model.similarity_.landmarks) == int(weight.sum())
    held_out = 1 - model.to_local().score(val, Y[1::3])
    assert model.history_["valid_error"][-1] == pytest.approx(held_out)


def test_data_that_allow_none(client):
    holed = X.copy()
    holed[450, 3] = np.nan
    infinite = X.copy()
    infinite[450, 3] = np.inf
    for data in (holed, infinite):
        model = DaskCWBoostClassifier(**FEW).fit(*parts(data, Y))
        assert not hasattr(model, "similarity_")
        with pytest.raises(ValueError, match="with missing or infinite values"):
            DaskCWBoostClassifier("tree", similarity=True).fit(*parts(data, Y))
    blocks = parts(X, Y)[0].map_blocks(sparse.csr_array)
    assert not hasattr(DaskCWBoostClassifier(**FEW).fit(blocks, parts(X, Y)[1]), "similarity_")
    off = DaskCWBoostClassifier(**FEW, similarity=False).fit(*parts(X, Y))
    assert not hasattr(off, "similarity_")


def test_warm_start_keeps_the_scores(client, fitted):
    model = DaskCWBoostClassifier(**FEW, warm_start=True).fit(*parts(X, Y))
    similarity = model.similarity_
    model.set_params(n_estimators=6).fit(*parts(X, Y))
    assert model.similarity_ is similarity and model.n_iter_ == 6
    model.set_params(n_estimators=8).fit(*parts(X[:450], Y[:450]))
    assert model.similarity_ is similarity and model.to_local().score(X, Y) > 0.7
