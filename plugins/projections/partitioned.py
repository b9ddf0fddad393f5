"""Pricing of projections on partitions: directions drawn by the driver, thresholds between bins."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.projections.learners import ProjectionLearners, draw_seeds
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
    seeded_directions,
)

__all__ = ["ProjectedPartition", "ProjectionPlan"]

BINS = 256
"""Largest number of bins of the projections on a direction."""


class ProjectionPlan(cwboost.PricingPlan):
    """Directions drawn by the driver, with thresholds between bins of their projections.

    Summaries that are not sums are dicts with one entry per partition, whose key is the place of
    the partition's first example.

    Parameters
    ----------
    n_projections : int
    centre, scale : ndarray of shape (n_features,), dtype float64
    """

    def __init__(self, n_projections, centre, scale):
        self._n_projections = n_projections
        self.centre, self.scale = centre, scale
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
            (parts,) = yield ("sample",)
            self._gains = LinearGains(_in_order(parts))
        seeds = draw_seeds(rng, self._n_projections)
        (sketches,) = yield "sketch", seeds
        bins = Bins.from_sketches(list(sketches.values()), BINS).open_above()
        sums, totals, squares, weights = yield "sums", bins
        *stumps, edges = best_of_bins(bins, sums, totals)
        feature, _, polarity, _ = stumps
        chosen = np.where(feature >= 0, seeded_directions(seeds, self.scale)[:, feature], 0.0)
        norms, n_comparisons = np.sqrt(squares) * 2.0**26, THRESHOLDS_SEARCHED * len(seeds)
        gained = gained_fractions(edges, totals, norms, n_comparisons)
        gains = self._gains(chosen, polarity, weights, gained)
        frame = self.centre, self.scale
        learners = ProjectionLearners.on_directions(seeds, stumps, frame, gains)
        return cwboost.Chosen(learners, edges / scales, np.arange(len(scales)))


class ProjectedPartition(cwboost.PartitionPricer):
    """Projections of the examples of one partition."""

    def __init__(self, X, plan, context):
        self._X = canonical_csr(X) if sparse.issparse(X) else X
        self._plan, self._context = plan, context
        self._key = int(context.places[0])
        self._seen = LinearGains.sampled(context.n_total, X.shape[1])
        self._values = None

    def summarise(self, weights, question):
        kind, *rest = question
        if kind == "sums":
            return self._sums(weights, *rest)
        found = self._sketch(*rest) if kind == "sketch" else self._sample()
        return ({self._key: found},)

    def _sample(self):
        """Return places and features of the examples that gains are computed from."""
        places = self._context.places
        own = np.isin(places, self._seen)
        return places[own], self._X[own]

    def _sketch(self, seeds):
        """Project all examples and return a sketch of the projections."""
        project = Projector(seeded_directions(seeds, self._plan.scale), self._plan.centre)
        self._values = project(self._X, self._context.n_threads)
        return FeatureSketch.of_values(self._values.T, 2 * BINS)

    def _sums(self, weights, bins):
        values, self._values = self._values, None
        binned = BinnedMatrix(values.T, bins, n_threads=self._context.n_threads)
        sums, squares = binned.sums(weights.weights, weights.scales)
        # Zero at the examples of other partitions, so that these add up.
        sampled = np.zeros((len(weights.weights), len(self._seen)))
        own = np.isin(self._seen, self._context.places)
        at = np.searchsorted(self._context.places, self._seen[own])
        sampled[:, own] = weights.weights[:, at]
        totals = sums[: int(bins.code_starts[1])].sum(axis=0)
        return sums, totals, squares, sampled

    def outputs(self, learners):
        return cwboost.pack_outputs(learners.outputs(self._X))


def _in_order(parts):
    """Return the sampled examples of all partitions, in the order of their places."""
    places = np.concatenate([places for places, _ in parts.values()])
    rows = [X for _, X in parts.values()]
    if any(sparse.issparse(X) for X in rows):
        stacked = sparse.csr_array(sparse.vstack([sparse.csr_array(X) for X in rows]))
    else:
        stacked = np.vstack(rows)
    return stacked[np.argsort(places)]
