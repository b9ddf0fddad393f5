"""Scores of held-out examples, followed round by round."""

from __future__ import annotations

import numpy as np

from cwboost.ensemble.model import Ensemble
from cwboost.ensemble.moving_scores import MovingScores
from cwboost.estimator.held_out.calibration import fit_scale
from cwboost.families.contract import WeakLearners, pack_outputs

__all__ = ["HeldOutScores"]


class HeldOutScores:
    """Scores of a growing ensemble on examples that it is not trained on.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), int
        Class index of each example.
    n_scores : int
        Number of scores of the ensemble: that of the classes, unless `decode` is given.
    decode : callable, default=None
        Maps scores of the ensemble to scores of the classes, both with one row per example.

    Attributes
    ----------
    error : float
        Fraction of examples whose largest score is not that of their class.
    loss : float
        Mean over the pairs of exp(-margin).
    """

    def __init__(self, X, y, n_scores: int, decode=None):
        self._X, self._y, self._decode = X, y, decode
        self._moving = MovingScores(len(y), n_scores)
        self._n_learners = 0
        self.error = self.loss = np.nan

    def add(self, learners: WeakLearners) -> None:
        """Compute the outputs of new learners and keep them as one bit per example."""
        ids = np.arange(self._n_learners, self._n_learners + len(learners))
        self._moving.keep(ids, pack_outputs(learners.outputs(self._X)))
        self._n_learners += len(learners)

    def move(self, ids, score_index, differences, offset=None) -> float:
        """Follow changed coefficients, learner ``ids[e]`` for ``score_index[e]``: the error.

        `offset` is added to every example's scores.
        """
        n_samples = len(self._y)
        self._moving.move(np.asarray(ids), score_index, differences)
        if offset is not None:
            self._moving.shift(offset)
        scores = np.ascontiguousarray(self._moving.scores)
        if self._decode is not None:
            scores = self._decode(scores)
        rows = np.arange(n_samples)
        own = scores[rows, self._y]
        self.error = float(np.mean(np.argmax(scores, axis=1) != self._y))
        pairs = np.exp(np.minimum(scores - own[:, None], 700.0))
        pairs[rows, self._y] = 0.0
        self.loss = float(pairs.sum() / (n_samples * (pairs.shape[1] - 1)))
        return self.error

    def scale(self, ensemble: Ensemble) -> float:
        """Scale of the probabilities of `ensemble`, fitted on these examples."""
        return fit_scale(ensemble.scores(self._X), self._y)
