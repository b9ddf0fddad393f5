"""Families of derived features on tables with gaps and categories, on every road."""

import pickle

import numpy as np
import pandas as pd
import pytest
from derived_families import Landmarks, Means
from partitions import train
from scipy import sparse
from small_plugins import Differences
from wave_family import Waves

import cwboost
from cwboost import CWBoostClassifier, ProjectionFamily, TreeFamily

N = 200
FAMILIES = {family.name: family for family in (ProjectionFamily(), Means(), Landmarks(), Waves())}
FAMILIES["differences"] = Differences()
MEMBERS = {name: [family] for name, family in FAMILIES.items()}
MEMBERS |= {f"tree and {name}": [TreeFamily(3), family] for name, family in FAMILIES.items()}
MEMBERS["all"] = [TreeFamily(3), *FAMILIES.values()]


@pytest.fixture(autouse=True)
def registered(register):
    for family in FAMILIES.values():
        if not isinstance(family, ProjectionFamily):
            register(type(family))


def table(seed=0):
    """Numbers without gaps and their classes."""
    X = np.random.default_rng(seed).normal(size=(N, 5)).round(2)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)


def with_gaps(X, seed=1):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    X[rng.random(X.shape) < 0.02] = np.inf
    return X


def with_categories(X, seed=2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.insert(1, "kind", pd.Categorical(rng.choice(list("xyz"), N)))
    frame["flag"] = rng.choice(["yes", "no"], N)
    return frame


TABLES = {
    "gaps": with_gaps,
    "categories": with_categories,
    "both": lambda X: with_categories(with_gaps(X)),
}


def fitted(members, X, y, n_estimators=9, **params):
    spec = members[0] if len(members) == 1 else members
    params |= {"init": None, "random_state": 0, "learning_rate": 0.3}
    return CWBoostClassifier(spec, n_estimators=n_estimators, **params).fit(X, y)


@pytest.fixture(params=TABLES)
def case(request):
    X, y = table()
    return TABLES[request.param](X), y


@pytest.mark.parametrize("members", MEMBERS.values(), ids=MEMBERS)
def test_a_model_of_a_table_lives_everywhere(members, case, tmp_path):
    X, y = case
    clf = fitted(members, X, y)
    scores = clf.decision_function(X)
    assert clf.score(X, y) > 0.6
    *_, last = clf.staged_decision_function(X)
    np.testing.assert_allclose(last, scores, rtol=0, atol=1e-12)  # sums in another order
    rows = X.iloc if isinstance(X, pd.DataFrame) else X
    one_by_one = [clf.decision_function(rows[i : i + 1]) for i in range(20)]
    np.testing.assert_array_equal(np.vstack(one_by_one), scores[:20])
    clf.save(tmp_path / "model.cwb")
    for other in (cwboost.load_model(tmp_path / "model.cwb"), pickle.loads(pickle.dumps(clf))):
        np.testing.assert_array_equal(other.decision_function(X), scores)
    longer = fitted(members, X, y, 4, warm_start=True).set_params(n_estimators=9).fit(X, y)
    np.testing.assert_allclose(longer.decision_function(X), scores, rtol=0, atol=1e-9)
    if clf.ensemble_.learners.flat_form() is None:
        return
    explained = clf.shap_values(X, X)
    sums = explained.base + explained.values.sum(axis=1)
    np.testing.assert_allclose(sums, scores, rtol=0, atol=1e-9)
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(cwboost.to_onnx(clf).SerializeToString())
    codes = clf._encoded(X).astype(np.float64)
    np.testing.assert_allclose(session.run(["scores"], {"X": codes})[0], scores, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_gaps_count_as_medians_and_categories_not_at_all(family):
    X, y = table()
    X = with_gaps(X)
    weight = np.random.default_rng(3).integers(1, 4, size=N)
    known = np.where(np.isfinite(X), X, np.nan)
    copies = np.repeat(known, weight, axis=0)
    fill = np.nanquantile(copies, 0.5, axis=0, method="inverted_cdf")
    full = np.where(np.isfinite(X), X, fill)
    clf = CWBoostClassifier(family, init=None, n_estimators=6, random_state=0)
    frame, filled = with_categories(X), with_categories(full)
    clf.fit(frame, y, sample_weight=weight.astype(float))
    np.testing.assert_array_equal(clf.decision_function(frame), clf.decision_function(filled))
    other = filled.assign(kind=filled.kind.iloc[::-1].to_numpy())
    np.testing.assert_array_equal(clf.decision_function(other), clf.decision_function(filled))
    same = CWBoostClassifier(family, init=None, n_estimators=6, random_state=0)
    same.fit(filled.drop(columns="kind"), y, sample_weight=weight.astype(float))
    np.testing.assert_array_equal(
        same.decision_function(filled.drop(columns="kind")), clf.decision_function(filled)
    )


def test_sparse_and_dense_copies_have_the_same_fill():
    X, y = table()
    X = np.where(np.random.default_rng(5).random(X.shape) < [0.9, 0.6, 0.4, 0.0, 0.0], 0.0, X)
    X = with_gaps(X)
    dense = fitted([ProjectionFamily()], X, y)
    thin = fitted([ProjectionFamily()], sparse.csr_array(X), y)
    np.testing.assert_array_equal(thin.ensemble_.learners.fill, dense.ensemble_.learners.fill)
    assert dense.ensemble_.learners.fill[0, 0] == 0 != dense.ensemble_.learners.fill[0, 3]
    np.testing.assert_array_equal(
        thin.decision_function(sparse.csr_array(X)), dense.decision_function(X)
    )


@pytest.mark.parametrize("members", MEMBERS.values(), ids=MEMBERS)
def test_partitions_fill_as_one_process_does(members, case):
    X, y = case
    X = X.drop(columns=X.columns[6:]) if isinstance(X, pd.DataFrame) else X
    family = members[0] if len(members) == 1 else cwboost.MixedFamily(members)
    one, parts = (
        train(family, blocks, 4, categorical="from_dtype")
        for blocks in ([(X, y)], [(X[:90], y[:90]), (X[90:], y[90:])])
    )
    one, other = (training.model.ensemble().learners.arrays() for training in (one, parts))
    fills = [name for name in one if name.endswith("fill")]
    assert fills or isinstance(members[0], TreeFamily)
    local = fitted(members, X, y, 1).ensemble_.learners.arrays()
    for name in fills:
        np.testing.assert_array_equal(one[name], other[name])
        np.testing.assert_array_equal(one[name], local.get(name, one[name]))


@pytest.mark.parametrize("members", [["projection"], ["tree", "projection"]])
def test_a_table_of_categories_alone_is_refused_by_name(members):
    X, y = table()
    with pytest.raises(ValueError, match="'projection' takes columns of numbers, and X has none"):
        fitted(members, with_categories(X)[["kind"]], y)


def test_damaged_fills_are_refused():
    X, y = table()
    learners = fitted([ProjectionFamily()], X, y).ensemble_.learners
    for fill in (np.inf, np.nan):
        with pytest.raises(ValueError, match="array 'fill' must hold finite numbers"):
            type(learners).from_arrays(learners.arrays() | {"fill": learners.fill * fill}, 5)
    with pytest.raises(ValueError, match="projection' cannot compute with its stored parameters"):
        fill = np.where(np.arange(5) == 2, np.nan, learners.fill)
        type(learners).from_arrays(learners.arrays() | {"fill": fill}, 5)
