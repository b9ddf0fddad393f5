# pyright: strict
"""A user's program as type checkers see it; `make lint` checks it, nothing runs it."""

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
    load_model,
    solve_master,
    to_onnx,
)
from cwboost.callbacks import Checkpoint, CSVLog, TimeLimit


def trained(X: NDArray[np.float64], y: NDArray[np.str_], folder: Path) -> CWBoostClassifier:
    """Train with held-out rows, weights, groups and callbacks; return the classifier."""
    callbacks = [TimeLimit(60.0), CSVLog(folder / "log.csv"), Checkpoint(folder / "part.cwb")]
    clf = CWBoostClassifier(
        "tree",
        n_estimators=200,
        init=None,
        early_stopping=True,
        monotonic_cst={0: 1},
        class_weight="balanced",
        callbacks=callbacks,
        random_state=np.random.RandomState(0),
        n_jobs=2,
    )
    weight = np.ones(len(y))
    return clf.fit(X, y, sample_weight=weight, groups=np.arange(len(y)) // 2)


def used(clf: CWBoostClassifier, X: NDArray[np.float64], path: Path) -> list[str]:
    """Predict, explain, save, load and export; return the labels."""
    assert_type(clf.predict_proba(X), NDArray[np.float64])
    for scores in clf.staged_decision_function(X):
        assert_type(scores, NDArray[np.float64])
    clf.save(path)
    model = load_model(path)
    path.with_suffix(".onnx").write_bytes(to_onnx(clf).SerializeToString())
    return [str(label) for label in model.predict(X)]


rows, labels = np.zeros((4, 2)), np.array(["a", "b", "a", "b"])
classifier = trained(rows, labels, Path())
print(used(classifier, rows, Path("model.cwb")), classifier.score(rows, labels))
assert_type(get_family("stump"), type[WeakLearnerFamily])
solution = solve_master([rows.T, rows.T], [0, 0, 1, 1], C=1.0)
assert_type(solution.coef, list[np.ndarray])
assert_type(solution.objective, float)


class Family(WeakLearnerFamily):
    def bind(self, X: Any, context: BindContext) -> Pricer:
        assert_type(context.n_targets, int)
        return WeakLearnerFamily.bind(self, X, context)
