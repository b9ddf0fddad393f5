"""Prints hashes of fits that hold out more than 10,000 rows, and of what they return.

OpenBLAS divides vectors of more than 10,000 numbers among its threads. With the argument "loky"
a worker of joblib computes them.
"""

import hashlib
import json
import sys
import warnings

import numpy as np
from joblib import Parallel, delayed

from cwboost import CWBoostClassifier, ProjectionFamily, SklearnFamily, StumpFamily, TreeFamily

TRAIN, HELD_OUT = 400, 10_500
FEW = {"random_state": 0, "n_estimators": 6, "early_stopping": True}
MODELS = {
    "default": FEW,
    "total": FEW | {"weak_learner": "stump", "correction": "total", "C": 300.0},
    "mixed": FEW | {"weak_learner": [StumpFamily(), ProjectionFamily(), TreeFamily(max_depth=2)]},
    "scikit-learn": FEW | {"weak_learner": SklearnFamily(), "early_stopping": "loss"},
}


def hashed(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def hashes(params):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, TRAIN + HELD_OUT)
    X = rng.normal(size=(len(y), 9)) + rng.normal(size=(4, 9))[y]  # without a product of BLAS
    X_val, weight = X[TRAIN:], np.linspace(0.5, 1.5, HELD_OUT)
    model = CWBoostClassifier(**params).fit(
        X[:TRAIN], y[:TRAIN], X_val=X_val, y_val=y[TRAIN:], sample_weight_val=weight
    )
    found = {
        "history": hashed(*(v for k, v in sorted(model.history_.items()) if "seconds" not in k)),
        "ensemble": hashed(*model.ensemble_.arrays().values()),
        "scores": hashed(model.decision_function(X_val)),
        "probabilities": hashed(model.predict_proba(X_val[:2000])),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thin = model.thin(X[:TRAIN], y[:TRAIN], C=100.0)
    return found | {"thin": hashed(thin.decision_function(X[:TRAIN]))}


def main(where):
    jobs = (delayed(hashes)(params) for params in MODELS.values())
    with Parallel(n_jobs=2 if where == "loky" else 1) as parallel:
        print(json.dumps(dict(zip(MODELS, parallel(jobs)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
