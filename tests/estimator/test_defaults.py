"""Parameters whose defaults depend on the correction."""

import numpy as np
import pytest

from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel


@pytest.fixture(scope="module")
def vowel():
    X, y = load_vowel(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def same(first, second, X):
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))


def small(**params):
    return CWBoostClassifier(n_estimators=12, random_state=0, **params)


def test_the_method_of_the_paper_is_one_short_call(vowel):
    X, y, X_test, _ = vowel
    paper = small(weak_learner="stump", correction="total").fit(X, y)
    spelled_out = small(
        weak_learner="stump", correction="total", C=1e4, learning_rate=1.0, subsample=1.0
    )
    same(paper, spelled_out.fit(X, y), X_test)
    assert (paper.history_["gap"] >= 0).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "lbfgsb"}, "solver applies to correction='total' only.* got 'lbfgsb'"),
        ({"correction": "total", "learning_rate": 0.1}, "learning_rate applies to .* got 0.1"),
        ({"subsample": 0}, "subsample must be > 0.0 and <= 1.0, got 0"),
        ({"C": -1}, "C must be > 0.0"),
    ],
)
def test_what_the_correction_does_not_use_is_refused(vowel, params, message):
    with pytest.raises(ValueError, match=message):
        small(**params).fit(*vowel[:2])
