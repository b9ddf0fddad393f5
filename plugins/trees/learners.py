"""A batch of fitted trees."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import cwboost
from cwboost.kernels import TreeEvaluator, canonical_csr, readable

__all__ = ["TreeLearners"]

DTYPES = {
    "offsets": np.dtype(np.int64),
    "feature": np.dtype(np.int32),
    "threshold": np.dtype(np.float64),
    "left": np.dtype(np.int32),
    "missing": np.dtype(np.int8),
    "sign": np.dtype(np.int8),
}


class TreeLearners(cwboost.WeakLearners):
    """Fitted binary trees with leaves -1 and +1, as flat arrays.

    Tree ``t`` has the nodes ``offsets[t]:offsets[t + 1]``, its root first; children come after
    their parent, the right one directly behind the left. At an inner node an example goes right
    where ``x[feature] > threshold``, or where ``x[feature]`` is NaN and ``missing`` is +1.

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
    sign : ndarray of shape (n_nodes,), dtype int8
        Output of a leaf, -1 or +1; 0 in an inner node.
    n_features : int
    """

    def __init__(self, offsets, feature, threshold, left, missing, sign, n_features: int):
        self.offsets = offsets
        self.feature = feature
        self.threshold = threshold
        self.left = left
        self.missing = missing
        self.sign = sign
        self.n_features = n_features
        self._evaluator = None

    def __getstate__(self):
        # The evaluator is rebuilt from the arrays and is not worth storing.
        return {**self.__dict__, "_evaluator": None}

    def __len__(self):
        return len(self.offsets) - 1

    def outputs(self, X):
        return self._evaluate().outputs(self._check(X))

    def scores(self, X, coef, n_threads: int = 1):
        """Weighted sums of outputs.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        coef : ndarray or scipy.sparse array of shape (len(self), n_scores), dtype float64
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_samples, n_scores), dtype float64
            Added in the order of the trees: the same bits for any number of threads.
        """
        return self.scorer(coef)(X, n_threads)

    def scorer(self, coef):
        coef = sparse.csr_array(coef, dtype=np.float64)
        if coef.shape[0] != len(self):
            raise ValueError(f"coef: expected {len(self)} rows, got shape {coef.shape}")
        evaluator = self._evaluate()

        def scorer(X, n_threads: int = 1):
            return evaluator.scores(self._check(X), coef, n_threads)

        return scorer

    def feature_shares(self, n_features):
        """Share of each feature in each tree: a test at depth k counts 2^-k, as if every test
        sent half of the examples either way."""
        inner = np.flatnonzero(self.feature >= 0)
        tree = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        child = self.left[inner] + self.offsets[tree[inner]]
        depth = np.zeros(len(self.feature))
        reached = np.isin(inner, self.offsets)
        while reached.any():  # one level of all trees at a time
            for side in (0, 1):
                depth[child[reached] + side] = depth[inner[reached]] + 1
            reached = np.isin(inner, child[reached]) | np.isin(inner, child[reached] + 1)
        share = sparse.csr_array(
            (0.5 ** depth[inner], (tree[inner], self.feature[inner])),
            shape=(len(self), n_features),
        )
        total = share.sum(axis=1)
        return sparse.csr_array(sparse.diags_array(1 / np.where(total > 0, total, 1)) @ share)

    def threshold_trees(self):
        return cwboost.ThresholdTrees(**self.arrays())

    def arrays(self):
        return {name: getattr(self, name) for name in DTYPES}

    @classmethod
    def from_arrays(cls, arrays, n_features):
        if set(arrays) != set(DTYPES):
            raise ValueError(f"trees have the arrays {sorted(DTYPES)}, got {sorted(arrays)}")
        for name, dtype in DTYPES.items():
            if arrays[name].dtype != dtype or arrays[name].ndim != 1:
                raise ValueError(
                    f"{name}: expected one dimension of {dtype}, got {arrays[name].dtype} of "
                    f"shape {arrays[name].shape}"
                )
        own = {name: np.ascontiguousarray(arrays[name]) for name in DTYPES}
        _check_offsets(own)
        _check_nodes(own, n_features)
        return cls(**own, n_features=n_features)

    def take(self, indices):
        indices = np.asarray(indices, dtype=np.int64)
        sizes = np.diff(self.offsets)[indices]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        nodes = np.arange(offsets[-1]) + np.repeat(self.offsets[indices] - offsets[:-1], sizes)
        parts = {name: getattr(self, name)[nodes] for name in DTYPES if name != "offsets"}
        return TreeLearners(offsets, **parts, n_features=self.n_features)

    @classmethod
    def concatenate(cls, batches):
        if len({batch.n_features for batch in batches}) != 1:
            raise ValueError("batches: expected trees on the same number of features")
        sizes = np.concatenate([np.diff(batch.offsets) for batch in batches])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        parts = {
            name: np.concatenate([getattr(batch, name) for batch in batches])
            for name in DTYPES
            if name != "offsets"
        }
        return cls(offsets, **parts, n_features=batches[0].n_features)

    def _evaluate(self):
        if self._evaluator is None:
            self._evaluator = TreeEvaluator(**self.arrays(), n_features=self.n_features)
        return self._evaluator

    def _check(self, X):
        """X in a form that the evaluator reads."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"X: expected {self.n_features} features, got {X.shape[1]}")
        if sparse.issparse(X):
            rows = canonical_csr(X)
            return (
                rows.data.astype(np.float64, copy=False),
                rows.indices.astype(np.int32, copy=False),
                rows.indptr.astype(np.int64, copy=False),
            )
        return readable(X)


