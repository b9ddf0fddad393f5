"""One example in a thousand: probabilities of the data, and `class_weight="balanced"`."""

import numpy as np
from sklearn.metrics import balanced_accuracy_score, log_loss

from cwboost import CWBoostClassifier


def test_probabilities_and_balanced_weights_at_one_in_a_thousand():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 3))
    y = (rng.random(40_000) < 1 / (1 + np.exp(11 - 3 * X[:, 0]))).astype(int)
    train, test = slice(20_000), slice(20_000, None)
    assert 0.0005 < y.mean() < 0.003
    models = [
        CWBoostClassifier(
            weak_learner="stump", n_estimators=15, class_weight=weight, random_state=0
        ).fit(X[train], y[train])
        for weight in (None, "balanced")
    ]
    plain, balanced = (clf.predict_proba(X[test])[:, 1] for clf in models)
    share = np.full(20_000, y[train].mean())
    assert log_loss(y[test], plain) < 0.95 * log_loss(y[test], share)
    assert y[test].mean() / 3 < plain.mean() < 3 * y[test].mean()
    found = [balanced_accuracy_score(y[test], clf.predict(X[test])) for clf in models]
    assert found[1] > 0.75 > found[0]
    assert balanced.mean() > 5 * plain.mean()  # both classes weigh the same there
