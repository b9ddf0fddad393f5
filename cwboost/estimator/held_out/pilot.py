"""A pilot: a short training that leaves examples out, to learn from those.

A model that has seen all examples says little of how sure it may be. The pilot trains a few rounds,
of longer steps, on the same bound matrix without a fifth of the examples, and fits the scale of the
probabilities on those. Along a training, the best scale falls as the scores grow: times the
negative logarithm of the mean pair loss on the training examples, it changes little. So the pilot's
scale tells that of the whole model, for the cost of the pilot's rounds.

A pilot of few rounds on few examples is unsure. A second estimate needs no pilot: the logits of
models that fit their training examples well have about the same spread on them. It counts where the
pilot is surer than that, the more the better the model fits; where the pilot is more careful, as
with noisy labels, the pilot counts. With few examples the scale is smaller still, since the pilot
may have left out none that the model gets wrong.

Pilots of several settings of a family, which leave the same examples out, tell which suits the data
(`cwboost.estimator.held_out.choice`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cwboost.column_generation import ColumnGeneration
from cwboost.ensemble.growing import GrowingEnsemble
from cwboost.estimator.held_out.calibration import LOSS_SCALE, ScalePrior, fit_scale, log_losses
from cwboost.estimator.problem import Problem
from cwboost.families.sealing import SealedPricer
from cwboost.master import RestrictedMaster
from cwboost.solvers.row_sampling import RowSampler
from cwboost.solvers.schedule import Settings

__all__ = [
    "FEWEST_ROUNDS",
    "Pilot",
    "PilotPlan",
    "Pilots",
    "plan_of_pilot",
    "scale_of_model",
]

FEWEST_ROUNDS = 20
"""A model of fewer rounds has no pilot: the scale of the loss suits the first rounds."""

LEAST_SHARE, MOST_SHARE, LEAST_ROUNDS = 0.07, 0.2, 10
"""Limits of the pilot's rounds, as shares of those of the model, and the least number."""

ENOUGH_EXAMPLES = 5_000
"""With fewer, the pilot has more rounds: the share grows as the root of the number falls."""

LONGER_STEPS, LONGEST_STEP = 3.0, 0.3
"""The pilot's learning rate is that of the model times the first, but not above the second unless
the model's is. The share of its rounds falls as much, down to the next constant."""

SHARE_OF_LONGER_STEPS = 0.1

SHARE_LEFT_OUT = 0.2
"""Share of the examples of each class that the pilot leaves out."""

NEGLIGIBLE = 2.0**-100
"""Factor of the weights of those: they count nothing, but their scores are followed."""

PRIOR = ScalePrior(LOSS_SCALE, 0.5)

USUAL_SPREAD = 4.0
"""Root mean square of the logits of the training examples about their mean over the classes."""

WEIGHT_IF_CAREFUL = 0.8
"""Least weight of the pilot's estimate, where it is below the one by the spread."""

GOOD_FIT = 8.0
"""Negative logarithm of the mean pair loss at which the two estimates have the same weight, where
the pilot's is above."""

FEW = 60
"""Number of examples at which the scale of a model that fits them well is halved."""


class PilotMaster(RestrictedMaster):
    """The restricted master of a pilot: the examples left out have next to no weight.

    Parameters
    ----------
    problem : Problem
    C : float
    n_threads : int
    kept : ndarray of shape (n_kept,), int
        Ascending indices of the examples that the pilot is trained on.
    """

    def __init__(self, problem: Problem, C: float, n_threads: int, kept):
        weight = problem.weight * NEGLIGIBLE
        weight[kept] = problem.weight[kept]
        super().__init__(problem.counts, C, weight, n_threads)


@dataclass(frozen=True)
class PilotPlan:
    """How a pilot is trained: settings, C and number of rounds."""

    settings: Settings
    C: float
    n_rounds: int

    @property
    def length(self) -> float:
        """Sum of the learning rates of the rounds."""
        return self.n_rounds * self.settings.learning_rate


@dataclass(frozen=True, eq=False)
class Pilot:
    """What a pilot has found.

    Parameters
    ----------
    pricer : SealedPricer
    plan : PilotPlan
    model : GrowingEnsemble
    scale : float
        The scale of the probabilities that fits the examples left out best.
    mean_loss : float
        Mean pair loss of the examples it was trained on.
    log_losses : ndarray of shape (n_left_out,), dtype float64
        Of the examples left out, with this scale.
    weight : ndarray of shape (n_left_out,), dtype float64
    left_out : ndarray of shape (n_left_out,), int
        Their indices, ascending.
    """

    pricer: SealedPricer
    plan: PilotPlan
    model: GrowingEnsemble
    scale: float
    mean_loss: float
    log_losses: np.ndarray
    weight: np.ndarray
    left_out: np.ndarray


