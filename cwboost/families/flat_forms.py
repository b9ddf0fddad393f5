"""Flat forms: weak learners of any family as arrays of comparisons.

A family that can write its learners in such a form (`WeakLearners.flat_form`) gets a compiled
scorer, importances, explanations and ONNX export from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from cwboost.families.arrays import check_arrays

if TYPE_CHECKING:
    from cwboost.kernels import TreeScores
    from cwboost.support.types import Matrix

DTYPES = {
    "offsets": np.dtype(np.int64),
    "feature": np.dtype(np.int32),
    "threshold": np.dtype(np.float64),
    "left": np.dtype(np.int32),
    "missing": np.dtype(np.int8),
    "output": np.dtype(np.int8),
}


@dataclass(frozen=True, eq=False)
class ThresholdTrees:
    """Weak learners as binary trees that compare features, or linear features, with thresholds.

    Tree ``t`` has the nodes ``offsets[t]:offsets[t + 1]``, its root first; children come after
    their parent. An inner node sends an example to its right child, directly after the left one,
    if ``z[feature] > threshold``, or if ``z[feature]`` is NaN and ``missing`` is +1. The examples'
    features are ``z = x``, or ``z = x @ directions`` if there are directions; linear feature ``k``
    takes ``fill[fill_of[k]]`` in place of NaN and infinities in x, if there is a fill.

    Parameters
    ----------
    offsets : ndarray of shape (n_trees + 1,), dtype int64
    feature : ndarray of shape (n_nodes,), dtype int32
        -1 in a leaf.
    threshold : ndarray of shape (n_nodes,), dtype float64
        Never NaN; +inf keeps every value left, so that only NaN may go right. 0 in a leaf.
    left : ndarray of shape (n_nodes,), dtype int32
        The left child's place among the nodes of its tree; -1 in a leaf.
    missing : ndarray of shape (n_nodes,), dtype int8
        +1 or -1; 0 in a leaf.
    output : ndarray of shape (n_nodes,) or (n_nodes, n_outputs), dtype int8
        Output of a leaf, -1 or +1; of graded learners one per score, -127 to 127. 0 in an inner
        node.
    directions : ndarray of shape (n_features, n_linear_features), dtype float64, optional
    fill : ndarray of shape (n_fills, n_features), dtype float64, finite, optional
    fill_of : ndarray of shape (n_linear_features,), int, optional
        Beside `fill`; -1 for a linear feature of x as it is.
    cover : ndarray of shape (n_nodes,), dtype float32, optional
        Weight of the training examples in each leaf; 0 in an inner node. For explanations without
        a background.
    """

    offsets: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    missing: np.ndarray
    output: np.ndarray
    directions: np.ndarray | None = None
    fill: np.ndarray | None = None
    fill_of: np.ndarray | None = None
    cover: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def is_graded(self) -> bool:
        """True if leaves have one output per score."""
        return self.output.ndim == 2

    @property
    def n_outputs(self) -> int:
        """Number of outputs of a leaf: 1, or that of graded learners."""
        return 1 if self.output.ndim == 1 else self.output.shape[1]

    def by_fill(self) -> list[tuple[np.ndarray | None, np.ndarray, np.ndarray]]:
        """Return each fill, None for x as it is, and its linear features: places, directions."""
        if self.directions is None:
            return []
        every = np.full(self.directions.shape[1], -1) if self.fill_of is None else self.fill_of
        parts = []
        for number in np.unique(every).tolist():
            places = np.flatnonzero(every == number)
            fill = None if number < 0 or self.fill is None else self.fill[number]
            parts.append((fill, places, self.directions[:, places]))
        return parts

    def nodes(self) -> dict[str, np.ndarray]:
        """Return the arrays of offsets and nodes by name."""
        return {name: getattr(self, name) for name in DTYPES}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return `nodes`, and ``cover`` if it is known."""
        return self.nodes() | ({} if self.cover is None else {"cover": self.cover})

    def check(self, n_features: int) -> None:
        """Check every dtype, shape and value.

        Parameters
        ----------
        n_features : int
            Number of features, linear ones if there are directions.

        Raises
        ------
        ValueError
            If an array is wrong; the message names it and its fault.
        """
        dtypes = DTYPES if self.cover is None else DTYPES | {"cover": np.dtype(np.float32)}
        shapes: dict[str, tuple] = {name: (of, ("n_nodes",)) for name, of in dtypes.items()}
        shapes["offsets"] = DTYPES["offsets"], ("n_offsets",)
        if np.ndim(self.output) == 2:
            shapes["output"] = DTYPES["output"], ("n_nodes", "n_outputs")
        check_arrays({name: getattr(self, name) for name in shapes}, shapes)
        if 0 in self.output.shape[1:]:
            raise ValueError("output must have a number per leaf, got 0")
        self._check_offsets()
        self._check_nodes(n_features)
        self._check_cover()

    def _check_offsets(self) -> None:
        offsets, n_nodes = self.offsets, len(self.feature)
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != n_nodes:
            raise ValueError(f"offsets must begin with 0 and end with {n_nodes}")
        # Compared, not subtracted: a difference of hostile numbers may wrap around.
        if np.any(offsets[1:] <= offsets[:-1]):
            raise ValueError("offsets must increase, since a tree has at least one node")

    def _check_nodes(self, n_features: int) -> None:
        """Check every value, and that all nodes of a tree but its root have one parent."""
        feature, left = self.feature, self.left
        missing, output, threshold = self.missing, self.output, self.threshold
        if np.any(feature < -1) or np.any(feature >= n_features):
            raise ValueError(f"feature must be -1 or 0 to {n_features - 1}")
        leaf = feature == -1
        if np.any(np.isnan(threshold)) or np.any(threshold[leaf] != 0):
            raise ValueError("threshold must not be NaN, and must be 0 in leaves")
        if np.any(np.where(leaf, missing != 0, np.abs(missing.astype(int)) != 1)):
            raise ValueError("missing must be -1 or +1 in inner nodes and 0 in leaves")
        is_sound = output[leaf] > -128 if self.is_graded else np.abs(output[leaf].astype(int)) == 1
        if np.any(output[~leaf] != 0) or not is_sound.all():
            values = "-127 to 127" if self.is_graded else "-1 or +1"
            raise ValueError(f"output must be {values} in leaves and 0 in inner nodes")
        sizes = np.diff(self.offsets)
        first, inside = np.repeat(self.offsets[:-1], sizes), np.repeat(sizes, sizes)
        place = np.arange(len(feature)) - first
        inner_left = left[~leaf].astype(np.int64)
        if np.any(left[leaf] != -1):
            raise ValueError("left must be -1 in leaves")
        if np.any(inner_left <= place[~leaf]) or np.any(inner_left + 1 >= inside[~leaf]):
            raise ValueError("left must place both children behind their parent, in the same tree")
        n_parents = np.bincount(inner_left + first[~leaf], minlength=len(feature))
        n_parents[1:] += n_parents[:-1].copy()  # the right child follows the left
        if np.any(np.where(place == 0, n_parents != 0, n_parents != 1)):
            raise ValueError("left must give every node but the root one parent")

    def _check_cover(self) -> None:
        cover = self.cover
        if cover is None:
            return
        if not (np.isfinite(cover) & (cover >= 0)).all() or cover[self.feature >= 0].any():
            raise ValueError("cover must have finite numbers >= 0, and 0 in inner nodes")
        if len(self) and not np.logical_or.reduceat(cover > 0, self.offsets[:-1]).all():
            raise ValueError("cover must be positive in a leaf of every tree")

    def scorer(self, coef: sparse.csr_array) -> TreeScores:
        """Return a function that sums the trees' weighted outputs with a compiled kernel.

        Parameters
        ----------
        coef : csr_array of shape (len(self), n_scores), dtype float64
            The outputs of graded trees are for the last n_outputs scores.

        Returns
        -------
        callable
            ``scorer(X, n_threads=1)`` returns an array of shape (n_samples, n_scores),
            added in the order of the trees, the same bits for any number of threads.

        Raises
        ------
        ValueError
            If the trees are not well-formed, or compare linear features.
        """
        from cwboost.kernels.tree_scores import TreeScores

        if self.directions is not None:
            raise ValueError("trees on linear features have no compiled scorer")
        self.check(np.iinfo(np.int32).max)
        return TreeScores(self.nodes(), coef)

    def outputs(self, X: Matrix) -> np.ndarray:
        """Return the outputs of the trees, computed by a compiled kernel.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, len(self)), dtype int8
            Of graded trees (n_samples, len(self), n_outputs).

        Raises
        ------
        ValueError
            If the trees are not well-formed, or compare linear features.
        """
        return self.scorer(sparse.csr_array((len(self), self.n_outputs))).outputs(X)

    def stumps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
        """Return feature, threshold, polarity and missing of every tree; inverse of `stump_trees`.

        Returns
        -------
        tuple of four ndarrays of shape (len(self),), or None
            None if a tree compares more than once, compares linear features, or is graded.
        """
        sizes = np.diff(self.offsets)
        has_more = np.any((sizes != 1) & (sizes != 3))
        if self.directions is not None or has_more or self.is_graded:
            return None
        root = self.offsets[:-1]
        split = sizes == 3
        low, high = self.output[root].copy(), self.output[root].copy()
        low[split], high[split] = self.output[root[split] + 1], self.output[root[split] + 2]
        feature = np.where(low == high, -1, self.feature[root]).astype(np.int32)
        missing = np.where(self.missing[root] > 0, high, low).astype(np.int8)
        return feature, self.threshold[root], high, missing

    def node_cover(self) -> np.ndarray:
        """Return the weight of the training examples at each node, float64: `cover` added up."""
        cover = np.array(self.cover, dtype=np.float64)
        for level, left in reversed(self._levels()):
            cover[level] = cover[left] + cover[left + 1]
        return cover

    def _levels(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the inner nodes of all trees and their left children, by depth."""
        root = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        levels, level = [], self.offsets[:-1]
        while len(level := level[self.feature[level] >= 0]):
            left = root[level] + self.left[level]
            levels.append((level, left))
            level = np.concatenate([left, left + 1])
        return levels


def stump_trees(
    feature: np.ndarray,
    threshold: np.ndarray,
    polarity: np.ndarray,
    missing: np.ndarray,
) -> ThresholdTrees:
    """Return stumps as trees: `polarity` if ``z[feature] > threshold``, else ``-polarity``.

    Parameters
    ----------
    feature : ndarray of shape (n,), int
        -1 for a stump that is `polarity` everywhere.
    threshold : ndarray of shape (n,), dtype float64
    polarity : ndarray of shape (n,), dtype int8, values -1 and +1
    missing : ndarray of shape (n,), dtype int8, values -1 and +1
        Output if the feature is NaN.
    """
    split = feature >= 0
    offsets = np.concatenate([[0], np.cumsum(np.where(split, 3, 1))]).astype(np.int64)
    root, inner, n_nodes = offsets[:-1], offsets[:-1][split], int(offsets[-1])
    node_feature, left = np.full((2, n_nodes), -1, dtype=np.int32)
    node_threshold = np.zeros(n_nodes)
    node_missing, output = np.zeros((2, n_nodes), dtype=np.int8)
    node_feature[root] = feature
    node_threshold[inner] = threshold[split]
    left[inner] = 1
    node_missing[inner] = missing[split] * polarity[split]
    output[root[~split]] = polarity[~split]
    output[inner + 1] = -polarity[split]
    output[inner + 2] = polarity[split]
    return ThresholdTrees(offsets, node_feature, node_threshold, left, node_missing, output)
