"""Probabilities: the scale implied by the loss, and the scale fitted on held-out examples."""

from copy import copy

import numpy as np
import pytest
from models import paper
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from cwboost import CWBoostClassifier
from cwboost.calibration.calibration import LeftOut


def test_minimises_the_negative_log_likelihood():
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)

    def loss(scale):
        labels = (np.eye(3)[y] + 0.01 / 3) / 1.01
        likelihood = -(labels * np.log(softmax(scale * scores, axis=1))).sum()
        return likelihood + 0.5 * np.log(scale / 2) ** 2

    best, _ = LeftOut(y, np.ones(len(y))).scale_and_loss(scores)
    assert all(loss(best) <= loss(best * factor) for factor in (0.5, 0.99, 1.01, 2.0))


def test_is_that_of_the_loss_without_examples_and_finite():
    none, one = (LeftOut(np.zeros(n, dtype=int), np.ones(n)) for n in (0, 1))
    assert none.scale_and_loss(np.zeros((0, 3)))[0] == pytest.approx(2.0, rel=1e-3)
    assert one.scale_and_loss(np.array([[1e300, 0.0]]))[0] < 1e4


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("margin", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("n", [50, 500])
def test_doubt_remains_without_mistakes(n, margin, n_classes):
    """About half an example in n may be of another class, whatever the size of the scores."""
    scores = np.zeros((n, n_classes))
    scores[:, 0] = margin
    scale, _ = LeftOut(np.zeros(n, dtype=int), np.ones(n)).scale_and_loss(scores)
    p = softmax(scale * scores[0])
    assert 0.05 / n < 1.0 - p[0] < 1.0 / n


def test_logarithms_are_finite_where_probabilities_round_to_zero(vowel):
    clf = paper(n_estimators=30, probability_scale=1e4).fit(*vowel)
    assert (clf.predict_proba(vowel[0]) == 0).any()
    assert np.isfinite(clf.predict_log_proba(vowel[0])).all()


def test_calibrate_refuses(vowel):
    X, y = vowel
    clf = paper(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold only training labels, got .*99"):
        clf.calibrate(X[:2], [y[0], 99])
    with pytest.raises(ValueError, match="X and y must have as many rows"):
        clf.calibrate(X[:2], y[:3])

    class Own(CWBoostClassifier):
        def _logits(self, scores):
            return scores

    with pytest.raises(TypeError, match="Own computes probabilities without a scale"):
        Own(n_estimators=2).fit(X, y).calibrate(X, y)


def test_given_examples_calibrate_base_scores_that_no_learner_improves():
    X, y = load_iris(return_X_y=True)
    init = LogisticRegression(max_iter=1000)
    clf = CWBoostClassifier("stump", init=init, correction="total", C=1e-4)
    with pytest.warns(UserWarning, match="no weak learner lowers the objective"):
        clf.fit(X, y, X_val=X[::2], y_val=y[::2])
    assert clf.n_iter_ == 0
    other = copy(clf).calibrate(X[::2], y[::2])
    assert clf.probability_scale_ == other.probability_scale_ != 2.0
    np.testing.assert_array_equal(clf.predict_set(X), other.predict_set(X))
