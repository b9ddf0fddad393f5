"""The worked examples of the page of known plugins."""

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree

import cwboost


class Differences(cwboost.DerivedFeatureFamily):
    """Thresholds on the difference of two features."""

    name = "differences"
    api_version = 1
    layout = {"first": ("int64", ()), "second": ("int64", ())}
    redraw = False
    exhaustive = True

    def draw(self, context):
        first, second = np.triu_indices(context.X.shape[1])  # x - x, the constant, is among them
        return {"first": first, "second": second}

    @staticmethod
    def transform(X, first, second):
        return X[:, first] - X[:, second]

    @staticmethod
    def features_used(n_features, first, second):
        return np.eye(n_features)[first] + np.eye(n_features)[second]

    @staticmethod
    def check_stored(n_features, first, second):
        if not ((first >= 0) & (first <= second) & (second < n_features)).all():
            raise ValueError(f"arrays 'first' and 'second' must be pairs of {n_features} features")


def filled(X):
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    return np.where(np.isfinite(dense), dense, 0.0)


class FittedNeighbours(cwboost.FittedInit):
    """Training examples and their classes."""

    def __init__(self, X, onehot):
        self.X, self.onehot, self.tree = X, onehot, KDTree(X)

    def scores(self, X, n_threads=1):
        return self.onehot[self.tree.query(filled(X), 5)[1]].mean(axis=1)

    def arrays(self):
        return {"X": self.X, "onehot": self.onehot}

    @classmethod
    def from_arrays(cls, arrays, n_features, n_classes):
        n = len(arrays.get("X", ()))
        shapes = {"X": ("float64", (n, n_features)), "onehot": ("float64", (n, n_classes))}
        X, onehot = cwboost.check_arrays(arrays, shapes)
        if n < 6 or not (abs(X) < 1e100).all() or not np.isin(onehot, (0, 1)).all():
            raise ValueError("arrays 'X' and 'onehot' must hold at least 6 examples below 1e100")
        return cls(X, onehot)


class Neighbours(cwboost.InitModel):
    """Shares of the classes among the five nearest training examples."""

    name = "neighbours"
    api_version = 1
    fitted_type = FittedNeighbours

    def fit(self, X, y, context):
        if X.shape[0] < 6:
            return None, None  # boosting starts from zero
        X, onehot = filled(X), np.eye(context.n_classes)[y]
        fitted = FittedNeighbours(X, onehot)
        places = fitted.tree.query(X, 6)[1]
        own = places == np.arange(len(X))[:, None]
        own[~own.any(axis=1), -1] = True  # six copies of an example are nearer than itself
        return fitted, onehot[places[~own].reshape(-1, 5)].mean(axis=1)
