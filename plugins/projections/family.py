"""The family of thresholded random projections, and its pricer."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from cwboost.plugins.projections.directions import DRAWS, Drawn
from cwboost.plugins.projections.learners import ProjectionLearners
from cwboost.plugins.projections.standardise import centre_and_scale
from scipy import sparse

import cwboost
from cwboost.kernels import Projector, SortedFeatures, canonical, readable

__all__ = ["ProjectionFamily", "ProjectionPricer"]


class ProjectionFamily(cwboost.WeakLearnerFamily):
    """Thresholds on random directions: h(x) = sign(<a, x> - t).

    Every round draws new directions, projects all examples on them and, for every target, searches
    all thresholds of all projections, both signs and the two constants.

    Parameters
    ----------
    n_projections : int, default=100
        Number of directions per round.
    kind : {"gaussian", "sparse", "orthogonal", "difference"}, default="gaussian"
        Distribution of a direction, in standardised features. "gaussian": independent normal
        entries. "sparse": -1 and +1 with probability ``density / 2`` each, else 0. "orthogonal":
        normal vectors made orthogonal, up to `n_features` at a time. "difference": the difference
        of two training examples of different classes; a target is drawn, then an example of
        positive and one of negative weight, each with probability proportional to its weight, so
        that directions join examples that are hard to tell apart.
    density : float or None, default=None
        Share of non-zero entries of "sparse" directions, in (0, 1]; None is
        ``1 / sqrt(n_features)``.

    Notes
    -----
    Features are divided by their standard deviation, rounded to 12 bits so that it does not depend
    on the order of its sums; features that do not vary are left out. Sparse matrices stay sparse.
    Missing values are not supported.

    A learner of kind "gaussian" or "sparse" is stored as a seed and a threshold, and its entries
    are computed again by integer arithmetic. "orthogonal" and "difference" store the chosen
    directions (one per learner, not `n_projections`) in float32, since computing them again would
    take the whole batch or the training examples.
    """

    name = "projection"
    api_version = 1
    learners_type = ProjectionLearners

    def __init__(self, n_projections=100, kind="gaussian", density=None):
        self.n_projections = n_projections
        self.kind = kind
        self.density = density

    @property
    def capabilities(self):
        return cwboost.Capabilities(sparse_input=True)

    def bind(self, X, context):
        density = self._checked_density(X.shape[1])
        return ProjectionPricer(X, DRAWS[self.kind], self.n_projections, density, context)

    def _checked_density(self, n_features):
        n, density = self.n_projections, self.density
        if isinstance(n, bool) or not isinstance(n, Integral):
            raise TypeError(f"n_projections: expected an int, got {n!r}")
        if n < 1:
            raise ValueError(f"n_projections: expected at least 1, got {n!r}")
        if not isinstance(self.kind, str) or self.kind not in DRAWS:
            raise ValueError(f"kind: expected one of {sorted(DRAWS)}, got {self.kind!r}")
        if density is None:
            return 1 / np.sqrt(n_features)
        if isinstance(density, bool) or not isinstance(density, Real):
            raise TypeError(f"density: expected a float in (0, 1] or None, got {density!r}")
        if not 0 < density <= 1:
            raise ValueError(f"density: expected a float in (0, 1] or None, got {density!r}")
        return float(density)


class ProjectionPricer(cwboost.Pricer):
    """Projections of one training matrix, drawn in each round."""

    releases_gil = True

    def __init__(self, X, draw, n_projections, density, context):
        self.n_samples, self._n_features = X.shape
        # CSR: rows are projected and, for differences, looked up.
        X = canonical(X) if sparse.issparse(X) else readable(X)
        self._X = X.tocsr() if sparse.issparse(X) else X
        self._draw = draw
        self._n_projections = n_projections
        self._density = density
        self._random_state = context.random_state
        self._n_threads = context.n_threads
        self._centre, self._scale = centre_and_scale(X)

    def price(self, weights, request=cwboost.PricingRequest()):
        drawn, directions = self._drawn(weights)
        if not self._is_less_work(request.rows, len(weights)):
            return self._priced(drawn, self._projected(directions).search(weights))
        # Only the winners need the examples that do not count: for outputs and thresholds.
        kept = self._projected(directions, request.rows).search(weights[:, request.rows])
        winners = np.unique(kept.feature[kept.feature >= 0])
        if not winners.size:
            winners = np.zeros(1, dtype=np.intp)
        found = self._projected(directions[:, winners]).search(weights)
        return self._priced(drawn.take(winners), found)

    def price_shared(self, weights, request=cwboost.PricingRequest()):
        drawn, directions = self._drawn(weights)
        return self._priced(drawn, self._projected(directions).search_shared(weights))

    def _drawn(self, weights):
        """Return what was drawn, and the directions in its columns."""
        drawn = self._draw(
            self._random_state,
            self._n_projections,
            density=self._density,
            X=self._X,
            scale=self._scale,
            weights=weights,
        )
        return drawn, drawn.directions(self._scale)

    def _is_less_work(self, rows, n_targets):
        """Whether some rows in all directions, then all rows in a few, are fewer projections."""
        if rows is None:
            return False
        some, few = len(rows) * self._n_projections, self.n_samples * n_targets
        return some + few < self.n_samples * self._n_projections

    def _projected(self, directions, rows=None):
        """Return the sorted projections of some examples, all by default."""
        X = self._X if rows is None else self._X[rows]
        values = Projector(directions, self._centre)(X, self._n_threads)
        return SortedFeatures(values.T, self._n_threads)

    def _priced(self, drawn: Drawn, found):
        split = np.flatnonzero(found.feature >= 0)
        learners = ProjectionLearners(
            drawn.take(found.feature[split]).spread(split, len(found.feature)),
            found.threshold,
            found.polarity,
            found.missing,
            np.zeros(len(found.feature), dtype=np.int32),
            self._centre[None],
            self._scale[None],
        )
        return cwboost.Priced(learners, found.outputs, found.edges)
