"""The recipe: start from a kernel model, boost as long as a holdout run says, train on all.

A holdout run is a training on four fifths of the examples that is followed on the fifth left out,
on small data a few such trainings together. It tells how long to boost, and the scale of the
probabilities. The data decide nothing else.
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
from cwboost.estimator.held_out.scores import HeldOutScores
from cwboost.estimator.held_out.stopping import EarlyStopping
from cwboost.estimator.problem import Problem
from cwboost.master import RestrictedMaster
from cwboost.solvers.schedule import Settings

__all__ = ["HoldoutRun", "follow", "holdout_run", "init_of", "most_rounds", "settings_of_run"]


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

    Parameters
    ----------
    problem : Problem
    bind : callable
        ``bind(problem, rng)`` binds the family to some of the examples.
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

    def training(kept: Problem, left_out: Problem) -> ColumnGeneration:
        """Return a training on `kept`, whose X goes with this function unless the family has it."""
        y, weight, base = left_out.y, left_out.weight, left_out.base
        held_out = HeldOutScores(left_out.X, y, len(left_out.counts), weight=weight, base=base)
        master = RestrictedMaster(kept.counts, settings.C, kept.weight, n_threads, base=kept.base)
        return ColumnGeneration(bind(kept, rng), master, settings, rng, held_out)

    runs = [training(*parts) for parts in _splits(problem, rng)]
    if not runs:
        return None
    sets = [run.model.held_out for run in runs]
    y, weight = (np.concatenate([getattr(one, name) for one in sets]) for name in ("y", "weight"))

    def scores() -> np.ndarray:
        return np.concatenate([one.class_scores for one in sets])

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


def _splits(problem: Problem, rng):
    """Yield the examples kept and those left out, drawn by class, once or a few times."""
    n_samples = len(problem.y)
    share = min(at.SHARE_LEFT_OUT, at.MOST_LEFT_OUT / n_samples)
    sizes = np.rint(share * problem.counts).astype(int)
    if not sizes.any():
        return
    starts = np.cumsum(problem.counts) - problem.counts
    for _ in range(min(at.MOST_SPLITS, ceil(at.ENOUGH_LEFT_OUT / sizes.sum()))):
        is_left_out = np.zeros(n_samples, dtype=bool)
        for start, count, size in zip(starts, problem.counts, sizes):
            is_left_out[start + rng.permutation(count)[:size]] = True
        kept, left_out = np.flatnonzero(~is_left_out), np.flatnonzero(is_left_out)
        yield problem.take(kept), problem.take(left_out)
