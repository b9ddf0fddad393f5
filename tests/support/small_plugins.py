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
                return None, None  # boosting starts without it
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


class Ferns(cwboost.WeakLearnerFamily):
    """Trees that ask the same drawn questions on all paths; classes share their leaves."""

    name = "ferns"
    api_version = 1
    learners_type = cwboost.TreeLearners
    capabilities = cwboost.Capabilities(
        missing_values=True, monotonic=True, interactions=True, divides=True
    )

    def __init__(self, depth=3):
        self.depth = depth

    def bind(self, X, context):
        if not 1 <= self.depth <= 10:
            raise ValueError(f"depth must be from 1 to 10, got {self.depth!r}")
        return FernPricer(X, self.depth, context)


class FernPricer(cwboost.Pricer, cwboost.Divider):
    """Questions are drawn of one set of features, and of none with an order to keep."""

    def __init__(self, X, depth, context):
        self.n_samples, n_features = X.shape
        self.X, self.depth, self.rng = X, depth, context.random_state
        sets, order = context.interactions, context.monotonic
        free = np.ones(n_features, dtype=bool) if order is None else ~order.any(axis=0)
        self.sets = [free] if sets is None else [free & own for own in sets]

    def draw(self):
        """Return a fern whose leaves answer +1, and the leaf of each example."""
        columns = np.flatnonzero(self.sets[self.rng.integers(len(self.sets))])
        depth = self.depth if len(columns) else 0
        feature = columns[self.rng.integers(len(columns), size=depth)] if depth else columns[:0]
        threshold = self.X[self.rng.integers(self.n_samples, size=depth), feature]
        node = np.arange(2 ** (depth + 1) - 1)
        level = np.append(np.repeat(np.arange(depth), 2 ** np.arange(depth)), [depth] * 2**depth)
        inner = level < depth
        trees = cwboost.ThresholdTrees(
            offsets=np.array([0, len(node)]),
            feature=np.append(feature, -1)[level].astype(np.int32),
            threshold=np.append(np.where(np.isnan(threshold), np.inf, threshold), 0.0)[level],
            left=np.where(inner, 2 * node + 1, -1).astype(np.int32),
            missing=np.where(inner, -1, 0).astype(np.int8),
            output=np.where(inner, 0, 1).astype(np.int8),
        )
        fern = cwboost.TreeLearners(trees, self.X.shape[1])
        return fern, fern.cells(self.X)[:, 0]

    def divide(self, weights, request=cwboost.PricingRequest()):
        fern, cells = self.draw()
        return cwboost.Division(fern, cells, n_cells=len(fern.trees.feature))

    def price(self, weights, request=cwboost.PricingRequest()):
        found, outputs, edges = [], [], []
        for row in weights:
            fern, cells = self.draw()
            sums = np.bincount(cells, row, minlength=len(fern.trees.feature))
            signs = np.where(sums < 0, -1, 1).astype(np.int8)
            found.append(fern.graded(signs))
            outputs.append(signs[cells])
            edges.append(np.abs(sums).sum())
        learners = cwboost.TreeLearners.concatenate(found)
        return cwboost.Priced(learners, cwboost.pack_outputs(np.array(outputs).T), np.array(edges))