def _check_offsets(arrays):
    offsets, n_nodes = arrays["offsets"], len(arrays["feature"])
    lengths = {name: len(array) for name, array in arrays.items() if name != "offsets"}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"expected arrays of one length, an entry a node, got {lengths}")
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != n_nodes:
        raise ValueError(f"offsets: expected to begin with 0 and end with {n_nodes}")
    # Compared, not subtracted: a difference of hostile numbers may wrap around.
    if np.any(offsets[1:] <= offsets[:-1]):
        raise ValueError("offsets: expected to increase, since a tree has at least one node")


def _check_nodes(arrays, n_features):
    """Check every value, and that each tree is one: all nodes but the root have one parent."""
    feature, left = arrays["feature"], arrays["left"]
    missing, sign = arrays["missing"], arrays["sign"]
    if np.any(feature < -1) or np.any(feature >= n_features):
        raise ValueError(f"feature: expected -1 or 0 to {n_features - 1}")
    leaf = feature == -1
    if np.any(np.isnan(arrays["threshold"])) or np.any(arrays["threshold"][leaf] != 0):
        raise ValueError("threshold: expected no NaN, and 0 in leaves")
    if np.any(np.where(leaf, missing != 0, np.abs(missing.astype(int)) != 1)):
        raise ValueError("missing: expected -1 or +1 in inner nodes and 0 in leaves")
    if np.any(np.where(leaf, np.abs(sign.astype(int)) != 1, sign != 0)):
        raise ValueError("sign: expected -1 or +1 in leaves and 0 in inner nodes")
    offsets = arrays["offsets"]
    sizes = np.diff(offsets)
    place = np.arange(len(feature)) - np.repeat(offsets[:-1], sizes)
    inner_left = left[~leaf].astype(np.int64)
    if np.any(left[leaf] != -1):
        raise ValueError("left: expected -1 in leaves")
    if np.any(inner_left <= place[~leaf]) or np.any(
        inner_left + 1 >= np.repeat(sizes, sizes)[~leaf]
    ):
        raise ValueError("left: expected both children behind their parent, in the same tree")
    child = inner_left + np.repeat(offsets[:-1], sizes)[~leaf]
    n_parents = np.bincount(child, minlength=len(feature))
    n_parents[1:] += n_parents[:-1].copy()  # the right child sits behind the left
    if np.any(np.where(place == 0, n_parents != 0, n_parents != 1)):
        raise ValueError("left: expected one parent for every node but the root")
