"""Shapley values of scores: how much each feature moves a score from the mean of a background."""

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy import sparse

from cwboost._kernels.prediction.shapley import ShapleySum, count_cover
from cwboost.ensemble.directed_shapley import DirectedShapley
from cwboost.ensemble.model import Ensemble
from cwboost.families.flat_forms import ThresholdTrees, stump_trees
from cwboost.families.joined_trees import trees_on_features
from cwboost.kernels import usable_threads
from cwboost.support.samples import evenly_spaced

NODES_AT_ONCE = 2**14
ROWS_AT_ONCE, VALUES_AT_ONCE = 2**11, 2**18

DIRECTED_ROWS = 100
"""Largest number of background examples from which values of directions are computed."""

EXACT = 2**31
"""More points of quadrature than any tree needs."""


class UnsplitError(TypeError):
    """The learners have no SHAP values."""


def shapley_values(
    ensemble: Ensemble, X, background=None, n_rounds=None, n_threads: int = 1, most_points=EXACT
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the scores: path-dependent of trees, Aumann-Shapley of directions.

    The values are (n_samples, n_features, n_scores); second come the mean scores of the background,
    (n_scores,). Without a background, the training examples in the leaves of the trees count. If
    there are directions, `DIRECTED_ROWS` of the background are used, evenly spaced; `most_points`
    is that of `tree_shapley`. Raise UnsplitError if the learners have no flat form, or trees
    compare several directions, and ValueError if the learners hold no training examples.
    """
    _, learners, coef = ensemble.used(n_rounds)
    form = learners.flat_form()
    if form is None:
        raise UnsplitError(
            "SHAP values need learners that compare features, or sums of features, with "
            f"thresholds: those of type {type(learners).__name__} have no flat form"
        )
    trees, plain = trees_on_features(form)
    others = np.setdiff1d(np.arange(len(form)), plain)
    if background is None and (len(others) or trees.cover is None):
        raise ValueError(
            "background must be examples, such as those of training, for learners that know none "
            f"of their own, got None and learners of type {type(learners).__name__}"
        )
    if len(others):
        background = background[evenly_spaced(background.shape[0], DIRECTED_ROWS)]
    values, base = tree_shapley(trees, coef[plain], X, background, n_threads, most_points)
    if len(others):
        for directed in _directed(form, others, learners, coef, background):
            for rows in _chunks(X.shape[0]):
                directed.add(X[rows], values[rows], n_threads)
            base = base + directed.base
    return values, base + ensemble.offset(n_rounds)


def _directed(form: ThresholdTrees, places, learners, coef, background):
    """Yield the values of the learners at `places`, which compare one direction each, by fill."""
    if np.any(np.diff(form.offsets)[places] != 3):
        raise UnsplitError(
            "SHAP values of directions need learners of one comparison each, got trees of several"
        )
    linear = form.feature[form.offsets[places]]
    for fill, members, _ in form.by_fill():
        at = np.flatnonzero(np.isin(linear, members))
        if len(at):
            some, directions = places[at], form.directions[:, linear[at]]
            yield DirectedShapley(directions, learners.take(some), coef[some], background, fill)


def tree_shapley(
    trees: ThresholdTrees,
    coef: sparse.csr_array,
    X,
    background=None,
    n_threads: int = 1,
    most_points: int = EXACT,
) -> tuple[np.ndarray, np.ndarray]:
    """Return path-dependent Shapley values of a weighted sum of well-formed trees.

    The mathematics stands in `_kernels/prediction/shapley.h`. At a comparison of an unknown feature
    both sides count by the examples there: those of the background, or of training (``cover``). The
    trees have no directions, `coef` is (n_trees, n_scores). The values, (n_samples, n_features,
    n_scores), have the same bits at any `n_threads`. Those of a row and the mean scores of the
    background, which come second, add up to its scores, up to rounding. With `most_points` of
    quadrature, of which two have relative errors below .001 in a third of the time if trees are
    deep, they do not quite.
    """
    n_scores = coef.shape[1]
    values, base = np.zeros((*X.shape, n_scores)), np.zeros(n_scores)
    cover = node_counts(trees, background) if background is not None else trees.node_cover()
    cover, outputs = cover.astype(np.float64), trees.output.reshape(-1, trees.n_outputs)
    used = np.unique(trees.feature[trees.feature >= 0])
    # A leaf has -1 in place of a feature.
    feature = np.where(trees.feature < 0, -1, np.searchsorted(used, trees.feature))
    feature = feature.astype(np.int32)
    for first, last in _parts(trees):
        nodes = slice(trees.offsets[first], trees.offsets[last])
        offsets, coef_of_trees = trees.offsets[first : last + 1] - nodes.start, coef[first:last]
        roots, passing, output = offsets[:-1], cover[nodes, None], outputs[nodes]
        means = np.add.reduceat(passing * output, roots) / passing[roots]
        base += (coef_of_trees.toarray() * means).sum(axis=0)
        tree = feature[nodes], trees.left[nodes], output, cover[nodes]
        shapley = ShapleySum(offsets, *tree, coef_of_trees, len(used), _quadrature, most_points)
        comparisons = _Comparisons(trees, nodes)
        for rows in _chunks(X.shape[0], len(used) * n_scores):
            n_rows = rows.stop - rows.start
            blocks = np.zeros((-(-n_rows // 8), n_scores, len(used), 8))
            shapley.add(comparisons.sides(X[rows]), blocks, usable_threads(n_threads))
            by_row = blocks.transpose(0, 3, 2, 1).reshape(8 * len(blocks), len(used), n_scores)
            values[rows, used] += by_row[:n_rows]
    return values, base


def node_counts(trees: ThresholdTrees, X) -> np.ndarray:
    """Return how many rows of X pass each node of well-formed trees, int64 of shape (n_nodes,)."""
    counts = np.zeros(len(trees.feature), dtype=np.int64)
    for first, last in _parts(trees):
        nodes = slice(trees.offsets[first], trees.offsets[last])
        comparisons = _Comparisons(trees, nodes)
        shape = (
            trees.feature[nodes],
            trees.left[nodes],
            trees.offsets[first : last + 1] - nodes.start,
        )
        for rows in _chunks(X.shape[0]):
            sides = comparisons.sides(X[rows])
            counts[nodes] += count_cover(sides, rows.stop - rows.start, *shape)
    return counts


def _parts(trees: ThresholdTrees) -> list[tuple[int, int]]:
    """Return first and last of trees that have few nodes together, for all trees in order."""
    step = trees.offsets[1:] // NODES_AT_ONCE
    cuts = [0, *(np.flatnonzero(np.diff(step)) + 1).tolist(), len(trees)]
    return [(first, last) for first, last in pairwise(cuts) if last > first]


class _Comparisons:
    """The comparisons of some nodes, evaluated for all rows."""

    def __init__(self, trees: ThresholdTrees, nodes: slice):
        inner = np.arange(nodes.start, nodes.stop)[trees.feature[nodes] >= 0]
        self.n = len(inner)
        above = np.ones(self.n, dtype=np.int8)
        parts = trees.feature[inner], trees.threshold[inner], above, trees.missing[inner]
        self._scorer = stump_trees(*parts).scorer(sparse.csr_array((self.n, 1)))

    def sides(self, X) -> np.ndarray:
        """Return (n_blocks, n_comparisons) bytes: bit k for row k of the block that goes right."""
        if self.n == 0:
            return np.zeros((-(-X.shape[0] // 8), 0), dtype=np.uint8)
        sets = self._scorer.sets(X).astype("<u8", copy=False)
        by_block = sets.view(np.uint8).reshape(len(sets), self.n, 8).transpose(0, 2, 1)
        return np.ascontiguousarray(by_block.reshape(-1, self.n)[: -(-X.shape[0] // 8)])


@lru_cache(maxsize=64)
def _quadrature(n: int) -> np.ndarray:
    """Return points in (0, 1), and their weights, that integrate degree 2 n - 1 exactly: (2, n)."""
    points, weights = np.polynomial.legendre.leggauss(n)
    return np.stack([0.5 + 0.5 * points, 0.5 * weights])


def _chunks(n_rows: int, n_values: int = 1) -> list[slice]:
    """Return slices of rows, of a multiple of eight each, that have few values together."""
    size = max(8, min(ROWS_AT_ONCE, VALUES_AT_ONCE // max(1, n_values) // 8 * 8))
    starts = range(0, n_rows, size)
    return [slice(start, min(start + size, n_rows)) for start in starts]
