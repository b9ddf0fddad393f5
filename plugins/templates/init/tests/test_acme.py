import numpy as np
from cwboost_acme import Acme

import cwboost
from cwboost.datasets import load_vowel


def test_a_model_starts_from_it_and_is_saved(tmp_path):
    X, y = load_vowel(return_X_y=True)
    model = cwboost.CWBoostClassifier("stump", init="acme", n_estimators=20, random_state=0)
    assert isinstance(model.fit(X, y).init_.model, Acme)
    model.save(tmp_path / "model.cwb")
    loaded = cwboost.load_model(tmp_path / "model.cwb")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_the_scores_of_training_examples_are_those_without_their_labels():
    X, y = load_vowel(return_X_y=True)
    context = cwboost.InitContext(n_classes=11, weight=np.ones(len(y)))
    _, scores = Acme().fit(X, y, context)
    without, _ = Acme().fit(X[1:], y[1:], context)
    np.testing.assert_allclose(scores[0, y[0]], without.scores(X[:1])[0, y[0]])
