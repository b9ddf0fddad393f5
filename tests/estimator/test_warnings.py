"""Warnings name the line of the caller, however deep in the package they arise."""

import numpy as np
import pytest
from models import paper

from cwboost import AdaBoostMHClassifier, CWBoostClassifierCV
from cwboost.datasets import load_vowel

X, Y = load_vowel(return_X_y=True)


def test_no_weak_learner_pays():
    with pytest.warns(UserWarning, match="raise C") as caught:
        paper(C=1e-3).fit(X, Y)
    assert {warning.filename for warning in caught} == {__file__}


def test_no_weak_learner_pays_within_another_estimator():
    with pytest.warns(UserWarning, match="raise C") as caught:
        CWBoostClassifierCV(paper(), Cs=[1e-3], cv=2).fit(X, Y)
    assert __file__ in {warning.filename for warning in caught}


def test_warm_start_without_rounds():
    clf = paper(n_estimators=2, warm_start=True).fit(X, Y)
    with pytest.warns(UserWarning, match="adds no rounds") as caught:
        clf.fit(X, Y)
    assert {warning.filename for warning in caught} == {__file__}


def test_a_generator_is_not_stored(tmp_path):
    clf = AdaBoostMHClassifier(n_estimators=2, random_state=np.random.RandomState(0)).fit(X, Y)
    with pytest.warns(UserWarning, match="random_state is a generator") as caught:
        clf.save(tmp_path / "model")
    assert {warning.filename for warning in caught} == {__file__}
