"""What a type checker sees of the public names; `make lint` checks it, nothing runs it."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

from cwboost import (
    BindContext,
    CWBoostClassifier,
    Pricer,
    WeakLearnerFamily,
    get_family,
    solve_master,
)
from cwboost.callbacks import TimeLimit

X, y = np.zeros((4, 2)), ["a", "b", "a", "b"]
clf = CWBoostClassifier("stump", init=None, n_estimators=5, callbacks=[TimeLimit(1.0)])
assert_type(clf.fit(X, y), CWBoostClassifier)
assert_type(clf.predict_proba(X), NDArray[np.float64])
for scores in clf.staged_decision_function(X):
    assert_type(scores, NDArray[np.float64])
clf.save(Path("model.cwb"))
assert_type(get_family("stump"), type[WeakLearnerFamily])
assert_type(solve_master([X.T, X.T], [0, 0, 1, 1], C=1.0).coef, list[np.ndarray])


class Family(WeakLearnerFamily):
    def bind(self, X: Any, context: BindContext) -> Pricer:
        assert_type(context.n_targets, int)
        return WeakLearnerFamily.bind(self, X, context)
