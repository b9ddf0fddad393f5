"""Gains of comparisons in edge, less what chance gives, for importances.

A node of a tree, with S the sum of the signed weights of its examples and Q the sum of their
squares, gains ``|S_left| + |S_right| - |S|`` in edge by a comparison. If the feature has nothing to
do with the weights and sends half of them either way, S_left is close to normal with mean S / 2 and
deviation sqrt(Q) / 2, and the comparison gains max(0, u sqrt(Q) - |S|) with u half-normal. The best
of k such comparisons has the largest of k draws of u. Its mean gain is what chance gives.

A threshold on a direction d gains by all features at once. Along feature f the weights w rise by
S_f, the sum of w z_f over the examples, where z_f is the feature in deviations from its mean; of
<d, S> that is d_f S_f. But d was chosen to make <d, S> large. If f has nothing to do with the
weights, S_f has mean zero and variance Q_f, the sum of the squares of w z_f; d then is S / |S|
times <d, S> / |S|, plus something unrelated to S, so that d_f S_f is Q_f <d, S> / |S|^2 on average
by chance. This is subtracted.

The learner also harms: it adds d_f z_f to the scores where f is of no use, and a later learner
gains by undoing it. A full step, which ends where <d, S> is 0, loses <d, S> d_f^2 / |d|^2 of the
rise along f, half of it on average over the step; short steps lose less. `HARM` is subtracted.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from cwboost._kernels.common.elementary import exp, log
from cwboost._kernels.common.gains import fractions_beyond_chance
from cwboost.kernels.projector import matrix_product
from cwboost.support.samples import evenly_spaced

__all__ = [
    "THRESHOLDS_SEARCHED",
    "LinearGains",
    "beyond_chance",
    "chance_deviations",
    "gained_fractions",
]

THRESHOLDS_SEARCHED = 6
"""The best of all thresholds of a feature counts as the best of this number of comparisons: the
largest deviation of a random walk that ends at 0 is as large on average."""

SAMPLE = 512
"""Largest number of examples from which gains of directions are computed."""

CELLS = 2**17
"""Largest number of values in that sample, unless it would then have fewer than 64 examples."""

HARM = 0.15
"""Share of the rise that a step is taken to lose, spread by the squares of the direction."""


@lru_cache(maxsize=64)  # pricing asks for them every round
def chance_deviations(n_comparisons: int) -> np.ndarray:
    """Return five equally likely values of the largest of `n_comparisons` half-normal numbers."""
    levels = (np.arange(5) + 0.5) / 5
    deviations = ndtri(0.5 + 0.5 * exp(log(levels) / max(1, n_comparisons)))
    deviations.setflags(write=False)
    return deviations


def gained_fractions(edges, sums, norms, n_comparisons: int) -> np.ndarray:
    """Return the gains of learners of one comparison each, as fractions of their edges.

    Parameters
    ----------
    edges : ndarray of shape (n_learners,), dtype float64
    sums, norms : ndarrays of shape (n_targets,), dtype float64
        Sum of the weights of each target, and the root of the sum of their squares, for which the
        learners were priced. Learner ``t`` is for target ``t``, or a single one is for all.
    n_comparisons : int
        Number of comparisons from which each learner was chosen.

    Returns
    -------
    ndarray of shape (n_learners,), dtype float32
        At most 1; negative if chance would have gained more; 0 for an edge of 0.
    """
    # A learner for all targets is not the best for each.
    shared = len(edges) == 1 < len(sums)
    deviations = chance_deviations(1 if shared else n_comparisons)
    if not shared:
        return fractions_beyond_chance(edges, sums, norms, deviations)
    by_chance = np.add.reduce(np.maximum(np.abs(sums), deviations[:, None] * norms))
    return beyond_chance(len(deviations) * edges, by_chance.sum(keepdims=True))


def beyond_chance(edges, by_chance) -> np.ndarray:
    """Return ``1 - by_chance / edges`` in float32; 0 for an edge that is an error of rounding."""
    fractions = np.ones(len(edges))
    np.divide(by_chance, edges, out=fractions, where=by_chance < 1e30 * edges)
    return (1.0 - fractions).astype(np.float32)


class LinearGains:
    """Gains of thresholds on directions, split by feature, from a sample of a training matrix.

    With d features and K learners, a call costs ``2 K`` multiplications per value of the sample, at
    most ``2**17 + 64 d``, of features that a learner uses. Every sum has a fixed order, so that
    gains have the same bits on any processor.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        A value that is not finite counts as the feature's mean.

    Attributes
    ----------
    rows : ndarray of shape (n_sampled,), dtype int64
        The examples of the sample, evenly spaced: if a caller sorts its examples by class, it holds
        each class in proportion.
    """

    def __init__(self, X):
        n_samples, n_features = X.shape
        self.rows = evenly_spaced(n_samples, min(SAMPLE, max(64, CELLS // n_features)))
        sample = X[self.rows]
        dense = sample.toarray() if sparse.issparse(sample) else sample
        known = np.isfinite(dense)
        Z = np.where(known, dense, 0).astype(np.float64, copy=False)
        size = np.maximum(Z.max(axis=0), -Z.min(axis=0))
        unit = np.ldexp(1.0, np.clip(np.frexp(size)[1], -1000, 1000))  # no square overflows
        Z /= unit
        Z -= np.add.reduce(Z) / np.maximum(1, known.sum(axis=0))
        Z[~known] = 0
        spread = np.sqrt(np.add.reduce(Z * Z) / len(Z))
        spread[spread < 1e-13] = 0
        Z /= np.where(spread > 0, spread, np.inf)
        self._Z, self._squares = Z, Z * Z
        with np.errstate(over="ignore"):
            self._spread = spread * unit

    def __call__(self, directions, polarity, weights, gained) -> np.ndarray:
        """Return the gains of learners as fractions of their edges.

        Parameters
        ----------
        directions : ndarray of shape (n_features, n_learners), dtype float64
        polarity : ndarray of shape (n_learners,), values -1 and +1
            Output above the threshold.
        weights : ndarray of shape (n_targets, n_samples), dtype float64
            Those for which the learners were priced. Learner ``t`` is for target ``t``, or a single
            one is for all.
        gained : ndarray of shape (n_learners,), dtype float
            What each learner gained, as `gained_fractions` returns it; a negative number counts
            as 0.

        Returns
        -------
        ndarray of shape (n_learners, n_features), dtype float32
            A row sums to at most 1.
        """
        directions = np.asarray(directions, dtype=np.float64)
        n_features, n_learners = directions.shape
        gains = np.zeros((n_learners, n_features), dtype=np.float32)
        used = np.flatnonzero(directions.any(axis=1))
        if 2 * len(used) > n_features:
            used = np.arange(n_features)  # copying columns would take longer than zeros
        if len(used):
            signed = self._in_deviations(directions[used].T, used) * np.asarray(polarity)[:, None]
            gained = np.maximum(0.0, np.asarray(gained, dtype=np.float64))
            gains[:, used] = self._shares(signed, used, weights) * gained[:, None]
        return gains

    def _in_deviations(self, entries, features) -> np.ndarray:
        """Return directions in deviations of the features, the largest entry of each 1."""
        with np.errstate(over="ignore", invalid="ignore"):
            entries = entries * self._spread[features]
        entries[~np.isfinite(entries)] = 0
        return entries / np.maximum(np.abs(entries).max(axis=1, keepdims=True), 1e-300)

    def _shares(self, directions, features, weights) -> np.ndarray:
        """Return the share of each of some features in what each learner gains."""
        w = np.asarray(weights, dtype=np.float64)[:, self.rows]
        w = w / np.maximum(np.abs(w).max(axis=1, keepdims=True), 1e-300)
        uses = directions != 0
        slopes = uses * self._product(w, self._Z, features)
        if len(w) > len(directions):  # one for all targets: their edges count by their sizes
            falls = _total(directions * slopes) < 0
            w, slopes = (
                np.add.accumulate(np.where(falls, -of, of), axis=0)[-1:] for of in (w, slopes)
            )
        squares = uses * self._product(w * w, self._squares, features)
        rises = directions * slopes
        by_chance = np.abs(_total(rises)) / np.maximum(_total(slopes * slopes), 1e-300)
        left = rises - by_chance * squares
        entries = directions * directions
        harm = HARM * _total(left) * entries / np.maximum(_total(entries), 1e-300)
        return (left - harm) / np.maximum(_total(np.abs(rises)), 1e-300)

    def _product(self, w, values, features) -> np.ndarray:
        few = values if len(features) == values.shape[1] else values[:, features]
        return matrix_product(w, few)


def _total(rows) -> np.ndarray:
    """Return the sum of each row, from first to last: `numpy.sum` depends on the processor."""
    return np.add.accumulate(rows, axis=1)[:, -1:]
