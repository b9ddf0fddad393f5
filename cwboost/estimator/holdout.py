"""Holdout runs: trainings in which some examples have next to no weight, and are followed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cwboost.column_generation import ColumnGeneration
from cwboost.estimator.problem import Problem
from cwboost.estimator.splits import NEGLIGIBLE, Split
from cwboost.master import RestrictedMaster
from cwboost.solvers.schedule import BoostingSettings


@dataclass(eq=False)
class HoldoutRun:
    """Trainings of the same length, and the scores of the examples that each leaves out.

    ``scores()`` returns those of all of them, (n_left_out, n_classes), of class indices `y` and
    weights `weight`.
    """

    trainings: Sequence[ColumnGeneration]
    scores: Callable[[], np.ndarray]
    y: np.ndarray
    weight: np.ndarray

    @property
    def n_rounds(self) -> int:
        """Finished rounds: of the shortest training, which may have none."""
        return min(training.n_rounds for training in self.trainings)

    def round(self) -> bool:
        """Do a round of every training; return False if one of them is over."""
        going_on = [training.round() for training in self.trainings]
        if not all(going_on):
            return False
        for training in self.trainings:
            training.model.forget_learners()
        return True


def local_run(
    problem: Problem,
    bind: Callable,
    settings: BoostingSettings,
    n_threads: int,
    splits: Sequence[Split],
    rng,
) -> HoldoutRun:
    """Return a holdout run on one machine, with one training per split.

    The examples left out keep their place: no part of X is copied, and the master has their
    scores. ``bind(problem, rng)`` binds the family.
    """

    def training(rows: np.ndarray) -> ColumnGeneration:
        weight = problem.weight.copy()
        weight[rows] *= NEGLIGIBLE
        pricer = bind(replace(problem, weight=weight), rng)
        master = RestrictedMaster(problem.counts, settings.C, weight, n_threads, base=problem.base)
        return ColumnGeneration(pricer, master, settings, rng)

    trainings = [training(split.left_out) for split in splits]

    def scores() -> np.ndarray:
        parts = [one.master.scores_of(measured) for one, (_, measured) in zip(trainings, splits)]
        return np.concatenate(parts)

    every = np.concatenate([split.measured for split in splits])
    return HoldoutRun(trainings, scores, problem.y[every], problem.weight[every])
