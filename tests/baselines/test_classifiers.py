"""Common behaviour of all classifiers, by the same tests for each."""

import numpy as np
import pytest
from models import paper, stages
from sklearn.base import clone

from cwboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    CWBoostClassifier,
    MultiBoostClassifier,
)
from cwboost.ensemble.growing import HISTORY_NAMES

MODELS = [
    paper(C=1e3, n_estimators=40),
    stages(C=1e5, n_estimators=40),
    stages("tree", C=1e5, n_estimators=40, learning_rate=0.3),
    MultiBoostClassifier(solver="fcd", C=1e3, n_estimators=40),
    AdaBoostMHClassifier(n_estimators=40),
    AdaBoostECCClassifier(n_estimators=40),
    AdaBoostMOClassifier(n_estimators=40),
]


@pytest.fixture(params=MODELS, ids=lambda m: f"{type(m).__name__}-{MODELS.index(m)}")
def model(request):
    return clone(request.param).set_params(random_state=0)


def test_training_and_its_history(model, vowel):
    X, y = vowel
    train, held = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    model.fit(X[train], y[train], X_val=X[held], y_val=y[held])
    assert model.n_iter_ == 40 and model.stop_reason_ == "n_estimators"
    assert set(HISTORY_NAMES) <= set(model.history_)
    for values in model.history_.values():
        assert values.shape == (40,) and values.dtype.kind in "fi"
    exact = isinstance(model, (MultiBoostClassifier, CWBoostClassifier)) and (
        model.weak_learner == "stump"
    )
    assert np.isnan(model.history_["dual_bound"]).all() != exact
    stages = zip(model.staged_predict(X[train]), model.staged_predict(X[held]))
    history = model.history_
    for r, (on_train, on_held) in enumerate(stages):
        assert history["train_error"][r] == pytest.approx(np.mean(on_train != y[train]))
        assert history["valid_error"][r] == pytest.approx(np.mean(on_held != y[held]))
        assert history["n_nonzero"][r] == model.ensemble_.coef(r + 1).nnz
    assert history["train_error"][-1] < 0.6 * history["train_error"][0]
    assert (np.diff(history["objective"]) < 0).all()
