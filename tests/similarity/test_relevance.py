"""Features weighed by their relevance: what the slopes of a first regression say."""

import numpy as np
import pytest

from cwboost.similarity import SimilarityScores
from cwboost.similarity.codes import FeatureCodes, class_scores
from cwboost.similarity.likeness import TAIL
from cwboost.similarity.relevance import is_better, relevance, squared_slopes


def test_slopes_are_derivatives():
    rng = np.random.default_rng(0)
    landmarks, points = rng.integers(-60, 60, (30, 4)), rng.integers(-60, 60, (7, 4))
    coefficients, width = rng.normal(size=(30, 2)), 900.0

    def scores(codes):
        squared = np.square(codes[:, None] - landmarks).sum(axis=2)
        return (1 + squared / (TAIL * width)) ** -TAIL @ coefficients

    step = 1e-4 * np.eye(4)
    slopes = np.array([(scores(points + e) - scores(points - e)) / 2e-4 for e in step])
    expected = np.square(slopes).sum(axis=1).T  # scores by features
    found = squared_slopes(points, landmarks, width, coefficients)
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-4)


def test_relevance_is_in_units_of_standard_deviations():
    codes = FeatureCodes(np.zeros(3), np.array([2.0, 1.0, 1.0]))
    standardised = FeatureCodes(np.zeros(3), np.array([1.0, 4.0, 0.0]))
    slopes = np.array([[1.0, 4.0, 9.0], [0.0, 0.0, 7.0]])
    np.testing.assert_allclose(relevance(slopes, codes, standardised), [1.0, 0.25, 0.0])
    assert relevance(np.zeros((2, 3)), codes, standardised) is None


@pytest.mark.parametrize(
    ("gain", "noise", "better"),
    [
        (0.2, 0.0, True),
        (-0.2, 0.0, False),
        (0.2, 20.0, False),
        (0.02, 0.0, True),
        (0.02, 1.0, False),
        (0.005, 0.0, False),
    ],
)
def test_a_slight_gain_needs_a_clear_lead(gain, noise, better):
    """Losses of 1,000 examples that are 1 on the mean; `noise` is the spread of the gains."""
    noise *= np.tile([-1.0, 1.0], 500)
    others = np.ones(1000)
    assert is_better(others - gain - noise, others) == better


def of_interactions(n, seed):
    """Return examples of two classes whom the sign of a product of 2 of 12 features divides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


@pytest.mark.parametrize("n", [1500, 2600])
def test_features_of_an_interaction_are_found_and_weighed(n, monkeypatch):
    """Neither feature alone tells anything; with both routes, all landmarks and some."""
    X, y = of_interactions(n, 0)
    X_test, y_test = of_interactions(2000, 1)
    wrong = []
    for weigh in (True, False):
        if not weigh:
            monkeypatch.setattr("cwboost.similarity.fitting.is_better", lambda *_: False)
        similarity, levels = SimilarityScores.fit(X, y, 2, np.ones(n))
        scale = similarity.codes.scale * X.std(axis=0)
        assert (scale[:2].min() > 2 * scale[2:].max()) == weigh
        assert ((levels[:, 0] < levels[:, 0].mean()) == y).mean() > 0.8
        wrong.append((class_scores(similarity(X_test)).argmax(axis=1) != y_test).mean())
    assert wrong[0] < 0.7 * wrong[1]


def test_features_that_count_alike_stay_alike():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 6))
    y = np.argsort(np.argsort(X.sum(axis=1))) // 400
    order = np.argsort(y, kind="stable")
    similarity, _ = SimilarityScores.fit(X[order], y[order], 2, np.ones(800))
    scale = similarity.codes.scale * X.std(axis=0)
    assert scale.min() > 0.6 * scale.max()
