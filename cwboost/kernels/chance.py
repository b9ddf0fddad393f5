"""Gains of comparisons in edge, less what chance gives, for importances.

A node of a tree, with S the sum of the signed weights of its examples and Q the sum of their
squares, gains ``|S_left| + |S_right| - |S|`` in edge by a comparison. If the feature has nothing to
do with the weights and sends half of them either way, S_left is close to normal with mean S / 2 and
deviation sqrt(Q) / 2, and the comparison gains max(0, u sqrt(Q) - |S|) with u half-normal. The best
of k such comparisons has the largest of k draws of u. Its mean gain is what chance gives.

A threshold on a direction d gains by all features at once. Its rise along feature f, where the
threshold is, is d_f times the mean derivative of the weights by x_f, weighted by a kernel k around
the threshold. By Stein's identity that mean derivative is the sum over examples of

    k(z) w (x_f - mean of x_f under k) - cov(x_f, z) k'(z) w,    z = <d, x>, k' the slope of k,

of mean zero if f has nothing to do with the weights. But d was chosen to make <d, S> large, S being
the vector of these sums. Then d is S / |S| times <d, S> / |S|, plus something unrelated to S, so
that d_f S_f is Q_f <d, S> / |S|^2 on average by chance, Q_f the variance of S_f.

The learner also harms: it adds d_f x_f to the scores where f is of no use, and a later learner
gains by undoing it. A full step, which ends where <d, S> is 0, loses <d, S> d_f^2 / |d|^2 of the
slope along f, half of it on average over the step; short steps lose less. A quarter is subtracted.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from cwboost._kernels.common.elementary import exp, log
from cwboost._kernels.common.gains import fractions_beyond_chance
from cwboost._kernels.projections.shares import FeatureShares, stored_entries
from cwboost.kernels.projector import Projector

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

KEPT = 256
"""Largest number of features for which a direction keeps its gain: those of largest size."""

WIDTH = 2.0
"""Half the width of the kernel around a threshold, in standard deviations of the projection."""

HARM = 0.25
"""Share of the slope that a step is taken to lose, spread by the squares of the direction."""


def chance_deviations(n_comparisons: int) -> np.ndarray:
    """Return five equally likely values of the largest of `n_comparisons` half-normal numbers."""
    return _deviations(max(1, n_comparisons)).copy()


@lru_cache(maxsize=64)
def _deviations(n_comparisons: int) -> np.ndarray:
    """Return `chance_deviations`, computed once per number: pricing asks for them every round."""
    levels = (np.arange(5) + 0.5) / 5
    return ndtri(0.5 + 0.5 * exp(log(levels) / n_comparisons))


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
    deviations = _deviations(1 if shared else max(1, n_comparisons))
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

    With d features and K learners, a call costs ``3 K`` multiplications per value of the sample, at
    most ``2**17 + 64 d``, of features that a learner uses. Every sum has a fixed order, so that
    gains have the same bits on any processor.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        A value that is not finite counts as the feature's mean.
    centre : ndarray of shape (n_features,), dtype float64, default=None
        Row whose projections are 0; None means zeros.
    n_threads : int, default=1

    Attributes
    ----------
    rows : ndarray of shape (n_sampled,), dtype int64
        The examples of the sample.
    """

    def __init__(self, X, centre=None, n_threads: int = 1):
        self.rows = self.sampled(*X.shape)
        n = len(self.rows)
        sample = X[self.rows]
        dense = sample.toarray() if sparse.issparse(sample) else sample
        self._X = dense.astype(np.float64, copy=False)
        self._centre = centre
        self._n_threads = n_threads
        known = np.isfinite(self._X)
        # In place: with sparse X, the sample may be the largest array of a pricer.
        Z = np.where(known, self._X, 0)
        size = np.maximum(Z.max(axis=0), -Z.min(axis=0))
        self._unit = np.ldexp(1.0, np.clip(np.frexp(size)[1], -1000, 1000))  # no square overflows
        Z /= self._unit
        Z -= np.add.reduce(Z) / np.maximum(1, known.sum(axis=0))
        Z[~known] = 0
        self._spread = np.sqrt(np.add.reduce(Z * Z) / n)
        self._spread[self._spread < 1e-13] = 0
        Z /= np.where(self._spread > 0, self._spread, np.inf)
        by_feature = np.zeros((Z.shape[1], -(-n // 8) * 8))
        by_feature[:, :n] = Z.T
        with np.errstate(over="ignore"):
            spread = self._spread * self._unit
        self._shares = FeatureShares(by_feature, spread, WIDTH, HARM)

    @staticmethod
    def sampled(n_samples: int, n_features: int) -> np.ndarray:
        """Return the indices of the sample of a matrix of `n_samples` by `n_features`.

        They ascend and are evenly spaced: if a caller sorts its examples by class, the sample
        holds each class in proportion. A matrix of the sample alone is its own sample.
        """
        n = min(n_samples, SAMPLE, max(64, CELLS // n_features))
        return np.arange(n) * n_samples // n

    def __call__(
        self, directions, threshold, polarity, weights, gained, projections=None
    ) -> sparse.csr_array:
        """Return the gains of learners as fractions of their edges.

        Parameters
        ----------
        directions : ndarray of shape (n_features, n_learners), dtype float64
        threshold : ndarray of shape (n_learners,), dtype float64
            Of ``(x - centre) @ directions``.
        polarity : ndarray of shape (n_learners,), values -1 and +1
            Output above the threshold.
        weights : ndarray of shape (n_targets, n_samples), dtype float64
            Those for which the learners were priced. Learner ``t`` is for target ``t``, or a single
            one is for all.
        gained : ndarray of shape (n_learners,), dtype float
            What each learner gained, as `gained_fractions` returns it; a negative number counts
            as 0.
        projections : ndarray of shape (n_learners, n_sampled), dtype float, default=None
            Of the sample, the examples `rows`; computed if None.

        Returns
        -------
        csr_array of shape (n_learners, n_features), dtype float32
            A row has an entry for at most 256 features, those of the largest gains and losses,
            and sums to at most 1.
        """
        start, feature, value = self.arrays(
            directions, threshold, polarity, weights, gained, projections
        )
        shape = directions.shape[1], directions.shape[0]
        return sparse.csr_array((value, feature, start), shape=shape)

    def arrays(self, directions, threshold, polarity, weights, gained, projections=None):
        """Return the gains as the arrays of a CSR matrix, which takes less time for few learners.

        Parameters
        ----------
        directions, threshold, polarity, weights, gained, projections
            As for a call.

        Returns
        -------
        start : ndarray of shape (n_learners + 1,), dtype int64
        feature : ndarray of shape (n_stored,), dtype int32
        value : ndarray of shape (n_stored,), dtype float32
        """
        directions = np.asarray(directions, dtype=np.float64)
        n_learners = directions.shape[1]
        threshold, gained = np.asarray(threshold, np.float64), np.asarray(gained, np.float64)
        polarity, weights = np.asarray(polarity, np.int8), np.asarray(weights, np.float64)
        rows = self.rows
        if not n_learners:
            return stored_entries(np.zeros((0, len(directions)), dtype=np.float32))
        if projections is None:
            projections = Projector(directions, self._centre)(self._X, self._n_threads)
        if len(weights) > n_learners:  # one for all targets
            above = np.where(np.isfinite(projections[0]), projections[0], 0.0) > threshold[0]
            sign = float(polarity[0])
            weights = _united(weights[:, rows] * sign, above) * sign
            rows = np.arange(len(rows))
        gains = self._shares.of_learners(
            projections, threshold, polarity, weights, rows, directions, gained
        )
        return stored_entries(_largest(gains))


def _total(rows) -> np.ndarray:
    """Return the sum of each row, from first to last: `numpy.sum` depends on the processor."""
    return np.add.accumulate(rows, axis=1)[:, -1:]


def _united(w, above) -> np.ndarray:
    """Return weights of one learner for all targets, each with the sign of its edge."""
    edges = _total(w * np.where(above, 1.0, -1.0))
    return np.add.accumulate(np.where(edges < 0, -w, w), axis=0)[-1:]


def _largest(gains) -> np.ndarray:
    """Set all but the `KEPT` entries of largest size of each row to zero, in place."""
    if gains.shape[1] > KEPT:
        order = np.argsort(-np.abs(gains), axis=1, kind="stable")
        np.put_along_axis(gains, order[:, KEPT:], 0, axis=1)
    return gains
