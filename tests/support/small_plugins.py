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
    def check_stored(n_features, first, second):
        if not ((first >= 0) & (first <= second) & (second < n_features)).all():
            raise ValueError(f"arrays 'first' and 'second' must be pairs of {n_features} features")


def filled(X):
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    return np.where(np.isfinite(dense), dense, 0.0)


class FittedNeighbours(cwboost.FittedInit):
    """Training examples, with votes for their classes."""

    def __init__(self, X, votes):
        self.X, self.votes, self.tree = X, votes, KDTree(X)

    def scores(self, X, n_threads=1):
        votes = self.votes[self.tree.query(filled(X), 5)[1]].sum(axis=1)
        return votes / votes.sum(axis=1, keepdims=True)

    def arrays(self):
        return {"X": self.X, "votes": self.votes}

    @classmethod
    def from_arrays(cls, arrays, n_features, n_classes):
        n = len(arrays.get("X", ()))
        shapes = {"X": ("float64", (n, n_features)), "votes": ("float64", (n, n_classes))}
        X, votes = cwboost.check_arrays(arrays, shapes)
        is_sound = (votes >= 0).all() and (votes < 1e100).all() and votes.any(axis=1).all()
        if n < 5 or not (abs(X) < 1e100).all() or not is_sound:
            raise ValueError("arrays 'X' and 'votes' must hold at least 5 examples below 1e100")
        return cls(X, votes)


class Neighbours(cwboost.InitModel):
    """Shares of the classes among the five nearest training examples, by their weights."""

    name = "neighbours"
    api_version = 1
    fitted_type = FittedNeighbours

    def fit(self, X, y, context):
        folds, scores = context.folds, np.empty((len(y), context.n_classes))
        X, votes = filled(X), np.eye(context.n_classes)[y] * context.weight[:, None]
        for fold in np.unique(folds):
            rest, own = folds != fold, folds == fold
            if rest.sum() < 5:
                return None, None  # boosting starts from zero
            scores[own] = FittedNeighbours(X[rest], votes[rest]).scores(X[own])
        return FittedNeighbours(X, votes), scores


class Bushes(cwboost.TreeFamily):
    """Trees of a depth that a default fit chooses by the data."""

    name = "bushes"
    api_version = 1

    def __init__(self, max_depth=3):
        super().__init__(max_depth)

    def candidates(self, size):
        return [Bushes(depth) for depth in (2, 6)]
