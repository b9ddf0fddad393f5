"""A pilot: a short training that leaves examples out, to learn the scale of the probabilities.

A model that has seen all examples says little of how sure it may be. The pilot trains a few rounds,
of longer steps, on the same bound matrix without a fifth of the examples, and fits the scale on
those. Along a training, the best scale falls as the scores grow: times the negative logarithm of
the mean pair loss on the training examples, it changes little. So the pilot's scale tells that of
the whole model, for the cost of the pilot's rounds.

A pilot of few rounds on few examples is unsure, and mostly too careful. A second estimate needs no
pilot: on data sets with little noise, the logits of fitted models have about the same spread on the
training examples. The two are combined so that the second one counts if they are near each other,
and the pilot if they are far apart, as with noisy labels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cwboost.column_generation import ColumnGeneration
from cwboost.estimator.held_out.calibration import LOSS_SCALE, ScalePrior, fit_scale
from cwboost.estimator.problem import Problem
from cwboost.master import RestrictedMaster
from cwboost.solvers.row_sampling import RowSampler
from cwboost.solvers.schedule import Settings

__all__ = [
    "FEWEST_ROUNDS",
    "pilot_scale",
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

USUAL_SPREAD = 5.3
"""Root mean square of the logits of the training examples about their mean over the classes: the
median over held-out parts of six data sets, at a third to all of 200 to 300 rounds of trees."""

NEAR = 0.8
"""Difference of the logarithms of the two estimates at which both count the same."""


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


def pilot_scale(training: ColumnGeneration, problem: Problem, C: float, n_threads: int) -> float:
    """Return the scale of the probabilities of a trained model, from a pilot.

    Parameters
    ----------
    training : ColumnGeneration
        Finished; it is left as it was, its generator included.
    problem : Problem
        What it was trained on.
    C : float
    n_threads : int

    Returns
    -------
    float
    """
    state = training.rng.bit_generator.state
    try:
        kept, left_out = _split(problem.counts, training.rng)
        if len(left_out) == 0:
            return LOSS_SCALE
        master = PilotMaster(problem, C, n_threads, kept)
        settings, n_rounds = plan_of_pilot(training, len(problem.y))
        sampler = RowSampler(settings.subsample, settings.sampling, among=kept)
        pilot = ColumnGeneration(training.pricer, master, settings, training.rng, sampler=sampler)
        while pilot.n_rounds < n_rounds and pilot.round():
            pass
    finally:
        training.rng.bit_generator.state = state
    own = fit_scale(master.scores[left_out], problem.y[left_out], problem.weight[left_out], PRIOR)
    losses = master.mean_loss, training.master.mean_loss
    variances = np.var(training.master.scores, axis=1)
    return scale_of_model(own, losses, np.average(variances, weights=problem.weight))


def scale_of_model(pilot: float, losses: tuple[float, float], variance: float) -> float:
    """Return the scale of a model from that of its pilot, and from its spread of scores.

    Parameters
    ----------
    pilot : float
        The scale that fits the pilot best.
    losses : tuple of two floats
        Mean pair losses of the pilot and of the model on their training examples.
    variance : float
        Mean over the training examples of the variance of the model's scores over the classes.
    """
    progress, progress_of_model = (-np.log(np.clip(loss, 1e-300, 1 - 1e-9)) for loss in losses)
    pilot *= min(1.0, progress / progress_of_model)
    usual = USUAL_SPREAD / np.sqrt(max(variance, 1e-300))
    difference = np.log(pilot / usual)
    weight = difference**2 / (difference**2 + NEAR**2)
    return float(usual * np.exp(weight * difference))


def plan_of_pilot(training: ColumnGeneration, n_samples: int) -> tuple[Settings, int]:
    """Return settings and number of rounds of the pilot of a finished training."""
    rate = training.settings.learning_rate
    longer = max(rate, min(LONGER_STEPS * rate, LONGEST_STEP))
    settings = replace(training.settings, tol=0.0, learning_rate=longer)
    return settings, _n_rounds(training.n_rounds, n_samples, longer / rate)


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
