"""Exact search for stumps on features of category codes."""

from dataclasses import dataclass

import numpy as np

from cwboost._kernels.stumps.categories import category_sums
from cwboost.kernels.category_sets import CategorySets, check_codes
from cwboost.kernels.matrices import readable_weights
from cwboost.kernels.threads import usable_threads

MAX_TURNS = 64
"""Most turns of the search for a stump that serves all targets."""


@dataclass(frozen=True)
class FoundCategories:
    """Result of a search: one stump per target.

    The output of a stump is +1 if ``x[feature]`` is a code of its set, `missing` if ``x[feature]``
    is NaN, and -1 otherwise.

    Parameters
    ----------
    feature : ndarray of shape (n,), dtype int32
    sets : CategorySets of length n
    missing : ndarray of shape (n,), dtype int8, values -1 and +1
    edges : ndarray of shape (n,), dtype float64
        ``sum_i weights[t, i] h_t(x_i)``; for `search_shared`, the sum over targets of their
        absolute values.
    outputs : ndarray of shape (n, ceil(n_samples / 8)), dtype uint8
        Outputs on the training matrix, packed as by `cwboost.pack_outputs`.
    """

    feature: np.ndarray
    sets: CategorySets
    missing: np.ndarray
    edges: np.ndarray
    outputs: np.ndarray


class CategoryFeatures:
    """Exact search over all subsets of the categories of features.

    The weights of a target sum to S(c) over the examples of category c. Of all 2^n subsets of n
    categories, that of the positive S(c) has the largest edge, ``sum_c |S(c)|``, so a search
    takes one addition per example, feature and group of eight targets.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype uint8, float32 or float64
        Codes 0, 1, ...; NaN is a missing value, which counts as a category of its own.
    features : array-like of int
        The columns of X that hold categories; at least one.
    n_categories : array-like of int, shape (len(features),)
        Number of categories of each; all codes are below it.
    n_threads : int, default=1
        Does not change the bits of results.

    Raises
    ------
    ValueError
        If a column holds something else than its codes, or the lengths of `features` and
        `n_categories` differ.

    Notes
    -----
    A category whose weights sum to zero, or that has no example, goes where missing values go; if
    the feature has none, these get the output of the better constant. Of equal features, the first
    wins.
    """

    def __init__(self, X, features, n_categories, n_threads: int = 1):
        self.features = np.asarray(features, dtype=np.int64)
        self.n_categories = np.asarray(n_categories, dtype=np.int64)
        if len(self.features) != len(self.n_categories):
            raise ValueError(
                f"n_categories must have {len(self.features)} entries, one per entry of features, "
                f"got {len(self.n_categories)}"
            )
        self.n_samples = X.shape[0]
        self.n_threads = usable_threads(n_threads)
        self.codes = np.empty((len(self.features), self.n_samples), dtype=np.int32)
        for row, feature, n in zip(self.codes, self.features, self.n_categories):
            column = X[:, feature]
            check_codes(column, feature, n)
            row[:] = np.where(np.isnan(column), n, column)

    def search(self, weights, features=None) -> FoundCategories:
        """Return the stump with the largest edge for every target, by exact search.

        Parameters
        ----------
        weights : ndarray of shape (n_targets, n_samples), dtype float64
            Signed weights, finite; the last axis is contiguous, rows may be padded.
        features : ndarray of int, default=None
            Columns of X to search, at least one of them with categories; None means all.

        Returns
        -------
        FoundCategories
        """
        columns, starts, sums = self._sums(weights, features)
        edges = np.add.reduceat(np.abs(sums), starts[:-1], axis=0)
        best = np.argmax(edges, axis=0)
        targets = np.arange(sums.shape[1])
        tables = [sums[starts[c] : starts[c + 1], t] for t, c in zip(targets, best)]
        signs = [_signs(table, table == 0) for table in tables]
        return self._found(columns[best], signs, edges[best, targets])

    def search_shared(self, weights, features=None) -> FoundCategories:
        """Return a stump with a large sum of absolute edges over targets, by alternation.

        From the best subset of each target, it takes turns: the signs of the targets' edges, then
        the best subset for the weights with these signs, until neither changes. No fast exact
        search is known, since the sum is convex in the signs of the categories.

        Parameters
        ----------
        weights, features
            As for `search`.

        Returns
        -------
        FoundCategories
            Holds one stump.
        """
        columns, starts, sums = self._sums(weights, features)
        best_edge, best_column, best_signs = -1.0, 0, None
        for c in range(len(columns)):
            edge, signs = _shared(sums[starts[c] : starts[c + 1]])
            if edge > best_edge:
                best_edge, best_column, best_signs = edge, columns[c], signs
        return self._found(np.array([best_column]), [best_signs], np.array([best_edge]))

    def _sums(self, weights, features):
        """Return the rows of `codes` to search, the begin of each in the sums, and the sums."""
        columns = np.arange(len(self.features))
        if features is not None:
            columns = np.flatnonzero(np.isin(self.features, features))
        sizes = self.n_categories[columns] + 1  # and the missing values
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        weights = readable_weights(weights, self.n_samples)
        sums = category_sums(weights, self.codes, columns, starts, self.n_threads)
        if not np.isfinite(sums).all():
            raise ValueError("weights must be finite and sum to a finite number")
        return columns, starts, sums

    def _found(self, columns, signs, edges) -> FoundCategories:
        """Return stumps from booleans over the categories and missing: True for +1."""
        outputs = np.empty((len(columns), (self.n_samples + 7) // 8), dtype=np.uint8)
        for packed, column, is_plus in zip(outputs, columns, signs):
            packed[:] = np.packbits(is_plus[self.codes[column]], bitorder="little")
        members = [s[:-1] if len(s) > 1 else np.zeros(1, dtype=bool) for s in signs]
        return FoundCategories(
            feature=self.features[columns].astype(np.int32),
            sets=CategorySets.of(members),
            missing=np.array([1 if is_plus[-1] else -1 for is_plus in signs], dtype=np.int8),
            edges=edges,
            outputs=outputs,
        )


def _signs(table, empty) -> np.ndarray:
    """Return True for the categories where `table` is positive; the last is the missing values.

    Those in `empty` go where missing values go, and these, if they are empty, to the side of
    the better constant.
    """
    signs = table > 0
    if empty[-1]:
        signs[-1] = table.sum() > 0
    signs[empty] = signs[-1]
    return signs


def _shared(sums) -> tuple[float, np.ndarray]:
    """Return the sum of absolute edges and the signs of one feature's stump for all targets.

    `sums` is (n_categories, n_targets).
    """
    empty = (sums == 0).all(axis=1)
    best_edge, best_signs = -1.0, None
    for start in sums.T:
        table, before, kept = start, -1.0, None
        for _ in range(MAX_TURNS):
            signs = _signs(table, empty)
            edges = (np.where(signs, 1.0, -1.0)[:, None] * sums).sum(axis=0)
            edge = float(np.abs(edges).sum())
            if not edge > before:
                break
            before, kept = edge, signs
            table = (np.where(edges >= 0, 1.0, -1.0) * sums).sum(axis=1)
        if before > best_edge:
            best_edge, best_signs = before, kept
    return best_edge, best_signs
