"""Shapley values of scores: how much each feature moves a score from the mean of a background."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy import sparse

from cwboost._kernels.prediction.shapley import ShapleySum, TreePlan, count_cover
from cwboost.ensemble.directed_shapley import DirectedShapley
from cwboost.ensemble.model import Ensemble
from cwboost.families.flat_forms import ThresholdTrees, stump_trees
from cwboost.families.joined_trees import trees_on_features
from cwboost.kernels import usable_threads
from cwboost.support.samples import evenly_spaced

__all__ = ["TreeShapley", "node_counts", "shapley_values"]

NODES_AT_ONCE = 2**14
ROWS_AT_ONCE = 2**11

DIRECTED_ROWS = 100
"""Largest number of background examples from which values of directions are computed."""


def shapley_values(
    ensemble: Ensemble, X, background, n_rounds=None, n_threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the scores: path-dependent of trees, Aumann-Shapley of directions.

    The values are (n_samples, n_features, n_scores); second come the mean scores of the background,
    (n_scores,). If there are directions, `DIRECTED_ROWS` of its rows are used, evenly spaced. Raise
    TypeError if the learners have no flat form, or trees compare several directions.
    """
    _, learners, coef = ensemble.used(n_rounds)
    form = learners.flat_form()
    if form is None:
        raise TypeError(
            "SHAP values need learners that compare features, or sums of features, with "
            f"thresholds: those of type {type(learners).__name__} have no flat form"
        )
    trees, plain = trees_on_features(form)
    others = np.setdiff1d(np.arange(len(form)), plain)
    if len(others):
        background = background[evenly_spaced(background.shape[0], DIRECTED_ROWS)]
    shapley = TreeShapley(trees, coef[plain], background)
    values, base = shapley(X, n_threads), shapley.base
    if len(others):
        directed = _directed(form, others, learners, coef, background)
        for rows in _chunks(X.shape[0]):
            directed.add(X[rows], values[rows], n_threads)
        base = base + directed.base
    return values, base + ensemble.offset(n_rounds)


def _directed(form: ThresholdTrees, places, learners, coef, background) -> DirectedShapley:
    """Return the values of the learners at `places`, which compare one direction each."""
    if np.any(np.diff(form.offsets)[places] != 3):
        raise TypeError(
            "SHAP values of directions need learners of one comparison each, got trees of several"
        )
    directions = form.directions[:, form.feature[form.offsets[places]]]
    return DirectedShapley(directions, learners.take(places), coef[places], background)


class TreeShapley:
    """Path-dependent Shapley values of a weighted sum of well-formed trees on plain features.

    The mathematics stands in `_kernels/prediction/shapley.h`. At a comparison of an unknown feature
    both sides count by their numbers of examples of the background. `coef` is (n_trees, n_scores),
    and `base` the mean score of the background, (n_scores,).
    """

    def __init__(self, trees: ThresholdTrees, coef: sparse.csr_array, background):
        self.n_features = background.shape[1]
        self.n_scores = coef.shape[1]
        self.base = np.zeros(self.n_scores)
        self._parts = []
        step = trees.offsets[1:] // NODES_AT_ONCE
        cuts = np.concatenate([[0], np.flatnonzero(np.diff(step)) + 1, [len(trees)]])
        for first, last in pairwise(cuts.tolist()):
            if last > first:
                self._add_part(trees, coef[first:last], background, first, last)

    def _add_part(self, trees, coef, background, first: int, last: int) -> None:
        nodes = slice(trees.offsets[first], trees.offsets[last])
        offsets = trees.offsets[first : last + 1] - trees.offsets[first]
        feature, left, sign = trees.feature[nodes], trees.left[nodes], trees.output[nodes]
        comparisons = _Comparisons(trees, nodes)
        cover = _cover(comparisons, feature, left, offsets, background)
        ends = list(pairwise(offsets.tolist()))
        plans = [
            TreePlan(feature[a:b], left[a:b], sign[a:b], cover[a:b], _quadrature) for a, b in ends
        ]
        means = np.array([sign[a:b] @ cover[a:b] for a, b in ends]) / background.shape[0]
        self.base += coef.T @ means
        self._parts.append((comparisons, ShapleySum(plans, coef, self.n_features)))

    def __call__(self, X, n_threads: int = 1) -> np.ndarray:
        """Return the values of the rows of X, (n_samples, n_features, n_scores).

        The values of a row and `base` add up to its scores, up to rounding. They have the same bits
        for any number of threads.
        """
        values = np.empty((X.shape[0], self.n_features, self.n_scores))
        for rows in _chunks(X.shape[0]):
            n_rows = rows.stop - rows.start
            blocks = np.zeros((-(-n_rows // 8), self.n_scores, self.n_features, 8))
            for comparisons, shapley in self._parts:
                shapley.add(comparisons.sides(X[rows]), blocks, usable_threads(n_threads))
            by_row = blocks.transpose(0, 3, 2, 1).reshape(-1, self.n_features, self.n_scores)
            values[rows] = by_row[:n_rows]
        return values


def node_counts(trees: ThresholdTrees, X) -> np.ndarray:
    """Return how many rows of X pass each node of well-formed trees, int64 of shape (n_nodes,)."""
    comparisons = _Comparisons(trees, slice(0, len(trees.feature)))
    return _cover(comparisons, trees.feature, trees.left, trees.offsets, X)


def _cover(comparisons: _Comparisons, feature, left, offsets, X) -> np.ndarray:
    """Return the number of rows of X at each node."""
    cover = np.zeros(len(feature), dtype=np.int64)
    for rows in _chunks(X.shape[0]):
        sides = comparisons.sides(X[rows])
        cover += count_cover(sides, rows.stop - rows.start, feature, left, offsets)
    return cover


class _Comparisons:
    """The comparisons of some nodes, evaluated for all rows."""

    def __init__(self, trees: ThresholdTrees, nodes: slice):
        inner = np.arange(nodes.start, nodes.stop)[trees.feature[nodes] >= 0]
        self.n = len(inner)
        sets = None if trees.category_sets is None else trees.category_sets.take(inner)
        above = np.ones(self.n, dtype=np.int8)
        parts = trees.feature[inner], trees.threshold[inner], above, trees.missing[inner]
        self._scorer = stump_trees(*parts, sets).scorer(sparse.csr_array((self.n, 1)))

    def sides(self, X) -> np.ndarray:
        """Return (n_blocks, n_comparisons) bytes: bit k for row k of the block that goes right."""
        if self.n == 0:
            return np.zeros((-(-X.shape[0] // 8), 0), dtype=np.uint8)
        sets = self._scorer.sets(X).astype("<u8", copy=False)
        by_block = sets.view(np.uint8).reshape(len(sets), self.n, 8).transpose(0, 2, 1)
        return np.ascontiguousarray(by_block.reshape(-1, self.n)[: -(-X.shape[0] // 8)])


@lru_cache(maxsize=64)
def _quadrature(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points in (0, 1), and weights, that integrate degree 2 n - 1 exactly."""
    points, weights = np.polynomial.legendre.leggauss(n)
    return 0.5 + 0.5 * points, 0.5 * weights


def _chunks(n_rows: int) -> list[slice]:
    starts = range(0, n_rows, ROWS_AT_ONCE)
    return [slice(start, min(start + ROWS_AT_ONCE, n_rows)) for start in starts]
