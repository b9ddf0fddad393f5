"""Exported models agree with the originals: labels on all rows, scores to the last bits."""

import json
from dataclasses import replace

import numpy as np
import pytest
from models import paper, stages
from reference_family import ReferenceLearners, ReferenceStump
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import cwboost
from cwboost import CWBoostClassifier, to_onnx
from cwboost.base import BoostingClassifier

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def answers(model, X, dtype="float64"):
    options = {"providers": ["CPUExecutionProvider"]}
    session = runtime.InferenceSession(model.SerializeToString(), **options)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(X, dtype=dtype)})))


def assert_same_answers(clf, X, n_estimators=None, dtype="float64"):
    given = answers(to_onnx(clf, n_estimators=n_estimators, input_dtype=dtype), X, dtype)
    assert list(given) == ["label", "scores", "probabilities"]
    np.testing.assert_array_equal(given["label"], clf.predict(X, n_estimators))
    scores = clf._scores(X, n_estimators)
    np.testing.assert_allclose(given["scores"], scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        given["probabilities"], clf.predict_proba(X, n_estimators), rtol=1e-10, atol=1e-12
    )


def test_float32_features():
    """Between a float32 value and its float64 neighbours lies many a threshold."""
    X, y = load_iris(return_X_y=True)
    narrow = X.astype(np.float32)
    clf = paper("projection", n_estimators=15).fit(narrow, y)
    assert_same_answers(clf, narrow, dtype="float32")
    with pytest.raises(ValueError, match="input_dtype must be one of"):
        to_onnx(clf, input_dtype="half")


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "b ü", "c"]),
        np.array(["a", "b", "c"], dtype=object),
        np.array([-3, 5, 2**40]),
        np.array([-1.0, 1.0, 7.0]),
        np.array([0, 1, 2], dtype=np.uint8),
    ],
    ids=["str", "object", "int64", "float", "uint8"],
)
def test_labels(labels):
    X, y = load_iris(return_X_y=True)
    assert_same_answers(paper(n_estimators=4).fit(X, labels[y]), X)


def odd_columns(rng, n=40):
    """Columns of few, constant, huge, tiny and neighbouring numbers, and of zeros of both signs."""
    return np.column_stack(
        [
            rng.integers(0, 3, n),
            np.full(n, 0.1),
            rng.normal(size=n) * 10.0 ** rng.integers(-40, 37, n),
            np.float32(1) + np.spacing(np.float32(1)) * rng.integers(-2, 3, n),
            1.0 + np.spacing(1.0) * rng.integers(-2, 3, n),
            rng.choice([0.0, -0.0, 5e-324, -5e-324, 1e-45], n),
        ]
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("family", ["stump", "tree"])
def test_odd_numbers(family, seed, dtype):
    """Projections of them would be sums in another order."""
    rng = np.random.default_rng(seed)
    with np.errstate(under="ignore"):
        X = odd_columns(rng).astype(dtype)
    X[rng.random(X.shape) < 0.2 * (seed % 2)] = np.nan
    clf = stages(family, C=1e6, n_estimators=12).fit(X, rng.integers(0, 2 + seed, 40))
    assert_same_answers(clf, X, dtype=dtype)


def test_no_rows_and_no_learner_at_all():
    X, y = load_iris(return_X_y=True)
    clf = paper(n_estimators=3).fit(X, y)
    assert_same_answers(clf, X, n_estimators=0)
    given = answers(to_onnx(clf), X[:0])
    assert given["label"].shape == (0,) and given["scores"].shape == (0, 3)


def test_projections_of_two_trainings():
    """Learners concatenated from two matrices keep their own standardisation."""
    X, y = load_iris(return_X_y=True)
    clf = paper("projection", n_estimators=6, warm_start=True)
    clf.fit(X[::2], y[::2]).set_params(n_estimators=12).fit(X[::3], y[::3])
    assert len(clf.ensemble_.learners.scale) == 2
    assert_same_answers(clf, X)


def test_probabilities_of_scores_far_from_zero():
    """AdaBoost.MH takes the logarithm of a value that underflows; the graph must not."""
    X, y = load_iris(return_X_y=True)
    clf = cwboost.AdaBoostMHClassifier(n_estimators=4).fit(X, y)
    path = clf.ensemble_.path
    ensemble = replace(clf.ensemble_, path=replace(path, value=1e4 * path.value))
    clf.model_ = replace(clf.model_, ensemble=ensemble)
    assert np.abs(clf._scores(X)).max() > 1e3
    assert_same_answers(clf, X)


def test_categories_are_codes_of_the_input():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(200), rng.integers(0, 40, 200), rng.integers(0, 5, 200)])
    y = (7 * X[:, 1] + X[:, 2]).astype(int) % 3
    X[::9, 1] = np.nan
    clf = paper(n_estimators=9, categorical_features=[1, 2]).fit(X, y)
    model = to_onnx(clf)
    rows = np.vstack([X, [0.5, 39, np.nan], [0.5, np.nan, 4]])
    given = answers(model, clf._encoded(rows))
    np.testing.assert_array_equal(given["label"], clf.predict(rows))
    np.testing.assert_allclose(given["scores"], clf._scores(rows), rtol=1e-12, atol=1e-12)
    strange = np.array([[0.5, -1, 5], [0.5, 1e6, 8], [np.nan, 40, -3]])
    trained = clf.ensemble_.scores(strange)
    np.testing.assert_allclose(answers(model, strange)["scores"], trained, rtol=1e-12, atol=1e-12)
    (kept,) = model.metadata_props
    assert kept.key == "categories" and sorted(json.loads(kept.value)["2"]) == [0, 1, 2, 3, 4]


def test_refusals(monkeypatch):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        to_onnx(paper())
    monkeypatch.setattr(ReferenceLearners, "flat_form", cwboost.WeakLearners.flat_form)
    with pytest.raises(NotImplementedError, match="'reference_stump' cannot be exported to ONNX"):
        to_onnx(paper(ReferenceStump(), n_estimators=2).fit(X, y))
    with pytest.raises(ValueError, match="n_estimators must lie"):
        to_onnx(paper(n_estimators=2).fit(X, y), n_estimators=99)

    class OfBits(CWBoostClassifier):
        def _class_scores(self, scores):
            return -scores

    with pytest.raises(TypeError, match=r"must not override _class_scores, as OfBits does"):
        to_onnx(OfBits(n_estimators=2).fit(X, y))
    assert OfBits._logits is BoostingClassifier._logits
    search = GridSearchCV(paper(n_estimators=2), {}, cv=2).fit(X, y)
    with pytest.raises(TypeError, match="got GridSearchCV; of a search, pass its best_est"):
        to_onnx(search)


@pytest.mark.parametrize(("n_features", "n_classes"), [(6, 2), (40, 5), (1500, 3)])
def test_scores_of_the_kernel_model(n_features, n_classes):
    """Bit for bit those of the classifier, also where sums of codes need double precision."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, n_features)).astype(np.float32)
    y = (rng.random((120, 1)) * n_classes).astype(int)[:, 0]
    clf = CWBoostClassifier(init="kernel", n_estimators=6, random_state=0).fit(X, y)
    X[::7, 1] = np.nan
    X[3, 2] = np.inf
    assert_same_answers(clf, X)
