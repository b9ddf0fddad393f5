"""Pricing of projections on partitions: directions drawn by the driver, thresholds between bins."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.projections.directions import Drawn
from cwboost.plugins.projections.discriminants import (
    RidgeDirections,
    differences_of_means,
    sampled_places,
    sums_of_groups,
)
from cwboost.plugins.projections.learners import ProjectionLearners
from cwboost.plugins.projections.sparse_rows import SparseRows
from scipy import sparse

import cwboost
from cwboost.kernels import (
    THRESHOLDS_SEARCHED,
    BinnedMatrix,
    Bins,
    FeatureSketch,
    LinearGains,
    Projector,
    best_of_bins,
    canonical_csr,
    gained_fractions,
)

__all__ = ["DiscriminantPlan", "ProjectedPartition", "ProjectionPlan"]

BINS = 256
"""Largest number of bins of the projections on a direction."""


class ProjectionPlan(cwboost.PricingPlan):
    """Directions that need no examples, with thresholds between bins of their projections.

    Summaries that are not sums are dicts with one entry per partition, whose key is the place of
    the partition's first example.

    Parameters
    ----------
    draw : callable or None
        ``draw(rng) -> Drawn``.
    n_searched : int
        Number of directions that a learner may choose from.
    centre, scale : ndarray of shape (n_features,), dtype float64
    """

    def __init__(self, draw, n_searched, centre, scale):
        self._draw = draw
        self.centre, self.scale = centre, scale
        self.n_searched = n_searched
        self._gains = None

    def __getstate__(self):
        return {**vars(self), "_gains": None}  # the driver alone keeps the sample

    def bind(self, X, context):
        return ProjectedPartition(X, self, context)

    def merge(self, one, other):
        if isinstance(one[0], dict):
            return ({**one[0], **other[0]},)
        return super().merge(one, other)

    def choose(self, scales, rng, request):
        if self._gains is None:
            (parts,) = yield "rows", LinearGains.sampled
            self._gains = LinearGains(_in_order(parts))
        drawn = yield from self._directions(len(scales), rng)
        (sketches,) = yield "sketch", drawn
        bins = Bins.from_sketches(list(sketches.values()), BINS).open_above()
        sums, totals, squares, weights = yield "sums", bins
        feature, threshold, polarity, missing, edges = best_of_bins(bins, sums, totals)
        split = np.flatnonzero(feature >= 0)
        chosen = np.where(feature >= 0, drawn.directions(self.scale)[:, feature], 0.0)
        norms, n_searched = np.sqrt(squares) * 2.0**26, THRESHOLDS_SEARCHED * self.n_searched
        gained = gained_fractions(edges, totals, norms, n_searched)
        gains = self._gains(chosen, polarity, weights, gained)
        learners = ProjectionLearners(
            drawn.take(feature[split]).spread(split, len(feature)),
            threshold,
            polarity,
            missing,
            np.zeros(len(feature), dtype=np.int32),
            self.centre[None],
            self.scale[None],
            SparseRows.of(gains),
        )
        return cwboost.Chosen(learners, edges / scales, np.arange(len(scales)))

    def _directions(self, n_targets, rng):
        """Return the directions of a round; a conversation."""
        return self._draw(rng)
        yield


class DiscriminantPlan(ProjectionPlan):
    """Ridge discriminants: class means from sums, covariances from a sample of the examples.

    Parameters
    ----------
    n_drawn : int
    shrinkage : float
    centre, scale
        As for `ProjectionPlan`.
    """

    def __init__(self, n_drawn, shrinkage, centre, scale):
        n_searched = min(n_drawn, np.count_nonzero(scale))
        super().__init__(None, n_searched, centre, scale)
        self._settings = n_drawn, shrinkage
        self._ridge = None

    def __getstate__(self):
        return {**super().__getstate__(), "_ridge": None}

    def _directions(self, n_targets, rng):
        if self._ridge is None:
            (parts,) = yield "rows", _for_covariances
            sample = _in_order(parts)
            self._ridge = RidgeDirections(*self._settings, sample, self.centre, self.scale, 1)
        features = self._ridge.draw_features(rng)
        if not len(features):
            return Drawn.explicit(SparseRows.empty(n_targets, len(self.scale)))
        (parts,) = yield "means", features
        totals, products = (sum(part) for part in zip(*(parts[k] for k in sorted(parts))))
        differences = differences_of_means(totals, products, self.scale[features])
        return self._ridge.directions(features, differences)


class ProjectedPartition(cwboost.PartitionPricer):
    """Projections of the examples of one partition."""

    def __init__(self, X, plan, context):
        self._X = canonical_csr(X) if sparse.issparse(X) else X
        self._plan, self._context = plan, context
        self._key = int(context.places[0])
        self._values = self._columns = None

    def summarise(self, weights, question):
        kind, *rest = question
        if kind == "sums":
            return self._sums(weights, *rest)
        if kind == "means":
            if self._columns is None:
                self._columns = self._X.T.tocsr() if sparse.issparse(self._X) else self._X
            own = weights.weights, *rest, self._context.n_threads
            found = sums_of_groups(self._columns, *own)
        elif kind == "sketch":
            found = self._sketch(*rest)
        else:
            found = self._rows(*rest)
        return ({self._key: found},)

    def _rows(self, sampled):
        """Return places and features of the examples of a sample of all examples."""
        places = self._context.places
        own = np.isin(places, sampled(self._context.n_total, self._X.shape[1]))
        return places[own], self._X[own]

    def _sketch(self, drawn):
        """Project all examples and return a sketch of the projections."""
        project = Projector(drawn.directions(self._plan.scale), self._plan.centre)
        self._values = project(self._X, self._context.n_threads)
        return FeatureSketch.of_values(self._values.T, 2 * BINS)

    def _sums(self, weights, bins):
        values, self._values = self._values, None
        binned = BinnedMatrix(values.T, bins, n_threads=self._context.n_threads)
        sums, squares = binned.sums(weights.weights, weights.scales)
        # Zero at the examples of other partitions, so that these add up.
        wanted = LinearGains.sampled(self._context.n_total, self._X.shape[1])
        sampled = np.zeros((len(weights.weights), len(wanted)))
        own = np.isin(wanted, self._context.places)
        at = np.searchsorted(self._context.places, wanted[own])
        sampled[:, own] = weights.weights[:, at]
        totals = sums[: int(bins.code_starts[1])].sum(axis=0)
        return sums, totals, squares, sampled

    def outputs(self, learners):
        return cwboost.pack_outputs(learners.outputs(self._X))


def _for_covariances(n_samples, _):
    return sampled_places(n_samples)


def _in_order(parts):
    """Return the sampled examples of all partitions, in the order of their places."""
    places = np.concatenate([places for places, _ in parts.values()])
    rows = [X for _, X in parts.values()]
    if any(sparse.issparse(X) for X in rows):
        stacked = sparse.csr_array(sparse.vstack([sparse.csr_array(X) for X in rows]))
    else:
        stacked = np.vstack(rows)
    return stacked[np.argsort(places)]
