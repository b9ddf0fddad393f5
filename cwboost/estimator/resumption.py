"""Taking up training where an earlier fit ended: bit for bit, or from its coefficients."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cwboost.column_generation import ColumnGeneration
from cwboost.ensemble.model import Ensemble
from cwboost.families.contract import pack_outputs

__all__ = ["change_C", "resume", "training_state"]

LEARNERS_PER_CHUNK = 256
"""Learners whose outputs on the training set are computed together."""


def training_state(training: ColumnGeneration) -> dict | None:
    """Return what continues training bit for bit, besides ensemble, history and data.

    None if an interrupt left a round unfinished: the master is then ahead of the model, and only
    a continuation from the model's coefficients is right.
    """
    if not training.between_rounds:
        return None
    return {
        **training.master.state(),
        "best_bound": training.best_bound,
        "precision": training.schedule.state(),
        "generator": training.rng.bit_generator.state,
    }


def resume(training: ColumnGeneration, ensemble: Ensemble, X, history: Mapping, state) -> None:
    """Take up training where `ensemble` ended.

    Parameters
    ----------
    training : ColumnGeneration
        New, without columns.
    ensemble : Ensemble
    X : ndarray or sparse matrix
        The training matrix that the pricer is bound to.
    history : dict of arrays
        History of the ensemble's rounds.
    state : dict or None
        What `training_state` returned, for a continuation that equals one uninterrupted run bit
        for bit; None forms the pair weights from the coefficients.
    """
    _restore_columns(training, ensemble, X)
    training.model.resume(ensemble, history)
    if state is None:
        training.master.rebuild()
        return
    training.master.restore(state)
    if state["q"] == training.master.q:
        training.best_bound = state["best_bound"]
        training.schedule.restore(state["precision"], training.model.latest["objective"])
    # Otherwise C is another, and bound and last objective say nothing of its problem.
    training.rng.bit_generator.state = state["generator"]


def change_C(training: ColumnGeneration, C: float) -> None:
    """Go on with another C: another problem, of which bound and objective so far say nothing.

    The same, bit for bit, as `resume` on a new master from this one's state.
    """
    training.master.change_C(C)
    training.best_bound = np.nan
    training.schedule.start_problem()


def _restore_columns(training: ColumnGeneration, ensemble: Ensemble, X) -> None:
    """Fill the master with the learners of an ensemble as columns, and their coefficients."""
    master, columns = training.master, training.columns
    n_learners = len(ensemble.learners)
    of_class = np.zeros(n_learners, dtype=np.int64)
    of_class[ensemble.path.column] = ensemble.path.score_index
    values = np.asarray(ensemble.coef().sum(axis=1)).ravel()
    for start in range(0, n_learners, LEARNERS_PER_CHUNK):
        ids = np.arange(start, min(start + LEARNERS_PER_CHUNK, n_learners))
        packed = pack_outputs(ensemble.learners.take(ids).outputs(X))
        classes = of_class[ids]
        rows, _ = master.add(classes, packed)
        columns.assign(classes, rows, ids, master.coef_matrix.shape[1])
        np.add.at(master.coef_matrix, (classes, rows), values[ids])
    columns.record_all(master.coef_matrix)
