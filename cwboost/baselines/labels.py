"""Training of AdaBoost.MH: joint boosting of several binary labels per example.

AdaBoost.MH has one label per class, AdaBoost.MO one per bit of a code; both are this training on
a table of signs.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from cwboost.baselines.votes import NO_EDGE, PERFECT, VoteTraining, half_log_odds, normalised
from cwboost.families.outputs import unpack_outputs
from cwboost.kernels import exp, log

ERROR_OF_PERFECT = 1e-6
"""Error assumed for the coefficient of a perfect learner, which would be infinite."""


@dataclass(kw_only=True)
class LabelTraining(VoteTraining):
    """Discrete AdaBoost.MH on the labels ``code[y_i]`` of the examples.

    The code is (n_classes, n_scores), of -1 and +1. A `shared` learner has one vote per label; else
    a round has one learner per label.
    """

    code: np.ndarray
    shared: bool

    extra_names = ("edge", "coefficient")

    def __post_init__(self):
        super().__post_init__()
        self._signs = np.ascontiguousarray(self.code[self.problem.y].T)
        self._log_mass = log(self.n_scores * self.problem.weight.sum())
        self._weigh()

    def _weigh(self) -> None:
        """Compute the weights of example and label, exp(-Y F) scaled to sum one, and the loss."""
        exponents = np.multiply(self._signs, self.scores)
        np.negative(exponents, out=exponents)
        self._weights, log_sum = normalised(exponents, self.problem.weight)
        self.objective = float(exp(min(log_sum - self._log_mass, 700.0)))

    def round(self) -> bool:
        """Run one round of AdaBoost.MH; return False once training ends (`stop_reason`)."""
        start = perf_counter()
        signed = self._signs * self._weights
        self.pricer.round = self.n_rounds + 1
        price = self.pricer.price_shared if self.shared else self.pricer.price
        priced = price(signed)
        priced_at = perf_counter()
        outputs = unpack_outputs(priced.outputs, self.pricer.n_samples).T
        labels = np.arange(self.n_scores)
        edges = (signed[labels] * outputs).sum(axis=1)
        edge = min(float(np.abs(edges).sum()), 1.0)
        if edge <= NO_EDGE:
            return self.stop("no column", priced.learners)
        perfect = edge >= 1.0 - PERFECT
        # No finite coefficient minimises the loss of a learner without errors.
        wrong = ERROR_OF_PERFECT if perfect else 0.5 * (1.0 - edge)
        coefficient = float(half_log_odds(1.0 - wrong, wrong))
        values = coefficient * np.where(edges >= 0.0, 1.0, -1.0)
        self.scores[labels] += values[:, None] * outputs
        self._weigh()
        learner = np.zeros_like(labels) if self.shared else labels
        votes = learner, labels, values, None
        seconds = priced_at - start, perf_counter() - priced_at
        self.record(priced, votes, seconds, edge=edge, coefficient=coefficient)
        if perfect:
            self.stop_reason = "perfect weak learner"
        return not perfect