class Pilots:
    """Pilots of one training: all draw the same numbers, hence leave the same examples out.

    Parameters
    ----------
    problem : Problem
    n_threads : int
    rng : numpy.random.Generator
        That of the training, which its pricers draw from, in its first state. Every pilot begins
        with this state and leaves the generator as it was.

    Attributes
    ----------
    first_state : dict
        The first state of the generator.
    decision : Decision or None
        The latest one by a pilot of these, noted by who made it.
    """

    def __init__(self, problem: Problem, n_threads: int, rng: np.random.Generator):
        self.problem = problem
        self._n_threads = n_threads
        self._rng = rng
        self.first_state = rng.bit_generator.state
        self._latest: Pilot | None = None
        self.decision = None

    def run(self, pricer: SealedPricer, plan: PilotPlan) -> Pilot | None:
        """Run a pilot; return None if the classes are too small to leave an example out."""
        if self._latest is not None and (self._latest.pricer, self._latest.plan) == (pricer, plan):
            return self._latest
        state = self._rng.bit_generator.state
        self._rng.bit_generator.state = self.first_state
        try:
            return self._trained(pricer, plan)
        finally:
            self._rng.bit_generator.state = state

    def keep(self, pilot: Pilot) -> None:
        """Keep a pilot, so that `run` need not repeat it."""
        self._latest = pilot

    def scale(self, training: ColumnGeneration, C: float, pilot: Pilot | None = None) -> float:
        """Return the scale of the probabilities of a finished training.

        Of `pilot`, or the one that is kept, if it is not longer than the training, else of a pilot
        that is run for it.
        """
        if pilot is None and self._latest is not None:
            pilot = self._latest if self._latest.pricer is training.pricer else None
        if pilot is None or pilot.plan.length > training.n_rounds * training.settings.learning_rate:
            plan = plan_of_pilot(training.settings, C, training.n_rounds, len(self.problem.y))
            pilot = self.run(training.pricer, plan)
        if pilot is None:
            return LOSS_SCALE
        variances = np.var(training.master.scores, axis=1)
        return scale_of_model(
            pilot.scale,
            (pilot.mean_loss, training.master.mean_loss),
            np.average(variances, weights=self.problem.weight),
            len(self.problem.y),
        )

    def _trained(self, pricer: SealedPricer, plan: PilotPlan) -> Pilot | None:
        problem, settings = self.problem, plan.settings
        kept, left_out = _split(problem.counts, self._rng)
        if len(left_out) == 0:
            return None
        master = PilotMaster(problem, plan.C, self._n_threads, kept)
        sampler = RowSampler(settings.subsample, settings.sampling, among=kept)
        training = ColumnGeneration(pricer, master, settings, self._rng, sampler=sampler)
        while training.n_rounds < plan.n_rounds and training.round():
            pass
        scores, y, weight = master.scores[left_out], problem.y[left_out], problem.weight[left_out]
        scale = fit_scale(scores, y, weight, PRIOR)
        losses = log_losses(scale * scores, y)
        mean_loss = master.mean_loss
        return Pilot(pricer, plan, training.model, scale, mean_loss, losses, weight, left_out)


def scale_of_model(
    pilot: float, losses: tuple[float, float], variance: float, n_samples: int
) -> float:
    """Return the scale of a model from that of its pilot, and from its spread of scores.

    Parameters
    ----------
    pilot : float
        The scale that fits the pilot best.
    losses : tuple of two floats
        Mean pair losses of the pilot and of the model on their training examples.
    variance : float
        Mean over the training examples of the variance of the model's scores over the classes.
    n_samples : int
        Number of training examples.
    """
    progress, progress_of_model = (-np.log(np.clip(loss, 1e-300, 1 - 1e-9)) for loss in losses)
    pilot *= min(1.0, progress / progress_of_model)
    usual = USUAL_SPREAD / np.sqrt(max(variance, 1e-300))
    trust = 1.0 / (1.0 + (progress_of_model / GOOD_FIT) ** 2)
    weight = trust if pilot > usual else max(trust, WEIGHT_IF_CAREFUL)
    reduced = 1.0 / (1.0 + (FEW / n_samples) ** 2 * (1.0 - trust))
    return float(reduced * usual * (pilot / usual) ** weight)


def plan_of_pilot(settings: Settings, C: float, n_rounds: int, n_samples: int) -> PilotPlan:
    """Return the plan of a pilot for a training of `n_rounds`."""
    rate = settings.learning_rate
    longer = max(rate, min(LONGER_STEPS * rate, LONGEST_STEP))
    settings = replace(settings, tol=0.0, learning_rate=longer)
    return PilotPlan(settings, C, _n_rounds(n_rounds, n_samples, longer / rate))


def _n_rounds(n_rounds: int, n_samples: int, longer: float) -> int:
    """Return the number of rounds, of steps `longer` times those of a model of `n_rounds`."""
    share = LEAST_SHARE * np.sqrt(ENOUGH_EXAMPLES / n_samples)
    share = min(max(share, LEAST_SHARE), MOST_SHARE)
    share = max(share / longer, min(share, SHARE_OF_LONGER_STEPS))
    return max(LEAST_ROUNDS, round(share * n_rounds))


def _split(counts, rng) -> tuple[np.ndarray, np.ndarray]:
    """Return ascending indices of the examples kept and of those left out, drawn by class."""
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    drawn = [
        start + rng.permutation(count)[: round(SHARE_LEFT_OUT * count)]
        for start, count in zip(starts.tolist(), counts.tolist())
    ]
    is_left_out = np.zeros(int(counts.sum()), dtype=bool)
    is_left_out[np.concatenate(drawn)] = True
    return np.flatnonzero(~is_left_out), np.flatnonzero(is_left_out)
