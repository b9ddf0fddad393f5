"""The classifiers as estimators of scikit-learn"""

import numpy as np
import pytest
from models import paper
from sklearn.utils.estimator_checks import parametrize_with_checks

from cwboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    CWBoostClassifier,
    MultiBoostClassifier,
)


def explained(estimator):
    """Return the checks that cannot pass, each with the reason."""
    if not isinstance(estimator, CWBoostClassifier):
        return {}
    return {
        "check_class_weight_classifiers": (
            "expects a class of overwhelming weight to be predicted everywhere; a stump also "
            "says no where the training part has only examples of other classes"
        )
    }


@parametrize_with_checks([CWBoostClassifier(n_estimators=10)])
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        paper(n_estimators=5),
        MultiBoostClassifier(n_estimators=7),
        AdaBoostMHClassifier(n_estimators=5),
        AdaBoostECCClassifier(n_estimators=8),
        AdaBoostMOClassifier(n_estimators=4),
    ],
    expected_failed_checks=explained,
)
def test_sklearn_checks_of_others(estimator, check):
    check(estimator)


def test_class_weight(vowel):
    X, y = vowel
    few = np.flatnonzero((y != 3) | (np.arange(len(y)) % 9 == 0))
    balanced = paper(n_estimators=10, class_weight="balanced")
    by_hand = paper(n_estimators=10)
    counts = np.bincount(y[few])
    balanced.fit(X[few], y[few])
    by_hand.fit(X[few], y[few], sample_weight=len(few) / (11 * counts[y[few]]))
    np.testing.assert_allclose(
        balanced.history_["objective"], by_hand.history_["objective"], rtol=1e-9
    )
