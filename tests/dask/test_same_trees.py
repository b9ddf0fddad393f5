"""The default on two workers and in one process: the same trees."""

import numpy as np
import pytest

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from partitions import assert_same_learners  # noqa: E402

from cwboost import CWBoostClassifier, TreeFamily  # noqa: E402
from cwboost.dask import DaskCWBoostClassifier  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("place")]


def problem(kind, seed, n=2600):
    """Return features of few distinct values, which no sketch of quantiles rounds, and labels.

    The depth of trees follows the number of rows, and no column has a value in all of them.
    """
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 8)), 1)
    if kind == "squares":
        return X, np.floor(2 * X[:, :2]).sum(axis=1).astype(int) % 2
    if kind == "steps":
        return X, np.floor(2 * X[:, :2]).sum(axis=1).astype(int) % 3
    scores = X[:, :5] @ rng.normal(size=(5, 3))
    if kind != "clear":
        scores += (2 if kind == "numbers" else 1) * rng.gumbel(size=(n, 3))
    if kind == "gaps":
        X[rng.random(X.shape) < 0.15] = np.nan
    if kind == "categories":
        X[:, :2] = rng.integers(0, [9, 40], size=(n, 2))
        scores += rng.normal(size=(40, 3))[X[:, 1].astype(int)]
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("kind", ["numbers", "gaps", "categories"])
@pytest.mark.parametrize("weak_learner", ["auto", TreeFamily(max_depth=5)])
def test_two_workers_grow_the_trees_of_one_process(client, place, weak_learner, kind):
    X, y = problem(kind, 0)
    settings = {"weak_learner": weak_learner, "n_estimators": 6, "random_state": 0}
    settings["categorical_features"] = [0, 1] if kind == "categories" else None
    local = CWBoostClassifier(**settings).fit(X, y)
    chunks = da.from_array(X, chunks=(700, 8)), da.from_array(y, chunks=700)
    there = DaskCWBoostClassifier(**settings).fit(*chunks).to_local()
    assert_same_learners(local.ensemble_, there.ensemble_)
    scores, rtol = local.decision_function(X), 0.0 if place == "one worker" else 1e-9
    np.testing.assert_allclose(there.decision_function(X), scores, rtol=rtol, atol=rtol)
    importances = there.feature_importances_
    np.testing.assert_allclose(importances, local.feature_importances_, rtol=1e-9)


@pytest.mark.parametrize("place", ["partitions"], indirect=True, scope="module")
@pytest.mark.parametrize("kind", ["numbers", "categories", "clear", "steps", "squares", "weights"])
def test_the_default_finds_the_same_start_rounds_and_scale(client, kind):
    X, y = problem(kind, 0)  # of fewer examples, one machine draws several splits
    settings = {"learning_rate": None if kind == "numbers" else 0.3, "random_state": 0}
    settings["categorical_features"] = [0, 1] if kind == "categories" else None
    given = [X, y]
    if kind == "weights":
        given.append(np.exp(np.random.default_rng(1).normal(size=len(y))))
    # After a holdout run, partitions take no start but that from the class shares. Their categories
    # are ranks.
    init = "auto" if kind == "clear" else None
    local = CWBoostClassifier(init=init, category_encoding="rank", **settings).fit(*given)
    chunks = [da.from_array(own, chunks=(700, *own.shape[1:])) for own in given]
    there = DaskCWBoostClassifier(**settings).fit(*chunks).to_local()
    assert (there.init_ is None) == (local.init_ is None) == (kind != "clear")
    # Where the init model is nearly right, one round is enough.
    assert there.n_iter_ == local.n_iter_ > (kind != "clear")
    assert there.learning_rate_ == local.learning_rate_
    assert there.family_.max_depth == local.family_.max_depth
    assert (local.family_.max_depth == "auto") == (kind not in ("squares", "steps"))
    assert (local.learning_rate_ < 0.1) == (kind == "numbers")
    np.testing.assert_allclose(there.predict_proba(X), local.predict_proba(X), atol=1e-9)
