"""Comparison of the forms of learners: outputs, flat form, scorer."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse

from cwboost.families.contract import WeakLearnerFamily, WeakLearners
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.families.sealing.faults import check_array, family_source, fault_of, noted
from cwboost.support.samples import evenly_spaced

MOST_OUTPUTS = 2**16
"""Largest number of outputs compared: of many learners, those on fewer examples."""

MOST_LEARNERS = 16
"""Largest number of learners compared: a large model should not be laid out for this alone."""

SCORES_SLACK = 1e-9
"""What a score may differ from the sum of outputs, as a fraction of the sum of coefficients."""

LINEAR_SLACK = 1e-5
"""The same of linear features, which families may compute in single precision."""

INT8, FLOAT64 = np.dtype(np.int8), np.dtype(np.float64)


def check_forms(learners: WeakLearners, family: WeakLearnerFamily, X, coef=None) -> None:
    """Raise `FamilyFault` if flat form and scorer differ from the outputs on some examples.

    Training uses the outputs; predictions, explanations and exports use the other two. `coef`, of
    shape (len(learners), n_scores), are the coefficients of a model; None takes whole numbers.
    """
    fault = partial(fault_of, family)

    def call(name, method, *arguments):
        return noted(lambda: f"{name} of {family_source(family)}", method, *arguments)

    places = evenly_spaced(len(learners), MOST_LEARNERS)
    if len(places) < len(learners):
        learners, coef = learners.take(places), None if coef is None else coef[places]
    n_rows = MOST_OUTPUTS // max(1, len(learners))
    X = X[:: max(1, X.shape[0] // n_rows)]
    outputs = call("outputs", learners.outputs, X)
    shape = X.shape[0], len(learners)
    if learners.is_graded:  # one output per score
        shape = *shape, *np.shape(outputs)[2:3]
    check_array("what outputs returns", outputs, INT8, shape, fault)
    flat = call("flat_form", learners.flat_form)
    if flat is not None:
        if not isinstance(flat, ThresholdTrees) or len(flat) != len(learners):
            raise fault(
                f"flat_form must return ThresholdTrees, one tree per learner ({len(learners)}), or "
                f"None, got {type(flat).__name__}"
            )
        wrong = np.argwhere(_differs(flat, X, outputs))
        if len(wrong):
            i, j, *_ = wrong[0]
            raise fault(
                f"the flat form of learner {places[j]} differs from its outputs: on an example of "
                f"the training matrix outputs returns {outputs[i, j]}"
            )
    if coef is None:
        n_scores = 2 if outputs.ndim == 2 else outputs.shape[2]
        numbers = np.random.default_rng(0).integers(-3, 4, size=(len(learners), n_scores))
        coef = numbers.astype(np.float64)
    coef = sparse.csr_array(coef, dtype=np.float64)
    scorer = call("scorer", learners.scorer, coef)
    shape = X.shape[0], coef.shape[1]
    scores = check_scores(call("scorer", scorer, X), family, shape)
    rows, most = coef.toarray(), np.abs(outputs.astype(np.int64)).max(initial=1)
    expected = np.einsum("ijk,jk->ik", np.atleast_3d(outputs).astype(np.float64), rows)  # noqa: TID251
    # The tiny number lets coefficients differ that are not normal numbers.
    allowed = SCORES_SLACK * most * np.abs(rows).sum(axis=0) + np.finfo(float).tiny
    wrong = np.argwhere(np.abs(scores - expected) > allowed)
    if len(wrong):
        i, k = wrong[0]
        raise fault(
            f"the scorer differs from the outputs: score {k} of an example of the training matrix "
            f"is {float(scores[i, k])!r}, the outputs times the coefficients give "
            f"{float(expected[i, k])!r}"
        )


def _differs(flat: ThresholdTrees, X, outputs) -> np.ndarray:
    """Return where trees give other outputs; not where a linear feature is next to a threshold."""
    if flat.directions is None:
        return flat.outputs(X) != outputs
    trees = replace(flat, directions=None)
    linear, slack = np.empty((2, X.shape[0], flat.directions.shape[1]))
    for fill, places, directions in flat.by_fill():
        rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        rows = rows if fill is None else np.where(np.isfinite(rows), rows, fill)
        # A family may measure a feature from a point as far away as its values are.
        farthest = np.abs(rows).max(axis=0, initial=0.0, where=np.isfinite(rows))
        with np.errstate(all="ignore"):
            linear[:, places] = rows @ directions
            slack[:, places] = LINEAR_SLACK * ((np.abs(rows) + farthest) @ np.abs(directions))
    with np.errstate(all="ignore"):
        differs = [trees.outputs(z) != outputs for z in (linear, linear - slack, linear + slack)]
    return np.logical_and.reduce(differs) & np.isfinite(linear + slack).all(axis=1, keepdims=True)


def check_scores(scores, family: WeakLearnerFamily, shape: tuple[int, int]) -> np.ndarray:
    """Return what a family's scorer computed; raise `FamilyFault` unless it is finite float64."""
    fault = partial(fault_of, family)
    check_array("what scorer returns", scores, FLOAT64, shape, fault)
    if not (is_finite := np.isfinite(scores)).all():
        i, k = np.argwhere(~is_finite)[0]
        raise fault(f"score {k} of example {i} must be finite, got {scores[i, k]}")
    return scores
