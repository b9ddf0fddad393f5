"""The family of thresholded random projections, and its pricer."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real

import numpy as np
from cwboost.plugins.projections.directions import Drawn, RandomDirections
from cwboost.plugins.projections.discriminants import Discriminants
from cwboost.plugins.projections.learners import ProjectionLearners
from cwboost.plugins.projections.partitioned import DiscriminantPlan, ProjectionPlan
from cwboost.plugins.projections.sparse_rows import SparseRows
from cwboost.plugins.projections.standardise import (
    centre_and_scale,
    merged_moments,
    moments,
    rounded_frame,
)
from scipy import sparse

import cwboost
from cwboost.kernels import (
    THRESHOLDS_SEARCHED,
    LinearGains,
    Projector,
    SortedFeatures,
    canonical,
    gained_fractions,
    readable,
)

__all__ = ["ProjectionFamily", "ProjectionPricer"]

KINDS = ("gaussian", "discriminant")

N_PROJECTIONS = 100


class ProjectionFamily(cwboost.PartitionedFamily, cwboost.WeakLearnerFamily):
    """Thresholds on random directions: h(x) = sign(<a, x> - t).

    Every round draws new directions, projects all examples on them and, for every target, searches
    all thresholds of all projections, both signs and the two constants.

    Parameters
    ----------
    n_projections : int or None, default=None
        Number of directions per round; None is 100. Not with "discriminant", whose number is that
        of the targets.
    kind : {"gaussian", "discriminant"}, default="gaussian"
        Distribution of a direction, in standardised features. "gaussian": independent normal
        entries. "discriminant": one ridge discriminant per target, on features drawn for the round,
        which separates the examples of positive from those of negative weight.
    max_features : int, float, "sqrt", "auto" or None, default="auto"
        Number of features of a "discriminant": "auto" is half of them, at most 256; an int is that
        number, a float in (0, 1] that fraction of all, "sqrt" the square root of all; None takes
        all.
    shrinkage : float, default=0.1
        Greater than 0. Ridge of a "discriminant": what is added to the variances of the
        standardised features, which are 1.

    Notes
    -----
    Features are divided by their standard deviation, rounded to 12 bits so that it does not depend
    on the order of its sums; features that do not vary are left out. Sparse matrices stay sparse.
    Missing values are not supported.

    A learner of kind "gaussian" is stored as a seed and a threshold, and its entries are computed
    again by integer arithmetic. A "discriminant" is stored in float32, since computing it again
    would take the training examples.

    With n examples, d features, k of them drawn, and K targets, a round of "discriminant" costs
    ``n k K`` multiplications for the means of the groups, ``k**3 / 6 + k**2 K`` for the solutions,
    ``n d K`` for the projections and ``n K`` for each of their sorting passes. The covariance
    matrix is computed from at most 2,048 examples, once, or in each round if there are more than
    1,024 features. X is not copied; if it is sparse, its transpose is kept.

    On partitions (`cwboost.dask`) thresholds lie between at most 256 bins of the projections. The
    result equals that on all examples, up to rounding, if there are at most 256 distinct
    projections.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier, ProjectionFamily
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier(ProjectionFamily(kind="discriminant"), n_estimators=20)
    >>> bool(clf.fit(X, y).score(X, y) > 0.9)
    True
    """

    name = "projection"
    api_version = 1
    learners_type = ProjectionLearners

    def __init__(
        self,
        n_projections=None,
        kind="gaussian",
        max_features="auto",
        shrinkage=0.1,
    ):
        self.n_projections = n_projections
        self.kind = kind
        self.max_features = max_features
        self.shrinkage = shrinkage

    @property
    def capabilities(self):
        return cwboost.Capabilities(sparse_input=True, symmetric=True)

    def bind(self, X, context):
        n, shrinkage = self._checked_number(), self._checked_shrinkage()
        n_drawn = self._n_drawn(X.shape[1])
        if self.kind == "discriminant":
            return ProjectionPricer(X, context, partial(Discriminants, n_drawn, shrinkage))
        return ProjectionPricer(X, context, lambda X, *_: RandomDirections(n, X.shape[1]))

    def describe(self, X):
        return moments(X)

    def plan(self, descriptions, context):
        centre, scale = rounded_frame(merged_moments(descriptions))
        n, shrinkage = self._checked_number(), self._checked_shrinkage()
        n_drawn = self._n_drawn(len(scale))
        if self.kind == "discriminant":
            return DiscriminantPlan(n_drawn, shrinkage, centre, scale)
        return ProjectionPlan(RandomDirections(n, len(scale)).draw, n, centre, scale)

    def _checked_number(self):
        """Check kind and number, and return the number of random directions per round."""
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ValueError(f"kind: expected one of {KINDS}, got {self.kind!r}")
        n = self.n_projections
        if n is None:
            return N_PROJECTIONS
        if isinstance(n, bool) or not isinstance(n, Integral):
            raise TypeError(f"n_projections: expected an int or None, got {n!r}")
        if n < 1:
            raise ValueError(f"n_projections: expected at least 1, got {n!r}")
        if self.kind == "discriminant":
            raise ValueError(
                f"n_projections: expected None with kind='discriminant', got {n!r}; it draws one "
                "direction per target"
            )
        return int(n)

    def _n_drawn(self, n_features):
        """Return the number of features of a discriminant."""
        if isinstance(self.max_features, str) and self.max_features == "auto":
            return min(256, max(1, n_features // 2))
        return cwboost.count_max_features(self.max_features, n_features)

    def _checked_shrinkage(self):
        shrinkage = self.shrinkage
        if isinstance(shrinkage, bool) or not isinstance(shrinkage, Real):
            raise TypeError(f"shrinkage: expected a number > 0, got {shrinkage!r}")
        if not 0 < shrinkage < np.inf:
            raise ValueError(f"shrinkage: expected a number > 0, got {shrinkage!r}")
        return float(shrinkage)


class ProjectionPricer(cwboost.Pricer):
    """Projections of one training matrix, drawn in each round."""

    releases_gil = True

    def __init__(self, X, context, make_directions):
        self.n_samples, self._n_features = X.shape
        X = canonical(X) if sparse.issparse(X) else readable(X)
        self._X = X.tocsr() if sparse.issparse(X) else X
        self._random_state = context.random_state
        self._n_threads = context.n_threads
        self._centre, self._scale = centre_and_scale(X)
        self._directions = make_directions(self._X, self._centre, self._scale, self._n_threads)
        self._gains = LinearGains(self._X, self._n_threads)

    def price(self, weights, request=cwboost.PricingRequest()):
        return self._best(SortedFeatures.search, weights, request.rows)

    def price_shared(self, weights, request=cwboost.PricingRequest()):
        return self._best(SortedFeatures.search_shared, weights, request.rows)

    def _best(self, search, weights, rows):
        drawn = self._directions.draw(self._random_state, weights)
        directions = drawn.directions(self._scale)
        if not self._is_less_work(rows, len(drawn), len(weights)):
            found = search(self._projected(directions), weights)
            return self._priced(drawn, directions, found, weights)
        # Only the winners need the examples that do not count: for outputs and thresholds.
        kept = search(self._projected(directions, rows), weights[:, rows])
        winners = np.unique(kept.feature[kept.feature >= 0])
        if not winners.size:
            winners = np.zeros(1, dtype=np.intp)
        directions = directions[:, winners]
        found = search(self._projected(directions), weights)
        return self._priced(drawn.take(winners), directions, found, weights)

    def _is_less_work(self, rows, n_directions, n_targets):
        """Whether some rows in all directions, then all rows in a few, are fewer projections."""
        if rows is None:
            return False
        some, few = len(rows) * n_directions, self.n_samples * n_targets
        return some + few < self.n_samples * n_directions

    def _projected(self, directions, rows=None):
        """Return the sorted projections of some examples, or of all."""
        X = self._X if rows is None else self._X[rows]
        values = Projector(directions, self._centre)(X, self._n_threads)
        return SortedFeatures(values.T, self._n_threads)

    def _priced(self, drawn: Drawn, directions, found, weights):
        # A constant has no direction, and gains nothing.
        has_one = found.feature >= 0
        split = np.flatnonzero(has_one)
        chosen = directions[:, found.feature]
        if len(split) < len(has_one):
            chosen = np.where(has_one, chosen, 0.0)
        n_searched = THRESHOLDS_SEARCHED * self._directions.n_searched
        gained = gained_fractions(found.edges, found.sums, found.norms, n_searched)
        gains = SparseRows.of(self._gains(chosen, found.polarity, weights, gained))
        learners = ProjectionLearners(
            drawn.take(found.feature[split]).spread(split, len(found.feature)),
            found.threshold,
            found.polarity,
            found.missing,
            np.zeros(len(found.feature), dtype=np.int32),
            self._centre[None],
            self._scale[None],
            gains,
        )
        return cwboost.Priced(learners, found.outputs, found.edges)
