"""Prints hashes of fits, and of what they return, as JSON.

Most hold out more than 10,000 rows: OpenBLAS divides longer vectors among its threads.
"""

import hashlib
import json
import warnings
from unittest.mock import patch

import numpy as np
from cwboost.plugins.kernel import KernelInit, LinearInit, model
from sklearn.datasets import load_digits

import cwboost
from cwboost import InitContext, ProjectionFamily, SklearnFamily, StumpFamily, TreeFamily

TRAIN, HELD_OUT = 400, 10_500
FEW = {"random_state": 0, "n_estimators": 6, "early_stopping": True}
BARE = FEW | {"init": None}  # the init model of the first takes most of its time
RIVALS = "AdaBoostECC", "AdaBoostMH", "AdaBoostMO"  # the solver of MultiBoost uses BLAS
MODELS = {
    "default": FEW,
    "total": FEW | {"weak_learner": "stump", "correction": "total", "C": 300.0},
    "mixed": BARE | {"weak_learner": [StumpFamily(), ProjectionFamily(), TreeFamily(max_depth=2)]},
    "scikit-learn": BARE | {"weak_learner": SklearnFamily(), "early_stopping": "loss"},
    "categories": BARE | {"weak_learner": "tree", "categorical_features": [0]},
}


def hashed(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, TRAIN + HELD_OUT)
    X = rng.normal(size=(len(y), 9)) + rng.normal(size=(4, 9))[y]  # without a product of BLAS
    X[:, 0] = np.clip(np.rint(X[:, 0]), -2, 2)
    return X[:TRAIN], y[:TRAIN], X[TRAIN:], y[TRAIN:]


def answers(model, X):
    """Hashes of what every classifier returns."""
    history = (v for k, v in sorted(model.history_.items()) if "seconds" not in k)
    return {
        "history": hashed(*history),
        "ensemble": hashed(*model.ensemble_.arrays().values()),
        "scores": hashed(model.decision_function(X)),
        "probabilities": hashed(model.predict_proba(X[:2000])),
        "logarithms": hashed(model.predict_log_proba(X[:2000])),
    }


def hashes(name):
    X, y, X_val, y_val = data()
    if name in RIVALS:
        both = ["stump", "tree"]
        model = getattr(cwboost, f"{name}Classifier")(both, n_estimators=6, random_state=0)
        return answers(model.fit(X, y), X_val)
    weight = np.linspace(0.5, 1.5, HELD_OUT)
    model = cwboost.CWBoostClassifier(**MODELS[name])
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    found = answers(model, X_val) | {"sets": hashed(model.predict_set(X_val[:2000], alpha=0.3))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thin = model.thin(X, y, C=100.0)
    return found | {"thin": hashed(thin.decision_function(X))}


def kernel_models():
    """Hashes of fits of init models: of all rows, of landmarks, of some of the rows; linear."""
    X, y = load_digits(return_X_y=True)
    order = np.argsort(y, kind="stable")[::6]
    X, y = X[order], y[order]
    X[::7, 20] = np.nan
    context = InitContext(
        n_classes=10,
        weight=np.linspace(0.5, 1, len(y)),
        n_threads=2,
        folds=np.arange(len(y)) % 5,
        categorical=np.arange(64) == 30,
    )
    for max_landmarks, most in ((2000, 2**14), (100, 2**14), (100, 250)):
        with patch.object(model, "MOST", most):
            fitted, scores = KernelInit(max_landmarks).fit(X, y, context)
        yield hashed(scores, fitted.scores(X, 2), *fitted.arrays().values())
    fitted, scores = LinearInit().fit(X, y, context)
    yield hashed(scores, fitted.scores(X, 2), *fitted.arrays().values())


def every_hash():
    found = {name: hashes(name) for name in [*MODELS, *RIVALS]}
    return found | {"kernel models": list(kernel_models())}


if __name__ == "__main__":
    print(json.dumps(every_hash()))
