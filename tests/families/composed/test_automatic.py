"""The default family: its kinds of learners, by the data and by its parameters."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import cwboost
from cwboost import BindContext, CWBoostClassifier
from cwboost.families import AutoFamily

X, Y = load_iris(return_X_y=True)


def kinds(family, X, **context):
    context = BindContext(n_targets=1, random_state=np.random.default_rng(0), **context)
    pricer = family.bind(X, context)
    weights = np.where(Y == 1, 1.0, -1.0)[None]
    return {name for _ in range(9) for name in pricer.price(weights).learners.parts}


def test_the_data_decide_on_directions():
    assert kinds(AutoFamily(), X) == {"tree", "projection"}
    assert kinds(AutoFamily(discriminants=0), X) == {"tree"}
    assert kinds(AutoFamily(discriminants=1), X) == {"projection"}
    for value in (np.nan, np.inf):
        holed = X.copy()
        holed[3, 1] = value
        assert kinds(AutoFamily(), holed) == {"tree"}
    codes = np.array([True, False, False, False])
    assert kinds(AutoFamily(), X, categorical=codes) == {"tree"}
    ordered = np.array([[1, 0, 0, 0]], dtype=np.int8)
    assert kinds(AutoFamily(), X, monotonic=ordered) == {"tree"}


def test_missing_values_at_prediction_only():
    """The exported model gives the answers of this one there, too."""
    runtime = pytest.importorskip("onnxruntime")
    clf = CWBoostClassifier(n_estimators=30, random_state=0).fit(X, Y)
    holed = X.copy()
    holed[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    session = runtime.InferenceSession(cwboost.to_onnx(clf).SerializeToString())
    labels, scores, _ = session.run(None, {"X": holed})
    np.testing.assert_allclose(scores, clf.decision_function(holed), atol=1e-12)
    np.testing.assert_array_equal(labels, clf.predict(holed))
    assert clf.score(holed, Y) > 0.8


@pytest.mark.parametrize(
    ("share", "error"), [(1.5, ValueError), (-0.1, ValueError), ("half", TypeError)]
)
def test_bad_shares(share, error):
    with pytest.raises(error, match=r"discriminants: expected a number in \[0, 1\] or 'auto', got"):
        kinds(AutoFamily(discriminants=share), X)
