"""The recipe: start from a kernel model, boost as long as a holdout run says, train on all.

A holdout run is a training in which a fifth of the examples has next to no weight, on small data a
few such trainings together. The scores of these examples tell how long to boost, whether from the
kernel model or from zero, and the scale of the probabilities. The data decide nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from cwboost.automatic import constants as at
from cwboost.column_generation import ColumnGeneration
from cwboost.conformity import Conformity
from cwboost.estimator.held_out.calibration import LOSS_SCALE, scale_and_loss
from cwboost.estimator.held_out.metrics import LOGLOSS, Metric
from cwboost.estimator.initial import fitted_init
from cwboost.estimator.problem import Problem
from cwboost.kernels import log
from cwboost.master import RestrictedMaster
from cwboost.solvers.schedule import Settings
from cwboost.support.samples import evenly_spaced

__all__ = [
    "Plan",
    "best_run",
    "follow",
    "holdout_run",
    "init_of",
    "is_worth_it",
    "most_rounds",
    "settings_of_run",
    "splits",
]


@dataclass(frozen=True)
class Plan:
    """What is settled before the first round, some of it by a holdout run.

    Training ends after `n_rounds` at the latest, of `step` times the learning rate. `scale` is that
    of the probabilities, unless held-out examples tell it, and `watched` what early stopping
    watches. Of the examples that a holdout run left out, `conformity` is at this scale, and `loss`
    the log loss after these rounds. Without `keeps_base`, boosting had better start from zero than
    from the base scores.
    """

    n_rounds: int
    scale: float
    watched: Metric | None = None
    conformity: Conformity | None = None
    loss: float = np.nan
    keeps_base: bool = True
    step: float = 1.0

    def with_enough_rounds(self) -> Plan:
        """Return a plan of the same length of boosting, of more rounds if these are few."""
        n_rounds = max(self.n_rounds, min(at.ENOUGH_ROUNDS, at.MOST_TIMES * self.n_rounds))
        return replace(self, n_rounds=n_rounds, step=self.n_rounds / n_rounds)


def init_of(init, is_default: bool):
    """Return what the parameter ``init`` means: "auto" is the kernel model with the default."""
    if isinstance(init, str) and init == "auto":
        return at.DEFAULT_INIT if is_default else None
    return init


def most_rounds(n_estimators, is_default: bool, settings: Settings) -> int:
    """Return the largest number of rounds of a training."""
    if not isinstance(n_estimators, str):
        return int(n_estimators)
    if is_default:
        return ceil(at.MOST_LENGTH / settings.learning_rate)
    return at.ROUNDS


def is_worth_it(model, problem: Problem, rng, n_threads: int, facts) -> bool:
    """Return True if an init model, fitted to a sample, tells enough about the classes."""
    sample = problem.take(evenly_spaced(len(problem.y), at.SAMPLE))
    fitted, scores = fitted_init(model, sample, rng, n_threads, facts)
    if fitted is None:
        return False
    _, loss = scale_and_loss(scores, sample.y, sample.weight)
    shares = np.bincount(sample.y, sample.weight) / sample.weight.sum()
    shares = shares[shares > 0]
    return loss < at.MOST_LOSS_LEFT * -(shares * log(shares)).sum()


def best_run(run, counts, rng, may_drop_base: bool, n_rounds: int, chooses: bool) -> Plan | None:
    """Do the holdout run, from the start that ends lower if there are two.

    Trees may have to undo what the base scores get wrong: where a run from zero ends lower,
    boosting starts from zero. With `chooses`, the run chooses this start, if `may_drop_base`, and
    the number of rounds, at most `n_rounds`; else all rounds are trained. Return None if the
    classes, of `counts` examples, are too small to leave an example out.
    """
    # Either run gets the same seed: what one finds does not depend on whether the other is done,
    # as a continued training does one only.
    drawn = list(splits(counts, rng))
    if not drawn:
        return None
    seed = int(rng.integers(2**63))
    found = run(np.random.default_rng(seed), drawn, False, n_rounds, chooses)
    if found is None or not (chooses and may_drop_base):
        return found
    other = run(np.random.default_rng(seed), drawn, True, n_rounds, chooses)
    if other is None or other.loss >= found.loss:
        return found
    return replace(other, keeps_base=False)


def holdout_run(
    problem: Problem,
    bind,
    n_threads: int,
    settings: Settings,
    rng,
    drawn,
    from_zero: bool,
    n_rounds: int,
    chooses: bool,
) -> Plan | None:
    """Train on most of the examples and follow the others: one training per array of `drawn`.

    The examples drawn keep their place, with next to no weight: no part of X is copied, and the
    master has their scores. ``bind(problem, rng)`` binds the family; `settings` and `n_rounds` are
    those of the training to come. Return None if no round could be done.
    """
    shorter, settings = settings_of_run(settings)
    base = None if from_zero else problem.base

    def training(left_out: np.ndarray) -> ColumnGeneration:
        weight = problem.weight.copy()
        weight[left_out] *= at.NEGLIGIBLE
        pricer = bind(replace(problem, weight=weight), rng)
        master = RestrictedMaster(problem.counts, settings.C, weight, n_threads, base=base)
        return ColumnGeneration(pricer, master, settings, rng)

    runs = [training(left_out) for left_out in drawn]
    every = np.concatenate(drawn)

    def scores() -> np.ndarray:
        return np.concatenate([run.master.scores_of(rows) for run, rows in zip(runs, drawn)])

    y, weight = problem.y[every], problem.weight[every]
    return follow(runs, scores, y, weight, n_rounds, shorter, chooses)


def settings_of_run(settings: Settings) -> tuple[float, Settings]:
    """Return by what factor a holdout run has fewer rounds than the training, and its settings."""
    rate = settings.learning_rate
    longer = max(rate, min(at.LONGER_STEPS * rate, at.LONGEST_STEP))
    return rate / longer, replace(settings, learning_rate=longer, tol=0.0)


def follow(runs, scores, y, weight, n_rounds: int, shorter: float, chooses: bool) -> Plan | None:
    """Do the rounds of a holdout run, of all its trainings together; return what it found.

    After a round ``scores()`` are those of the examples left out, of classes `y`. The run has
    `shorter` times the rounds of the training to come, at most `n_rounds`.
    """
    last = ceil(n_rounds * shorter)
    patience = ceil(at.PATIENCE / runs[0].settings.learning_rate)
    losses, kept, scale, loss = [np.inf], None, LOSS_SCALE, np.nan
    while runs[0].n_rounds < last:
        going_on = [run.round() for run in runs]
        if not all(going_on):
            break
        for run in runs:
            run.model.forget_learners()
        if chooses:
            now = scores()
            scale, loss = scale_and_loss(now, y, weight, scale)
            losses.append(min(loss, losses[-1]))
            if loss <= (1.0 + LOGLOSS.tolerance) * losses[-1]:
                kept = runs[0].n_rounds, scale, loss, now
            if losses[-1] >= (1.0 - at.LEAST_FALL) * losses[-patience - 1 :][0]:
                break
    if not all(run.n_rounds for run in runs):
        return None
    if kept is not None:
        n_kept, scale, loss, now = kept
        n_rounds = min(n_rounds, round(n_kept / shorter))
    else:
        now = scores()
        scale, loss = scale_and_loss(now, y, weight)
    return Plan(n_rounds, scale, conformity=Conformity.of(scale * now, y), loss=loss)


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
