"""An init model for cwboost: squared distances from the means of the classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

import cwboost


def filled(X: Any) -> np.ndarray:
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    return np.where(np.isfinite(dense), dense, 0.0)


class FittedAcme(cwboost.FittedInit):
    def __init__(self, means: np.ndarray) -> None:
        self.means = means

    def scores(self, X: Any, n_threads: int = 1) -> np.ndarray:
        dense = filled(X)
        by_class = [((dense - mean) ** 2).sum(axis=1) for mean in self.means]
        distances: np.ndarray = np.stack(by_class, axis=1)
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
        X, scores = filled(X), np.empty((len(y), context.n_classes))
        for fold in np.unique(context.folds):  # scores come from models without the own label
            train, test = context.folds != fold, context.folds == fold
            if len(np.unique(y[train])) < context.n_classes:
                return None, None  # boosting starts without it
            scores[test] = _fitted(X[train], y[train], context.weight[train]).scores(X[test])
        return _fitted(X, y, context.weight), scores


def _fitted(X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> FittedAcme:
    own = np.eye(y.max() + 1)[y] * weight[:, None]
    return FittedAcme(own.T @ X / own.sum(axis=0)[:, None])
