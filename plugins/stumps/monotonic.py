"""Pricing of stumps under monotonic constraints."""

import numpy as np
from cwboost.plugins.stumps.drawn import DrawingPricer
from cwboost.plugins.stumps.learners import StumpLearners
from scipy import sparse

import cwboost
from cwboost.kernels import SortedFeatures, thresholds_between


class MonotonicStumpPricer(DrawingPricer):
    """Stumps on one training matrix, of which some features allow one direction only.

    Features without a constraint are searched as ever. For a constrained feature, a pass over its
    sorted values gives the edge of every threshold in the allowed direction.
    """

    def __init__(self, X, context, n_drawn):
        super().__init__(X, context, n_drawn)
        self._X = X
        self._features = SortedFeatures(X, context.n_threads)
        self._monotonic = context.monotonic
        constrained = np.flatnonzero(context.monotonic.any(axis=0))
        self._columns = {int(f): _Column(X, f) for f in constrained}

    def price(self, weights, request=cwboost.PricingRequest()):
        drawn = self._drawn()
        found = [self._best(row, cst, drawn) for row, cst in zip(weights, self._monotonic)]
        feature, threshold, polarity, missing = zip(*found)
        parts = {"feature": feature, "threshold": threshold}
        parts |= {"polarity": polarity, "missing": missing}
        learners = StumpLearners(**parts, n_features=self._n_features)
        outputs = learners.outputs(self._X)
        edges = np.einsum("ti,it->t", weights, outputs.astype(np.float64))  # noqa: TID251
        return cwboost.Priced(learners, cwboost.pack_outputs(outputs), edges)

    def _best(self, row, constraints, drawn):
        """Return feature, threshold, polarity and missing of the best stump for one target."""
        free = drawn[constraints[drawn] == 0]
        found = self._features.search(row[None], free)
        best = int(found.feature[0]), found.threshold[0], found.polarity[0], found.missing[0]
        edge = found.edges[0]
        for feature in drawn[constraints[drawn] != 0].tolist():
            direction = int(constraints[feature])
            own, *stump = self._columns[feature].best(row, direction)
            if own > edge:
                best, edge = (feature, *stump), own
        return best


class _Column:
    """The sorted values of one feature."""

    def __init__(self, X, feature):
        column = X[:, [feature]]
        column = column.toarray() if sparse.issparse(column) else np.asarray(column)
        column = column.ravel().astype(np.float64)
        present = np.flatnonzero(~np.isnan(column))
        self.order = present[np.argsort(column[present], kind="stable")]
        self.missing = np.flatnonzero(np.isnan(column))
        values = column[self.order]
        self.last = np.flatnonzero(values[1:] > values[:-1])  # of each block but the highest
        self.thresholds = thresholds_between(values[self.last], values[self.last + 1])

    def best(self, row, direction: int):
        """Return the largest edge, its threshold, polarity and output for missing values."""
        sums = np.cumsum(row[self.order])
        known, unknown = sums[-1] if len(sums) else 0.0, row[self.missing].sum()
        # Missing values have no order: all others may get either output.
        found = abs(known), np.inf, -1 if known >= 0 else 1
        edges = direction * (known - 2.0 * sums[self.last])
        if len(edges) and (not len(self.missing) or edges.max() > found[0]):
            at = int(np.argmax(edges))
            found = edges[at], self.thresholds[at], direction
        # If none is missing in training, the better constant.
        side = unknown if len(self.missing) else known
        edge, *stump = found
        return edge + abs(unknown), *stump, 1 if side >= 0 else -1
