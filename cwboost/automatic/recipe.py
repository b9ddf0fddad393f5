"""The recipe: start from a kernel model, boost as long as a holdout run says, train on all.

A holdout run is a training in which a fifth of the examples has next to no weight, on small data a
few such trainings together. The scores of these examples tell how long to boost, and the scale of
the probabilities. The data decide nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from cwboost.automatic import constants as at
from cwboost.column_generation import ColumnGeneration
from cwboost.conformity import Conformity
from cwboost.estimator.held_out.calibration import LOSS_SCALE, scale_and_loss
from cwboost.estimator.held_out.metrics import LOGLOSS
from cwboost.estimator.held_out.stopping import EarlyStopping
from cwboost.estimator.problem import Problem
from cwboost.master import RestrictedMaster
from cwboost.solvers.schedule import Settings

__all__ = [
    "HoldoutRun",
    "follow",
    "holdout_run",
    "init_of",
    "most_rounds",
    "settings_of_run",
    "splits",
]


@dataclass(frozen=True)
class HoldoutRun:
    """What a holdout run has found.

    Parameters
    ----------
    n_rounds : int
        Number of rounds of the training, at its learning rate.
    scale : float
        Of the probabilities.
    conformity : Conformity
        Of the examples left out.
    """

    n_rounds: int
    scale: float
    conformity: Conformity


def init_of(init, is_default: bool):
    """Return what the parameter ``init`` means: "auto" is the kernel model with the default."""
    if isinstance(init, str) and init == "auto":
        return at.DEFAULT_INIT if is_default else None
    return init


def most_rounds(n_estimators, is_default: bool, settings: Settings) -> int:
    """Return the largest number of rounds of a training."""
    if not isinstance(n_estimators, str):
        return int(n_estimators)
    if is_default and settings.stagewise:
        return ceil(at.MOST_LENGTH / settings.learning_rate)
    return at.ROUNDS


def holdout_run(
    problem: Problem, bind, settings: Settings, rng, n_threads: int, n_rounds: int, chooses: bool
) -> HoldoutRun | None:
    """Train on most of the examples and follow the others.

    The others keep their place, with next to no weight: no part of X is copied, and the master has
    their scores.

    Parameters
    ----------
    problem : Problem
    bind : callable
        ``bind(problem, rng)`` binds the family to the examples.
    settings : Settings
        Of the training.
    rng : numpy.random.Generator
        The run's own.
    n_threads : int
    n_rounds : int
        Largest number of rounds of the training.
    chooses : bool
        True if the run chooses the number of rounds; False if all are trained.

    Returns
    -------
    HoldoutRun or None
        None if the classes are too small to leave an example out.
    """
    shorter, settings = settings_of_run(settings, chooses)

    def training(left_out: np.ndarray) -> ColumnGeneration:
        """Return a training in which some examples have next to no weight."""
        weight = problem.weight.copy()
        weight[left_out] *= at.NEGLIGIBLE
        pricer = bind(replace(problem, weight=weight), rng)
        master = RestrictedMaster(problem.counts, settings.C, weight, n_threads, base=problem.base)
        return ColumnGeneration(pricer, master, settings, rng)

    drawn = list(splits(problem.counts, rng))
    if not drawn:
        return None
    runs = [training(left_out) for left_out in drawn]
    every = np.concatenate(drawn)

    def scores() -> np.ndarray:
        return np.concatenate([run.master.scores_of(rows) for run, rows in zip(runs, drawn)])

    y, weight = problem.y[every], problem.weight[every]
    return follow(Runs(runs), scores, y, weight, n_rounds, shorter, chooses)


@dataclass(frozen=True)
class Runs:
    """Trainings on several splits, whose rounds are done together."""

    runs: list[ColumnGeneration]

    @property
    def settings(self) -> Settings:
        """The settings of all."""
        return self.runs[0].settings

    @property
    def n_rounds(self) -> int:
        """Number of rounds that all have finished."""
        return min(run.n_rounds for run in self.runs)

    def round(self) -> bool:
        """Do a round of each; return False when training is over."""
        going_on = [run.round() for run in self.runs]
        return all(going_on)


def settings_of_run(settings: Settings, chooses: bool) -> tuple[float, Settings]:
    """Return by what factor a holdout run has fewer rounds than the training, and its settings."""
    rate = settings.learning_rate
    longer = rate if chooses else max(rate, min(at.LONGER_STEPS * rate, at.LONGEST_STEP))
    return rate / longer, replace(settings, learning_rate=longer, tol=0.0)


def follow(training, scores, y, weight, n_rounds: int, shorter: float, chooses: bool):
    """Do the rounds of a holdout run; return what it found.

    Parameters
    ----------
    training : Training
    scores : callable
        Returns the scores of the examples left out, (n, n_classes), after a round.
    y, weight : ndarrays of shape (n,)
        Of the examples left out.
    n_rounds : int
        Largest number of rounds of the training proper.
    shorter : float
        Rounds of this run over those of the training.
    chooses : bool
    """
    last = ceil(n_rounds * shorter)
    patience = ceil(at.PATIENCE / training.settings.learning_rate)
    stopping = EarlyStopping(LOGLOSS, "", patience)
    best, scale = None, LOSS_SCALE
    while training.n_rounds < last and training.round():
        if chooses:
            now = scores()
            scale, loss = scale_and_loss(now, y, weight, scale)
            is_over = stopping.observe(loss, training.n_rounds)
            if stopping.kept_round == training.n_rounds:
                best = scale, now
            if is_over:
                break
    if not training.n_rounds:
        return None
    if chooses:
        n_rounds, (scale, now) = min(n_rounds, round(stopping.kept_round / shorter)), best
    else:
        now = scores()
        scale, _ = scale_and_loss(now, y, weight)
    return HoldoutRun(n_rounds, scale, Conformity.of(scale * now, y))


def splits(counts, rng):
    """Yield the examples left out, ascending, drawn by class, once or a few times."""
    n_samples = counts.sum()
    share = min(at.SHARE_LEFT_OUT, at.MOST_LEFT_OUT / n_samples)
    sizes = np.rint(share * counts).astype(int)
    if not sizes.any():
        return
    starts = np.cumsum(counts) - counts
    for _ in range(min(at.MOST_SPLITS, ceil(at.ENOUGH_LEFT_OUT / sizes.sum()))):
        drawn = [
            start + rng.permutation(count)[:size]
            for start, count, size in zip(starts, counts, sizes)
        ]
        yield np.sort(np.concatenate(drawn))
