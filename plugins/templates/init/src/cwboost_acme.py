"""An init model for cwboost: squared distances from the means of the classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

import cwboost


def filled(X: Any) -> np.ndarray:
    dense = X.toarray() if sparse.issparse(X) else X
    return np.asarray(np.nan_to_num(dense), dtype=np.float64)


class FittedAcme(cwboost.FittedInit):
    def __init__(self, means: np.ndarray) -> None:
        self.means = means

    def scores(self, X: Any, n_threads: int = 1) -> np.ndarray:
        distances: np.ndarray = ((filled(X)[:, None] - self.means) ** 2).sum(axis=2)
        return -distances

    def arrays(self) -> dict[str, np.ndarray]:
        return {"means": self.means}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], n_features: int, n_classes: int
    ) -> cwboost.FittedInit:
        (means,) = cwboost.check_arrays(arrays, {"means": ("float64", (n_classes, n_features))})
        if not (abs(means) < 1e100).all():
            raise ValueError("array 'means' must hold numbers below 1e100")
        return cls(means)


class Acme(cwboost.InitModel):
    name = "acme"
    api_version = 1
    fitted_type = FittedAcme

    def fit(
        self, X: Any, y: np.ndarray, context: cwboost.InitContext
    ) -> tuple[cwboost.FittedInit, np.ndarray] | tuple[None, None]:
        X = filled(X)
        sizes = np.bincount(y, minlength=context.n_classes)[:, None]
        if sizes.min() < 2:
            return None, None  # boosting starts from zero
        means = np.eye(context.n_classes)[y].T @ X / sizes
        fitted = FittedAcme(means)
        scores = fitted.scores(X)
        # A training example is compared with a mean that leaves it out.
        without = (sizes[y] * means[y] - X) / (sizes[y] - 1)
        scores[np.arange(len(y)), y] = -((X - without) ** 2).sum(axis=1)
        return fitted, scores
