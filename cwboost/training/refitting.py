"""Refitting: the leaves of a trained model take one more step each, on new examples.

The trees and their order stay. As in training, the classes step in the leaves of one tree after
the other, from the weights that the examples have then; the first weights are those of the present
scores. The steps are added to the leaves.
"""

from dataclasses import replace

import numpy as np

from cwboost.calibration.calibration import LeftOut
from cwboost.ensemble.model import Ensemble
from cwboost.ensemble.path import CoefficientPath
from cwboost.families.contract import Division
from cwboost.families.sealing.sample import Sample
from cwboost.families.tree_learners import TreeLearners
from cwboost.fitted_model import FittedModel
from cwboost.input.checks import generator_of
from cwboost.input.examples import VALID, Examples
from cwboost.input.splits import given_splits, holdout_splits
from cwboost.master import LARGEST_OUTPUT
from cwboost.recipe.holdout import left_out_of
from cwboost.recipe.parameters import Parameters
from cwboost.solvers.schedule import BoostingSettings
from cwboost.training.training import PAYS

TREES_PER_CHUNK = 32
"""Trees of which the cells of all examples are computed together."""


def check_has_leaves(ensemble: Ensemble) -> None:
    """Raise ValueError unless the classes have steps of their own in the leaves of trees."""
    if not (isinstance(ensemble.learners, TreeLearners) and ensemble.learners.is_graded):
        raise ValueError(
            "refit needs a model whose classes step in the leaves of trees, the default, got one "
            "of columns -1 and +1: thin(X, y, C=...) solves for its coefficients on new rows"
        )


def refitted(
    model: FittedModel, examples: Examples, parameters: Parameters, rate: float
) -> FittedModel:
    """Return the model, refitted to examples of some or all classes by a fraction of exact steps.

    Held-out examples set scale and conformity; without any, a fifth of the examples does, left out
    of a second refit beside the first.
    """
    held_out = examples.held_out.get(VALID)
    n_threads, fits_scale = parameters.n_threads, parameters.probability_scale is None
    known, X = np.searchsorted(model.labels, examples.classes), examples.X()
    scores = model.scores(X, n_threads=n_threads)
    left_out = []
    if held_out is None:
        if parameters.cv is not None and not hasattr(parameters.cv, "split"):
            raise ValueError(
                "cv must be None or a splitter for refit, got pairs of rows of fit: pass X_val and "
                "y_val, or set_params(cv=None)"
            )
        given = given_splits(parameters.cv, examples)
        splits, _ = holdout_splits(examples, given, generator_of(parameters.random_state))
        left_out = splits[-1:] if given else splits[:1]
    examples = replace(examples, base=scores[:, known])
    alternatives = examples, *(examples.downweighted(split.left_out) for split in left_out)
    masters = [each.master(parameters.settings.C, n_threads) for each in alternatives]
    settings = replace(parameters.settings, learning_rate=rate)
    ensemble = _with_steps(model.ensemble, model.features(X), masters, known, settings)
    model = replace(
        model,
        ensemble=ensemble,
        conformity=None,
        stage_scales=None,
        examples=None,
        seen=Sample(X, weight=examples.weight),
    )
    if held_out is not None:
        scores = model.scores(held_out.X, n_threads=n_threads)
        left_out = LeftOut.of(held_out)
        return left_out.calibrated(model, scores, fits_scale)
    for _, rows in left_out:
        scores = scores[rows]
        scores[:, known] = masters[1].scores_of(rows)
        left_out = left_out_of(examples, rows, bool(given))
        unseen = np.zeros(len(model.labels))
        unseen[known] = left_out.unseen
        left_out = replace(left_out, y=known[left_out.y], unseen=unseen)
        model = left_out.calibrated(model, scores, fits_scale)
    return model


def _with_steps(ensemble: Ensemble, X, masters, known, settings: BoostingSettings) -> Ensemble:
    """Return the ensemble with the steps of the first master; all masters take their own.

    `known` are the classes of the masters, among those of the ensemble.
    """
    learners, n_classes = ensemble.learners, ensemble.n_scores
    outputs = learners.trees.output
    coef = ensemble.coef().toarray()[:, n_classes - outputs.shape[1] :]
    # One score serves two classes. Leaves keep their outputs for classes without examples.
    stepping = known[known >= n_classes - coef.shape[1]] - (n_classes - coef.shape[1])
    moves = np.zeros(outputs.shape)
    for first in range(0, len(learners), TREES_PER_CHUNK):
        chunk = np.arange(first, min(first + TREES_PER_CHUNK, len(learners)))
        cells = np.ascontiguousarray(learners.take(chunk).cells(X).T)
        for j, cells_of_tree in zip(chunk, cells):
            start, end = learners.trees.offsets[j : j + 2]
            division = Division(learners, cells_of_tree, end - start)
            steps = [
                master.step_cells(
                    division, len(stepping), settings.learning_rate, PAYS, settings.penalizes_steps
                )
                for master in masters
            ]
            moves[start:end, stepping] = steps[0].moves.T
    values = np.repeat(coef, learners.cell_counts, axis=0) * outputs + moves
    units = np.maximum.reduceat(np.abs(values), learners.trees.offsets[:-1]) / LARGEST_OUTPUT
    units = np.where(units > 0.0, units, 1.0)
    outputs = np.rint(values / np.repeat(units, learners.cell_counts, axis=0)).astype(np.int8)
    path = _path(ensemble.path, units, n_classes)
    return Ensemble(learners.graded(outputs), path, n_classes, ensemble.edges, ensemble.offsets)


def _path(path: CoefficientPath, coef, n_classes: int) -> CoefficientPath:
    """Return the path with these coefficients, (n_learners, n), of the last classes.

    Every learner has them from the round on that added it.
    """
    n_learners, n = coef.shape
    return CoefficientPath(
        path.learners_offsets * n,
        path.learners_offsets,
        np.repeat(np.arange(n_learners, dtype=np.int32), n),
        np.tile(np.arange(n_classes - n, n_classes, dtype=np.int32), n_learners),
        coef.ravel(),
    )
