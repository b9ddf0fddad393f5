"""The family of thresholded random projections, and its pricer."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from cwboost.plugins.projections.learners import ProjectionLearners, draw_seeds
from cwboost.plugins.projections.partitioned import ProjectionPlan
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
    seeded_directions,
)

__all__ = ["ProjectionFamily", "ProjectionPricer"]


class ProjectionFamily(cwboost.PartitionedFamily, cwboost.WeakLearnerFamily):
    """Thresholds on random directions: h(x) = sign(<a, x> - t).

    Every round draws new directions, projects all examples on them and, for every target, searches
    all thresholds of all projections, both signs and the two constants.

    Parameters
    ----------
    n_projections : int, default=100
        Number of directions per round. Their entries, in standardised features, are independent
        and normal.

    Notes
    -----
    Features are divided by their standard deviation, rounded to 12 bits so that it does not depend
    on the order of its sums; features that do not vary are left out. Sparse matrices stay sparse.
    Missing values are not supported.

    A learner is stored as a seed and a threshold: the entries of its direction are computed again
    by integer arithmetic. X is not copied.

    On partitions (`cwboost.dask`) thresholds lie between at most 256 bins of the projections. The
    result equals that on all examples, up to rounding, if there are at most 256 distinct
    projections.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier, ProjectionFamily
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier(ProjectionFamily(n_projections=50), n_estimators=20)
    >>> bool(clf.fit(X, y).score(X, y) > 0.9)
    True
    """

    name = "projection"
    api_version = 1
    learners_type = ProjectionLearners

    def __init__(self, n_projections=100):
        self.n_projections = n_projections

    @property
    def capabilities(self):
        return cwboost.Capabilities(sparse_input=True, symmetric=True)

    def bind(self, X, context):
        return ProjectionPricer(X, context, self._checked_number())

    def describe(self, X):
        return moments(X)

    def plan(self, descriptions, context):
        frame = rounded_frame(merged_moments(descriptions))
        return ProjectionPlan(self._checked_number(), *frame)

    def _checked_number(self):
        n = self.n_projections
        if isinstance(n, bool) or not isinstance(n, Integral):
            raise TypeError(f"n_projections: expected an int, got {n!r}")
        if n < 1:
            raise ValueError(f"n_projections: expected at least 1, got {n!r}")
        return int(n)


class ProjectionPricer(cwboost.Pricer):
    """Projections of one training matrix, drawn in each round."""

    releases_gil = True

    def __init__(self, X, context, n_projections):
        self.n_samples = X.shape[0]
        X = canonical(X) if sparse.issparse(X) else readable(X)
        self._X = X.tocsr() if sparse.issparse(X) else X
        self._random_state = context.random_state
        self._n_threads = context.n_threads
        self._n_projections = n_projections
        self._centre, self._scale = centre_and_scale(X)
        self._gains = LinearGains(self._X, self._n_threads)

    def price(self, weights, request=cwboost.PricingRequest()):
        return self._best(SortedFeatures.search, weights, request.rows)

    def price_shared(self, weights, request=cwboost.PricingRequest()):
        return self._best(SortedFeatures.search_shared, weights, request.rows)

    def _best(self, search, weights, rows):
        """Draw directions and search them: on the rows that count, if they are fewer, at first."""
        n = self._n_projections
        seeds = draw_seeds(self._random_state, n)
        directions = seeded_directions(seeds, self._scale)
        some = self.n_samples if rows is None else len(rows)
        if some * n + self.n_samples * len(weights) < self.n_samples * n:
            kept = search(self._projected(directions, rows), weights[:, rows])
            # Only the winners need the examples that do not count: for outputs and thresholds.
            # A constant keeps direction 0, so that there is one.
            winners = np.unique(np.maximum(kept.feature, 0))
            seeds, directions = seeds[winners], directions[:, winners]
        found = search(self._projected(directions), weights)
        gained = gained_fractions(found.edges, found.sums, found.norms, THRESHOLDS_SEARCHED * n)
        chosen = np.where(found.feature >= 0, directions[:, found.feature], 0.0)
        gains = self._gains(chosen, found.polarity, weights, gained)
        stumps = found.feature, found.threshold, found.polarity, found.missing
        frame = self._centre, self._scale
        learners = ProjectionLearners.on_directions(seeds, stumps, frame, gains)
        return cwboost.Priced(learners, found.outputs, found.edges)

    def _projected(self, directions, rows=None):
        """Return the sorted projections of some examples, or of all."""
        X = self._X if rows is None else self._X[rows]
        values = Projector(directions, self._centre)(X, self._n_threads)
        return SortedFeatures(values.T, self._n_threads)
