"""Prints hashes of fits of the kernel model, as JSON."""

import hashlib
import json
from unittest.mock import patch

import numpy as np
from cwboost.plugins.kernel import KernelInit, model
from sklearn.datasets import load_digits

from cwboost import InitContext


def hashes():
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
    found = []
    for max_landmarks, most in ((2000, 2**14), (100, 2**14), (100, 250)):
        with patch.object(model, "MOST", most):
            fitted, scores = KernelInit(max_landmarks).fit(X, y, context)
        arrays = [scores, fitted.scores(X, 2), *fitted.arrays().values()]
        found += [hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest() for a in arrays]
    return found


if __name__ == "__main__":
    print(json.dumps(hashes()))
