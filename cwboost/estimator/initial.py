"""The start of boosting: an init model is fitted, its scores become an offset of the margins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cwboost.estimator.held_out.calibration import LOSS_SCALE, fit_scale
from cwboost.estimator.problem import Problem
from cwboost.families.init_contract import InitContext, InitModel
from cwboost.families.init_models import checked_scores
from cwboost.families.sealing.sample import read_only
from cwboost.fitted_model import BaseScores
from cwboost.support.samples import evenly_spaced

__all__ = ["fitted_init", "start_again", "start_from"]

MOST_FOR_SCALE = 50_000
"""Examples that tell the scale of base scores to three digits; all would take copies of scores."""


def start_from(
    model: InitModel | None, problem: Problem, rng, n_threads: int, facts
) -> tuple[BaseScores | None, Problem]:
    """Fit an init model; return its base scores, and the problem with those of its examples.

    The scores that the model gives the training examples without their own labels are scaled to
    half of the log-odds, which is what boosting with the exponential loss estimates. Without a
    model, or if the data do not suit it, boosting starts from zero.
    """
    fitted, scores = fitted_init(model, problem, rng, n_threads, facts)
    if fitted is None:
        return None, problem
    rows = evenly_spaced(len(problem.y), MOST_FOR_SCALE)
    scale = fit_scale(scores[rows], problem.y[rows], problem.weight[rows])
    factor = scale / LOSS_SCALE
    return BaseScores(model, fitted, factor), replace(problem, base=factor * scores)


def start_again(base: BaseScores | None, problem: Problem, rng, n_threads: int, facts):
    """Return `base`, and a problem with its scores of the examples, without their own labels.

    The init model is fitted again for these. It stays the fitted one nevertheless: weak learners
    were trained to correct it.
    """
    if base is None:
        return None, problem
    fitted, scores = fitted_init(base.model, problem, rng, n_threads, facts)
    own = base(problem.X(), n_threads) if fitted is None else base.factor * scores
    return base, replace(problem, base=own)


def fitted_init(model: InitModel | None, problem: Problem, rng, n_threads: int, facts):
    """Return a fitted init model and its scores of the examples without their own labels, or None.

    `facts` is what `InitContext` says of the columns of categories.
    """
    if model is None:
        return None, None
    context = InitContext(
        n_classes=len(problem.counts),
        weight=problem.weight,
        random_state=int(rng.integers(2**31)),
        n_threads=n_threads,
        **facts,
    )
    fitted, scores = model.fit(read_only(problem.X()), problem.y, context)
    if fitted is None:
        return None, None
    scores = checked_scores(scores, model, (len(problem.y), len(problem.counts)))
    return fitted, np.ascontiguousarray(scores)
