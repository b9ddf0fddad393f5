"""Warnings name the line of the caller, however deep in the package they arise."""

import numpy as np
import pytest
from models import paper

from cwboost import AdaBoostMHClassifier
from cwboost.datasets import load_vowel

X, Y = load_vowel(return_X_y=True)
FITTED = paper(n_estimators=2, warm_start=True).fit(X, Y)
DRAWN = AdaBoostMHClassifier(n_estimators=2, random_state=np.random.RandomState(0)).fit(X, Y)
CASES = {
    "raise C": lambda folder: paper(C=1e-3).fit(X, Y),
    "no rounds": lambda folder: FITTED.fit(X, Y),
    "random_state is a generator": lambda folder: DRAWN.save(folder / "model"),
}


@pytest.mark.parametrize("message", CASES)
def test_the_line_of_the_caller_is_named(message, tmp_path):
    with pytest.warns(UserWarning, match=message) as caught:
        CASES[message](tmp_path)
    assert {warning.filename for warning in caught} == {__file__}
