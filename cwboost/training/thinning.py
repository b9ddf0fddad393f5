"""Thin models: a totally corrective solve over the columns of a trained model.

The restricted master over all columns of a model (eq. mcg-exp2) prices every coefficient at one, so
that its solution leaves most coefficients at zero. C sets how many remain.
"""

from dataclasses import replace
from numbers import Real
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cwboost.calibration.calibration import LOSS_SCALE, LeftOut
from cwboost.ensemble.growing import HISTORY_NAMES
from cwboost.ensemble.model import Ensemble
from cwboost.ensemble.path import PathBuilder
from cwboost.families.sealing.sample import Sample
from cwboost.fitted_model import FittedModel
from cwboost.input.checks import check_auto, check_Cs, generator_of
from cwboost.input.examples import VALID, Examples
from cwboost.input.splits import given_splits, with_blocks
from cwboost.recipe.initial import InitFitter
from cwboost.recipe.parameters import Parameters
from cwboost.solvers.fcd import fcd
from cwboost.support.warnings import warn_caller
from cwboost.training.resumption import add_columns

AUTO_CS = tuple(10.0 ** (k / 2) for k in range(2, 13))
"""Values that "auto" tries: 10 to 1e6, two per factor of ten."""

EPSILON, MOST_PASSES = 1e-2, 2_000
"""Violation to which the master is solved, and the limit on passes."""


def checked_Cs(C, has_held_out: bool) -> list[float]:
    """Check the argument `C` of `thin`; return the values to solve at, ascending."""
    is_auto = isinstance(C, str) and check_auto("C", C, Real, 0.0) is None
    Cs = list(AUTO_CS) if is_auto else check_Cs(C)
    if len(Cs) > 1 and not has_held_out:
        raise ValueError(
            "C must be one number without X_val and y_val, which choose among several, got "
            f"{len(Cs)}"
        )
    return Cs


def thinned(
    model: FittedModel, examples: Examples, parameters: Parameters, Cs: list[float]
) -> dict:
    """Solve over all columns of a class-wise model for each C; return the best fitted attributes.

    The values of C ascend, and each solve starts from the coefficients of the one before. Held-out
    examples, if there are any, choose C and set the scale of the probabilities, unless it is given.
    """
    n_threads, rng = parameters.n_threads, generator_of(parameters.random_state)
    given_scale, held_out = parameters.probability_scale, examples.held_out.get(VALID)
    inits = InitFitter(rng.spawn(1)[0], n_threads, examples.schema.categorical)
    examples = with_blocks(examples, given_splits(parameters.cv, examples))
    examples = replace(examples, base=inits.start_again(model.base, examples).scores)
    # The columns of the master are -1 and +1.
    ensemble, master = model.ensemble.class_wise(), examples.master(Cs[0], n_threads)
    columns = _add_all(master, ensemble, model.features(examples.X()))
    scale = LOSS_SCALE if given_scale is None else given_scale
    best = None
    for C in Cs:
        began = perf_counter()
        master.change_C(C)
        report = fcd(master, [], epsilon=EPSILON, max_working_sets=MOST_PASSES, rng=rng)
        columns_kept = _kept(master, ensemble, columns)
        kept = FittedModel(
            columns_kept,
            model.labels,
            model.base,
            scale,
            constraints=model.constraints,
            statistics=model.statistics,
        )
        n_kept = len(columns_kept.learners)
        if n_kept == 0:
            continue
        history = dict.fromkeys((*HISTORY_NAMES, "C"), np.nan) | {
            "objective": master.objective,
            "max_violation": report.max_violation,
            "n_nonzero": n_kept,
            "pricing_seconds": 0.0,
            "solver_seconds": perf_counter() - began,
            "train_error": master.train_error,
            "C": C,
        }
        if held_out is not None:
            scores = kept.scores(held_out.X, n_threads=n_threads)
            y, weight = held_out.y, held_out.weight
            left_out = LeftOut.of(held_out)
            kept = left_out.calibrated(kept, scores, fits_scale=given_scale is None)
            wrong = np.argmax(scores, axis=1) != y
            history["valid_error"] = float(np.average(wrong, weights=weight))
            history["valid_logloss"] = left_out.scale_and_loss(scores)[1]
        if best is None or history["valid_logloss"] < best[1]["valid_logloss"]:
            best = kept, history, report
    if best is None:
        raise ValueError(f"C must be larger, got {Cs[-1]:g}: no column has a positive coefficient")
    kept, history, report = best
    if not report.max_violation <= EPSILON:
        warn_caller(
            f"the solve for C={history['C']:g} ended with a violation of "
            f"{report.max_violation:.2g}, above {EPSILON:g}",
            ConvergenceWarning,
        )
    return {
        "model_": replace(kept, seen=Sample(examples.given.X, examples.rows, examples.weight)),
        "history_": {name: np.array([float(value)]) for name, value in history.items()},
        "n_iter_": 1,
        "best_iteration_": 1,
        "stop_reason_": "thinned",
    }


def _add_all(master, ensemble, X) -> tuple[np.ndarray, ...]:
    """Add the learners of a model as columns: class, row, learner and edge of each distinct one.

    An edge is a share of all weight before the first step.
    """
    # A file saved with staged=False lacks the classes of learners at zero.
    known = np.unique(ensemble.path.column)
    if not len(known):
        raise ValueError("the model has no weak learner to keep")
    classes, rows, is_new = add_columns(master, ensemble, known, X)
    classes, rows, ids = classes[is_new], rows[is_new], known[is_new]
    edges = master.edges()
    edges = np.array([edges[c][row] for c, row in zip(classes, rows)])
    return classes, rows, ids, edges / master.C


def _kept(master, ensemble, columns) -> Ensemble:
    """Return the model of the columns with positive coefficients, in one round."""
    classes, rows, ids, edges = columns
    values = master.coef_matrix[classes, rows]
    positive = np.flatnonzero(values > 0.0)
    path = PathBuilder()
    path.append(np.arange(len(positive)), classes[positive], values[positive], len(positive))
    learners = ensemble.learners.take(ids[positive])
    return Ensemble(learners, path.path(), ensemble.n_scores, edges[positive])
