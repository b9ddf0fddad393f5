"""Stump models as additive models: one step function per feature.

A weighted sum of stumps is a sum over features of functions that jump at the stumps' thresholds.
`AdditiveScores` merges the thresholds once. A prediction then costs one search and one vector
addition per feature in use, for any number of rounds, and the functions can be inspected and
plotted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cwboost._kernels.prediction.additive import LANES, AdditiveModel
from cwboost.kernels.matrices import canonical_csr, readable
from cwboost.kernels.threads import usable_threads


@dataclass(frozen=True)
class StepFunction:
    """Contribution of one feature to the scores.

    Parameters
    ----------
    thresholds : ndarray of shape (n_steps,), dtype float64
        Ascending. A value v lies in slot ``sum(thresholds < v)``.
    values : ndarray of shape (n_steps + 1, n_scores), dtype float64
        Contribution in each slot.
    missing : ndarray of shape (n_scores,), dtype float64
        Contribution if the feature is NaN.
    """

    thresholds: np.ndarray
    values: np.ndarray
    missing: np.ndarray

    def __call__(self, x) -> np.ndarray:
        """Return the values at `x` of shape (n,), as an array of shape (n, n_scores)."""
        x = np.asarray(x, dtype=np.float64)
        slots = np.searchsorted(self.thresholds, x, side="left")
        return np.where(np.isnan(x)[:, None], self.missing, self.values[slots * ~np.isnan(x)])


class AdditiveScores:
    """Scores of a weighted sum of stumps, evaluated feature by feature.

    The output of stump ``j`` is ``polarity[j]`` if ``x[feature[j]] > threshold[j]``, ``missing[j]``
    if the feature is NaN, and ``-polarity[j]`` otherwise; for
    feature -1 it is always ``polarity[j]``. Scores are summed in a fixed order: they have the same
    bits for any number of threads and any chunks of rows, and equal ``outputs @ coef`` up to
    rounding.

    Parameters
    ----------
    feature : ndarray of shape (n_stumps,), dtype int32
    threshold : ndarray of shape (n_stumps,), dtype float64
        Not NaN.
    polarity, missing : ndarray of shape (n_stumps,), dtype int8, values -1 and +1
    coef : sparse array or ndarray of shape (n_stumps, n_scores), dtype float64
    n_features : int, optional
        Number of features of X; by default, X must have at least those in use.

    Notes
    -----
    Tables take 128 bytes per stump and group of 16 scores with a non-zero coefficient. The first
    call with a kind of X (bytes, floats, CSR) compiles the tables for it.
    """

    def __init__(self, feature, threshold, polarity, missing, coef, n_features=None):
        self.coef = sparse.csr_array(coef)
        self.feature = np.asarray(feature, dtype=np.int32)
        self.threshold = np.asarray(threshold, dtype=np.float64)
        self.polarity = np.asarray(polarity, dtype=np.float64)
        self.missing = np.asarray(missing, dtype=np.float64)
        if self.coef.shape[0] != len(self.feature):
            raise ValueError(
                f"coef must have one row for each of the {len(self.feature)} stumps, "
                f"got shape {self.coef.shape}"
            )
        self.n_scores = self.coef.shape[1]
        self.n_features = n_features
        self._models: dict[str, AdditiveModel] = {}
        self._functions: tuple[np.ndarray, dict[int, StepFunction]] | None = None

    def __call__(self, X, n_threads: int = 1) -> np.ndarray:
        """Return the scores of the rows of X.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            uint8, float32 and float64 in any memory order, and CSR, are read in place. Other
            dtypes and sparse formats are converted.
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_samples, n_scores), dtype float64
        """
        self._check_features(X.shape[1])
        out = np.empty((X.shape[0], self.n_scores))
        if sparse.issparse(X):
            X = canonical_csr(X)
            rows = [
                X.data.astype(np.float64, copy=False),
                X.indices.astype(np.int32, copy=False),
                X.indptr.astype(np.int64, copy=False),
            ]
            self._model("sparse").sparse(*rows, out, usable_threads(n_threads))
            return out
        X = readable(X)
        self._model("bytes" if X.dtype == np.uint8 else "floats").dense(
            X, out, usable_threads(n_threads)
        )
        return out

    def _check_features(self, n_features: int) -> None:
        if self.n_features is not None:
            if n_features != self.n_features:
                raise ValueError(f"X must have {self.n_features} features, got {n_features}")
        elif n_features < (needed := int(self.feature.max(initial=-1)) + 1):
            raise ValueError(f"X must have at least {needed} features, got {n_features}")

    def _model(self, kind: str) -> AdditiveModel:
        if kind in self._models:
            return self._models[kind]
        parts = [self.coef[:, k : k + LANES] for k in range(0, max(1, self.n_scores), LANES)]
        slabs = [self._slab(coef) for coef in parts]
        if kind == "sparse":
            for slab in slabs:
                slab.move_origin()
        model = self._models[kind] = _assemble(slabs, self.n_scores, kind)
        return model

    def functions(self) -> tuple[np.ndarray, dict[int, StepFunction]]:
        """Return the constant part, shape (n_scores,), and the step function per feature in use.

        The scores are ``constant + sum of functions[f](X[:, f])``, added in ascending order of
        ``f``.
        """
        if self._functions is None:
            slab, k = self._slab(self.coef), self.n_scores
            functions = {
                int(f): StepFunction(t, table[:-1, :k], table[-1, :k])
                for f, t, table in zip(slab.features, slab.thresholds, slab.tables)
            }
            self._functions = slab.base[:k], functions
        return self._functions

    def _slab(self, coef: sparse.csr_array) -> _Slab:
        return _Slab(self.feature, self.threshold, self.polarity, self.missing, coef)


class _Slab:
    """Step functions of a group of scores.

    ``tables[e]`` has one row per slot of entry ``e`` and a last row for NaN, padded to whole
    vectors.
    """

    def __init__(self, feature, threshold, polarity, missing, coef: sparse.csr_array):
        used = np.flatnonzero(np.diff(coef.indptr))
        feature, threshold = feature[used], threshold[used]
        width = -(-max(1, coef.shape[1]) // 4) * 4
        weights = np.zeros((len(used), width))
        weights[:, : coef.shape[1]] = coef[used].toarray()
        votes = weights * polarity[used, None]
        split = feature >= 0
        self.base = votes[~split].sum(axis=0)
        order = np.flatnonzero(split)
        order = order[np.lexsort((threshold[order], feature[order]))]
        lost = weights[order] * missing[used[order], None]
        self._merge(feature[order], threshold[order], votes[order], lost)

    def _merge(self, feature, threshold, votes, lost) -> None:
        self.features, starts = np.unique(feature, return_index=True)
        self.thresholds, self.tables = [], []
        for start, end in zip(starts, [*starts[1:], len(feature)]):
            distinct, first = np.unique(threshold[start:end], return_index=True)
            table = np.empty((len(distinct) + 2, votes.shape[1]))
            table[0] = -votes[start:end].sum(axis=0)
            table[1:-1] = 2 * np.add.reduceat(votes[start:end], first, axis=0)
            np.cumsum(table[:-1], axis=0, out=table[:-1])
            table[-1] = lost[start:end].sum(axis=0)
            self.thresholds.append(distinct)
            self.tables.append(table)

    def move_origin(self) -> None:
        """Shift every function to 0 at 0, for sparse rows, whose zeros are not visited."""
        for thresholds, table in zip(self.thresholds, self.tables):
            at_zero = table[np.searchsorted(thresholds, 0.0, side="left")].copy()
            self.base = self.base + at_zero
            table -= at_zero


def _assemble(slabs: list[_Slab], n_scores: int, kind: str) -> AdditiveModel:
    """Flatten slabs into the arrays that the kernel reads."""
    features = np.concatenate([slab.features for slab in slabs]).astype(np.int32)
    thresholds = [t for slab in slabs for t in slab.thresholds]
    tables = [table for slab in slabs for table in slab.tables]
    base = np.zeros((len(slabs), LANES))
    for row, slab in zip(base, slabs):
        row[: len(slab.base)] = slab.base
    lut = np.zeros((len(features) if kind == "bytes" else 0, 256), np.uint8)
    for e, row in enumerate(lut):
        # Of the slots, those that a byte can have: as few as bytes.
        slots = np.searchsorted(thresholds[e], np.arange(256), side="left")
        kept, row[:] = np.unique(slots, return_inverse=True)
        tables[e] = tables[e][kept]
    slab_entries = np.cumsum([0, *(len(slab.features) for slab in slabs)], dtype=np.int64)
    n_mapped = int(features.max(initial=-1)) + 1 if kind == "sparse" else 0
    entry_of = np.full((len(slabs), n_mapped), -1, np.int32)
    if kind == "sparse":
        slab_of = np.repeat(np.arange(len(slabs)), np.diff(slab_entries))
        entry_of[slab_of, features] = np.arange(len(features))
    return AdditiveModel(
        n_scores,
        slab_entries,
        np.array([len(slab.base) // 4 for slab in slabs], np.int32),
        base,
        features,
        np.cumsum([0, *map(len, thresholds)], dtype=np.int64),
        np.concatenate([np.empty(0), *thresholds]),
        np.cumsum([0, *(table.size for table in tables)], dtype=np.int64)[:-1].copy(),
        np.concatenate([np.empty(0), *(table.ravel() for table in tables)]),
        lut,
        entry_of,
    )
