"""What training of the AdaBoost family has in common: weights, votes, and the record of rounds.

Weights are formed anew every round from the scores, as exp(exponent - largest exponent) over
their sum. Nothing is multiplied up over the rounds, so nothing overflows, a weight that is too
small to count in one round comes back when its turn comes, and the sum is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwboost.column_generation import HISTORY_NAMES
from cwboost.ensemble.model import Ensemble, PathBuilder
from cwboost.families.contract import Priced, Pricer

__all__ = ["NO_EDGE", "PERFECT", "VoteTraining", "half_log_odds", "normalised"]

NO_EDGE = 1e-12
"""A learner whose edge is not above this is no better than chance: rounding, of a sum of one."""
PERFECT = 1e-12
"""A learner whose edge is within this of one is right everywhere."""
SMALLEST_WEIGHT = 1e-250
"""Smaller weights, of a sum of one, cannot change a sum, but slow it down: they become zero."""


def normalised(exponents, weight) -> tuple[np.ndarray, float]:
    """``weight * exp(exponents)`` scaled to sum 1, and the logarithm of the sum before.

    Parameters
    ----------
    exponents : ndarray of shape (n_rows, n_samples), float64
        Overwritten. Minus infinity makes a weight of zero.
    weight : ndarray of shape (n_samples,), float64
    """
    largest = exponents.max()
    exponents -= largest
    weights = np.exp(exponents, out=exponents)
    weights *= weight
    total = weights.sum()
    weights /= total
    weights[weights < SMALLEST_WEIGHT] = 0.0
    return weights, float(np.log(total) + largest)


def half_log_odds(right, wrong, smoothing=0.0):
    """``log((right + smoothing) / (wrong + smoothing)) / 2``, floats or arrays."""
    return 0.5 * np.log((right + smoothing) / (wrong + smoothing))


@dataclass
class VoteTraining:
    """Training in which a round adds learners whose coefficients never change again.

    A subclass does the rounds; this class keeps learners, coefficients and history.

    Parameters
    ----------
    pricer : Pricer
    problem : cwboost.estimator.base.Problem
    n_scores : int
    validation : cwboost.estimator.held_out.ValidationScores or None
    """

    pricer: Pricer
    problem: object
    n_scores: int
    validation: object = None

    extra_names = ()
    """Names of history arrays that only this kind of training has."""

    def __post_init__(self):
        self.stop_reason: str | None = None
        self.history = {name: [] for name in (*HISTORY_NAMES, *self.extra_names)}
        self.scores = np.zeros((self.n_scores, len(self.problem.y)))
        self._batches, self._edges, self._offsets = [], [], [np.zeros(self.n_scores)]
        self._path = PathBuilder()
        self._n_nonzero = 0

    @property
    def n_rounds(self) -> int:
        """Rounds done."""
        return self._path.n_rounds

    def class_scores(self) -> np.ndarray:
        """Scores of the classes on the training set, shape (n_classes, n_samples)."""
        return self.scores

    def objective(self) -> float:
        """The loss that training descends, at the present scores."""
        raise NotImplementedError

    def stop(self, reason: str, learners) -> bool:
        """End training; the model is one of `learners`' kind, even if it has none."""
        if not self._batches:
            self._batches.append(learners.take([]))
            self._edges.append(np.empty(0))
        self.stop_reason = reason
        return False

    def add(self, priced: Priced, learner, score_index, values, offset=None) -> None:
        """Append a round to the model.

        Parameters
        ----------
        priced : Priced
        learner, score_index, values : array-likes of shape (n_votes,)
            Coefficient ``values[e]`` for learner ``learner[e]`` of `priced`.
        offset : ndarray of shape (n_scores,), default=None
            What the round adds to every example's scores.
        """
        known = 0 if not self.n_rounds else int(sum(map(len, self._batches)))
        self._batches.append(priced.learners)
        self._edges.append(np.asarray(priced.edges, dtype=np.float64))
        ids = known + np.asarray(learner)
        self._path.append(ids, score_index, values, known + len(priced.learners))
        if offset is not None:
            self._offsets.append(self._offsets[-1] + offset)
        self._n_nonzero += int(np.count_nonzero(values))
        if self.validation is not None:
            self.validation.add(priced.learners)
            self.validation.move(ids, score_index, values, offset)

    def record(self, pricing_seconds, solver_seconds, **extra) -> None:
        """Append a round to the history; what has no meaning here is NaN."""
        rival = np.argmax(self.class_scores(), axis=0)
        entry = {
            "objective": self.objective(),
            "n_nonzero": self._n_nonzero,
            "pricing_seconds": pricing_seconds,
            "solver_seconds": solver_seconds,
            "train_error": float(np.mean(rival != self.problem.y)),
            "valid_error": np.nan if self.validation is None else self.validation.error,
            **extra,
        }
        for name, values in self.history.items():
            values.append(entry.get(name, np.nan))

    def ensemble(self) -> Ensemble:
        """The model of the rounds done so far."""
        learners = type(self._batches[0]).concatenate(self._batches)
        self._batches = [learners]
        offsets = np.array(self._offsets) if len(self._offsets) > 1 else None
        return Ensemble(
            learners, self._path.path(), self.n_scores, np.concatenate(self._edges), offsets
        )
