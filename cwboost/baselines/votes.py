"""Training of the AdaBoost family: weights, votes, and the record of rounds.

Every round recomputes the weights from the scores, as exp(exponent - largest exponent) scaled to
sum one. No product accumulates over the rounds, so weights do not overflow, and a weight that is
negligible in one round can grow again later.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cwboost.calibration.scores import held_out_scores
from cwboost.ensemble.growing import GrowingEnsemble
from cwboost.families.contract import Priced
from cwboost.families.sealing.pricer import SealedPricer
from cwboost.input.examples import Examples
from cwboost.kernels import exp, log

NO_EDGE = 1e-12
"""Edge up to which a learner is no better than chance: the rounding error of a sum of one."""
PERFECT = 1e-12
"""Difference from one up to which an edge is that of a learner without errors."""
SMALLEST_WEIGHT = 1e-250
"""Smaller weights become zero: they cannot change a sum of one, but slow it down."""


def normalised(exponents, weight) -> tuple[np.ndarray, float]:
    """Return ``weight * exp(exponents)`` scaled to sum 1, and the logarithm of the former sum.

    `exponents`, (n_rows, n_samples), is overwritten. Minus infinity gives a weight of zero.
    """
    largest = exponents.max()
    exponents -= largest
    weights = exp(exponents)
    weights *= weight
    total = weights.sum()
    weights /= total
    weights[weights < SMALLEST_WEIGHT] = 0.0
    return weights, float(log(total) + largest)


def half_log_odds(right, wrong, smoothing=0.0):
    """Return ``log((right + smoothing) / (wrong + smoothing)) / 2`` of floats or arrays."""
    return 0.5 * log((right + smoothing) / (wrong + smoothing))


@dataclass
class VoteTraining:
    """Training in which a round adds learners whose coefficients never change again.

    A subclass runs the rounds; this class adds their learners to the model. `scores` are those of
    the training set, (n_scores, n_samples), and `objective` is the loss that training descends, at
    these scores; `decode` maps scores to those of the classes, both with one row per example, None
    is the identity. `stop_reason` is the reason for stopping, or None.
    """

    pricer: SealedPricer
    examples: Examples
    n_scores: int
    decode: Callable | None = None

    extra_names: ClassVar[tuple[str, ...]] = ()
    """Names of history arrays that only this kind of training has."""

    def __post_init__(self):
        self.stop_reason: str | None = None
        self.problem = self.examples.problem
        held_out = held_out_scores(
            self.examples.held_out,
            self.problem.classes,
            n_scores=self.n_scores,
            decode=self.decode,
        )
        self.model = GrowingEnsemble(self.n_scores, held_out, self.extra_names)
        self.scores = np.zeros((self.n_scores, len(self.problem.y)))
        self._n_nonzero = 0

    @property
    def n_rounds(self) -> int:
        """Number of finished rounds."""
        return self.model.n_rounds

    @property
    def mean_loss(self) -> float:
        """Mean loss of the training examples, 1 before the first round."""
        return self.objective

    def class_scores(self) -> np.ndarray:
        """Return the scores of the classes on the training set, shape (n_classes, n_samples)."""
        return self.scores if self.decode is None else self.decode(self.scores.T).T

    def stop(self, reason: str, learners) -> bool:
        """End training; the model has the type of `learners`, even if it has no learner."""
        if self.n_rounds == 0:
            self.model.add_learners(learners.take([]), [])
        self.stop_reason = reason
        return False

    def record(self, priced: Priced, votes, seconds, **extra) -> None:
        """Add a round to the model; values that are not defined are NaN in the history.

        The `votes` are learners of `priced`, the scores that they vote for, their coefficients, and
        what is added to the scores of every example, or None. The `seconds` are those of pricing
        and of solving.
        """
        learner, score_index, values, offset = votes
        ids = self.model.add_learners(priced.learners, priced.edges)[learner]
        self._n_nonzero += int(np.count_nonzero(values))
        rival = np.argmax(self.class_scores(), axis=0)
        entry = {
            "objective": self.objective,
            "n_nonzero": self._n_nonzero,
            "pricing_seconds": seconds[0],
            "solver_seconds": seconds[1],
            "train_error": float(np.average(rival != self.problem.y, weights=self.problem.weight)),
            **extra,
        }
        self.model.end_round(ids, score_index, values, np.nan, entry, offset)
