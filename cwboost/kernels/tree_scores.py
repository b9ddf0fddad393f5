"""Scores of a weighted sum of trees, for learners known by their flat form."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from cwboost._kernels.prediction.tree_nodes import padded
from cwboost._kernels.prediction.trees import TreeEvaluator
from cwboost.kernels.matrices import canonical_csr, readable
from cwboost.kernels.threads import usable_threads


class TreeScores:
    """Weighted sums of trees' outputs, added in the order of the trees.

    Parameters
    ----------
    nodes : mapping of str to ndarray
        Checked arrays ``offsets``, ``feature``, ``threshold``, ``left``, ``missing``,
        ``output`` (see `cwboost.ThresholdTrees`).
    coef : csr_array of shape (n_trees, n_scores), dtype float64, default=None
        The outputs of graded trees are for the last n_outputs scores. None if no scores are wanted.
    """

    def __init__(self, nodes: Mapping[str, np.ndarray], coef: sparse.csr_array | None = None):
        self.nodes = dict(nodes)
        self._coef, self._n_zeros = coef, 0
        n_trees = len(self.nodes["offsets"]) - 1
        if coef is not None and coef.shape[0] != n_trees:
            raise ValueError(
                f"coef must have one row for each of the {n_trees} trees, got shape {coef.shape}"
            )
        if coef is not None and self.nodes["output"].ndim == 2:
            self._n_zeros = coef.shape[1] - self.nodes["output"].shape[1]
            self._coef = padded(coef[:, self._n_zeros :].toarray())
        self.n_needed = int(self.nodes["feature"].max(initial=-1)) + 1
        self._evaluator: TreeEvaluator | None = None

    def __call__(self, X, n_threads: int = 1) -> np.ndarray:
        """Scores of the rows of X.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_samples, n_scores), dtype float64
            The same bits for any number of threads and any way of cutting X into chunks of rows.
        """
        evaluator = self._bound(X.shape[1])
        scores = evaluator.scores(_rows(X), self._coef, usable_threads(n_threads))
        return np.pad(scores, ((0, 0), (self._n_zeros, 0))) if self._n_zeros else scores

    def outputs(self, X) -> np.ndarray:
        """Return outputs of the trees on `X`, int8 of shape (n_samples, n_trees).

        Those of graded trees have the shape (n_samples, n_trees, n_outputs).
        """
        return self._bound(X.shape[1]).outputs(_rows(X))

    def cells(self, X) -> np.ndarray:
        """Return the leaves that the rows of `X` are in, int32 of shape (n_samples, n_trees)."""
        return self._bound(X.shape[1]).cells(_rows(X))

    def sets(self, X) -> np.ndarray:
        """Return the rows of `X` with +1, uint64 of shape (ceil(n_samples / 64), n_trees)."""
        return self._bound(X.shape[1]).sets(_rows(X))

    def _bound(self, n_features: int) -> TreeEvaluator:
        if n_features < self.n_needed:
            raise ValueError(f"X must have at least {self.n_needed} features, got {n_features}")
        evaluator = self._evaluator
        if evaluator is None or evaluator.n_features != n_features:
            evaluator = self._evaluator = TreeEvaluator(**self.nodes, n_features=n_features)
        return evaluator


def _rows(X):
    """Return `X` as `TreeEvaluator` reads it: an array, or the triple of a CSR matrix."""
    if not sparse.issparse(X):
        return readable(X)
    rows = canonical_csr(X)
    return (
        rows.data.astype(np.float64, copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.indptr.astype(np.int64, copy=False),
    )
